"""Writes blocks; `block.py` describes them and reads them back. Does not touch files."""

from typing import Final

from librt.strings import write_i32_le, write_i64_le
from mypy_extensions import i32, i64

from penstock.errors import LogError
from penstock.log import columns
from penstock.log.columns import NAME, Column, Table, padding
from penstock.log.header import HEADER_SIZE, encode_header, sealed
from penstock.log.interface import Change
from penstock.log.json_texts import encode_changes, encode_headers
from penstock.message import DeliveryOptions, Message

COLUMN_MAX: Final = (1 << 31) - 1 - (64 << 20)  # bytes; column ends and the block's length are 32-bit
JOINED_MAX: Final = 1 << 20
LARGE_BODY: Final = 1 << 20  # bodies of this size or larger are not copied


class BlockWriter:
    """Collects the entries of one block."""

    def __init__(self, joined_max: int = JOINED_MAX) -> None:
        self.codes: dict[bytes, i64] = {}  # of this segment
        self._protocol_codes: dict[str, i64] = {}
        self.first_offset = 0
        self.first_position = 0
        self.bytes_max: i64 = COLUMN_MAX  # of ids, bodies and headers together
        self._joined_max = joined_max  # bytes; a block up to this size is joined, a larger one is left in pieces
        self._names = columns.NAMES.buffers()
        self._messages = columns.MESSAGES.buffers()
        self._runs = columns.RUNS.buffers()
        self._bind()
        self._start()

    def _bind(self) -> None:
        """Messages and runs are written straight into the buffers of their columns."""
        names, messages, runs = self._names, self._messages, self._runs
        self._name_ends = names[columns.NAME_BYTES.part]
        self._name_bytes = names[columns.NAME_BYTES.part + 1]
        self._events = messages[columns.EVENT.part]
        self._protocols = messages[columns.PROTOCOL.part]
        self._routes = messages[columns.ROUTE.part]
        self._times = messages[columns.PUBLISHED_AT.part]
        self._id_ends = messages[columns.ID.part]
        self._ids = messages[columns.ID.part + 1]
        self._body_ends = messages[columns.BODY.part]
        self._bodies = messages[columns.BODY.part + 1]
        self._header_ends = messages[columns.HEADERS.part]
        self._headers = messages[columns.HEADERS.part + 1]
        self._queues = runs[columns.QUEUE.part]
        self._hows = runs[columns.HOW.part]
        self._counts = runs[columns.COUNT.part]
        self._firsts = runs[columns.FIRST.part]
        self._after_offsets = runs[columns.AFTER_OFFSET.part]

    def _start(self) -> None:
        """Start a block, in empty buffers."""
        self.changes: list[Change] = []
        self.message_count = 0
        self.run_count = 0
        self.settled_count = 0
        self._name_count = 0
        self._bytes: i64 = 0  # of ids, bodies and headers so far
        self._gathered: list[bytes] = []  # bodies up to the last large one
        self._gathered_size: i64 = 0
        # The rare columns that the block has, and by column the rows with a value. Names get their codes at the end.
        self._rare = 0
        self._rare_numbers: dict[int, list[tuple[int, int]]] = {}
        self._rare_names: dict[int, list[tuple[int, bytes]]] = {}

    def start_segment(self) -> None:
        """Write names again: each segment must be readable without the ones before it."""
        self.codes = {}
        self._protocol_codes = {}

    def is_empty(self) -> bool:
        return self.message_count == 0 and self.settled_count == 0 and not self.changes

    def size(self) -> int:
        """The approximate size of the block in bytes."""
        return int(self._bytes) + 40 * (self.message_count + self.run_count)

    def code_of(self, name: bytes) -> i64:
        code = self.codes.get(name)
        if code is None:
            code = i64(len(self.codes))
            self.codes[name] = code
            self._name_bytes.write(name)
            write_i32_le(self._name_ends, i32(len(self._name_bytes)))
            self._name_count += 1
        return code

    def _protocol_code(self, protocol: str) -> i64:
        code = self._protocol_codes.get(protocol)
        if code is None:
            code = self.code_of(protocol.encode())
            self._protocol_codes[protocol] = code
        return code

    def add_message(self, message: Message) -> None:
        """Raises LogError, leaving the block unchanged, if the block has no room for the message."""
        named = message.headers
        headers = b"" if named is None else encode_headers(named)
        size: i64 = self._bytes + i64(len(message.id)) + i64(len(message.body)) + i64(len(headers))
        if size > self.bytes_max:
            added = size - self._bytes
            raise LogError(f"message of {added} bytes after {self._bytes} others: a block holds {self.bytes_max} bytes")
        self._bytes = size
        write_i32_le(self._events, i32(self.code_of(message.event)))
        write_i32_le(self._protocols, i32(self._protocol_code(message.protocol)))
        write_i32_le(self._routes, i32(message.route))
        write_i64_le(self._times, i64(message.published_at))
        self._ids.write(message.id)
        write_i32_le(self._id_ends, i32(len(self._ids)))
        body = message.body
        if len(body) < LARGE_BODY:
            self._bodies.write(body)
        else:
            self._add_large(body)
        write_i32_le(self._body_ends, i32(self._gathered_size + i64(len(self._bodies))))
        if named is not None:
            self._headers.write(headers)
        write_i32_le(self._header_ends, i32(len(self._headers)))
        if message.options is not None:
            self._add_options(message.options)
        self.message_count += 1

    def _add_large(self, body: bytes) -> None:
        """Keep the body without copying it, after the bodies before it."""
        if len(self._bodies):
            self._gathered.append(self._bodies.getvalue())
            self._gathered_size += i64(len(self._bodies))
            self._bodies.truncate(0)
        self._gathered.append(body)
        self._gathered_size += i64(len(body))

    def _add_options(self, options: DeliveryOptions) -> None:
        row = self.message_count
        self._add_number(columns.DUE_AT, row, options.due_at)
        self._add_number(columns.EXPIRES_AT, row, options.expires_at)
        self._add_number(columns.DELIVERIES_MAX, row, options.deliveries_max)
        self._add_number(columns.DEDUP_SECONDS, row, options.dedup_seconds)
        self._add_name(columns.TARGET, row, options.target)
        if options.dedup_seconds:
            self._add_name(columns.OWNER, row, options.owner)  # the user who owns the id

    def add_run(self, queue: bytes, how: int, first: int, count: int, after_offset: int, due_at: int = 0) -> None:
        if due_at:
            self._add_number(columns.RUN_DUE_AT, self.run_count, due_at)
        write_i32_le(self._queues, i32(self.code_of(queue)))
        write_i32_le(self._hows, i32(how))
        write_i32_le(self._counts, i32(count))
        write_i64_le(self._firsts, i64(first))
        write_i64_le(self._after_offsets, i64(after_offset))
        self.run_count += 1
        self.settled_count += count

    def _add_number(self, column: Column, row: int, value: int) -> None:
        """Set a value in a rare column."""
        if value:
            self._rare |= column.rare
            self._rare_numbers.setdefault(column.rare, []).append((row, value))

    def _add_name(self, column: Column, row: int, name: bytes) -> None:
        if name:
            self._rare |= column.rare
            self._rare_names.setdefault(column.rare, []).append((row, name))

    def close(self, now: int) -> list[bytes]:
        """Return the block, and start the next one.

        The block is one piece, unless it is large: then it is several, and must be `sealed` before it is written.
        Checksumming megabytes takes milliseconds, too long for the event loop.
        """
        changes = encode_changes(self.changes) if self.changes else b""
        rare_of_messages = self._rare_columns(columns.MESSAGES, self.message_count)
        rare_of_runs = self._rare_columns(columns.RUNS, self.run_count)
        pieces: list[bytes] = [b""]  # for the header
        for buffer in self._names:
            _add_part(pieces, buffer.getvalue())
        _add_part(pieces, changes)
        if self.message_count:
            for buffer in self._messages:
                if buffer is self._bodies:
                    pieces += self._gathered
                    _add_part(pieces, buffer.getvalue(), int(self._gathered_size))
                else:
                    _add_part(pieces, buffer.getvalue())
            for part in rare_of_messages:
                _add_part(pieces, part)
        if self.run_count:
            for buffer in self._runs:
                _add_part(pieces, buffer.getvalue())
            for part in rare_of_runs:
                _add_part(pieces, part)
        size = HEADER_SIZE + sum([len(piece) for piece in pieces])
        pieces[0] = encode_header(
            rare=self._rare,
            length=size,
            first_offset=self.first_offset,
            first_position=self.first_position,
            closed_at=now,
            name_count=self._name_count,
            change_count=len(self.changes),
            message_count=self.message_count,
            run_count=self.run_count,
            changes_size=len(changes),
            settled_count=self.settled_count,
        )
        self._empty_buffers()
        self._start()
        return pieces if size > self._joined_max else [b"".join(sealed(pieces))]

    def _rare_columns(self, table: Table, count: int) -> list[bytes]:
        """The rare columns that the block needs. They may add names."""
        found: list[bytes] = []
        if self._rare & table.rare_bits:
            for column in table.rare:
                if not self._rare & column.rare:
                    continue
                if column.kind == NAME:
                    codes = [(row, int(self.code_of(name))) for row, name in self._rare_names[column.rare]]
                    found.append(_sparse(codes, count, column, b"\xff"))
                else:
                    found.append(_sparse(self._rare_numbers[column.rare], count, column, b"\0"))
        return found

    def _empty_buffers(self) -> None:
        """Their memory is reused, unless it is large: new memory each iteration costs a third."""
        is_replaced = columns.NAMES.clear(self._names)
        is_replaced = columns.MESSAGES.clear(self._messages) or is_replaced
        if columns.RUNS.clear(self._runs) or is_replaced:
            self._bind()


def _add_part(pieces: list[bytes], part: bytes, size_before: int = 0) -> None:
    """Append a part, or the end of one, and pad it."""
    pieces.append(part)
    size = size_before + len(part)
    if size % 8:
        pieces.append(padding(size))


def _sparse(values: list[tuple[int, int]], count: int, column: Column, filler: bytes) -> bytes:
    """A column of `count` numbers, where only the given rows have a value."""
    width = int(column.width)
    numbers = bytearray(filler * (count * width))
    for row, value in values:
        numbers[row * width : row * width + width] = value.to_bytes(width, "little")
    return bytes(numbers)
