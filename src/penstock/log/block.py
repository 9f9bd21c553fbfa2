"""One block of the log: the entries accepted in one event loop iteration, stored column by column.

    byte  0   magic "PNSK"
          4   version, u8
          5   1 if everything before it in its segment was synced before it was written, else 0, u8
          6   which of the rare columns are present (RARE_...), u8
          7   padding
          8   CRC-32 of byte 6, then of everything from byte 12 to the end, u32
         12   length of the block including this header, u32
         16   offset of its first message, i64
         24   position before its first entry, i64
         32   time it was closed, microseconds since 1970, i64
         40   number of new names (n), u32
         44   number of changes (c), u32
         48   number of messages (m), u32
         52   number of settlement runs (s), u32
         56   length of the changes, u32
         60   number of settlements in all runs, u32

    names         ends i32[n + 1], bytes                events, queues, protocols; codes count up within a segment
    changes       one JSON text                         topology, in order
    messages      event  i32[m]                         code of the name
                  protocol i32[m]                       code of the name
                  route  i32[m]                         message.BY_EVENT ...
                  published_at i64[m]
                  id     ends i32[m + 1], bytes
                  body   ends i32[m + 1], bytes
                  headers ends i32[m + 1], bytes        JSON object, or empty
                  due_at i64[m]                         rare; this and the following: message.Terms; 0 if unset
                  expires_at i64[m]                     rare
                  deliveries_max i32[m]                 rare
                  dedup_seconds i32[m]                  rare
                  target i32[m]                         rare; code of the name, -1 if there is none
                  owner  i32[m]                         rare, since version 4; the same for the user's name
    settlements   queue  i32[s], how i32[s], count i32[s], first i64[s], after_offset i64[s]
                  due_at i64[s]                         rare; for rejected messages that were delayed

A rare column is present if a message or a settlement in the block needs it. Version 4 adds `owner` to version 3; a
block without that column is written as version 3, so older versions of Penstock can read it.

All integers are little-endian, and every column starts at a multiple of eight bytes. The ends start with 0, so a column
of bytes is an Arrow binary array as stored.

Within a block, changes come before messages and messages before settlements, whatever order they arrived in. The
history is the same: a change that follows a message or a settlement starts a new block, and a settlement commutes with
the messages around it, because a rejected message carries its place (`after_offset`) with it. A settlement run covers
`count` consecutive offsets starting at `first`: a queue that is consumed in order needs one run per iteration.

Byte 5 is set when the block is written to disk, because only the writer knows what has been synced by then. The
checksum therefore does not cover it.
"""

import zlib
from typing import Final

import orjson
from librt.strings import BytesWriter, read_i32_le, read_i64_le, write_i32_le, write_i64_le
from mypy_extensions import i32, i64

from penstock.errors import LogError
from penstock.log.interface import Change
from penstock.message import HEADER_OVERHEAD, MESSAGE_OVERHEAD, DeliveryOptions, Message

MAGIC: Final = b"PNSK"
VERSION: Final = 4
VERSION_UNOWNED: Final = 3  # of a block without the column `owner`
READABLE: Final = (2, 3, 4)  # version 3 added kinds of entries to version 2, in the same columns
HEADER_SIZE: Final = 64
MARK_AT: Final = 5
RARE_AT: Final = 6
CRC_AT: Final = 8
CRC_FROM: Final = 12
PADDING: Final = bytes(8)
COLUMN_MAX: Final = (1 << 31) - 1 - (64 << 20)  # bytes; column ends and the block's length are 32-bit
WRITER_KEPT_MAX: Final = 4 << 20
JOINED_MAX: Final = 1 << 20
LARGE_BODY: Final = 1 << 20  # bodies of this size or larger are not copied

# Separates a header's name from its value; a quote within either is escaped with a backslash.
HEADER_BETWEEN: Final = b'":"'
HEADER_SYNTAX: Final = 6  # bytes per header in the log that belong to neither name nor value

# The rare columns, in their order.
RARE_DUE: Final = 1
RARE_EXPIRES: Final = 2
RARE_DELIVERIES: Final = 4
RARE_DEDUP: Final = 8
RARE_TARGET: Final = 16
RARE_PUT_OFF: Final = 32
RARE_OWNER: Final = 64  # stored after RARE_TARGET
RARE_TERMS: Final = RARE_DUE | RARE_EXPIRES | RARE_DELIVERIES | RARE_DEDUP | RARE_TARGET | RARE_OWNER


class CorruptBlock(LogError):
    """There is no complete, valid block at this position of a segment."""

    def __init__(self, segment: str, position: int, reason: str) -> None:
        super().__init__(f"segment {segment}, byte {position}: {reason}")
        self.segment = segment
        self.position = position
        self.reason = reason


class BlockWriter:
    """Collects the entries of one block. Does not touch files."""

    def __init__(self, joined_max: int = JOINED_MAX) -> None:
        self.codes: dict[bytes, i64] = {}  # of this segment
        self._protocol_codes: dict[str, i64] = {}
        self.first_offset = 0
        self.first_position = 0
        self.bytes_max: i64 = COLUMN_MAX  # of ids, bodies and headers together
        self._joined_max = joined_max  # bytes; a block up to this size is joined, a larger one is left in pieces
        self._bytes: i64 = 0  # of ids, bodies and headers so far
        self._gathered_size: i64 = 0  # bytes of the bodies in `_gathered`
        self._events = BytesWriter()
        self._protocols = BytesWriter()
        self._routes = BytesWriter()
        self._times = BytesWriter()
        self._ids = BytesWriter()
        self._id_ends = _ends()
        self._bodies = BytesWriter()
        self._body_ends = _ends()
        self._headers = BytesWriter()
        self._header_ends = _ends()
        self._queues = BytesWriter()
        self._hows = BytesWriter()
        self._counts = BytesWriter()
        self._firsts = BytesWriter()
        self._bounds = BytesWriter()
        self._clear()

    def start_segment(self) -> None:
        """Write names again: each segment must be readable without the ones before it."""
        self.codes = {}
        self._protocol_codes = {}

    def is_empty(self) -> bool:
        return self.message_count == 0 and self.settled_count == 0 and not self.changes

    def code_of(self, name: bytes) -> i64:
        code = self.codes.get(name)
        if code is None:
            code = i64(len(self.codes))
            self.codes[name] = code
            self._names.append(name)
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
            raise LogError(f"message of {added} bytes, and {self._bytes} before it: a block holds {self.bytes_max}")
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
            self._options.append((self.message_count, message.options))
        self.message_count += 1

    def _add_large(self, body: bytes) -> None:
        """Keep the body without copying it, after the bodies before it."""
        if len(self._bodies):
            self._gathered.append(self._bodies.getvalue())
            self._gathered_size += i64(len(self._bodies))
            self._bodies.truncate(0)
        self._gathered.append(body)
        self._gathered_size += i64(len(body))

    def add_run(self, queue: bytes, how: int, first: int, count: int, after_offset: int, due_at: int = 0) -> None:
        if due_at:
            self._put_off.append((self.run_count, due_at))
        write_i32_le(self._queues, i32(self.code_of(queue)))
        write_i32_le(self._hows, i32(how))
        write_i32_le(self._counts, i32(count))
        write_i64_le(self._firsts, i64(first))
        write_i64_le(self._bounds, i64(after_offset))
        self.run_count += 1
        self.settled_count += count

    def size(self) -> int:
        """The approximate size of the block in bytes."""
        return int(self._bytes) + 40 * (self.message_count + self.run_count)

    def close(self, now: int) -> list[bytes]:
        """Return the block, and clear the writer for the next one.

        The block is one piece, unless it is large: then it is several, and must be `sealed` before it is written.
        Checksumming megabytes takes milliseconds, too long for the event loop.
        """
        changes = orjson.dumps([_change_to_json(change) for change in self.changes]) if self.changes else b""
        rare = self._rare()
        targets = self._targets() if rare & RARE_TARGET else b""  # may add names, so must precede `_name_columns`
        owners = self._owners() if rare & RARE_OWNER else b""
        columns = [*self._name_columns(), changes]
        pieces: list[bytes] = []
        if self.message_count:
            columns += [self._events.getvalue(), self._protocols.getvalue(), self._routes.getvalue()]
            columns += [self._times.getvalue(), self._id_ends.getvalue(), self._ids.getvalue()]
            columns.append(self._body_ends.getvalue())
            _add_padded(pieces, columns)
            pieces += self._gathered
            pieces.append(self._bodies.getvalue())
            pieces.append(_padding(int(self._gathered_size) + len(self._bodies)))
            columns = [self._header_ends.getvalue(), self._headers.getvalue()]
            columns += self._term_columns(rare)
            columns.append(targets)
            columns.append(owners)
        if self.run_count:
            columns += [self._queues.getvalue(), self._hows.getvalue(), self._counts.getvalue()]
            columns += [self._firsts.getvalue(), self._bounds.getvalue()]
            if rare & RARE_PUT_OFF:
                columns.append(_sparse(self._put_off, self.run_count, 8))
        _add_padded(pieces, columns)
        size = HEADER_SIZE + sum([len(piece) for piece in pieces])
        pieces.insert(0, self._header(size, len(changes), now, rare))
        self._clear()
        return pieces if size > self._joined_max else [b"".join(sealed(pieces))]

    def _rare(self) -> int:
        """Which of the rare columns the block needs."""
        rare = RARE_PUT_OFF if self._put_off else 0
        for _, options in self._options:
            rare |= RARE_DUE if options.due_at else 0
            rare |= RARE_EXPIRES if options.expires_at else 0
            rare |= RARE_DELIVERIES if options.deliveries_max else 0
            rare |= RARE_DEDUP if options.dedup_seconds else 0
            rare |= RARE_TARGET if options.target else 0
            rare |= RARE_OWNER if options.owner and options.dedup_seconds else 0
        return rare

    def _term_columns(self, rare: int) -> list[bytes]:
        if not rare & RARE_TERMS:
            return []
        m = self.message_count
        columns: list[bytes] = []
        if rare & RARE_DUE:
            columns.append(_sparse([(index, options.due_at) for index, options in self._options], m, 8))
        if rare & RARE_EXPIRES:
            columns.append(_sparse([(index, options.expires_at) for index, options in self._options], m, 8))
        if rare & RARE_DELIVERIES:
            columns.append(_sparse([(index, options.deliveries_max) for index, options in self._options], m, 4))
        if rare & RARE_DEDUP:
            columns.append(_sparse([(index, options.dedup_seconds) for index, options in self._options], m, 4))
        return columns

    def _targets(self) -> bytes:
        codes = [(index, int(self.code_of(options.target))) for index, options in self._options if options.target]
        return _sparse(codes, self.message_count, 4, b"\xff")

    def _owners(self) -> bytes:
        """The users who own the message ids, for messages that are deduplicated."""
        codes: list[tuple[int, int]] = []
        for index, options in self._options:
            if options.owner and options.dedup_seconds:
                codes.append((index, int(self.code_of(options.owner))))
        return _sparse(codes, self.message_count, 4, b"\xff")

    def _header(self, size: int, changes_size: int, now: int, rare: int) -> bytes:
        """The header of a block of `size` bytes, without its checksum."""
        version = VERSION if rare & RARE_OWNER else VERSION_UNOWNED
        header = BytesWriter()
        header.write(MAGIC)
        header.write(bytes([version, 0, rare, 0]))
        write_i32_le(header, 0)
        write_i32_le(header, i32(size))
        write_i64_le(header, i64(self.first_offset))
        write_i64_le(header, i64(self.first_position))
        write_i64_le(header, i64(now))
        write_i32_le(header, i32(len(self._names)))
        write_i32_le(header, i32(len(self.changes)))
        write_i32_le(header, i32(self.message_count))
        write_i32_le(header, i32(self.run_count))
        write_i32_le(header, i32(changes_size))
        write_i32_le(header, i32(self.settled_count))
        return header.getvalue()

    def _name_columns(self) -> list[bytes]:
        ends = _ends()
        end: i64 = 0
        for name in self._names:
            end += len(name)
            write_i32_le(ends, i32(end))
        return [ends.getvalue(), b"".join(self._names)]

    def _clear(self) -> None:
        self.changes: list[Change] = []
        self._gathered: list[bytes] = []  # bodies up to the last large one
        self._gathered_size = 0
        self._bytes = 0
        self.message_count = 0
        self.run_count = 0
        self.settled_count = 0
        self._names: list[bytes] = []
        self._events = _emptied(self._events)
        self._protocols = _emptied(self._protocols)
        self._routes = _emptied(self._routes)
        self._times = _emptied(self._times)
        self._ids = _emptied(self._ids)
        self._id_ends = _emptied_ends(self._id_ends)
        self._bodies = _emptied(self._bodies)
        self._body_ends = _emptied_ends(self._body_ends)
        self._headers = _emptied(self._headers)
        self._header_ends = _emptied_ends(self._header_ends)
        self._queues = _emptied(self._queues)
        self._hows = _emptied(self._hows)
        self._counts = _emptied(self._counts)
        self._firsts = _emptied(self._firsts)
        self._bounds = _emptied(self._bounds)
        self._options: list[tuple[int, DeliveryOptions]] = []  # by index of the message
        self._put_off: list[tuple[int, int]] = []  # by index of the run


class Run:
    """Identical settlements of consecutive offsets in one queue."""

    def __init__(self, queue: bytes, how: int, first: int, count: int, after_offset: int, due_at: int) -> None:
        self.queue = queue
        self.how = how
        self.first = first
        self.count = count
        self.after_offset = after_offset  # for REJECT and DUE: the offset after which the message is requeued
        self.due_at = due_at  # for REJECT: the earliest time of the next try; 0 = at once


class Header:
    """The header of a block: its contents and place in the log, without reading the rest. Not verified."""

    def __init__(self, data: bytes) -> None:
        self.length = int(read_i32_le(data, 12))
        self.first_offset = int(read_i64_le(data, 16))
        self.first_position = int(read_i64_le(data, 24))
        self.closed_at = int(read_i64_le(data, 32))
        self.name_count = int(read_i32_le(data, 40))
        self.change_count = int(read_i32_le(data, 44))
        self.message_count = int(read_i32_le(data, 48))
        self.settled_count = int(read_i32_le(data, 60))
        self.end_offset = self.first_offset + self.message_count
        self.end_position = self.first_position + self.change_count + self.message_count + self.settled_count


class Block:
    """A verified block. Columns are located by arithmetic; nothing is copied until it is requested."""

    def __init__(self, data: bytes, names: list[bytes]) -> None:
        """`names` are the names of the segment so far; the block appends its own."""
        self.data = data
        self.names = names
        self.rare = data[RARE_AT]
        self.first_offset = int(read_i64_le(data, 16))
        self.first_position = int(read_i64_le(data, 24))
        self.closed_at = int(read_i64_le(data, 32))
        name_count = int(read_i32_le(data, 40))
        change_count = int(read_i32_le(data, 44))
        self.message_count = int(read_i32_le(data, 48))
        self.run_count = int(read_i32_le(data, 52))
        self.settled_count = int(read_i32_le(data, 60))
        self.entry_count = change_count + self.message_count + self.settled_count
        self.name_count = name_count
        place = self._read_names(HEADER_SIZE, name_count)
        changes_size = int(read_i32_le(data, 56))
        self._changes = data[place : place + changes_size]
        place = _aligned(place + changes_size)
        if self.message_count:
            place = self._find_messages(place)
        self._runs_at = place

    def changes(self) -> list[Change]:
        return [_change_from_json(item) for item in orjson.loads(self._changes)] if self._changes else []

    def message(self, index: int) -> Message:
        """The message with offset `first_offset + index`."""
        data = self.data
        i: i64 = index
        body = data[self.body_at + self._end(self.body_ends_at, i) : self.body_at + self._end(self.body_ends_at, i + 1)]
        id = data[self.id_at + self._end(self.id_ends_at, i) : self.id_at + self._end(self.id_ends_at, i + 1)]
        headers = data[
            self.headers_at + self._end(self.header_ends_at, i) : self.headers_at
            + self._end(self.header_ends_at, i + 1)
        ]
        message = Message(
            id,
            self.names[read_i32_le(data, self.events_at + 4 * i)],
            body,
            int(read_i64_le(data, self.times_at + 8 * i)),
            self.names[read_i32_le(data, self.protocols_at + 4 * i)].decode(),
            decode_headers(headers) if headers else None,
        )
        message.route = int(read_i32_le(data, self.routes_at + 4 * i))
        message.offset = self.first_offset + index
        if self.rare & RARE_TERMS:
            message.options = self.terms_of(index)
        return message

    def terms_of(self, index: int) -> DeliveryOptions | None:
        """The message's options beyond plain delivery; None if it has none."""
        data = self.data
        rare = self.rare
        i: i64 = index
        due_at = int(read_i64_le(data, self.dues_at + 8 * i)) if rare & RARE_DUE else 0
        expires_at = int(read_i64_le(data, self.expiries_at + 8 * i)) if rare & RARE_EXPIRES else 0
        deliveries_max = int(read_i32_le(data, self.deliveries_at + 4 * i)) if rare & RARE_DELIVERIES else 0
        dedup_seconds = int(read_i32_le(data, self.dedups_at + 4 * i)) if rare & RARE_DEDUP else 0
        target = self.target_of(index)
        if due_at or expires_at or deliveries_max or dedup_seconds or target:
            return DeliveryOptions(due_at, expires_at, deliveries_max, dedup_seconds, target, self.owner_of(index))
        return None

    def target_of(self, index: int) -> bytes:
        """The target queue, if its name differs from the event; otherwise empty."""
        if not self.rare & RARE_TARGET:
            return b""
        code: i64 = i64(read_i32_le(self.data, self.targets_at + 4 * i64(index)))
        return self.names[code] if code >= 0 else b""

    def owner_of(self, index: int) -> bytes:
        """The user who owns the message id; empty if none was recorded."""
        if not self.rare & RARE_OWNER:
            return b""
        code: i64 = i64(read_i32_le(self.data, self.owners_at + 4 * i64(index)))
        return self.names[code] if code >= 0 else b""

    def event_of(self, index: int) -> bytes:
        return self.names[read_i32_le(self.data, self.events_at + 4 * i64(index))]

    def route_of(self, index: int) -> int:
        return int(read_i32_le(self.data, self.routes_at + 4 * i64(index)))

    def size_of(self, first: int, end: int) -> int:
        """The memory used by messages `first` to `end` (exclusive); the part for headers is approximate."""
        size = (end - first) * MESSAGE_OVERHEAD
        size += int(self._end(self.body_ends_at, i64(end)) - self._end(self.body_ends_at, i64(first)))
        headers_at = int(self.headers_at + self._end(self.header_ends_at, i64(first)))
        headers_end = int(self.headers_at + self._end(self.header_ends_at, i64(end)))
        if headers_at < headers_end:
            count = self.data.count(HEADER_BETWEEN, headers_at, headers_end)
            size += max(0, headers_end - headers_at - HEADER_SYNTAX * count) + HEADER_OVERHEAD * count
        return size

    def end_of_alike(self, index: int) -> int:
        """The end (exclusive) of the run of messages from `index` on that share its event and route."""
        data = self.data
        i: i64 = index
        event = read_i32_le(data, self.events_at + 4 * i)
        route = read_i32_le(data, self.routes_at + 4 * i)
        count: i64 = self.message_count
        i += 1
        while i < count:
            if read_i32_le(data, self.events_at + 4 * i) != event or read_i32_le(data, self.routes_at + 4 * i) != route:
                break
            i += 1
        return int(i)

    def code_max(self) -> int:
        """The largest name code that the block uses; -1 if it uses none."""
        data = self.data
        largest: i64 = -1
        i: i64 = 0
        while i < self.message_count:
            largest = max(largest, i64(read_i32_le(data, self.events_at + 4 * i)))
            largest = max(largest, i64(read_i32_le(data, self.protocols_at + 4 * i)))
            if self.rare & RARE_TARGET:
                largest = max(largest, i64(read_i32_le(data, self.targets_at + 4 * i)))
            if self.rare & RARE_OWNER:
                largest = max(largest, i64(read_i32_le(data, self.owners_at + 4 * i)))
            i += 1
        i = 0
        while i < self.run_count:
            largest = max(largest, i64(read_i32_le(data, i64(self._runs_at) + 4 * i)))
            i += 1
        return int(largest)

    def uses_code(self, first: int, end: int) -> bool:
        """Whether a message in the block uses a name code from `first` to `end` (exclusive)."""
        data = self.data
        low: i64 = first
        high: i64 = end
        i: i64 = 0
        while i < self.message_count:
            event = i64(read_i32_le(data, self.events_at + 4 * i))
            protocol = i64(read_i32_le(data, self.protocols_at + 4 * i))
            if low <= event < high or low <= protocol < high:
                return True
            if self.rare & RARE_TARGET and low <= i64(read_i32_le(data, self.targets_at + 4 * i)) < high:
                return True
            i += 1
        return False

    def runs(self) -> list[Run]:
        """The settlements."""
        data = self.data
        count: i64 = self.run_count
        queues_at: i64 = self._runs_at
        hows_at: i64 = _aligned(int(queues_at + 4 * count))
        counts_at: i64 = _aligned(int(hows_at + 4 * count))
        firsts_at: i64 = _aligned(int(counts_at + 4 * count))
        bounds_at: i64 = firsts_at + 8 * count
        dues_at: i64 = bounds_at + 8 * count
        found: list[Run] = []
        i: i64 = 0
        while i < count:
            found.append(
                Run(
                    self.names[read_i32_le(data, queues_at + 4 * i)],
                    int(read_i32_le(data, hows_at + 4 * i)),
                    int(read_i64_le(data, firsts_at + 8 * i)),
                    int(read_i32_le(data, counts_at + 4 * i)),
                    int(read_i64_le(data, bounds_at + 8 * i)),
                    int(read_i64_le(data, dues_at + 8 * i)) if self.rare & RARE_PUT_OFF else 0,
                )
            )
            i += 1
        return found

    def _end(self, ends_at: i64, index: i64) -> i64:
        return i64(read_i32_le(self.data, ends_at + 4 * index))

    def _read_names(self, place: int, count: int) -> int:
        data = self.data
        ends_at: i64 = place
        bytes_at: i64 = _aligned(place + 4 * (count + 1))
        i: i64 = 0
        while i < count:
            self.names.append(data[bytes_at + self._end(ends_at, i) : bytes_at + self._end(ends_at, i + 1)])
            i += 1
        return _aligned(int(bytes_at + self._end(ends_at, i)))

    def _find_messages(self, place: int) -> int:
        m = self.message_count
        self.events_at: i64 = place
        self.protocols_at: i64 = _aligned(place + 4 * m)
        self.routes_at: i64 = _aligned(int(self.protocols_at) + 4 * m)
        self.times_at: i64 = _aligned(int(self.routes_at) + 4 * m)
        self.id_ends_at: i64 = self.times_at + 8 * m
        self.id_at: i64 = _aligned(int(self.id_ends_at) + 4 * (m + 1))
        self.body_ends_at: i64 = _aligned(int(self.id_at + self._end(self.id_ends_at, m)))
        self.body_at: i64 = _aligned(int(self.body_ends_at) + 4 * (m + 1))
        self.header_ends_at: i64 = _aligned(int(self.body_at + self._end(self.body_ends_at, m)))
        self.headers_at: i64 = _aligned(int(self.header_ends_at) + 4 * (m + 1))
        place = _aligned(int(self.headers_at + self._end(self.header_ends_at, m)))
        return self._find_terms(place) if self.rare & RARE_TERMS else place

    def _find_terms(self, place: int) -> int:
        m = self.message_count
        rare = self.rare
        self.dues_at: i64 = place
        self.expiries_at: i64 = self.dues_at + (8 * m if rare & RARE_DUE else 0)
        self.deliveries_at: i64 = self.expiries_at + (8 * m if rare & RARE_EXPIRES else 0)
        self.dedups_at: i64 = self.deliveries_at + (_aligned(4 * m) if rare & RARE_DELIVERIES else 0)
        self.targets_at: i64 = self.dedups_at + (_aligned(4 * m) if rare & RARE_DEDUP else 0)
        self.owners_at: i64 = self.targets_at + (_aligned(4 * m) if rare & RARE_TARGET else 0)
        return int(self.owners_at) + (_aligned(4 * m) if rare & RARE_OWNER else 0)


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
        return f"{len(header)} of {HEADER_SIZE} bytes of a header"
    if is_of_another_version(header):
        return f"a block of version {header[4]}, which this Penstock does not know"
    return "no block begins here"


def is_intact(data: bytes) -> bool:
    """True if the block's checksum matches."""
    crc = zlib.crc32(memoryview(data)[CRC_FROM:], zlib.crc32(data[RARE_AT : RARE_AT + 1]))
    return int.from_bytes(data[8:12], "little") == crc


def encode_headers(headers: dict[bytes, bytes]) -> bytes:
    return orjson.dumps({key.decode("latin-1"): value.decode("latin-1") for key, value in headers.items()})


def decode_headers(text: bytes) -> dict[bytes, bytes]:
    return {key.encode("latin-1"): value.encode("latin-1") for key, value in orjson.loads(text).items()}


def _add_padded(pieces: list[bytes], columns: list[bytes]) -> None:
    """Append the columns, each padded to a multiple of eight bytes."""
    for column in columns:
        pieces.append(column)
        if len(column) % 8:
            pieces.append(_padding(len(column)))


def _padding(size: int) -> bytes:
    return PADDING[size % 8 :] if size % 8 else b""


def _emptied(writer: BytesWriter) -> BytesWriter:
    """An empty writer that reuses this one's memory, unless it is large: new memory each iteration costs a third."""
    if len(writer) > WRITER_KEPT_MAX:
        return BytesWriter()
    writer.truncate(0)
    return writer


def _emptied_ends(writer: BytesWriter) -> BytesWriter:
    emptied = _emptied(writer)
    write_i32_le(emptied, 0)
    return emptied


def _ends() -> BytesWriter:
    ends = BytesWriter()
    write_i32_le(ends, 0)
    return ends


def _sparse(values: list[tuple[int, int]], count: int, size: int, filler: bytes = b"\0") -> bytes:
    """A column of `count` numbers of `size` bytes, where only the given indexes have a value."""
    column = bytearray(filler * (count * size))
    for index, value in values:
        column[index * size : index * size + size] = value.to_bytes(size, "little")
    return bytes(column)


def _aligned(place: int) -> int:
    return (place + 7) & ~7


def _text(name: bytes) -> str:
    return name.decode("latin-1")


def _change_to_json(change: Change) -> dict[str, object]:
    found: dict[str, object] = {
        "kind": change.kind,
        "queue": _text(change.queue),
        "number": change.number,
        "names": [_text(name) for name in change.names],
        "patterns": [_text(pattern) for pattern in change.patterns],
    }
    if change.at:
        found["at"] = change.at
    return found


def _change_from_json(item: dict[str, object]) -> Change:
    names, patterns, number, at = item["names"], item["patterns"], item["number"], item.get("at", 0)
    assert isinstance(names, list)
    assert isinstance(patterns, list)
    assert isinstance(number, int)
    assert isinstance(at, int)
    return Change(
        str(item["kind"]),
        str(item["queue"]).encode("latin-1"),
        number=number,
        names=tuple([str(name).encode("latin-1") for name in names]),
        patterns=tuple([str(pattern).encode("latin-1") for pattern in patterns]),
        at=at,
    )
