"""SMQS on the wire: one line, one request; no ids, and hardly an answer.

    M:{queue}:{data}       a message for the queue       not answered
    C:{queue}[:]           consume the queue             not answered; from then on each message comes as {data} LF
    D:{queue}:{count}      that many are done            not answered
    S[:[:]]                statistics                    {"queue":count,...} LF
    A:{token}              who the client is, ours       not answered; wrong: UNKNOWN_TYPE LF, and closed
    anything else                                        UNKNOWN_TYPE LF

The queue is what stands between the first and the second colon. Data may hold colons, a CR, or nothing at all.
"""

from base64 import b64encode
from typing import Final

import orjson

MESSAGE: Final = b"M"
CONSUME: Final = b"C"
DONE: Final = b"D"
STATS: Final = b"S"
AUTH: Final = b"A"

UNKNOWN_TYPE: Final = b"UNKNOWN_TYPE\n"

COUNT_MAX: Final = 10**18  # more than there can be, and as good as any larger number


def decode_count(text: bytes) -> int:
    """How many are done; -1 when it is not a count."""
    count = 0
    for byte in text.strip() or b"-":
        if byte < 48 or byte > 57:  # digits
            return -1
        count = min(count * 10 + byte - 48, COUNT_MAX)
    return count


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
        orjson.loads(data)
    except orjson.JSONDecodeError:
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
