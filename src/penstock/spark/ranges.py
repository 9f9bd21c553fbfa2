"""Ranges of offsets: how far a batch goes, and how it is split over tasks. Numbers only."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple


class Range(NamedTuple):
    """The offsets from `start` up to, and without, `end`."""

    start: int
    end: int


def split(whole: Range, parts_min: int, records_max: int) -> list[Range]:
    """Pieces of nearly equal size: at least `parts_min`, where there are offsets enough, and none over the maximum."""
    count = whole.end - whole.start
    if count <= 0:
        return []
    parts = min(max(parts_min, -(-count // records_max)), count)
    edges = [whole.start + count * part // parts for part in range(parts + 1)]
    return [Range(start, end) for start, end in pairwise(edges)]


def without(whole: Range, holes: Iterable[Range]) -> list[Range]:
    """What is left of a range; the holes are in order."""
    left = []
    place = whole.start
    for hole in holes:
        if hole.end <= place or hole.start >= whole.end:
            continue
        if hole.start > place:
            left.append(Range(place, hole.start))
        place = min(hole.end, whole.end)
    return [*left, Range(place, whole.end)] if place < whole.end else left


def within(whole: Range, holes: Iterable[Range]) -> list[Range]:
    """What the holes take from a range."""
    cut = [Range(max(whole.start, hole.start), min(whole.end, hole.end)) for hole in holes]
    return [part for part in cut if part.start < part.end]


def behind(start: int, count: int, holes: Iterable[Range]) -> int:
    """The offset behind so many, from `start` on; those in holes, which are in order, do not count."""
    end = start + count
    for hole in holes:
        if hole.start >= end:
            break
        end += max(hole.end - max(hole.start, start), 0)
    return end


class Admission:
    """How far the next batch goes. Keeps a clock, because a small batch may wait for more, but not for ever."""

    def __init__(self, offsets_min: int | None, delay_max: float, clock: Callable[[], float]) -> None:
        self._offsets_min = offsets_min
        self._delay_max = delay_max
        self._clock = clock
        self._last = clock()

    def end(
        self, start: int, available: int, offsets_max: int | None, *, may_wait: bool, holes: Sequence[Range] = ()
    ) -> int:
        """The end of the next batch; `start` when there is to be none now."""
        now = self._clock()
        waits = may_wait and self._offsets_min is not None and available - start < self._offsets_min
        if available <= start or (waits and now - self._last < self._delay_max):
            return start
        self._last = now
        return available if offsets_max is None else min(available, behind(start, offsets_max, holes))
