"""Requests that are not whole yet, of all connections: a large one is kept until its last byte has come.

Together they may take a share of the memory. Above it, one connection is read on, the one that began first, and the
others wait: so the share is exceeded by one request at most, and each is done in its turn. While memory is short or the
disk is behind all of them wait. One that others wait for and that does not get on is closed.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.server.connection import Connection

FREE_BYTES = 256 << 10  # what every connection may have without having to wait: one read
LITTLE_BYTES = 16 << 10  # the same while all connections together have more than the share
PATIENCE_SECONDS = 5.0
PROGRESS_BYTES = 256 << 10  # what has to come in that time where others wait


class Held:
    """What is kept of one connection."""

    def __init__(self) -> None:
        self.size = 0
        self.seen = 0  # the size at the last look
        self.waits = False


class Incoming:
    def __init__(self, loop: asyncio.AbstractEventLoop, bytes_max: int, is_short: Callable[[], bool]) -> None:
        self.bytes = 0  # of large ones
        self.all_bytes = 0  # of all
        self.waiting = 0  # connections that wait
        self._is_short = is_short
        self.bytes_max = bytes_max
        self._loop = loop
        self._held: dict[Connection, Held] = {}  # the one that began first, first
        self._timer: asyncio.TimerHandle | None = None

    def hold(self, connection: "Connection", size: int) -> None:
        """So much is kept of this connection now; it may have to wait."""
        self.all_bytes += size - connection.kept_in
        connection.kept_in = size
        if size <= FREE_BYTES and (size <= LITTLE_BYTES or self.all_bytes <= self.bytes_max):
            self._let_go(connection)
            return
        held = self._held.get(connection)
        if held is None:
            held = self._held[connection] = Held()
        self.bytes += size - held.size
        held.size = size
        if not held.waits and (self._is_late(connection) or self._is_short()):
            held.waits = True
            self.waiting += 1
            connection.pause_reading()
            self._watch()

    def _is_late(self, connection: "Connection") -> bool:
        return self.all_bytes > self.bytes_max and next(iter(self._held)) is not connection

    def leave(self, connection: "Connection") -> None:
        """Nothing is kept of it any more."""
        self.all_bytes -= connection.kept_in
        connection.kept_in = 0
        self._let_go(connection)

    def _let_go(self, connection: "Connection") -> None:
        held = self._held.pop(connection, None)
        if held is not None:
            self.bytes -= held.size
            if held.waits:
                self.waiting -= 1
                connection.resume_reading()
            if self.waiting and not self._is_short():
                self.go_on()

    def go_on(self) -> None:
        """Memory is not short: let those read on for whom there is room, and the first in any case."""
        for place, (connection, held) in enumerate(self._held.items()):
            if held.waits and (place == 0 or self.all_bytes <= self.bytes_max):
                held.waits = False
                self.waiting -= 1
                held.seen = held.size
                connection.resume_reading()

    def _watch(self) -> None:
        if self._timer is None:
            first = next(iter(self._held.values()))
            first.seen = first.size
            self._timer = self._loop.call_later(PATIENCE_SECONDS, self._look)

    def _look(self) -> None:
        """Whoever is first and does not get on is closed, if others wait for it."""
        self._timer = None
        if not self.waiting:
            return
        connection, held = next(iter(self._held.items()))
        if held.size - held.seen < PROGRESS_BYTES and not connection.reading_pauses:
            connection.close_stalled(held.size)
            self.leave(connection)
        if self._held:
            self._watch()
