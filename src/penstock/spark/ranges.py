"""Ranges of offsets: how far a batch goes, and how it is split over tasks. Numbers only."""

from collections.abc import Callable
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


class Admission:
    """How far the next batch goes. Keeps a clock, because a small batch may wait for more, but not for ever."""

    def __init__(self, offsets_min: int | None, delay_max: float, clock: Callable[[], float]) -> None:
        self._offsets_min = offsets_min
        self._delay_max = delay_max
        self._clock = clock
        self._last = clock()

    def end(self, start: int, available: int, offsets_max: int | None, *, may_wait: bool) -> int:
        """The end of the next batch; `start` when there is to be none now."""
        now = self._clock()
        waits = may_wait and self._offsets_min is not None and available - start < self._offsets_min
        if available <= start or (waits and now - self._last < self._delay_max):
            return start
        self._last = now
        return available if offsets_max is None else min(available, start + offsets_max)
