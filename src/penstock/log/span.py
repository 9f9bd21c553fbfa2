"""Offsets of unsettled messages of a queue that are not in memory.

A span is an ordered stretch of a queue. Most spans are consecutive offsets and take a handful of numbers at any length;
others list their offsets, eight bytes each. A message that was delivered before also has a place of its own (see
`core.backlog`), so a span with such messages stores four numbers per message.

Spans are consumed from the front as a queue is read. During a replay, messages in the middle are settled too; they are
marked dead until the span is used up.
"""

from librt.strings import BytesWriter, read_i64_le, write_i64_le
from mypy_extensions import i64

from penstock.log.tuning import Tuning


class Span:
    """`count` offsets in order; those before `start`, and those marked dead, are settled."""

    def __init__(self, first: int, count: int, size: int, offsets: bytes = b"", places: bytes = b"") -> None:
        self.first = first  # the first offset
        self.count = count
        self.size = size  # approximate bytes of the remaining messages
        self.offsets = offsets  # i64 each; empty if consecutive
        self.places = places  # (retry, after_offset, sequence), i64 each; empty if all messages are fresh
        self.start = 0
        self.live = count
        self.dead: bytearray | None = None

    def __repr__(self) -> str:
        kind = "places" if self.places else "offsets" if self.offsets else "run"
        return f"<Span {kind} from {self.first}, {self.live} of {self.count}, {self.size} bytes>"

    def offset(self, index: int) -> int:
        if self.offsets:
            return int(read_i64_le(self.offsets, 8 * i64(index)))
        return self.first + index

    def retry(self, index: int) -> int:
        return int(read_i64_le(self.places, 24 * i64(index))) if self.places else 0

    def after_offset(self, index: int) -> int:
        return int(read_i64_le(self.places, 24 * i64(index) + 8)) if self.places else self.offset(index)

    def sequence(self, index: int) -> int:
        return int(read_i64_le(self.places, 24 * i64(index) + 16)) if self.places else 0

    def is_dead(self, index: int) -> bool:
        return index < self.start or (self.dead is not None and self.dead[index] != 0)

    def last(self) -> int:
        """The last offset; for fresh messages, the largest."""
        return self.offset(self.count - 1)

    def index_of(self, offset: int) -> int:
        """The index of the first offset that is not less than this one. For fresh messages only."""
        if not self.offsets:
            return min(max(offset - self.first, 0), self.count)
        low: i64 = 0
        high: i64 = self.count
        wanted: i64 = offset
        data = self.offsets
        while low < high:
            middle = (low + high) // 2
            if read_i64_le(data, 8 * middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return int(low)

    def kill(self, index: int) -> None:
        """Mark the message at this index as settled."""
        if self.is_dead(index):
            return
        self.size -= self.size // self.live
        self.live -= 1
        if index == self.start:
            self.start += 1
            if self.dead is not None:
                while self.start < self.count and self.dead[self.start]:
                    self.start += 1
        else:
            if self.dead is None:
                self.dead = bytearray(self.count)
            self.dead[index] = 1

    def settle(self, first: int, end: int) -> int:
        """Settle offsets `first` to `end` (exclusive); returns how many were live. For fresh messages only."""
        index = max(self.index_of(first), self.start)
        stop = self.index_of(end)
        before = self.live
        if index == self.start and self.dead is None:
            gone = max(stop - index, 0)
            if gone:
                self.size -= self.size // self.live * gone
                self.live -= gone
                self.start = stop
        else:
            while index < stop:
                self.kill(index)
                index += 1
        return before - self.live

    def has(self, offset: int) -> bool:
        """Whether the offset is in the span and live. For fresh messages only."""
        index = self.index_of(offset)
        return index < self.count and self.offset(index) == offset and not self.is_dead(index)

    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest remaining offset, dead ones in the middle included."""
        if not self.places:
            return self.offset(self.start), self.last()
        left = [self.offset(index) for index in range(self.start, self.count)]
        return min(left), max(left)

    def remaining(self) -> list[int]:
        """The offsets of the messages that are not settled."""
        dead = self.dead
        if dead is None:
            return [self.offset(index) for index in range(self.start, self.count)]
        found: list[int] = []
        index = dead.find(0, self.start)
        while index >= 0:
            found.append(self.offset(index))
            index = dead.find(0, index + 1)
        return found

    def trimmed(self, tuning: Tuning) -> "list[Span]":
        """The same messages without the settled ones."""
        if self.live == 0:
            return []
        if self.live == self.count:
            return [self]
        if self.live == self.count - self.start:
            return [_cut(self, self.start, self.count)]
        dead = self.dead
        if not self.places and dead is not None:
            return self._without(dead, tuning)
        builder = SpanBuilder(tuning)
        each = self.size // self.live
        for index in range(self.start, self.count):
            if not self.is_dead(index):
                builder.add(self.offset(index), self.retry(index), self.after_offset(index), self.sequence(index), each)
        return builder.finish()

    def _without(self, dead: bytearray, tuning: Tuning) -> "list[Span]":
        """The fresh messages without the dead ones, from hole to hole: of millions, few may have been settled."""
        builder = SpanBuilder(tuning)
        each = self.size // self.live
        listed: list[bytes] = []
        begin = dead.find(0, self.start)
        while begin >= 0:
            end = dead.find(1, begin)
            if end < 0:
                end = self.count
            if self.offsets:
                low, high = 8 * begin, 8 * end
                listed.append(self.offsets[low:high])
            else:
                builder.add_run(self.first + begin, end - begin, each * (end - begin))
            begin = dead.find(0, end)
        if listed:
            offsets = b"".join(listed)
            builder.add_span(Span(int(read_i64_le(offsets, 0)), self.live, each * self.live, offsets))
        return builder.finish()


class SpanBuilder:
    """Builds spans from messages added in queue order."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self.spans: list[Span] = []
        self._run_first = 0
        self._run_count = 0
        self._run_size = 0
        self._start_list()

    def _start_list(self) -> None:
        self._first = 0
        self._listed = 0
        self._size = 0
        self._wide = False
        self._offsets = BytesWriter()
        self._places = BytesWriter()

    def add_run(self, first: int, count: int, size: int) -> None:
        """Fresh messages with consecutive offsets."""
        if self._run_count and first == self._run_first + self._run_count:
            self._run_count += count
            self._run_size += size
        else:
            self._end_run()
            self._run_first = first
            self._run_count = count
            self._run_size = size

    def add(self, offset: int, retry: int, after_offset: int, sequence: int, size: int) -> None:
        """One message with its place."""
        if retry == 0 and sequence == 0 and after_offset == offset:
            self.add_run(offset, 1, size)
            return
        self._end_run()
        if not self._wide:
            if self._listed > self.tuning.wide_piece:
                self._end_list()
            else:
                self._widen()
        self._list(offset, retry, after_offset, sequence)
        self._size += size

    def add_span(self, span: Span) -> None:
        """Append an existing span unchanged."""
        self._end_run()
        self._end_list()
        self.spans.append(span)

    def finish(self) -> list[Span]:
        self._end_run()
        self._end_list()
        spans = self.spans
        self.spans = []
        return spans

    def _end_run(self) -> None:
        """List the offsets of the run, or give it a span of its own if it is long enough."""
        count = self._run_count
        if count == 0:
            return
        self._run_count = 0
        first = self._run_first
        if count >= self.tuning.run_worth or (self._wide and count > self.tuning.wide_piece):
            self._end_list()
            self.spans.append(Span(first, count, self._run_size))
            return
        for offset in range(first, first + count):
            self._list(offset, 0, offset, 0)
        self._size += self._run_size

    def _list(self, offset: int, retry: int, after_offset: int, sequence: int) -> None:
        if self._listed >= self.tuning.span_length:
            self._end_list()
        if retry or sequence or after_offset != offset:
            self._widen()
        if self._listed == 0:
            self._first = offset
        write_i64_le(self._offsets, i64(offset))
        if self._wide:
            self._place(retry, after_offset, sequence)
        self._listed += 1

    def _widen(self) -> None:
        if not self._wide:
            self._wide = True
            offsets = self._offsets.getvalue()
            for index in range(self._listed):
                self._place(0, int(read_i64_le(offsets, 8 * i64(index))), 0)

    def _place(self, retry: int, after_offset: int, sequence: int) -> None:
        write_i64_le(self._places, i64(retry))
        write_i64_le(self._places, i64(after_offset))
        write_i64_le(self._places, i64(sequence))

    def _end_list(self) -> None:
        if self._listed:
            offsets = self._offsets.getvalue()
            last = int(read_i64_le(offsets, 8 * i64(self._listed - 1)))
            if not self._wide and last - self._first + 1 == self._listed:
                offsets = b""
            self.spans.append(Span(self._first, self._listed, self._size, offsets, self._places.getvalue()))
            self._start_list()


def split(span: Span, offset: int) -> tuple[Span | None, Span | None]:
    """Split a span of fresh messages after an offset: the part up to and including it, and the rest."""
    index = max(span.index_of(offset + 1), span.start)
    front = _cut(span, span.start, index) if index > span.start else None
    back = _cut(span, index, span.count) if index < span.count else None
    return front, back


def _cut(span: Span, begin: int, end: int) -> Span:
    """Part of a span; dead messages stay dead."""
    count = end - begin
    dead = span.dead[begin:end] if span.dead is not None else None
    live = count if dead is None else dead.count(0)
    size = span.size // span.live * live if span.live else 0
    if span.offsets:
        offsets, places = span.offsets[8 * begin : 8 * end], span.places[24 * begin : 24 * end]
        part = Span(span.offset(begin), count, size, offsets, places)
    else:
        part = Span(span.first + begin, count, size)
    if live != count:
        part.dead = dead
        part.live = live
        if dead is not None:
            while part.start < count and dead[part.start]:
                part.start += 1
    return part
