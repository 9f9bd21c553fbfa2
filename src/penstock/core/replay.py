"""Rebuilds a broker's state from its log.

A log contains no consumers and no single deliveries, only accepted messages, how they ended, and per turn the place up
to which all that a queue owes was delivered. So a replay keeps the offsets that each queue owes, applies the entries to
them, and at the end hands them to a new broker, whose queues page the messages in on demand. It never lets a queue
expire: whether it is unused is only known once consumers had a chance to reconnect.
"""

from collections.abc import Iterable

from librt.strings import read_i64_le
from mypy_extensions import i64

from penstock.core.broker import Broker
from penstock.core.broker_base import Lost
from penstock.core.dedup import key_of
from penstock.core.delivery import Delivery, Item, delayed_delivery
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.core.queue import Queue
from penstock.core.spans import merged_spans
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.interface import Change, Log
from penstock.log.snapshot import PLACE_SIZE, QueueImage, Snapshot
from penstock.log.span import Span, SpanBuilder
from penstock.log.tuning import Tuning
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


class Owed:
    """What one queue owes: offsets of fresh messages in spans, in order, and separately those with a place."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self.placed: dict[int, tuple[int, int, int]] = {}  # by offset: after_offset, sequence, retry
        self.delayed: dict[int, tuple[int, int, int]] = {}  # by offset, not due yet: due_at, retry, bytes
        self.expiring = False  # one of the messages may expire
        self.out_before: tuple[int, int] | None = None  # messages with a lower place were unacked ...
        self.returned: set[int] = set()  # ... unless they came back since
        self._spans: list[Span] = []
        self._first = 0  # spans before this one are used up
        self._open = SpanBuilder(tuning)
        self._open_first = -1  # the first offset in `_open`
        self._crowded = tuning.spans_crowded

    def add(self, first: int, count: int, size: int) -> None:
        """Add fresh messages at the end."""
        if self._open_first < 0:
            self._open_first = first
        self._open.add_run(first, count, size)

    def settle(self, first: int, count: int) -> int:
        """Remove `count` messages starting at offset `first`; returns how many of them were owed."""
        gone = self._settle_fresh(first, first + count)
        if gone < count and self.placed:
            for offset in range(first, first + count):
                if self.placed.pop(offset, None) is not None:
                    gone += 1
        if gone < count and self.delayed:
            for offset in range(first, first + count):
                if self.delayed.pop(offset, None) is not None:
                    gone += 1
        return gone

    def take(self, offset: int) -> tuple[int, int, int]:
        """Remove one message and return its place. Raises KeyError."""
        place = self.placed.pop(offset, None)
        if place is None:
            if not self._settle_fresh(offset, offset + 1):
                raise KeyError(offset)
            return offset, 0, 0
        return place

    def restore(self, image: QueueImage) -> None:
        self._spans = image.spans
        data = image.placed
        for at in range(0, len(data), PLACE_SIZE):
            i: i64 = at
            offset = int(read_i64_le(data, i + 16))
            self.placed[offset] = (
                int(read_i64_le(data, i)),
                int(read_i64_le(data, i + 8)),
                int(read_i64_le(data, i + 24)),
            )
        data = image.delayed
        for at in range(0, len(data), PLACE_SIZE):
            i = at
            offset = int(read_i64_le(data, i + 8))
            self.delayed[offset] = (
                int(read_i64_le(data, i)),
                int(read_i64_le(data, i + 16)),
                int(read_i64_le(data, i + 24)),
            )
        self.expiring = image.expiring
        self.out_before = image.out_before

    def mark(self, offset: int, end: tuple[int, int]) -> None:
        """Messages placed before this one are unacked; for -1, those placed before `end`."""
        if offset < 0:
            self.out_before = end
        else:
            after_offset, sequence, _ = self.placed.get(offset, (offset, 0, 0))
            self.out_before = (after_offset, sequence)
        self.returned.clear()

    def lost(self, spans: list[Span]) -> tuple[set[int], int]:
        """The offsets that were unacked, and among how many of the first messages in `spans` they are."""
        found: set[int] = set()
        count = last = 0
        out_before = self.out_before
        if out_before is not None:
            for span in spans:
                for index in range(span.start, span.count):
                    if span.is_dead(index):
                        continue
                    if (span.after_offset(index), span.sequence(index)) >= out_before:
                        return found, last
                    count += 1
                    if span.offset(index) not in self.returned:
                        found.add(span.offset(index))
                        last = count
        return found, last

    def delayed_deliveries(self, messages: dict[int, Message]) -> list[Delivery]:
        """The delayed messages."""
        return [
            delayed_delivery(messages.get(offset), offset, size, retry, due_at)
            for offset, (due_at, retry, size) in self.delayed.items()
        ]

    def spans(self) -> list[Span]:
        """All messages that have a place, in order."""
        self._seal()
        placed = sorted(
            [(after_offset, sequence, offset, retry) for offset, (after_offset, sequence, retry) in self.placed.items()]
        )
        return merged_spans([span for span in self._spans[self._first :] if span.live], placed, self.tuning)

    def contents(self) -> list[tuple[int, int]]:
        """(offset, retry) of all messages that have a place, in order."""
        found: list[tuple[int, int]] = []
        for span in self.spans():
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    found.append((span.offset(index), span.retry(index)))
        return found

    def _settle_fresh(self, first: int, end: int) -> int:
        if 0 <= self._open_first < end:
            self._seal()
        spans = self._spans
        index = self._find(first)
        gone = 0
        while index < len(spans) and spans[index].first < end:
            gone += spans[index].settle(first, end)
            index += 1
        while self._first < len(spans) and spans[self._first].live == 0:
            self._first += 1
        if self._first > self.tuning.spans_used_up and self._first * 2 > len(spans):
            del spans[: self._first]
            self._first = 0
        return gone

    def _find(self, offset: int) -> int:
        """Index of the last span that begins at or before the offset."""
        spans = self._spans
        low = self._first
        high = len(spans)
        while low < high:
            middle = (low + high) // 2
            if spans[middle].first <= offset:
                low = middle + 1
            else:
                high = middle
        return max(low - 1, self._first)

    def _seal(self) -> None:
        self._open_first = -1
        self._spans += self._open.finish()
        if len(self._spans) - self._first > self._crowded:
            self._put_together()

    def _put_together(self) -> None:
        builder = SpanBuilder(self.tuning)
        for span in self._spans[self._first :]:
            for part in span.trimmed(self.tuning):
                if part.offsets:
                    each = part.size // part.live
                    for index in range(part.count):
                        builder.add_run(part.offset(index), 1, each)
                else:
                    builder.add_run(part.first, part.count, part.size)
        self._spans = builder.finish()
        self._first = 0
        self._crowded = max(self.tuning.spans_crowded, 2 * len(self._spans))


class Replay:
    """Feed it every entry of a log in order, or those after a snapshot; then call `finish`."""

    def __init__(self, log: Log, limits: Limits, snapshot: Snapshot | None = None) -> None:
        self.broker = GuardedBroker(log, limits)
        self._owed: dict[bytes, Owed] = {}
        self._next_offset = 0
        self._position = 0
        self._messages: dict[int, Message] = {}  # those that were passed to `apply` as objects, not in a block
        # Entries are missing, and the operator has accepted that: references to unknown queues and messages refer to
        # lost ones. Without a gap they are an error.
        self._has_gap = False
        if snapshot is not None:
            self._restore(snapshot)

    def _restore(self, snapshot: Snapshot) -> None:
        self._next_offset = snapshot.next_offset
        self._position = snapshot.position
        routing = self.broker.routing
        for image in snapshot.queues:
            queue = self._declare(image.name)
            queue.expires_after = image.expires_after
            queue.consumers.paused = image.paused
            queue.used = image.used
            routing.bind(queue, image.events, image.patterns)
            self._owed[image.name].restore(image)
        self.broker.writers.restore(snapshot.committed, snapshot.commit_times)
        self.broker.dedup.restore(snapshot.dedup)

    def apply(self, entry: Message | Change) -> None:
        self._position += 1
        if isinstance(entry, Message):
            self._next_offset = entry.offset + 1
            self._messages[entry.offset] = entry = _own(entry)
            self._route(entry, entry.size)
        elif entry.kind == Change.COMMITTED:
            self.broker.writers.remember(entry.queue, entry.number, entry.at)
        elif entry.kind == Change.FORGOTTEN:
            if not self.broker.writers.forget(entry.queue) and not self._has_gap:
                raise KeyError(entry.queue)
        elif entry.kind == Change.SETTLED:
            self._settle(entry.queue, entry.offset, entry.number, self._next_offset - 1, entry.due_at)
        else:
            self._topology(entry)

    def apply_block(self, block: Block) -> None:
        """Apply the entries of one block of a log on disk.

        Raises LogError when they do not follow from the entries before them.
        """
        if block.first_position != self._position:
            self._has_gap = True
            self._position = block.first_position
        self._next_offset = block.first_offset
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
                    self._owed[queue.name].add(offset, count, size)
            index = end
        self._position += block.message_count
        self._next_offset += block.message_count

    def _apply_runs(self, block: Block) -> None:
        for run in block.runs():
            if run.how in GOING_BACK or run.how == OUT:
                for offset in range(run.first, run.first + run.count):
                    self._position += 1
                    self._settle(run.queue, offset, run.how, run.after_offset, run.due_at)
            else:
                self._position += run.count
                self._end(run.queue, run.first, run.count)

    def state(self) -> "dict[bytes, QueueState]":
        """What `durable_state` would return if the log ended here. More entries may follow."""
        found: dict[bytes, QueueState] = {}
        for name, owed in sorted(self._owed.items()):
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

    def finish(self) -> GuardedBroker:
        """The broker as the log left it; its log continues where the entries stopped."""
        broker = self.broker
        log = broker.log
        log.next_offset = self._next_offset
        log.position = self._position
        log.durable = self._position
        for name, owed in self._owed.items():
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
                self._add(self._owed[queue.name], message, size)

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
        if self._has_gap and name not in self._owed:
            self._declare(name)
        return self._owed[name]

    def _settle(self, queue: bytes, offset: int, how: int, after_offset: int, due_at: int) -> None:
        """End a message of a queue, or return it; one that goes to the back is placed behind offset `after_offset`."""
        if how not in GOING_BACK and how != OUT:
            self._end(queue, offset, 1)
            return
        owed = self._owed.get(queue)
        if owed is None:
            if self._has_gap:
                return
            raise KeyError(queue)
        if how == OUT:
            owed.mark(offset, (after_offset, self._position))
            return
        try:
            if how == DUE:
                _, retry, _ = owed.delayed.pop(offset)
                owed.placed[offset] = (after_offset, self._position, retry)
                return
            place, sequence, retry = owed.take(offset)
        except KeyError:
            if self._has_gap:
                return
            raise
        if how == REJECT and due_at:
            owed.delayed[offset] = (due_at, retry + 1, MESSAGE_OVERHEAD)
        elif how == REJECT:
            owed.placed[offset] = (after_offset, self._position, retry + 1)
        else:
            owed.placed[offset] = (place, sequence, retry + 1)
            if owed.out_before is not None:
                owed.returned.add(offset)

    def _end(self, queue: bytes, first: int, count: int) -> None:
        owed = self._owed.get(queue)
        gone = 0 if owed is None else owed.settle(first, count)
        if gone != count and not self._has_gap:
            raise KeyError(f"queue {queue!r} has only {gone} of the {count} messages from offset {first}")

    def _topology(self, change: Change) -> None:
        broker = self.broker
        if self._has_gap:
            known = change.queue in self._owed
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
            del self._owed[change.queue]
        else:
            raise LogError(f"unknown entry {change!r}")

    def _declare(self, name: bytes) -> Queue:
        self._owed[name] = Owed(self.broker.log.tuning)
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
