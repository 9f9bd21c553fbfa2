"""Limits the memory of large HTTP responses: those being built, and those a client has not read yet.

Together they may take a share of the memory, and those of one user (or of one address, without authentication) half of
that. A request for one more waits for a while and is then refused. Meanwhile, clients that read nothing of their
response are closed.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from penstock.auth.throttle import address_of
from penstock.http.caller import Caller
from penstock.http.problems import over_limit

WAIT_SECONDS = 0.05
WAITS_MAX = 200  # ten seconds
PATIENCE_SECONDS = 5.0  # with a client that reads nothing
SMALL_BYTES = 64 << 10  # responses up to this size are not limited


class Unread:
    """Bytes one client had not read at the last check, and since when they have not decreased."""

    def __init__(self, size: int, since: float) -> None:
        self.size = size
        self.since = since


class Answers:
    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.connections: Collection[Any] = ()  # all HTTP connections
        self._made: dict[str, int] = {}  # bytes of responses being built, by owner
        self._owners: dict[str, str] = {}  # owner of the last request, by connection
        self._unread: dict[str, Unread] = {}

    def let_hold(self, bytes_max: int) -> None:
        """Set the size of its share of memory."""
        self.bytes_max = bytes_max

    def unread(self) -> dict[str, int]:
        """Bytes in the write buffer, by connection."""
        found: dict[str, int] = {}
        for connection in self.connections:
            transport = connection.transport
            if transport is not None and not transport.is_closing():
                size = transport.get_write_buffer_size()
                if size:
                    found[connection.peer] = size
        return found

    @property
    def bytes(self) -> int:
        return sum(self._made.values()) + sum(self.unread().values())

    @asynccontextmanager
    async def room(self, who: Caller, size: int) -> AsyncIterator[None]:
        """Reserve room while a response of this size is built; waits until there is room. Raises Problem."""
        if size <= SMALL_BYTES:
            yield
            return
        owner = who.name or address_of(who.peer)
        for _ in range(WAITS_MAX):
            if self._has_room(owner, size):
                break
            await asyncio.sleep(WAIT_SECONDS)
        else:
            raise over_limit(
                f"unread responses take {self.bytes} bytes of at most {self.bytes_max} (an eighth of memory_bytes_max, "
                "less while memory is short); one user may have half of that",
                "read the open responses first, or request less at a time",
            )
        self._owners[who.peer] = owner
        self._made[owner] = self._made.get(owner, 0) + size
        try:
            yield
        finally:
            self._made[owner] -= size
            if not self._made[owner]:
                del self._made[owner]

    def _has_room(self, owner: str, size: int) -> bool:
        """A single response is always allowed, however large."""
        unread = self.unread()
        self._owners = {peer: name for peer, name in self._owners.items() if peer in unread}
        own = self._made.get(owner, 0)
        own += sum(left for peer, left in unread.items() if self._owners.get(peer) == owner)
        total = sum(self._made.values()) + sum(unread.values())
        if (not own or own + size <= self.bytes_max // 2) and (not total or total + size <= self.bytes_max):
            return True
        self._close_stalled(unread)
        return False

    def _close_stalled(self, unread: dict[str, int]) -> None:
        now = asyncio.get_running_loop().time()
        before = self._unread
        self._unread = {}
        for connection in list(self.connections):
            left = unread.get(connection.peer, 0)
            if left <= SMALL_BYTES:
                continue
            seen = before.get(connection.peer)
            if seen is None or left < seen.size:
                seen = Unread(left, now)
            if now - seen.since > PATIENCE_SECONDS:
                connection.transport.abort()
            else:
                self._unread[connection.peer] = seen
