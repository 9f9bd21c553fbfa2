"""Iterates over the ready messages of a queue, a few at a time, while the queue keeps changing.

A walk remembers only the place it has reached: messages before it may be consumed, and those behind it may come and go.
Each step finds its place by binary search, so walking a whole queue visits each message once.
"""

from collections import deque
from itertools import islice

from penstock.core.backlog import Backlog, item_behind, place_with
from penstock.core.delivery import Item, message_of
from penstock.core.spans import SortKey, index_behind, span_behind
from penstock.log.span import Span
from penstock.message import Message

Ready = tuple[SortKey, Message | None]  # None if the message is not in memory


class Walk:
    def __init__(self, backlog: Backlog, after: SortKey | None = None) -> None:
        self.backlog = backlog
        self.after = after  # the place of the last message returned
        self.over = False  # there were no more
        self.looked = 0  # messages visited, including dead ones

    def step(self, limit: int) -> list[Ready]:
        """The next messages. If there are fewer than `limit`, `over` is set: there are no more for now."""
        backlog = self.backlog
        found: list[Ready] = []
        self._see_items(backlog.head, limit, found)
        if len(found) < limit and backlog.spans:
            self._see_spans(limit, found)
        if len(found) < limit:
            self._see_items(backlog.tail, limit, found)
        if found:
            self.after = found[-1][0]
        self.over = len(found) < limit
        return found

    def go_on_behind(self, place: SortKey) -> None:
        """Continue behind this place: it was the last of those returned that the caller processed."""
        self.after = place
        self.over = False

    def message(self, seen: Ready) -> Message | None:
        """The message of an entry just returned; None when the log cannot give it back."""
        place, message = seen
        return message if message is not None else self.backlog.log.fetch(place[2])

    def _see_items(self, items: deque[Item], limit: int, found: list[Ready]) -> None:
        count = len(items)
        start = 0
        after = self.after
        if after is not None:
            start = item_behind(items, after[0], after[1])
            self.looked += count.bit_length()
        wanted = min(limit - len(found), count - start)
        if wanted <= 0:
            return
        self.looked += wanted
        if start <= count - start - wanted:
            found += [(place_with(item), message_of(item)) for item in islice(items, start, start + wanted)]
        else:
            skipped = count - start - wanted
            found += reversed(
                [(place_with(item), message_of(item)) for item in islice(reversed(items), skipped, skipped + wanted)]
            )

    def _see_spans(self, limit: int, found: list[Ready]) -> None:
        spans = self.backlog.spans
        after = self.after
        at = 0
        if after is not None:
            at = span_behind(spans, after[0], after[1])
            self.looked += len(spans).bit_length()
        while at < len(spans) and len(found) < limit:
            span = spans[at]
            index = span.start
            if after is not None:
                index = max(index, index_behind(span, after[0], after[1]))
                self.looked += span.count.bit_length()
                after = None  # everything after it is behind it
            self._see_span(span, index, limit, found)
            at += 1

    def _see_span(self, span: Span, index: int, limit: int, found: list[Ready]) -> None:
        dead = span.dead
        pinned = self.backlog.pinned
        while index < span.count and len(found) < limit:
            if dead is not None and dead[index]:
                index = dead.find(0, index)
                if index < 0:
                    break
            self.looked += 1
            offset = span.offset(index)
            place = (offset, 0, offset, 0)
            if span.places:
                place = (span.after_offset(index), span.sequence(index), offset, span.retry(index))
            found.append((place, pinned.get(offset) if pinned else None))
            index += 1
