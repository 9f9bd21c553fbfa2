"""Retention: deletes segments that no queue needs any more, by age and by size.

Three things are never deleted: segments with unsettled messages, the newest segment, and everything after the older of
two snapshots, so that the broker can start without the newer one. A deletion is recorded as a gap first: a segment that
is missing without a record was lost, and the broker does not start.
"""

from itertools import pairwise
from typing import Final

from penstock.log.snapshot import SNAPSHOT_SUFFIX
from penstock.storage.disk import Disk
from penstock.storage.reader import UNKNOWN, LogReader
from penstock.storage.recovery import PositionGap, read_position_gaps, write_position_gaps
from penstock.storage.segments import first_header, position_of
from penstock.storage.snapshot_files import snapshots_of

SNAPSHOTS_NEEDED: Final = 2


class Due:
    """A segment that may be deleted, and its offsets: `first` to `end` (exclusive)."""

    def __init__(self, segment: str, follower: str, first: int, end: int) -> None:
        self.segment = segment
        self.follower = follower
        self.first = first
        self.end = end

    def __repr__(self) -> str:
        return f"<Due {self.segment} from {self.first} to {self.end}>"


class Retention:
    def __init__(self, disk: Disk, seconds: float, bytes_max: int) -> None:
        self.disk = disk
        self.microseconds = round(seconds * 1_000_000)  # 0: no limit by age
        self.bytes_max = bytes_max
        self.reader = LogReader(disk.directory, disk)

    def trim(self, owed: list[tuple[int, int]], now: int) -> list[str]:
        """Delete the segments that are due; returns their names.

        `owed` are ranges of offsets, (smallest, largest), with messages that queues still need.
        """
        return self.remove(self.due(owed, now))

    def remove(self, due: list[Due]) -> list[str]:
        """Delete these segments; returns their names."""
        if due:
            gaps = read_position_gaps(self.disk)
            for one in due:
                gaps.append(PositionGap(position_of(one.segment), position_of(one.follower), trimmed=True))
            write_position_gaps(self.disk, gaps)
            for one in due:
                self.disk.remove(one.segment)
            self.disk.sync_directory()
        return [one.segment for one in due]

    def due(self, owed: list[tuple[int, int]], now: int) -> list[Due]:
        """The segments that may be deleted, oldest first."""
        snapshots = snapshots_of(self.disk)
        if len(snapshots) < SNAPSHOTS_NEEDED:
            return []
        bound = int(snapshots[-SNAPSHOTS_NEEDED].removesuffix(SNAPSHOT_SUFFIX))
        segments = self.reader.segments()
        sizes = {segment: self.disk.file_size(segment) for segment in segments}
        total = sum(sizes.values())
        due: list[Due] = []
        for segment, follower in pairwise(segments):
            if position_of(follower) > bound:
                break
            header = first_header(self.disk, follower)
            ended_at = now if header is None else header.closed_at
            is_old = self.microseconds > 0 and ended_at < now - self.microseconds
            if not is_old and total <= self.bytes_max:
                continue
            first, end = self.reader.first_offset(segment), self.reader.first_offset(follower)
            if first == UNKNOWN or end == UNKNOWN:
                continue  # it may hold unsettled messages
            if not any(low < end and high >= first for low, high in owed):
                due.append(Due(segment, follower, first, end))
                total -= sizes[segment]
        return due
