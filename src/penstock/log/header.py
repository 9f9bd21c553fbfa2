"""The header of a block: where the block is in the log, how much of what it has, and the checksum.

    byte  0   magic "PNSK"
          4   version, u8
          5   1 if everything before it in its segment was synced before it was written, else 0, u8
          6   which of the rare columns are present (`columns.py`), u8
          7   padding
          8   CRC-32 of byte 6, then of everything from byte 12 to the end, u32
         12   length of the block including this header, u32
         16   offset of its first message, i64
         24   position before its first entry, i64
         32   time it was closed, microseconds since 1970, i64
         40   number of new names, u32
         44   number of changes, u32
         48   number of messages, u32
         52   number of settlement runs, u32
         56   length of the changes, u32
         60   number of settlements in all runs, u32

All integers are little-endian. Byte 5 is set when the block is written to disk, because only the writer knows what has
been synced by then. The checksum therefore does not cover it.

Version 4 adds the column `owner` to version 3; a block without that column is written as version 3, so older versions
of Penstock can read it. Version 3 added kinds of entries to version 2, in the same columns.
"""

import zlib
from typing import Final

from librt.strings import BytesWriter, read_i32_le, read_i64_le, write_i32_le, write_i64_le
from mypy_extensions import i32, i64

from penstock.errors import LogError
from penstock.log.columns import OWNER

MAGIC: Final = b"PNSK"
VERSION: Final = 4
VERSION_UNOWNED: Final = 3  # of a block without the column `owner`
READABLE: Final = (2, 3, 4)
HEADER_SIZE: Final = 64
MARK_AT: Final = 5
RARE_AT: Final = 6
CRC_AT: Final = 8
CRC_FROM: Final = 12


class CorruptBlock(LogError):
    """There is no complete, valid block at this position of a segment."""

    def __init__(self, segment: str, position: int, reason: str) -> None:
        super().__init__(f"segment {segment}, byte {position}: {reason}")
        self.segment = segment
        self.position = position
        self.reason = reason


class Header:
    """What the header of a block says, without reading the rest. Not verified."""

    def __init__(self, data: bytes) -> None:
        self.rare = data[RARE_AT]
        self.length = int(read_i32_le(data, 12))
        self.first_offset = int(read_i64_le(data, 16))
        self.first_position = int(read_i64_le(data, 24))
        self.closed_at = int(read_i64_le(data, 32))
        self.name_count = int(read_i32_le(data, 40))
        self.change_count = int(read_i32_le(data, 44))
        self.message_count = int(read_i32_le(data, 48))
        self.run_count = int(read_i32_le(data, 52))
        self.changes_size = int(read_i32_le(data, 56))
        self.settled_count = int(read_i32_le(data, 60))
        self.end_offset = self.first_offset + self.message_count
        self.end_position = self.first_position + self.change_count + self.message_count + self.settled_count


def encode_header(
    rare: int,
    length: int,
    first_offset: int,
    first_position: int,
    closed_at: int,
    name_count: int,
    change_count: int,
    message_count: int,
    run_count: int,
    changes_size: int,
    settled_count: int,
) -> bytes:
    """A header without its mark and its checksum."""
    header = BytesWriter()
    header.write(MAGIC)
    header.write(bytes([VERSION if rare & OWNER.rare else VERSION_UNOWNED, 0, rare, 0]))
    write_i32_le(header, 0)
    write_i32_le(header, i32(length))
    write_i64_le(header, i64(first_offset))
    write_i64_le(header, i64(first_position))
    write_i64_le(header, i64(closed_at))
    write_i32_le(header, i32(name_count))
    write_i32_le(header, i32(change_count))
    write_i32_le(header, i32(message_count))
    write_i32_le(header, i32(run_count))
    write_i32_le(header, i32(changes_size))
    write_i32_le(header, i32(settled_count))
    return header.getvalue()


def block_length(header: bytes) -> int:
    """The length stored in a block header; 0 if this is not the start of a block in a readable version."""
    if len(header) < HEADER_SIZE or not header.startswith(MAGIC) or header[4] not in READABLE:
        return 0
    length = int(read_i32_le(header, 12))
    return length if length >= HEADER_SIZE else 0


def begins_batch(header: bytes) -> bool:
    """True if everything before the block in its segment was synced before the block was written."""
    return len(header) > MARK_AT and header[MARK_AT] == 1


def sealed(pieces: list[bytes]) -> list[bytes]:
    """The pieces of a block, with the checksum filled in. The first piece is the header."""
    header = pieces[0]
    crc = zlib.crc32(header[CRC_FROM:], zlib.crc32(header[RARE_AT : RARE_AT + 1]))
    for piece in pieces[1:]:
        crc = zlib.crc32(piece, crc)
    return [header[:CRC_AT] + crc.to_bytes(4, "little") + header[CRC_FROM:], *pieces[1:]]


def whole(pieces: list[bytes]) -> bytes:
    """A block in one piece, as stored on disk."""
    return pieces[0] if len(pieces) == 1 else b"".join(sealed(pieces))


def marked(data: bytes) -> list[bytes | memoryview]:
    """A block, or its first piece, marked as the first of a batch."""
    return [data[:MARK_AT], b"\x01", memoryview(data)[MARK_AT + 1 :]]


def is_of_another_version(header: bytes) -> bool:
    """True for the start of a block that only another version of Penstock can read."""
    return len(header) > 4 and header.startswith(MAGIC) and header[4] not in READABLE


def why_no_block(header: bytes) -> str:
    """Why `block_length` returned 0."""
    if len(header) < HEADER_SIZE:
        return f"incomplete header: {len(header)} of {HEADER_SIZE} bytes"
    if is_of_another_version(header):
        return f"unknown block version {header[4]}"
    return "no block starts here"


def is_intact(data: bytes) -> bool:
    """True if the block's checksum matches."""
    crc = zlib.crc32(memoryview(data)[CRC_FROM:], zlib.crc32(data[RARE_AT : RARE_AT + 1]))
    return int.from_bytes(data[8:12], "little") == crc
