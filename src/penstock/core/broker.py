"""The broker's operations. Every state change enters here, runs to completion without waiting, and is logged.

The broker is a deterministic state machine: it reads no clock and generates no values, so the same calls with the same
times give the same state, and replaying its log gives that state again (`core.replay`). A turn is one event loop
iteration.
"""

from collections.abc import Callable
from typing import Final

from penstock.core.broker_base import BrokerBase
from penstock.core.commits import commit_batch
from penstock.core.deadletters import revived
from penstock.core.dedup import key_of
from penstock.core.delivery import Delivery
from penstock.core.limits import REFUSE, Limits
from penstock.core.moving import copy_messages, move_places
from penstock.core.queue import BY_POLICY, NEVER, Queue
from penstock.core.redrive import Redrive, Redrives
from penstock.core.spans import SortKey
from penstock.core.subscription import Subscription
from penstock.errors import DISK_FULL, Refused
from penstock.log.interface import Change, Log
from penstock.message import (
    RELEASE,
    REPLY_PREFIX,
    TO_CONSUMERS,
    TO_QUEUE,
    DeliveryOptions,
    Message,
    tell_delivered,
)

# Costs in units of work, see `broker_base`.
SUBSCRIBE_WORK: Final = 6  # to start or end a consumer
DEDUP_WORK: Final = 4


class Broker(BrokerBase):
    def __init__(self, log: Log, limits: Limits) -> None:
        super().__init__(log, limits)
        self.redrives = Redrives(self)

    # -- publishing ---------------------------------------------------------------------------------------------------

    def publish(self, message: Message) -> None:
        """Add the message to every queue bound to its event.

        Raises Refused when the body is too large or a queue is full. A full queue does not keep the message from the
        others: one stopped consumer must not stop the rest. The message is not logged if no queue could take it.
        """
        if len(message.body) > self.body_size_max:
            raise self.not_taken(message)
        if message.options is not None or self.dedups:
            self._publish_with_options(message)
            return
        self.published += 1
        queues = self.routing.route(message)
        if self.requests.waiting and message.event.startswith(REPLY_PREFIX):
            # The requester gets the reply even if a queue with an empty pattern matches every event.
            self.reply(message.event[len(REPLY_PREFIX) :], message.body)
        if queues is None:
            self.log.append(message)
            self.unrouted += 1
        elif len(queues) == 1:
            queue = queues[0]
            if queue.full and not queue.make_room():
                raise self.full_error(queue)
            self.log.append(message)
            queue.enqueue(message)
        else:
            self._fan_out(message, queues)

    def _publish_with_options(self, message: Message) -> None:
        """Publish a message that has options, or that has to be checked for deduplication."""
        if self._is_repeated(message, message.event):
            return
        self.published += 1
        queues = self.routing.route(message)
        if self.requests.waiting and message.event.startswith(REPLY_PREFIX):
            self.reply(message.event[len(REPLY_PREFIX) :], message.body)
        if queues is None:
            self.take_in(message, [])
            self.unrouted += 1
        else:
            self._fan_out(message, queues)

    def _fan_out(self, message: Message, queues: list[Queue]) -> None:
        self.context.work += len(queues)
        options = message.options
        # A deduplicated message goes to all of its queues or to none: a retry would be dropped as a duplicate.
        all_or_none = options is not None and options.dedup_seconds > 0
        if all_or_none:
            for queue in queues:
                if queue.full and queue.policy.full == REFUSE and not queue.make_room():
                    raise self.full_error(queue)
        closed: list[Queue] = []
        for queue in queues:
            if queue.full and not queue.make_room():
                closed.append(queue)
        if closed and (all_or_none or len(closed) == len(queues)):
            raise self.full_error(closed[0])
        if closed:
            names = {queue.name for queue in closed}
            queues = [queue for queue in queues if queue.name not in names]
        self.take_in(message, queues)
        if closed:
            for queue in closed:
                queue.refuse(message)
            raise self.full_error(closed[0])

    def put(self, name: bytes, message: Message) -> None:
        """Add the message to one queue, which is created if needed.

        A message with a requester is a request: its consumer may `reply`.
        """
        if len(message.body) > self.body_size_max:
            raise self.not_taken(message)
        if (message.options is not None or self.dedups) and self._is_repeated(message, name):
            return
        queue = self.queues.get(name)
        if queue is None:
            if (
                self.requests.waiting
                and name.startswith(REPLY_PREFIX)
                and name[len(REPLY_PREFIX) :] in self.requests.waiting
            ):
                message.route = TO_CONSUMERS
                self.published += 1
                self.take_in(message, [])
                self.reply(name[len(REPLY_PREFIX) :], message.body)
                return
            if message.requester is not None:
                self._check_request(message)
            queue = self.declare(name)
        elif message.requester is not None:
            self._check_request(message)
        if queue.full and not queue.make_room():
            raise self.full_error(queue)
        self.published += 1
        message.event = name
        message.route = TO_QUEUE
        if message.requester is not None:
            self.requests.add(message, self.context.publisher)
        if message.options is None:
            self.log.append(message)
            queue.enqueue(message)
        else:
            self.take_in(message, [queue])

    def broadcast(self, name: bytes, message: Message) -> int:
        """Send the message to all current consumers of the queue without storing it. Returns how many it reached."""
        if len(message.body) > self.body_size_max:
            raise self.not_taken(message)
        if (message.options is not None or self.dedups) and self._is_repeated(message, name):
            return 0
        self.published += 1
        message.route = TO_CONSUMERS
        self.take_in(message, [])
        queue = self.queues.get(name)
        if queue is None:
            self.unrouted += 1
            return 0
        return queue.broadcast(message)

    def _is_repeated(self, message: Message, name: bytes) -> bool:
        """Whether deduplication applies to the message and its id was seen before."""
        self.context.work += DEDUP_WORK
        if not self.dedup_seconds(message, name) or not self.is_known(message):
            return False
        self.deduplicated += 1
        return True

    def own(self, message: Message, owner: bytes) -> None:
        """Set the owner of a message before it is published: ids are deduplicated per user."""
        options = message.options
        if options is not None:
            options.owner = owner
        elif self.dedups:
            message.options = DeliveryOptions(owner=owner)

    def is_known(self, message: Message) -> bool:
        """Whether its owner published that id before.

        Ids without an owner, from before users had names, match too: otherwise such a message would be accepted again.
        """
        now = message.published_at
        options = message.options
        owner = b"" if options is None else options.owner
        if owner and self.dedup.is_known(key_of(message.id, owner), now):
            return True
        return self.dedup.is_known(key_of(message.id, b""), now)

    def dedup_seconds(self, message: Message, name: bytes) -> int:
        """How long a message with the same id counts as a duplicate, by its options or by policy; 0 = never."""
        options = message.options
        if self.dedups and (options is None or not options.dedup_seconds):
            seconds = self.policies.dedup_seconds(name)
            if seconds and options is None:
                options = message.options = DeliveryOptions(dedup_seconds=seconds)
            elif seconds and options is not None:
                options.dedup_seconds = seconds
        return 0 if options is None else options.dedup_seconds

    # -- requests and replies -----------------------------------------------------------------------------------------

    def reply(self, request_id: bytes, body: bytes) -> bool:
        """Pass a reply to the requester; False when nobody waits for it."""
        message = self.requests.take(request_id)
        if message is None:
            return False
        requester = message.requester
        message.requester = None
        if requester is not None:
            try:
                requester.delivered(message)
                requester.replied(message, body)
            except Exception as error:
                requester.failed(error)
        return True

    def forget_request(self, message: Message, revoke: bool) -> None:
        """Stop waiting for a reply; with `revoke` the request itself is not to be delivered either."""
        self.requests.take(message.id)
        message.requester = None
        if revoke and not message.revoked:
            message.revoked = True
            queue = self.queues.get(message.event)
            if queue is not None:
                queue.count_revoked(message)

    def _check_request(self, message: Message) -> None:
        try:
            self.requests.check(message, self.context.publisher)
        except Refused:
            self.refused += 1
            raise

    # -- commits ------------------------------------------------------------------------------------------------------

    def commit(self, writer: bytes, batch: int, messages: list[Message]) -> bool:
        """Publish all of the messages at once, as a writer's batch; False when the batch was committed before.

        A batch whose number is not above the writer's last one was committed before. Either all of it is in the log or
        nothing, whenever the process ends. Raises Refused when a queue is full; a queue that is not full takes the
        whole batch, whatever its limits. Duplicate ids, from before or within the batch, are left out; `offset` of the
        other messages is set.
        """
        if batch <= self.committed.get(writer, -1):
            return False
        for idle in self.writers.idle(self.context.now):
            self.forget_writer(idle)
        self.writers.check_new(writer)
        commit_batch(self, writer, batch, messages)
        return True

    @property
    def committed(self) -> dict[bytes, int]:
        """The last batch number of each writer, the most recent writer last."""
        return self.writers.batches

    def forget_writer(self, writer: bytes) -> bool:
        """Drop a writer that is done or was idle for too long, with its last batch number. False if unknown."""
        if not self.writers.forget(writer):
            return False
        self.log.append_change(Change(Change.FORGOTTEN, writer))
        return True

    # -- consumers ----------------------------------------------------------------------------------------------------

    def subscribe(self, name: bytes, subscription: Subscription, instead_of: Subscription | None, now: int) -> Queue:
        """Start a consumer of the queue, which is created if needed.

        `instead_of` is a consumer that this one replaces: it gets that one's unacked messages, in order, and the queue
        is never without a consumer in between.
        """
        self.set_time(now)
        self.context.work += SUBSCRIBE_WORK
        queue = self.declare(name)
        unacked_max = self.limits.unacked_max
        if subscription.credit <= 0 or subscription.credit > unacked_max:
            subscription.credit = unacked_max
        subscription.bytes_credit = self.limits.unacked_bytes_max
        self._note_use(queue)
        queue.attach(subscription)
        self.unused.stop(name)
        if instead_of is not None:
            self.cancel(instead_of, now)
        queue.pump()
        return queue

    def cancel(self, subscription: Subscription, now: int) -> None:
        """End a consumer; its unacked messages return to their places. Does nothing if it has ended already."""
        queue = subscription.queue
        if queue is None:
            return
        self.set_time(now)
        self.context.work += SUBSCRIBE_WORK
        queue.detach(subscription)
        queue.pump()
        if queue.consumer_count() == 0 and queue.expires_after != NEVER:
            self.unused.start(queue, now)

    def suspend(self, subscription: Subscription) -> None:
        """Deliver nothing to this consumer until it is resumed."""
        subscription.suspended = True
        if subscription.queue is not None:
            subscription.queue.consumers.reconsider(subscription)

    def resume(self, subscription: Subscription) -> None:
        queue = subscription.queue
        if subscription.suspended and queue is not None:
            subscription.suspended = False
            queue.consumers.reconsider(subscription)
            queue.pump()

    def allow(self, subscription: Subscription, credit: int) -> None:
        """Set how many unacked messages a consumer may hold."""
        subscription.credit = credit
        queue = subscription.queue
        if queue is not None:
            queue.consumers.reconsider(subscription)
            queue.pump()

    def allow_bytes(self, subscription: Subscription, bytes_credit: int) -> None:
        """Set how many unacked bytes a consumer may hold; with 1 it gets a message only when it holds none."""
        subscription.bytes_credit = bytes_credit
        queue = subscription.queue
        if queue is not None:
            queue.consumers.reconsider(subscription)
            queue.pump()

    def get(self, name: bytes) -> Message | None:
        """Consume the first ready message; None if consumers wait, one is exclusive or the queue is paused."""
        queue = self.declare(name)
        consumers = queue.consumers
        if consumers.waiting or consumers.paused or consumers.leaving or consumers.is_reserved():
            return None
        return queue.take()

    # -- settlements --------------------------------------------------------------------------------------------------

    def accept(self, delivery: Delivery) -> None:
        """The consumer processed the message."""
        subscription = delivery.subscription
        if not delivery.open or subscription is None:
            return
        queue = subscription.queue
        if queue is not None:
            queue.accept(delivery)
            message = delivery.message
            if message is not None and message.requester is not None:
                tell_delivered(message)
            self._after_settling(queue, subscription)

    def reject(self, delivery: Delivery, due_at: int = BY_POLICY) -> None:
        """The consumer failed: the message goes to the back of the queue with its try counter incremented.

        It is delivered again at `due_at`; 0 means at once.
        """
        subscription = delivery.subscription
        if not delivery.open or subscription is None:
            return
        queue = subscription.queue
        if queue is not None:
            queue.reject(delivery, due_at)
            self._after_settling(queue, subscription)

    def bury(self, delivery: Delivery) -> None:
        """Processing cannot succeed: the message goes to the dead-letter queue, or is dropped if there is none."""
        subscription = delivery.subscription
        if not delivery.open or subscription is None:
            return
        queue = subscription.queue
        if queue is not None:
            queue.bury(delivery)
            self._after_settling(queue, subscription)

    def release(self, delivery: Delivery) -> None:
        """The consumer never saw the message: it returns to its place as if it had not been delivered."""
        subscription = delivery.subscription
        if not delivery.open or subscription is None:
            return
        queue = subscription.queue
        if queue is not None:
            queue.take_back([delivery], RELEASE)
            self._after_settling(queue, subscription)

    def _after_settling(self, queue: Queue, subscription: Subscription) -> None:
        if not subscription.waiting:
            queue.consumers.reconsider(subscription)
        if queue.ready:
            queue.pump()

    # -- redrive, move, copy ------------------------------------------------------------------------------------------

    def redrive(
        self, name: bytes, limit: int, to: bytes, now: int, may_go: Callable[[bytes], bool] | None = None
    ) -> int:
        """Move up to `limit` ready dead letters back to the queues they died in, or to `to`; returns how many.

        This does everything in one call, however long the queue is. Use `start_redrive` when other clients must be
        served.
        """
        redrive = self.start_redrive(name, limit, to, now, may_go)
        while not self.step_redrive(redrive, now):
            pass
        return redrive.moved

    def start_redrive(
        self,
        name: bytes,
        limit: int,
        to: bytes,
        now: int,
        may_go: Callable[[bytes], bool] | None = None,
        dry_run: bool = False,
    ) -> Redrive:
        """Start a redrive that `step_redrive` carries out in steps. Raises Refused when it is not possible."""
        self.set_time(now)
        if self.refuse_reason and not dry_run:
            raise Refused(DISK_FULL, self.refuse_reason)
        queue = self.existing(name)
        if to and to not in self.queues and not dry_run:
            self.check_new(to)
        return Redrive(self, queue, limit, to, may_go, dry_run)

    def step_redrive(self, redrive: Redrive, now: int) -> bool:
        """Process the next messages of a redrive; True when it is finished."""
        self.set_time(now)
        return redrive.step(now)

    def redrive_targets(self, name: bytes, limit: int, to: bytes) -> dict[bytes, int]:
        """Dry run of `redrive`: how many messages would go to each queue. Those that would stay are not counted."""
        redrive = self.start_redrive(name, limit, to, self.context.now, None, dry_run=True)
        while not self.step_redrive(redrive, self.context.now):
            pass
        return redrive.targets

    def send_back(self, message: Message, to: bytes, now: int) -> None:
        """Put a dead letter that `Redrive` has found into another queue.

        Raises Refused when that queue is full or cannot be created. A full queue gives up nothing for it, whatever its
        policy says: that would trade one dead letter for another.
        """
        sent = revived(message, to, now)
        target = self.declare(to)
        if target.full:
            raise self.full_error(target)
        self.take_in(sent, [target])

    def move(self, name: bytes, offsets: set[int], to: bytes, now: int) -> int:
        """Move the ready messages with these offsets to another queue, with their headers; returns how many were moved.

        This searches the whole queue; `move_places` does not.
        """
        return self.move_places(name, self.existing(name).backlog.places_of(offsets), to, now)

    def move_places(self, name: bytes, places: list[SortKey], to: bytes, now: int) -> int:
        """Move the ready messages at these places, which are sorted, to another queue; returns how many were moved.

        Stops early when that queue is full. Messages that are no longer ready are skipped.
        """
        self.set_time(now)
        return move_places(self, self.existing(name), places, self._target_of(to), now)

    def copy(self, messages: list[Message], to: bytes, now: int) -> int:
        """Put copies of the messages into a queue; returns how many. Stops early when the queue is full."""
        self.set_time(now)
        return copy_messages(self, messages, self._target_of(to), now)

    def _target_of(self, name: bytes) -> Queue:
        if self.refuse_reason:
            raise Refused(DISK_FULL, self.refuse_reason)
        return self.declare(name)
