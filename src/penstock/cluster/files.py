"""The files of a node's copy: segments with the bytes of the stream's messages, and where those are in the stream.

`cluster.json` has, for each segment, the place in the stream where it begins. So a node that starts knows where to read
on, and a leader that trims the log knows what to delete from the stream.

Segments are written as they come, and synced only when the next one begins: what a copy lacks, the stream has.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise

from penstock.cluster.history import Mark
from penstock.cluster.stream import StreamMessage
from penstock.errors import LogError
from penstock.log.snapshot import SNAPSHOT_SUFFIX, snapshot_name
from penstock.storage.disk import Disk, write_whole
from penstock.storage.recovery import GAPS_NAME, PositionGap, read_position_gaps, write_position_gaps
from penstock.storage.segments import SEGMENT_SUFFIX, position_of, segments_of
from penstock.storage.snapshot_files import write_snapshot

NAME = "cluster.json"
PART_NAME = "cluster.part"


class NotACopy(LogError):
    """The directory has something else than the stream has. It can be emptied and filled from the stream again."""


class Outpaced(NotACopy):
    """What comes next was deleted from the stream before this node has read it."""


class CopyFiles:
    def __init__(self, disk: Disk, stream_id: str) -> None:
        """Raises NotACopy if the directory is damaged, LogError if it belongs to something else."""
        self.disk = disk
        self.stream_id = stream_id
        self.is_joining = False  # the directory is being filled, and cannot be used yet
        self.segment = ""  # the current one, and how many bytes of it the directory has
        self.size = 0
        self._marks: dict[str, Mark] = {}  # by segment: where it begins
        self._handle = -1
        self._read_marks()

    @property
    def is_empty(self) -> bool:
        return not self._marks

    @property
    def mark(self) -> Mark:
        """Where to read the stream from: the place where the newest segment begins."""
        return self._marks[max(self._marks)] if self._marks else Mark()

    def find_place(self, message: StreamMessage, begun: Mark) -> None:
        """Make the message's segment the current one, and check that its beginning is there."""
        if message.segment != self.segment:
            if message.place != 0:
                raise NotACopy(f"the stream goes on within {message.segment}, of which the beginning is missing")
            self.close()
            if message.segment not in self._marks:
                self._sync_newest()
                self._marks[message.segment] = begun
                self._write_marks()
            self.segment = message.segment
            self.size = self.disk.file_size(message.segment) if message.segment in self.disk.names() else 0
        if message.place > self.size:
            raise NotACopy(f"{self.disk.directory / message.segment} has no bytes before {message.place}")

    def compare(self, message: StreamMessage) -> int:
        """How many bytes of the message the directory has already. Raises NotACopy if it has others."""
        known = self.size - message.place
        if known <= 0:
            return 0
        with self.disk.read(self.segment) as file:
            file.seek(message.place)
            there = file.read(min(known, len(message.data)))
        if there != message.data[: len(there)]:
            raise NotACopy(f"{self.disk.directory / self.segment} differs from the stream at byte {message.place}")
        return len(there)

    def write(self, data: bytes) -> None:
        """Write behind what the current segment has."""
        if not data:
            return
        if self._handle < 0:
            self._handle = self.disk.open(self.segment)
            self.disk.sync_directory()
        view = memoryview(data)
        while view:
            written = self.disk.write(self._handle, view)
            self.size += written
            view = view[written:]

    def write_snapshot(self, position: int, data: bytes) -> None:
        """Keep the state at a position that the segments reach."""
        self.close()
        self._sync_newest()
        write_snapshot(self.disk, snapshot_name(position), [data])

    def trim(self, names: list[str]) -> list[tuple[int, int]]:
        """Delete these segments, and return which numbers of the stream nobody needs any more, as first and end.

        What is before all segments comes first: while something is missing in the middle of the stream, its beginning
        must be missing as well, or nodes that come then do not know that they have to join.
        """
        there = segments_of(self.disk)
        going = [(name, follower) for name, follower in pairwise(there) if name in names]
        if going:
            gaps = read_position_gaps(self.disk)
            gaps += [PositionGap(position_of(name), position_of(follower), trimmed=True) for name, follower in going]
            write_position_gaps(self.disk, gaps)
            for name, _ in going:
                self.disk.remove(name)
            self.disk.sync_directory()
        marks = sorted(self._marks.items())
        ranges = [
            (mark.sequence + 1, after.sequence + 1) for (name, mark), (_, after) in pairwise(marks) if name in names
        ]
        for name in names:
            self._marks.pop(name, None)
        self._write_marks()
        if self._marks:
            ranges.insert(0, (0, self._marks[min(self._marks)].sequence + 1))
        return ranges

    def begin_joining(self) -> None:
        self.is_joining = True
        self._write_marks()

    def end_joining(self, gaps: list[PositionGap]) -> None:
        """The directory has what a broker can be recovered from. `gaps` were trimmed before this node came."""
        write_position_gaps(self.disk, [*read_position_gaps(self.disk), *gaps])
        self.is_joining = False
        self._write_marks()

    def close(self) -> None:
        """Close the current segment."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            self.disk.close(handle)

    def _sync_newest(self) -> None:
        """Make the newest segment safe; it may have been written before this process started."""
        name = max(self._marks, default="")
        if name in self.disk.names():
            handle = self.disk.open(name)
            try:
                self.disk.sync(handle)
            finally:
                self.disk.close(handle)

    def _read_marks(self) -> None:
        names = self.disk.names()
        if NAME not in names:
            if any(name.endswith((SEGMENT_SUFFIX, SNAPSHOT_SUFFIX)) for name in names):
                raise LogError(f"{self.disk.directory} has the log of a broker without a cluster")
            self._write_marks()
            return
        with self.disk.read(NAME) as file:
            text = file.read()
        try:
            fields = json.loads(text)
            stream_id, is_joining = str(fields["stream"]), bool(fields["joining"])
            self._marks = {str(name): Mark(**mark) for name, mark in fields["segments"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotACopy(f"{self.disk.directory / NAME}: {error!r}") from error
        if stream_id != self.stream_id:
            raise LogError(f"{self.disk.directory} is the copy of another stream: {stream_id}, not {self.stream_id}")
        if is_joining:
            raise NotACopy(f"{self.disk.directory} was not filled to the end")

    def _write_marks(self) -> None:
        fields = {
            "stream": self.stream_id,
            "joining": self.is_joining,
            "segments": {name: asdict(mark) for name, mark in sorted(self._marks.items())},
        }
        write_whole(self.disk, PART_NAME, [json.dumps(fields).encode()])
        self.disk.rename(PART_NAME, NAME)
        self.disk.sync_directory()


def discard(disk: Disk) -> None:
    """Delete the copy. `cluster.json` goes last: without it, the directory would look like that of a single broker."""
    for name in sorted(disk.names()):
        if name.endswith((SEGMENT_SUFFIX, SNAPSHOT_SUFFIX)) or name == GAPS_NAME:
            disk.remove(name)
    disk.sync_directory()
    if NAME in disk.names():
        disk.remove(NAME)
        disk.sync_directory()
