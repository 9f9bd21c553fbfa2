"""Dead letters go back to the queues they died in, some at a time: a long queue is not read in one go.

A redrive looks at what was ready when it began, in order. What was not dead anywhere stays where it is, unless a queue
is named for all; so does what may not go where it would. It ends early where a queue is full, or the log cannot be read
at the moment.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.core.backlog import Item, Place, cost_of, message_of
from penstock.core.deadletters import origin_of
from penstock.core.queue import Queue
from penstock.core.walk import Walk
from penstock.errors import Refused
from penstock.message import Message

if TYPE_CHECKING:
    from penstock.core.broker import Broker


class Redrive:
    """`Broker.step_redrive` until it says that it is over. With `dry_run` nothing moves, and what would is counted."""

    def __init__(
        self,
        broker: "Broker",
        queue: Queue,
        limit: int,
        to: bytes,
        may_go: Callable[[bytes], bool] | None = None,
        dry_run: bool = False,
    ) -> None:
        self.queue = queue
        self.targets: dict[bytes, int] = {}  # how many went where, or would
        self.moved = 0  # likewise, in all
        self.moved_bytes = 0  # of their bodies
        self.over = False
        self.walk = Walk(queue.backlog)
        self._broker = broker
        self._limit = limit
        self._to = to
        self._may_go = may_go
        self._dry_run = dry_run
        self._bound = broker.log.next_offset  # what comes from here on is not looked at

    def step(self, now: int) -> bool:
        """Look at the next messages, and move them; True when that was all."""
        broker = self._broker
        if broker.queues.get(self.queue.name) is not self.queue or (broker.shut_because and not self._dry_run):
            self.over = True
        if not self.over:
            going: dict[int, bytes] = {}  # by offset, where to
            places = self._look(going)
            if not self._dry_run and places:
                self._move(places, going, now)
        return self.over

    def _look(self, going: dict[int, bytes]) -> list[Place]:
        places: list[Place] = []
        walk = self.walk
        size = 0
        for seen in walk.step(self.queue.tuning.look_length):
            place = seen[0]
            if place[0] >= self._bound or self.moved + len(going) >= self._limit:
                self.over = True
                return places
            message = walk.message(seen)
            if message is not None:
                target = self._target_of(message)
                if target and self._dry_run:
                    self._count(message, target)
                elif target:
                    places.append(place)
                    going[place[2]] = target
                size += cost_of(message)
            elif self.queue.log.is_stalled:
                self.over = True  # what follows cannot be read either, and may be later
                return places
            if size >= self.queue.tuning.look_bytes:
                walk.go_on_behind(place)
                return places
        self.over = walk.over
        return places

    def _target_of(self, message: Message) -> bytes:
        """Where it goes; nowhere when it stays."""
        target = self._to or origin_of(message)
        if not target or target == self.queue.name or message.revoked:
            return b""
        if len(target) > self._broker.limits.name_size_max:
            return b""
        return target if self._may_go is None or self._may_go(target) else b""

    def _move(self, places: list[Place], going: dict[int, bytes], now: int) -> None:
        queue = self.queue
        kept: list[Item] = []
        for item in queue.take_out(places):
            message = message_of(item)
            target = going[message.offset]
            if not kept:
                try:
                    self._broker.send_back(message, target, now)
                except Refused:
                    self.over = True
                    kept.append(item)
                    continue
                queue.moved(item)
                self._count(message, target)
            else:
                kept.append(item)
        queue.put_back(kept)

    def _count(self, message: Message, target: bytes) -> None:
        self.moved += 1
        self.moved_bytes += len(message.body)
        self.targets[target] = self.targets.get(target, 0) + 1
