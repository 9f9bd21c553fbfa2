"""One queue: who waits, what is ready, what is out, and who gets what next.

A message of a queue is in one of two places until it is settled:

        offer ──► backlog ──► in a consumer's hands ──► accept: gone
                     ▲                 │
                     ├── reject ───────┤   to the back, retry + 1
                     └── return ───────┘   to its old place, retry + 1: the consumer went away

The backlog is in order of place. A fresh message's place is its offset; a rejected one's is just behind every message
that was in the log when it was rejected. `Redelivery` spells that place out as (bound, serial): behind offset
`bound`, and among those, in order of `serial`. So whatever comes back from several consumers in any order ends up in
the same order, and a replay of the log, which sees no deliveries at all, ends up in it too.

When nothing is ready and somebody waits, a message passes straight through and the backlog is not touched.
"""

from collections import deque
from typing import Final

from penstock.core.limits import CONGESTED_BYTES, DROP_OLDEST, MESSAGE_OVERHEAD, Limits
from penstock.core.subscription import Delivery, Subscription
from penstock.log.port import Ledger, Log
from penstock.message import ACCEPT, DROP, REJECT, RETURN, Message

NEVER: Final = -1


class Usage:
    """What all queues of a broker hold together."""

    def __init__(self) -> None:
        self.bytes = 0
        # The queue that a publish found congested last. Whoever acts on it resets it.
        self.congested: Queue | None = None


class Redelivery:
    """A ready message that was out before, with its place in the queue."""

    def __init__(self, message: Message, retry: int, bound: int, serial: int) -> None:
        self.message = message
        self.retry = retry
        self.bound = bound
        self.serial = serial


class Queue:
    def __init__(self, name: bytes, log: Log, limits: Limits, usage: Usage) -> None:
        self.name = name
        self.log = log
        self.ledger = Ledger(name)
        self.limits = limits
        self.usage = usage
        self.events: tuple[bytes, ...] = ()
        self.patterns: tuple[bytes, ...] = ()
        self.expires_after = NEVER  # microseconds without consumers after which the queue goes away
        self.backlog: deque[Message | Redelivery] = deque()
        self.ready = 0  # len(backlog), at the price of an attribute
        self.unacked = 0
        self.bytes = 0  # of what is ready or out, overhead included
        self.unacked_bytes = 0  # of what is out
        self.full = False
        self.waiting: list[Subscription] = []  # best priority first, then longest waiting first
        self.subscriptions: list[Subscription] = []  # active ones
        self.parked: list[Subscription] = []  # behind an exclusive one, in order of arrival
        self.queued = 0  # messages that ever came in
        self.delivered = 0  # deliveries that ever went out
        self.dropped = 0
        self.unmoved_at = -1  # `delivered` when a publisher last waited for this queue in vain
        self.revoked = 0  # given up by their requester since the last sweep, wherever they are

    def __repr__(self) -> str:
        return f"<Queue {self.name!r} ready={self.ready} unacked={self.unacked} consumers={self.consumer_count()}>"

    def consumer_count(self) -> int:
        return len(self.subscriptions) + len(self.parked)

    def ready_bytes(self) -> int:
        """How much waits to be taken. What is out waits for its consumer's work, and not for a socket."""
        return self.bytes - self.unacked_bytes

    # -- messages in ------------------------------------------------------------------------------------------------

    def offer(self, message: Message) -> None:
        """Take a logged message: give it away at once where somebody waits, else keep it."""
        self.queued += 1
        if self.ready == 0 and self.waiting:
            self._give(self.waiting[0], message, 0, message.offset, 0)
        else:
            self.backlog.append(message)
            self.ready += 1
            self._grow(len(message.body) + MESSAGE_OVERHEAD)
            if self.ready_bytes() > CONGESTED_BYTES and self.subscriptions:
                self.usage.congested = self

    def make_room(self) -> bool:
        """True when one more message may come in; by policy the oldest ready one may have to go for it."""
        if not self.full:
            return True
        if self.limits.queue_full == DROP_OLDEST and self.ready:
            self._drop(self._take_first())
            return True
        return False

    def _grow(self, size: int) -> None:
        self.bytes += size
        self.usage.bytes += size
        limits = self.limits
        self.full = self.bytes >= limits.queue_bytes_max or self.ready + self.unacked >= limits.queue_length_max

    def _shrink(self, size: int) -> None:
        self.bytes -= size
        self.usage.bytes -= size
        if self.full:
            limits = self.limits
            self.full = self.bytes >= limits.queue_bytes_max or self.ready + self.unacked >= limits.queue_length_max

    # -- messages out -----------------------------------------------------------------------------------------------

    def pump(self) -> None:
        """Give what is ready to who is waiting."""
        while self.ready and self.waiting:
            item = self._take_first()
            message = item.message if isinstance(item, Redelivery) else item
            if message.revoked:
                self._drop(item)
                continue
            self._shrink(len(message.body) + MESSAGE_OVERHEAD)
            if isinstance(item, Redelivery):
                self._give(self.waiting[0], message, item.retry, item.bound, item.serial)
            else:
                self._give(self.waiting[0], message, 0, message.offset, 0)

    def take(self) -> Message | None:
        """Take the first ready message for good; None when there is none."""
        while self.ready:
            item = self._take_first()
            message = item.message if isinstance(item, Redelivery) else item
            if message.revoked:
                self._drop(item)
                continue
            self._shrink(len(message.body) + MESSAGE_OVERHEAD)
            self.delivered += 1
            self.log.settled(self.ledger, message.offset, ACCEPT)
            if message.requester is not None:
                message.requester.delivered(message)
            return message
        return None

    def broadcast(self, message: Message) -> int:
        """Give the message to every active consumer whose connection takes bytes, whatever it holds already."""
        reached = 0
        for subscription in list(self.subscriptions):
            if not subscription.suspended:
                reached += 1
                self.delivered += 1
                if not subscription.broadcast(message):
                    subscription.suspended = True
                    self._leave_line(subscription)
        return reached

    def _take_first(self) -> Message | Redelivery:
        self.ready -= 1
        return self.backlog.popleft()

    def _give(self, subscription: Subscription, message: Message, retry: int, bound: int, serial: int) -> None:
        self.delivered += 1
        if subscription.manual:
            delivery = Delivery(message, subscription, retry, bound, serial)
            subscription.hold(delivery)
            size = len(message.body) + MESSAGE_OVERHEAD
            self.unacked += 1
            self.unacked_bytes += size
            self._grow(size)
            more = subscription.deliver(message, retry, delivery)
        else:
            self.log.settled(self.ledger, message.offset, ACCEPT)
            if message.requester is not None:
                message.requester.delivered(message)
            more = subscription.deliver(message, retry, None)
        if not more:
            subscription.suspended = True
            self._leave_line(subscription)
        elif subscription.manual and subscription.in_flight >= subscription.credit:
            self._leave_line(subscription)
        elif len(self.waiting) > 1:
            self._leave_line(subscription)
            self._join_line(subscription)

    # -- the line of those who wait ---------------------------------------------------------------------------------

    def _join_line(self, subscription: Subscription) -> None:
        line = self.waiting
        place = len(line)
        while place > 0 and line[place - 1].priority < subscription.priority:
            place -= 1
        line.insert(place, subscription)
        subscription.waiting = True

    def _leave_line(self, subscription: Subscription) -> None:
        if subscription.waiting:
            subscription.waiting = False
            line = self.waiting
            if line[0] is subscription:
                del line[0]
            else:
                line.remove(subscription)

    def reconsider(self, subscription: Subscription) -> None:
        """Put the subscription into the line, or take it out, by its present state."""
        able = subscription.active and not subscription.suspended
        if able and subscription.manual:
            able = subscription.in_flight < subscription.credit
        if able and not subscription.waiting:
            self._join_line(subscription)
        elif not able:
            self._leave_line(subscription)

    # -- consumers come and go --------------------------------------------------------------------------------------

    def attach(self, subscription: Subscription) -> None:
        """Take a consumer in: active at once, or parked behind an exclusive one."""
        subscription.queue = self
        if self._admits(subscription):
            self._activate(subscription)
        else:
            self.parked.append(subscription)

    def _admits(self, subscription: Subscription) -> bool:
        if self.parked:
            return False
        active = self.subscriptions
        return not active or not (subscription.exclusive or active[0].exclusive)

    def is_reserved(self) -> bool:
        """Whether an exclusive consumer has the queue, or is the next to have it."""
        active = self.subscriptions
        return bool(self.parked) or (bool(active) and active[0].exclusive)

    def _activate(self, subscription: Subscription) -> None:
        self.subscriptions.append(subscription)
        subscription.active = True
        subscription.activated()
        self.reconsider(subscription)

    def detach(self, subscription: Subscription) -> None:
        """Let a consumer go; what it held goes back to its place in the queue."""
        self._leave_line(subscription)
        subscription.active = False
        subscription.queue = None
        if subscription in self.parked:
            self.parked.remove(subscription)
        elif subscription in self.subscriptions:
            self.subscriptions.remove(subscription)
        self.take_back(subscription.held(), RETURN)
        while self.parked and (not self.subscriptions or self._fits(self.parked[0])):
            self._activate(self.parked.pop(0))

    def _fits(self, subscription: Subscription) -> bool:
        return not (subscription.exclusive or self.subscriptions[0].exclusive)

    # -- settlements ------------------------------------------------------------------------------------------------

    def accept(self, delivery: Delivery) -> None:
        self._close(delivery)
        self.log.settled(self.ledger, delivery.message.offset, ACCEPT)

    def reject(self, delivery: Delivery) -> None:
        """Back to the end of the queue, for the next in line."""
        message = delivery.message
        self._close(delivery)
        if self._worn_out(message, delivery.retry):
            return
        log = self.log
        log.settled(self.ledger, message.offset, REJECT)
        self.backlog.append(Redelivery(message, delivery.retry + 1, log.next_offset - 1, log.position))
        self.ready += 1
        self._grow(len(message.body) + MESSAGE_OVERHEAD)

    def take_back(self, deliveries: list[Delivery], how: int) -> None:
        """Put deliveries back to where they were: RETURN counts as a try, RELEASE does not."""
        returned: list[Redelivery] = []
        for delivery in deliveries:
            message = delivery.message
            self._close(delivery)
            if how == RETURN and self._worn_out(message, delivery.retry):
                continue
            retry = delivery.retry
            if how == RETURN:
                retry += 1
                self.log.settled(self.ledger, message.offset, RETURN)
            returned.append(Redelivery(message, retry, delivery.bound, delivery.serial))
            self.ready += 1
            self._grow(len(message.body) + MESSAGE_OVERHEAD)
        if returned:
            returned.sort(key=_place_of)
            self._merge(returned)

    def _merge(self, returned: list[Redelivery]) -> None:
        """Put items, sorted by place, back among the first of the backlog; mostly they belong before all of it."""
        backlog = self.backlog
        behind: list[Message | Redelivery] = []
        last = _place_of(returned[-1])
        while backlog and _place_of(backlog[0]) < last:
            behind.append(backlog.popleft())
        merged: list[Message | Redelivery] = sorted([*behind, *returned], key=_place_of) if behind else list(returned)
        backlog.extendleft(reversed(merged))

    def _close(self, delivery: Delivery) -> None:
        delivery.subscription.let_go(delivery)
        size = len(delivery.message.body) + MESSAGE_OVERHEAD
        self.unacked -= 1
        self.unacked_bytes -= size
        self._shrink(size)

    def _worn_out(self, message: Message, retry: int) -> bool:
        """Give the message up when its tries are used up or its requester gave it up."""
        if not message.revoked and (message.deliveries_max == 0 or retry + 1 < message.deliveries_max):
            return False
        self._lose(message, "its tries are used up")
        return True

    def _drop(self, item: Message | Redelivery) -> None:
        """Give up a message already taken from the backlog."""
        message = item.message if isinstance(item, Redelivery) else item
        self._shrink(len(message.body) + MESSAGE_OVERHEAD)
        self._lose(message, "the queue is full")

    def count_revoked(self) -> None:
        """One more message of this queue was given up. Where they may be half of what is ready, they are swept out."""
        self.revoked += 1
        if self.revoked * 2 > self.ready:
            self.revoked = 0
            kept: deque[Message | Redelivery] = deque()
            for item in self.backlog:
                message = item.message if isinstance(item, Redelivery) else item
                if message.revoked:
                    self.ready -= 1
                    self._drop(item)
                else:
                    kept.append(item)
            self.backlog = kept

    def _lose(self, message: Message, reason: str) -> None:
        self.dropped += 1
        self.log.settled(self.ledger, message.offset, DROP)
        if message.requester is not None and not message.revoked:
            message.requester.undelivered(message, reason)

    # -- the end ----------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """The queue is being deleted: consumers are told, messages go with it."""
        for subscription in [*self.subscriptions, *self.parked]:
            for delivery in subscription.held():
                self._close(delivery)
                self._tell_requester(delivery.message)
            subscription.active = False
            subscription.waiting = False
            subscription.queue = None
            subscription.ended()
        for item in self.backlog:
            self._tell_requester(item.message if isinstance(item, Redelivery) else item)
        self.usage.bytes -= self.bytes
        self.bytes = 0
        self.ready = 0
        self.backlog.clear()
        self.waiting.clear()
        self.subscriptions.clear()
        self.parked.clear()

    def _tell_requester(self, message: Message) -> None:
        if message.requester is not None and not message.revoked:
            message.requester.undelivered(message, "the queue was deleted")

    def restore(self, items: list[Message | Redelivery]) -> None:
        """Fill a fresh queue with what a log says it owes."""
        for item in sorted(items, key=_place_of):
            message = item.message if isinstance(item, Redelivery) else item
            self.backlog.append(item)
            self.ready += 1
            self._grow(len(message.body) + MESSAGE_OVERHEAD)

    def contents(self) -> list[tuple[Message, int]]:
        """What the queue owes, in order, as (message, retry): ready and out alike."""
        owed: list[Message | Redelivery] = list(self.backlog)
        for subscription in self.subscriptions:
            for delivery in subscription.held():
                owed.append(Redelivery(delivery.message, delivery.retry, delivery.bound, delivery.serial))
        owed.sort(key=_place_of)
        return [(item.message, item.retry) if isinstance(item, Redelivery) else (item, 0) for item in owed]


def _place_of(item: Message | Redelivery) -> tuple[int, int]:
    if isinstance(item, Redelivery):
        return item.bound, item.serial
    return item.offset, 0
