"""The one account of memory: what the broker holds for whom, by kind, by connection and by user.

    ready      messages in queues, as far as they are in memory
    held       messages that consumers have not acked
    leased     the same over HTTP
    staged     messages that wait for their commit
    in         requests that are not whole yet, and reads that wait for their turn
    out        what sockets have not taken yet
    queues     the queues themselves, empty as they may be
    bindings   of all queues
    ids        that are remembered for deduplication
    log        blocks that wait for the disk

Bodies and headers count alike. Nothing is counted by the message for it: each part knows its own figure, and the sum is
made when somebody looks; those that need a walk over queues or connections are from the last one. Twice a second the
broker looks: what the others take, and what the process has beyond its limit, is taken off what queues may hold, down
to half of the limit. Before it comes to that, what comes and goes gives way: while the process has little room left,
requests, answers and stages have smaller shares, down to an eighth.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.core.subscription import Subscription
from penstock.server.holdings import held_by, held_of
from penstock.server.memory import MIB, QUEUE_BYTES, resident_bytes

if TYPE_CHECKING:
    from penstock.server.connection import Connection, Switchboard
    from penstock.wire.session import Session

KINDS = ("ready", "held", "leased", "staged", "in", "out", "queues", "bindings", "ids", "log")
PROCESS_BYTES = 64 * MIB  # what the program itself takes
FLOOR_PART = 2  # queues may always hold one part in so many
ROOM_PART = 4  # the process has little room left when it is less than one part of the limit in so many
LEAST_PART = 8  # a share gives way down to one part of it in so many
SLICE = 250  # connections that are looked at before others have their turn


class Share:
    """Of what comes and goes: so many bytes of it there may be, and fewer while there is little room."""

    def __init__(self, bytes_max: int, least: int, allow: Callable[[int], None]) -> None:
        self._bytes_max = bytes_max
        self._least = max(least, bytes_max // LEAST_PART)
        self._allow = allow

    def give_way(self, left: int, whole: int) -> None:
        """There is room for so much of the whole."""
        self._allow(min(self._bytes_max, max(self._least, self._bytes_max * left // whole)))


class Account:
    def __init__(self, board: "Switchboard") -> None:
        self.limit = board.hub.limits.memory_bytes_max
        self.held = 0  # un-acked, in memory, by the last walk over the queues
        self._board = board
        self._own = 0  # what the process had when it was looked at first
        self._sources: dict[str, list[Callable[[], int]]] = {}
        self._shares = [
            Share(board.incoming.bytes_max, 0, board.incoming.let_hold),
            Share(board.outgoing.bytes_max, 0, board.outgoing.let_hold),
        ]

    def add(self, kind: str, source: Callable[[], int]) -> None:
        """Something of this kind is counted by somebody else."""
        self._sources.setdefault(kind, []).append(source)

    def add_share(self, bytes_max: int, least: int, allow: Callable[[int], None]) -> None:
        """Somebody may hold so many bytes, and is told when there is room for fewer, but always for the least."""
        self._shares.append(Share(bytes_max, least, allow))

    def _of_others(self, kind: str) -> int:
        return sum(source() for source in self._sources.get(kind, ()))

    def kinds(self) -> dict[str, int]:
        """What there is of each kind."""
        board = self._board
        broker = board.hub.broker
        in_queues = broker.usage.bytes
        # What several consumers hold is there once, and each of their queues counts it.
        leased = min(self._of_others("leased"), in_queues)
        held = min(max(0, self.held - leased), in_queues - leased)
        return {
            "ready": in_queues - held - leased,
            "held": held,
            "leased": leased,
            "staged": self._of_others("staged"),
            "in": board.incoming.all_bytes + board.waiting_reads.bytes + self._of_others("in"),
            "out": board.outgoing.bytes + self._of_others("out"),
            "queues": QUEUE_BYTES * len(broker.queues),
            "bindings": broker.routing.costs.taken,
            "ids": broker.dedup.size,
            "log": 0 if board.storage is None else board.storage.behind_bytes(),
        }

    def of_connection(self, session: "Session", connection: "Connection") -> int:
        """What one client has of it: what it has not finished asking, has not read and has not acked."""
        return session.pending() + connection.waiting_in + connection.unsent() + held_of(session)

    def of_consumer(self, subscription: Subscription) -> int:
        """What a consumer's messages take in memory, about."""
        return held_by(subscription)

    async def by_user(self) -> dict[str, int]:
        """The same of the connections of each user; those of nobody in particular are under an empty name."""
        found: dict[str, int] = {}
        for number, (session, connection) in enumerate(list(self._board.connections.items()), 1):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            name = "" if session.user is None else session.user.name
            found[name] = found.get(name, 0) + self.of_connection(session, connection)
        return found

    def balance(self) -> None:
        """Let queues hold what the others leave of the limit, and the others less where the process has little room."""
        board = self._board
        broker = board.hub.broker
        others = board.incoming.all_bytes + board.waiting_reads.bytes + board.outgoing.bytes
        others += QUEUE_BYTES * len(broker.queues) + broker.routing.costs.taken + broker.dedup.size
        others += sum(self._of_others(kind) for kind in ("staged", "in", "out"))
        resident = resident_bytes()
        if not self._own:
            self._own = max(PROCESS_BYTES, resident)
        room = self.limit + self._own - resident
        if room < 0:
            gc.collect(1)  # the collector counts objects, and there may be large ones among what only it can free
        whole = max(1, self.limit // ROOM_PART)
        for share in self._shares:
            share.give_way(max(0, min(room, whole)), whole)
        board.let_queues_hold(max(self.limit // FLOOR_PART, self.limit - others - max(0, -room)))
