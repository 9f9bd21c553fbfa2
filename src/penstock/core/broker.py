"""The verbs. Everything that changes the broker's state enters here, runs to its end without waiting, and is logged.

The broker is a deterministic state machine: it reads no clock and makes up nothing, so the same calls with the same
times give the same state, and the log it wrote gives that state again (`core.replay`).
"""

from collections.abc import Callable
from typing import Final

from penstock.core.backlog import Item, Place, message_of
from penstock.core.deadletters import dead_letter, revived, sent_on
from penstock.core.deadlines import Deadlines, Timer
from penstock.core.dedup import Dedup, key_of
from penstock.core.invariants import Inconsistent, violations
from penstock.core.limits import DROP_OLDEST, REFUSE, Limits
from penstock.core.patterns import canonical
from penstock.core.places import GREED_OF_BYTES, GREED_OF_ONE, NOBODY, Places
from penstock.core.policy import Policies, Rule
from penstock.core.queue import BY_POLICY, NEVER, Queue
from penstock.core.redrive import Redrive, Redrives
from penstock.core.routing import Routing, cost_of_bindings
from penstock.core.subscription import Delivery, Subscription
from penstock.core.usage import Alarm, DeadLetters, Usage
from penstock.core.writers import Writers
from penstock.errors import DISK_FULL, NOT_FOUND, OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.port import Change, Log
from penstock.message import RELEASE, TO_CONSUMERS, TO_QUEUE, Message, Terms, queue_of, tell_delivered

# A reply to a request may be sent to this event or queue, followed by the request's message id, by anyone who was
# given it.
REPLY_PREFIX: Final = b"reply/"

# What a commit may be in the log, where it is one block.
COMMIT_SIZE_MAX: Final = 1 << 30
# Into how many queues its messages may go, each counted as often as it does: that is one turn.
COMMIT_COPIES_MAX: Final = 500_000

# Ids that are remembered for deduplication take this part of the memory at most, or so many bytes if that is more.
DEDUP_PART: Final = 4
DEDUP_BYTES_LEAST: Final = 1 << 20

# Which part of memory_bytes_max the bindings of all queues may take: one in this many.
BINDINGS_SHARE: Final = 4
BINDINGS_MIN: Final = 1 << 20  # they may always take this much

# Pieces of work (`usage.work`), where a plain message is one. Measured: a slice takes as long, whatever is asked for.
QUEUE_WORK: Final = 16  # to make or to delete a queue
BINDING_WORK: Final = 3  # an event that is bound, or was
PATTERN_WORK: Final = 24
SUBSCRIBE_WORK: Final = 6  # a consumer that comes or goes
DEDUP_WORK: Final = 4
TIMER_WORK: Final = 2

SOMEBODY: Final = "somebody"  # is no user and no address

# How long consumers have at least to come back after a restart, in microseconds.
RETURN_TIME: Final = 60_000_000


class QueueExpiry(Timer):
    """Deletes a queue that nobody consumed for as long as it was told to wait."""

    def __init__(self, broker: "Broker", queue: Queue) -> None:
        super().__init__()
        self.broker = broker
        self.queue = queue

    def fire(self, now: int) -> None:
        if self.queue.consumer_count() == 0:
            self.broker.delete(self.queue.name)


class Lost:
    """What was out of a queue when the broker died: these offsets, all among the first `count` that it owes."""

    def __init__(self, queue: Queue, offsets: set[int], count: int) -> None:
        self.queue = queue
        self.offsets = offsets
        self.count = count


class Counts:
    """What queues have counted."""

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
    """Puts what a queue gives up into the queue that its policy names."""

    def __init__(self, broker: "Broker") -> None:
        self.broker = broker

    def take(self, queue: Queue, message: Message, retry: int, reason: str) -> bool:
        broker = self.broker
        if broker.shut_because:
            return False
        name = queue.policy.dead_letter
        letter = dead_letter(message, queue.name, retry, reason, name, broker.usage.now)
        try:
            target = broker.declare(name)
        except Refused:
            return False
        # A dead-letter queue that is full never sends on what is in it: two of them might go on like that for ever.
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
        self.usage = Usage(self.deadlines, DeadLetterQueues(self), limits, log.tuning)
        self.usage.queues = self.queues
        self.usage.begin_turn(log.read_bytes, log.tuning.read_at_once)
        self.redrives = Redrives(self)
        self.policies = Policies([], limits)
        ids_bytes_max = max(limits.memory_bytes_max // DEDUP_PART, DEDUP_BYTES_LEAST)
        self.dedup = Dedup(limits.dedup_ids_max, log.tuning.id_page_length, ids_bytes_max)
        self.deduplicated = 0  # publishes that were there already
        self.published = 0  # publishes, wanted by a queue or not
        self.unrouted = 0  # publishes no queue wanted
        self.refused = 0  # publishes a full queue or a full disk did not take
        self.shut_because = ""  # why no message is taken in at present
        self._is_short = False  # none is taken because memory is short
        self._body_size_max = limits.body_size_max  # -1 while none is: whoever checks the one has checked the other
        self.gone = Counts()  # of queues that are gone
        self.writers = Writers(limits)
        self.lost: list[Lost] = []  # what was out when the broker died that this one goes on for
        self.is_broken = False  # its state cannot be trusted: no turn may end any more
        self.dedups = False  # by policy: any publish may have to be looked at
        self._expiries: dict[bytes, QueueExpiry] = {}
        self._awaiting: dict[bytes, Message] = {}  # requests without a reply yet, by message id
        self._tick_end = 0  # what `usage.work` is when enough was done of what is due
        # What those cost: they stay in memory, with whoever waits for them.
        self._awaiting_bytes = Places(limits.requests_bytes_max, GREED_OF_BYTES)
        self._asked_by: dict[bytes, str] = {}  # who pays for it, by message id

    # -- messages in ------------------------------------------------------------------------------------------------

    def publish(self, message: Message) -> None:
        """Give a copy to every queue that wants the event.

        Raises Refused when the body is too large or a queue is full. A full queue does not keep the message from the
        others: one consumer that has stopped must not stop the rest. Only when no queue could take it is it not logged.
        """
        if len(message.body) > self._body_size_max:
            raise self._not_taken(message)
        if message.terms is not None or self.dedups:
            self._publish_on_terms(message)
            return
        self.published += 1
        queues = self.routing.route(message)
        if self._awaiting and message.event.startswith(REPLY_PREFIX):
            # Whoever waits gets it, also where a queue takes everything there is, by an empty pattern.
            self.reply(message.event[len(REPLY_PREFIX) :], message.body)
        if queues is None:
            self.log.append(message)
            self.unrouted += 1
        elif len(queues) == 1:
            queue = queues[0]
            if queue.full and not queue.make_room():
                raise self._full(queue)
            self.log.append(message)
            queue.offer(message)
        else:
            self._fan_out(message, queues)

    def _publish_on_terms(self, message: Message) -> None:
        """The same for a message that asks for more than plain delivery, or may have been published before."""
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
        """Into the log, the deduplication and these queues. Whether it may come in was checked before.

        All messages come in here: published, put, committed, moved, copied, redriven, and dead letters. Only a message
        without terms takes a shorter way to the same end. A replay does the same with what it reads.
        """
        self.log.append(message)
        if len(queues) > 1:
            message.holders = 0
        terms = message.terms
        if terms is None:
            for queue in queues:
                queue.offer(message)
            return
        if terms.dedup_seconds:
            now = message.published_at
            self.dedup.remember(key_of(message.id, terms.owner), now + terms.dedup_seconds * 1_000_000, now)
        for queue in queues:
            queue.admit(message)

    def _is_repeated(self, message: Message, name: bytes) -> bool:
        """Whether the message was taken before, and is to be taken for the same one now."""
        self.usage.work += DEDUP_WORK
        if not self._dedup_seconds(message, name) or not self._is_known(message):
            return False
        self.deduplicated += 1
        return True

    def own(self, message: Message, owner: bytes) -> None:
        """Say whose message it is, before it is published: its id is taken for the same as another of that user's."""
        terms = message.terms
        if terms is not None:
            terms.owner = owner
        elif self.dedups:
            message.terms = Terms(owner=owner)

    def _is_known(self, message: Message) -> bool:
        """Whether its user published that id; or somebody did when users had no names, or it would come in again."""
        now = message.published_at
        terms = message.terms
        owner = b"" if terms is None else terms.owner
        if owner and self.dedup.is_known(key_of(message.id, owner), now):
            return True
        return self.dedup.is_known(key_of(message.id, b""), now)

    def _dedup_seconds(self, message: Message, name: bytes) -> int:
        """How long another one with its id is taken for the same, as it says or by policy; 0 = not at all."""
        terms = message.terms
        if self.dedups and (terms is None or not terms.dedup_seconds):
            seconds = self.policies.dedup_seconds(name)
            if seconds and terms is None:
                terms = message.terms = Terms(dedup_seconds=seconds)
            elif seconds and terms is not None:
                terms.dedup_seconds = seconds
        return 0 if terms is None else terms.dedup_seconds

    def _fan_out(self, message: Message, queues: list[Queue]) -> None:
        self.usage.work += len(queues)
        terms = message.terms
        # A message that will be sent again goes to all of its queues or to none: the second time it would go to none.
        all_or_none = terms is not None and terms.dedup_seconds > 0
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
        """Give the message to one queue, which comes to be if it was not there.

        A message with a requester is a request: who takes it may `reply`.
        """
        if len(message.body) > self._body_size_max:
            raise self._not_taken(message)
        if (message.terms is not None or self.dedups) and self._is_repeated(message, name):
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
            self._asked_by[message.id] = self.usage.publisher
            self._awaiting_bytes.enter(self.usage.publisher, message.size)
        if message.terms is None:
            self.log.append(message)
            queue.offer(message)
        else:
            self.take_in(message, [queue])

    def broadcast(self, name: bytes, message: Message) -> int:
        """Give the message to everyone who consumes the queue right now; nobody keeps it. Returns to how many."""
        if len(message.body) > self._body_size_max:
            raise self._not_taken(message)
        if (message.terms is not None or self.dedups) and self._is_repeated(message, name):
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
        """Hand a reply to whoever sent the request; False when nobody waits for it."""
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
        """Nobody waits for the reply any more; with `revoke` the request itself is not to be done either."""
        if self._awaiting.pop(message.id, None) is not None:
            self._awaiting_bytes.leave(self._asked_by.pop(message.id), message.size)
        message.requester = None
        if revoke and not message.revoked:
            message.revoked = True
            queue = self.queues.get(message.event)
            if queue is not None:
                queue.count_revoked(message)

    def shut(self, because: str) -> None:
        """Take in no more messages until `reopen`. All else goes on: to settle what is there is what makes room."""
        self.shut_because = because
        self._body_size_max = -1

    def reopen(self) -> None:
        self.shut_because = ""
        self.hold_memory(self._is_short)

    def commit(self, writer: bytes, batch: int, messages: list[Message]) -> bool:
        """Publish all of the messages at once, as a writer's batch; False when the batch was committed before.

        A batch with a number that is not above the writer's last one was. All of it is in the log or nothing, whenever
        the process ends. Raises Refused when a queue is full; one that is not takes all there is, whatever its limits.
        A message that was taken before by its id, or earlier in the batch, is left out; `offset` of the others is set.
        """
        if batch <= self.committed.get(writer, -1):
            return False
        for idle in self.writers.idle(self.usage.now):
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
        log.changed(Change(Change.COMMITTED, writer, number=batch, at=self.usage.now))
        self.writers.remember(writer, batch, self.usage.now)
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
        """What of a batch is to be taken, and where it goes by event. Changes nothing; raises Refused."""
        taken: list[Message] = []
        routes: list[list[Queue]] = []
        known: dict[bytes, int] = {}  # ids of this batch, and until when they are remembered
        made: set[bytes] = set()  # queues that would come to be
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
        """By writer, the number of its last batch; the last to write is last."""
        return self.writers.batches

    def forget_writer(self, writer: bytes) -> bool:
        """The writer commits no more, or has not for too long: its last batch is not remembered. False if none was."""
        if not self.writers.forget(writer):
            return False
        self.log.changed(Change(Change.FORGOTTEN, writer))
        return True

    # -- queues -----------------------------------------------------------------------------------------------------

    def declare(self, name: bytes) -> Queue:
        """The queue of that name, made if it was not there."""
        queue = self.queues.get(name)
        if queue is not None:
            return queue
        self._check_new(name)
        queue = self.make_queue(name)
        self.usage.work += QUEUE_WORK
        self.log.changed(Change(Change.DECLARED, name))
        return queue

    def _check_new(self, name: bytes, more: int = 1) -> None:
        """Whether a queue of that name may be made, as one of so many. Raises Refused."""
        limits = self.limits
        if len(name) > limits.name_size_max:
            raise Refused(TOO_LARGE, f"queue name of {len(name)} bytes: name_size_max is {limits.name_size_max}")
        places = self._queue_places
        if not places.has_room(self.usage.publisher, more):
            why = places.why_full(self.usage.publisher, "queues")
            raise Refused(OVER_LIMIT, f"{why}: queues_max is {limits.queues_max}")

    def would_make(self, name: bytes) -> bool:
        """Whether a message put into the queue would make it; one that replies to a request would not."""
        if name in self.queues:
            return False
        return not (name.startswith(REPLY_PREFIX) and name[len(REPLY_PREFIX) :] in self._awaiting)

    def make_queue(self, name: bytes) -> Queue:
        """A queue that the log knows of."""
        queue = Queue(name, self.log, self.policies.of(name), self.usage)
        queue.made_by = self.usage.publisher
        self._queue_places.enter(queue.made_by)
        self.queues[name] = queue
        self.usage.warm_up(queue)
        return queue

    def unmake_queue(self, name: bytes) -> None:
        """Take the queue away, and its bindings."""
        queue = self.queues.pop(name)
        self._queue_places.leave(queue.made_by)
        self.routing.unbind(queue)
        self.usage.forget(queue)

    def set_policies(self, rules: list[Rule]) -> None:
        """Let these rules hold, in place of those before, for the queues there are and those to come."""
        self.policies = Policies(rules, self.limits)
        self.dedups = self.policies.has_dedup
        for queue in list(self.queues.values()):
            queue.obey(self.policies.of(queue.name))

    def bind(self, name: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...] = ()) -> None:
        """Make these the bindings of the queue, in place of what it had. Patterns are texts of JSON objects."""
        limits = self.limits
        self.usage.work += BINDING_WORK * len(events) + PATTERN_WORK * len(patterns)
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
            self.routing.bind(queue, events, patterns, self.usage.publisher)
            self.log.changed(Change(Change.BOUND, name, names=queue.events, patterns=queue.patterns))

    def _check_event(self, name: bytes, event: bytes) -> None:
        """Whether one more queue may be bound to the event. Raises Refused."""
        most = self.limits.queues_per_event_max
        bound = self.routing.by_event.get(event)
        if bound is None or len(bound) < most:
            return
        queue = self.queues.get(name)
        if queue is None or event not in queue.events:
            raise Refused(OVER_LIMIT, f"event {event!r} goes to {len(bound)} queues: {most} can be bound to one event")

    def _pay_for_bindings(self, queue: Queue) -> None:
        """What it had is taken out of the routes."""
        self.usage.work += BINDING_WORK * len(queue.events) + PATTERN_WORK * len(queue.patterns)

    def _check_bindings(self, name: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> None:
        """Bindings are always in memory, so all of them together have a share of it and no more."""
        bound = self.queues.get(name)
        added = cost_of_bindings(events, patterns)
        removed = 0 if bound is None else cost_of_bindings(bound.events, bound.patterns)
        costs = self.routing.costs
        holder = self.usage.publisher
        if added > removed and not costs.has_room(holder, added - removed):
            why = costs.why_full(holder, "bytes of bindings")
            raise Refused(OVER_LIMIT, f"bindings of {added} bytes, and {why}, by memory_bytes_max")

    def expire(self, name: bytes, after: int) -> None:
        """Delete the queue `after` microseconds without a consumer; NEVER keeps it.

        Where there is no consumer, that time begins now. With 0 it is deleted when its last consumer leaves, and not
        before one has come.
        """
        queue = self.declare(name)
        if queue.expires_after != after:
            queue.expires_after = after
            queue.used = False
            self.log.changed(Change(Change.EXPIRES, name, number=after))
            self._stop_expiry(name)
            if queue.consumer_count():
                self._note_use(queue)
            elif after > 0:
                self._start_expiry(queue, self.usage.now)

    def _note_use(self, queue: Queue) -> None:
        """A queue that goes with its last consumer has one: a restart must know that it is to go."""
        if queue.expires_after == 0 and not queue.used:
            queue.used = True
            self.log.changed(Change(Change.CONSUMED, queue.name))

    def pause(self, name: bytes, paused: bool) -> None:
        """Let the queue take messages in and give none out, or let it give out again; also after a restart."""
        queue = self._existing(name)
        if queue.paused != paused:
            self.log.changed(Change(Change.PAUSED, name, number=1 if paused else 0))
            queue.pause(paused)
            queue.pump()

    def purge(self, name: bytes, bound: int, limit: int) -> int:
        """Drop up to `limit` ready messages from before an offset, the first ones first; how many."""
        return self._existing(name).purge(bound, limit)

    def delete(self, name: bytes) -> bool:
        """Delete the queue with its bindings, messages and consumers; False when it was not there."""
        queue = self.queues.get(name)
        if queue is None:
            return False
        self.usage.work += QUEUE_WORK
        self._pay_for_bindings(queue)
        self.log.changed(Change(Change.DELETED, name))
        self.unmake_queue(name)
        self._stop_expiry(name)
        self.gone.add(queue)
        queue.clear()
        return True

    # -- consumers --------------------------------------------------------------------------------------------------

    def subscribe(self, name: bytes, subscription: Subscription, instead_of: Subscription | None, now: int) -> Queue:
        """Start a consumer of the queue, which comes to be if it was not there.

        `instead_of` is a consumer that this one replaces: what that one held comes to this one, in order, and the queue
        is never without a consumer in between.
        """
        self.set_time(now)
        self.usage.work += SUBSCRIBE_WORK
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
        """End a consumer; what it held goes back to its place. Ending one that has ended already does nothing."""
        queue = subscription.queue
        if queue is None:
            return
        self.set_time(now)
        self.usage.work += SUBSCRIBE_WORK
        queue.detach(subscription)
        queue.pump()
        if queue.consumer_count() == 0 and queue.expires_after != NEVER:
            self._start_expiry(queue, now)

    def _start_expiry(self, queue: Queue, now: int) -> None:
        if queue.expires_after <= 0:
            self.delete(queue.name)
        else:
            expiry = QueueExpiry(self, queue)
            self._expiries[queue.name] = expiry
            self.deadlines.set(expiry, now + queue.expires_after)

    def expect_consumers(self, now: int) -> None:
        """After a restart: queues that go when they are unused wait for their consumers to come back first.

        One that goes with its last consumer and never had any waits for its first.
        """
        self.set_time(now)
        for queue in list(self.queues.values()):
            if (queue.expires_after > 0 or queue.used) and queue.consumer_count() == 0:
                expiry = QueueExpiry(self, queue)
                self._expiries[queue.name] = expiry
                self.deadlines.set(expiry, now + max(queue.expires_after, RETURN_TIME))

    def return_lost(self, now: int) -> None:
        """After a restart, once policies hold: what was out comes back with one more try, or is given up.

        So a message that kills its broker is not tried for ever. It is logged, and not counted again by the next start.
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
        """Give this consumer nothing until it is resumed."""
        subscription.suspended = True
        if subscription.queue is not None:
            subscription.queue.reconsider(subscription)

    def resume(self, subscription: Subscription) -> None:
        queue = subscription.queue
        if subscription.suspended and queue is not None:
            subscription.suspended = False
            queue.reconsider(subscription)
            queue.pump()

    def allow(self, subscription: Subscription, credit: int) -> None:
        """Let a consumer have so many deliveries open at once."""
        subscription.credit = credit
        queue = subscription.queue
        if queue is not None:
            queue.reconsider(subscription)
            queue.pump()

    def allow_bytes(self, subscription: Subscription, bytes_credit: int) -> None:
        """Let a consumer have so many bytes open at once; with 1 it is given a message when it holds none."""
        subscription.bytes_credit = bytes_credit
        queue = subscription.queue
        if queue is not None:
            queue.reconsider(subscription)
            queue.pump()

    def get(self, name: bytes) -> Message | None:
        """Take the first ready message for good, unless others wait in line, or one has the queue to itself."""
        queue = self.declare(name)
        if queue.waiting or queue.paused or queue.leaving or queue.is_reserved():
            return None
        return queue.take()

    # -- settlements ------------------------------------------------------------------------------------------------

    def accept(self, delivery: Delivery) -> None:
        """The consumer has done its work."""
        subscription = delivery.subscription
        queue = subscription.queue
        if delivery.open and queue is not None:
            queue.accept(delivery)
            message = delivery.message
            if message is not None and message.requester is not None:
                tell_delivered(message)
            self._after_settling(queue, subscription)

    def reject(self, delivery: Delivery, due_at: int = BY_POLICY) -> None:
        """The consumer could not do it: to the back of the queue with one more try on its counter.

        It is tried again when `due_at` has come; 0 is at once.
        """
        subscription = delivery.subscription
        queue = subscription.queue
        if delivery.open and queue is not None:
            queue.reject(delivery, due_at)
            self._after_settling(queue, subscription)

    def bury(self, delivery: Delivery) -> None:
        """The consumer knows that nobody can do it: to the dead-letter queue, or gone where there is none."""
        subscription = delivery.subscription
        queue = subscription.queue
        if delivery.open and queue is not None:
            queue.bury(delivery)
            self._after_settling(queue, subscription)

    def release(self, delivery: Delivery) -> None:
        """The consumer never got to see it: back to its place, as if it had not been given."""
        subscription = delivery.subscription
        queue = subscription.queue
        if delivery.open and queue is not None:
            queue.take_back([delivery], RELEASE)
            self._after_settling(queue, subscription)

    def _after_settling(self, queue: Queue, subscription: Subscription) -> None:
        if not subscription.waiting:
            queue.reconsider(subscription)
        if queue.ready:
            queue.pump()

    # -- dead letters come back -------------------------------------------------------------------------------------

    def redrive(
        self, name: bytes, limit: int, to: bytes, now: int, may_go: Callable[[bytes], bool] | None = None
    ) -> int:
        """Move up to `limit` ready dead letters back to the queues they died in, or to `to`; how many were moved.

        All of it in one go, however long the queue is: `start_redrive` is for those who have others to serve.
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
        """A redrive that is done by `step_redrive`, some at a time. Raises Refused when there can be none."""
        self.set_time(now)
        if self.shut_because and not dry_run:
            raise Refused(DISK_FULL, self.shut_because)
        queue = self._existing(name)
        if to and to not in self.queues and not dry_run:
            self._check_new(to)
        return Redrive(self, queue, limit, to, may_go, dry_run)

    def step_redrive(self, redrive: Redrive, now: int) -> bool:
        """Look at the next messages of a redrive and move those that go; True when that was all."""
        self.set_time(now)
        return redrive.step(now)

    def send_back(self, message: Message, to: bytes, now: int) -> None:
        """Put a dead letter that `Redrive` has found into another queue.

        Raises Refused when that is full, or cannot be made. A full one gives up nothing for it, whatever its policy
        says: that would be one dead letter for another.
        """
        sent = revived(message, to, now)
        target = self.declare(to)
        if target.full:
            raise self._full(target)
        self.take_in(sent, [target])

    def move(self, name: bytes, offsets: set[int], to: bytes, now: int) -> int:
        """Move the ready messages with these offsets to another queue, with their headers; how many were moved.

        All of the queue is looked at for them: whoever knows their places says those.
        """
        return self.move_places(name, self._existing(name).backlog.places_of(offsets), to, now)

    def move_places(self, name: bytes, places: list[Place], to: bytes, now: int) -> int:
        """Move the ready messages at these places, which are in order, to another queue; how many were moved.

        It ends early where that queue is full. What is not ready any more stays where it is.
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
        """Put copies of the messages into a queue; how many. It ends early where the queue is full."""
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
        if self.shut_because:
            raise Refused(DISK_FULL, self.shut_because)
        return self.declare(name)

    def _put_copy(self, message: Message, target: Queue, now: int) -> None:
        headers = message.headers
        sent = sent_on(message, {} if headers is None else headers, target.name, now)
        self.take_in(sent, [target])

    def redrive_targets(self, name: bytes, limit: int, to: bytes) -> dict[bytes, int]:
        """What `redrive` would do: how many messages would go to which queue. What would stay is not counted."""
        redrive = self.start_redrive(name, limit, to, self.usage.now, None, dry_run=True)
        while not self.step_redrive(redrive, self.usage.now):
            pass
        return redrive.targets

    def _existing(self, name: bytes) -> Queue:
        queue = self.queues.get(name)
        if queue is None:
            raise Refused(NOT_FOUND, f"there is no queue {name!r}")
        return queue

    # -- time and numbers -------------------------------------------------------------------------------------------

    def set_time(self, now: int) -> None:
        """Say what time it is for what follows. Nothing happens by that alone."""
        self.usage.now = now

    def tick(self, now: int) -> None:
        """Do what is due by now, as far as there is time for it in a turn; `deadlines` knows whether that was all."""
        self.usage.now = now
        self.usage.begin_turn(self.log.read_bytes, self.log.tuning.read_at_once)
        self.usage.publisher = NOBODY
        self._tick_end = self.usage.work + self.log.tuning.tick_work
        self.deadlines.run(now, self._has_ticked_enough)
        if self.usage.work >= self._tick_end and not self.usage.busy_for:
            self.usage.busy_for = SOMEBODY

    def _has_ticked_enough(self, fired: int) -> bool:
        return self.usage.work + fired * TIMER_WORK >= self._tick_end

    def end_turn(self) -> None:
        """Check the queues that were touched in this turn, before what they did becomes a block of the log.

        And tell the log what is out of them.
        """
        self.usage.begin_turn(self.log.read_bytes, self.log.tuning.read_at_once)
        touched = self.usage.touched
        if touched:
            self.usage.touched = []
            for queue in touched:
                queue.touched = False
                if not queue.is_warm and self.queues.get(queue.name) is queue:
                    self.usage.warm_up(queue)
                queue.tell_out()
                wrong = violations(queue)
                if wrong:
                    raise Inconsistent(f"{queue!r}: {wrong}")

    def fail(self, verb: str, about: str, error: Exception) -> None:
        """The state cannot be trusted any more; `core.guarded` says what a running node does about it."""
        self.is_broken = True

    @property
    def alarms(self) -> list[Alarm]:
        """What people should hear of. Whoever tells them empties it."""
        return self.usage.alarms

    def queued(self) -> int:
        """Copies of messages that ever went into a queue."""
        return self.gone.queued + sum([queue.queued for queue in self.queues.values()])

    def delivered(self) -> int:
        """Deliveries that ever went out, redeliveries included."""
        return self.gone.delivered + sum([queue.delivered for queue in self.queues.values()])

    def owed_ranges(self) -> list[tuple[int, int]]:
        """Offsets that queues owe, as (smallest, largest) of stretches; there may be others in between."""
        ranges: list[tuple[int, int]] = []
        for queue in self.queues.values():
            queue.add_owed_ranges(ranges)
        return ranges

    def free_memory(self) -> int:
        """Let go of what the log can give back, of some queues at a time, down to a quarter of the limit; how much."""
        return self.usage.free_memory()

    def expiring(self) -> int:
        """How many queues go away when they are unused."""
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
        """One request is always taken, however large."""
        waiting = self._awaiting_bytes
        holder = self.usage.publisher
        if waiting.taken and not waiting.has_room(holder, message.size):
            self.refused += 1
            why = waiting.why_full(holder, "bytes of requests that wait for their reply")
            raise Refused(OVER_LIMIT, f"{why}: a quarter of memory_bytes_max is kept for them")

    def hold_memory(self, is_short: bool) -> None:
        """Take no message in until this is said again with False: memory is short, and whoever publishes cannot wait.

        What consumers do goes on, and dead letters are taken: that is what makes room.
        """
        self._is_short = is_short
        self._body_size_max = -1 if is_short or self.shut_because else self.limits.body_size_max

    def _not_taken(self, message: Message) -> Refused:
        if self.shut_because:
            self.refused += 1
            return Refused(DISK_FULL, self.shut_because)
        if self._is_short:
            self.refused += 1
            return Refused(
                OVER_LIMIT,
                f"queues and consumers hold {self.usage.bytes} bytes: "
                f"memory_bytes_max is {self.limits.memory_bytes_max}, and this connection has messages to settle first",
            )
        return Refused(TOO_LARGE, f"body of {len(message.body)} bytes: body_size_max is {self.limits.body_size_max}")


def size_in_log(message: Message) -> int:
    """How many bytes a message has in a block, at most: of a header each byte may be written as six."""
    size = len(message.id) + len(message.body)
    if message.headers is not None:
        for name, value in message.headers.items():
            size += 6 * (len(name) + len(value) + 1)
    return size
