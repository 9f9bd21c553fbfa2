"""Reads what is left of a damaged segment: every block with a valid checksum that belongs where it is.

    [ block ][ block ][ damaged ][ block ][ block ]
                       ▲          ▲
                       │          the next whole block: where the damaged block's length says it ends or, since the
                       │          length itself may be damaged, the first whole block found by searching
                       given up: from the end of the previous block to the start of the next

A body may contain what looks like a block, by chance or because somebody published one. So a block found by searching
counts only if it continues the log from before the damage, and if the next block, or the end of the file, follows it.

Names are numbered from the start of a segment, and the damaged block may have added some. The next block with new names
tells how many (it uses every name it adds, so the largest number it uses is the last of its own). The lost names are
unknown, so a block that uses one of them is given up as well. All other blocks are intact.
"""

from bisect import bisect_right
from typing import Final

from penstock.log.block import Block
from penstock.log.header import HEADER_SIZE, Header, block_length
from penstock.storage.disk import Disk
from penstock.storage.segments import block_at, next_whole

TRIES_MAX: Final = 100  # candidates found by searching; each one costs a read of the rest of the segment


class Salvage:
    """The whole blocks of one segment."""

    def __init__(self, disk: Disk, segment: str) -> None:
        self.disk = disk
        self.segment = segment
        self.names: list[bytes] = []
        self.place = 0  # everything before this was scanned
        self.end_offset = -1  # after the last message found; -1 before the first block
        self._end_position = -1
        self._lost: list[tuple[int, int]] = []  # numbers of unknown names: first, end (exclusive)
        # The readable blocks that have messages.
        self._firsts: list[int] = []
        self._ends: list[int] = []
        self._places: list[int] = []
        self._name_counts: list[int] = []

    def first_offset(self) -> int:
        """The first readable offset; -1 if there is none."""
        return self._firsts[0] if self._firsts else -1

    def extend(self) -> None:
        """Scan what has been written since. Damage without a whole block after it may be a block being written."""
        while True:
            with self.disk.read(self.segment) as file:
                data, reason = block_at(file, self.place)
            if not data:
                return
            if not reason and self._take(data):
                self.place += len(data)
                continue
            following = self._behind(data)
            if following < 0:
                return
            self.place = following

    def _behind(self, damaged: bytes) -> int:
        """Where the next block starts; -1 if there is none, or none yet."""
        length = block_length(damaged[:HEADER_SIZE])
        if length:
            with self.disk.read(self.segment) as file:
                data, reason = block_at(file, self.place + length)
            if data and not reason and self._fits(Block(data, [])):
                return self.place + length
        found = self.place
        for _ in range(TRIES_MAX):
            found = next_whole(self.disk, self.segment, found)
            if found < 0 or self._goes_on(found):
                return found
        return -1

    def _goes_on(self, place: int) -> bool:
        """Whether the whole block found there belongs to the log: it fits, and so does what follows it."""
        with self.disk.read(self.segment) as file:
            data, reason = block_at(file, place)
            following, wrong = block_at(file, place + len(data))
        if reason or wrong or not data:
            return False
        block = Block(data, [])
        if not self._fits(block):
            return False
        return not following or Header(following).first_position == block.end_position

    def _fits(self, block: Block) -> bool:
        """Whether the block starts at or after the end of the previous block."""
        return block.first_offset >= self.end_offset and block.first_position >= self._end_position

    def _take(self, data: bytes) -> bool:
        """Record a whole block; False if it does not belong here."""
        block = Block(data, [])
        if not self._fits(block):
            return False
        known = len(self.names)
        if block.name_count:
            before = block.code_max() + 1 - block.name_count
            if before < known:
                return False
            if before > known:
                self._lost.append((known, before))
                self.names += [b""] * (before - known)
            self.names += block.names
        self.end_offset = block.end_offset
        self._end_position = block.end_position
        if block.message_count and block.code_max() < len(self.names) and not self._uses_lost(block):
            self._firsts.append(block.first_offset)
            self._ends.append(self.end_offset)
            self._places.append(self.place)
            self._name_counts.append(len(self.names) - block.name_count)
        return True

    def _uses_lost(self, block: Block) -> bool:
        return len([1 for first, end in self._lost if block.uses_code(first, end)]) > 0

    def find(self, offset: int) -> Block | None:
        """The block that holds the offset; None if it cannot be read. Raises OSError."""
        index = bisect_right(self._firsts, offset) - 1
        if index < 0 or offset >= self._ends[index]:
            return None
        with self.disk.read(self.segment) as file:
            data, reason = block_at(file, self._places[index])
        return None if reason or not data else Block(data, self.names[: self._name_counts[index]])

    def stretch(self, offset: int) -> tuple[int, int]:
        """The unreadable stretch around an unreadable offset: first, end (exclusive); an end of -1 means no end."""
        index = bisect_right(self._firsts, offset) - 1
        first = self._ends[index] if index >= 0 else offset
        end = self._firsts[index + 1] if index + 1 < len(self._firsts) else -1
        return min(first, offset), end
