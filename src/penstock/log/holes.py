"""Holes: stretches of offsets in the middle of the log that retention has let go of.

A message that is still owed keeps its segment, while those around it go. What went before the oldest segment is no
hole: the log begins later then.
"""

from bisect import bisect_left

from penstock.errors import LogError
from penstock.log.reader import UNKNOWN, LogReader
from penstock.log.recovery import read_gaps
from penstock.log.segments import position_of

TRIES = 10


def holes_of(reader: LogReader) -> list[tuple[int, int]]:
    """The first offset of each hole and the one behind its last, in order."""
    for _ in range(TRIES):
        holes = _look(reader)
        if holes is not None:
            return holes
    raise LogError(f"{reader.directory}: segments go faster than they can be looked at")


def _look(reader: LogReader) -> list[tuple[int, int]] | None:
    """None when a segment went while it was looked at."""
    # In this order: a gap is written down before its segments are removed.
    segments = reader.segments()
    gaps = read_gaps(reader.disk)
    positions = [position_of(segment) for segment in segments]
    holes: list[tuple[int, int]] = []
    for gap in gaps:
        if not gap.trimmed:
            continue
        number = max(bisect_left(positions, gap.start), 1)
        # Usually there is one segment before the gap and one behind it; some within may still be about to go.
        while number < len(segments) and positions[number - 1] < gap.end:
            low, high = reader.end_offset(segments[number - 1]), reader.first_offset(segments[number])
            if low == UNKNOWN or high == UNKNOWN:
                return None
            if low < high:
                holes.append((low, high))
            number += 1
    return holes
