"""Counts over all queues at one moment, and which queues come first by some number: for people and monitors who look.

There may be very many queues. So nothing here is called for a message, and whoever asks may ask in slices and let
messages pass in between.
"""

from typing import Final

from penstock.core.broker import Broker, Counts
from penstock.core.queue import NOBODY, Queue

# Of queues that are not in memory, how many may be read for the age of their first message in one walk. What is known
# is remembered, so after a start with very many long queues it takes some walks until all are known.
FETCHES_MAX: Final = 8

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


class Census:
    """Totals of a broker."""

    def __init__(self) -> None:
        self.queues = 0
        self.ready = 0
        self.unacked = 0
        self.delayed = 0
        self.bytes = 0
        self.consumers = 0
        self.paused = 0
        self.full = 0
        self.oldest_at = NOBODY  # microseconds since 1970
        self.queued = 0
        self.delivered = 0
        self.retried = 0
        self.dropped = 0
        self.expired = 0
        self.dead_lettered = 0


def census_of(broker: Broker) -> Census:
    """All of it in one walk."""
    census = Census()
    census.queues = len(broker.queues)
    counts = Counts()
    budget = FETCHES_MAX
    for queue in broker.queues.values():
        counts.add(queue)
        census.consumers += len(queue.subscriptions) + len(queue.parked)
        if queue.paused:
            census.paused += 1
        if queue.ready or queue.unacked or queue.delayed:
            census.ready += queue.ready
            census.unacked += queue.unacked
            census.delayed += len(queue.delayed)
            census.bytes += queue.size()
            if queue.full:
                census.full += 1
            if budget and not queue.knows_oldest():
                budget -= 1
                queue.find_oldest()
            oldest = queue.oldest_at()
            if oldest != NOBODY and (census.oldest_at == NOBODY or oldest < census.oldest_at):
                census.oldest_at = oldest
    gone = broker.gone
    census.queued = gone.queued + counts.queued
    census.delivered = gone.delivered + counts.delivered
    census.retried = gone.retried + counts.retried
    census.dropped = gone.dropped + counts.dropped
    census.expired = gone.expired + counts.expired
    census.dead_lettered = gone.dead_lettered + counts.dead_lettered
    return census


def rank(
    queues: list[Queue], first: int, bound: int, key: str, sign: int, search: bytes, keep: int
) -> tuple[int, list[tuple[int, bytes]]]:
    """How many of the queues `first` up to `bound` have `search` in their name, and the first `keep` of those.

    In order of (sign times key, name): with a sign of -1 the largest comes first.
    """
    found: list[tuple[int, bytes]] = []
    for place in range(first, bound):
        queue = queues[place]
        if search and search not in queue.name:
            continue
        found.append((sign * number_of(queue, key), queue.name))
    found.sort()
    return len(found), found[:keep]


def number_of(queue: Queue, key: str) -> int:
    """The number behind one of SORT_KEYS."""
    if key == "ready":
        return queue.ready
    if key == "unacked":
        return queue.unacked
    if key == "bytes":
        return queue.size()
    if key == "queued":
        return queue.queued
    if key == "delivered":
        return queue.delivered
    if key == "consumers":
        return queue.consumer_count()
    if key == "dropped":
        return queue.dropped
    if key == "retried":
        return queue.retried
    if key == "delayed":
        return len(queue.delayed)
    if key == "oldest":
        # By age: the one that was published first is the largest, and none at all the smallest.
        oldest = queue.oldest_at()
        return 0 if oldest == NOBODY else (1 << 62) - oldest
    return 0
