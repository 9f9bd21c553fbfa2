"""Ids made up by the broker: unguessable ones for errors and requests, cheap unique ones for messages without one."""

import os
from typing import Final

ALPHABET: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ERROR_ID_LENGTH: Final = 24
SECRET_SIZE: Final = 12  # random bytes, written in hex
DENIED_ID: Final = b"denied"  # what the id of an error begins with, where a right is missing


def random_id(length: int) -> bytes:
    """That many random base62 characters."""
    # 248 is the largest multiple of 62 in a byte: leaving the rest out keeps every character equally likely.
    drawn = [byte for byte in os.urandom(length * 2) if byte < 248]
    if len(drawn) < length:
        return random_id(length)
    return bytes([ALPHABET[byte % 62] for byte in drawn[:length]])


class IdSource:
    """Unique ids: a random beginning drawn once per process, then a counter."""

    def __init__(self, prefix: bytes) -> None:
        self._prefix = prefix
        self._count = 0

    def next(self) -> bytes:
        self._count += 1
        return b"%s%d" % (self._prefix, self._count)

    def next_secret(self) -> bytes:
        """One that cannot be guessed from others: whoever knows the id of a request may answer it."""
        return b"%s.%s" % (self.next(), os.urandom(SECRET_SIZE).hex().encode())
