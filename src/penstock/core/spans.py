"""Places of messages that are not in memory: finding one among spans, and merging others into them."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from penstock.log.span import Span, SpanBuilder, split
from penstock.log.tuning import Tuning
from penstock.message import MESSAGE_OVERHEAD

FAR_AWAY: Final = 1 << 62  # behind every place

SortKey = tuple[int, int, int, int]  # after_offset, sequence, offset, retry: they sort in queue order
Sealed = tuple[int, int, int, int, int]  # the same, and the size of a message that is not in memory


def merged_spans(spans: list[Span], placed: list[SortKey], tuning: Tuning) -> list[Span]:
    """Merge sorted places into spans of fresh messages."""
    builder = SpanBuilder(tuning)
    next_placed = 0
    for span in spans:
        rest: Span | None = span
        while rest is not None and next_placed < len(placed):
            after_offset = placed[next_placed][0]
            if after_offset >= rest.last():
                break
            front, rest = split(rest, after_offset) if after_offset >= rest.first else (None, rest)
            if front is not None:
                _add_span(builder, front)
            # All those placed behind this offset.
            while next_placed < len(placed) and placed[next_placed][0] == after_offset:
                _add_placed(builder, placed[next_placed])
                next_placed += 1
        if rest is not None:
            _add_span(builder, rest)
    for entry in placed[next_placed:]:
        _add_placed(builder, entry)
    return builder.finish()


def _add_span(builder: SpanBuilder, span: Span) -> None:
    if span.live == 0:
        return
    if span.live > builder.tuning.wide_piece:
        builder.add_span(span)
        return
    each = span.size // span.live
    for index in range(span.start, span.count):
        if not span.is_dead(index):
            builder.add(span.offset(index), 0, span.offset(index), 0, each)


def _add_placed(builder: SpanBuilder, entry: SortKey) -> None:
    after_offset, sequence, offset, retry = entry
    builder.add(offset, retry, after_offset, sequence, MESSAGE_OVERHEAD)


def with_entries(spans: list[Span], entries: list[Sealed], tuning: Tuning) -> list[Span]:
    """Merge sorted entries into spans of all kinds."""
    builder = SpanBuilder(tuning)
    at = 0
    for span in spans:
        if span.places:
            at = _merge_listed(builder, span, entries, at)
            continue
        rest: Span | None = span
        while rest is not None and at < len(entries):
            after_offset = entries[at][0]
            if after_offset >= rest.last():
                break
            front, rest = split(rest, after_offset) if after_offset >= rest.first else (None, rest)
            if front is not None:
                _add_span(builder, front)
            while at < len(entries) and entries[at][0] == after_offset:
                _add_entry(builder, entries[at])
                at += 1
        if rest is not None:
            _add_span(builder, rest)
    for entry in entries[at:]:
        _add_entry(builder, entry)
    return builder.finish()


def _merge_listed(builder: SpanBuilder, span: Span, entries: list[Sealed], at: int) -> int:
    """Merge the entries before and among the places of one span; returns the index of the next entry."""
    each = span.size // span.live if span.live else 0
    for index in range(span.start, span.count):
        if not span.is_dead(index):
            place = (span.after_offset(index), span.sequence(index))
            while at < len(entries) and (entries[at][0], entries[at][1]) < place:
                _add_entry(builder, entries[at])
                at += 1
            builder.add(span.offset(index), span.retry(index), place[0], place[1], each)
    return at


def _add_entry(builder: SpanBuilder, entry: Sealed) -> None:
    after_offset, sequence, offset, retry, size = entry
    builder.add(offset, retry, after_offset, sequence, size)


def add_ranges(ranges: list[tuple[int, int]], spans: Iterable[Span], offsets: list[int], near: int) -> None:
    """Add the ranges in which these messages are, as (smallest, largest offset), to `ranges`.

    Messages at most `near` apart are in one range. A span is one if they are that on average, so that only the messages
    of a sparse one are looked at: there are few of them for the size of the log. `offsets` is used up.
    """
    for span in spans:
        low, high = span.bounds()
        if high - low <= near * span.live:
            ranges.append((low, high))
        else:
            offsets += span.remaining()
    offsets.sort()
    first = last = -1
    for offset in offsets:
        if first < 0 or offset > last + near:
            if first >= 0:
                ranges.append((first, last))
            first = offset
        last = offset
    if first >= 0:
        ranges.append((first, last))


def first_alive(span: Span) -> int:
    """Index of the first live message in a span; `count` when there is none."""
    dead = span.dead
    if dead is None:
        return span.start
    index = dead.find(0, span.start)
    return span.count if index < 0 else index


def place_in(span: Span, index: int) -> tuple[int, int]:
    """The place of one message in a span, dead or alive; an index past the end means the last one."""
    index = min(index, span.count - 1)
    return span.after_offset(index), span.sequence(index)


def index_behind(span: Span, after_offset: int, sequence: int) -> int:
    """Index of the first message in a span, dead or alive, that is behind a place."""
    if not span.places:
        return span.index_of(min(after_offset if sequence < 0 else after_offset + 1, FAR_AWAY))
    low = 0
    high = span.count
    while low < high:
        middle = (low + high) // 2
        if (span.after_offset(middle), span.sequence(middle)) <= (after_offset, sequence):
            low = middle + 1
        else:
            high = middle
    return low


def span_behind(spans: deque[Span], after_offset: int, sequence: int) -> int:
    """Index of the first span that ends behind a place; the number of spans when there is none."""
    low = 0
    high = len(spans)
    while low < high:
        middle = (low + high) // 2
        span = spans[middle]
        if place_in(span, span.count - 1) <= (after_offset, sequence):
            low = middle + 1
        else:
            high = middle
    return low
