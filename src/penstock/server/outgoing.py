"""What sockets have not taken yet, of all connections: messages, answers and replies on their way out.

Together they may take a share of the memory. Above it the next large message stays in its queue, unless nothing is on
its way: so the share is exceeded by one message at most. For a user or an address that has nothing on its way the
share is twice as large: who is slow costs others little. Whoever has more than a little on its way is given nothing
more, and not read, until its socket has taken that; one that takes nothing for some seconds is closed. So is, at once,
a connection that has all of the share for itself: replies and broadcasts come from others, whom it would cost the
memory.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.core.usage import Usage

if TYPE_CHECKING:
    from penstock.server.connection import Connection

PATIENCE_SECONDS = 5.0
PROGRESS_BYTES = 64 << 10  # what has to be taken in that time where others wait
LITTLE_BYTES = 64 << 10  # what a connection may have on its way while all of them have too much
COUNT_SECONDS = 0.02  # between two counts, where nobody waits
AGAIN_SECONDS = 0.1  # between two looks at those who were given nothing more
ALONE_BYTES_LEAST = 64 << 20  # one connection may always have this: the largest message, and what is before it


class Outgoing:
    def __init__(self, loop: asyncio.AbstractEventLoop, usage: Usage, bytes_max: int) -> None:
        self.bytes = 0  # at the last count
        self.alone_max = max(bytes_max, ALONE_BYTES_LEAST)
        self._loop = loop
        self._usage = usage
        self.let_hold(bytes_max)
        self._held: dict[Connection, int] = {}  # whose sockets have not taken all, and what was left at the last look
        self._since = 0  # bytes that were written to those since the last count
        self._counted_at = 0.0
        self._squeezed: dict[Connection, None] = {}  # are given nothing more
        self._timer: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None

    def let_hold(self, bytes_max: int) -> None:
        """The share is this large from now on."""
        self.bytes_max = bytes_max
        self._usage.unsent_max = bytes_max

    def hold(self, connection: "Connection", size: int) -> None:
        """Its socket has not taken all that was written, the last time so many bytes."""
        self._held.setdefault(connection, connection.unsent())
        self._since += size
        if self.bytes + self._since > self.bytes_max:
            self.count()

    def leave(self, connection: "Connection") -> None:
        """Its socket takes more, or is gone."""
        if connection in self._squeezed:
            del self._squeezed[connection]
            connection.unsqueeze()
        if self._held.pop(connection, None) is not None:
            self.count()

    def is_watching(self) -> bool:
        """Whether somebody's socket has not taken all. Replies that wait behind it are written nowhere, but count."""
        return bool(self._held)

    def go_on(self) -> None:
        """The end of a turn: count anew, where somebody waits for that or it was not done for a moment."""
        if self._usage.waiting_to_send or self._loop.time() >= self._counted_at + COUNT_SECONDS:
            self.count()

    def count(self) -> None:
        """Take all together, and tell the core. Everything was written when this is called."""
        self._since = 0
        self._counted_at = self._loop.time()
        unsent = 0
        unsent_of: dict[str, int] = {}
        for connection in list(self._held):
            left = connection.unsent()
            if not left:
                del self._held[connection]
            elif left > self.alone_max:
                del self._held[connection]
                connection.close_stalled(left)
            else:
                unsent += left
                holder = "" if connection.session is None else connection.session.holder
                unsent_of[holder] = unsent_of.get(holder, 0) + left
        self.bytes = unsent
        self._usage.sent(unsent_of)
        if unsent > self.bytes_max:
            self._squeeze()
        if (self._usage.waiting_to_send or self._squeezed) and self._timer is None:
            self._timer = self._loop.call_later(PATIENCE_SECONDS, self._look)

    def _squeeze(self) -> None:
        """Give nothing more to those who have more than a little on its way, until that is taken."""
        for connection in self._held:
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
        """Whoever has taken nothing since the last look is closed, if others wait."""
        self._timer = None
        if not self._usage.waiting_to_send and self.bytes <= self.bytes_max:
            return
        for connection, before in list(self._held.items()):
            left = connection.unsent()
            self._held[connection] = left
            if left > PROGRESS_BYTES and before - left < PROGRESS_BYTES:
                connection.close_stalled(left)
        self.count()
