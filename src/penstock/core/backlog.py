"""The ready messages of a queue, in order, most of them perhaps not in memory.

    head                    spans                          tail
    messages, next to go    offsets, paged in from         newest messages
                            the log when the head is empty

A short backlog is its head alone. Once that is long, new messages go to the tail, and the tail is sealed into spans as
soon as the log can give it back. When the spans are used up, the tail becomes the new head. So a long queue costs only
its offsets in memory, and reading it back goes through the log in order.

The backlog is sorted by place. A fresh message's place is its offset; one that was sent to the back of the queue has
its place just behind every message that was in the log by then. `Delivery` stores that place as (after_offset,
sequence): behind offset `after_offset`, and among those, in order of `sequence`. So messages that several consumers
return, in whatever order, end up in the same order, and so does a replay of the log, which sees no deliveries at all.

A message somebody waits for (a request) stays in memory, wherever it is. So does one that returns to a place among the
spans before the log can give it back.
"""

from collections import deque
from typing import Final

from penstock.core.delivery import Delivery, Item, message_of
from penstock.core.spans import (
    FAR_AWAY,
    Sealed,
    SortKey,
    first_alive,
    index_behind,
    place_in,
    span_behind,
    with_entries,
)
from penstock.log.interface import Log
from penstock.log.span import Span, SpanBuilder
from penstock.message import MESSAGE_OVERHEAD, UNSHARED, Message

STALLED: Final = -1  # returned instead of a number of bytes


def place_of(item: Item) -> tuple[int, int]:
    if isinstance(item, Delivery):
        return item.after_offset, item.sequence
    return item.offset, 0


class Backlog:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.tuning = log.tuning
        self.head: deque[Item] = deque()
        self.spans: deque[Span] = deque()
        self.tail: deque[Item] = deque()
        self.is_long = False  # new messages go to the tail
        self.cold = 0  # approximate bytes of the messages in spans
        self.lost: list[SortKey] = []  # places that could not be paged in; the caller of `page_in` handles them
        self.is_stalled = False  # the log could not read at the last attempt, but may later
        self.pinned: dict[int, Message] = {}  # messages in spans that stay in memory, by offset
        self.still_held = 0  # released bytes that another queue keeps in memory; the caller resets it
        self._tail_bytes = 0

    def __len__(self) -> int:
        return len(self.head) + len(self.tail) + sum([span.live for span in self.spans])

    # -- adding -----------------------------------------------------------------------------------------------------

    def append(self, item: Item) -> None:
        """Add an item at the end."""
        if self.is_long:
            self.tail.append(item)
            self._tail_bytes += message_of(item).size
        else:
            self.head.append(item)

    def grow_long(self) -> None:
        """The head has become long: send new messages to the tail, if the log can give them back."""
        if self.log.readable > 0:
            self.is_long = True

    def has_long_tail(self) -> bool:
        return self._tail_bytes >= self.tuning.tail_bytes_max or len(self.tail) >= self.tuning.span_length

    def seal_tail(self) -> int:
        """Release the messages of the tail that the log can give back; returns the bytes freed."""
        builder = SpanBuilder(self.tuning)
        freed = 0
        readable = self.log.readable
        tail = self.tail
        while tail and message_of(tail[0]).offset < readable:
            item = tail.popleft()
            self._tail_bytes -= message_of(item).size
            freed += self._seal(builder, item)
        self.spans.extend(builder.finish())
        self.cold += freed
        return freed

    def seal_head(self) -> int:
        """The same for the head: memory is short, and nobody seems to consume it."""
        readable = self.log.readable
        head = self.head
        if readable <= 0 or (self.spans and any(message_of(item).offset >= readable for item in head)):
            return 0
        builder = SpanBuilder(self.tuning)
        freed = 0
        while head and message_of(head[0]).offset < readable:
            freed += self._seal(builder, head.popleft())
        self.spans.extendleft(reversed(builder.finish()))
        self.cold += freed
        self.is_long = True
        # What the log cannot give back yet. There were no spans before, so it belongs right before the tail.
        self._tail_bytes += sum([message_of(item).size for item in head])
        self.tail.extendleft(reversed(head))
        head.clear()
        return freed

    def unpin(self) -> int:
        """Release messages among the spans that were not in the log at first; returns the bytes freed.

        Their spans counted them as zero bytes, which is corrected here.
        """
        freed = 0
        readable = self.log.readable
        for offset, message in list(self.pinned.items()):
            if offset < readable and message.requester is None and not message.revoked:
                del self.pinned[offset]
                freed += self._let_go(message)
        if freed:
            # Finding the right span would need a search, and the size of each span is an estimate anyway.
            self.spans[0].size += freed
            self.cold += freed
        return freed

    def _seal(self, builder: SpanBuilder, item: Item) -> int:
        """Add an item's place to a span; returns the bytes freed, which is 0 if the message has to stay in memory."""
        message = message_of(item)
        if message.requester is not None or message.revoked or message.offset >= self.log.readable:
            self.pinned[message.offset] = message
            freed = 0
        else:
            freed = self._let_go(message)
        if isinstance(item, Delivery):
            builder.add(message.offset, item.retry, item.after_offset, item.sequence, freed)
        else:
            builder.add_run(message.offset, 1, freed)
        return freed

    def _let_go(self, message: Message) -> int:
        """Count a message as no longer in memory for this queue; returns its size."""
        if message.holders != UNSHARED:
            message.holders -= 1
            if message.holders > 0:
                self.still_held += message.size - MESSAGE_OVERHEAD
        return message.size

    # -- taking -----------------------------------------------------------------------------------------------------

    def first(self) -> Item | None:
        """Remove and return the first item; None when none is in memory, see `page_in`."""
        return self.head.popleft() if self.head else None

    def page_in(self, bytes_max: int) -> tuple[int, int]:
        """Read the next messages of the spans into the head; returns their assumed and their actual size.

        Stops once `bytes_max` bytes are paged in, or as much was read as is allowed at once. Places that the log cannot
        give back are added to `lost`. If the log cannot read at the moment, the message and all behind it stay in the
        spans; if that applies to the first one, `is_stalled` is set.
        """
        assumed = 0
        paged = 0
        count = 0
        tuning = self.tuning
        self.is_stalled = False
        log = self.log
        read_end = log.read_bytes + tuning.read_at_once
        while self.spans and count == 0 and not self.is_stalled:
            span = self.spans[0]
            index = span.start
            while index < span.count and count < tuning.page_length and paged < bytes_max and log.read_bytes < read_end:
                if not span.is_dead(index):
                    cost = self._load(span, index)
                    if cost < 0:
                        self.is_stalled = count == 0
                        break
                    count += 1
                    paged += cost
                index += 1
            taken = span.size
            if count == span.live:
                self.spans.popleft()
            else:
                taken = span.size // span.live * count
                span.size -= taken
                span.live -= count
                span.start = index
            assumed += taken
        self.cold -= assumed
        if not self.spans:
            self._end_of_spans()
        return assumed, paged

    def take_first(self, before_offset: int, limit: int, taken: list[Message], unread: list[int]) -> int:
        """Remove the first items with offsets below `before_offset`, without reading those that are not in memory.

        Messages are added to `taken`, offsets of those not in memory to `unread`; returns the assumed size of what was
        in spans.
        """
        assumed = 0
        while len(taken) + len(unread) < limit:
            if self.head:
                if message_of(self.head[0]).offset >= before_offset:
                    break
                taken.append(message_of(self.head.popleft()))
            elif self.spans:
                span = self.spans[0]
                index = span.start
                while span.is_dead(index):
                    index += 1
                offset = span.offset(index)
                if offset >= before_offset:
                    break
                before = span.size
                span.kill(index)
                self.cold -= before - span.size
                assumed += before - span.size
                if span.live == 0:
                    self.spans.popleft()
                pinned = self.pinned.pop(offset, None)
                if pinned is not None:
                    taken.append(pinned)
                else:
                    unread.append(offset)
            elif self.tail:
                self._end_of_spans()
            else:
                break
        if not self.spans:
            self._end_of_spans()
        return assumed

    def take_out(self, places: list[SortKey], found: list[Item]) -> tuple[int, int]:
        """Remove the items that are still at these sorted places; returns the assumed and actual size of those read.

        Unreadable ones stay, and are set aside when their turn comes.
        """
        _take_from(self.head, places, found)
        assumed, paged = self._take_from_spans(places, found) if self.spans else (0, 0)
        if self.tail:
            before_tail = len(found)
            _take_from(self.tail, places, found)
            for item in found[before_tail:]:
                self._tail_bytes -= message_of(item).size
        if self.is_long and not self.spans:
            self._end_of_spans()
        return assumed, paged

    def _take_from_spans(self, places: list[SortKey], found: list[Item]) -> tuple[int, int]:
        spans = self.spans
        assumed = 0
        paged = 0
        emptied = False
        at = -1
        for place in places:
            if at < 0 or place_in(spans[at], spans[at].count - 1) < (place[0], place[1]):
                at = span_behind(spans, place[0], place[1] - 1)
                if at == len(spans):
                    break
            span = spans[at]
            index = index_behind(span, place[0], place[1] - 1)
            if index == span.count or span.is_dead(index):
                continue
            offset = span.offset(index)
            if (span.after_offset(index), span.sequence(index), offset) != (place[0], place[1], place[2]):
                continue
            message = self.pinned.pop(offset, None)
            if message is None:
                message = self.log.fetch(offset)
                if message is None:
                    continue
                paged += message.size
            if span.places:
                found.append(Delivery(message, None, span.retry(index), span.after_offset(index), span.sequence(index)))
            else:
                found.append(message)
            before = span.size
            span.kill(index)
            assumed += before - span.size
            emptied = emptied or span.live == 0
        if emptied:
            assumed += sum([span.size for span in spans if span.live == 0])
            self.spans = deque([span for span in spans if span.live])
        self.cold -= assumed
        return assumed, paged

    def _end_of_spans(self) -> None:
        """There is nothing more to page in: the tail becomes the head."""
        self.is_long = False
        self.head.extend(self.tail)
        self.tail.clear()
        self._tail_bytes = 0

    def _load(self, span: Span, index: int) -> int:
        """Append one message of a span to the head; returns the bytes newly in memory, or STALLED."""
        offset = span.offset(index)
        message: Message | None = self.pinned.pop(offset, None) if self.pinned else None
        cost = 0
        if message is None:
            message = self.log.fetch(offset)
            if message is None:
                if self.log.is_stalled:
                    return STALLED
                self.lost.append((span.after_offset(index), span.sequence(index), offset, span.retry(index)))
                return 0
            cost = message.size
        if span.places:
            self.head.append(Delivery(message, None, span.retry(index), span.after_offset(index), span.sequence(index)))
        else:
            self.head.append(message)
        return cost

    # -- putting back -----------------------------------------------------------------------------------------------

    def put_back(self, returned: list[Delivery], sealed: list[Sealed]) -> int:
        """Return messages to their places, in memory or not, without reading any; returns the bytes freed.

        Messages that belong among the spans go there and are released. If one that is not in memory belongs before one
        in the head, the head has to become spans.
        """
        returned.sort(key=place_of)
        sealed.sort()
        freed = 0
        if sealed and self.head and place_of(self.head[-1]) > (sealed[0][0], sealed[0][1]):
            freed += self._seal_all(self.head, True)
        after_offset, sequence = self._edge()
        if sealed and (sealed[0][0], sealed[0][1]) < (after_offset, sequence):
            after_offset, sequence = sealed[0][0], sealed[0][1]
        near = len(returned)
        while near and place_of(returned[near - 1]) > (after_offset, sequence):
            near -= 1
        if near:
            self._merge(returned[:near])
        entries = sealed
        for item in returned[near:]:
            message = message_of(item)
            if message.offset >= self.log.readable or message.requester is not None or message.revoked:
                self.pinned[message.offset] = message
                size = 0
            else:
                size = self._let_go(message)
            freed += size
            entries.append((item.after_offset, item.sequence, message.offset, item.retry, size))
        if entries:
            entries.sort()
            last = entries[-1]
            if self.tail and place_of(self.tail[0]) < (last[0], last[1]):
                freed += self._seal_all(self.tail, False)
                self._tail_bytes = 0
            self.cold += sum([entry[4] for entry in entries])
            self._insert(entries)
            self.is_long = True
        return freed

    def _edge(self) -> tuple[int, int]:
        """The place of the first message behind the head; FAR_AWAY when there is none."""
        for span in self.spans:
            index = first_alive(span)
            if index < span.count:
                return span.after_offset(index), span.sequence(index)
        return place_of(self.tail[0]) if self.tail else (FAR_AWAY, 0)

    def _merge(self, returned: list[Delivery]) -> None:
        """Merge items, sorted by place, back into the head; mostly they belong before all of it."""
        head = self.head
        behind: list[Item] = []
        last = place_of(returned[-1])
        while head and place_of(head[0]) < last:
            behind.append(head.popleft())
        merged: list[Item] = sorted([*behind, *returned], key=place_of) if behind else list(returned)
        head.extendleft(reversed(merged))

    def _seal_all(self, items: deque[Item], before: bool) -> int:
        """Turn all of the head or the tail into spans; returns the bytes freed. Some messages may stay in memory."""
        builder = SpanBuilder(self.tuning)
        freed = 0
        for item in items:
            freed += self._seal(builder, item)
        items.clear()
        if before:
            self.spans.extendleft(reversed(builder.finish()))
        else:
            self.spans.extend(builder.finish())
        self.cold += freed
        return freed

    def _insert(self, entries: list[Sealed]) -> None:
        """Insert messages that are not in memory, sorted, at their places among the spans."""
        spans = self.spans
        first = span_behind(spans, entries[0][0], entries[0][1])
        end = first
        last = (entries[-1][0], entries[-1][1])
        while end < len(spans) and place_in(spans[end], first_alive(spans[end])) < last:
            end += 1
        # Merge with short neighbours, so that single messages do not make a span each.
        if first > 0 and spans[first - 1].live < self.tuning.wide_piece:
            first -= 1
        if end < len(spans) and spans[end].live < self.tuning.wide_piece:
            end += 1
        spans.rotate(-first)
        touched = [spans.popleft() for _ in range(first, end)]
        size = sum([span.size for span in touched]) + sum([entry[4] for entry in entries])
        made = with_entries(touched, entries, self.tuning)
        made[0].size += size - sum([span.size for span in made])  # rounding error
        spans.extendleft(reversed(made))
        spans.rotate(first)

    # -- the whole backlog ------------------------------------------------------------------------------------------

    def restore(self, spans: list[Span]) -> None:
        """Fill an empty backlog from a log."""
        self.spans.extend([span for span in spans if span.live])
        self.cold = sum([span.size for span in self.spans])
        self.is_long = bool(self.spans)

    def sweep_revoked(self) -> list[Message]:
        """Remove the messages in head and tail that were revoked by their requesters."""
        revoked: list[Message] = []
        self.head = _without_revoked(self.head, revoked)
        self.tail = _without_revoked(self.tail, revoked)
        self._tail_bytes = sum([message_of(item).size for item in self.tail])
        return revoked

    def clear(self) -> None:
        self.head.clear()
        self.spans.clear()
        self.tail.clear()
        self.pinned.clear()
        self.is_long = False
        self.cold = 0
        self._tail_bytes = 0

    def in_memory(self) -> list[Message]:
        """Every message held here, in no particular order."""
        return [message_of(item) for item in [*self.head, *self.tail]] + list(self.pinned.values())

    def first_offset(self) -> int:
        """The offset of the first message; -1 when there is none."""
        if self.head:
            return message_of(self.head[0]).offset
        for span in self.spans:
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    return span.offset(index)
        return message_of(self.tail[0]).offset if self.tail else -1

    def first_place(self) -> list[SortKey]:
        """The place of the first message; empty when there is none."""
        if self.head:
            return [place_with(self.head[0])]
        for span in self.spans:
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    return [(span.after_offset(index), span.sequence(index), span.offset(index), span.retry(index))]
        return [place_with(self.tail[0])] if self.tail else []

    def places(self) -> list[SortKey]:
        """All places, in order."""
        found = [place_with(item) for item in self.head]
        for span in self.spans:
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    found.append(
                        (span.after_offset(index), span.sequence(index), span.offset(index), span.retry(index))
                    )
        found += [place_with(item) for item in self.tail]
        return found

    def places_of(self, offsets: set[int]) -> list[SortKey]:
        """The places of the messages with these offsets, in order. Searches the whole queue."""
        return [place for place in self.places() if place[2] in offsets]

    def message(self, offset: int) -> Message | None:
        """Peek at the first message, or at one in the spans."""
        for items in (self.head, self.tail):  # the log may not have it yet
            if items and message_of(items[0]).offset == offset:
                return message_of(items[0])
        found = self.pinned.get(offset)
        return found if found is not None else self.log.fetch(offset)


def item_behind(items: deque[Item], after_offset: int, sequence: int) -> int:
    """Index of the first item behind a place; the number of items when there is none."""
    low = 0
    high = len(items)
    while low < high:
        middle = (low + high) // 2
        if place_of(items[middle]) <= (after_offset, sequence):
            low = middle + 1
        else:
            high = middle
    return low


def place_with(item: Item) -> SortKey:
    if isinstance(item, Delivery):
        return item.after_offset, item.sequence, item.offset, item.retry
    return item.offset, 0, item.offset, 0


def _take_from(items: deque[Item], places: list[SortKey], found: list[Item]) -> None:
    """Remove the items at these places, in order."""
    if not items or not places:
        return
    last = (places[-1][0], places[-1][1])
    first = item_behind(items, places[0][0], places[0][1] - 1)
    count = len(items) - first
    kept: list[Item] = []
    at = 0
    items.rotate(-first)
    while count and place_of(items[0]) <= last:
        item = items.popleft()
        count -= 1
        place = place_with(item)
        while at < len(places) and (places[at][0], places[at][1]) < (place[0], place[1]):
            at += 1
        if at < len(places) and (places[at][0], places[at][1], places[at][2]) == (place[0], place[1], place[2]):
            found.append(item)
        else:
            kept.append(item)
    items.extendleft(reversed(kept))
    items.rotate(first)


def _without_revoked(items: deque[Item], revoked: list[Message]) -> deque[Item]:
    kept: deque[Item] = deque()
    for item in items:
        message = message_of(item)
        if message.revoked:
            revoked.append(message)
        else:
            kept.append(item)
    return kept
