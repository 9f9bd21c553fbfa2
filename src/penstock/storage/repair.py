"""Makes a damaged log readable again, and reports what is lost.

    segment   [ block ][ block ][ damaged ][ block ][ block ]
    becomes   [ block ][ block ]                                      the same file, truncated
                                 [ block ][ block ]                   a new segment, named by its first position
              damaged/            [ damaged ]                         kept, but never read

Blocks after the damage are rewritten, because blocks refer to names by number and the damaged block may have added
some. How many it added is known exactly: a block uses every name it adds, so the largest number a block uses is the
last of its own. The lost names are taken from the damaged block if its beginning is still valid. Otherwise they are
invented (`lost-...`): a message to a queue with a lost name waits in the queue with the invented name.

An interrupted repair can be run again from the start: the original is truncated last, and segments are processed from
newest to oldest.
"""

import os
from pathlib import Path
from typing import Final

from penstock.errors import LogError
from penstock.files import open_private, put_in_place, sync_directory, write_synced
from penstock.log.block import Block
from penstock.log.block_writer import BlockWriter
from penstock.log.columns import aligned
from penstock.log.header import HEADER_SIZE, Header, block_length, is_of_another_version, marked, whole
from penstock.storage.recovery import GAPS_NAME, PositionGap, cut, make_safe, newest_usable, write_position_gaps
from penstock.storage.segments import headers_of, segment_name, segments_of
from penstock.storage.verify import Check, Piece

DAMAGED_NAME: Final = "damaged"


class Repair:
    """Plans the repair of a checked log; `run` does it. The caller must hold the lock of the directory."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self.directory = check.directory
        self.disk = check.disk
        self.notes: list[str] = []  # information for the user beyond the list of damages
        for pieces in check.useless.values():
            for piece in pieces:
                if is_of_another_version(piece.data[:HEADER_SIZE]):
                    raise LogError(f"{piece.reason}: use a Penstock that knows it, this one would throw it away")

    def run(self) -> None:
        for segment in reversed(self.check.segments):
            useless = self.check.useless.get(segment)
            if useless:
                self._mend(segment, useless)
        torn = self.check.torn
        if torn is not None and torn.segment not in self.check.useless:
            self._cut(torn.segment, torn.place)
        self._accept_gaps()
        sync_directory(self.directory)

    def _mend(self, segment: str, useless: list[Piece]) -> None:
        aside = self.directory / DAMAGED_NAME
        aside.mkdir(mode=0o700, exist_ok=True)
        for piece in useless:
            write_synced(aside / f"{Path(segment).stem}-{piece.place}.part", piece.data)
        sync_directory(aside)
        self._write_rest(segment, {piece.place for piece in useless})
        self._cut(segment, useless[0].place)
        self.notes.append(f"the damaged part of segment {segment} is in {aside}")

    def _cut(self, segment: str, place: int) -> None:
        cut(self.disk, segment, place)
        make_safe(self.disk, segment)

    def _write_rest(self, segment: str, useless: set[int]) -> None:
        """Write the good blocks after the first useless piece to a new segment.

        All of them are marked as the first of a batch: the file is renamed once it is synced, so no block can be torn.
        """
        names = Names(Path(segment).stem)
        writer = BlockWriter()
        first = -1
        part = (self.directory / segment).with_suffix(".repair")
        with open_private(part) as file:
            for piece in self.check.pieces_of(segment):
                if piece.reason:
                    names.lost(piece.data)
                    continue
                block = names.read(piece.data)
                if piece.place > min(useless) and piece.place not in useless:
                    if first < 0:
                        first = block.first_position
                    file.writelines(marked(written_anew(block, writer)))
            file.flush()
            os.fsync(file.fileno())
        self.notes += names.notes
        if first < 0:
            part.unlink()
        else:
            put_in_place(part, self.directory / segment_name(first))

    def _accept_gaps(self) -> None:
        """Record every remaining gap, so that the broker starts despite it.

        What was trimmed stays trimmed, unless no snapshot tells what the queues owed there: then it is lost.
        """
        gaps: list[PositionGap] = []
        position = 0
        for segment in segments_of(self.disk):
            for _, header in headers_of(self.disk, segment):
                if header.first_position != position:
                    gaps.append(self._gap(position, header.first_position))
                position = header.end_position
        if gaps:
            snapshot, _, _ = newest_usable(self.disk, gaps)
            if snapshot is None:
                gaps = [PositionGap(gap.start, gap.end, trimmed=False) for gap in gaps]
            write_position_gaps(self.disk, gaps)
        else:
            (self.directory / GAPS_NAME).unlink(missing_ok=True)

    def _gap(self, start: int, end: int) -> PositionGap:
        """A gap that was found; trimmed if a part of it is recorded as trimmed."""
        known = self.check.position_gaps
        return PositionGap(start, end, any(gap.trimmed and gap.start < end and start < gap.end for gap in known))


class Names:
    """The names of a segment, including replacements for lost ones."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.known: list[bytes] = []
        self.notes: list[str] = []
        self._damaged = b""

    def lost(self, data: bytes) -> None:
        self._damaged = data

    def read(self, data: bytes) -> Block:
        """The block with all its names resolved."""
        block = Block(data, [])
        missing = block.code_max() + 1 - block.name_count - len(self.known)
        if missing > 0:
            found = names_in(self._damaged)
            if len(found) == missing:
                self.notes.append(f"names taken from a damaged block, unchecked: {b', '.join(found).decode('latin-1')}")
            else:
                found = [b"lost-%s-%d" % (self.stem.encode(), len(self.known) + n) for n in range(missing)]
                self.notes.append(f"names lost, and invented: {b', '.join(found).decode()}")
            self.known += found
            self._damaged = b""
        return Block(data, self.known)


def names_in(data: bytes) -> list[bytes]:
    """The names that a damaged block adds; empty if its beginning is not valid."""
    if block_length(data[:HEADER_SIZE]) == 0:
        return []
    count = Header(data).name_count
    bytes_at = int(aligned(HEADER_SIZE + 4 * (count + 1)))
    if not 0 < count < len(data) // 4 or bytes_at > len(data):
        return []
    ends = [int.from_bytes(data[HEADER_SIZE + 4 * n : HEADER_SIZE + 4 * n + 4], "little") for n in range(count + 1)]
    if ends != sorted(ends) or ends[0] != 0 or bytes_at + ends[-1] > len(data):
        return []
    return [data[bytes_at + ends[n] : bytes_at + ends[n + 1]] for n in range(count)]


def written_anew(block: Block, writer: BlockWriter) -> bytes:
    """The block rewritten for another segment, with names numbered from the start of that segment."""
    writer.first_offset = block.first_offset
    writer.first_position = block.first_position
    writer.changes += block.changes()
    for index in range(block.message_count):
        writer.add_message(block.message(index))
    for run in block.runs():
        writer.add_run(run.queue, run.how, run.first, run.count, run.after_offset, run.due_at)
    return whole(writer.close(block.closed_at))
