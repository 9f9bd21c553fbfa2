"""Checks every byte of a log: what is whole, what is damaged, what is missing.

A check continues after damage: it searches for the next whole block and reports what lies between, in bytes, offsets
and entries. It only reads, and may run while a broker writes.
"""

from collections.abc import Generator
from pathlib import Path

from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.header import is_of_another_version
from penstock.storage.disk import Disk
from penstock.storage.recovery import is_known_position_gap, misplaced, read_position_gaps
from penstock.storage.segments import block_at, is_torn_end, next_whole, segments_of
from penstock.storage.snapshot_files import read_snapshot, snapshots_of


class Damage:
    """An unusable stretch of a segment, and what is lost with it."""

    def __init__(self, segment: str, place: int, size: int, reason: str) -> None:
        self.segment = segment
        self.place = place
        self.size = size  # in bytes; 0 if the bytes are missing altogether
        self.reason = reason
        # What is lost: first, end (exclusive). Equal if nothing is lost; the end is -1 if unknown.
        self.offsets = (0, -1)
        self.positions = (0, -1)

    def __repr__(self) -> str:
        return f"<Damage {self.segment} byte {self.place}: {self.reason}>"

    def lost(self) -> str:
        """What is lost, in words."""
        first, bound = self.offsets
        if bound < 0:
            return f"offset {first} and everything after it in this segment"
        entries = self.positions[1] - self.positions[0]
        if entries <= 0:
            return "nothing"
        if first == bound:
            return f"no messages, {entries} other entries"
        others = entries - (bound - first)
        messages = f"offset {first}" if bound - first == 1 else f"offsets {first} to {bound - 1}"
        return f"{messages}, and {others} other entries" if others > 0 else messages


class Piece:
    """A whole block of a segment, or an unreadable stretch between blocks."""

    def __init__(self, place: int, data: bytes, reason: str, is_end: bool = False) -> None:
        self.place = place
        self.data = data
        self.reason = reason  # "" for a block
        self.is_end = is_end  # the unfinished end of the last segment: being written, or torn


class Check:
    """Exhaust `blocks` once to run the check; the fields then hold the results."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.disk = Disk(directory)
        self.segments = segments_of(self.disk)
        self.size = sum([(directory / segment).stat().st_size for segment in self.segments])
        self.damages: list[Damage] = []
        self.torn: Damage | None = None
        self.block_count = 0
        self.message_count = 0
        self.next_offset = 0
        self.position = 0
        self.place_total = 0  # bytes checked so far
        self.useless: dict[str, list[Piece]] = {}  # by segment: what a repair removes
        self.position_gaps = read_position_gaps(self.disk)
        # What is wrong with each snapshot; "" if it is valid.
        self.snapshots = [_snapshot_fault(self.disk, name) for name in snapshots_of(self.disk)]
        self._open: list[Damage] = []  # damages whose end is not known yet
        self._segment = ""

    def blocks(self) -> Generator[Block, None, None]:
        """Every whole block in its proper place. After damage, names may be missing: use sizes only."""
        for segment in self.segments:
            self._segment = segment
            names: list[bytes] = []
            pieces = self.pieces_of(segment)
            try:
                for piece in pieces:
                    self.place_total += len(piece.data)
                    if piece.reason:
                        self._note(piece)
                        continue
                    block = Block(piece.data, names)
                    if self._is_in_place(block, piece):
                        self.block_count += 1
                        self.message_count += block.message_count
                        self.next_offset = block.end_offset
                        self.position = block.end_position
                        yield block
            finally:
                pieces.close()

    def pieces_of(self, segment: str) -> Generator[Piece, None, None]:
        """The whole segment, in order, piece by piece."""
        place = 0
        with self.disk.read(segment) as file:
            while True:
                data, reason = block_at(file, place)
                if reason:
                    is_end = segment == self.segments[-1] and is_torn_end(self.disk, segment, place)
                    is_readable = not is_end and not is_of_another_version(data)
                    behind = next_whole(self.disk, segment, place) if is_readable else -1
                    # A writer may have finished the block since we looked.
                    data, reason = block_at(file, place)
                    if reason:
                        file.seek(place)
                        data = file.read(behind - place if behind >= 0 else -1)
                        yield Piece(place, data, reason, is_end)
                        if behind < 0:
                            return
                        place = behind
                        continue
                if not data:
                    return
                yield Piece(place, data, "")
                place += len(data)

    def _note(self, piece: Piece) -> None:
        damage = Damage(self._segment, piece.place, len(piece.data), piece.reason)
        damage.offsets = (self.next_offset, -1)
        damage.positions = (self.position, -1)
        if piece.is_end:
            self.torn = damage
            return
        self.damages.append(damage)
        self._open.append(damage)
        self.useless.setdefault(self._segment, []).append(piece)

    def _is_in_place(self, block: Block, piece: Piece) -> bool:
        """True if the block follows those before it; closes the damages in between."""
        expected, found = self.position, block.first_position
        reason = misplaced(expected, self.next_offset, block)
        if reason and found <= expected:
            damage = Damage(self._segment, piece.place, len(piece.data), reason)
            damage.offsets = (self.next_offset, self.next_offset)
            damage.positions = (expected, expected)
            self.damages.append(damage)
            self.useless.setdefault(self._segment, []).append(piece)
            return False
        if reason and not self._open and not is_known_position_gap(self.position_gaps, expected, found):
            damage = Damage(self._segment, piece.place, 0, reason)
            damage.offsets = (self.next_offset, -1)
            damage.positions = (expected, -1)
            self.damages.append(damage)
            self._open.append(damage)
        for damage in self._open:
            damage.offsets = (damage.offsets[0], block.first_offset)
            damage.positions = (damage.positions[0], found)
        self._open.clear()
        return True


def _snapshot_fault(disk: Disk, name: str) -> str:
    try:
        read_snapshot(disk, name)
    except LogError as error:
        return str(error)
    return ""
