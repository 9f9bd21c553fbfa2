"""Rebuilds a broker's state from its log.

A log contains no consumers and no single deliveries, only accepted messages, how they ended, and per turn the place up
to which all that a queue owes was delivered. So a replay keeps the offsets that each queue owes, applies the entries to
them, and at the end hands them to a new broker, whose queues page the messages in on demand. It never lets a queue
expire: whether it is unused is only known once consumers had a chance to reconnect.
"""

from collections.abc import Iterable

from penstock.core.broker import Broker
from penstock.core.broker_base import Lost
from penstock.core.dedup import key_of
from penstock.core.delivery import Delivery, Item
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.core.owed import Owed
from penstock.core.queue import Queue
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.interface import Change, Log
from penstock.log.snapshot import Snapshot
from penstock.log.span import Span
from penstock.message import (
    BY_EVENT,
    DUE,
    GOING_BACK,
    MESSAGE_OVERHEAD,
    OUT,
    REJECT,
    TO_QUEUE,
    UNSHARED,
    Message,
    is_delayed,
    queue_of,
)


class Replay:
    """Feed it every entry of a log in order, or those after a snapshot; then call `finish`.

    One that is kept open is a copy of the broker that writes the log. Between two blocks it tells its state and what
    the log has to keep, and can be captured, as often as needed; entries go on being applied.
    """

    def __init__(self, log: Log, limits: Limits, snapshot: Snapshot | None = None) -> None:
        self.broker = GuardedBroker(log, limits)
        self.owed: dict[bytes, Owed] = {}  # by queue
        self.next_offset = 0
        self.position = 0
        self._messages: dict[int, Message] = {}  # those that were passed to `apply` as objects, not in a block
        # Entries are missing, and the operator has accepted that: references to unknown queues and messages refer to
        # lost ones. Without a gap they are an error.
        self.has_gap = False
        if snapshot is not None:
            self._restore(snapshot)

    def _restore(self, snapshot: Snapshot) -> None:
        self.next_offset = snapshot.next_offset
        self.position = snapshot.position
        self.has_gap = snapshot.has_gap
        routing = self.broker.routing
        for image in snapshot.queues:
            queue = self._declare(image.name)
            queue.expires_after = image.expires_after
            queue.consumers.paused = image.paused
            queue.used = image.used
            routing.bind(queue, image.events, image.patterns)
            self.owed[image.name].restore(image)
        self.broker.writers.restore(snapshot.committed, snapshot.commit_times)
        self.broker.dedup.restore(snapshot.dedup)

    def apply(self, entry: Message | Change) -> None:
        self.position += 1
        if isinstance(entry, Message):
            self.next_offset = entry.offset + 1
            self._messages[entry.offset] = entry = _own(entry)
            self._route(entry, entry.size)
        elif entry.kind == Change.COMMITTED:
            self.broker.writers.remember(entry.queue, entry.number, entry.at)
        elif entry.kind == Change.FORGOTTEN:
            if not self.broker.writers.forget(entry.queue) and not self.has_gap:
                raise KeyError(entry.queue)
        elif entry.kind == Change.SETTLED:
            self._settle(entry.queue, entry.offset, entry.number, self.next_offset - 1, entry.due_at)
        else:
            self._topology(entry)

    def apply_block(self, block: Block) -> None:
        """Apply the entries of one block of a log on disk.

        Raises LogError when they do not follow from the entries before them.
        """
        if block.first_position != self.position:
            self.has_gap = True
            self.position = block.first_position
        self.next_offset = block.first_offset
        try:
            for change in block.changes():
                if not change.at:
                    change.at = block.closed_at  # a commit written by an earlier version
                self.apply(change)
            self._apply_messages(block)
            self._apply_runs(block)
        except (KeyError, IndexError) as error:
            raise LogError(f"the block at position {block.first_position} does not match the state: {error}") from error

    def _apply_messages(self, block: Block) -> None:
        """Apply runs of messages with the same route at once; decode single ones only if a pattern may match them."""
        index = 0
        if block.has_options:
            for index in range(block.message_count):
                message = block.message(index)
                self._route(message, message.size)
            index = block.message_count
        while index < block.message_count:
            offset = block.first_offset + index
            route = block.route_of(index)
            if route == BY_EVENT and self.broker.routing.has_patterns:
                message = block.message(index)
                self._route(message, message.size)
                index += 1
                continue
            end = block.end_of_alike(index)
            count = end - index
            size = block.size_of(index, end)
            if route == TO_QUEUE:
                self._owed_by(block.event_of(index)).add(offset, count, size)
            elif route == BY_EVENT:
                for queue in self.broker.routing.by_event.get(block.event_of(index), ()):
                    self.owed[queue.name].add(offset, count, size)
            index = end
        self.position += block.message_count
        self.next_offset += block.message_count

    def _apply_runs(self, block: Block) -> None:
        for run in block.runs():
            if run.how in GOING_BACK or run.how == OUT:
                for offset in range(run.first, run.first + run.count):
                    self.position += 1
                    self._settle(run.queue, offset, run.how, run.after_offset, run.due_at)
            else:
                self.position += run.count
                self._end(run.queue, run.first, run.count)

    def state(self) -> "dict[bytes, QueueState]":
        """What `durable_state` would return if the log ended here. More entries may follow."""
        found: dict[bytes, QueueState] = {}
        for name, owed in sorted(self.owed.items()):
            queue = self.broker.queues[name]
            delayed = sorted([(due_at, offset, retry) for offset, (due_at, retry, _) in owed.delayed.items()])
            found[name] = (
                queue.events,
                queue.patterns,
                queue.expires_after,
                owed.contents(),
                delayed,
                queue.consumers.paused,
            )
        return found

    def owed_ranges(self) -> list[tuple[int, int]]:
        """As `Broker.owed_ranges`: for a follower that trims its log. More entries may follow."""
        ranges: list[tuple[int, int]] = []
        for owed in self.owed.values():
            owed.add_ranges(ranges)
        return ranges

    def finish(self) -> GuardedBroker:
        """The broker as the log left it; its log continues where the entries stopped."""
        broker = self.broker
        log = broker.log
        log.next_offset = self.next_offset
        log.position = self.position
        log.durable = self.position
        for name, owed in self.owed.items():
            spans = owed.spans()
            if owed.out_before is not None:
                offsets, count = owed.lost(spans)
                if offsets:
                    broker.lost.append(Lost(broker.queues[name], offsets, count))
            if self._messages:
                broker.queues[name].restore(self._items(spans))
            else:
                broker.queues[name].restore_spans(spans)
            broker.queues[name].restore_delayed(owed.delayed_deliveries(self._messages))
            if owed.expiring:
                broker.queues[name].expect_expiry()
        broker.context.alarms.clear()  # they were raised in the past
        return broker

    def _items(self, spans: list[Span]) -> list[Item]:
        items: list[Item] = []
        for span in spans:
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    message = self._messages[span.offset(index)]
                    if (
                        span.after_offset(index) == message.offset
                        and span.sequence(index) == 0
                        and span.retry(index) == 0
                    ):
                        items.append(message)
                    else:
                        items.append(
                            Delivery(message, None, span.retry(index), span.after_offset(index), span.sequence(index))
                        )
        return items

    def _route(self, message: Message, size: int) -> None:
        options = message.options
        if options is not None and options.dedup_seconds:
            now = message.published_at
            key = key_of(message.id, options.owner)
            self.broker.dedup.remember(key, now + options.dedup_seconds * 1_000_000, now)
        if message.route == TO_QUEUE:
            self._add(self._owed_by(queue_of(message)), message, size)
        elif message.route == BY_EVENT:
            for queue in self.broker.routing.route(message) or ():
                self._add(self.owed[queue.name], message, size)

    def _add(self, owed: Owed, message: Message, size: int) -> None:
        options = message.options
        if options is not None and options.expires_at:
            owed.expiring = True
        if options is not None and is_delayed(message):
            owed.delayed[message.offset] = (options.due_at, 0, size)
        else:
            owed.add(message.offset, 1, size)

    def _owed_by(self, name: bytes) -> Owed:
        """What is owed by a queue that a message was put into."""
        if self.has_gap and name not in self.owed:
            self._declare(name)
        return self.owed[name]

    def _settle(self, queue: bytes, offset: int, how: int, after_offset: int, due_at: int) -> None:
        """End a message of a queue, or return it; one that goes to the back is placed behind offset `after_offset`."""
        if how not in GOING_BACK and how != OUT:
            self._end(queue, offset, 1)
            return
        owed = self.owed.get(queue)
        if owed is None:
            if self.has_gap:
                return
            raise KeyError(queue)
        if how == OUT:
            owed.mark(offset, (after_offset, self.position))
            return
        try:
            if how == DUE:
                _, retry, _ = owed.delayed.pop(offset)
                owed.placed[offset] = (after_offset, self.position, retry)
                return
            place, sequence, retry = owed.take(offset)
        except KeyError:
            if self.has_gap:
                return
            raise
        if how == REJECT and due_at:
            owed.delayed[offset] = (due_at, retry + 1, MESSAGE_OVERHEAD)
        elif how == REJECT:
            owed.placed[offset] = (after_offset, self.position, retry + 1)
        else:
            owed.placed[offset] = (place, sequence, retry + 1)
            if owed.out_before is not None:
                owed.returned.add(offset)

    def _end(self, queue: bytes, first: int, count: int) -> None:
        owed = self.owed.get(queue)
        gone = 0 if owed is None else owed.settle(first, count)
        if gone != count and not self.has_gap:
            raise KeyError(f"queue {queue!r} has only {gone} of the {count} messages from offset {first}")

    def _topology(self, change: Change) -> None:
        broker = self.broker
        if self.has_gap:
            known = change.queue in self.owed
            if known and change.kind == Change.DECLARED:
                broker.unmake_queue(change.queue)
            elif not known and change.kind == Change.DELETED:
                return
            elif not known:
                self._declare(change.queue)
        if change.kind == Change.DECLARED:
            self._declare(change.queue)
        elif change.kind == Change.BOUND:
            broker.routing.bind(broker.queues[change.queue], change.names, change.patterns)
        elif change.kind == Change.EXPIRES:
            queue = broker.queues[change.queue]
            queue.expires_after = change.number
            queue.used = False
        elif change.kind == Change.CONSUMED:
            broker.queues[change.queue].used = True
        elif change.kind == Change.PAUSED:
            broker.queues[change.queue].consumers.paused = change.number != 0
        elif change.kind == Change.DELETED:
            broker.unmake_queue(change.queue)
            del self.owed[change.queue]
        else:
            raise LogError(f"unknown entry {change!r}")

    def _declare(self, name: bytes) -> Queue:
        self.owed[name] = Owed(self.broker.log.tuning)
        return self.broker.make_queue(name)


def replay(entries: Iterable[Message | Change], log: Log, limits: Limits) -> GuardedBroker:
    """A broker in the state that these entries describe."""
    rebuilt = Replay(log, limits)
    for entry in entries:
        rebuilt.apply(entry)
    return rebuilt.finish()


# Events, patterns, expiry, (offset, retry) of owed messages, (due_at, offset, retry) of delayed ones, paused.
QueueState = tuple[tuple[bytes, ...], tuple[bytes, ...], int, list[tuple[int, int]], list[tuple[int, int, int]], bool]


def durable_state(broker: Broker) -> dict[bytes, QueueState]:
    """The part of a broker's state that survives a restart, per queue."""
    return {
        name: (
            queue.events,
            queue.patterns,
            queue.expires_after,
            [(offset, retry) for _, _, offset, retry in queue.owed()],
            [(entry.due_at, entry.offset, entry.retry) for entry in queue.delayed.entries()],
            queue.consumers.paused,
        )
        for name, queue in sorted(broker.queues.items())
    }


def _own(message: Message) -> Message:
    """A copy for the queues of another broker, if shared: `holders` is counted on the message."""
    if message.holders == UNSHARED:
        return message
    own = Message(message.id, message.event, message.body, message.published_at, message.protocol, message.headers)
    own.offset = message.offset
    own.route = message.route
    own.options = message.options
    own.holders = 0
    return own
