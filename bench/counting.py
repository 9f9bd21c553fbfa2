"""Counts deliveries while inspecting as little of them as possible.

Where all deliveries of a peer have the same size, only bytes are counted. The last message is inspected, so that a
stream with a message missing and some noise added does not pass as complete. Where sizes vary (batches, growing
sequence numbers), the marks that end the bodies are counted, which costs some tens of nanoseconds each.
"""

from __future__ import annotations

import socket
from typing import Protocol

from bench.frames import MARK, NUMBERED
from bench.wire import READ_BUFFER, Stalled, receive


class Counter(Protocol):
    """Reads a socket and returns how many deliveries that completed."""

    def read(self, sock: socket.socket) -> int: ...


class MarkCounter:
    """Counts a mark that occurs once per message."""

    def __init__(self, mark: bytes = MARK) -> None:
        self._mark = mark
        self._buffer = bytearray(READ_BUFFER)

    def read(self, sock: socket.socket) -> int:
        size = receive(sock, memoryview(self._buffer))
        return self._buffer.count(self._mark, 0, size)


class AnswerCounter:
    """Counts a mark that occurs once per response, and stops at the first refusal."""

    def __init__(self, mark: bytes, refusal: bytes) -> None:
        self._mark = mark
        self._refusal = refusal
        self._view = memoryview(bytearray(READ_BUFFER))
        self._rest = b""

    def read(self, sock: socket.socket) -> int:
        size = receive(sock, self._view)
        data = bytes(self._view[:size])
        seen = self._rest + data
        found_at = seen.find(self._refusal)
        if found_at >= 0:
            raise Stalled(f"refused: {seen[found_at : found_at + 200]!r}")
        self._rest = seen[1 - len(self._refusal) :]
        return data.count(self._mark)


class SizeCounter:
    """Counts bytes up to the last delivery, then waits for the last message's own body.

    `noise` is what the server may send between deliveries (a keep-alive); it makes the stream longer, never shorter.
    """

    def __init__(self, delivery_size: int, last_body: bytes, count: int, noise: bytes = b"") -> None:
        self._view = memoryview(bytearray(READ_BUFFER))
        self._delivery_size = delivery_size
        self._before_last_size = delivery_size * (count - 1)
        self._last_body = last_body
        self._last = b""
        self._noise = noise
        self._received = 0
        self._complete = False

    def read(self, sock: socket.socket) -> int:
        left = self._before_last_size - self._received
        if left <= 0:
            return self._read_last(sock)
        whole_before = self._received // self._delivery_size
        self._received += receive(sock, self._view[:left])
        return self._received // self._delivery_size - whole_before

    def _read_last(self, sock: socket.socket) -> int:
        size = receive(sock, self._view)
        self._last += self._view[:size]
        if self._complete or self._last_body not in self._last:
            return 0
        surplus = len(self._last) - self._delivery_size
        if surplus > 0 and not (self._noise and surplus % len(self._noise) == 0):
            raise Stalled(f"{surplus} bytes more than the deliveries have")
        self._complete = True
        return 1


class CheckingCounter:
    """Checks that every message arrives once and in order. For the untimed first round of a peer."""

    def __init__(self) -> None:
        self._view = memoryview(bytearray(READ_BUFFER))
        self._rest = b""
        self._due = 0

    def read(self, sock: socket.socket) -> int:
        size = receive(sock, self._view)
        data = self._rest + self._view[:size]
        due_before = self._due
        end = 0
        for found in NUMBERED.finditer(data):
            if int(found[1]) != self._due:
                raise Stalled(f"message {int(found[1])} came where {self._due} was due")
            self._due += 1
            end = found.end()
        self._rest = data[end:]
        return self._due - due_before


def counter_for(delivery_size: int, last_body: bytes, count: int, noise: bytes) -> Counter:
    """The cheapest counter that is exact for a peer; `delivery_size` is 0 where it varies."""
    if delivery_size:
        return SizeCounter(delivery_size, last_body, count, noise)
    return MarkCounter()
