"""One queue: who waits, what is ready, what is out, and who gets what next.

A message of a queue is in one of two places until it is settled:

        offer ──► backlog ──► in a consumer's hands ──► accept: gone
                     ▲                 │
                     ├── reject ───────┤   to the back, retry + 1
                     └── return ───────┘   to its old place, retry + 1: the consumer went away

The backlog is in order of place, and a long one is not in memory: `core.backlog` says how. When nothing is ready and
somebody waits, a message passes straight through and the backlog is not touched.
"""

from typing import Final

from penstock.core.backlog import HEAD_BYTES_MAX, Backlog, Item, Place, Redelivery, cost_of, message_of, place_of
from penstock.core.limits import CONGESTED_BYTES, DROP_OLDEST, MESSAGE_OVERHEAD, Limits
from penstock.core.subscription import Delivery, Subscription
from penstock.log.port import Ledger, Log
from penstock.log.span import Span
from penstock.message import ACCEPT, DROP, REJECT, RETURN, Message

NEVER: Final = -1
NEAR: Final = 1000  # offsets this close to each other are spoken of as one stretch


class Usage:
    """What all queues of a broker hold together."""

    def __init__(self) -> None:
        self.bytes = 0  # in memory, overhead included
        # The queue that a publish found congested last. Whoever acts on it resets it.
        self.congested: Queue | None = None


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
        self.backlog = Backlog(log)
        self.ready = 0  # len(backlog), at the price of an attribute
        self.unacked = 0
        self.bytes = 0  # of what is ready or out, in memory or not, overhead included
        self.unacked_bytes = 0  # of what is out
        self.full = False
        self.waiting: list[Subscription] = []  # best priority first, then longest waiting first
        self.subscriptions: list[Subscription] = []  # active ones
        self.parked: list[Subscription] = []  # behind an exclusive one, in order of arrival
        self.queued = 0  # messages that ever came in
        self.delivered = 0  # deliveries that ever went out
        self.dropped = 0
        # What the log could not give back: (bound, serial, offset, retry). Still owed, in case it can after a repair.
        self.unreadable: list[Place] = []
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
            if self.bytes - self.unacked_bytes > CONGESTED_BYTES:
                self._be_long()

    def _be_long(self) -> None:
        """Much is ready. Who fills the queue should wait for its consumers, unless it is so much that it goes to disk.

        A consumer that is that far behind is not helped by a publisher that waits.
        """
        backlog = self.backlog
        if backlog.is_long:
            if backlog.has_long_tail():
                self.usage.bytes -= backlog.seal_tail()
        elif self.ready_bytes() > HEAD_BYTES_MAX:
            backlog.grow_long()
        if self.subscriptions and not backlog.is_long:
            self.usage.congested = self

    def free_memory(self) -> int:
        """Let go of whatever the log can give back; how many bytes that frees."""
        freed = self.backlog.seal_tail() + self.backlog.seal_head()
        self.usage.bytes -= freed
        return freed

    def make_room(self) -> bool:
        """True when one more message may come in; by policy the oldest ready one may have to go for it."""
        if not self.full:
            return True
        if self.limits.queue_full == DROP_OLDEST:
            item = self._take_first()
            if item is not None:
                self._drop(message_of(item))
                return True
        return False

    def _grow(self, size: int) -> None:
        self.bytes += size
        self.usage.bytes += size
        self._check_full()

    def _shrink(self, size: int) -> None:
        self.bytes -= size
        self.usage.bytes -= size
        if self.full:
            self._check_full()

    def _check_full(self) -> None:
        limits = self.limits
        self.full = self.bytes >= limits.queue_bytes_max or self.ready + self.unacked >= limits.queue_length_max

    # -- messages out -----------------------------------------------------------------------------------------------

    def pump(self) -> None:
        """Give what is ready to who is waiting."""
        while self.ready and self.waiting:
            item = self._take_first()
            if item is None:
                return
            message = message_of(item)
            if message.revoked:
                self._drop(message)
                continue
            self._shrink(len(message.body) + MESSAGE_OVERHEAD)
            if isinstance(item, Redelivery):
                self._give(self.waiting[0], message, item.retry, item.bound, item.serial)
            else:
                self._give(self.waiting[0], message, 0, message.offset, 0)

    def take(self) -> Message | None:
        """Take the first ready message for good; None when there is none."""
        while True:
            item = self._take_first()
            if item is None:
                return None
            message = message_of(item)
            if message.revoked:
                self._drop(message)
                continue
            self._shrink(len(message.body) + MESSAGE_OVERHEAD)
            self.delivered += 1
            self.log.settled(self.ledger, message.offset, ACCEPT)
            if message.requester is not None:
                message.requester.delivered(message)
            return message

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

    def _take_first(self) -> Item | None:
        """The first ready one, out of the backlog; None when there is none."""
        while self.ready:
            item = self.backlog.first()
            if item is not None:
                self.ready -= 1
                return item
            self._page_in()
        return None

    def _page_in(self) -> None:
        """Get the next messages of a long backlog back from the log. What it cannot give back is set aside."""
        backlog = self.backlog
        assumed, paged = backlog.page_in()
        self.bytes += paged - assumed
        self.usage.bytes += paged
        if backlog.lost:
            self.ready -= len(backlog.lost)
            self.unreadable += backlog.lost
            backlog.lost = []

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
        if self.backlog.is_long:
            self._be_long()

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
            returned.sort(key=place_of)
            last = place_of(returned[-1])
            while not self.backlog.reaches(last):
                self._page_in()
            self.backlog.merge(returned)

    def _close(self, delivery: Delivery) -> None:
        delivery.subscription.let_go(delivery)
        size = len(delivery.message.body) + MESSAGE_OVERHEAD
        self.unacked -= 1
        self.unacked_bytes -= size
        self._shrink(size)

    def _worn_out(self, message: Message, retry: int) -> bool:
        """Give the message up when its tries are used up or its requester gave it up."""
        deliveries_max = 0 if message.terms is None else message.terms.deliveries_max
        if not message.revoked and (deliveries_max == 0 or retry + 1 < deliveries_max):
            return False
        self._lose(message, "its tries are used up")
        return True

    def _drop(self, message: Message) -> None:
        """Give up a message already taken from the backlog."""
        self._shrink(cost_of(message))
        self._lose(message, "the queue is full")

    def count_revoked(self) -> None:
        """One more message of this queue was given up. Where they may be half of what is ready, they are swept out."""
        self.revoked += 1
        if self.revoked * 2 > self.ready:
            self.revoked = 0
            for message in self.backlog.sweep_revoked():
                self.ready -= 1
                self._drop(message)

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
        for message in self.backlog.in_memory():
            self._tell_requester(message)
        self.usage.bytes -= self.bytes - self.backlog.cold
        self.bytes = 0
        self.ready = 0
        self.backlog.clear()
        self.waiting.clear()
        self.subscriptions.clear()
        self.parked.clear()

    def _tell_requester(self, message: Message) -> None:
        if message.requester is not None and not message.revoked:
            message.requester.undelivered(message, "the queue was deleted")

    def restore(self, items: list[Item]) -> None:
        """Fill a fresh queue with messages it owes, in order."""
        for item in items:
            self.backlog.append(item)
            self.ready += 1
            self._grow(cost_of(message_of(item)))

    def restore_spans(self, spans: list[Span]) -> None:
        """Fill a fresh queue with what a log says it owes, and can give back."""
        self.backlog.restore(spans)
        self.ready = sum([span.live for span in spans])
        self.bytes = self.backlog.cold
        self._check_full()

    def owed(self) -> list[Place]:
        """What the queue owes, in order: ready and out alike."""
        entries = [*self.backlog.places(), *self.unreadable]
        for subscription in self.subscriptions:
            for delivery in subscription.held():
                entries.append((delivery.bound, delivery.serial, delivery.message.offset, delivery.retry))
        entries.sort()
        return entries

    def add_owed_ranges(self, ranges: list[tuple[int, int]]) -> None:
        """What the queue owes, as (smallest, largest offset) of stretches of it."""
        for span in self.backlog.spans:
            ranges.append(span.bounds())
        offsets = [message.offset for message in self.backlog.in_memory()]
        offsets += [offset for _, _, offset, _ in self.unreadable]
        for subscription in self.subscriptions:
            offsets += [delivery.message.offset for delivery in subscription.held()]
        offsets.sort()
        first = last = -1
        for offset in offsets:
            if first < 0 or offset > last + NEAR:
                if first >= 0:
                    ranges.append((first, last))
                first = offset
            last = offset
        if first >= 0:
            ranges.append((first, last))

    def contents(self) -> list[tuple[Message, int]]:
        """What the queue owes, in order, as (message, retry): ready and out alike. All of it is read from the log."""
        known = {message.offset: message for message in self.backlog.in_memory()}
        for subscription in self.subscriptions:
            for delivery in subscription.held():
                known[delivery.message.offset] = delivery.message
        found: list[tuple[Message, int]] = []
        for _, _, offset, retry in self.owed():
            message = known.get(offset) or self.log.fetch(offset)
            if message is not None:
                found.append((message, retry))
        return found
