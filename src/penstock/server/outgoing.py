"""Large messages on their way out: what sockets have not taken yet, of all connections.

Together they may take a share of the memory. Above it the next large message stays in its queue, unless nothing is on
its way: so the share is exceeded by one message at most. A connection that others wait for and that takes nothing is
closed.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.core.usage import Usage

if TYPE_CHECKING:
    from penstock.server.connection import Connection

PATIENCE_SECONDS = 5.0
PROGRESS_BYTES = 64 << 10  # what has to be taken in that time where others wait


class Outgoing:
    def __init__(self, loop: asyncio.AbstractEventLoop, usage: Usage, bytes_max: int) -> None:
        self._loop = loop
        self._usage = usage
        usage.unsent_max = bytes_max
        self._held: dict[Connection, int] = {}  # whose sockets are full, and what was left at the last look
        self._timer: asyncio.TimerHandle | None = None

    def hold(self, connection: "Connection") -> None:
        """Its socket has not taken all that was written."""
        self._held.setdefault(connection, connection.transport.get_write_buffer_size())

    def leave(self, connection: "Connection") -> None:
        """Its socket takes more, or is gone."""
        if self._held.pop(connection, None) is not None:
            self.count()

    def count(self) -> None:
        """Tell the core how much is on its way. Everything was written when this is called."""
        unsent = 0
        for connection in self._held:
            unsent += connection.transport.get_write_buffer_size()
        self._usage.sent(unsent)
        if self._usage.waiting_to_send and self._timer is None:
            self._timer = self._loop.call_later(PATIENCE_SECONDS, self._look)

    def _look(self) -> None:
        """Whoever has taken nothing since the last look is closed, if others wait."""
        self._timer = None
        if not self._usage.waiting_to_send:
            return
        for connection, before in list(self._held.items()):
            left = connection.transport.get_write_buffer_size()
            self._held[connection] = left
            if left > PROGRESS_BYTES and before - left < PROGRESS_BYTES:
                connection.close_stalled(left)
        self.count()
