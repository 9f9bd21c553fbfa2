"""One queue: which consumer gets which message next, and what becomes of the messages it has.

A message of a queue is in one of three places until it is settled:

      enqueue ──► backlog ──► unacked, with a consumer ──► accept: removed
                   ▲   ▲               │
                   │   ├── reject ─────┤   to the back, retry + 1
                   │   └── return ─────┤   to its old place, retry + 1: the consumer went away
                  due                  │
                   └─── delayed ◄──────┘   rejected with a delay; or published with one

The backlog is sorted by place, and a long one is mostly not in memory: see `core.backlog`. When nothing is ready and a
consumer waits, a message passes straight through without touching the backlog. `QueueStore` is what the queue holds,
`EndingQueue` how messages end when no consumer accepts them.

While memory is short, messages that must be read first go only to consumers that hold none, one at a time. Consumers
held up by that continue when memory is freed.

A consumer may hold many messages when it leaves. They return in slices, the last ones first, and the queue delivers
nothing until all are back, so their order is preserved. If the broker dies in between, those not yet back count as
unacked.
"""

from typing import Final

from penstock.core.context import BrokerContext
from penstock.core.deadletters import DELIVERIES, REJECTED
from penstock.core.deadlines import Timer
from penstock.core.delivery import Delivery, delayed_delivery, delivery_of, message_of
from penstock.core.limits import LARGE_BODY, MIDDLING_BODY
from penstock.core.policy import Policy
from penstock.core.queue_ends import EndingQueue
from penstock.core.spans import Sealed
from penstock.core.subscription import Subscription
from penstock.log.interface import Log
from penstock.message import (
    ACCEPT,
    DUE,
    REJECT,
    RELEASE,
    RETURN,
    UNSHARED,
    Message,
    is_delayed,
    tell_delivered,
    tell_undelivered,
)

NEVER: Final = -1
BY_POLICY: Final = -1  # the queue's policy decides when a rejected message is retried


class Queue(EndingQueue):
    def __init__(self, name: bytes, log: Log, policy: Policy, context: BrokerContext) -> None:
        super().__init__(name, log, policy, context)
        self.events: tuple[bytes, ...] = ()
        self.patterns: tuple[bytes, ...] = ()
        self.expires_after = NEVER  # microseconds without consumers after which the queue is deleted
        self.used = False  # it is deleted with its last consumer, and has had one
        self.made_by = ""  # who created the queue, and ...
        self.bound_by = ""  # ... who bound it, if known: a user, or an address if there are no users
        self.waits_to_send = False  # its first message is large, and others are not sent yet
        self.size_to_send = 0  # its size meanwhile
        self.held_up = False  # a consumer was given nothing because memory is short
        self.unmoved_at = -1  # `delivered` when a publisher last waited for this queue without effect
        self._due_timer: Timer | None = None
        self._return_timer: Timer | None = None
        self._pump_timer: Timer | None = None

    def set_policy(self, policy: Policy) -> None:
        """Apply a policy from now on."""
        self.policy = policy
        self.fullness.reset()
        self.fullness.set_marks(self)
        self._check_full()
        if self.expiring or policy.ttl > 0:
            self.expect_expiry()

    # -- adding messages --------------------------------------------------------------------------------------------

    def enqueue(self, message: Message) -> None:
        """Accept a logged message: deliver it at once if a consumer waits, otherwise keep it."""
        self.queued += 1
        if self.ready == 0 and self.consumers.waiting and (len(message.body) < MIDDLING_BODY or self._may_go(message)):
            self._give(self.consumers.waiting[0], message, 0, message.offset, 0)
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
            self._put_off(delayed_delivery(message, message.offset, message.size, 0, options.due_at))
        else:
            self._heed(options)
            self.enqueue(message)

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
        if self.consumers.active and not backlog.is_long:
            self.context.congested = self

    def return_lost(self, lost: set[int], count: int) -> None:
        """After a restart: return unacked messages, all among the first `count`, as if their consumer had left.

        They may exceed the memory, so those that the log can give back are returned without their bodies. Once dead
        letters take a quarter of the memory, the remaining messages are given up the next time they come back.
        """
        context = self.context
        returned: list[Delivery] = []
        sealed: list[Sealed] = []
        for _ in range(count):
            item = self._take_first()
            if item is None:
                break
            delivery = delivery_of(item)
            message = message_of(item)
            retry = delivery.retry
            self._shrink(message)
            if message.offset in lost:
                retry += 1
                if context.bytes > context.keep_max and self.policy.dead_letter:
                    self._count_return(message.offset)  # a dead letter stays in memory until it is written
                elif self._ends_by_return(delivery):
                    continue
            if message.offset < self.log.readable:
                sealed.append((delivery.after_offset, delivery.sequence, delivery.offset, retry, delivery.size))
            else:
                returned.append(Delivery(message, None, retry, delivery.after_offset, delivery.sequence))
            self._heed(message.options)
        self._put_among(returned, sealed)

    # -- delivering -------------------------------------------------------------------------------------------------

    def pump(self) -> None:
        """Deliver ready messages to waiting consumers: a limited number now, the rest in the next turn."""
        context = self.context
        given = self.delivered
        given_max = given + self.tuning.given_at_once
        passed_over = 0  # revoked by their requester, or expired
        while self.ready and self.consumers.waiting and not self.waits_to_send:
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
                if (
                    not self.consumers.waiting
                ):  # delivering a dead letter failed in a session that also had consumers here
                    self.put_back([item])
                    break
            if len(message.body) >= MIDDLING_BODY and not self._may_go(message):
                self.put_back([item])
                break
            self._shrink(message)
            if isinstance(item, Delivery):
                self._give(self.consumers.waiting[0], message, item.retry, item.after_offset, item.sequence)
            else:
                self._give(self.consumers.waiting[0], message, 0, message.offset, 0)
        context.work += self.delivered - given + passed_over
        if self.expiring:
            self._watch_head()

    def gives_later(self) -> bool:
        """Whether more ready messages are delivered in the next turn."""
        timer = self._pump_timer
        return timer is not None and timer.armed

    def _pump_on(self, now: int) -> None:
        self.pump()

    def _pump_later(self) -> None:
        timer = self._pump_timer
        if timer is None:
            timer = self._pump_timer = Timer(self._pump_on)
        if not timer.armed:
            self.context.deadlines.set(timer, self.context.now)
        self.context.busy_for = self.consumers.next_holder()

    def _may_go(self, message: Message) -> bool:
        """Whether a message that is not small can go to the first waiting consumer; those without room leave the line.

        All queues together deliver a limited number of bytes per turn; the rest waits for the next.
        """
        context = self.context
        if context.given >= self.tuning.given_bytes and context.unsent_max:
            self._pump_later()
            return False
        while self.consumers.waiting and not self.consumers.waiting[0].has_room():
            self.consumers.suspend(self.consumers.waiting[0])
        if not self.consumers.waiting:
            return False
        if (len(message.body) >= LARGE_BODY or message.holders != UNSHARED) and not self._may_send(message):
            return False
        context.given += len(message.body)
        return True

    def _may_send(self, message: Message) -> bool:
        """Whether a large message can be delivered; if not, the queue waits until sockets have taken others."""
        context = self.context
        size = len(message.body)
        holder = self.consumers.next_holder()
        if context.may_send(size, holder):
            context.sends(size, holder)
            return True
        self.size_to_send = size
        if not self.waits_to_send:
            self.waits_to_send = True
            context.waiting_to_send.append(self)
        return False

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
        while self.consumers.waiting:
            first = self.consumers.waiting[0]
            if not first.manual or first.in_flight == 0:
                return True
            self.consumers.leave_line(first)
            if not self.held_up:
                self.held_up = True
                context.held_up.append(self)
        return False

    def go_on(self) -> None:
        """Continue with the consumers that were held up: there is memory again."""
        self.held_up = False
        self.consumers.reconsider_all()
        self.pump()

    def read_again(self, now: int) -> None:
        if self.stalled:
            self.stalled = False
            self.context.stalled -= 1
            self._peek_first()
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
        self.context.work += len(self.consumers.active)
        for subscription in list(self.consumers.active):
            if not subscription.suspended and (size < LARGE_BODY or self.context.may_send(size, subscription.holder)):
                if size >= LARGE_BODY:
                    self.context.sends(size, subscription.holder)
                try:
                    more = subscription.broadcast(message)
                except Exception as error:
                    self.consumers.take_off(subscription, error)
                    continue
                reached += 1
                self.delivered += 1
                if not more:
                    self.consumers.suspend(subscription)
        return reached

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
                self.consumers.take_off(subscription, error)
                return
            if self.context.bytes > self.context.keep_max:
                self._let_go(delivery)
        else:
            try:
                more = subscription.deliver(message, retry, None)
            except Exception as error:
                if not self._ends_by_return(Delivery(message, None, retry, after_offset, sequence)):
                    self._put_among([Delivery(message, None, retry + 1, after_offset, sequence)], [])
                    self._heed(message.options)
                self.consumers.take_off(subscription, error)
                return
            self.log.append_settlement(self.ack_run, message.offset, ACCEPT)
            if message.requester is not None:
                tell_delivered(message)
        self.delivered += 1
        if not more:
            self.consumers.suspend(subscription)
        elif subscription.manual and (
            subscription.in_flight >= subscription.credit or subscription.bytes >= subscription.bytes_credit
        ):
            self.consumers.leave_line(subscription)
        elif len(self.consumers.waiting) > 1:
            self.consumers.leave_line(subscription)
            self.consumers.join_line(subscription)

    def consumer_count(self) -> int:
        return self.consumers.count()

    # -- starting and ending consumers ------------------------------------------------------------------------------

    def attach(self, subscription: Subscription) -> None:
        """Add a consumer: active at once, or parked behind an exclusive one."""
        subscription.queue = self
        self.consumers.add(subscription)

    def pause(self, paused: bool) -> None:
        """Stop or resume deliveries; messages are still accepted."""
        self.consumers.paused = paused
        self.consumers.reconsider_all()

    def detach(self, subscription: Subscription) -> None:
        """Remove a consumer; its unacked messages return to their places, now or, if there are many, in slices."""
        self.consumers.leave_line(subscription)
        subscription.active = False
        subscription.queue = None
        if subscription in self.consumers.parked:
            self.consumers.parked.remove(subscription)
            return
        if subscription.in_flight <= self.tuning.at_once:
            self.take_back(subscription.held(), RETURN)
            self.consumers.remove(subscription)
            return
        subscription.suspended = True
        self.consumers.leaving.append(subscription)
        for other in self.consumers.active:
            self.consumers.leave_line(other)
        self.bring_back(self.context.now)

    def bring_back(self, now: int) -> None:
        """Take back the next slice of messages from consumers that have left; the rest follows in the next turns."""
        subscription = self.consumers.leaving[0]
        self.take_back(subscription.held_last(self.tuning.at_once), RETURN)
        if not subscription.in_flight:
            del self.consumers.leaving[0]
            self.consumers.remove(subscription)
        if self.consumers.leaving:
            timer = self._return_timer
            if timer is None:
                timer = self._return_timer = Timer(self.bring_back)
            self.context.deadlines.set(timer, now)
            return
        self.consumers.reconsider_all()
        self.pump()

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
            self._put_off(delayed_delivery(message, delivery.offset, delivery.size, retry, due_at))
        elif message is not None:
            self._append(message, retry)
        else:
            self._put_among([], [(log.next_offset - 1, log.position, delivery.offset, retry, delivery.size)])
            self._heed(delivery.options)

    def _append(self, message: Message, retry: int) -> None:
        """Add to the back of the queue; the place is that of the settlement just logged."""
        log = self.log
        self.backlog.append(Delivery(message, None, retry, log.next_offset - 1, log.position))
        self.ready += 1
        self._grow(message)
        self._heed(message.options)
        if self.backlog.is_long:
            self._be_long()

    def take_back(self, deliveries: list[Delivery], how: int) -> None:
        """Return deliveries to their places: RETURN counts as a try, RELEASE does not."""
        returned: list[Delivery] = []
        sealed: list[Sealed] = []
        self.context.work += len(deliveries)
        for delivery in deliveries:
            self._close(delivery)
            retry = delivery.retry
            if how == RELEASE:
                self._released = True
            elif how == RETURN:
                retry += 1
                if self._ends_by_return(delivery):
                    continue
            message = delivery.message
            if message is None:
                sealed.append((delivery.after_offset, delivery.sequence, delivery.offset, retry, delivery.size))
                self._heed(delivery.options)
            else:
                returned.append(Delivery(message, None, retry, delivery.after_offset, delivery.sequence))
                self._heed(message.options)
        self._put_among(returned, sealed)

    # -- delayed messages -------------------------------------------------------------------------------------------

    def _put_off(self, entry: Delivery) -> None:
        """Keep a message aside until it is due; it is already in the log."""
        if not self.touched:
            self.touch()
        self.delayed.add(entry)
        self._hold_delayed(entry)
        self.fullness.set_marks(self)
        self._check_full()
        self._watch_due()

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
                self._drop_delayed(entry)
                self._append(message, entry.retry)
            else:
                sealed.append((log.next_offset - 1, log.position, entry.offset, entry.retry, entry.size))
        if sealed:
            self._put_among([], sealed)
            self.expiring = True  # possibly: their options are in the log
        self.fullness.set_marks(self)
        self._check_full()
        self._watch_due()
        self.pump()

    def _watch_due(self) -> None:
        due = self.delayed.next_due()
        if due >= 0:
            timer = self._due_timer
            if timer is None:
                timer = self._due_timer = Timer(self.bring_due)
            when = max(due, self.context.now)  # if it is late already, other timers go first
            if not timer.armed or timer.when > when:
                self.context.deadlines.set(timer, when)

    def restore_delayed(self, entries: list[Delivery]) -> None:
        """Add delayed messages from the log to a new queue; some may be due by now."""
        self.ack_run.ended -= len(entries)
        for entry in entries:
            self.delayed.add(entry)
            self._hold_delayed(entry)
        self.fullness.set_marks(self)
        self._check_full()
        self._watch_due()

    # -- the end of the queue ---------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Empty a queue that is being deleted, and notify its consumers."""
        self.context.work += len(self.consumers.active) + len(self.backlog.head) + len(self.backlog.tail)
        for subscription in [*self.consumers.active, *self.consumers.parked]:
            for message in subscription.let_go_of_all():
                self._tell_requester(message)
                if message.holders != UNSHARED:
                    self.context.leave(message)
            if subscription in self.consumers.leaving:
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
        self._clear_store()
        for timer in (self._due_timer, self._head_timer, self._return_timer, self._pump_timer):
            if timer is not None:
                self.context.deadlines.cancel(timer)
        self._due_timer = None
        self._head_timer = None
        self._return_timer = None
        self._pump_timer = None
        self.consumers.clear()

    def _tell_requester(self, message: Message) -> None:
        if message.requester is not None and not message.revoked:
            tell_undelivered(message, "the queue was deleted")
