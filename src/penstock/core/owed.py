"""What one queue owes, as a replay keeps it: in spans, so that a long queue takes little memory and little time.

    fresh     spans of offsets, in order; the last ones are still being collected in a builder
    placed    delivered before, or came due: each with a place of its own
    delayed   not due yet

A replay sees no deliveries. It knows of those that were out only what the log says at the end of a turn: everything
before a place. From then on it keeps what came back (`returned`), until the log says it anew.
"""

from librt.strings import read_i64_le
from mypy_extensions import i64

from penstock.core.delivery import Delivery, delayed_delivery
from penstock.core.spans import add_ranges, merged_spans
from penstock.log.snapshot import PLACE_SIZE, QueueImage
from penstock.log.span import Span, SpanBuilder
from penstock.log.tuning import Tuning
from penstock.message import Message


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
        if image.out_until is not None:
            self.out_before = image.out_until
            self.returned = set(image.returned)

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

    def first_back(self) -> tuple[tuple[int, int] | None, list[int]]:
        """The messages that were unacked and came back: the first of their places, None without any, and their offsets.

        Those that were settled or rejected since do not count: nothing tells them from others any more.
        """
        found: list[int] = []
        first = out_before = self.out_before
        if first is None or out_before is None:
            return None, found
        for offset in self.returned:
            place = self.placed.get(offset)
            if place is not None and (place[0], place[1]) < out_before:
                found.append(offset)
                first = min(first, (place[0], place[1]))
        return (first if found else None), sorted(found)

    def delayed_deliveries(self, messages: dict[int, Message]) -> list[Delivery]:
        """The delayed messages."""
        return [
            delayed_delivery(messages.get(offset), offset, size, retry, due_at)
            for offset, (due_at, retry, size) in self.delayed.items()
        ]

    def spans(self) -> list[Span]:
        """All messages that have a place, in order."""
        placed = sorted(
            [(after_offset, sequence, offset, retry) for offset, (after_offset, sequence, retry) in self.placed.items()]
        )
        return merged_spans(self.fresh_spans(), placed, self.tuning)

    def fresh_spans(self) -> list[Span]:
        """The fresh messages, in order. They are settled in these spans, so copy those to keep."""
        self._seal()
        return [span for span in self._spans[self._first :] if span.live]

    def add_ranges(self, ranges: list[tuple[int, int]]) -> None:
        """Add what is owed to `ranges`, as (smallest, largest offset) of ranges."""
        add_ranges(ranges, self.fresh_spans(), [*self.placed, *self.delayed], self.tuning.stretch_near)

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
