"""The columns of a block. Each is declared here, once; the writer, the reader and the Arrow conversion follow from it.

A kind says how a column is stored for n rows:

    I32      i32[n]
    I64      i64[n]
    NAME     i32[n]                    the code of a name; -1 if there is none
    BYTES    ends i32[n + 1], bytes    the ends start with 0, so the two are an Arrow binary array as stored

All integers are little-endian, and ends, bytes and numbers each start at a multiple of eight bytes.

A rare column has a bit in the header (`Header.rare`). It is stored only in blocks where a row needs it; all other rows
have no value there: 0, or -1 for a name.
"""

from typing import Final

from librt.strings import BytesWriter, read_i32_le, read_i64_le, write_i32_le
from librt.vecs import append, vec
from mypy_extensions import i64, mypyc_attr

I32: Final = "i32"
I64: Final = "i64"
NAME: Final = "name"
BYTES: Final = "bytes"

PADDING: Final = bytes(8)
PARTS_MAX: Final = 16  # of a table
BUFFER_KEPT_MAX: Final = 4 << 20  # bytes


class Column:
    def __init__(self, name: str, kind: str, part: int, rare: int) -> None:
        self.name = name
        self.kind = kind
        self.part: i64 = part  # its index among the parts of its table; bytes have two: the ends, then the bytes
        self.is_bytes = kind == BYTES
        self.rare = rare  # its bit in the header; 0 if every block has the column
        self.width: i64 = 8 if kind == I64 else 4  # bytes of a number

    def __repr__(self) -> str:
        return f"<Column {self.name} {self.kind}>"


class Table:
    """Columns with the same rows, in the order in which a block stores them."""

    def __init__(self, is_stored_empty: bool = False) -> None:
        self.columns: list[Column] = []
        self.names: list[Column] = []  # those of kind NAME
        self.rare: list[Column] = []
        self.rare_bits = 0
        self.is_stored_empty = is_stored_empty  # without rows there are still ends
        self._part_count = 0
        self._are_ends: list[bool] = []  # by part of the columns that are not rare

    def column(self, name: str, kind: str, rare: int = 0) -> Column:
        """Declare the next column. Rare ones come last."""
        assert rare or not self.rare
        column = Column(name, kind, self._part_count, rare)
        self._part_count += 2 if kind == BYTES else 1
        self.columns.append(column)
        if kind == NAME:
            self.names.append(column)
        if rare:
            self.rare.append(column)
            self.rare_bits |= rare
        elif kind == BYTES:
            self._are_ends += [True, False]
        else:
            self._are_ends.append(False)
        return column

    def buffers(self) -> list[BytesWriter]:
        """Empty buffers for the parts of the columns that are not rare."""
        return [_buffer(is_ends) for is_ends in self._are_ends]

    def clear(self, buffers: list[BytesWriter]) -> bool:
        """Empty the buffers, which keep their memory. Returns whether some had so much that they were replaced."""
        is_replaced = False
        for part, is_ends in enumerate(self._are_ends):
            if len(buffers[part]) > BUFFER_KEPT_MAX:
                buffers[part] = _buffer(is_ends)
                is_replaced = True
            else:
                buffers[part].truncate(4 if is_ends else 0)
        return is_replaced


# The names that a block is the first of its segment to use: of events, queues, protocols and users. Codes count up
# within the segment.
NAMES: Final = Table(is_stored_empty=True)
NAME_BYTES: Final = NAMES.column("name", BYTES)

MESSAGES: Final = Table()
EVENT: Final = MESSAGES.column("event", NAME)
PROTOCOL: Final = MESSAGES.column("protocol", NAME)
ROUTE: Final = MESSAGES.column("route", I32)  # message.BY_EVENT ...
PUBLISHED_AT: Final = MESSAGES.column("published_at", I64)
ID: Final = MESSAGES.column("id", BYTES)
BODY: Final = MESSAGES.column("body", BYTES)
HEADERS: Final = MESSAGES.column("headers", BYTES)  # a JSON object, or empty
# The following: message.DeliveryOptions
DUE_AT: Final = MESSAGES.column("due_at", I64, rare=1)
EXPIRES_AT: Final = MESSAGES.column("expires_at", I64, rare=2)
DELIVERIES_MAX: Final = MESSAGES.column("deliveries_max", I32, rare=4)
DEDUP_SECONDS: Final = MESSAGES.column("dedup_seconds", I32, rare=8)
TARGET: Final = MESSAGES.column("target", NAME, rare=16)
OWNER: Final = MESSAGES.column("owner", NAME, rare=64)  # since version 4

RUNS: Final = Table()
QUEUE: Final = RUNS.column("queue", NAME)
HOW: Final = RUNS.column("how", I32)  # message.ACCEPT ...
COUNT: Final = RUNS.column("count", I32)
FIRST: Final = RUNS.column("first", I64)
AFTER_OFFSET: Final = RUNS.column("after_offset", I64)
RUN_DUE_AT: Final = RUNS.column("due_at", I64, rare=32)  # of rejected messages that were delayed


@mypyc_attr(free_list_len=1)
class Rows:
    """The rows of a table in a block. The columns are located by arithmetic, and only what is asked for is copied."""

    def __init__(self, table: Table, data: bytes, place: i64, count: i64, rare: int) -> None:
        self.data = data
        self.count = count
        self.rare = rare
        places = vec[i64](capacity=PARTS_MAX)
        if count or table.is_stored_empty:
            for column in table.columns:
                places = append(places, place)
                if column.is_bytes:
                    bytes_at = aligned(place + 4 * (count + 1))
                    places = append(places, bytes_at)
                    place = aligned(bytes_at + i64(read_i32_le(data, place + 4 * count)))
                elif column.rare == 0 or rare & column.rare:
                    place = aligned(place + column.width * count)
        self.places = places  # by part
        self.end = place

    def has(self, column: Column) -> bool:
        """Whether the block has the column."""
        return column.rare == 0 or self.rare & column.rare != 0

    def place(self, column: Column) -> i64:
        """Where the column starts in the block: its numbers, or its ends."""
        return self.places[column.part]

    def place_of_bytes(self, column: Column) -> i64:
        return self.places[column.part + 1]

    def number(self, column: Column, row: i64) -> i64:
        """A number or the code of a name, from a column that the block has."""
        if column.width == 8:
            return read_i64_le(self.data, self.place(column) + 8 * row)
        return i64(read_i32_le(self.data, self.place(column) + 4 * row))

    def end_of(self, column: Column, row: i64) -> i64:
        """Where the values of the rows before this one end, within the bytes of the column."""
        return i64(read_i32_le(self.data, self.place(column) + 4 * row))

    def value(self, column: Column, row: i64) -> bytes:
        """A value of a column of bytes."""
        data = self.data
        end_at = self.places[column.part] + 4 * row
        at = self.places[column.part + 1]
        return data[at + i64(read_i32_le(data, end_at)) : at + i64(read_i32_le(data, end_at + 4))]


def _buffer(is_ends: bool) -> BytesWriter:
    buffer = BytesWriter()
    if is_ends:
        write_i32_le(buffer, 0)
    return buffer


def aligned(place: i64) -> i64:
    """The next multiple of eight."""
    return (place + 7) & ~7


def padding(size: int) -> bytes:
    """What follows a part of this size, so that the next one is aligned."""
    return PADDING[size % 8 :] if size % 8 else b""
