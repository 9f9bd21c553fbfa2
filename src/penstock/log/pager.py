"""Messages read back one by one, mostly in order: a few places in the log are kept open, and the blocks read last.

Several queues may be read at once, each from its own place. Each reader goes from block to block without seeking; a
block that several queues share is read once while they keep close.

What cannot be read is noted, once for each stretch, and not looked at again: from damage on, the rest of its segment
cannot be trusted, because names are numbered from its beginning.
"""

from contextlib import suppress

from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.disk import Disk
from penstock.log.reader import Cursor, LogReader
from penstock.log.segments import segments_of
from penstock.log.tuning import Tuning
from penstock.message import Message


class _Reading:
    """One place in the log that is kept open."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.next_offset = 0


class Pager:
    def __init__(self, disk: Disk, tuning: Tuning | None = None) -> None:
        self.disk = disk
        self.tuning = tuning or Tuning()
        self.faults: list[str] = []  # what could not be read; whoever reports it empties it
        self._reader = LogReader(disk.directory, disk, self.tuning)
        self._block: Block | None = None  # the one read from last
        self._blocks: list[Block] = []  # read lately, the newest last
        self._blocks_bytes = 0
        self._readings: list[_Reading] = []  # the last used one last
        self._bad: list[tuple[int, int]] = []  # offsets that cannot be read: from, up to and without

    def fetch(self, offset: int, readable: int) -> Message | None:
        """The message with this offset; None when it cannot be read. The log has those before `readable` by now."""
        block = self._block
        if block is None or not block.first_offset <= offset < block.first_offset + block.message_count:
            block = self._find(offset, readable)
            if block is None:
                return None
            self._block = block
        return block.message(offset - block.first_offset)

    def close(self) -> None:
        for reading in self._readings:
            reading.cursor.close()
        self._readings.clear()
        self._blocks.clear()
        self._blocks_bytes = 0
        self._block = None

    def _find(self, offset: int, readable: int) -> Block | None:
        for block in self._blocks:
            if block.first_offset <= offset < block.first_offset + block.message_count:
                return block
        for first, end in self._bad:
            if first <= offset < end:
                return None
        reading = self._reading_near(offset)
        if reading is not None:
            try:
                return self._read(reading, offset)
            except (LogError, OSError):
                # It may stand in a segment that was let go of since. A new one stands where the offset is.
                self._end(reading)
        try:
            return self._read(self._reading_at(offset), offset)
        except (LogError, OSError, IndexError, ValueError) as error:
            self._end(self._readings[-1])
            self._note(offset, readable, error)
            return None

    def _reading_near(self, offset: int) -> _Reading | None:
        """A reader that stands shortly before the offset."""
        readings = self._readings
        for reading in reversed(readings):
            if reading.next_offset <= offset < reading.next_offset + self.tuning.skip_max:
                readings.remove(reading)
                readings.append(reading)
                return reading
        return None

    def _reading_at(self, offset: int) -> _Reading:
        """A new reader; the one longest unused makes room for it."""
        if len(self._readings) >= self.tuning.readers_max:
            self._end(self._readings[0])
        reading = _Reading(self._reader.cursor(offset))
        self._readings.append(reading)
        return reading

    def _end(self, reading: _Reading) -> None:
        self._readings.remove(reading)
        reading.cursor.close()

    def _read(self, reading: _Reading, offset: int) -> Block:
        while True:
            block = reading.cursor.next_block()
            if block is None:
                raise LogError(f"offset {offset} is not in the log: it ends with {reading.next_offset - 1}")
            end = block.first_offset + block.message_count
            reading.next_offset = end
            if offset < end:
                if block.first_offset > offset:
                    raise LogError(f"offset {offset} is not in the log: {block.first_offset} comes next")
                self._keep(block)
                return block

    def _keep(self, block: Block) -> None:
        blocks = self._blocks
        blocks.append(block)
        self._blocks_bytes += len(block.data)
        tuning = self.tuning
        while len(blocks) > 1 and (len(blocks) > tuning.blocks_max or self._blocks_bytes > tuning.blocks_bytes_max):
            self._blocks_bytes -= len(blocks.pop(0).data)

    def _note(self, offset: int, readable: int, error: Exception) -> None:
        """Give up the rest of the segment, as far as there is one: what is written later is another matter."""
        end = max(readable, offset + 1)
        with suppress(OSError):  # then it is all that there is
            for segment in segments_of(self.disk):
                first = self._reader.first_offset(segment)
                if offset < first < end:
                    end = first
        self._bad.append((offset, end))
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.faults.append(f"{reason}: messages from offset {offset} on, up to {end - 1}, cannot be read back")
