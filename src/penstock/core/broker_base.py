"""The queues of a broker, its clock and its counters: everything but the messages' way through it.

`Broker` adds publishing, consuming and settling.
"""

from typing import Final

from penstock.core.context import Alarm, BrokerContext
from penstock.core.counts import Counts
from penstock.core.deadletter_queues import DeadLetterQueues
from penstock.core.deadlines import Deadlines
from penstock.core.dedup import Dedup, key_of
from penstock.core.invariants import Inconsistent, violations
from penstock.core.limits import Limits
from penstock.core.patterns import canonical
from penstock.core.places import GREED_OF_ONE, NO_HOLDER, Places
from penstock.core.policy import Policies, Rule
from penstock.core.queue import NEVER, Queue
from penstock.core.requests import Requests
from penstock.core.routing import Routing
from penstock.core.unused_queues import UnusedQueues
from penstock.core.writers import Writers
from penstock.errors import DISK_FULL, NOT_FOUND, OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.interface import Change, Log
from penstock.message import REPLY_PREFIX, Message

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
TIMER_WORK: Final = 2

SOMEBODY: Final = "somebody"  # neither a user nor an address


class Lost:
    """Messages that were unacked when the broker died: their offsets, all among the first `count` the queue owes."""

    def __init__(self, queue: Queue, offsets: set[int], count: int) -> None:
        self.queue = queue
        self.offsets = offsets
        self.count = count


class BrokerBase:
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
        self.policies = Policies([], limits)
        ids_bytes_max = max(limits.memory_bytes_max // DEDUP_PART, DEDUP_BYTES_LEAST)
        self.dedup = Dedup(limits.dedup_ids_max, log.tuning.id_page_length, ids_bytes_max)
        self.deduplicated = 0  # publishes dropped as duplicates
        self.published = 0  # publishes, routed to a queue or not
        self.unrouted = 0  # publishes that matched no queue
        self.refused = 0  # publishes refused because a queue, the memory or the disk was full
        self.refuse_reason = ""  # why publishes are refused at present
        self._is_short = False  # publishes are refused because memory is short
        self.body_size_max = limits.body_size_max  # -1 while publishes are refused, so one comparison checks both
        self.gone = Counts()  # totals of deleted queues
        self.writers = Writers(limits)
        self.lost: list[Lost] = []  # unacked when the previous process died
        self.is_broken = False  # the state cannot be trusted: no further turn may end
        self.dedups = False  # a policy deduplicates, so every publish has to be checked
        self.unused = UnusedQueues(self.deadlines, self.delete)
        self.requests = Requests(limits.requests_bytes_max)
        self._tick_end = 0  # the value of `context.work` at which a tick stops

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

    # -- queues -------------------------------------------------------------------------------------------------------

    def declare(self, name: bytes) -> Queue:
        """The queue of that name, created if needed."""
        queue = self.queues.get(name)
        if queue is not None:
            return queue
        self.check_new(name)
        queue = self.make_queue(name)
        self.context.work += QUEUE_WORK
        self.log.append_change(Change(Change.DECLARED, name))
        return queue

    def existing(self, name: bytes) -> Queue:
        queue = self.queues.get(name)
        if queue is None:
            raise Refused(NOT_FOUND, f"there is no queue {name!r}")
        return queue

    def check_new(self, name: bytes, more: int = 1) -> None:
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
        return not (name.startswith(REPLY_PREFIX) and name[len(REPLY_PREFIX) :] in self.requests.waiting)

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
            self.routing.check_event(event, limits.queues_per_event_max, self.queues.get(name))
        if patterns:
            patterns = tuple(dict.fromkeys([canonical(pattern) for pattern in patterns]))
        self.routing.check_bindings(self.queues.get(name), events, patterns, self.context.publisher)
        queue = self.declare(name)
        if queue.events != events or queue.patterns != patterns:
            self._pay_for_bindings(queue)
            self.routing.bind(queue, events, patterns, self.context.publisher)
            self.log.append_change(Change(Change.BOUND, name, names=queue.events, patterns=queue.patterns))

    def _pay_for_bindings(self, queue: Queue) -> None:
        """Count the work of removing the queue's current bindings."""
        self.context.work += BINDING_WORK * len(queue.events) + PATTERN_WORK * len(queue.patterns)

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
            self.unused.stop(name)
            if queue.consumer_count():
                self._note_use(queue)
            elif after > 0:
                self.unused.start(queue, self.context.now)

    def _note_use(self, queue: Queue) -> None:
        """Log the first consumer of a queue that is deleted with its last one: a restart must know that it had one."""
        if queue.expires_after == 0 and not queue.used:
            queue.used = True
            self.log.append_change(Change(Change.CONSUMED, queue.name))

    def pause(self, name: bytes, paused: bool) -> None:
        """Stop or resume deliveries from the queue; it still accepts messages. Survives a restart."""
        queue = self.existing(name)
        if queue.consumers.paused != paused:
            self.log.append_change(Change(Change.PAUSED, name, number=1 if paused else 0))
            queue.pause(paused)
            queue.pump()

    def purge(self, name: bytes, before_offset: int, limit: int) -> int:
        """Drop up to `limit` ready messages with offsets below `before_offset`, from the front; returns how many."""
        return self.existing(name).purge(before_offset, limit)

    def delete(self, name: bytes) -> bool:
        """Delete the queue with its bindings, messages and consumers; False when it does not exist."""
        queue = self.queues.get(name)
        if queue is None:
            return False
        self.context.work += QUEUE_WORK
        self._pay_for_bindings(queue)
        self.log.append_change(Change(Change.DELETED, name))
        self.unmake_queue(name)
        self.unused.stop(name)
        self.gone.add(queue)
        queue.clear()
        return True

    # -- after a restart ----------------------------------------------------------------------------------------------

    def expect_consumers(self, now: int) -> None:
        """After a restart: give consumers time to reconnect before unused queues expire."""
        self.set_time(now)
        for queue in list(self.queues.values()):
            self.unused.expect_consumer(queue, now)

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

    # -- refusing messages --------------------------------------------------------------------------------------------

    def shut(self, because: str) -> None:
        """Refuse messages until `reopen`. Everything else continues: settling messages is what frees space."""
        self.refuse_reason = because
        self.body_size_max = -1

    def reopen(self) -> None:
        self.refuse_reason = ""
        self.hold_memory(self._is_short)

    def hold_memory(self, is_short: bool) -> None:
        """Refuse messages while memory is short, for publishers that cannot be made to wait; False ends it.

        Consumers continue and dead letters are accepted: that is what frees memory.
        """
        self._is_short = is_short
        self.body_size_max = -1 if is_short or self.refuse_reason else self.limits.body_size_max

    def full_error(self, queue: Queue) -> Refused:
        self.refused += 1
        policy = queue.policy
        return Refused(
            OVER_LIMIT,
            f"queue {queue.name!r} is full with {queue.length()} messages, {queue.size()} bytes: "
            f"{policy.length_name} is {policy.length_max}, {policy.bytes_name} is {policy.bytes_max}",
        )

    def not_taken(self, message: Message) -> Refused:
        if self.refuse_reason:
            self.refused += 1
            return Refused(DISK_FULL, self.refuse_reason)
        if self._is_short:
            self.refused += 1
            return Refused(
                OVER_LIMIT,
                f"queues and consumers hold {self.context.bytes} bytes: memory_bytes_max is "
                f"{self.limits.memory_bytes_max}; settle the messages delivered to this connection, then try again",
            )
        return Refused(TOO_LARGE, f"body of {len(message.body)} bytes: body_size_max is {self.limits.body_size_max}")

    # -- time ---------------------------------------------------------------------------------------------------------

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

    # -- counters -----------------------------------------------------------------------------------------------------

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
