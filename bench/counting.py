"""Counters that inspect what they count. Those of a timed round are in `penstock.cli.load`."""

from __future__ import annotations

import socket

from bench.frames import NUMBERED
from penstock.cli.load import READ_BUFFER, Stalled, receive


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
