"""Ranges of offsets in the middle of the log that retention has deleted.

An unsettled message keeps its segment, while the segments around it are deleted. Deletions before the oldest segment
are no gaps: the log just starts later. `recovery` has the same gaps as ranges of positions.
"""

from bisect import bisect_left

from penstock.errors import LogError
from penstock.storage.reader import UNKNOWN, LogReader
from penstock.storage.recovery import read_position_gaps
from penstock.storage.segments import position_of

TRIES = 10


def offset_gaps_of(reader: LogReader) -> list[tuple[int, int]]:
    """The gaps in order, each as first offset and end (exclusive)."""
    for _ in range(TRIES):
        found = _look(reader)
        if found is not None:
            return found
    raise LogError(f"{reader.directory}: segments are deleted faster than they can be read")


def _look(reader: LogReader) -> list[tuple[int, int]] | None:
    """None if a segment was deleted meanwhile."""
    # The order matters: a position gap is recorded before its segments are deleted.
    segments = reader.segments()
    position_gaps = read_position_gaps(reader.disk)
    positions = [position_of(segment) for segment in segments]
    found: list[tuple[int, int]] = []
    for gap in position_gaps:
        if not gap.trimmed:
            continue
        number = max(bisect_left(positions, gap.start), 1)
        # Usually there is one segment before the gap and one after it; some within it may not be deleted yet.
        while number < len(segments) and positions[number - 1] < gap.end:
            low, high = reader.end_offset(segments[number - 1]), reader.first_offset(segments[number])
            if low == UNKNOWN or high == UNKNOWN:
                return None
            if low < high:
                found.append((low, high))
            number += 1
    return found
