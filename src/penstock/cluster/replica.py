"""A node's copy of the log: the segments that the stream's messages describe, and a replay of them that is kept open.

The copy is written as it comes, and synced only when a segment ends: what it lacks, the stream has. Beside the
segments is `cluster.json`: where in the stream the newest segment begins. A node that starts reads its segments, then
the stream from there. What it has already is compared byte by byte, what follows is applied and written.

A leader writes its own blocks in the same way, once the stream has acknowledged them. So a copy never has anything
that the stream does not have, and all copies have the same bytes at the same place.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict

from penstock.cluster.history import Mark
from penstock.cluster.stream import StreamMessage
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.core.replay import Replay
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.header import HEADER_SIZE, block_length, is_intact
from penstock.log.snapshot import SNAPSHOT_SUFFIX
from penstock.log.tuning import Tuning
from penstock.storage.disk import Disk, write_whole
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager
from penstock.storage.recovery import find_start, misplaced, read_back
from penstock.storage.segments import SEGMENT_SUFFIX

MARK_NAME = "cluster.json"
MARK_PART_NAME = "cluster.part"


class NotACopy(LogError):
    """The directory has something else than the stream has. It can be emptied and filled from the stream again."""


class Replica:
    """Opened from what the directory has. After `finish` it only takes what this node's own broker writes."""

    def __init__(
        self, disk: Disk, stream_id: str, limits: Limits, segment_bytes_max: int, tuning: Tuning | None = None
    ) -> None:
        self.disk = disk
        self.stream_id = stream_id
        self.log = DurableLog(segment_bytes_max, tuning)
        self.mark = self._read_mark()
        snapshot, self.problems = find_start(disk)
        self.replay = Replay(self.log, limits, snapshot)
        self.position = 0 if snapshot is None else snapshot.position
        self.next_offset = 0 if snapshot is None else snapshot.next_offset
        with closing(read_back(disk, snapshot)) as blocks:
            for block in blocks:
                self._apply(block)
        self._segment = ""
        self._size = 0  # bytes of the segment that the directory has
        self._names: list[bytes] = []
        self._handle = -1

    def take(self, message: StreamMessage, begun: Mark) -> None:
        """Apply and write the blocks of a message that counts. `begun`: the history before its first part.

        Raises NotACopy if the directory has something else in their place, LogError if they cannot follow.
        """
        self._find_place(message, begun)
        known = self._size - message.place
        if known > 0 and self._read(message.place, min(known, len(message.data))) != message.data[:known]:
            raise NotACopy(f"{self.disk.directory / message.segment} differs from the stream at byte {message.place}")
        start = 0
        while start < len(message.data):
            end = start + block_length(message.data[start : start + HEADER_SIZE])
            data = message.data[start:end]
            if end == start or len(data) < end - start or not is_intact(data):
                raise LogError(f"the stream's message at position {message.position} has a damaged block")
            block = Block(data, self._names)
            if end > known:
                if start < known:
                    raise NotACopy(f"{self.disk.directory / message.segment} ends within a block")
                reason = misplaced(self.position, self.next_offset, block)
                if reason:
                    raise NotACopy(f"position {self.position}: {reason}")
                self._apply(block)
            start = end
        if len(message.data) > known:
            self._write(message.data[max(known, 0) :])

    def append(self, message: StreamMessage, begun: Mark) -> None:
        """Write blocks of this node's own broker that the stream has acknowledged."""
        self._find_place(message, begun)
        self._write(message.data)

    def finish(self, now: int) -> GuardedBroker:
        """The broker as the log left it, to go on with."""
        broker = self.replay.finish()
        self.log.pager = Pager(self.disk, self.log.tuning)
        self.log.resume(self.log.next_offset, self.log.position, now)
        broker.expect_consumers(now)
        return broker

    def close(self) -> None:
        """Sync and close the current segment."""
        if self._handle >= 0:
            self.disk.sync(self._handle)
            self.disk.close(self._handle)
            self._handle = -1

    def _apply(self, block: Block) -> None:
        self.replay.apply_block(block)
        self.position = block.end_position
        self.next_offset = block.end_offset

    def _find_place(self, message: StreamMessage, begun: Mark) -> None:
        if message.segment != self._segment:
            if message.place != 0:
                raise NotACopy(f"the stream goes on within {message.segment}, of which the beginning is missing")
            self._begin_segment(message.segment, begun)
        if message.place > self._size:
            raise NotACopy(f"{self.disk.directory / message.segment} has no bytes before {message.place}")

    def _begin_segment(self, segment: str, begun: Mark) -> None:
        self.close()
        if begun.sequence > self.mark.sequence or not self.mark.sequence:
            self._write_mark(begun)
        self._segment = segment
        self._names = []
        self._size = self.disk.file_size(segment) if segment in self.disk.names() else 0

    def _write(self, data: bytes) -> None:
        if self._handle < 0:
            self._handle = self.disk.open(self._segment)
            self.disk.sync_directory()
        view = memoryview(data)
        while view:
            written = self.disk.write(self._handle, view)
            self._size += written
            view = view[written:]

    def _read(self, place: int, size: int) -> bytes:
        with self.disk.read(self._segment) as file:
            file.seek(place)
            return file.read(size)

    def _read_mark(self) -> Mark:
        names = self.disk.names()
        if MARK_NAME not in names:
            if any(name.endswith((SEGMENT_SUFFIX, SNAPSHOT_SUFFIX)) for name in names):
                raise LogError(f"{self.disk.directory} has the log of a broker without a cluster")
            return Mark()
        with self.disk.read(MARK_NAME) as file:
            text = file.read()
        try:
            fields = json.loads(text)
            stream_id = str(fields.pop("stream"))
            mark = Mark(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotACopy(f"{self.disk.directory / MARK_NAME}: {error}") from error
        if stream_id != self.stream_id:
            raise LogError(f"{self.disk.directory} is the copy of another stream ({stream_id}, not {self.stream_id})")
        return mark

    def _write_mark(self, mark: Mark) -> None:
        text = json.dumps({"stream": self.stream_id, **asdict(mark)}).encode()
        write_whole(self.disk, MARK_PART_NAME, [text])
        self.disk.rename(MARK_PART_NAME, MARK_NAME)
        self.disk.sync_directory()
        self.mark = mark


def discard(disk: Disk) -> None:
    """Delete the copy. The mark goes last: without it, the directory would look like that of a single broker."""
    for name in sorted(disk.names()):
        if name.endswith((SEGMENT_SUFFIX, SNAPSHOT_SUFFIX)):
            disk.remove(name)
    disk.sync_directory()
    if MARK_NAME in disk.names():
        disk.remove(MARK_NAME)
        disk.sync_directory()
