"""Incomplete requests of all connections: a large request is buffered until its last byte has arrived.

Together they may take a share of the memory. Above it, only two kinds of connections are still read: those of users and
addresses that hold less than their part of half the share, and one other connection, of the holder with the least,
until its request is complete. The rest wait. So the share is exceeded by at most half plus one request, every request
eventually completes, and a client with one request does not wait for a client with a thousand. While memory is short or
the disk is behind, all of them wait. A connection that others wait for and that makes no progress is closed.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.server.connection import Connection

FREE_BYTES = 256 << 10  # each connection may hold this without waiting: one read
LITTLE_BYTES = 16 << 10  # the same while all connections together have more than the share
PATIENCE_SECONDS = 5.0
PROGRESS_BYTES = 256 << 10  # what must arrive in that time if others wait


class Held:
    """The incomplete request of one connection."""

    def __init__(self, holder: str) -> None:
        self.holder = holder  # user or address when it began
        self.size = 0
        self.seen = 0  # size at the last check
        self.waits = False


class Incoming:
    def __init__(self, loop: asyncio.AbstractEventLoop, bytes_max: int, is_short: Callable[[], bool]) -> None:
        self.bytes = 0  # of large requests
        self.all_bytes = 0  # of all requests
        self.waiting = 0  # connections that wait
        self._is_short = is_short
        self.bytes_max = bytes_max
        self._loop = loop
        self._held: dict[Connection, Held] = {}  # oldest first
        self._by_holder: dict[str, int] = {}  # bytes of large requests
        self._favoured: Connection | None = None  # the one that is read although the share is exceeded
        self._timer: asyncio.TimerHandle | None = None

    def hold(self, connection: "Connection", holder: str, size: int) -> None:
        """Set the bytes buffered for a connection, which may pause it."""
        self.all_bytes += size - connection.kept_in
        connection.kept_in = size
        if size <= FREE_BYTES and (size <= LITTLE_BYTES or self.all_bytes <= self.bytes_max):
            self._let_go(connection)
            return
        held = self._held.get(connection)
        if held is None:
            held = self._held[connection] = Held(holder)
        self._grow(held, size)
        if not held.waits and (self._is_late(connection, held) or self._is_short()):
            held.waits = True
            self.waiting += 1
            connection.pause_reading()
            self._watch()

    def let_hold(self, bytes_max: int) -> None:
        """Set the share."""
        self.bytes_max = bytes_max

    def leave(self, connection: "Connection") -> None:
        """Nothing is buffered for the connection any more."""
        self.all_bytes -= connection.kept_in
        connection.kept_in = 0
        self._let_go(connection)

    def go_on(self) -> None:
        """Memory is not short: resume connections for which there is room, and one in any case."""
        if self._favoured is None and self.all_bytes > self.bytes_max:
            self._favour(self._next())
        for connection, held in self._held.items():
            if held.waits and not self._is_late(connection, held):
                held.waits = False
                self.waiting -= 1
                held.seen = held.size
                connection.resume_reading()

    def _grow(self, held: Held, size: int) -> None:
        change = size - held.size
        held.size = size
        self.bytes += change
        of_holder = self._by_holder.get(held.holder, 0) + change
        if of_holder:
            self._by_holder[held.holder] = of_holder
        else:
            self._by_holder.pop(held.holder, None)

    def _is_late(self, connection: "Connection", held: Held) -> bool:
        """Whether it has to wait for others."""
        if self.all_bytes <= self.bytes_max or connection is self._favoured:
            return False
        if self._has_little(held):
            return False
        if self._favoured is None:
            self._favour(self._next())
        return connection is not self._favoured

    def _has_little(self, held: Held) -> bool:
        """Whether its user or address holds no more than its part of half the share."""
        return self._by_holder.get(held.holder, 0) <= self.bytes_max // (2 * len(self._by_holder))

    def _next(self) -> "Connection | None":
        """The oldest request of the holder with the least, among those above their part."""
        late = [connection for connection, held in self._held.items() if not self._has_little(held)]
        return min(late, key=lambda connection: self._by_holder[self._held[connection].holder], default=None)

    def _favour(self, connection: "Connection | None") -> None:
        self._favoured = connection
        if connection is not None:
            held = self._held[connection]
            held.seen = held.size

    def _let_go(self, connection: "Connection") -> None:
        held = self._held.get(connection)
        if held is not None:
            self._grow(held, 0)
            del self._held[connection]
            if connection is self._favoured:
                self._favoured = None
            if held.waits:
                self.waiting -= 1
                connection.resume_reading()
            if self.waiting and not self._is_short():
                self.go_on()

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(PATIENCE_SECONDS, self._look)

    def _look(self) -> None:
        """Close connections that make no progress, if others wait for them and they hold more than a little."""
        self._timer = None
        if not self.waiting:
            return
        for connection, held in list(self._held.items()):
            if held.waits or (connection is not self._favoured and self._has_little(held)):
                continue
            if held.size - held.seen < PROGRESS_BYTES and not connection.reading_pauses:
                connection.close_stalled(held.size)
                self.leave(connection)
            else:
                held.seen = held.size
        if self._held:
            self._watch()
