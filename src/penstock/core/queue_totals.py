"""Totals over all queues at one moment, and rankings of queues by some number, for operators and monitoring.

There may be very many queues. So this works in slices, and messages are processed in between: call `take` repeatedly
with the same list of queues and the next range of it.
"""

from typing import Final

from penstock.core.counts import Counts
from penstock.core.queue import Queue
from penstock.core.queue_store import NO_MESSAGE

# How many messages may be read from the log in one walk, for the age of a queue's first message. Results are
# remembered, so after a start with very many long queues it takes several walks until all are known.
FETCHES_MAX: Final = 8

FAR: Final = 1 << 61  # later than any time, in microseconds since 1970

SORT_KEYS: Final = (
    "name",
    "ready",
    "unacked",
    "delayed",
    "bytes",
    "consumers",
    "oldest",
    "queued",
    "delivered",
    "retried",
    "dropped",
)


class QueueTotals:
    """Totals of a broker, once all queues of a list have been counted.

    Counters never decrease, whatever changes between the slices: a queue that is deleted meanwhile is still in the
    list, and is not among those already deleted when the walk began.
    """

    def __init__(self, gone: Counts) -> None:
        self.queues = 0
        self.ready = 0
        self.unacked = 0
        self.delayed = 0
        self.bytes = 0
        self.held = 0  # bytes of unacked messages that are in memory
        self.consumers = 0
        self.paused = 0
        self.full = 0
        self.oldest_at = NO_MESSAGE  # microseconds since 1970
        self.counts = gone.copy()
        self._fetches = 0

    def take(self, queues: list[Queue], first: int, bound: int) -> None:
        """Count the queues in the range from `first` to `after_offset`, exclusive."""
        counts = self.counts
        for place in range(first, bound):
            queue = queues[place]
            counts.add(queue)
            self.queues += 1
            self.consumers += queue.consumer_count()
            if queue.consumers.paused:
                self.paused += 1
            if queue.ready or queue.unacked or len(queue.delayed):
                self._take_messages(queue)

    def _take_messages(self, queue: Queue) -> None:
        self.ready += queue.ready
        self.unacked += queue.unacked
        self.delayed += len(queue.delayed)
        self.bytes += queue.size()
        self.held += queue.unacked_bytes - queue.unkept
        if queue.full:
            self.full += 1
        if self._fetches < FETCHES_MAX and not queue.knows_oldest():
            self._fetches += 1
            queue.find_oldest()
        oldest = queue.oldest_at()
        if oldest != NO_MESSAGE and (self.oldest_at == NO_MESSAGE or oldest < self.oldest_at):
            self.oldest_at = oldest


class Ranking:
    """The top queues by some number, among those whose name contains a text.

    Sorted ascending or descending by number, and among equals by ascending name. When sorted by name alone, descending
    means the largest name first.
    """

    def __init__(self, key: str, descending: bool, search: bytes, keep: int) -> None:
        self.total = 0  # queues whose name contains the text
        self.best: list[tuple[int, bytes]] = []
        self._key = SORT_KEYS.index(key)
        self._sign = -1 if descending else 1
        self._backwards = descending and key == "name"
        self._search = search
        self._keep = keep

    def take(self, queues: list[Queue], first: int, bound: int) -> None:
        """Rank the queues in the range from `first` to `after_offset`, exclusive."""
        best = self.best
        key, sign, search, backwards = self._key, self._sign, self._search, self._backwards
        is_full = len(best) >= self._keep
        worst, worst_name = best[-1] if is_full else (0, b"")
        for place in range(first, bound):
            queue = queues[place]
            if search and search not in queue.name:
                continue
            self.total += 1
            number = sign * _number_of(queue, key)
            if is_full and (number > worst or (number == worst and (queue.name < worst_name) == backwards)):
                continue
            best.append((number, queue.name))
        best.sort(reverse=backwards)
        del best[self._keep :]


def _number_of(queue: Queue, key: int) -> int:
    """The value for one of SORT_KEYS, by its index."""
    if key == 1:
        return queue.ready
    if key == 2:
        return queue.unacked
    if key == 3:
        return len(queue.delayed)
    if key == 4:
        return queue.size()
    if key == 5:
        return queue.consumer_count()
    if key == 6:
        # By age: the oldest message gives the largest number, no message the smallest.
        oldest = queue.oldest_at()
        return 0 if oldest == NO_MESSAGE else FAR - oldest
    if key == 7:
        return queue.queued
    if key == 8:
        return queue.delivered
    if key == 9:
        return queue.retried
    if key == 10:
        return queue.dropped
    return 0
