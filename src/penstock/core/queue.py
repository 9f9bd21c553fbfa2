"""One queue: ready messages, unacked messages, waiting consumers, and which consumer gets which message next.

A message of a queue is in one of three places until it is settled:

        offer ──► backlog ──► unacked, with a consumer ──► accept: removed
                   ▲   ▲               │
                   │   ├── reject ─────┤   to the back, retry + 1
                   │   └── return ─────┤   to its old place, retry + 1: the consumer went away
                  due                  │
                   └─── delayed ◄──────┘   rejected with a delay; or published with one

A message is given up when its tries are used up, its time to live is over, its consumer buries it or the queue needs
the room. It then goes to the dead-letter queue if the policy names one, and is dropped otherwise. Expiry is checked
when a message reaches the front.

The backlog is sorted by place, and a long one is mostly not in memory: see `core.backlog`. When nothing is ready and a
consumer waits, a message passes straight through without touching the backlog.

Unacked messages may not be in memory either. `context.bytes` counts those that are, and consumers cannot push it far
above its limit. Above a quarter of the limit, an unacked message that the log can give back is released as soon as it
is delivered. Above the whole limit, messages that must be read first go only to consumers that hold none, one at a
time. Consumers held up by that continue when memory is freed. A message that returns while not in memory goes back to
its place without being read.

A consumer may hold many messages when it leaves. They return in slices, the last ones first, and the queue delivers
nothing until all are back, so their order is preserved. If the broker dies in between, those not yet back count as
unacked.
"""

from typing import Final

from penstock.core.backlog import (
    Backlog,
    Item,
    Redelivery,
    Sealed,
    SortKey,
    message_of,
    retry_of,
)
from penstock.core.context import Alarm, BrokerContext
from penstock.core.deadletters import DELIVERIES, EXPIRED, FULL, REJECTED
from penstock.core.deadlines import Timer
from penstock.core.delayed import Delayed, PutOff, put_off
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, LARGE_BODY, MIDDLING_BODY
from penstock.core.policy import Policy
from penstock.core.subscription import Delivery, Subscription
from penstock.core.walk import Walk
from penstock.log.interface import AckRun, Log
from penstock.log.span import Span
from penstock.message import (
    ACCEPT,
    DEAD,
    DROP,
    DUE,
    EXPIRE,
    MESSAGE_OVERHEAD,
    MOVE,
    REJECT,
    RELEASE,
    RETURN,
    UNSHARED,
    DeliveryOptions,
    Message,
    is_delayed,
    tell_delivered,
    tell_undelivered,
)

NEVER: Final = -1
NO_MESSAGE: Final = -1  # there is no message
BY_POLICY: Final = -1  # the queue's policy decides when a rejected message is retried
TRY_AGAIN_TIME: Final = 1_000_000  # microseconds until a full dead-letter queue is tried again
READ_AGAIN_TIME: Final = 500_000  # microseconds until a read that the log could not serve is retried
FILLING_ENDS_BELOW: Final = 0.9  # a queue stops filling below this fraction of the mark
REVOKED_PART: Final = 16  # a sweep is due once revoked requests take 1/REVOKED_PART of the memory
READ_PER_WORK: Final = 4096  # bytes read from the log that count as one unit of work
TOUCH_WORK: Final = 6  # the first touch of a queue in a turn: with many queues, it is in no CPU cache
ALARM_PAUSE: Final = 10_000_000  # microseconds between alarms of one kind: a short queue becomes full all the time
ALARMS_MAX: Final = 1000  # the most that are kept until someone reports them

WHY: Final = {
    DELIVERIES: "its tries are used up",
    EXPIRED: "its time is over",
    FULL: "the queue is full",
    REJECTED: "its consumer gave it up",
}
WHY_PURGED: Final = "the queue was purged"


class QueueTimer(Timer):
    """Something a queue does at a set time, or in the next turn."""

    def __init__(self, queue: "Queue") -> None:
        super().__init__()
        self.queue = queue


class DueTimer(QueueTimer):
    """Fires when the earliest delayed message is due."""

    def fire(self, now: int) -> None:
        self.queue.bring_due(now)


class HeadTimer(QueueTimer):
    """Fires when the first ready message expires, or earlier."""

    def fire(self, now: int) -> None:
        self.queue.expire_first(now)


class ReadTimer(QueueTimer):
    """Fires when a failed read is to be retried."""

    def fire(self, now: int) -> None:
        self.queue.read_again()


class PumpTimer(QueueTimer):
    """Fires in the next turn, to deliver more ready messages."""

    def fire(self, now: int) -> None:
        self.queue.pump()


class ReturnTimer(QueueTimer):
    """Fires in the next turn, to take back more messages of consumers that have left."""

    def fire(self, now: int) -> None:
        self.queue.bring_back(now)


class Queue:
    def __init__(self, name: bytes, log: Log, policy: Policy, context: BrokerContext) -> None:
        self.name = name
        self.log = log
        self.ack_run = AckRun(name)
        self.policy = policy
        self.context = context
        self.filled_by = ""  # the publisher of the last message that had to wait
        self.events: tuple[bytes, ...] = ()
        self.patterns: tuple[bytes, ...] = ()
        self.expires_after = NEVER  # microseconds without consumers after which the queue is deleted
        self.tuning = log.tuning
        self.congested_bytes = log.tuning.congested_bytes
        self.used = False  # it is deleted with its last consumer, and has had one
        self.backlog = Backlog(log)
        self.ready = 0  # len(backlog), cached in an attribute
        self.unacked = 0
        self.bytes = 0  # of ready and unacked messages, in memory or not, overhead included
        self.unacked_bytes = 0  # of unacked messages
        self.unkept = 0  # of unacked messages that are not in memory
        self.waits_to_send = False  # its first message is large, and others are not sent yet
        self.held_up = False  # a consumer was given nothing because memory is short
        self.paused = False  # accepts messages, delivers none
        self.full = False
        self.filling = False  # above the alarm mark
        self.acted = False  # the policy for full queues has been applied since then
        self._filling_told_at = -ALARM_PAUSE
        self._acted_told_at = -ALARM_PAUSE
        self.bytes_mark = 0
        self.length_mark = 0
        self.delayed = Delayed()
        self.expiring = policy.ttl > 0  # a message in the backlog may expire
        self.waiting: list[Subscription] = []  # highest priority first, then longest waiting first
        self.subscriptions: list[Subscription] = []  # active ones
        self.parked: list[Subscription] = []  # behind an exclusive one, in order of arrival
        self.leaving: list[Subscription] = []  # of `subscriptions`, those that have ended and still hold messages
        self.queued = 0  # messages ever added
        self.delivered = 0  # deliveries ever made
        self.retried = 0  # deliveries that came back
        self.dropped = 0  # given up for reasons other than expiry, and not dead-lettered
        self.expired = 0  # given up because they expired, dead-lettered or not
        self.dead_lettered = 0
        # Messages the log could not read. They are still owed: a repair may bring them back.
        self.unreadable: list[SortKey] = []
        self._first_unreadable: SortKey = (0, 0, 0, 0)  # the first of those, if there are any
        self._first_offset = -1  # the offset of a first message that is not in memory ...
        self._first_at = 0  # ... and its publish time, as `find_oldest` found it
        self.unmoved_at = -1  # `delivered` when a publisher last waited for this queue without effect
        self.revoked = 0  # revoked by their requester since the last sweep, wherever they are
        self.revoked_bytes = 0  # their bytes
        self.touched = False  # it is in `context.touched`
        self.is_warm = False  # it is in `context.warm`
        self._told_delivered = 0  # `delivered` when the log was last told what is unacked
        self._released = False  # a message that the log knows as unacked may be ready again
        self.stalled = False  # the next message cannot be read from the log at the moment
        self._due_timer: DueTimer | None = None
        self._head_timer: HeadTimer | None = None
        self._read_timer: ReadTimer | None = None
        self._return_timer: ReturnTimer | None = None
        self._pump_timer: PumpTimer | None = None
        self._set_marks()
        self.size_to_send = 0  # size of the first message while it waits to be sent
        self.made_by = ""  # who created the queue, and ...
        self.bound_by = ""  # ... who bound it, if known: a user, or an address if there are no users

    def __repr__(self) -> str:
        return f"<Queue {self.name!r} ready={self.ready} unacked={self.unacked} consumers={self.consumer_count()}>"

    def consumer_count(self) -> int:
        return len(self.subscriptions) - len(self.leaving) + len(self.parked)

    def ready_bytes(self) -> int:
        """Bytes of ready messages. Unacked ones wait for their consumer's work, not for a socket."""
        return self.bytes - self.unacked_bytes

    @property
    def delayed_count(self) -> int:
        """Messages that are not due yet."""
        return len(self.delayed)

    def length(self) -> int:
        """All messages: ready, unacked and delayed."""
        return self.ready + self.unacked + len(self.delayed)

    def size(self) -> int:
        """Their bytes, in memory or not, overhead included."""
        return self.bytes + self.delayed.bytes

    def bytes_in_memory(self) -> int:
        return self.size() - self.backlog.cold - self.delayed.cold - self.unkept

    def oldest_at(self) -> int:
        """Publish time of the oldest among the first ready message and all unacked ones; NO_MESSAGE when there is none.

        A first message that is not in memory counts only once `find_oldest` has read it.
        """
        oldest = NO_MESSAGE
        head = self.backlog.head
        if head:
            oldest = message_of(head[0]).published_at
        elif self.ready and self._first_offset == self.backlog.first_offset():
            oldest = self._first_at
        for subscription in self.subscriptions:
            held = subscription.oldest
            if held is not None:
                message = held.message
                published_at = held.published_at if message is None else message.published_at
                if oldest == NO_MESSAGE or published_at < oldest:
                    oldest = published_at
        return oldest

    def knows_oldest(self) -> bool:
        """Whether `oldest_at` is accurate without reading a message from the log."""
        return not self.ready or bool(self.backlog.head) or self._first_offset == self.backlog.first_offset()

    def find_oldest(self) -> None:
        """Read the first message, in memory or not, and remember when it was published."""
        offset = self.backlog.first_offset()
        message = self.backlog.message(offset) if offset >= 0 else None
        if message is not None:
            self._first_offset = offset
            self._first_at = message.published_at

    def set_policy(self, policy: Policy) -> None:
        """Apply a policy from now on."""
        self.policy = policy
        self.filling = False
        self.acted = False
        self._filling_told_at = -ALARM_PAUSE
        self._acted_told_at = -ALARM_PAUSE
        self._set_marks()
        self._check_full()
        if self.expiring or policy.ttl > 0:
            self.expect_expiry()

    def expect_expiry(self) -> None:
        """Messages, perhaps not in memory, may have expired by now: check when time advances."""
        self.expiring = True
        if self.ready:
            self._arm_head_timer(self.context.now)

    # -- adding messages --------------------------------------------------------------------------------------------

    def enqueue(self, message: Message) -> None:
        """Accept a logged message: deliver it at once if a consumer waits, otherwise keep it."""
        self.queued += 1
        if self.ready == 0 and self.waiting and (len(message.body) < MIDDLING_BODY or self._may_go(message)):
            self._give(self.waiting[0], message, 0, message.offset, 0)
            if self.ready:
                self.pump()  # the consumer could not take it
        else:
            self.backlog.append(message)
            self.ready += 1
            self.filled_by = self.context.publisher
            self._grow(message)
            if self.bytes - self.unacked_bytes > self.congested_bytes:
                self._be_long()
            if self.expiring:
                self._watch_head()

    def enqueue_delayed(self, message: Message) -> None:
        """Accept a logged message that has options: a delayed one is kept aside."""
        options = message.options
        if options is not None and is_delayed(message):
            self.queued += 1
            self._put_off(put_off(message, 0, options.due_at))
        else:
            self._heed(options)
            self.enqueue(message)

    def _heed(self, options: DeliveryOptions | None) -> None:
        """Note that a message enters the backlog, which may be one that expires."""
        if options is not None and options.expires_at:
            self.expiring = True

    def refuse(self, message: Message) -> None:
        """Log that this full queue did not keep a message that went to other queues. A replay routes it here as well,
        whatever the limits are by then."""
        self.ack_run.ended -= 1  # it was never added
        self.log.append_settlement(self.ack_run, message.offset, DROP)

    def _be_long(self) -> None:
        """Handle a long backlog: slow down the publishers, unless it is so long that it moves to disk.

        A consumer that far behind is not helped by slower publishers.
        """
        backlog = self.backlog
        if backlog.is_long:
            if backlog.has_long_tail():
                self._forget(backlog.seal_tail())
        elif self.ready_bytes() > self.tuning.head_bytes_max:
            backlog.grow_long()
        if self.subscriptions and not backlog.is_long:
            self.context.congested = self

    def free_memory(self) -> int:
        """Release every message the log can give back; returns the bytes freed."""
        before = self.context.bytes
        backlog = self.backlog
        freed = backlog.seal_tail() + backlog.seal_head() + self.delayed.free(self.log.readable)
        if backlog.pinned:
            freed += backlog.unpin()
        self._forget(freed)
        self.free_unacked(self.congested_bytes)
        return before - self.context.bytes

    def free_unacked(self, least: int) -> int:
        """The same for unacked messages only, if they take at least `least` bytes; returns the bytes freed."""
        before = self.context.bytes
        if self.unacked and self.unacked_bytes - self.unkept - self.unacked * MESSAGE_OVERHEAD >= least:
            for subscription in self.subscriptions:
                for delivery in subscription.held():
                    self._let_go(delivery)
        return before - self.context.bytes

    def kept_part(self) -> float:
        """The fraction of unacked bytes that is in memory, not counting the fixed overhead per message."""
        bodies = self.unacked_bytes - self.unacked * MESSAGE_OVERHEAD
        return 1 - self.unkept / bodies if bodies > 0 else 1.0

    def _forget(self, freed: int) -> None:
        """Subtract bytes that are no longer in memory, except those that other queues still hold."""
        backlog = self.backlog
        delayed = self.delayed
        self.context.bytes -= freed - backlog.still_held - delayed.still_held
        backlog.still_held = 0
        delayed.still_held = 0
        if self.context.held_up:
            self.context.relieve()

    def _let_go(self, delivery: Delivery) -> None:
        """Drop the message of this delivery from memory, if the log can give it back."""
        message = delivery.message
        if message is None or message.offset >= self.log.readable or message.requester is not None or message.revoked:
            return
        delivery.options = message.options
        delivery.published_at = message.published_at
        delivery.message = None
        freed = delivery.size - MESSAGE_OVERHEAD
        self.unkept += freed
        if message.holders != UNSHARED:
            self.context.leave(message)
        self._forget(freed)

    def message_out(self, delivery: Delivery) -> Message | None:
        """The message of a delivery; None when it must be read from the log and cannot be."""
        return delivery.message if delivery.message is not None else self.log.fetch(delivery.offset)

    def make_room(self) -> bool:
        """True when one more message fits; depending on the policy, the oldest ready one is given up for it."""
        if not self.full:
            return True
        if not self.acted:
            self.acted = True
            if self.context.now >= self._acted_told_at + ALARM_PAUSE:
                self._acted_told_at = self.context.now
                self._alarm(Alarm.FULL)
        policy = self.policy
        if policy.full != DROP_OLDEST and (policy.full != DEAD_LETTER or not policy.dead_letter):
            return False
        item = self._take_first()
        if item is None:
            return not self.full  # unreadable messages were set aside
        message = message_of(item)
        if policy.full == DROP_OLDEST:
            self._drop(message)
        elif self._give_up(message, retry_of(item), FULL):
            self._shrink(message)
        else:
            self.put_back([item])
            return not self.full  # it was read for this, and may be smaller than assumed
        if self.expiring:
            self._watch_head()
        return True

    def tell_out(self) -> None:
        """Tell the log what is unacked, at the end of a turn: if the broker dies, that comes back with one more try.

        The log is not told of single messages. Everything owed is ready, unacked, delayed or unreadable, so whatever is
        owed before the first ready place is unacked, and it is enough to name the first ready message. An unacked
        message behind it, which occurs when another consumer gave one back, is covered once that one is delivered
        again.
        """
        if self._released:
            self._released = False
        elif self.unacked == 0 or self.delivered == self._told_delivered:
            return
        self._told_delivered = self.delivered
        first = self.backlog.first_offset() if self.ready else -1
        if self.unreadable:
            first = self._first_kept()[0][2]
        self.log.append_mark(self.ack_run, first)

    def _first_kept(self) -> list[SortKey]:
        """The first place that is owed and not unacked; empty when there is none."""
        places = self.backlog.first_place()
        if self.unreadable and (not places or self._first_unreadable < places[0]):
            return [self._first_unreadable]
        return places

    def out_before(self) -> tuple[int, int]:
        """The place before which everything owed is unacked."""
        places = self._first_kept()
        if places:
            return places[0][0], places[0][1]
        return self.log.next_offset - 1, self.log.position + 1

    def return_lost(self, lost: set[int], count: int) -> None:
        """After a restart: return unacked messages, all among the first `count`, as if their consumer had left.

        They may exceed the memory, so those that the log can give back are returned without their bodies. Once dead
        letters take a quarter of the memory, the remaining messages are given up the next time they come back.
        """
        context = self.context
        returned: list[Redelivery] = []
        sealed: list[Sealed] = []
        nobody = Subscription(b"", manual=True)
        for _ in range(count):
            item = self._take_first()
            if item is None:
                break
            message = message_of(item)
            after_offset, sequence = (
                (item.after_offset, item.sequence) if isinstance(item, Redelivery) else (message.offset, 0)
            )
            retry = retry_of(item)
            self._shrink(message)
            if message.offset in lost:
                retry += 1
                if context.bytes > context.keep_max and self.policy.dead_letter:
                    self._count_return(message.offset)  # a dead letter stays in memory until it is written
                elif self._ends_by_return(Delivery(message, nobody, retry - 1, after_offset, sequence), retry):
                    continue
            if message.offset < self.log.readable:
                sealed.append((after_offset, sequence, message.offset, retry, message.size))
            else:
                returned.append(Redelivery(message, retry, after_offset, sequence))
            self._heed(message.options)
        self._put_among(returned, sealed)

    def touch(self) -> None:
        """Mark the queue as changed, so that it is checked when the turn ends."""
        self.touched = True
        self.context.touched.append(self)
        self.context.work += TOUCH_WORK

    def _grow(self, message: Message) -> None:
        """Count a message that is now ready or unacked, and in memory."""
        if not self.touched:
            self.touch()
        size = message.size
        self.bytes += size
        self.context.bytes += size
        if message.holders != UNSHARED:
            self.context.join(message)
        if self.bytes >= self.bytes_mark or self.ready + self.unacked >= self.length_mark:
            self._check_full()

    def _shrink(self, message: Message) -> None:
        """Undo `_grow`."""
        if message.holders != UNSHARED:
            self.context.leave(message)
        self._give_back(message.size)

    def _give_back(self, size: int) -> None:
        if not self.touched:
            self.touch()
        self.bytes -= size
        context = self.context
        context.bytes -= size
        if self.filling:
            self._check_full()
        if context.held_up:
            context.relieve()

    def _set_marks(self) -> None:
        """Set the alarm marks, in ready and unacked messages. A full queue has always passed a mark."""
        policy = self.policy
        self.bytes_mark = max(1, int(policy.bytes_max * policy.alarm)) - self.delayed.bytes
        self.length_mark = max(1, int(policy.length_max * policy.alarm)) - len(self.delayed)

    def _check_full(self) -> None:
        policy = self.policy
        length = self.length()
        size = self.size()
        self.full = size >= policy.bytes_max or length >= policy.length_max
        length_mark = self.length_mark + len(self.delayed)
        bytes_mark = self.bytes_mark + self.delayed.bytes
        if length >= length_mark or size >= bytes_mark:
            if not self.filling:
                self.filling = True
                if self.context.now >= self._filling_told_at + ALARM_PAUSE:
                    self._filling_told_at = self.context.now
                    self._alarm(Alarm.FILLING)
        elif self.filling and length < FILLING_ENDS_BELOW * length_mark and size < FILLING_ENDS_BELOW * bytes_mark:
            self.filling = False
            self.acted = False

    def _alarm(self, kind: str) -> None:
        policy = self.policy
        alarms = self.context.alarms
        if len(alarms) < ALARMS_MAX:
            if self.length() * policy.bytes_max >= self.size() * policy.length_max:
                alarms.append(Alarm(kind, self, policy.length_name, policy.length_max))
            else:
                alarms.append(Alarm(kind, self, policy.bytes_name, policy.bytes_max))

    # -- delivering -------------------------------------------------------------------------------------------------

    def pump(self) -> None:
        """Deliver ready messages to waiting consumers: a limited number now, the rest in the next turn."""
        context = self.context
        given = self.delivered
        given_max = given + self.tuning.given_at_once
        passed_over = 0  # revoked by their requester, or expired
        while self.ready and self.waiting and not self.waits_to_send:
            if self.delivered + passed_over >= given_max:
                self._pump_later()
                break
            if not self.backlog.head and self.backlog.spans:
                if self.log.read_bytes >= context.read_end:
                    self._pump_later()
                    break
                if context.bytes >= context.bytes_max and not self._finds_taker():
                    break
            item = self._take_first()
            if item is None:
                break
            message = message_of(item)
            if message.revoked:
                self._drop(message)
                passed_over += 1
                continue
            if self.expiring:
                if self._let_expire(item):
                    passed_over += 1
                    continue
                if not self.waiting:  # delivering a dead letter failed in a session that also had consumers here
                    self.put_back([item])
                    break
            if len(message.body) >= MIDDLING_BODY and not self._may_go(message):
                self.put_back([item])
                break
            self._shrink(message)
            if isinstance(item, Redelivery):
                self._give(self.waiting[0], message, item.retry, item.after_offset, item.sequence)
            else:
                self._give(self.waiting[0], message, 0, message.offset, 0)
        context.work += self.delivered - given + passed_over
        if self.expiring:
            self._watch_head()

    def gives_later(self) -> bool:
        """Whether more ready messages are delivered in the next turn."""
        timer = self._pump_timer
        return timer is not None and timer.armed

    def _pump_later(self) -> None:
        timer = self._pump_timer
        if timer is None:
            timer = self._pump_timer = PumpTimer(self)
        if not timer.armed:
            self.context.deadlines.set(timer, self.context.now)
        self.context.busy_for = self.next_holder()

    def _may_go(self, message: Message) -> bool:
        """Whether a message that is not small can go to the first waiting consumer; those without room leave the line.

        All queues together deliver a limited number of bytes per turn; the rest waits for the next.
        """
        context = self.context
        if context.given >= self.tuning.given_bytes and context.unsent_max:
            self._pump_later()
            return False
        while self.waiting and not self.waiting[0].has_room():
            self.waiting[0].suspended = True
            self._leave_line(self.waiting[0])
        if not self.waiting:
            return False
        if (len(message.body) >= LARGE_BODY or message.holders != UNSHARED) and not self._may_send(message):
            return False
        context.given += len(message.body)
        return True

    def _may_send(self, message: Message) -> bool:
        """Whether a large message can be delivered; if not, the queue waits until sockets have taken others."""
        context = self.context
        size = len(message.body)
        holder = self.next_holder()
        if context.may_send(size, holder):
            context.sends(size, holder)
            return True
        self.size_to_send = size
        if not self.waits_to_send:
            self.waits_to_send = True
            context.waiting_to_send.append(self)
        return False

    def next_holder(self) -> str:
        """The user or address of the consumer that gets the next message."""
        return self.waiting[0].holder if self.waiting else ""

    def send_on(self) -> None:
        """Continue: there is room for a large message again."""
        self.waits_to_send = False
        self.pump()

    def _finds_taker(self) -> bool:
        """With memory short, whether the next message may be read for the first waiting consumer.

        Consumers that hold messages are held up, unless memory can be freed; one that holds none, or needs no acks,
        gets it.
        """
        context = self.context
        if not self.backlog.spans or context.make_room():
            return True
        while self.waiting:
            first = self.waiting[0]
            if not first.manual or first.in_flight == 0:
                return True
            self._leave_line(first)
            if not self.held_up:
                self.held_up = True
                context.held_up.append(self)
        return False

    def go_on(self) -> None:
        """Continue with the consumers that were held up: there is memory again."""
        self.held_up = False
        for subscription in self.subscriptions:
            self.reconsider(subscription)
        self.pump()

    def take(self) -> Message | None:
        """Consume the first ready message; None when there is none."""
        while True:
            item = self._take_first()
            if item is None:
                return None
            message = message_of(item)
            if message.revoked:
                self._drop(message)
                continue
            if self.expiring and self._let_expire(item):
                continue
            self._shrink(message)
            self.delivered += 1
            self.log.append_settlement(self.ack_run, message.offset, ACCEPT)
            if message.requester is not None:
                tell_delivered(message)
            if self.expiring:
                self._watch_head()
            return message

    def broadcast(self, message: Message) -> int:
        """Send the message to every active consumer whose connection accepts bytes, whatever it holds already."""
        reached = 0
        size = len(message.body)
        self.context.work += len(self.subscriptions)
        for subscription in list(self.subscriptions):
            if not subscription.suspended and (size < LARGE_BODY or self.context.may_send(size, subscription.holder)):
                if size >= LARGE_BODY:
                    self.context.sends(size, subscription.holder)
                try:
                    more = subscription.broadcast(message)
                except Exception as error:
                    self._take_off(subscription, error)
                    continue
                reached += 1
                self.delivered += 1
                if not more:
                    subscription.suspended = True
                    self._leave_line(subscription)
        return reached

    def _take_first(self) -> Item | None:
        """Remove and return the first ready message; None when there is none, or none that can be read now."""
        while self.ready:
            item = self.backlog.first()
            if item is not None:
                self.ready -= 1
                return item
            if not self._page_in():
                break
        return None

    def _page_in(self) -> bool:
        """Read the next messages of a long backlog from the log. Unreadable ones are set aside.

        False when there are no more, or the log cannot read at the moment: the read is retried after a while, and not
        before. Messages keep their places meanwhile, so that none overtakes another.
        """
        if self.stalled:
            return False
        backlog = self.backlog
        if not self.touched:
            self.touch()
        context = self.context
        page_bytes = self.tuning.page_bytes
        read_before = self.log.read_bytes
        assumed, paged = backlog.page_in(page_bytes if context.bytes + page_bytes <= context.bytes_max else 1)
        self.bytes += paged - assumed
        context.bytes += paged
        context.paged += paged
        context.work += (self.log.read_bytes - read_before) // READ_PER_WORK
        if backlog.lost:
            self.ready -= len(backlog.lost)
            first = min(backlog.lost)
            if not self.unreadable or first < self._first_unreadable:
                self._first_unreadable = first
            self.unreadable += backlog.lost
            backlog.lost = []
        if paged != assumed:
            self._check_full()
        if backlog.is_stalled:
            self._stall()
            return False
        return bool(backlog.head) or bool(backlog.spans)

    def _stall(self) -> None:
        self.stalled = True
        self.context.stalled += 1
        timer = self._read_timer
        if timer is None:
            timer = self._read_timer = ReadTimer(self)
        self.context.deadlines.set(timer, self.context.now + READ_AGAIN_TIME)

    def read_again(self) -> None:
        """Retry a failed read, and continue if it succeeds."""
        if self.stalled:
            self.stalled = False
            self.context.stalled -= 1
            self._peek_first()
            self.pump()

    def _give(self, subscription: Subscription, message: Message, retry: int, after_offset: int, sequence: int) -> None:
        """Deliver a message. If `deliver` raises, the message is ready again and that consumer gets nothing more."""
        if subscription.manual:
            delivery = Delivery(message, subscription, retry, after_offset, sequence)
            subscription.hold(delivery)
            size = delivery.size
            self.unacked += 1
            self.unacked_bytes += size
            self._grow(message)
            try:
                more = subscription.deliver(message, retry, delivery)
            except Exception as error:
                self.take_back([delivery], RETURN)
                self._take_off(subscription, error)
                return
            if self.context.bytes > self.context.keep_max:
                self._let_go(delivery)
        else:
            try:
                more = subscription.deliver(message, retry, None)
            except Exception as error:
                if not self._ends_by_return(Delivery(message, subscription, retry, after_offset, sequence), retry + 1):
                    self._put_among([Redelivery(message, retry + 1, after_offset, sequence)], [])
                    self._heed(message.options)
                self._take_off(subscription, error)
                return
            self.log.append_settlement(self.ack_run, message.offset, ACCEPT)
            if message.requester is not None:
                tell_delivered(message)
        self.delivered += 1
        if not more:
            subscription.suspended = True
            self._leave_line(subscription)
        elif subscription.manual and (
            subscription.in_flight >= subscription.credit or subscription.bytes >= subscription.bytes_credit
        ):
            self._leave_line(subscription)
        elif len(self.waiting) > 1:
            self._leave_line(subscription)
            self._join_line(subscription)

    def _take_off(self, subscription: Subscription, error: Exception) -> None:
        """A consumer raised on a delivery: it gets nothing more, and ends by itself."""
        subscription.suspended = True
        self._leave_line(subscription)
        subscription.failed(error)

    # -- waiting consumers ------------------------------------------------------------------------------------------

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
        """Add the subscription to the waiting consumers, or remove it, according to its state."""
        able = subscription.active and not subscription.suspended and not self.paused and not self.leaving
        if able and subscription.manual:
            able = subscription.in_flight < subscription.credit and subscription.bytes < subscription.bytes_credit
        if able and not subscription.waiting:
            self._join_line(subscription)
        elif not able:
            self._leave_line(subscription)

    def pause(self, paused: bool) -> None:
        """Remove all consumers from the line, or let those that can take messages join it again."""
        self.paused = paused
        for subscription in self.subscriptions:
            self.reconsider(subscription)

    # -- starting and ending consumers ------------------------------------------------------------------------------

    def attach(self, subscription: Subscription) -> None:
        """Add a consumer: active at once, or parked behind an exclusive one."""
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
        """Whether an exclusive consumer has the queue, or is next to get it."""
        active = self.subscriptions
        return bool(self.parked) or (bool(active) and active[0].exclusive)

    def _activate(self, subscription: Subscription) -> None:
        self.subscriptions.append(subscription)
        subscription.active = True
        try:
            subscription.activated()
        except Exception as error:
            self._take_off(subscription, error)
        self.reconsider(subscription)

    def detach(self, subscription: Subscription) -> None:
        """Remove a consumer; its unacked messages return to their places, now or, if there are many, in slices."""
        self._leave_line(subscription)
        subscription.active = False
        subscription.queue = None
        if subscription in self.parked:
            self.parked.remove(subscription)
            return
        if subscription.in_flight <= self.tuning.at_once:
            self.take_back(subscription.held(), RETURN)
            self._leave(subscription)
            return
        subscription.suspended = True
        self.leaving.append(subscription)
        for other in self.subscriptions:
            self._leave_line(other)
        self.bring_back(self.context.now)

    def bring_back(self, now: int) -> None:
        """Take back the next slice of messages from consumers that have left; the rest follows in the next turns."""
        subscription = self.leaving[0]
        self.take_back(subscription.held_last(self.tuning.at_once), RETURN)
        if not subscription.in_flight:
            del self.leaving[0]
            self._leave(subscription)
        if self.leaving:
            timer = self._return_timer
            if timer is None:
                timer = self._return_timer = ReturnTimer(self)
            self.context.deadlines.set(timer, now)
            return
        for other in self.subscriptions:
            self.reconsider(other)
        self.pump()

    def _leave(self, subscription: Subscription) -> None:
        """Remove a consumer that holds nothing any more, and activate parked ones."""
        self.subscriptions.remove(subscription)
        while self.parked and (not self.subscriptions or self._fits(self.parked[0])):
            self._activate(self.parked.pop(0))

    def _fits(self, subscription: Subscription) -> bool:
        return not (subscription.exclusive or self.subscriptions[0].exclusive)

    # -- settlements ------------------------------------------------------------------------------------------------

    def accept(self, delivery: Delivery) -> None:
        self._close(delivery)
        self.log.append_settlement(self.ack_run, delivery.offset, ACCEPT)

    def reject(self, delivery: Delivery, due_at: int) -> None:
        """Return a message to the back of the queue: at once if `due_at` is 0, at that time, or BY_POLICY."""
        self._close(delivery)
        retry = delivery.retry + 1
        if self._is_worn_out(delivery, retry) and self._give_up_delivery(delivery, DELIVERIES):
            return
        self._send_back(delivery, self.policy.retry_at(retry, self.context.now) if due_at == BY_POLICY else due_at)

    def bury(self, delivery: Delivery) -> None:
        """Give the message up: another try would not help."""
        self._close(delivery)
        if not self._give_up_delivery(delivery, REJECTED):
            self._send_back(delivery, 0)

    def _send_back(self, delivery: Delivery, due_at: int) -> None:
        log = self.log
        log.append_settlement(self.ack_run, delivery.offset, REJECT, due_at)
        self.retried += 1
        retry = delivery.retry + 1
        message = delivery.message
        if due_at:
            self._put_off(PutOff(delivery.offset, retry, due_at, delivery.size, message))
        elif message is not None:
            self._append(message, retry)
        else:
            sealed = (log.next_offset - 1, log.position, delivery.offset, retry, delivery.size)
            self._put_among([], [sealed])
            self._heed(delivery.options)

    def _append(self, message: Message, retry: int) -> None:
        """Add to the back of the queue; the place is that of the settlement just logged."""
        log = self.log
        self.backlog.append(Redelivery(message, retry, log.next_offset - 1, log.position))
        self.ready += 1
        self._grow(message)
        self._heed(message.options)
        if self.backlog.is_long:
            self._be_long()

    def take_back(self, deliveries: list[Delivery], how: int) -> None:
        """Return deliveries to their places: RETURN counts as a try, RELEASE does not."""
        returned: list[Redelivery] = []
        sealed: list[Sealed] = []
        self.context.work += len(deliveries)
        for delivery in deliveries:
            self._close(delivery)
            retry = delivery.retry
            if how == RELEASE:
                self._released = True
            elif how == RETURN:
                retry += 1
                if self._ends_by_return(delivery, retry):
                    continue
            message = delivery.message
            if message is None:
                sealed.append((delivery.after_offset, delivery.sequence, delivery.offset, retry, delivery.size))
                self._heed(delivery.options)
            else:
                returned.append(Redelivery(message, retry, delivery.after_offset, delivery.sequence))
                self._heed(message.options)
        self._put_among(returned, sealed)

    def _ends_by_return(self, delivery: Delivery, retry: int) -> bool:
        """Count a try for a message whose consumer went away; True when that was the last one and it was given up."""
        if self._is_worn_out(delivery, retry) and self._give_up_delivery(delivery, DELIVERIES):
            return True
        self._count_return(delivery.offset)
        return False

    def _count_return(self, offset: int) -> None:
        self.log.append_settlement(self.ack_run, offset, RETURN)
        self.retried += 1

    def _put_among(self, returned: list[Redelivery], sealed: list[Sealed]) -> None:
        """Insert messages that were not ready at their places, in memory or not."""
        if returned or sealed:
            if not self.touched:
                self.touch()
            self.ready += len(returned) + len(sealed)
            for item in returned:
                self._grow(item.message)
            for entry in sealed:
                self.bytes += entry[4]
            self._check_full()
            self._forget(self.backlog.put_back(returned, sealed))

    def _close(self, delivery: Delivery) -> None:
        delivery.subscription.let_go(delivery)
        size = delivery.size
        self.unacked -= 1
        self.unacked_bytes -= size
        message = delivery.message
        if message is None:
            self.unkept -= size - MESSAGE_OVERHEAD
            self.context.bytes += size - MESSAGE_OVERHEAD  # `_give_back` subtracts it again
        elif message.holders != UNSHARED:
            self.context.leave(message)
        self._give_back(size)

    # -- giving up --------------------------------------------------------------------------------------------------

    def _is_worn_out(self, delivery: Delivery, retry: int) -> bool:
        """Whether the message has used up its tries, or was revoked by its requester."""
        message = delivery.message
        if message is not None and message.revoked:
            return True
        deliveries_max = self.policy.deliveries_max
        options = delivery.options if message is None else message.options
        own = 0 if options is None else options.deliveries_max
        if own and (not deliveries_max or own < deliveries_max):
            deliveries_max = own
        return deliveries_max > 0 and retry >= deliveries_max

    def _give_up_delivery(self, delivery: Delivery, reason: str) -> bool:
        """Give up an unacked message. An unreadable one does not become a dead letter: it is set aside in its turn.

        Dead letters are in memory until they are written, so many at once could fill it. Once they take a quarter,
        messages that are not in memory stay in the queue and are given up the next time they come back.
        """
        message = delivery.message
        if message is not None:
            return self._give_up(message, delivery.retry + 1, reason)
        log = self.log
        if not self.policy.dead_letter:
            self.dropped += 1
            log.append_settlement(self.ack_run, delivery.offset, DROP)
            return True
        if not self.context.may_bury(log.readable):
            return False
        message = log.fetch(delivery.offset)
        if message is None or not self._give_up(message, delivery.retry + 1, reason):
            return False
        self.context.buried(delivery.size, log.next_offset)
        return True

    def _give_up(self, message: Message, retry: int, reason: str) -> bool:
        """End a message that is no longer in the backlog: as a dead letter, if the policy says so.

        False when the dead-letter queue does not accept it now. The caller must then keep it: better late than lost.
        """
        how = DROP
        if self.policy.dead_letter and not message.revoked:
            if not self.context.dead_letters.take(self, message, retry, reason):
                return False
            self.dead_lettered += 1
            how = DEAD
        elif reason == EXPIRED:
            how = EXPIRE
        else:
            self.dropped += 1
        if reason == EXPIRED:
            self.expired += 1
        self._end(message, how, WHY[reason])
        return True

    def _drop(self, message: Message) -> None:
        """Give up a message already taken from the backlog."""
        self._shrink(message)
        self.dropped += 1
        self._end(message, DROP, WHY[FULL])

    def _end(self, message: Message, how: int, why: str) -> None:
        self.log.append_settlement(self.ack_run, message.offset, how)
        if message.requester is not None and not message.revoked:
            tell_undelivered(message, why)

    def count_revoked(self, message: Message) -> None:
        """Count a revoked message of this queue. They are swept out once they may be half of the ready messages,
        or take much memory."""
        self.revoked += 1
        self.revoked_bytes += message.size
        if self.revoked * 2 > self.ready or self.revoked_bytes * REVOKED_PART > self.context.bytes_max:
            self._sweep_revoked()

    def _sweep_revoked(self) -> None:
        self.revoked = 0
        self.revoked_bytes = 0
        if not self.touched:
            self.touch()
        for message in self.backlog.sweep_revoked():
            self.ready -= 1
            self._drop(message)
        put_off = self.delayed.sweep_revoked()
        for entry in put_off:
            self.context.bytes -= entry.size
            self.dropped += 1
            self.log.append_settlement(self.ack_run, entry.offset, DROP)
        if put_off:
            self._set_marks()
            self._check_full()
            self._watch_due()
        if self.expiring:
            self._watch_head()

    # -- time -------------------------------------------------------------------------------------------------------

    def _put_off(self, entry: PutOff) -> None:
        """Keep a message aside until it is due; it is already in the log."""
        if not self.touched:
            self.touch()
        self.delayed.add(entry)
        self._hold_delayed(entry)
        self._set_marks()
        self._check_full()
        self._watch_due()

    def _hold_delayed(self, entry: PutOff) -> None:
        message = entry.message
        if message is not None:
            self.context.bytes += entry.size
            if message.holders != UNSHARED:
                self.context.join(message)

    def bring_due(self, now: int) -> None:
        """Move due messages to the back of the queue; those not in memory are not read for that."""
        sealed: list[Sealed] = []
        for _ in range(self.tuning.at_once):
            entry = self.delayed.take_due(now)
            if entry is None:
                break
            self.context.work += 1
            log = self.log
            log.append_settlement(self.ack_run, entry.offset, DUE)
            message = entry.message
            if message is not None:
                if message.holders != UNSHARED:
                    self.context.leave(message)
                self.context.bytes -= entry.size
                self._append(message, entry.retry)
            else:
                sealed.append((log.next_offset - 1, log.position, entry.offset, entry.retry, entry.size))
        if sealed:
            self._put_among([], sealed)
            self.expiring = True  # possibly: their options are in the log
        self._set_marks()
        self._check_full()
        self._watch_due()
        self.pump()

    def _watch_due(self) -> None:
        due = self.delayed.next_due()
        if due >= 0:
            timer = self._due_timer
            if timer is None:
                timer = self._due_timer = DueTimer(self)
            when = max(due, self.context.now)  # if it is late already, other timers go first
            if not timer.armed or timer.when > when:
                self.context.deadlines.set(timer, when)

    def expiry_of(self, message: Message) -> int:
        """When the message expires; 0 for never."""
        options = message.options
        ttl = self.policy.ttl
        expires_at = 0 if options is None else options.expires_at
        if ttl:
            by_policy = (message.published_at if options is None else max(message.published_at, options.due_at)) + ttl
            if not expires_at or by_policy < expires_at:
                return by_policy
        return expires_at

    def _let_expire(self, item: Item) -> bool:
        """Give up a message taken from the backlog if it has expired; False when it is to be delivered."""
        message = message_of(item)
        expires_at = self.expiry_of(message)
        if not expires_at or expires_at > self.context.now or not self._give_up(message, retry_of(item), EXPIRED):
            return False
        self._shrink(message)
        return True

    def expire_first(self, now: int) -> None:
        """Give up expired messages from the front of the queue."""
        for _ in range(self.tuning.at_once):
            item = self._peek_first()
            if item is None:
                break
            expires_at = self.expiry_of(message_of(item))
            if not expires_at or expires_at > now:
                break
            self.context.work += 1
            self._take_first()
            if not self._let_expire(item):
                self.put_back([item])
                self._arm_head_timer(now + TRY_AGAIN_TIME)
                return
        self._watch_head()

    def _watch_head(self) -> None:
        """Set the timer for the expiry of the first message. Those behind it are checked when they become first."""
        item = self._peek_first()
        if item is None:
            if not self.stalled:  # otherwise `read_again` handles it
                self.expiring = self.policy.ttl > 0
            return
        expires_at = self.expiry_of(message_of(item))
        if expires_at:
            self._arm_head_timer(expires_at)

    def _arm_head_timer(self, when: int) -> None:
        timer = self._head_timer
        if timer is None:
            timer = self._head_timer = HeadTimer(self)
        when = max(when, self.context.now)
        if not timer.armed or timer.when > when:
            self.context.deadlines.set(timer, when)

    def _peek_first(self) -> Item | None:
        """The first ready message, left in place; None when there is none, or none that can be read now."""
        while self.ready:
            if self.backlog.head:
                return self.backlog.head[0]
            if not self._page_in():
                break
        return None

    # -- moving and purging -----------------------------------------------------------------------------------------

    def moved(self, item: Item) -> None:
        message = message_of(item)
        self._shrink(message)
        self._end(message, MOVE, "it was moved to another queue")
        if self.expiring:
            self._watch_head()

    def put_back(self, items: list[Item]) -> None:
        """Put back ready messages that were taken out, unchanged."""
        returned: list[Redelivery] = []
        for item in items:
            self.ready += 1
            returned.append(item if isinstance(item, Redelivery) else Redelivery(item, 0, item.offset, 0))
            options = message_of(item).options
            if not self.expiring and options is not None and options.expires_at:
                self.expiring = True  # it may have been reset while the message was out
                self._arm_head_timer(self.context.now)
        if returned:
            self._forget(self.backlog.put_back(returned, []))
            self._check_full()

    def first_messages(self, count: int) -> list[Message]:
        """Peek at the first ready messages; unreadable ones are left out."""
        walk = Walk(self.backlog)
        found = [walk.message(seen) for seen in walk.step(count)]
        return [message for message in found if message is not None]

    def take_out(self, places: list[SortKey]) -> list[Item]:
        """Take ready messages out to put them elsewhere: `moved` or `put_back` must follow for each.

        The places are sorted; messages no longer there are left out.
        """
        found: list[Item] = []
        if not self.touched:
            self.touch()
        assumed, paged = self.backlog.take_out(places, found)
        self.bytes += paged - assumed
        self.context.bytes += paged
        self.ready -= len(found)
        if paged != assumed:
            self._check_full()
        return found

    def purge(self, before_offset: int, limit: int) -> int:
        """Drop up to `limit` ready messages with offsets below `before_offset`, from the front; returns how many."""
        taken: list[Message] = []
        unread: list[int] = []
        if not self.touched:
            self.touch()
        assumed = self.backlog.take_first(before_offset, limit, taken, unread)
        count = len(taken) + len(unread)
        self.context.work += count
        self.ready -= count
        self.dropped += count
        self.bytes -= assumed
        for message in taken:
            self._shrink(message)
            self._end(message, DROP, WHY_PURGED)
        for offset in unread:
            self.log.append_settlement(self.ack_run, offset, DROP)
        self._check_full()
        return count

    # -- clearing and restoring -------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Empty a queue that is being deleted, and notify its consumers."""
        self.context.work += len(self.subscriptions) + len(self.backlog.head) + len(self.backlog.tail)
        for subscription in [*self.subscriptions, *self.parked]:
            for message in subscription.let_go_of_all():
                self._tell_requester(message)
                if message.holders != UNSHARED:
                    self.context.leave(message)
            if subscription in self.leaving:
                continue
            subscription.active = False
            subscription.waiting = False
            subscription.queue = None
            try:
                subscription.ended()
            except Exception as error:
                subscription.failed(error)
        for message in [*self.backlog.in_memory(), *self.delayed.in_memory()]:
            self._tell_requester(message)
            if message.holders != UNSHARED:
                self.context.leave(message)
        if self.held_up:
            self.held_up = False
            self.context.held_up.remove(self)
        self._forget(self.bytes_in_memory())
        self.bytes = 0
        self.ready = 0
        self.unacked = 0
        self.unacked_bytes = 0
        self.unkept = 0
        self.backlog.clear()
        self.delayed.clear()
        timers = (self._due_timer, self._head_timer, self._read_timer, self._return_timer, self._pump_timer)
        for timer in timers:
            if timer is not None:
                self.context.deadlines.cancel(timer)
        self._pump_timer = None
        self._due_timer = None
        self._head_timer = None
        self._read_timer = None
        self._return_timer = None
        self.context.stalled -= int(self.stalled)
        self.stalled = False
        self.waiting.clear()
        self.subscriptions.clear()
        self.parked.clear()
        self.leaving.clear()
        self.unreadable.clear()
        self.ack_run.ended = self.queued
        self._released = False  # nothing more is logged about it

    def _tell_requester(self, message: Message) -> None:
        if message.requester is not None and not message.revoked:
            tell_undelivered(message, "the queue was deleted")

    def restore(self, items: list[Item]) -> None:
        """Fill a new queue with messages it owes, in order."""
        self.ack_run.ended -= len(items)
        for item in items:
            self.backlog.append(item)
            self.ready += 1
            self._grow(message_of(item))

    def restore_spans(self, spans: list[Span]) -> None:
        """Fill a new queue with messages that are in the log, without reading them."""
        self.backlog.restore(spans)
        self.ready = sum([span.live for span in spans])
        self.ack_run.ended -= self.ready
        self.bytes = self.backlog.cold
        self._check_full()

    def restore_delayed(self, entries: list[PutOff]) -> None:
        """Add delayed messages from the log to a new queue; some may be due by now."""
        self.ack_run.ended -= len(entries)
        for entry in entries:
            self.delayed.add(entry)
            self._hold_delayed(entry)
        self._set_marks()
        self._check_full()
        self._watch_due()

    def owed(self) -> list[SortKey]:
        """Places of all ready, unacked and unreadable messages, sorted. Delayed ones have no place yet."""
        entries = [*self.backlog.places(), *self.unreadable]
        for subscription in self.subscriptions:
            for delivery in subscription.held():
                entries.append((delivery.after_offset, delivery.sequence, delivery.offset, delivery.retry))
        entries.sort()
        return entries

    def add_owed_ranges(self, ranges: list[tuple[int, int]]) -> None:
        """Add what the queue owes to `ranges`, as (smallest, largest offset) of ranges."""
        for span in self.backlog.spans:
            ranges.append(span.bounds())
        offsets = [message.offset for message in self.backlog.in_memory()]
        offsets += [offset for _, _, offset, _ in self.unreadable]
        offsets += [entry.offset for entry in self.delayed.entries()]
        for subscription in self.subscriptions:
            offsets += [delivery.offset for delivery in subscription.held()]
        offsets.sort()
        first = last = -1
        for offset in offsets:
            if first < 0 or offset > last + self.tuning.stretch_near:
                if first >= 0:
                    ranges.append((first, last))
                first = offset
            last = offset
        if first >= 0:
            ranges.append((first, last))

    def contents(self) -> list[tuple[Message, int]]:
        """All ready and unacked messages as (message, retry), in order. Reads those not in memory from the log."""
        known = {message.offset: message for message in self.backlog.in_memory()}
        for subscription in self.subscriptions:
            for delivery in subscription.held():
                if delivery.message is not None:
                    known[delivery.offset] = delivery.message
        found: list[tuple[Message, int]] = []
        for _, _, offset, retry in self.owed():
            message = known.get(offset) or self.log.fetch(offset)
            if message is not None:
                found.append((message, retry))
        return found
