"""Memory accounting: what the broker holds, by kind, by connection and by user.

    ready      messages in queues that are in memory
    held       messages that consumers have not acked
    leased     the same over HTTP
    staged     messages waiting for their commit
    in         incomplete requests, and reads not processed yet
    out        unsent output
    queues     the queues themselves, even if empty
    bindings   of all queues
    ids        remembered for deduplication
    log        blocks waiting for the disk

Bodies and headers count alike. There is no accounting per message: each part knows its own figure, and they are added
up on demand; figures that need a scan of queues or connections are from the last scan. Twice a second the broker
rebalances: it deducts what the other kinds take, and what the process has beyond its limit, from what queues may hold,
down to half of the limit. Before that, transient data gives way: while the process has little room left, requests,
replies and stages have smaller shares, down to an eighth.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.core.memory_shares import MIB
from penstock.core.subscription import Subscription
from penstock.server.holdings import held_by, held_of
from penstock.server.memory import QUEUE_BYTES, resident_bytes

if TYPE_CHECKING:
    from penstock.server.connection import Connection
    from penstock.server.reactor import Reactor
    from penstock.wire.session import Session

KINDS = ("ready", "held", "leased", "staged", "in", "out", "queues", "bindings", "ids", "log")
PROCESS_BYTES = 64 * MIB  # the program itself, at least
FLOOR_PART = 2  # queues may always hold half of the limit
ROOM_PART = 4  # shares shrink when less than a quarter of the limit is left
LEAST_PART = 8  # a share never shrinks below an eighth
SLICE = 250  # connections scanned before the event loop runs again


class Share:
    """The byte limit of one kind of transient data, which shrinks while there is little room."""

    def __init__(self, bytes_max: int, least: int, allow: Callable[[int], None]) -> None:
        self._bytes_max = bytes_max
        self._least = max(least, bytes_max // LEAST_PART)
        self._allow = allow

    def give_way(self, left: int, whole: int) -> None:
        """Scale the limit by `left / whole`."""
        self._allow(min(self._bytes_max, max(self._least, self._bytes_max * left // whole)))


class Account:
    def __init__(self, reactor: "Reactor") -> None:
        self.limit = reactor.hub.limits.memory_bytes_max
        self.held = 0  # un-acked bytes in memory at the last scan of the queues
        self._board = reactor
        self._own = 0  # resident memory at the first check
        self._sources: dict[str, list[Callable[[], int]]] = {}
        self._shares = [
            Share(reactor.incoming.bytes_max, 0, reactor.incoming.let_hold),
            Share(reactor.outgoing.bytes_max, 0, reactor.outgoing.let_hold),
        ]

    def add(self, kind: str, source: Callable[[], int]) -> None:
        """Add a source for a kind that is counted elsewhere."""
        self._sources.setdefault(kind, []).append(source)

    def add_share(self, bytes_max: int, least: int, allow: Callable[[int], None]) -> None:
        """Add a share: `allow` is called with its current limit, between `least` and `bytes_max`."""
        self._shares.append(Share(bytes_max, least, allow))

    def _of_others(self, kind: str) -> int:
        return sum(source() for source in self._sources.get(kind, ()))

    def kinds(self) -> dict[str, int]:
        """Bytes by kind."""
        reactor = self._board
        broker = reactor.hub.broker
        in_queues = broker.context.bytes
        # A message in several queues is in memory once, but each queue counts it.
        leased = min(self._of_others("leased"), in_queues)
        held = min(max(0, self.held - leased), in_queues - leased)
        return {
            "ready": in_queues - held - leased,
            "held": held,
            "leased": leased,
            "staged": self._of_others("staged"),
            "in": reactor.incoming.all_bytes + reactor.waiting_reads.bytes + self._of_others("in"),
            "out": reactor.outgoing.bytes + self._of_others("out"),
            "queues": QUEUE_BYTES * len(broker.queues),
            "bindings": broker.routing.costs.taken,
            "ids": broker.dedup.size,
            "log": 0 if reactor.storage is None else reactor.storage.behind_bytes(),
        }

    def of_connection(self, session: "Session", connection: "Connection") -> int:
        """Bytes held for one client: unprocessed input, unsent output and un-acked messages."""
        return session.pending() + connection.waiting_in + connection.unsent() + held_of(session)

    def of_consumer(self, subscription: Subscription) -> int:
        """Approximate memory of a consumer's un-acked messages."""
        return held_by(subscription)

    async def by_user(self) -> dict[str, int]:
        """`of_connection` summed by user; connections without a user are under an empty name."""
        found: dict[str, int] = {}
        for number, (session, connection) in enumerate(list(self._board.connections.items()), 1):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            name = "" if session.user is None else session.user.name
            found[name] = found.get(name, 0) + self.of_connection(session, connection)
        return found

    def balance(self) -> None:
        """Set the limit of queues to what the other kinds leave, and shrink shares if the process has little room."""
        reactor = self._board
        broker = reactor.hub.broker
        others = reactor.incoming.all_bytes + reactor.waiting_reads.bytes + reactor.outgoing.bytes
        others += QUEUE_BYTES * len(broker.queues) + broker.routing.costs.taken + broker.dedup.size
        others += sum(self._of_others(kind) for kind in ("staged", "in", "out"))
        resident = resident_bytes()
        if not self._own:
            self._own = max(PROCESS_BYTES, resident)
        room = self.limit + self._own - resident
        if room < 0:
            gc.collect(1)  # the collector counts objects, not bytes: there may be large ones that only it can free
        whole = max(1, self.limit // ROOM_PART)
        for share in self._shares:
            share.give_way(max(0, min(room, whole)), whole)
        reactor.let_queues_hold(max(self.limit // FLOOR_PART, self.limit - others - max(0, -room)))
