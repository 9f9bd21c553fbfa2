"""What a data directory holds, read back: segments in order, blocks in order, a torn end cut off.

A crash can tear only the end of the last segment, because a segment is begun only when the one before is synced. So an
end that is no whole block, with nothing whole behind it, was never confirmed and is cut. Anything else that cannot be
read is damage: it is named, and the broker does not start on it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from penstock.log.block import HEADER_SIZE, MAGIC, Block, CorruptBlock, block_length, is_intact
from penstock.log.durable import SEGMENT_SUFFIX

READ_SIZE: Final = 1 << 22


def segments_of(directory: Path) -> list[Path]:
    """The segment files, oldest first."""
    return sorted(path for path in directory.iterdir() if path.suffix == SEGMENT_SUFFIX)


def blocks_of(segment: Path) -> Iterator[tuple[int, Block]]:
    """Every block of a segment with its place in the file.

    Raises CorruptBlock where a block should begin and does not, also for an end that is torn.
    """
    names: list[bytes] = []
    place = 0
    with segment.open("rb") as file:
        while header := file.read(HEADER_SIZE):
            length = block_length(header)
            if length == 0:
                raise CorruptBlock(segment.name, place, "no block begins here")
            data = header + file.read(length - HEADER_SIZE)
            if len(data) < length:
                raise CorruptBlock(segment.name, place, f"{len(data)} of {length} bytes")
            if not is_intact(data):
                raise CorruptBlock(segment.name, place, "the checksum does not fit")
            yield place, Block(data, names)
            place += length


def is_torn_end(segment: Path, place: int) -> bool:
    """True when nothing whole follows what cannot be read at this place."""
    data = segment.read_bytes()
    start = data.find(MAGIC, place + 1)
    while start >= 0:
        length = block_length(data[start : start + HEADER_SIZE])
        if length and start + length <= len(data) and is_intact(data[start : start + length]):
            return False
        start = data.find(MAGIC, start + 1)
    return True


def read_back(directory: Path) -> Iterator[Block]:
    """All blocks of the log, in order; a torn end of the last segment is cut off on the way."""
    segments = segments_of(directory)
    for segment in segments:
        try:
            for _, block in blocks_of(segment):
                yield block
        except CorruptBlock as damage:
            if segment is not segments[-1] or not is_torn_end(segment, damage.position):
                raise
            cut(segment, damage.position)


def cut(segment: Path, place: int) -> None:
    """Shorten a segment to its first `place` bytes; one with nothing in it goes."""
    if place == 0:
        segment.unlink()
    else:
        with segment.open("r+b") as file:
            file.truncate(place)
