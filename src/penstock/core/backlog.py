"""What is ready in a queue, in order, most of it perhaps not in memory.

    head                    spans                          tail
    messages, next to go    offsets, paged in from         messages that came last
                            the log when the head is empty

A short backlog is its head alone. Once that is long, what comes goes to the tail, and the tail is sealed into spans as
soon as the log can give it back. When the spans are used up, the tail is the new head. So what a long queue costs is
its offsets, and reading it back goes through the log in order.

The backlog is in order of place. A fresh message's place is its offset; one that was sent to the back of the queue has
its place just behind every message that was in the log by then. `Redelivery` spells that place out as (bound, serial):
behind offset `bound`, and among those, in order of `serial`. So whatever comes back from several consumers in any order
ends up in the same order, and a replay of the log, which sees no deliveries at all, ends up in it too.

A message somebody waits for (a request) stays in memory, wherever it stands.
"""

from collections import deque
from typing import Final

from penstock.core.limits import MESSAGE_OVERHEAD
from penstock.log.port import Log
from penstock.log.span import Span, SpanBuilder, divide, split
from penstock.log.tuning import Tuning
from penstock.message import Message

STALLED: Final = -1  # instead of a number of bytes


class Redelivery:
    """A ready message with a place in the queue that is not its offset, or that was out before."""

    def __init__(self, message: Message, retry: int, bound: int, serial: int) -> None:
        self.message = message
        self.retry = retry
        self.bound = bound
        self.serial = serial


Item = Message | Redelivery
Place = tuple[int, int, int, int]  # bound, serial, offset, retry: sorted, they are in order


def message_of(item: Item) -> Message:
    return item.message if isinstance(item, Redelivery) else item


def place_of(item: Item) -> tuple[int, int]:
    if isinstance(item, Redelivery):
        return item.bound, item.serial
    return item.offset, 0


def retry_of(item: Item) -> int:
    return item.retry if isinstance(item, Redelivery) else 0


def cost_of(message: Message) -> int:
    """What a message in memory costs."""
    return len(message.body) + MESSAGE_OVERHEAD


class Backlog:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.tuning = log.tuning
        self.head: deque[Item] = deque()
        self.spans: deque[Span] = deque()
        self.tail: deque[Item] = deque()
        self.is_long = False  # what comes goes to the tail
        self.cold = 0  # bytes of what is in spans, about
        self.lost: list[Place] = []  # what could not be paged in; whoever pages in deals with it
        self.is_stalled = False  # the log could give nothing back at the last look, and may later
        self.pinned: dict[int, Message] = {}  # by offset, of what is in spans: somebody waits for these
        self._tail_bytes = 0

    def __len__(self) -> int:
        return len(self.head) + len(self.tail) + sum([span.live for span in self.spans])

    # -- in ---------------------------------------------------------------------------------------------------------

    def append(self, item: Item) -> None:
        """Put it behind everything else."""
        if self.is_long:
            self.tail.append(item)
            self._tail_bytes += cost_of(message_of(item))
        else:
            self.head.append(item)

    def grow_long(self) -> None:
        """The head has become long: new messages go to the tail, if they can be got back from there."""
        if self.log.readable > 0:
            self.is_long = True

    def has_long_tail(self) -> bool:
        return self._tail_bytes >= self.tuning.tail_bytes_max or len(self.tail) >= self.tuning.span_length

    def seal_tail(self) -> int:
        """Let go of the messages of the tail that the log can give back; how many bytes that frees."""
        builder = SpanBuilder(self.tuning)
        freed = 0
        readable = self.log.readable
        tail = self.tail
        while tail and message_of(tail[0]).offset < readable:
            item = tail.popleft()
            self._tail_bytes -= cost_of(message_of(item))
            freed += self._seal(builder, item)
        self.spans.extend(builder.finish())
        self.cold += freed
        return freed

    def seal_head(self) -> int:
        """The same for the head: memory is short, and nobody seems to take what is in it."""
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
        # What the log cannot give back yet; there were no spans before, so it stands right before the tail.
        self._tail_bytes += sum([cost_of(message_of(item)) for item in head])
        self.tail.extendleft(reversed(head))
        head.clear()
        return freed

    def _seal(self, builder: SpanBuilder, item: Item) -> int:
        """Note the place of an item; how many bytes that frees: none where somebody waits for the message.

        Nor does it where the log cannot give the message back yet.
        """
        message = message_of(item)
        freed = cost_of(message)
        if message.requester is not None or message.revoked or message.offset >= self.log.readable:
            self.pinned[message.offset] = message
            freed = 0
        if isinstance(item, Redelivery):
            builder.add(message.offset, item.retry, item.bound, item.serial, freed)
        else:
            builder.add_run(message.offset, 1, freed)
        return freed

    # -- out --------------------------------------------------------------------------------------------------------

    def first(self) -> Item | None:
        """Take the first one; None when there is none in memory, see `page_in`."""
        return self.head.popleft() if self.head else None

    def page_in(self) -> tuple[int, int]:
        """Read the next messages of the spans to the end of the head; what they were taken to cost, and what they do.

        What the log cannot give back is in `lost` then. What it cannot give back at the moment stays where it is, and
        with it what is behind it; where that is all, `is_stalled` says so.
        """
        assumed = 0
        paged = 0
        count = 0
        tuning = self.tuning
        self.is_stalled = False
        while self.spans and count == 0 and not self.is_stalled:
            span = self.spans[0]
            index = span.start
            while index < span.count and count < tuning.page_length and paged < tuning.page_bytes:
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

    def take_first(self, bound: int, limit: int, taken: list[Message], unread: list[int]) -> int:
        """Take the first ones, as far as they are from before an offset, without reading what is not in memory.

        Messages go to `taken`, offsets of those that are not in memory to `unread`; returns what those were taken to
        cost.
        """
        assumed = 0
        while len(taken) + len(unread) < limit:
            if self.head:
                if message_of(self.head[0]).offset >= bound:
                    break
                taken.append(message_of(self.head.popleft()))
            elif self.spans:
                span = self.spans[0]
                index = span.start
                while span.is_dead(index):
                    index += 1
                offset = span.offset(index)
                if offset >= bound:
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

    def take_out(self, offsets: set[int], found: list[Item]) -> tuple[int, int]:
        """Take those with these offsets, wherever they stand; what was read for it was taken to cost, and does."""
        self.head = _without(self.head, offsets, found)
        for item in found:
            offsets.discard(message_of(item).offset)
        assumed = 0
        paged = 0
        for span in self.spans:
            if not offsets:
                break
            for index in _places_in(span, offsets):
                if span.is_dead(index):
                    continue
                offset = span.offset(index)
                message = self.pinned.get(offset)
                if message is None:
                    message = self.log.fetch(offset)
                    if message is None:
                        continue  # it stays, and is set aside when its turn comes
                    paged += cost_of(message)
                else:
                    del self.pinned[offset]
                if span.places:
                    found.append(Redelivery(message, span.retry(index), span.bound(index), span.serial(index)))
                else:
                    found.append(message)
                before = span.size
                span.kill(index)
                assumed += before - span.size
                offsets.discard(offset)
        self.cold -= assumed
        if offsets and self.tail:
            before_tail = len(found)
            self.tail = _without(self.tail, offsets, found)
            for item in found[before_tail:]:
                self._tail_bytes -= cost_of(message_of(item))
        if self.spans:
            self.spans = deque([span for span in self.spans if span.live])
            if not self.spans:
                self._end_of_spans()
        return assumed, paged

    def _end_of_spans(self) -> None:
        """There is no more to page in: what came last follows."""
        self.is_long = False
        self.head.extend(self.tail)
        self.tail.clear()
        self._tail_bytes = 0

    def _load(self, span: Span, index: int) -> int:
        """Append one message to the head; how many bytes it takes that were not taken before, or STALLED."""
        offset = span.offset(index)
        message: Message | None = self.pinned.pop(offset, None) if self.pinned else None
        cost = 0
        if message is None:
            message = self.log.fetch(offset)
            if message is None:
                if self.log.is_stalled:
                    return STALLED
                self.lost.append((span.bound(index), span.serial(index), offset, span.retry(index)))
                return 0
            cost = cost_of(message)
        if span.places:
            self.head.append(Redelivery(message, span.retry(index), span.bound(index), span.serial(index)))
        else:
            self.head.append(message)
        return cost

    # -- back to their places ---------------------------------------------------------------------------------------

    def merge(self, returned: list[Redelivery]) -> int:
        """Put items, sorted by place, back to where they belong, mostly before all others; how many bytes that frees.

        Nothing is read for it. Those that belong among the spans become a part of them.
        """
        if not self.is_long:
            _merge_into(self.head, returned)
            return 0
        behind_head = 0  # how many do not belong into the head
        behind_spans = 0
        if self.spans:
            first, last = self.spans[0], self.spans[-1]
            begin = (first.bound(first.start), first.serial(first.start))
            end = (last.bound(last.count - 1), last.serial(last.count - 1))
        elif self.tail:
            begin = end = place_of(self.tail[0])
        else:
            _merge_into(self.head, returned)
            return 0
        for item in reversed(returned):
            place = place_of(item)
            if place > end:
                behind_spans += 1
            if place <= begin:
                break
            behind_head += 1
        in_head = len(returned) - behind_head
        in_spans = len(returned) - behind_spans
        freed = self._insert(returned[in_head:in_spans]) if in_spans > in_head else 0
        if in_head:
            _merge_into(self.head, returned[:in_head])
        if behind_spans:
            self._tail_bytes += sum([cost_of(item.message) for item in returned[in_spans:]])
            _merge_into(self.tail, returned[in_spans:])
        return freed

    def _insert(self, returned: list[Redelivery]) -> int:
        """Make items a part of the spans they belong among; how many bytes that frees."""
        builder = SpanBuilder(self.tuning)
        freed = 0
        number = 0
        for span in self.spans:
            rest: Span | None = span
            while rest is not None and number < len(returned):
                item = returned[number]
                if (item.bound, item.serial) > (rest.bound(rest.count - 1), rest.serial(rest.count - 1)):
                    break
                front, rest = divide(rest, item.bound, item.serial)
                if front is not None:
                    builder.add_span(front)
                freed += self._seal(builder, item)
                number += 1
            if rest is not None:
                builder.add_span(rest)
        self.spans = deque(builder.finish())
        self.cold += freed
        return freed

    # -- all of it --------------------------------------------------------------------------------------------------

    def restore(self, spans: list[Span]) -> None:
        """Fill an empty backlog with what a log says it holds."""
        self.spans.extend([span for span in spans if span.live])
        self.cold = sum([span.size for span in self.spans])
        self.is_long = bool(self.spans)

    def sweep_revoked(self) -> list[Message]:
        """Take out the messages that were given up by those who waited for them, where they are in memory."""
        revoked: list[Message] = []
        self.head = _without_revoked(self.head, revoked)
        self.tail = _without_revoked(self.tail, revoked)
        self._tail_bytes = sum([cost_of(message_of(item)) for item in self.tail])
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
        """Every message that is held here, in no order."""
        return [message_of(item) for item in [*self.head, *self.tail]] + list(self.pinned.values())

    def look(self, after: Place | None, limit: int) -> list[tuple[Place, Message | None]]:
        """The next ones behind a place, to look at; without those messages that are not in memory."""
        found: list[tuple[Place, Message | None]] = []
        for item in self.head:
            if len(found) >= limit:
                return found
            place = _place(item)
            if after is None or place > after:
                found.append((place, message_of(item)))
        for span in self.spans:
            if after is not None and not span.places and span.last() < after[0]:
                continue
            for index in range(span.start, span.count):
                if len(found) >= limit:
                    return found
                if not span.is_dead(index):
                    place = (span.bound(index), span.serial(index), span.offset(index), span.retry(index))
                    if after is None or place > after:
                        found.append((place, self.pinned.get(span.offset(index))))
        for item in self.tail:
            if len(found) >= limit:
                return found
            place = _place(item)
            if after is None or place > after:
                found.append((place, message_of(item)))
        return found

    def first_offset(self) -> int:
        """Of the next to go; -1 when there is none."""
        if self.head:
            return message_of(self.head[0]).offset
        for span in self.spans:
            for index in range(span.start, span.count):
                if not span.is_dead(index):
                    return span.offset(index)
        return message_of(self.tail[0]).offset if self.tail else -1

    def places(self) -> list[Place]:
        """All there is, in order."""
        return self.first_places(len(self))

    def first_places(self, count: int) -> list[Place]:
        """So many of the first, in order."""
        found: list[Place] = []
        for item in self.head:
            if len(found) >= count:
                return found
            found.append(_place(item))
        for span in self.spans:
            for index in range(span.start, span.count):
                if len(found) >= count:
                    return found
                if not span.is_dead(index):
                    found.append((span.bound(index), span.serial(index), span.offset(index), span.retry(index)))
        for item in self.tail:
            if len(found) >= count:
                break
            found.append(_place(item))
        return found

    def message(self, offset: int) -> Message | None:
        """One of the messages in spans, to look at."""
        found = self.pinned.get(offset)
        return found if found is not None else self.log.fetch(offset)


def merged_spans(spans: list[Span], placed: list[Place], tuning: Tuning) -> list[Span]:
    """Spans of fresh messages, with messages among them that have places, sorted."""
    builder = SpanBuilder(tuning)
    next_placed = 0
    for span in spans:
        rest: Span | None = span
        while rest is not None and next_placed < len(placed):
            bound = placed[next_placed][0]
            if bound >= rest.last():
                break
            front, rest = split(rest, bound) if bound >= rest.first else (None, rest)
            if front is not None:
                _add_span(builder, front)
            # All that stand behind this offset.
            while next_placed < len(placed) and placed[next_placed][0] == bound:
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


def _add_placed(builder: SpanBuilder, entry: Place) -> None:
    bound, serial, offset, retry = entry
    builder.add(offset, retry, bound, serial, MESSAGE_OVERHEAD)


def _place(item: Item) -> Place:
    if isinstance(item, Redelivery):
        return item.bound, item.serial, item.message.offset, item.retry
    return item.offset, 0, item.offset, 0


def _places_in(span: Span, offsets: set[int]) -> list[int]:
    """Where in a span these offsets may stand."""
    if span.places:
        return [index for index in range(span.start, span.count) if span.offset(index) in offsets]
    found: list[int] = []
    first = span.offset(span.start) if span.start < span.count else span.last() + 1
    for offset in sorted(offsets):
        if first <= offset <= span.last():
            index = span.index_of(offset)
            if index < span.count and span.offset(index) == offset:
                found.append(index)
    return found


def _merge_into(items: deque[Item], returned: list[Redelivery]) -> None:
    """Put items, sorted by place, among the first of others."""
    behind: list[Item] = []
    last = place_of(returned[-1])
    while items and place_of(items[0]) < last:
        behind.append(items.popleft())
    merged: list[Item] = sorted([*behind, *returned], key=place_of) if behind else list(returned)
    items.extendleft(reversed(merged))


def _without(items: deque[Item], offsets: set[int], found: list[Item]) -> deque[Item]:
    kept: deque[Item] = deque()
    for item in items:
        if message_of(item).offset in offsets:
            found.append(item)
        else:
            kept.append(item)
    return kept


def _without_revoked(items: deque[Item], revoked: list[Message]) -> deque[Item]:
    kept: deque[Item] = deque()
    for item in items:
        message = message_of(item)
        if message.revoked:
            revoked.append(message)
        else:
            kept.append(item)
    return kept
