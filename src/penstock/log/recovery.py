"""What a data directory holds, read back: segments in order, blocks in order, a torn end cut off.

A crash can tear only the last batch of the last segment: a batch is written when the one before it is synced, and a
segment is begun when the one before it is. The pages of a batch reach the disk in any order, so a block of it may be
whole behind one that is not. Hence the mark on the first block of each batch (`block.begins_batch`): damage with no
whole marked block behind it lies in a batch that was never synced, so nothing of it was confirmed, and it is cut.
Anything else that cannot be read is damage: it is named, and the broker does not start on it.

A process that was killed leaves what it had written and not synced to the system, which may still lose it. So what is
read back is synced before anything is built on it.
"""

from collections.abc import Generator
from typing import Final

from penstock.log.block import HEADER_SIZE, MAGIC, Block, CorruptBlock, begins_batch, block_length, is_intact
from penstock.log.disk import Disk
from penstock.log.durable import SEGMENT_SUFFIX

ALIGNMENT: Final = 8  # of the blocks in a segment


def segments_of(disk: Disk) -> list[str]:
    """The names of the segment files, oldest first."""
    return sorted([name for name in disk.names() if name.endswith(SEGMENT_SUFFIX)])


def blocks_of(disk: Disk, segment: str) -> Generator[tuple[int, Block], None, None]:
    """Every block of a segment with its place in the file.

    Raises CorruptBlock where a block should begin and does not, also for an end that is torn.
    """
    names: list[bytes] = []
    place = 0
    with disk.read(segment) as file:
        while header := file.read(HEADER_SIZE):
            length = block_length(header)
            if length == 0:
                raise CorruptBlock(segment, place, "no block begins here")
            data = header + file.read(length - HEADER_SIZE)
            if len(data) < length:
                raise CorruptBlock(segment, place, f"{len(data)} of {length} bytes")
            if not is_intact(data):
                raise CorruptBlock(segment, place, "the checksum does not fit")
            yield place, Block(data, names)
            place += length


def is_torn_end(disk: Disk, segment: str, place: int) -> bool:
    """True when what cannot be read at this place was never synced: no whole block behind it begins a batch."""
    with disk.read(segment) as file:
        data = file.read()
    start = data.find(MAGIC, place + 1)
    while start >= 0:
        if start % ALIGNMENT == 0 and begins_batch(data[start : start + HEADER_SIZE]):
            length = block_length(data[start : start + HEADER_SIZE])
            if length and start + length <= len(data) and is_intact(data[start : start + length]):
                return False
        start = data.find(MAGIC, start + 1)
    return True


def read_back(disk: Disk) -> Generator[Block, None, None]:
    """All blocks of the log, in order; a torn end of the last segment is cut off on the way."""
    segments = segments_of(disk)
    position = offset = -1
    for segment in segments:
        blocks = blocks_of(disk, segment)
        try:
            while True:
                try:
                    found = next(blocks, None)
                except CorruptBlock as damage:
                    if segment != segments[-1] or not is_torn_end(disk, segment, damage.position):
                        raise
                    cut(disk, segment, damage.position)
                    break
                if found is None:
                    break
                place, block = found
                if position >= 0 and (block.first_position != position or block.first_offset != offset):
                    raise CorruptBlock(
                        segment, place, f"begins at position {block.first_position}, expected {position}"
                    )
                position = block.first_position + block.entry_count
                offset = block.first_offset + block.message_count
                yield block
        finally:
            blocks.close()  # a compiled generator that is dropped half-way does not end its `with`
    if segments:
        make_safe(disk, segments[-1])


def cut(disk: Disk, segment: str, place: int) -> None:
    """Shorten a segment to its first `place` bytes, for good."""
    handle = disk.open(segment)
    try:
        disk.truncate(handle, place)
    finally:
        disk.close(handle)


def make_safe(disk: Disk, segment: str) -> None:
    """What was read of the segment is on the disk, and so is what was cut; one with nothing in it goes."""
    handle = disk.open(segment)
    try:
        disk.sync(handle)
        size = disk.size(handle)
    finally:
        disk.close(handle)
    if size == 0:
        disk.remove(segment)
    disk.sync_directory()
