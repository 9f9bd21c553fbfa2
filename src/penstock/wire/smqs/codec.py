"""The SMQS wire format: one request per line, no ids, and almost no answers.

    M:{queue}:{data}       put a message in the queue    not answered
    C:{queue}[:]           consume the queue             not answered; from then on each message comes as {data} LF
    D:{queue}:{count}      ack that many messages        not answered
    S[:[:]]                statistics                    {"queue":count,...} LF
    A:{token}              authenticate (our extension)  not answered; wrong: UNKNOWN_TYPE LF, and closed
    anything else                                        UNKNOWN_TYPE LF

The queue is the text between the first and the second colon. Data may contain colons or a CR, and may be empty.

The documents write C, D and S without a line end. Such a command ends where the next one begins. These rules are narrow
enough that input with line ends means the same wherever its reads are cut:

- A command directly after the count of a D ends it: no count continues with one of these letters.
- A read that starts with a command ends a complete C, D or S (`ends_before`). The name in `C:{queue}` may continue in
  the next read, so that read must hold more than a name and its colon could: `C:USER` and then `S:` is USERS.
- An M ends only at its LF: its data may look like anything.
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

GLUED_SIZE_MAX: Final = 1 << 20  # no client sends that many commands without a line end
PIECES_MAX: Final = 10_000

COUNT_MAX: Final = 10**18  # more messages than can exist; larger numbers are cut to it
COUNT_SIZE_MAX: Final = 16 << 10  # bytes of a count, including leading white space


PLUS: Final = 43
DIGIT_0: Final = 48
DIGIT_9: Final = 57
SPACES: Final = (32, 9, 10, 11, 12, 13)

# The start of a command, long enough that no name continues like this. A lone `S` may be the end of a name.
_COMMAND: Final = rb"M:[^:\n]*:|D:[^:\n]*:|C:[^:\r\n]|S::"
_BEGINS: Final = re.compile(_COMMAND)
_BEGINS_OR_S: Final = re.compile(_COMMAND + rb"|S(?=[:\r\n]|\Z)")
_DONE_AND_MORE: Final = re.compile(rb"D:[^:]*:[ \t]*\+?[0-9]+(?=" + _COMMAND + rb"|S(?=[:\r]|\Z))")


def decode_count(text: bytes) -> int:
    """The count of a D; -1 if it is not a count.

    The original skips white space and a plus, reads the digits that follow, and ignores the rest: `1.9`, `1e1` and `1x`
    are 1, and `0x1F` is 31. A negative count is invalid.
    """
    text = text[:COUNT_SIZE_MAX]  # further digits would change nothing
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
    """Split off the D commands at the start of a line that have another command right after their count.

    Most lines come back whole. At most PIECES_MAX are split off; the last item is the rest of the line.
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
    """True if an unterminated line is a complete C, D or S and the next read starts with another command."""
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
    """True if an unterminated line may be executed: the documented C, D and S have no LF.

    Not a message, since it may be incomplete. Not a lone `C` or `D` either.
    """
    kind, colon, _ = rest.partition(b":")
    return kind == STATS or (bool(colon) and kind in (CONSUME, DONE))


def is_whole(data: bytes) -> bool:
    """True if the data is provably complete: a valid JSON object, array or string."""
    if data.lstrip()[:1] not in (b"{", b"[", b'"'):
        return False
    try:
        loads(data)
    except ValueError:
        return False
    return True


def encode_stats(counts: dict[bytes, int]) -> bytes:
    """The counts as one line of JSON. JSON is text, so names that decode to the same text are added up."""
    named: dict[str, int] = {}
    for name, count in counts.items():
        text = name.decode("utf-8", "replace")
        named[text] = named.get(text, 0) + count
    return orjson.dumps(named) + b"\n"


def encode_foreign(body: bytes) -> bytes:
    """The line for a body from another protocol, which may contain line ends."""
    if b"\n" in body:
        return b'{"base64": "%s"}\n' % b64encode(body)
    return body + b"\n"
