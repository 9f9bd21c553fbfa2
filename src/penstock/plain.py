"""Text that may be anybody's, made harmless for a terminal: a name or a body may hold what moves the cursor or lies.

Whatever is no printable character, control codes of both sets and marks that turn the direction of writing among them,
is shown as an escape. Texts of all languages stay as they are.
"""

KEPT = frozenset("\n\t")
JSON_ESCAPED_ABOVE = "\x7e"  # what is below is ASCII that JSON escapes by itself


def plain(text: str) -> str:
    """The text on one line, with escapes for what is not printable."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def plain_lines(text: str) -> str:
    """The same, but lines and tabs stay what they are."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in KEPT else _escape(c) for c in text)


def plain_json(text: str) -> str:
    """A JSON text that means the same, with escapes of JSON for what is not printable."""
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
