"""Reads messages back from the log one by one, mostly in order. Keeps a few cursors open and caches recent blocks.

Several queues may be read at once, each from its own place. Each cursor moves from block to block without seeking; a
block that several queues share is read once as long as they stay close together.

Damage is recorded once per stretch of offsets, and the stretch is not read again. A segment with damage is scanned
once, block by block (`salvage`): its whole blocks are read, and only the rest is given up.

A failed read does not mean damage: the process may be out of file descriptors or memory, or the disk may be temporarily
unavailable. Then only the reason is recorded, in `stall`, and a later fetch returns the message once it can be read. A
file that is missing from a readable directory is damage.
"""

import errno
from typing import Final

from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.tuning import Tuning
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.reader import Cursor, LogReader, UnreachableLog
from penstock.storage.salvage import Salvage

EVERYTHING: Final = 1 << 62
NO_HANDLES: Final = (errno.EMFILE, errno.ENFILE)


class _Reading:
    """An open cursor and the offset it reads next."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.next_offset = 0


class Pager:
    def __init__(self, disk: Disk, tuning: Tuning | None = None) -> None:
        self.disk = disk
        self.tuning = tuning or Tuning()
        self.faults: list[str] = []  # damage found; the caller that reports it clears the list
        self.is_stalled = False  # the last fetch that returned None found the log temporarily unreadable ...
        self.stall = ""  # ... for this reason
        self.read_bytes = 0  # total bytes of blocks read
        self._reader = LogReader(disk.directory, disk, self.tuning)
        self._block: Block | None = None  # the one used last
        self._blocks: list[Block] = []  # recently read, newest last
        self._blocks_bytes = 0
        self._readings: list[_Reading] = []  # most recently used last
        self._salvages: list[Salvage] = []  # damaged segments
        self._bad: list[tuple[int, int]] = []  # unreadable offsets: first, end (exclusive)

    def fetch(self, offset: int, readable: int) -> Message | None:
        """The message with this offset; None if it cannot be read. Offsets below `readable` are in the log by now."""
        block = self._block
        try:
            if block is None or not block.first_offset <= offset < block.end_offset:
                block = self._find(offset, readable)
                if block is None:
                    return None
                self._block = block
            return block.message(offset - block.first_offset)
        except MemoryError:
            self._note_stall("out of memory")
            return None

    def let_go_of(self, segment: str) -> None:
        """Close a deleted segment: its disk space is not freed while a cursor has it open."""
        self._salvages = [salvage for salvage in self._salvages if salvage.segment != segment]
        for reading in list(self._readings):
            if reading.cursor.segment == segment:
                self._end(reading)

    def close(self) -> None:
        for reading in self._readings:
            reading.cursor.close()
        self._readings.clear()
        self._blocks.clear()
        self._blocks_bytes = 0
        self._block = None

    def _find(self, offset: int, readable: int) -> Block | None:
        self.is_stalled = False
        for block in self._blocks:
            if block.first_offset <= offset < block.end_offset:
                return block
        for first, end in self._bad:
            if first <= offset < end:
                return None
        try:
            return self._salvaged(offset) or self._look_up(offset, readable)
        except (OSError, UnreachableLog) as error:
            if _of_system(error) not in NO_HANDLES or not self._let_go_of_files():
                self._note_stall(_reason_of(error))
                return None
        # We were out of file descriptors and have just closed our own, so try again.
        try:
            return self._look_up(offset, readable)
        except (OSError, UnreachableLog) as error:
            self._note_stall(_reason_of(error))
            return None

    def _look_up(self, offset: int, readable: int) -> Block | None:
        """None if the message is damaged, which is recorded. Raises OSError or UnreachableLog if the read failed."""
        reading = self._reading_near(offset)
        if reading is not None:
            try:
                block = self._read(reading, offset, self.tuning.skip_bytes)
                if block is not None:
                    return block
            except (LogError, OSError, IndexError, ValueError):
                # The cursor may be in a segment that was deleted since. Open a new one at the offset.
                self._end(reading)
        reading = self._reading_at(offset)
        try:
            return self._read(reading, offset, EVERYTHING)
        except (OSError, UnreachableLog):
            self._end(reading)
            raise
        except (LogError, IndexError, ValueError) as error:
            self._end(reading)
            return self._salvage(offset, readable, str(error))

    def _salvaged(self, offset: int) -> Block | None:
        """The block that holds the offset, from a segment already known to be damaged."""
        for salvage in self._salvages:
            block = salvage.find(offset)
            if block is not None:
                self._keep(block)
                return block
        return None

    def _salvage(self, offset: int, readable: int, reason: str) -> Block | None:
        """Find the block after the damage; if there is none, record the unreadable stretch. Raises OSError."""
        first = end = -1
        for segment in self._near(offset):
            known = [salvage for salvage in self._salvages if salvage.segment == segment]
            salvage = known[0] if known else Salvage(self.disk, segment)
            try:
                salvage.extend()
                block = salvage.find(offset)
            except FileNotFoundError:
                continue
            if block is not None:
                if not known:
                    self._salvages.append(salvage)
                self._keep(block)
                return block
            found = salvage.first_offset()
            if found >= 0 and (found <= offset or salvage.stretch(offset)[1] >= 0):
                low, high = salvage.stretch(offset)
                first = max(first, low) if found <= offset else first
                end = high if high >= 0 and (end < 0 or high < end) else end
                if not known:
                    self._salvages.append(salvage)
        self._note(offset, readable, reason, first, end)
        return None

    def _near(self, offset: int) -> list[str]:
        """The segment that should hold an offset, and its neighbours: a damaged header may contain anything."""
        segments = self._reader.segments()
        begun = [n for n, segment in enumerate(segments) if self._reader.first_offset(segment) <= offset]
        number = begun[-1] if begun else 0
        return segments[max(number - 1, 0) : number + 2]

    def _reading_near(self, offset: int) -> _Reading | None:
        """An open cursor shortly before the offset."""
        readings = self._readings
        for reading in reversed(readings):
            if reading.next_offset <= offset < reading.next_offset + self.tuning.skip_max:
                readings.remove(reading)
                readings.append(reading)
                return reading
        return None

    def _reading_at(self, offset: int) -> _Reading:
        """A new cursor; replaces the least recently used one if there are too many."""
        if len(self._readings) >= self.tuning.readers_max:
            self._end(self._readings[0])
        reading = _Reading(self._reader.cursor(offset))
        self._readings.append(reading)
        return reading

    def _end(self, reading: _Reading) -> None:
        self._readings.remove(reading)
        reading.cursor.close()

    def _read(self, reading: _Reading, offset: int, skip_bytes: int) -> Block | None:
        """Read ahead to the block that holds the offset; None if `skip_bytes` or more lie before it."""
        skipped = 0
        while skipped < skip_bytes:
            block = reading.cursor.next_block()
            if block is None:
                raise LogError(f"offset {offset} is not in the log: the last offset is {reading.next_offset - 1}")
            self.read_bytes += len(block.data)
            end = block.end_offset
            reading.next_offset = end
            if offset < end:
                if block.first_offset > offset:
                    raise LogError(f"offset {offset} is not in the log: the next offset is {block.first_offset}")
                self._keep(block)
                return block
            skipped += len(block.data)
        return None

    def _keep(self, block: Block) -> None:
        blocks = self._blocks
        blocks.append(block)
        self._blocks_bytes += len(block.data)
        tuning = self.tuning
        while len(blocks) > 1 and (len(blocks) > tuning.blocks_max or self._blocks_bytes > tuning.blocks_bytes_max):
            self._blocks_bytes -= len(blocks.pop(0).data)

    def _let_go_of_files(self) -> bool:
        """Close all open files; each cursor reopens its file on the next read. False if none was open."""
        was_open = False
        for reading in self._readings:
            was_open = reading.cursor.is_open() or was_open
            reading.cursor.close()
        return was_open

    def _note(self, offset: int, readable: int, reason: str, found_first: int = -1, found_end: int = -1) -> None:
        """Give up a stretch around an offset: the known extent, else the rest of the segment as written so far.

        Messages written later are not affected.
        """
        begin = found_first if 0 <= found_first <= offset else offset
        end = max(readable, offset + 1)
        if found_end > offset:
            end = min(end, found_end)
        segments = self._reader.segments()
        if not segments:  # a log in use has at least one: this is the wrong directory, or none
            raise UnreachableLog(f"no log in {self.disk.directory}")
        for segment in segments:
            first = self._reader.first_offset(segment)
            if offset < first < end:
                end = first
        self._bad.append((begin, end))
        self.faults.append(f"{reason}: messages {begin} to {end - 1} cannot be read")

    def _note_stall(self, reason: str) -> None:
        self.is_stalled = True
        self.stall = reason


def _of_system(error: Exception) -> int:
    """The errno; 0 if the error did not come from the operating system."""
    cause = error if isinstance(error, OSError) else error.__cause__
    return cause.errno or 0 if isinstance(cause, OSError) else 0


def _reason_of(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
