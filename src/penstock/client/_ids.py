"""Request ids: unique, printable, and cheap to generate by the hundred thousand."""

import itertools
import os
from datetime import UTC, datetime

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_LENGTH = 16
DTID_DIGITS = 20


def random_text(length: int) -> str:
    # 248 is the largest multiple of 62 in a byte: skipping higher values keeps every character equally likely.
    drawn = [byte for byte in os.urandom(length * 2 + 8) if byte < 248]
    return "".join(BASE62[byte % 62] for byte in drawn[:length]) if len(drawn) >= length else random_text(length)


class IdSource:
    """Ids of 24 characters: a random prefix drawn once, then a counter. Thread-safe."""

    def __init__(self) -> None:
        self._prefix = random_text(RANDOM_LENGTH).encode()
        self._count = itertools.count()

    def next(self) -> bytes:
        return b"%s%08x" % (self._prefix, next(self._count))


def dtid() -> bytes:
    """Return an id in SEVX's format: UTC time to the microsecond, four random characters (20161231235959123456uN1q)."""
    return (datetime.now(UTC).strftime("%Y%m%d%H%M%S%f") + random_text(4)).encode()


def time_of_dtid(id: str) -> datetime | None:
    """Return the UTC time in an id, without tzinfo; None for an id in another format."""
    digits = id[:DTID_DIGITS]
    if len(digits) < DTID_DIGITS or not digits.isascii() or not digits.isdigit():
        return None
    try:
        return datetime.strptime(digits, "%Y%m%d%H%M%S%f")
    except ValueError:
        return None
