"""History that nobody owes any more is let go of, segment by segment, by age and by size.

Never let go of: what a queue owes, the newest segment, and whatever lies behind the older of two snapshots, so that a
start can do without the newer one. What goes is written down as a gap first: a segment that is missing without that
was lost, and the broker does not start.
"""

from itertools import pairwise
from typing import Final

from penstock.log.disk import Disk
from penstock.log.reader import UNKNOWN, LogReader
from penstock.log.recovery import Gap, read_gaps, write_gaps
from penstock.log.segments import headers_of, position_of, segments_of
from penstock.log.snapshot import SNAPSHOT_SUFFIX, snapshots_of

SNAPSHOTS_NEEDED: Final = 2


class Retention:
    def __init__(self, disk: Disk, seconds: float, bytes_max: int) -> None:
        self.disk = disk
        self.microseconds = round(seconds * 1_000_000)  # 0: however old
        self.bytes_max = bytes_max
        self.reader = LogReader(disk.directory, disk)

    def trim(self, owed: list[tuple[int, int]], now: int) -> list[str]:
        """Remove the segments that are to go; their names.

        `owed` are ranges of offsets, from the smallest to the largest, that queues owe.
        """
        gone = self._due(owed, now)
        if gone:
            segments = segments_of(self.disk)
            gaps = read_gaps(self.disk)
            for segment in gone:
                follower = segments[segments.index(segment) + 1]
                gaps.append(Gap(position_of(segment), position_of(follower), trimmed=True))
            write_gaps(self.disk, gaps)
            for segment in gone:
                self.disk.remove(segment)
            self.disk.sync_directory()
        return gone

    def _due(self, owed: list[tuple[int, int]], now: int) -> list[str]:
        snapshots = snapshots_of(self.disk)
        if len(snapshots) < SNAPSHOTS_NEEDED:
            return []
        bound = int(snapshots[-SNAPSHOTS_NEEDED].removesuffix(SNAPSHOT_SUFFIX))
        segments = segments_of(self.disk)
        sizes = {segment: self.disk.file_size(segment) for segment in segments}
        total = sum(sizes.values())
        gone: list[str] = []
        for segment, follower in pairwise(segments):
            if position_of(follower) > bound:
                break
            ended_at = self._began_at(follower)
            is_old = self.microseconds > 0 and 0 <= ended_at < now - self.microseconds
            if not is_old and total <= self.bytes_max:
                continue
            if not self._is_owed(segment, follower, owed):
                gone.append(segment)
                total -= sizes[segment]
        return gone

    def _is_owed(self, segment: str, follower: str, owed: list[tuple[int, int]]) -> bool:
        first, end = self.reader.first_offset(segment), self.reader.first_offset(follower)
        if first == UNKNOWN or end == UNKNOWN:
            return True  # who knows
        return any(low < end and high >= first for low, high in owed)

    def _began_at(self, segment: str) -> int:
        """When the first block of a segment was closed; -1 when that cannot be said."""
        headers = headers_of(self.disk, segment)
        _, header = next(headers, (0, None))
        headers.close()
        return -1 if header is None else header.closed_at
