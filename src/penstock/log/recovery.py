"""What a data directory holds, read back: segments in order, blocks in order, a torn end cut off.

A crash can tear only the end of the last segment, because a segment is begun only when the one before is synced. So an
end that is no whole block, with nothing whole behind it, was never confirmed and is cut. Anything else that cannot be
read is damage: it is named, and the broker does not start on it. A block of a version we do not know is never an end:
an older Penstock must not cut what a newer one has written.

Positions follow each other without a gap. One that somebody has looked at and accepted (`penstock log repair`) is
written down in a small file beside the segments, so that a lost segment is not mistaken for it.
"""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

import orjson

from penstock.errors import LogError
from penstock.log.block import (
    HEADER_SIZE,
    MAGIC,
    Block,
    CorruptBlock,
    Header,
    block_length,
    is_intact,
    is_of_another_version,
    why_no_block,
)
from penstock.log.durable import SEGMENT_SUFFIX

GAPS_NAME: Final = "gaps.json"


def segments_of(directory: Path) -> list[Path]:
    """The segment files, oldest first."""
    return sorted(path for path in directory.iterdir() if path.suffix == SEGMENT_SUFFIX)


def blocks_of(segment: Path) -> Generator[tuple[int, Block], None, None]:
    """Every block of a segment with its place in the file. Close it when it is not used up.

    Raises CorruptBlock where a block should begin and does not, also for an end that is torn.
    """
    names: list[bytes] = []
    place = 0
    with segment.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while header := file.read(HEADER_SIZE):
            length = block_length(header)
            if length == 0:
                raise CorruptBlock(segment.name, place, why_no_block(header))
            if place + length > size:
                raise CorruptBlock(segment.name, place, f"{size - place} of {length} bytes")
            file.seek(place)  # the header once more: one large piece of memory instead of two
            data = file.read(length)
            if not is_intact(data):
                raise CorruptBlock(segment.name, place, "the checksum does not fit")
            yield place, Block(data, names)
            place += length


def headers_of(segment: Path, place: int = 0) -> Generator[tuple[int, Header], None, None]:
    """The headers of the blocks from this place on, found by seeking from one to the next. Close it when not used up.

    Nothing but headers is read, so nothing is checked. It ends where no whole block begins, for whatever reason.
    """
    file = os.open(segment, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(file).st_size
        while True:
            data = os.pread(file, HEADER_SIZE, place)
            length = block_length(data)
            if length == 0 or place + length > size:
                return
            yield place, Header(data)
            place += length
    finally:
        os.close(file)


def next_whole(segment: Path, place: int) -> int:
    """Where the first whole block begins that lies behind this place; -1 when there is none."""
    with segment.open("rb") as file:
        file.seek(place)
        data = file.read()
    start = data.find(MAGIC, 1)
    while start >= 0:
        length = block_length(data[start : start + HEADER_SIZE])
        if length and start + length <= len(data) and is_intact(data[start : start + length]):
            return place + start
        start = data.find(MAGIC, start + 1)
    return -1


def is_torn_end(segment: Path, place: int) -> bool:
    """True when nothing whole follows what cannot be read at this place."""
    with segment.open("rb") as file:
        file.seek(place)
        if is_of_another_version(file.read(HEADER_SIZE)):
            return False
    return next_whole(segment, place) < 0


def read_back(directory: Path) -> Generator[Block, None, None]:
    """All blocks of the log, in order; a torn end of the last segment is cut off on the way."""
    segments = segments_of(directory)
    accepted = read_gaps(directory)
    position = 0
    for segment in segments:
        blocks = blocks_of(segment)
        try:
            while True:
                try:
                    place, block = next(blocks)
                except StopIteration:
                    break
                except CorruptBlock as damage:
                    if segment is not segments[-1] or not is_torn_end(segment, damage.position):
                        raise
                    cut(segment, damage.position)
                    break
                if block.first_position != position and (position, block.first_position) not in accepted:
                    raise CorruptBlock(segment.name, place, misplaced(position, block.first_position))
                position = block.first_position + block.entry_count
                yield block
        finally:
            blocks.close()  # a compiled generator that is dropped half-way does not end its `with`


def misplaced(expected: int, found: int) -> str:
    """What is wrong with a block that begins at another position than the one before it ended at."""
    if found > expected:
        return f"entries {expected} to {found - 1} are missing before this block"
    return f"the block begins with entry {found}, which was there already: entry {expected} should follow"


def cut(segment: Path, place: int) -> None:
    """Shorten a segment to its first `place` bytes; one with nothing in it goes."""
    if place == 0:
        segment.unlink()
    else:
        with segment.open("r+b") as file:
            file.truncate(place)


def read_gaps(directory: Path) -> set[tuple[int, int]]:
    """The gaps that were accepted: (position where it begins, position of the next entry there is)."""
    path = directory / GAPS_NAME
    try:
        return {(int(gap["from"]), int(gap["to"])) for gap in orjson.loads(path.read_bytes())}
    except FileNotFoundError:
        return set()
    except (ValueError, KeyError, TypeError) as error:
        raise LogError(f"{path}: not a list of gaps: {error}") from error
