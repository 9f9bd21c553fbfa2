"""Redrive: moves dead letters back to the queues they died in, in steps, so that a long queue is not read at once.

A redrive covers the messages that were ready when it began, in order. Messages that are not dead letters stay, unless a
target queue is given for all; so do those that may not go to their target. It ends early when a queue is full, or the
log cannot be read at the moment.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from penstock.core.deadletters import origin_of
from penstock.core.deadlines import Timer
from penstock.core.delivery import Item, message_of
from penstock.core.places import Places
from penstock.core.queue import Queue
from penstock.core.spans import SortKey
from penstock.core.walk import Walk
from penstock.errors import OVER_LIMIT, Refused
from penstock.message import Message, payload_size

if TYPE_CHECKING:
    from penstock.core.broker import Broker

WAIT_TIME: Final = 20_000  # microseconds between two checks while memory is short ...
WAITS_MAX: Final = 500  # ... and how many checks, before the redrive ends with what was moved so far
LINE_MAX: Final = 100  # the most redrives waiting at a time: a client could ask for more than fit into memory


class Redrive:
    """Call `Broker.step_redrive` until it returns True. With `dry_run` nothing is moved, only counted."""

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
        self.targets: dict[bytes, int] = {}  # how many were moved to each queue, or would be
        self.moved = 0  # the same in total
        self.moved_bytes = 0  # bytes of their bodies and headers
        self.over = False
        self.walk = Walk(queue.backlog)
        self._broker = broker
        self._limit = limit
        self._to = to
        self._may_go = may_go
        self.is_dry_run = dry_run
        self._bound = broker.log.next_offset  # messages from this offset on are not included

    def step(self, now: int) -> bool:
        """Check the next messages and move them; True when finished."""
        broker = self._broker
        if broker.queues.get(self.queue.name) is not self.queue or (broker.refuse_reason and not self.is_dry_run):
            self.over = True
        if not self.over:
            going: dict[int, bytes] = {}  # target by offset
            places = self._look(going)
            if not self.is_dry_run and places:
                self._move(places, going, now)
        return self.over

    def _look(self, going: dict[int, bytes]) -> list[SortKey]:
        places: list[SortKey] = []
        walk = self.walk
        size = 0
        read_end = self.queue.log.read_bytes + self.queue.tuning.read_at_once
        self._broker.context.work += self.queue.tuning.look_length
        for seen in walk.step(self.queue.tuning.look_length):
            place = seen[0]
            if place[0] >= self._bound or self.moved + len(going) >= self._limit:
                self.over = True
                return places
            message = walk.message(seen)
            if message is not None:
                target = self._target_of(message)
                if target and self.is_dry_run:
                    self._count(message, target)
                elif target:
                    places.append(place)
                    going[place[2]] = target
                size += message.size
            elif self.queue.log.is_stalled:
                self.over = True  # nothing after it can be read at the moment either
                return places
            if size >= self.queue.tuning.look_bytes or self.queue.log.read_bytes >= read_end:
                walk.go_on_behind(place)
                return places
        self.over = walk.over
        return places

    def _target_of(self, message: Message) -> bytes:
        """The target queue; empty when the message stays."""
        target = self._to or origin_of(message)
        if not target or target == self.queue.name or message.revoked:
            return b""
        if len(target) > self._broker.limits.name_size_max:
            return b""
        return target if self._may_go is None or self._may_go(target) else b""

    def _move(self, places: list[SortKey], going: dict[int, bytes], now: int) -> None:
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
        self.moved_bytes += payload_size(message)
        self.targets[target] = self.targets.get(target, 0) + 1


class RedriveWaiter:
    """The client that asked for a redrive, and is notified of its end."""

    def __init__(self, holder: str) -> None:
        self.holder = holder  # its user, or its address if there are no users

    def finished(self, redrive: Redrive) -> None:
        raise NotImplementedError

    def is_gone(self) -> bool:
        """Whether the client has disconnected."""
        return False

    def failed(self, error: Exception) -> None:
        """`finished` raised this."""
        raise NotImplementedError


class Redrives:
    """Redrives that clients wait for, longest waiting first: one step per turn, so that many cost no more than one."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._timer = Timer(self._step)
        self._line: list[tuple[Redrive, RedriveWaiter]] = []
        self._places = Places(LINE_MAX)
        self._waits = 0  # how often the first one has waited for memory

    def add(self, redrive: Redrive, waiter: RedriveWaiter) -> None:
        """Run a redrive. If no other waits and one step is enough, it is finished on return.

        Raises Refused, before anything is moved, when too many are waiting.
        """
        broker = self._broker
        if not self._places.has_room(waiter.holder):
            why = self._places.why_full(waiter.holder, "concurrent redrives")
            raise Refused(OVER_LIMIT, f"{why}: try again when one has finished")
        if not self._line and broker.step_redrive(redrive, broker.context.now):
            waiter.finished(redrive)
            return
        self._line.append((redrive, waiter))
        self._places.enter(waiter.holder)
        self._go_on(broker.context.now)

    def _step(self, now: int) -> None:
        broker = self._broker
        redrive, waiter = self._line[0]
        if not redrive.is_dry_run and broker.context.bytes >= broker.context.bytes_max and self._waits < WAITS_MAX:
            self._waits += 1
            broker.deadlines.set(self._timer, now + WAIT_TIME)
            return
        is_for_nobody = redrive.is_dry_run and waiter.is_gone()  # one that moves messages is completed anyway
        if is_for_nobody or self._waits == WAITS_MAX or broker.step_redrive(redrive, now):
            self._waits = 0
            del self._line[0]
            self._places.leave(waiter.holder)
            try:
                waiter.finished(redrive)
            except Exception as error:
                waiter.failed(error)
        self._go_on(now)

    def _go_on(self, now: int) -> None:
        if self._line and not self._timer.armed:
            self._broker.deadlines.set(self._timer, now + 1)
