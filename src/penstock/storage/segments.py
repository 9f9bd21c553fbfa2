"""The segments of a data directory and the blocks in them: how to iterate over them, and what a torn end is.

A crash can tear only the last batch of the last segment: a batch is written only after the previous one is synced, and
a segment is started only after the previous one is. The pages of a batch reach the disk in any order, so a whole block
may follow a torn one. Hence the mark on the first block of each batch (`header.begins_batch`): damage with no whole
marked block after it is in a batch that was never synced, so nothing in it was confirmed. That is a torn end; anything
else that cannot be read is damage. A block of an unknown version is never a torn end: an older Penstock must not
truncate what a newer one has written.

A compiled generator that is dropped before its end does not exit its `with`: close generators that are not exhausted.
"""

import os
from collections.abc import Generator
from typing import BinaryIO, Final

from penstock.log.block import Block
from penstock.log.header import (
    HEADER_SIZE,
    MAGIC,
    CorruptBlock,
    Header,
    begins_batch,
    block_length,
    is_intact,
    is_of_another_version,
    why_no_block,
)
from penstock.storage.disk import Disk

SEGMENT_SUFFIX: Final = ".seg"
ALIGNMENT: Final = 8  # of blocks in a segment
DOUBTED_LENGTH: Final = 16 << 20  # above this, check the file size before allocating memory


def segment_name(position: int) -> str:
    """A segment is named by the position of its first entry."""
    return f"{position:020d}{SEGMENT_SUFFIX}"


def position_of(segment: str) -> int:
    return int(segment.removesuffix(SEGMENT_SUFFIX))


def segments_of(disk: Disk) -> list[str]:
    """The names of the segment files, oldest first."""
    return sorted([name for name in disk.names() if name.endswith(SEGMENT_SUFFIX)])


def block_at(file: BinaryIO, place: int) -> tuple[bytes, str]:
    """The whole block at a place, or the start of what is there and the reason it is not one; empty at the end."""
    file.seek(place)
    header = file.read(HEADER_SIZE)
    if not header:
        return b"", ""
    length = block_length(header)
    if length == 0:
        return header, why_no_block(header)
    if length > DOUBTED_LENGTH:
        left = file.seek(0, os.SEEK_END) - place
        if left < length:
            return header, f"incomplete block: {left} of {length} bytes"
    file.seek(place)  # read the header again: one large allocation instead of two
    data = file.read(length)
    if len(data) < length:
        return data, f"incomplete block: {len(data)} of {length} bytes"
    return data, "" if is_intact(data) else "checksum mismatch"


def blocks_of(disk: Disk, segment: str) -> Generator[tuple[int, Block], None, None]:
    """Every block of a segment with its place in the file.

    Raises CorruptBlock where a block is expected and none is valid, including at a torn end.
    """
    names: list[bytes] = []
    place = 0
    with disk.read(segment) as file:
        while True:
            data, reason = block_at(file, place)
            if reason:
                raise CorruptBlock(segment, place, reason)
            if not data:
                return
            yield place, Block(data, names)
            place += len(data)


def headers_of(disk: Disk, segment: str, place: int = 0) -> Generator[tuple[int, Header], None, None]:
    """The headers of the blocks from this place on, found by seeking from one to the next.

    Only headers are read, so no checksum is verified. Stops where no complete block starts, for whatever reason.
    """
    with disk.read(segment) as file:
        size = file.seek(0, os.SEEK_END)
        while True:
            file.seek(place)
            data = file.read(HEADER_SIZE)
            length = block_length(data)
            if length == 0 or place + length > size:
                return
            yield place, Header(data)
            place += length


def first_header(disk: Disk, segment: str) -> Header | None:
    """The header of the first block of a segment; None if no complete block starts there."""
    headers = headers_of(disk, segment)
    try:
        _, header = next(headers, (0, None))
    finally:
        headers.close()
    return header


def next_whole(disk: Disk, segment: str, place: int, of_batch: bool = False) -> int:
    """Where the first whole block after this place starts; -1 if there is none.

    With `of_batch`, only the first block of a batch counts.
    """
    with disk.read(segment) as file:
        file.seek(place)
        data = file.read()
        start = data.find(MAGIC, 1)
        while start >= 0:
            found = place + start
            if found % ALIGNMENT == 0 and (not of_batch or begins_batch(data[start : start + HEADER_SIZE])):
                _, reason = block_at(file, found)
                if not reason:
                    return found
            start = data.find(MAGIC, start + 1)
    return -1


def is_torn_end(disk: Disk, segment: str, place: int) -> bool:
    """True if the unreadable data at this place of the last segment was never synced."""
    with disk.read(segment) as file:
        file.seek(place)
        if is_of_another_version(file.read(HEADER_SIZE)):
            return False
    return next_whole(disk, segment, place, of_batch=True) < 0
