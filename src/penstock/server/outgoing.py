"""Unsent output of all connections: messages and replies that sockets have not accepted yet.

Together they may take a share of the memory. Above it the next large message stays in its queue, unless nothing is
unsent: so the share is exceeded by one message at most. For a user or address with nothing unsent the share is twice as
large, so slow clients cost others little. A connection with more than a little unsent gets nothing more, and is not
read, until its socket has accepted that. If it accepts nothing for some seconds, it is closed. A connection that uses
the whole share alone is closed at once: it receives replies and broadcasts from other clients, which would lack the
memory.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.core.context import BrokerContext

if TYPE_CHECKING:
    from penstock.server.connection import Connection

PATIENCE_SECONDS = 5.0
PROGRESS_BYTES = 64 << 10  # what a socket must accept in that time if others wait
LITTLE_BYTES = 64 << 10  # unsent bytes a connection may have while the share is exceeded
COUNT_SECONDS = 0.02  # between two counts if nobody waits
AGAIN_SECONDS = 0.1  # between two checks of squeezed connections
ALONE_BYTES_LEAST = 64 << 20  # one connection may always have this: the largest message and what precedes it


class Outgoing:
    def __init__(self, loop: asyncio.AbstractEventLoop, context: BrokerContext, bytes_max: int) -> None:
        self.bytes = 0  # at the last count
        self.alone_max = max(bytes_max, ALONE_BYTES_LEAST)
        self._loop = loop
        self._context = context
        self.let_hold(bytes_max)
        # Connections with unsent bytes, and how many at the last check. Replies queued behind them are not written yet,
        # but count.
        self.held: dict[Connection, int] = {}
        self._since = 0  # bytes written to them since the last count
        self._counted_at = 0.0
        self._squeezed: dict[Connection, None] = {}  # deliveries and reading are paused
        self._timer: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None

    def let_hold(self, bytes_max: int) -> None:
        """Set the share."""
        self.bytes_max = bytes_max
        self._context.unsent_max = bytes_max

    def hold(self, connection: "Connection", size: int) -> None:
        """The socket did not accept all of the last write, which had `size` bytes."""
        self.held.setdefault(connection, connection.unsent())
        self._since += size
        if self.bytes + self._since > self.bytes_max:
            self.count()

    def leave(self, connection: "Connection") -> None:
        """The socket accepts data again, or is closed."""
        if connection in self._squeezed:
            del self._squeezed[connection]
            connection.unsqueeze()
        if self.held.pop(connection, None) is not None:
            self.count()

    def go_on(self) -> None:
        """At the end of a turn, count again if a message waits for it or the last count is old."""
        if self._context.waiting_to_send or self._loop.time() >= self._counted_at + COUNT_SECONDS:
            self.count()

    def count(self) -> None:
        """Add up all unsent bytes and tell the core. Called after all outboxes were written."""
        self._since = 0
        self._counted_at = self._loop.time()
        unsent = 0
        unsent_of: dict[str, int] = {}
        for connection in list(self.held):
            left = connection.unsent()
            if not left:
                del self.held[connection]
            elif left > self.alone_max:
                del self.held[connection]
                connection.close_stalled(left)
            else:
                unsent += left
                holder = "" if connection.session is None else connection.session.holder
                unsent_of[holder] = unsent_of.get(holder, 0) + left
        self.bytes = unsent
        self._context.sent(unsent_of)
        if unsent > self.bytes_max:
            self._squeeze()
        if (self._context.waiting_to_send or self._squeezed) and self._timer is None:
            self._timer = self._loop.call_later(PATIENCE_SECONDS, self._look)

    def _squeeze(self) -> None:
        """Pause connections with more than a little unsent until their sockets have accepted it."""
        for connection in self.held:
            if connection not in self._squeezed and connection.unsent() > LITTLE_BYTES:
                self._squeezed[connection] = None
                connection.squeeze()
        if self._squeezed and self._again is None:
            self._again = self._loop.call_later(AGAIN_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._again = None
        self.count()
        for connection in list(self._squeezed):
            if connection.unsent() <= LITTLE_BYTES or self.bytes <= self.bytes_max // 2:
                del self._squeezed[connection]
                connection.unsqueeze()
        if self._squeezed and self._again is None:
            self._again = self._loop.call_later(AGAIN_SECONDS, self._go_on)

    def _look(self) -> None:
        """If others wait, close connections whose sockets made no progress since the last check."""
        self._timer = None
        if not self._context.waiting_to_send and self.bytes <= self.bytes_max:
            return
        for connection, before in list(self.held.items()):
            left = connection.unsent()
            self.held[connection] = left
            if left > PROGRESS_BYTES and before - left < PROGRESS_BYTES:
                connection.close_stalled(left)
        self.count()
