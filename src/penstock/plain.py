"""Makes untrusted text safe for a terminal: a name or a body may contain codes that move the cursor or mislead.

Every character that is not printable is shown as an escape, including C0 and C1 control codes and bidirectional
marks. Text in any language stays as it is.
"""

KEPT = frozenset("\n\t")
JSON_ESCAPED_ABOVE = "\x7e"  # everything up to it is ASCII, in which JSON escapes control codes itself


def plain(text: str) -> str:
    """The text on one line, with escapes for unprintable characters."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def plain_lines(text: str) -> str:
    """The same, but newlines and tabs are kept."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in KEPT else _escape(c) for c in text)


def plain_json(text: str) -> str:
    """An equivalent JSON text, with JSON escapes for unprintable characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c <= JSON_ESCAPED_ABOVE else _json_escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _json_escape(character: str) -> str:
    return "".join(f"\\u{unit:04x}" for unit in _utf16(character))


def _utf16(character: str) -> list[int]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]
