"""Reading a log from outside: a cursor over a data directory, which works while a broker writes to it.

The reader does not talk to the broker and takes no locks. That works because a segment only grows, every block carries
a checksum, and a segment is started only after the previous one is complete. If there is no whole block at a place, one
of three cases applies:

    not yet     it is the end of the last segment, or what would be a torn end there (`segments.is_torn_end`): the block
                is being written, or its writer has died and the next one will truncate it. Try again later.
    next        it is the exact end of a segment, and another segment has been started.
    damage      anything else; raised as CorruptBlock.

The writer keeps running while the reader looks, so apparent damage is read a second time before it is reported.

A reader sees data that has been written, but may not be synced yet: after a power failure, or if the broker was stopped
with a full disk, the log may end slightly before what was read. A reader that must not get ahead of the log stops at
the broker's durable mark. A broker that runs out of disk space truncates the unfinished batch and later writes the same
bytes again; a cursor that was ahead waits there.

A start offset is found without reading the log before it: the segment by bisection over the first headers, the place
within it by an index built from headers. Only a block with new names is read in full, because later blocks refer to
names by number.
"""

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.header import CorruptBlock, Header
from penstock.log.interface import Change
from penstock.log.tuning import Tuning
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.segments import block_at, first_header, headers_of, is_torn_end, segments_of

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN: Final = 1 << 62  # greater than any offset


class UnreachableLog(LogError):
    """The directory cannot be read, temporarily or permanently. The log itself may be intact."""


class Cursor:
    """Reads block after block, and waits for more at the end of the log. Independent of the broker."""

    def __init__(self, disk: Disk, segment: str = "", place: int = 0, names: list[bytes] | None = None) -> None:
        self.disk = disk
        self.segment = segment  # of the last block returned; "" before the first
        self.place = place  # where the next block starts
        self._names = names if names is not None else []
        self._file: BinaryIO | None = None
        self._misfit = ""

    def next_block(self) -> Block | None:
        """The next block, or None if it has not been written yet.

        Raises CorruptBlock on damage, and does not move the cursor.
        """
        while True:
            block = self._maybe_read()
            if block is not None:
                return block
            follower = self._follower()
            if not follower and (not self._misfit or is_torn_end(self.disk, self.segment, self.place)):
                return None
            block = self._maybe_read()
            if block is not None:
                return block
            if self._misfit:
                raise CorruptBlock(self.segment, self.place, self._misfit)
            if not follower:
                return None
            self.segment = follower
            self.place = 0
            self._names = []

    def is_open(self) -> bool:
        return self._file is not None

    def close(self) -> None:
        """Close the file; the next read reopens it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()

    def _maybe_read(self) -> Block | None:
        """The block at this place, or None; `_misfit` then holds the reason, or is empty at the end of the file."""
        self._misfit = ""
        file = self._open()
        if file is None:
            return None
        data, self._misfit = block_at(file, self.place)
        if self._misfit or not data:
            # Reopen for the next attempt: the buffer may hold half a block, and the file may be replaced.
            self.close()
            return None
        self.place += len(data)
        return Block(data, self._names)

    def _open(self) -> BinaryIO | None:
        if self._file is None and self.segment:
            try:
                self._file = self.disk.read(self.segment)
            except FileNotFoundError:
                if self.segment in _segments(self.disk):
                    raise
                if self.place:
                    raise LogError(f"segment {self.segment} was deleted from {self.disk.directory}") from None
                return None  # its only block was torn and has been truncated
        return self._file

    def _follower(self) -> str:
        """The name of the segment after this one; "" if there is none."""
        for segment in _segments(self.disk):
            if segment > self.segment:
                return segment
        return ""


class SegmentIndex:
    """Maps offsets to places in a segment: a sparse list of points, with the names known at each."""

    def __init__(self, disk: Disk, segment: str, stride: int) -> None:
        self.disk = disk
        self.segment = segment
        self.stride = stride  # bytes from one point to the next
        self.names: list[bytes] = []
        self.place = 0  # everything before this is indexed
        self.last: Header | None = None  # of the block before `place`
        self._offsets: list[int] = []
        self._places: list[int] = []
        self._name_counts: list[int] = []

    def extend(self, offset: int = UNKNOWN) -> None:
        """Index up to the block that holds the offset, or to the last whole block."""
        if self.last is not None and self.last.end_offset > offset:
            return
        headers = headers_of(self.disk, self.segment, self.place)
        try:
            self._walk(headers, offset)
        finally:
            headers.close()

    def _walk(self, headers: Iterator[tuple[int, Header]], offset: int) -> None:
        for place, header in headers:
            if not self._places or place - self._places[-1] >= self.stride:
                self._offsets.append(header.first_offset)
                self._places.append(place)
                self._name_counts.append(len(self.names))
            if header.name_count and not self._take_names(place):
                return
            self.place = place + header.length
            self.last = header
            if header.end_offset > offset:
                return

    def find(self, offset: int) -> tuple[int, list[bytes]]:
        """A place at or before the block that holds the offset, and the names known at that place."""
        self.extend(offset)
        point = max(bisect_right(self._offsets, offset) - 1, 0)
        # Blocks without messages share their first offset with the next block; start at the first of them.
        while point > 0 and self._offsets[point] == offset:
            point -= 1
        if not self._places:
            return 0, []
        return self._places[point], self.names[: self._name_counts[point]]

    def _take_names(self, place: int) -> bool:
        with self.disk.read(self.segment) as file:
            data, reason = block_at(file, place)
        if reason or not data:
            return False  # the cursor that reads this block reports the damage
        block = Block(data, [])
        if block.code_max() + 1 - block.name_count != len(self.names):
            return False  # earlier names are missing: only a damaged header can have hidden them
        self.names += block.names
        return True


class LogReader:
    """The log of a data directory, readable from any offset, any number of times."""

    def __init__(self, directory: Path, disk: Disk | None = None, tuning: Tuning | None = None) -> None:
        self.directory = directory
        self.disk = disk or Disk(directory)
        self.tuning = tuning or Tuning()
        # Cached facts about existing segments.
        self._seen: list[str] = []
        self._firsts: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._indexes: dict[str, SegmentIndex] = {}

    def __repr__(self) -> str:
        return f"<LogReader {str(self.directory)!r} {len(self._indexes)} segments indexed>"

    def segments(self) -> list[str]:
        """The names of the segments, oldest first. Drops cached facts about deleted segments."""
        segments = _segments(self.disk)
        if segments != self._seen:
            self._seen = segments
            there = set(segments)
            self._firsts = {segment: first for segment, first in self._firsts.items() if segment in there}
            self._ends = {segment: end for segment, end in self._ends.items() if segment in there}
            self._indexes = {segment: index for segment, index in self._indexes.items() if segment in there}
        return segments

    def cursor(self, offset: int = 0) -> Cursor:
        """A cursor at the block that holds the offset, or a little before it."""
        segments = self.segments()
        if offset <= 0 or not segments:
            return Cursor(self.disk)
        # An unreadable first header counts as greater, so the search may land too early, never too late.
        number = max(bisect_right(segments, offset, key=self.first_offset) - 1, 0)
        place, names = self._index(segments[number]).find(offset)
        return Cursor(self.disk, segments[number], place, names)

    def end(self) -> tuple[int, int]:
        """The next offset and the next position: the current end of the log."""
        for segment in reversed(self.segments()):
            index = self._index(segment)
            index.extend()
            if index.last is not None:
                return index.last.end_offset, index.last.end_position
        return 0, 0

    def blocks(self, start: int = 0, end: int | None = None) -> Iterator[Block]:
        """Every block with entries in the offset range [start, end), up to the current end of the log.

        A block without messages belongs to the next offset.
        """
        bound = UNKNOWN if end is None else end
        cursor = self.cursor(start)
        try:
            while (block := cursor.next_block()) is not None and block.first_offset < bound:
                if block.first_offset + max(block.message_count, 1) > start:
                    yield block
        finally:
            cursor.close()

    def messages(self, start: int = 0, end: int | None = None) -> Iterator[Message]:
        for block in self.blocks(start, end):
            first, bound = rows_of(block, start, end)
            for index in range(first, bound):
                yield block.message(index)

    def entries(self, start: int = 0, end: int | None = None) -> Iterator[Message | Change]:
        """The messages in the range, with the changes and settlements written in the same blocks."""
        for block in self.blocks(start, end):
            yield from block.changes()
            first, bound = rows_of(block, start, end)
            for index in range(first, bound):
                yield block.message(index)
            for run in block.runs():
                for offset in range(run.first, run.first + run.count):
                    yield Change(Change.SETTLED, run.queue, offset, run.how, due_at=run.due_at)

    def batches(self, start: int = 0, end: int | None = None) -> "Iterator[pa.RecordBatch]":
        """The messages in the range as Arrow, one batch per block. Bodies are not copied out of the block."""
        from penstock.log.arrow import record_batch

        for block in self.blocks(start, end):
            first, bound = rows_of(block, start, end)
            if first < bound:
                yield record_batch(block, first, bound)

    def first_offset(self, segment: str) -> int:
        """The first offset of a segment; UNKNOWN if it has no whole block."""
        first = self._firsts.get(segment)
        if first is None:
            try:
                header = first_header(self.disk, segment)
            except FileNotFoundError:
                if segment in _segments(self.disk):
                    raise
                return UNKNOWN  # trimmed after its name was listed
            if header is None:
                return UNKNOWN
            first = self._firsts[segment] = header.first_offset
        return first

    def end_offset(self, segment: str) -> int:
        """The end offset (exclusive) of a segment that is no longer written to; UNKNOWN if it was deleted."""
        end = self._ends.get(segment)
        if end is None:
            headers = headers_of(self.disk, segment)
            end = UNKNOWN
            try:
                for _, header in headers:
                    end = header.end_offset
            except FileNotFoundError:
                if segment in _segments(self.disk):
                    raise
                return UNKNOWN
            finally:
                headers.close()
            if end != UNKNOWN:
                self._ends[segment] = end
        return end

    def _index(self, segment: str) -> SegmentIndex:
        index = self._indexes.get(segment)
        if index is None:
            index = self._indexes[segment] = SegmentIndex(self.disk, segment, self.tuning.index_stride)
        return index


def rows_of(block: Block, start: int, end: int | None) -> tuple[int, int]:
    """Which messages of the block are in the offset range: first, and end (exclusive)."""
    first = max(start - block.first_offset, 0)
    bound = block.message_count if end is None else min(end - block.first_offset, block.message_count)
    return first, bound


def _segments(disk: Disk) -> list[str]:
    try:
        return segments_of(disk)
    except OSError as error:
        raise UnreachableLog(f"cannot read data directory {disk.directory}: {error.strerror}") from error
