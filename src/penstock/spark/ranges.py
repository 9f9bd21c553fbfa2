"""Arithmetic on ranges of offsets: where a batch ends, and how it is split into tasks."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple


class Range(NamedTuple):
    """The offsets from `start` up to, but not including, `end`."""

    start: int
    end: int


def split(whole: Range, parts_min: int, records_max: int) -> list[Range]:
    """Split into nearly equal parts: at least `parts_min`, if there are enough offsets, each at most `records_max`."""
    count = whole.end - whole.start
    if count <= 0:
        return []
    parts = min(max(parts_min, -(-count // records_max)), count)
    edges = [whole.start + count * part // parts for part in range(parts + 1)]
    return [Range(start, end) for start, end in pairwise(edges)]


def without(whole: Range, offset_gaps: Iterable[Range]) -> list[Range]:
    """The parts of a range outside the gaps, which are in order."""
    left = []
    place = whole.start
    for gap in offset_gaps:
        if gap.end <= place or gap.start >= whole.end:
            continue
        if gap.start > place:
            left.append(Range(place, gap.start))
        place = min(gap.end, whole.end)
    return [*left, Range(place, whole.end)] if place < whole.end else left


def within(whole: Range, offset_gaps: Iterable[Range]) -> list[Range]:
    """The parts of a range inside the gaps."""
    cut = [Range(max(whole.start, gap.start), min(whole.end, gap.end)) for gap in offset_gaps]
    return [part for part in cut if part.start < part.end]


def behind(start: int, count: int, offset_gaps: Iterable[Range]) -> int:
    """The end of a range with `count` offsets from `start`, not counting those in gaps, which are in order."""
    end = start + count
    for gap in offset_gaps:
        if gap.start >= end:
            break
        end += max(gap.end - max(gap.start, start), 0)
    return end


class Admission:
    """Decides where the next batch ends. Needs a clock, because a small batch may wait for more only so long."""

    def __init__(self, offsets_min: int | None, delay_max: float, clock: Callable[[], float]) -> None:
        self._offsets_min = offsets_min
        self._delay_max = delay_max
        self._clock = clock
        self._last = clock()

    def end(
        self, start: int, available: int, offsets_max: int | None, *, may_wait: bool, offset_gaps: Sequence[Range] = ()
    ) -> int:
        """The end of the next batch; `start` if there is none now."""
        now = self._clock()
        waits = may_wait and self._offsets_min is not None and available - start < self._offsets_min
        if available <= start or (waits and now - self._last < self._delay_max):
            return start
        self._last = now
        return available if offsets_max is None else min(available, behind(start, offsets_max, offset_gaps))
