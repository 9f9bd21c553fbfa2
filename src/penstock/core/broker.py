"""The broker's operations. Every state change enters here, runs to completion without waiting, and is logged.

The broker is a deterministic state machine: it reads no clock and generates no values, so the same calls with the same
times give the same state, and replaying its log gives that state again (`core.replay`). A turn is one event loop
iteration.
"""

from collections.abc import Callable
from typing import Final

from penstock.core.context import Alarm, BrokerContext, DeadLetters
from penstock.core.deadletters import dead_letter, revived, sent_on
from penstock.core.deadlines import Deadlines, Timer
from penstock.core.dedup import Dedup, key_of
from penstock.core.delivery import Delivery, Item, message_of
from penstock.core.invariants import Inconsistent, violations
from penstock.core.limits import DROP_OLDEST, REFUSE, Limits
from penstock.core.patterns import canonical
from penstock.core.places import GREED_OF_BYTES, GREED_OF_ONE, NO_HOLDER, Places
from penstock.core.policy import Policies, Rule
from penstock.core.queue import BY_POLICY, NEVER, Queue
from penstock.core.queue_store import QueueStore
from penstock.core.redrive import Redrive, Redrives
from penstock.core.routing import Routing, cost_of_bindings
from penstock.core.spans import SortKey
from penstock.core.subscription import Subscription
from penstock.core.writers import Writers
from penstock.errors import DISK_FULL, NOT_FOUND, OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.interface import Change, Log
from penstock.message import RELEASE, TO_CONSUMERS, TO_QUEUE, DeliveryOptions, Message, queue_of, tell_delivered

# A reply is published to this prefix followed by the request's message id. Anyone who received the request may reply.
REPLY_PREFIX: Final = b"reply/"

# The largest size of a commit in the log, where it is a single block.
COMMIT_SIZE_MAX: Final = 1 << 30
# The most queue copies a commit may create, counted per message and queue: they are all made in one turn.
COMMIT_COPIES_MAX: Final = 500_000

# Deduplication ids may take 1/DEDUP_PART of memory_bytes_max, or DEDUP_BYTES_LEAST if that is more.
DEDUP_PART: Final = 4
DEDUP_BYTES_LEAST: Final = 1 << 20

# The bindings of all queues may take 1/BINDINGS_SHARE of memory_bytes_max.
BINDINGS_SHARE: Final = 4
BINDINGS_MIN: Final = 1 << 20  # but always at least this much

# Costs in units of work (`context.work`); a plain message is one. Measured, so that slices take equally long.
QUEUE_WORK: Final = 16  # to create or delete a queue
BINDING_WORK: Final = 3  # per event bound or unbound
PATTERN_WORK: Final = 24
SUBSCRIBE_WORK: Final = 6  # to start or end a consumer
DEDUP_WORK: Final = 4
TIMER_WORK: Final = 2

SOMEBODY: Final = "somebody"  # neither a user nor an address

# The minimum time consumers have to reconnect after a restart, in microseconds.
RETURN_TIME: Final = 60_000_000


class Lost:
    """Messages that were unacked when the broker died: their offsets, all among the first `count` the queue owes."""

    def __init__(self, queue: Queue, offsets: set[int], count: int) -> None:
        self.queue = queue
        self.offsets = offsets
        self.count = count


class Counts:
    """Totals of the per-queue counters."""

    def __init__(self) -> None:
        self.queued = 0
        self.delivered = 0
        self.retried = 0
        self.dropped = 0
        self.expired = 0
        self.dead_lettered = 0

    def add(self, queue: Queue) -> None:
        self.queued += queue.queued
        self.delivered += queue.delivered
        self.retried += queue.retried
        self.dropped += queue.dropped
        self.expired += queue.expired
        self.dead_lettered += queue.dead_lettered

    def copy(self) -> "Counts":
        other = Counts()
        other.queued = self.queued
        other.delivered = self.delivered
        other.retried = self.retried
        other.dropped = self.dropped
        other.expired = self.expired
        other.dead_lettered = self.dead_lettered
        return other


class DeadLetterQueues(DeadLetters):
    """Puts messages that a queue gives up into the dead-letter queue its policy names."""

    def __init__(self, broker: "Broker") -> None:
        self.broker = broker

    def take(self, queue: QueueStore, message: Message, retry: int, reason: str) -> bool:
        broker = self.broker
        if broker.refuse_reason:
            return False
        name = queue.policy.dead_letter
        letter = dead_letter(message, queue.name, retry, reason, name, broker.context.now)
        try:
            target = broker.declare(name)
        except Refused:
            return False
        # A full dead-letter queue never dead-letters its own messages: two of them could pass messages back and forth.
        if target.full and (target.policy.full != DROP_OLDEST or not target.make_room()):
            return False
        broker.take_in(letter, [target])
        return True


class Broker:
    def __init__(self, log: Log, limits: Limits) -> None:
        self.log = log
        self.limits = limits
        self.deadlines = Deadlines(log.tuning.stale_timers_max)
        self.queues: dict[bytes, Queue] = {}
        self.routing = Routing(max(BINDINGS_MIN, limits.memory_bytes_max // BINDINGS_SHARE))
        self._queue_places = Places(limits.queues_max, GREED_OF_ONE)
        self.context = BrokerContext(self.deadlines, DeadLetterQueues(self), limits, log.tuning)
        self.context.queues = self.queues
        self.context.begin_turn(log.read_bytes, log.tuning.read_at_once)
        self.redrives = Redrives(self)
        self.policies = Policies([], limits)
        ids_bytes_max = max(limits.memory_bytes_max // DEDUP_PART, DEDUP_BYTES_LEAST)
        self.dedup = Dedup(limits.dedup_ids_max, log.tuning.id_page_length, ids_bytes_max)
        self.deduplicated = 0  # publishes dropped as duplicates
        self.published = 0  # publishes, routed to a queue or not
        self.unrouted = 0  # publishes that matched no queue
        self.refused = 0  # publishes refused because a queue, the memory or the disk was full
        self.refuse_reason = ""  # why publishes are refused at present
        self._is_short = False  # publishes are refused because memory is short
        self._body_size_max = limits.body_size_max  # -1 while publishes are refused, so one comparison checks both
        self.gone = Counts()  # totals of deleted queues
        self.writers = Writers(limits)
        self.lost: list[Lost] = []  # unacked when the previous process died
        self.is_broken = False  # the state cannot be trusted: no further turn may end
        self.dedups = False  # a policy deduplicates, so every publish has to be checked
        self._expiries: dict[bytes, Timer] = {}
        self._awaiting: dict[bytes, Message] = {}  # requests without a reply yet, by message id
        self._tick_end = 0  # the value of `context.work` at which a tick stops
        # The bytes of those requests, which stay in memory until they are answered.
        self._awaiting_bytes = Places(limits.requests_bytes_max, GREED_OF_BYTES)
        self._asked_by: dict[bytes, str] = {}  # the user or address charged for a request, by message id

    # -- publishing -------------------------------------------------------------------------------------------------

    def publish(self, message: Message) -> None:
        """Add the message to every queue bound to its event.

        Raises Refused when the body is too large or a queue is full. A full queue does not keep the message from the
        others: one stopped consumer must not stop the rest. The message is not logged if no queue could take it.
        """
        if len(message.body) > self._body_size_max:
            raise self._not_taken(message)
        if message.options is not None or self.dedups:
            self._publish_on_terms(message)
            return
        self.published += 1
        queues = self.routing.route(message)
        if self._awaiting and message.event.startswith(REPLY_PREFIX):
            # The requester gets the reply even if a queue with an empty pattern matches every event.
            self.reply(message.event[len(REPLY_PREFIX) :], message.body)
        if queues is None:
            self.log.append(message)
            self.unrouted += 1
        elif len(queues) == 1:
            queue = queues[0]
            if queue.full and not queue.make_room():
                raise self._full(queue)
            self.log.append(message)
            queue.enqueue(message)
        else:
            self._fan_out(message, queues)

    def _publish_on_terms(self, message: Message) -> None:
        """Publish a message that has options, or that has to be checked for deduplication."""
        if self._is_repeated(message, message.event):
            return
        self.published += 1
        queues = self.routing.route(message)
        if self._awaiting and message.event.startswith(REPLY_PREFIX):
            self.reply(message.event[len(REPLY_PREFIX) :], message.body)
        if queues is None:
            self.take_in(message, [])
            self.unrouted += 1
        else:
            self._fan_out(message, queues)

    def take_in(self, message: Message, queues: list[Queue]) -> None:
        """Append the message to the log, remember its id for deduplication, and add it to these queues.

        The caller has checked that it may be accepted. All messages pass through here: published, put, committed,
        moved, copied, redriven, and dead letters. Only a message without options takes a shortcut to the same result. A
        replay does the same with the messages it reads.
        """
        self.log.append(message)
        if len(queues) > 1:
            message.holders = 0
        options = message.options
        if options is None:
            for queue in queues:
                queue.enqueue(message)
            return
        if options.dedup_seconds:
            now = message.published_at
            self.dedup.remember(key_of(message.id, options.owner), now + options.dedup_seconds * 1_000_000, now)
        for queue in queues:
            queue.enqueue_delayed(message)

    def _is_repeated(self, message: Message, name: bytes) -> bool:
        """Whether deduplication applies to the message and its id was seen before."""
        self.context.work += DEDUP_WORK
        if not self._dedup_seconds(message, name) or not self._is_known(message):
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

    def _is_known(self, message: Message) -> bool:
        """Whether its owner published that id before.

        Ids without an owner, from before users had names, match too: otherwise such a message would be accepted again.
        """
        now = message.published_at
        options = message.options
        owner = b"" if options is None else options.owner
        if owner and self.dedup.is_known(key_of(message.id, owner), now):
            return True
        return self.dedup.is_known(key_of(message.id, b""), now)

    def _dedup_seconds(self, message: Message, name: bytes) -> int:
        """How long a message with the same id counts as a duplicate, by its options or by policy; 0 = never."""
        options = message.options
        if self.dedups and (options is None or not options.dedup_seconds):
            seconds = self.policies.dedup_seconds(name)
            if seconds and options is None:
                options = message.options = DeliveryOptions(dedup_seconds=seconds)
            elif seconds and options is not None:
                options.dedup_seconds = seconds
        return 0 if options is None else options.dedup_seconds

    def _fan_out(self, message: Message, queues: list[Queue]) -> None:
        self.context.work += len(queues)
        options = message.options
        # A deduplicated message goes to all of its queues or to none: a retry would be dropped as a duplicate.
        all_or_none = options is not None and options.dedup_seconds > 0
        if all_or_none:
            for queue in queues:
                if queue.full and queue.policy.full == REFUSE and not queue.make_room():
                    raise self._full(queue)
        closed: list[Queue] = []
        for queue in queues:
            if queue.full and not queue.make_room():
                closed.append(queue)
        if closed and (all_or_none or len(closed) == len(queues)):
            raise self._full(closed[0])
        if closed:
            names = {queue.name for queue in closed}
            queues = [queue for queue in queues if queue.name not in names]
        self.take_in(message, queues)
        if closed:
            for queue in closed:
                queue.refuse(message)
            raise self._full(closed[0])

    def put(self, name: bytes, message: Message) -> None:
        """Add the message to one queue, which is created if needed.

        A message with a requester is a request: its consumer may `reply`.
        """
        if len(message.body) > self._body_size_max:
            raise self._not_taken(message)
        if (message.options is not None or self.dedups) and self._is_repeated(message, name):
            return
        queue = self.queues.get(name)
        if queue is None:
            if self._awaiting and name.startswith(REPLY_PREFIX) and name[len(REPLY_PREFIX) :] in self._awaiting:
                message.route = TO_CONSUMERS
                self.published += 1
                self.take_in(message, [])
                self.reply(name[len(REPLY_PREFIX) :], message.body)
                return
            if message.requester is not None:
                self._check_requests(message)
            queue = self.declare(name)
        elif message.requester is not None:
            self._check_requests(message)
        if queue.full and not queue.make_room():
            raise self._full(queue)
        self.published += 1
        message.event = name
        message.route = TO_QUEUE
        if message.requester is not None:
            self._awaiting[message.id] = message
            self._asked_by[message.id] = self.context.publisher
            self._awaiting_bytes.enter(self.context.publisher, message.size)
        if message.options is None:
            self.log.append(message)
            queue.enqueue(message)
        else:
            self.take_in(message, [queue])

    def broadcast(self, name: bytes, message: Message) -> int:
        """Send the message to all current consumers of the queue without storing it. Returns how many it reached."""
        if len(message.body) > self._body_size_max:
            raise self._not_taken(message)
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

    def reply(self, request_id: bytes, body: bytes) -> bool:
        """Pass a reply to the requester; False when nobody waits for it."""
        message = self._awaiting.pop(request_id, None)
        if message is None:
            return False
        self._awaiting_bytes.leave(self._asked_by.pop(request_id), message.size)
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
        if self._awaiting.pop(message.id, None) is not None:
            self._awaiting_bytes.leave(self._asked_by.pop(message.id), message.size)
        message.requester = None
        if revoke and not message.revoked:
            message.revoked = True
            queue = self.queues.get(message.event)
            if queue is not None:
                queue.count_revoked(message)

    def shut(self, because: str) -> None:
        """Refuse messages until `reopen`. Everything else continues: settling messages is what frees space."""
        self.refuse_reason = because
        self._body_size_max = -1

    def reopen(self) -> None:
        self.refuse_reason = ""
        self.hold_memory(self._is_short)

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
        taken, routes = self._look_at(messages)
        for index, message in enumerate(taken):
            if message.route == TO_QUEUE and not routes[index]:
                name = queue_of(message)
                if self.would_make(name) or name in self.queues:
                    routes[index] = [self.declare(name)]
                else:
                    message.route = TO_CONSUMERS
        for queues in routes:
            for queue in queues:
                if queue.full and not queue.make_room():
                    raise self._full(queue)
        self.deduplicated += len(messages) - len(taken)
        log = self.log
        log.begin_whole()
        log.append_change(Change(Change.COMMITTED, writer, number=batch, at=self.context.now))
        self.writers.remember(writer, batch, self.context.now)
        for index, message in enumerate(taken):
            self.published += 1
            if not routes[index]:
                self.unrouted += 1
            self.take_in(message, routes[index])
        log.end_whole()
        if self._awaiting:
            for message in taken:
                if message.route != TO_QUEUE and message.event.startswith(REPLY_PREFIX):
                    self.reply(message.event[len(REPLY_PREFIX) :], message.body)
        return True

    def _look_at(self, messages: list[Message]) -> tuple[list[Message], list[list[Queue]]]:
        """The messages of a batch to accept, and the queues each is routed to. Changes nothing; raises Refused."""
        taken: list[Message] = []
        routes: list[list[Queue]] = []
        known: dict[bytes, int] = {}  # ids in this batch, and when each expires
        made: set[bytes] = set()  # queues that would be created
        copies = 0
        size = 0
        for message in messages:
            if len(message.body) > self._body_size_max:
                raise self._not_taken(message)
            size += size_in_log(message)
            if size > COMMIT_SIZE_MAX:
                raise Refused(TOO_LARGE, f"commit of more than {COMMIT_SIZE_MAX} bytes, which a block of the log holds")
            to_queue = message.route == TO_QUEUE
            name = queue_of(message) if to_queue else message.event
            now = message.published_at
            seconds = self._dedup_seconds(message, name)
            if seconds and (self._is_known(message) or known.get(message.id, 0) > now):
                continue
            if seconds:
                known[message.id] = now + seconds * 1_000_000
            queues: list[Queue] = []
            queue = self.queues.get(name) if to_queue else None
            if queue is not None:
                queues = [queue]
            elif to_queue and name not in made and self.would_make(name):
                made.add(name)
                self._check_new(name, len(made))
            elif not to_queue:
                queues = self.routing.route(message) or []
            for queue in queues:
                if queue.full and queue.policy.full == REFUSE and not queue.make_room():
                    raise self._full(queue)
            copies += len(queues)
            if copies > COMMIT_COPIES_MAX:
                raise Refused(
                    OVER_LIMIT, f"commit of more than {COMMIT_COPIES_MAX} copies of messages: all come in at one moment"
                )
            taken.append(message)
            routes.append(queues)
        return taken, routes

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

    # -- queues -----------------------------------------------------------------------------------------------------

    def declare(self, name: bytes) -> Queue:
        """The queue of that name, created if needed."""
        queue = self.queues.get(name)
        if queue is not None:
            return queue
        self._check_new(name)
        queue = self.make_queue(name)
        self.context.work += QUEUE_WORK
        self.log.append_change(Change(Change.DECLARED, name))
        return queue

    def _check_new(self, name: bytes, more: int = 1) -> None:
        """Check that a queue of that name may be created, as one of `more` new ones. Raises Refused."""
        limits = self.limits
        if len(name) > limits.name_size_max:
            raise Refused(TOO_LARGE, f"queue name of {len(name)} bytes: name_size_max is {limits.name_size_max}")
        places = self._queue_places
        if not places.has_room(self.context.publisher, more):
            why = places.why_full(self.context.publisher, "queues")
            raise Refused(OVER_LIMIT, f"{why}: queues_max is {limits.queues_max}")

    def would_make(self, name: bytes) -> bool:
        """Whether putting a message into the queue would create it; a reply to a request would not."""
        if name in self.queues:
            return False
        return not (name.startswith(REPLY_PREFIX) and name[len(REPLY_PREFIX) :] in self._awaiting)

    def make_queue(self, name: bytes) -> Queue:
        """Create a queue without logging it: the log has the entry, or the caller writes it."""
        queue = Queue(name, self.log, self.policies.of(name), self.context)
        queue.made_by = self.context.publisher
        self._queue_places.enter(queue.made_by)
        self.queues[name] = queue
        self.context.warm_up(queue)
        return queue

    def unmake_queue(self, name: bytes) -> None:
        """Remove the queue and its bindings, without logging it."""
        queue = self.queues.pop(name)
        self._queue_places.leave(queue.made_by)
        self.routing.unbind(queue)
        self.context.forget(queue)

    def set_policies(self, rules: list[Rule]) -> None:
        """Replace the policy rules, for existing and future queues."""
        self.policies = Policies(rules, self.limits)
        self.dedups = self.policies.has_dedup
        for queue in list(self.queues.values()):
            queue.set_policy(self.policies.of(queue.name))

    def bind(self, name: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...] = ()) -> None:
        """Replace the bindings of the queue. Patterns are JSON objects as text."""
        limits = self.limits
        self.context.work += BINDING_WORK * len(events) + PATTERN_WORK * len(patterns)
        if len(events) + len(patterns) > limits.events_per_queue_max:
            raise Refused(
                OVER_LIMIT,
                f"{len(events) + len(patterns)} bindings: events_per_queue_max is {limits.events_per_queue_max}",
            )
        for event in events:
            if len(event) > limits.name_size_max:
                raise Refused(TOO_LARGE, f"event name of {len(event)} bytes: name_size_max is {limits.name_size_max}")
            self._check_event(name, event)
        if patterns:
            patterns = tuple(dict.fromkeys([canonical(pattern) for pattern in patterns]))
        self._check_bindings(name, events, patterns)
        queue = self.declare(name)
        if queue.events != events or queue.patterns != patterns:
            self._pay_for_bindings(queue)
            self.routing.bind(queue, events, patterns, self.context.publisher)
            self.log.append_change(Change(Change.BOUND, name, names=queue.events, patterns=queue.patterns))

    def _check_event(self, name: bytes, event: bytes) -> None:
        """Check that one more queue may be bound to the event. Raises Refused."""
        most = self.limits.queues_per_event_max
        bound = self.routing.by_event.get(event)
        if bound is None or len(bound) < most:
            return
        queue = self.queues.get(name)
        if queue is None or event not in queue.events:
            raise Refused(OVER_LIMIT, f"event {event!r} goes to {len(bound)} queues: {most} can be bound to one event")

    def _pay_for_bindings(self, queue: Queue) -> None:
        """Count the work of removing the queue's current bindings."""
        self.context.work += BINDING_WORK * len(queue.events) + PATTERN_WORK * len(queue.patterns)

    def _check_bindings(self, name: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> None:
        """Check that the bindings fit. They are always in memory, so all of them together get a fixed share of it."""
        bound = self.queues.get(name)
        added = cost_of_bindings(events, patterns)
        removed = 0 if bound is None else cost_of_bindings(bound.events, bound.patterns)
        costs = self.routing.costs
        holder = self.context.publisher
        if added > removed and not costs.has_room(holder, added - removed):
            why = costs.why_full(holder, "bytes of bindings")
            raise Refused(OVER_LIMIT, f"bindings of {added} bytes, and {why}, by memory_bytes_max")

    def expire(self, name: bytes, after: int) -> None:
        """Delete the queue `after` microseconds without a consumer; NEVER keeps it.

        If it has no consumer, the time starts now. With 0 the queue is deleted when its last consumer leaves, and not
        before it has had one.
        """
        queue = self.declare(name)
        if queue.expires_after != after:
            queue.expires_after = after
            queue.used = False
            self.log.append_change(Change(Change.EXPIRES, name, number=after))
            self._stop_expiry(name)
            if queue.consumer_count():
                self._note_use(queue)
            elif after > 0:
                self._start_expiry(queue, self.context.now)

    def _note_use(self, queue: Queue) -> None:
        """Log the first consumer of a queue that is deleted with its last one: a restart must know that it had one."""
        if queue.expires_after == 0 and not queue.used:
            queue.used = True
            self.log.append_change(Change(Change.CONSUMED, queue.name))

    def pause(self, name: bytes, paused: bool) -> None:
        """Stop or resume deliveries from the queue; it still accepts messages. Survives a restart."""
        queue = self._existing(name)
        if queue.consumers.paused != paused:
            self.log.append_change(Change(Change.PAUSED, name, number=1 if paused else 0))
            queue.pause(paused)
            queue.pump()

    def purge(self, name: bytes, before_offset: int, limit: int) -> int:
        """Drop up to `limit` ready messages with offsets below `before_offset`, from the front; returns how many."""
        return self._existing(name).purge(before_offset, limit)

    def delete(self, name: bytes) -> bool:
        """Delete the queue with its bindings, messages and consumers; False when it does not exist."""
        queue = self.queues.get(name)
        if queue is None:
            return False
        self.context.work += QUEUE_WORK
        self._pay_for_bindings(queue)
        self.log.append_change(Change(Change.DELETED, name))
        self.unmake_queue(name)
        self._stop_expiry(name)
        self.gone.add(queue)
        queue.clear()
        return True

    # -- consumers --------------------------------------------------------------------------------------------------

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
        self._stop_expiry(name)
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
            self._start_expiry(queue, now)

    def _start_expiry(self, queue: Queue, now: int) -> None:
        if queue.expires_after <= 0:
            self.delete(queue.name)
        else:
            self._delete_unused_at(queue, now + queue.expires_after)

    def _delete_unused_at(self, queue: Queue, when: int) -> None:
        """Delete the queue at that time, unless it has a consumer by then."""

        def delete(now: int) -> None:
            if queue.consumer_count() == 0:
                self.delete(queue.name)

        expiry = self._expiries[queue.name] = Timer(delete)
        self.deadlines.set(expiry, when)

    def expect_consumers(self, now: int) -> None:
        """After a restart: give consumers time to reconnect before unused queues expire.

        A queue that is deleted with its last consumer, and never had one, waits for its first.
        """
        self.set_time(now)
        for queue in list(self.queues.values()):
            if (queue.expires_after > 0 or queue.used) and queue.consumer_count() == 0:
                self._delete_unused_at(queue, now + max(queue.expires_after, RETURN_TIME))

    def return_lost(self, now: int) -> None:
        """After a restart, once policies are set: return messages that were unacked with one more try, or give them up.

        So a message that crashes the broker is not retried for ever. This is logged, so the next start does not count
        it again.
        """
        self.set_time(now)
        lost = self.lost
        self.lost = []
        for found in lost:
            if self.queues.get(found.queue.name) is found.queue:
                found.queue.return_lost(found.offsets, found.count)

    def _stop_expiry(self, name: bytes) -> None:
        expiry = self._expiries.pop(name, None)
        if expiry is not None:
            self.deadlines.cancel(expiry)

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

    # -- settlements ------------------------------------------------------------------------------------------------

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

    # -- redrive, move, copy ----------------------------------------------------------------------------------------

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
        queue = self._existing(name)
        if to and to not in self.queues and not dry_run:
            self._check_new(to)
        return Redrive(self, queue, limit, to, may_go, dry_run)

    def step_redrive(self, redrive: Redrive, now: int) -> bool:
        """Process the next messages of a redrive; True when it is finished."""
        self.set_time(now)
        return redrive.step(now)

    def send_back(self, message: Message, to: bytes, now: int) -> None:
        """Put a dead letter that `Redrive` has found into another queue.

        Raises Refused when that queue is full or cannot be created. A full queue gives up nothing for it, whatever its
        policy says: that would trade one dead letter for another.
        """
        sent = revived(message, to, now)
        target = self.declare(to)
        if target.full:
            raise self._full(target)
        self.take_in(sent, [target])

    def move(self, name: bytes, offsets: set[int], to: bytes, now: int) -> int:
        """Move the ready messages with these offsets to another queue, with their headers; returns how many were moved.

        This searches the whole queue; `move_places` does not.
        """
        return self.move_places(name, self._existing(name).backlog.places_of(offsets), to, now)

    def move_places(self, name: bytes, places: list[SortKey], to: bytes, now: int) -> int:
        """Move the ready messages at these places, which are sorted, to another queue; returns how many were moved.

        Stops early when that queue is full. Messages that are no longer ready are skipped.
        """
        self.set_time(now)
        queue = self._existing(name)
        target = self._target_of(to)
        moved = 0
        is_full = False
        kept: list[Item] = []
        for item in queue.take_out(places):
            message = message_of(item)
            is_full = is_full or (target.full and not target.make_room())
            if is_full or message.revoked:
                kept.append(item)
                continue
            self._put_copy(message, target, now)
            queue.moved(item)
            moved += 1
        queue.put_back(kept)
        queue.pump()
        if is_full and not moved:
            raise self._full(target)
        return moved

    def copy(self, messages: list[Message], to: bytes, now: int) -> int:
        """Put copies of the messages into a queue; returns how many. Stops early when the queue is full."""
        self.set_time(now)
        target = self._target_of(to)
        copied = 0
        for message in messages:
            if target.full and not target.make_room():
                if not copied:
                    raise self._full(target)
                break
            self._put_copy(message, target, now)
            copied += 1
        return copied

    def _target_of(self, name: bytes) -> Queue:
        if self.refuse_reason:
            raise Refused(DISK_FULL, self.refuse_reason)
        return self.declare(name)

    def _put_copy(self, message: Message, target: Queue, now: int) -> None:
        headers = message.headers
        sent = sent_on(message, {} if headers is None else headers, target.name, now)
        self.take_in(sent, [target])

    def redrive_targets(self, name: bytes, limit: int, to: bytes) -> dict[bytes, int]:
        """Dry run of `redrive`: how many messages would go to each queue. Those that would stay are not counted."""
        redrive = self.start_redrive(name, limit, to, self.context.now, None, dry_run=True)
        while not self.step_redrive(redrive, self.context.now):
            pass
        return redrive.targets

    def _existing(self, name: bytes) -> Queue:
        queue = self.queues.get(name)
        if queue is None:
            raise Refused(NOT_FOUND, f"there is no queue {name!r}")
        return queue

    # -- time and counters ------------------------------------------------------------------------------------------

    def set_time(self, now: int) -> None:
        """Set the current time for the calls that follow. This alone triggers nothing."""
        self.context.now = now

    def tick(self, now: int) -> None:
        """Run due timers, up to the work limit of one turn; `deadlines` knows whether any are left."""
        self.context.now = now
        self.context.begin_turn(self.log.read_bytes, self.log.tuning.read_at_once)
        self.context.publisher = NO_HOLDER
        self._tick_end = self.context.work + self.log.tuning.tick_work
        self.deadlines.run(now, self._has_ticked_enough)
        if self.context.work >= self._tick_end and not self.context.busy_for:
            self.context.busy_for = SOMEBODY

    def _has_ticked_enough(self, fired: int) -> bool:
        return self.context.work + fired * TIMER_WORK >= self._tick_end

    def end_turn(self) -> None:
        """Check the queues touched in this turn before their changes become a block of the log.

        Also tells the log which of their messages are unacked.
        """
        self.context.begin_turn(self.log.read_bytes, self.log.tuning.read_at_once)
        touched = self.context.touched
        if touched:
            self.context.touched = []
            for queue in touched:
                queue.touched = False
                if not queue.is_warm and self.queues.get(queue.name) is queue:
                    self.context.warm_up(queue)
                queue.tell_out()
                wrong = violations(queue)
                if wrong:
                    raise Inconsistent(f"{queue!r}: {wrong}")

    def fail(self, verb: str, about: str, error: Exception) -> None:
        """Mark the state as untrusted; `core.guarded` defines what a running node does about it."""
        self.is_broken = True

    @property
    def alarms(self) -> list[Alarm]:
        """Alarms for the operator. Whoever reports them empties the list."""
        return self.context.alarms

    def queued(self) -> int:
        """Total copies of messages ever added to queues."""
        return self.gone.queued + sum([queue.queued for queue in self.queues.values()])

    def delivered(self) -> int:
        """Total deliveries ever made, redeliveries included."""
        return self.gone.delivered + sum([queue.delivered for queue in self.queues.values()])

    def owed_ranges(self) -> list[tuple[int, int]]:
        """Offsets that queues owe, as (smallest, largest) of ranges, which may contain other offsets too."""
        ranges: list[tuple[int, int]] = []
        for queue in self.queues.values():
            queue.add_owed_ranges(ranges)
        return ranges

    def free_memory(self) -> int:
        """Release messages that the log can give back, a few queues at a time, down to a quarter of the limit.

        Returns the bytes freed.
        """
        return self.context.free_memory()

    def expiring(self) -> int:
        """How many queues are deleted when unused."""
        return sum([1 for queue in self.queues.values() if queue.expires_after != NEVER])

    def _full(self, queue: Queue) -> Refused:
        self.refused += 1
        policy = queue.policy
        return Refused(
            OVER_LIMIT,
            f"queue {queue.name!r} is full with {queue.length()} messages, {queue.size()} bytes: "
            f"{policy.length_name} is {policy.length_max}, {policy.bytes_name} is {policy.bytes_max}",
        )

    def _check_requests(self, message: Message) -> None:
        """Check that the request fits. One request is always accepted, however large."""
        waiting = self._awaiting_bytes
        holder = self.context.publisher
        if waiting.taken and not waiting.has_room(holder, message.size):
            self.refused += 1
            why = waiting.why_full(holder, "bytes of requests that wait for their reply")
            raise Refused(OVER_LIMIT, f"{why}: a quarter of memory_bytes_max is kept for them")

    def hold_memory(self, is_short: bool) -> None:
        """Refuse messages while memory is short, for publishers that cannot be made to wait; False ends it.

        Consumers continue and dead letters are accepted: that is what frees memory.
        """
        self._is_short = is_short
        self._body_size_max = -1 if is_short or self.refuse_reason else self.limits.body_size_max

    def _not_taken(self, message: Message) -> Refused:
        if self.refuse_reason:
            self.refused += 1
            return Refused(DISK_FULL, self.refuse_reason)
        if self._is_short:
            self.refused += 1
            return Refused(
                OVER_LIMIT,
                f"queues and consumers hold {self.context.bytes} bytes: "
                f"memory_bytes_max is {self.limits.memory_bytes_max}, and this connection has messages to settle first",
            )
        return Refused(TOO_LARGE, f"body of {len(message.body)} bytes: body_size_max is {self.limits.body_size_max}")


def size_in_log(message: Message) -> int:
    """An upper bound of a message's bytes in a block: each byte of a header may be escaped to six."""
    size = len(message.id) + len(message.body)
    if message.headers is not None:
        for name, value in message.headers.items():
            size += 6 * (len(name) + len(value) + 1)
    return size
