"""Messages as an Arrow IPC stream with the columns of the log, written without the Arrow library.

The library would take 60 MiB of the broker's memory permanently, and copy what is sent. A stream with a fixed schema
needs little of it: columns are arrays of values and offsets, and the metadata is a FlatBuffer in which only the numbers
change. Reads of the log use `log/arrow.py`, in a separate process.

A large body, which is alone in its batch, is not copied.

    stream    schema, batch ..., end
    batch     FFFFFFFF, length of the metadata, metadata, columns; each padded to 8 bytes
"""

import struct
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate

from penstock.http.texts import text_of
from penstock.message import BY_EVENT, INTERNAL_PREFIX, Message, queue_of

CONTINUES = b"\xff\xff\xff\xff"
END = CONTINUES + bytes(4)
ALIGNMENT = 8

# Constants of the format (Message.fbs, Schema.fbs).
VERSION_5 = 4
SCHEMA_HEADER, BATCH_HEADER = 1, 3
INT, BINARY, UTF8, TIMESTAMP, STRUCT, MAP = 2, 4, 5, 10, 13, 17
MICROSECONDS = 2

Column = tuple[list[tuple[int, int]], list[bytes]]  # (length, null count) of each field, and the buffers


def schema() -> bytes:
    """The start of the stream."""
    flat = FlatBuffer()
    fields = [
        _field(flat, "offset", False, INT, _int64(flat)),
        _field(flat, "event", False, UTF8, flat.table({})),
        _field(flat, "queue", True, UTF8, flat.table({})),
        _field(flat, "id", False, UTF8, flat.table({})),
        _field(flat, "body", False, BINARY, flat.table({})),
        _headers_field(flat),
        _field(flat, "protocol", False, UTF8, flat.table({})),
        _field(flat, "published_at", False, TIMESTAMP, _microseconds(flat)),
    ]
    header = flat.table({1: Reference(flat.references(fields))})
    return _described(flat, SCHEMA_HEADER, header, 0)


def batch(messages: Sequence[Message]) -> list[bytes]:
    """A batch with these messages, as the next pieces of the stream."""
    events = [_utf8(message.event) for message in messages]
    queues = [None if message.route == BY_EVENT else _utf8(queue_of(message)) for message in messages]
    columns = [
        _numbers([message.offset for message in messages]),
        _strings(events),
        _strings_or_null(queues),
        _strings([_utf8(message.id) for message in messages]),
        _strings([message.body for message in messages]),
        _maps([_shown(message.headers) for message in messages]),
        _strings([message.protocol.encode() for message in messages]),
        _numbers([message.published_at for message in messages]),
    ]
    nodes = b"".join(struct.pack("<qq", *node) for column in columns for node in column[0])
    places = bytearray()
    pieces: list[bytes] = []
    at = 0
    for buffer in (buffer for column in columns for buffer in column[1]):
        places += struct.pack("<qq", at, len(buffer))
        padding = -len(buffer) % ALIGNMENT
        pieces += (buffer, bytes(padding))
        at += len(buffer) + padding
    flat = FlatBuffer()
    header = flat.table(
        {
            0: struct.pack("<q", len(messages)),
            1: Reference(flat.structs(nodes, 16)),
            2: Reference(flat.structs(bytes(places), 16)),
        }
    )
    return [_described(flat, BATCH_HEADER, header, at), *_joined(pieces)]


# -- columns ----------------------------------------------------------------------------------------------------------


def _numbers(values: list[int]) -> Column:
    return [(len(values), 0)], [b"", struct.pack(f"<{len(values)}q", *values)]


def _strings(values: Sequence[bytes]) -> Column:
    return [(len(values), 0)], [b"", _ends(values), values[0] if len(values) == 1 else b"".join(values)]


def _strings_or_null(values: Sequence[bytes | None]) -> Column:
    _, (_, ends, data) = _strings([value or b"" for value in values])
    valid, nulls = _validity(values)
    return [(len(values), nulls)], [valid, ends, data]


def _maps(values: Sequence[list[tuple[bytes, bytes]] | None]) -> Column:
    valid, nulls = _validity(values)
    pairs = [pair for value in values if value is not None for pair in value]
    keys, key_buffers = _strings([key for key, _ in pairs])
    items, item_buffers = _strings([item for _, item in pairs])
    ends = _ends([value or () for value in values])
    return [(len(values), nulls), (len(pairs), 0), *keys, *items], [valid, ends, b"", *key_buffers, *item_buffers]


def _ends(values: Iterable[Sequence[object]]) -> bytes:
    """The end offsets of the values in their concatenation, after a leading 0."""
    ends = array("i", accumulate(map(len, values), initial=0))
    return struct.pack(f"<{len(ends)}i", *ends)


def _validity(values: Sequence[object]) -> tuple[bytes, int]:
    """The validity bitmap and the null count; the bitmap is empty if there are no nulls."""
    nulls = sum(value is None for value in values)
    if not nulls:
        return b"", 0
    bits = "".join("0" if value is None else "1" for value in reversed(values))
    return int(bits, 2).to_bytes((len(values) + 7) // 8, "little"), nulls


def _shown(headers: dict[bytes, bytes] | None) -> list[tuple[bytes, bytes]] | None:
    """The headers without internal ones, which belong to a single protocol."""
    if headers is None:
        return None
    found = [(_utf8(key), _utf8(value)) for key, value in headers.items() if not key.startswith(INTERNAL_PREFIX)]
    return found or None


def _utf8(name: bytes) -> bytes:
    return name if name.isascii() else text_of(name).encode()


def _joined(pieces: list[bytes]) -> list[bytes]:
    """Join small pieces: each piece is sent separately."""
    found: list[bytes] = []
    small: list[bytes] = []
    for piece in pieces:
        if len(piece) < 1 << 16:
            small.append(piece)
        else:
            found += (b"".join(small), piece)
            small = []
    found.append(b"".join(small))
    return [piece for piece in found if piece]


# -- metadata ---------------------------------------------------------------------------------------------------------


class Reference(int):
    """The position of an object written earlier, counted from the end."""


class FlatBuffer:
    """A FlatBuffer is written back to front: an object comes after those that refer to it."""

    def __init__(self) -> None:
        self.data = b""

    def table(self, fields: "dict[int, bytes | Reference]") -> int:
        """A table with these fields, by number: little-endian values, or references to objects written earlier."""
        slots = max(fields, default=-1) + 1
        offsets = [0] * slots  # of the fields, from the start of the table
        size = 4
        for slot in sorted(fields, key=lambda slot: -_width(fields[slot])):
            width = _width(fields[slot])
            size += -size % width
            offsets[slot] = size
            size += width
        # The table starts where its widest field is aligned. References are forward, relative to the field.
        self._pad(size, 8)
        at = len(self.data) + size
        body = bytearray(size)
        for slot, value in fields.items():
            place = offsets[slot]
            raw = struct.pack("<I", at - place - value) if isinstance(value, Reference) else value
            body[place : place + len(raw)] = raw
        index = struct.pack(f"<HH{slots}H", 4 + 2 * slots, size, *offsets)
        body[:4] = struct.pack("<i", len(index))
        self.data = index + bytes(body) + self.data
        return at

    def structs(self, data: bytes, size: int) -> int:
        """A vector of structs of this size."""
        self._pad(len(data), 8)
        self.data = struct.pack("<I", len(data) // size) + data + self.data
        return len(self.data)

    def references(self, places: list[int]) -> int:
        """A vector of references to objects written earlier."""
        self._pad(4 * len(places) + 4, 4)
        first = len(self.data) + 4 * len(places)
        offsets = (first - 4 * number - place for number, place in enumerate(places))
        self.data = struct.pack(f"<I{len(places)}I", len(places), *offsets) + self.data
        return len(self.data)

    def string(self, text: str) -> int:
        data = text.encode() + b"\0"
        self._pad(len(data) + 4, 4)
        self.data = struct.pack("<I", len(data) - 1) + data + self.data
        return len(self.data)

    def finish(self, root: int) -> bytes:
        self._pad(4, 8)
        return struct.pack("<I", len(self.data) + 4 - root) + self.data

    def _pad(self, size: int, alignment: int) -> None:
        """Pad so that an object of this size, written next, starts aligned."""
        self.data = bytes(-(len(self.data) + size) % alignment) + self.data


def _width(value: "bytes | Reference") -> int:
    return 4 if isinstance(value, Reference) else len(value)


def _described(flat: FlatBuffer, kind: int, header: int, body_length: int) -> bytes:
    message = flat.table(
        {
            0: struct.pack("<h", VERSION_5),
            1: bytes([kind]),
            2: Reference(header),
            3: struct.pack("<q", body_length),
        }
    )
    data = flat.finish(message)
    return CONTINUES + struct.pack("<i", len(data)) + data


def _field(flat: FlatBuffer, name: str, is_nullable: bool, kind: int, type: int, children: Sequence[int] = ()) -> int:
    return flat.table(
        {
            0: Reference(flat.string(name)),
            1: bytes([is_nullable]),
            2: bytes([kind]),
            3: Reference(type),
            5: Reference(flat.references(list(children))),
        }
    )


def _headers_field(flat: FlatBuffer) -> int:
    key = _field(flat, "key", False, UTF8, flat.table({}))
    value = _field(flat, "value", True, UTF8, flat.table({}))
    entries = _field(flat, "entries", False, STRUCT, flat.table({}), [key, value])
    return _field(flat, "headers", True, MAP, flat.table({}), [entries])


def _int64(flat: FlatBuffer) -> int:
    return flat.table({0: struct.pack("<i", 64), 1: b"\x01"})


def _microseconds(flat: FlatBuffer) -> int:
    return flat.table({0: struct.pack("<h", MICROSECONDS), 1: Reference(flat.string("UTC"))})
