"""One block of the log: the entries accepted in one event loop iteration, stored column by column.

    header        64 bytes                  `header.py`
    names         a table                   `columns.py`; events, queues, protocols and users
    changes       one JSON text             topology, in order; padded to a multiple of eight bytes
    messages      a table, if there are any
    settlements   a table of runs, if there are any

Within a block, changes come before messages and messages before settlements, whatever order they arrived in. The
history is the same: a change that follows a message or a settlement starts a new block, and a settlement commutes with
the messages around it, because a rejected message carries its place (`after_offset`) with it. A settlement run covers
`count` consecutive offsets starting at `first`: a queue that is consumed in order needs one run per iteration.

docs/log.md draws the whole block.
"""

from typing import Final

from librt.strings import read_i32_le
from mypy_extensions import i64

from penstock.log import columns
from penstock.log.columns import Column, Rows, aligned
from penstock.log.header import HEADER_SIZE, Header
from penstock.log.interface import Change
from penstock.log.json_texts import decode_changes, decode_headers
from penstock.message import HEADER_OVERHEAD, MESSAGE_OVERHEAD, DeliveryOptions, Message

# Separates a header's name from its value; a quote within either is escaped with a backslash.
HEADER_BETWEEN: Final = b'":"'
HEADER_SYNTAX: Final = 6  # bytes per header in the log that belong to neither name nor value


class Run:
    """Identical settlements of consecutive offsets in one queue."""

    def __init__(self, queue: bytes, how: int, first: int, count: int, after_offset: int, due_at: int) -> None:
        self.queue = queue
        self.how = how
        self.first = first
        self.count = count
        self.after_offset = after_offset  # for REJECT and DUE: the offset after which the message is requeued
        self.due_at = due_at  # for REJECT: the earliest time of the next try; 0 = at once


class Block(Header):
    """A verified block."""

    def __init__(self, data: bytes, names: list[bytes]) -> None:
        """`names` are the names of the segment so far; the block appends its own."""
        super().__init__(data)
        self.data = data
        self.names = names
        place = self._read_names()
        changes_end = place + self.changes_size
        self._changes = data[place:changes_end]
        self.messages = Rows(columns.MESSAGES, data, aligned(changes_end), i64(self.message_count), self.rare)
        self._protocol = ""  # the name with this code
        self._protocol_code: i64 = -1
        self.has_options = self.rare & columns.MESSAGES.rare_bits != 0  # some of its messages have DeliveryOptions

    def changes(self) -> list[Change]:
        return decode_changes(self._changes) if self._changes else []

    def message(self, index: int) -> Message:
        """The message with offset `first_offset + index`."""
        rows = self.messages
        row: i64 = index
        headers = rows.value(columns.HEADERS, row)
        message = Message(
            rows.value(columns.ID, row),
            self._name(columns.EVENT, row),
            rows.value(columns.BODY, row),
            int(rows.number(columns.PUBLISHED_AT, row)),
            self._protocol_of(row),
            decode_headers(headers) if headers else None,
        )
        message.route = int(rows.number(columns.ROUTE, row))
        message.offset = self.first_offset + index
        if self.has_options:
            message.options = self._options(row)
        return message

    def _protocol_of(self, row: i64) -> str:
        """Decoded once for all messages in a row that came over the same protocol."""
        code = self.messages.number(columns.PROTOCOL, row)
        if code != self._protocol_code:
            self._protocol = self.names[code].decode()
            self._protocol_code = code
        return self._protocol

    def event_of(self, index: int) -> bytes:
        return self._name(columns.EVENT, i64(index))

    def route_of(self, index: int) -> int:
        return int(self.messages.number(columns.ROUTE, i64(index)))

    def size_of(self, first: int, end: int) -> int:
        """The memory used by messages `first` to `end` (exclusive); the part for headers is approximate."""
        rows = self.messages
        low: i64 = first
        high: i64 = end
        size = (end - first) * MESSAGE_OVERHEAD + int(rows.end_of(columns.BODY, high) - rows.end_of(columns.BODY, low))
        headers_size = int(rows.end_of(columns.HEADERS, high) - rows.end_of(columns.HEADERS, low))
        if headers_size:
            at = int(rows.place_of_bytes(columns.HEADERS) + rows.end_of(columns.HEADERS, low))
            count = self.data.count(HEADER_BETWEEN, at, at + headers_size)
            size += max(0, headers_size - HEADER_SYNTAX * count) + HEADER_OVERHEAD * count
        return size

    def end_of_alike(self, index: int) -> int:
        """The end (exclusive) of the run of messages from `index` on that share its event and route."""
        data = self.data
        events_at = self.messages.place(columns.EVENT)
        routes_at = self.messages.place(columns.ROUTE)
        i: i64 = index
        event = read_i32_le(data, events_at + 4 * i)
        route = read_i32_le(data, routes_at + 4 * i)
        count: i64 = self.message_count
        i += 1
        while i < count:
            if read_i32_le(data, events_at + 4 * i) != event or read_i32_le(data, routes_at + 4 * i) != route:
                break
            i += 1
        return int(i)

    def code_max(self) -> int:
        """The largest name code that the block uses; -1 if it uses none."""
        largest: i64 = -1
        for column in columns.MESSAGES.names:
            largest = max(largest, _code_max(self.messages, column))
        return int(max(largest, _code_max(self._run_rows(), columns.QUEUE)))

    def uses_code(self, first: int, end: int) -> bool:
        """Whether a message needs a name with a code from `first` to `end` (exclusive). The owner is not needed."""
        return (
            _has_code(self.messages, columns.EVENT, first, end)
            or _has_code(self.messages, columns.PROTOCOL, first, end)
            or _has_code(self.messages, columns.TARGET, first, end)
        )

    def runs(self) -> list[Run]:
        """The settlements."""
        if self.run_count == 0:
            return []
        rows = self._run_rows()
        has_due_at = rows.has(columns.RUN_DUE_AT)
        found: list[Run] = []
        row: i64 = 0
        while row < self.run_count:
            found.append(
                Run(
                    self.names[rows.number(columns.QUEUE, row)],
                    int(rows.number(columns.HOW, row)),
                    int(rows.number(columns.FIRST, row)),
                    int(rows.number(columns.COUNT, row)),
                    int(rows.number(columns.AFTER_OFFSET, row)),
                    int(rows.number(columns.RUN_DUE_AT, row)) if has_due_at else 0,
                )
            )
            row += 1
        return found

    def _run_rows(self) -> Rows:
        return Rows(columns.RUNS, self.data, self.messages.end, i64(self.run_count), self.rare)

    def _read_names(self) -> i64:
        """Append the block's names; returns where they end."""
        if self.name_count == 0:
            return HEADER_SIZE + 8  # an end, and its padding
        rows = Rows(columns.NAMES, self.data, HEADER_SIZE, i64(self.name_count), 0)
        row: i64 = 0
        while row < rows.count:
            self.names.append(rows.value(columns.NAME_BYTES, row))
            row += 1
        return rows.end

    def _options(self, row: i64) -> DeliveryOptions | None:
        """The message's options beyond plain delivery; None if it has none."""
        due_at = self._rare_number(columns.DUE_AT, row)
        expires_at = self._rare_number(columns.EXPIRES_AT, row)
        deliveries_max = self._rare_number(columns.DELIVERIES_MAX, row)
        dedup_seconds = self._rare_number(columns.DEDUP_SECONDS, row)
        target = self._rare_name(columns.TARGET, row)
        if due_at or expires_at or deliveries_max or dedup_seconds or target:
            owner = self._rare_name(columns.OWNER, row)
            return DeliveryOptions(due_at, expires_at, deliveries_max, dedup_seconds, target, owner)
        return None

    def _name(self, column: Column, row: i64) -> bytes:
        return self.names[self.messages.number(column, row)]

    def _rare_number(self, column: Column, row: i64) -> int:
        return int(self.messages.number(column, row)) if self.messages.has(column) else 0

    def _rare_name(self, column: Column, row: i64) -> bytes:
        if not self.messages.has(column):
            return b""
        code = self.messages.number(column, row)
        return self.names[code] if code >= 0 else b""


def _code_max(rows: Rows, column: Column) -> i64:
    largest: i64 = -1
    if rows.count and rows.has(column):
        data = rows.data
        at = rows.place(column)
        end = at + 4 * rows.count
        while at < end:
            largest = max(largest, i64(read_i32_le(data, at)))
            at += 4
    return largest


def _has_code(rows: Rows, column: Column, first: i64, end: i64) -> bool:
    """Whether the column has a code from `first` to `end` (exclusive)."""
    if rows.has(column):
        row: i64 = 0
        while row < rows.count:
            if first <= rows.number(column, row) < end:
                return True
            row += 1
    return False
