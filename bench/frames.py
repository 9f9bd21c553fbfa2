"""Message bodies with numbers, and the buffers they are sent from.

A body is `00001234xxxxxxx~`: the message's number, filler up to the requested size, and one MARK. The number allows
checking the first, small round of each peer message by message, and recognising the last; the mark can be counted.

Everything is encoded before the clock starts. A round may be gigabytes, so the publisher keeps one Block of 1000 frames
and, before each reuse, rewrites the digits above the thousands in place: mostly one byte per frame, set in all
of them by one strided slice, about a nanosecond each. The numbers stay unique and the memory small.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable
from itertools import accumulate

MARK = b"~"
BLOCK = 1000
"""Messages in one block. A count of messages is always a multiple of it."""

LOW_DIGITS = 3
HIGH_DIGITS = 5
DIGITS = HIGH_DIGITS + LOW_DIGITS
COUNT_MAX = 10**DIGITS

STAMP_DIGITS = 14
"""Digits of a send time in a latency body: nanoseconds modulo 27 hours, so that a 16-byte body can hold it."""

STAMP_SPAN = 10**STAMP_DIGITS
SIZE_MIN = STAMP_DIGITS + len(MARK)

NUMBERED = re.compile(rb"(\d{%d})x*%s" % (DIGITS, MARK))
STAMPED = re.compile(rb"(\d{%d})x*%s" % (STAMP_DIGITS, MARK))


def number(index: int) -> bytes:
    return b"%0*d" % (DIGITS, index)


def body(index: int, size: int) -> bytes:
    """The body of message `index`, exactly `size` bytes."""
    return _filled(number(index), size)


def stamped_body(sent_ns: int, size: int) -> bytes:
    """A body that carries its intended send time."""
    return _filled(b"%0*d" % (STAMP_DIGITS, sent_ns % STAMP_SPAN), size)


def age_ns(stamp: bytes, now_ns: int) -> int:
    """The age of a stamp; correct across a wrap of the clock."""
    return (now_ns - int(stamp)) % STAMP_SPAN


def _filled(head: bytes, size: int) -> bytes:
    if size < SIZE_MIN:
        raise ValueError(f"a body has at least {SIZE_MIN} bytes, not {size}")
    return head + b"x" * (size - len(head) - len(MARK)) + MARK


class Block:
    """A thousand frames in one buffer, whose numbers can be advanced by whole blocks."""

    def __init__(self, frame: Callable[[int], bytes]) -> None:
        frames = [frame(index) for index in range(BLOCK)]
        self.frame_size = len(frames[0])
        if any(len(other) != self.frame_size for other in frames):
            raise ValueError("the frames of one block differ in size, so they cannot be stamped in place")
        self._buffer = bytearray(b"".join(frames))
        self._view = memoryview(self._buffer)
        self._columns = _digit_columns(frames[0], frame(COUNT_MAX // 9 // BLOCK * BLOCK))
        self._stamp = b"0" * HIGH_DIGITS

    def at(self, block_index: int) -> memoryview:
        """The frames of messages from `block_index * 1000`; valid until the next call."""
        stamp = b"%0*d" % (HIGH_DIGITS, block_index)
        for place, columns in enumerate(self._columns):
            digit = stamp[place : place + 1]
            if digit != self._stamp[place : place + 1]:
                for column in columns:
                    self._buffer[column :: self.frame_size] = digit * BLOCK
        self._stamp = stamp
        return self._view


def _digit_columns(zeros: bytes, ones: bytes) -> list[list[int]]:
    """The positions of the number's high digits in a frame, one list per digit.

    Found by comparing frame 00000000 with frame 11111000, so a peer need not declare where it puts the number.
    """
    differing = [column for column, (zero, one) in enumerate(zip(zeros, ones, strict=True)) if zero != one]
    if not differing or len(differing) % HIGH_DIGITS:
        raise ValueError("a frame must hold the whole number of its message, as digits")
    return [differing[place::HIGH_DIGITS] for place in range(HIGH_DIGITS)]


class Feedback:
    """The consumer's response to each delivery (an ack or a request for the next), encoded ahead for a whole round.

    `tail` is added to each batch of them but the last.
    """

    def __init__(self, frames: Iterable[bytes], tail: bytes = b"") -> None:
        parts = list(frames)
        self._view = memoryview(b"".join(parts))
        self._ends = array("Q", accumulate(map(len, parts), initial=0))
        self._tail = tail

    def __bool__(self) -> bool:
        return bool(self._view or self._tail)

    def between(self, first: int, last: int) -> memoryview | bytes:
        """The frames for deliveries `first` to `last`, `last` excluded."""
        frames = self._view[self._ends[first] : self._ends[last]]
        return bytes(frames) + self._tail if self._tail and last < len(self._ends) - 1 else frames
