"""What a data directory holds, read back: segments in order, blocks in order, a torn end cut off.

What a torn end is, and why it may be cut, stands in `segments`. Anything else that cannot be read is damage: it is
named, and the broker does not start on it.

Positions and offsets follow each other without a gap. A gap that somebody has looked at and accepted (`penstock log
repair`) is written down in a small file beside the segments, so that a lost segment is not mistaken for it.

A process that was killed leaves what it had written and not synced to the system, which may still lose it. So what is
read back is synced before anything is built on it.
"""

from collections.abc import Generator
from typing import Final

import orjson

from penstock.errors import LogError
from penstock.log.block import Block, CorruptBlock
from penstock.log.disk import Disk
from penstock.log.segments import blocks_of, is_torn_end, segments_of

GAPS_NAME: Final = "gaps.json"


def read_back(disk: Disk) -> Generator[Block, None, None]:
    """All blocks of the log, in order; a torn end of the last segment is cut off on the way.

    Close it when it is not used up.
    """
    segments = segments_of(disk)
    accepted = read_gaps(disk)
    position = offset = 0
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
                reason = misplaced(position, offset, block)
                if reason and (position, block.first_position) not in accepted:
                    raise CorruptBlock(segment, place, reason)
                position = block.first_position + block.entry_count
                offset = block.first_offset + block.message_count
                yield block
        finally:
            blocks.close()
    if segments:
        make_safe(disk, segments[-1])


def misplaced(position: int, offset: int, block: Block) -> str:
    """What is wrong with a block behind one that ended at this position and offset; nothing when it belongs there."""
    found = block.first_position
    if found > position:
        return f"entries {position} to {found - 1} are missing before this block"
    if found < position:
        return f"the block begins with entry {found}, which was there already: entry {position} should follow"
    if block.first_offset != offset:
        return f"the block begins with offset {block.first_offset}: offset {offset} should follow"
    return ""


def cut(disk: Disk, segment: str, place: int) -> None:
    """Shorten a segment to its first `place` bytes; for good once `make_safe` is done."""
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


def read_gaps(disk: Disk) -> set[tuple[int, int]]:
    """The gaps that were accepted: (position where it begins, position of the next entry there is)."""
    if GAPS_NAME not in disk.names():
        return set()
    with disk.read(GAPS_NAME) as file:
        text = file.read()
    try:
        return {(int(gap["from"]), int(gap["to"])) for gap in orjson.loads(text)}
    except (ValueError, KeyError, TypeError) as error:
        raise LogError(f"{disk.directory / GAPS_NAME}: not a list of gaps: {error}") from error
