"""What can still be read of a damaged segment: every block whose checksum is right, and that belongs where it lies.

    [ block ][ block ][ damaged ][ block ][ block ]
                       ▲          ▲
                       │          the next whole one: where the damaged one says that it ends, or, since its length may
                       │          be what is damaged, the first that is found
                       set aside: from the end of the block before to the beginning of the next

A body may hold what looks like a block, by chance or because somebody has published one. So one that was searched for
counts only where it goes on behind what was before the damage, and the next block, or the end of the file, behind it.

Names are numbered from the beginning of a segment, and the damaged block may have brought some. How many, the next
block that brings names tells (it uses all that it brings, so the largest number it uses is the last of its own). Which
they were is not known: a block that uses one of them is set aside as well. All others say exactly what they said.
"""

from bisect import bisect_right
from typing import Final

from penstock.log.block import HEADER_SIZE, Block, Header, block_length
from penstock.log.disk import Disk
from penstock.log.segments import block_at, next_whole

TRIES_MAX: Final = 100  # blocks in bodies that are looked at: each time the rest of the segment is read


class Salvage:
    """The whole blocks of one segment."""

    def __init__(self, disk: Disk, segment: str) -> None:
        self.disk = disk
        self.segment = segment
        self.names: list[bytes] = []
        self.place = 0  # everything before was looked at
        self.end_offset = -1  # behind the last message that was found; -1 before the first block
        self._end_position = -1
        self._lost: list[tuple[int, int]] = []  # numbers of names that are not known: from, up to and without
        # Of the blocks with messages that can be read.
        self._firsts: list[int] = []
        self._ends: list[int] = []
        self._places: list[int] = []
        self._name_counts: list[int] = []

    def first_offset(self) -> int:
        """The first that is found; -1 when there is none."""
        return self._firsts[0] if self._firsts else -1

    def extend(self) -> None:
        """Look at what has been written since. Damage with nothing whole behind it may be a block on its way."""
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
        """Where the next block begins; -1 when there is none, or none yet."""
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
        """Whether the whole block that was found there belongs to the log: it fits, and so does what is behind it."""
        with self.disk.read(self.segment) as file:
            data, reason = block_at(file, place)
            following, wrong = block_at(file, place + len(data))
        if reason or wrong or not data:
            return False
        block = Block(data, [])
        if not self._fits(block):
            return False
        return not following or Header(following).first_position == block.first_position + block.entry_count

    def _fits(self, block: Block) -> bool:
        """Whether it goes on where the block before ended, or behind that."""
        return block.first_offset >= self.end_offset and block.first_position >= self._end_position

    def _take(self, data: bytes) -> bool:
        """Note a whole block; False when it does not belong here."""
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
        self.end_offset = block.first_offset + block.message_count
        self._end_position = block.first_position + block.entry_count
        if block.message_count and block.code_max() < len(self.names) and not self._uses_lost(block):
            self._firsts.append(block.first_offset)
            self._ends.append(self.end_offset)
            self._places.append(self.place)
            self._name_counts.append(len(self.names) - block.name_count)
        return True

    def _uses_lost(self, block: Block) -> bool:
        return len([1 for first, end in self._lost if block.uses_code(first, end)]) > 0

    def find(self, offset: int) -> Block | None:
        """The block that holds the offset; None when it cannot be read. Raises OSError."""
        index = bisect_right(self._firsts, offset) - 1
        if index < 0 or offset >= self._ends[index]:
            return None
        with self.disk.read(self.segment) as file:
            data, reason = block_at(file, self._places[index])
        return None if reason or not data else Block(data, self.names[: self._name_counts[index]])

    def stretch(self, offset: int) -> tuple[int, int]:
        """For an offset that cannot be read: from where, and up to where, no other can either; -1: no end."""
        index = bisect_right(self._firsts, offset) - 1
        first = self._ends[index] if index >= 0 else offset
        end = self._firsts[index + 1] if index + 1 < len(self._firsts) else -1
        return min(first, offset), end
