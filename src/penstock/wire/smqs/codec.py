"""SMQS on the wire: one line, one request; no ids, and hardly an answer.

    M:{queue}:{data}       a message for the queue       not answered
    C:{queue}[:]           consume the queue             not answered; from then on each message comes as {data} LF
    D:{queue}:{count}      that many are done            not answered
    S[:[:]]                statistics                    {"queue":count,...} LF
    A:{token}              who the client is, ours       not answered; wrong: UNKNOWN_TYPE LF, and closed
    anything else                                        UNKNOWN_TYPE LF

The queue is what stands between the first and the second colon. Data may hold colons, a CR, or nothing at all.

The documents write C, D and S without a line end. Such a command ends where the next one begins, and these rules are
narrow enough that a conversation with line ends means the same wherever its reads are cut:

- A D that has its count is ended by a command directly behind it: no count goes on with one of these letters.
- A C, D or S that is complete is ended by a read that begins with a command (`ends_before`). For a `C:{queue}` the name
  may go on in the next read, so that has to hold more than a name and its colon could: `C:USER` and then `S:` is USERS.
- An M ends at its LF, and nowhere else: its data may look like anything.
"""

import re
from base64 import b64encode
from typing import Final

import orjson

from penstock.core.documents import loads

MESSAGE: Final = b"M"
CONSUME: Final = b"C"
DONE: Final = b"D"
STATS: Final = b"S"
AUTH: Final = b"A"

UNKNOWN_TYPE: Final = b"UNKNOWN_TYPE\n"

GLUED_SIZE_MAX: Final = 1 << 20  # no client has that much to say in one breath
PIECES_MAX: Final = 10_000

COUNT_MAX: Final = 10**18  # more than there can be, and as good as any larger number
COUNT_SIZE_MAX: Final = 16 << 10  # bytes of a count, white space before it included


PLUS: Final = 43
DIGIT_0: Final = 48
DIGIT_9: Final = 57
SPACES: Final = (32, 9, 10, 11, 12, 13)

# What the next command begins with: enough of it that no name goes on like this. `S` alone may be the end of a name.
_COMMAND: Final = rb"M:[^:\n]*:|D:[^:\n]*:|C:[^:\r\n]|S::"
_BEGINS: Final = re.compile(_COMMAND)
_BEGINS_OR_S: Final = re.compile(_COMMAND + rb"|S(?=[:\r\n]|\Z)")
_DONE_AND_MORE: Final = re.compile(rb"D:[^:]*:[ \t]*\+?[0-9]+(?=" + _COMMAND + rb"|S(?=[:\r]|\Z))")


def decode_count(text: bytes) -> int:
    """How many are done; -1 when it is not a count.

    The original reads the digits that the text begins with, behind white space and a plus, and nothing that follows:
    `1.9`, `1e1` and `1x` are 1, and `0x1F` is 31. A count below zero is none.
    """
    text = text[:COUNT_SIZE_MAX]  # of what is longer, the digits that follow change nothing
    at = 0
    size = len(text)
    while at < size and text[at] in SPACES:
        at += 1
    if at < size and text[at] == PLUS:
        at += 1
    if text[at : at + 2] in (b"0x", b"0X"):
        return _decode_hex(text[at + 2 :])
    first = at
    count = 0
    while at < size:
        byte = text[at]
        if byte < DIGIT_0 or byte > DIGIT_9:
            break
        count = min(count * 10 + byte - DIGIT_0, COUNT_MAX)
        at += 1
    return count if at > first else -1


def _decode_hex(text: bytes) -> int:
    found = re.match(rb"[0-9A-Fa-f]+", text)
    if found is None:
        return -1
    digits = found.group().lstrip(b"0")
    return COUNT_MAX if len(digits) > 15 else min(int(digits or b"0", 16), COUNT_MAX)


def split_done(line: bytes) -> list[bytes]:
    """A line with all that is glued to the counts it begins with cut off; most are just what they are.

    Of very many, the first are cut off, and the rest is a line like this one.
    """
    pieces: list[bytes] = []
    at = 0
    while True:
        found = None
        if len(pieces) < PIECES_MAX and len(line) <= GLUED_SIZE_MAX:
            found = _DONE_AND_MORE.match(line, at)
        if found is None:
            pieces.append(line[at:] if at else line)
            return pieces
        pieces.append(line[at : found.end()])
        at = found.end()


def ends_before(rest: bytes, read: bytes) -> bool:
    """True when an unfinished line is a complete C, D or S, and the next read begins with another command."""
    parts = rest.split(b":", 2)
    if parts[0] == CONSUME and len(parts) == 2:
        return len(parts[1]) > 0 and _BEGINS.match(read) is not None
    if parts[0] == DONE:
        if len(parts) < 3 or decode_count(parts[2]) < 0:
            return False
    elif parts[0] != STATS and not (parts[0] == CONSUME and len(parts) == 3):
        return False
    return _BEGINS_OR_S.match(read) is not None


def needs_no_end(rest: bytes) -> bool:
    """True for an unfinished line that is a request nevertheless: the documented C, D and S have no LF.

    A message is none, since it may be the first half of one. Neither is a lone `C` or `D`.
    """
    kind, colon, _ = rest.partition(b":")
    return kind == STATS or (bool(colon) and kind in (CONSUME, DONE))


def is_whole(data: bytes) -> bool:
    """True when the data shows by itself that nothing is missing: a JSON object, array or string, with its end."""
    if data.lstrip()[:1] not in (b"{", b"[", b'"'):
        return False
    try:
        loads(data)
    except ValueError:
        return False
    return True


def encode_stats(counts: dict[bytes, int]) -> bytes:
    """The counts as one line of JSON, which is text: names that look the same as text are counted together."""
    named: dict[str, int] = {}
    for name, count in counts.items():
        text = name.decode("utf-8", "replace")
        named[text] = named.get(text, 0) + count
    return orjson.dumps(named) + b"\n"


def encode_foreign(body: bytes) -> bytes:
    """The line for a body that came by a protocol which knows no lines."""
    if b"\n" in body:
        return b'{"base64": "%s"}\n' % b64encode(body)
    return body + b"\n"
