"""Snapshots: the state of all queues at one position of the log, so that a start need not read the log before it.

A snapshot is a file beside the segments, named by its position, which is where a segment starts:

    byte  0   magic "PNSS"
          4   version, u8: 2; version 1 has the ids in its text
          5   padding, 3 bytes
          8   CRC-32 of everything from byte 12 to the end, u32
         12   length of the text, u32
         16   JSON text: position, next offset, time, the existing segments, the queues, the writers' last batches
          .   data, with lengths from the text: offsets and places, i64 each, in its order; then pages of ids (`ids.py`)

A snapshot is written once the log is durable up to its position. A damaged or unfinished one is skipped in favour of
the one before it. So a snapshot can be lost, but it cannot be wrong.
"""

import zlib
from collections.abc import Callable
from typing import Final

import orjson
from librt.strings import BytesWriter, write_i32_le
from mypy_extensions import i32

from penstock.errors import LogError
from penstock.log.ids import IdPage, IdPart, decode_ids, encode_ids
from penstock.log.json_texts import latin1_bytes, latin1_text
from penstock.log.span import Span

SNAPSHOT_SUFFIX: Final = ".snap"
MAGIC: Final = b"PNSS"
VERSION: Final = 2
READABLE: Final = (1, 2)
HEADER_SIZE: Final = 16
CRC_FROM: Final = 12
PLACE_SIZE: Final = 32


class QueueImage:
    """The state of one queue.

    `placed` are messages that were delivered before: (after_offset, sequence, offset, retry), i64 each, in order.
    `delayed` are messages that are not due yet: (due_at, offset, retry, bytes).
    """

    def __init__(
        self,
        name: bytes,
        events: tuple[bytes, ...],
        patterns: tuple[bytes, ...],
        expires_after: int,
        spans: list[Span],
        placed: bytes,
        delayed: bytes = b"",
        expiring: bool = False,
        paused: bool = False,
        used: bool = False,
        out_before: tuple[int, int] | None = None,
    ) -> None:
        self.name = name
        self.events = events
        self.patterns = patterns
        self.expires_after = expires_after
        self.spans = spans
        self.placed = placed
        self.delayed = delayed
        self.expiring = expiring  # it has messages with a time to live
        self.paused = paused
        self.used = used  # it is deleted with its last consumer, and has had one
        self.out_before = out_before  # unsettled messages before this place were out for delivery
        self.out_until: tuple[int, int] | None = None  # those before this place were as well ...
        self.returned: list[int] = []  # ... except for these offsets


class Snapshot:
    def __init__(self, position: int, next_offset: int, taken_at: int, queues: list[QueueImage]) -> None:
        self.position = position
        self.next_offset = next_offset
        self.taken_at = taken_at
        self.queues = queues
        self.committed: dict[bytes, int] = {}  # by writer, the number of its last batch, in order
        self.commit_times: dict[bytes, int] = {}  # by writer, the time of that batch
        self.dedup: list[IdPart] = []  # ids remembered for deduplication
        self.segments: list[str] = []  # existing segments, without the one about to start
        self.has_gap = False  # taken of a log with missing entries: what refers to them is ignored after it, too

    def __repr__(self) -> str:
        return f"<Snapshot at {self.position}, {len(self.queues)} queues>"


class UnknownVersion(LogError):
    """The snapshot was written by another version of Penstock, and this one cannot read it."""


def encode(snapshot: Snapshot) -> bytes:
    return b"".join(pieces_of(snapshot))


def pieces_of(snapshot: Snapshot, let_go: Callable[[], None] | None = None) -> list[bytes]:
    """The file, in pieces. Calls `let_go` between pages of ids: there may be many, and other threads must run too."""
    pieces: list[bytes] = []
    queues: list[object] = []
    for image in snapshot.queues:
        spans: list[object] = []
        for span in image.spans:
            spans.append([span.first, span.count, span.size, len(span.offsets)])
            pieces.append(span.offsets)
        pieces.append(image.placed)
        pieces.append(image.delayed)
        item: dict[str, object] = {
            "name": latin1_text(image.name),
            "events": [latin1_text(event) for event in image.events],
            "patterns": [latin1_text(pattern) for pattern in image.patterns],
            "expires_after": image.expires_after,
            "spans": spans,
            "placed": len(image.placed),
            "delayed": len(image.delayed),
            "expiring": image.expiring,
            "paused": image.paused,
            "used": image.used,
            "out_before": image.out_before,
        }
        if image.out_until is not None:
            item["out_until"] = image.out_until
            item["returned"] = image.returned
        queues.append(item)
    pages: list[bytes] = []
    for part in snapshot.dedup:
        if pages and let_go is not None:
            let_go()
        pages.append(encode_ids(part))
    content: dict[str, object] = {
        "position": snapshot.position,
        "next_offset": snapshot.next_offset,
        "taken_at": snapshot.taken_at,
        "segments": snapshot.segments,
        "queues": queues,
        "committed": [
            [latin1_text(writer), batch, snapshot.commit_times[writer]] for writer, batch in snapshot.committed.items()
        ],
        "dedup": [[part.end - part.start, len(data)] for part, data in zip(snapshot.dedup, pages, strict=True)],
    }
    if snapshot.has_gap:
        content["has_gap"] = True
    text = orjson.dumps(content)
    length = BytesWriter()
    write_i32_le(length, i32(len(text)))
    body = [b"".join([length.getvalue(), text, *pieces]), *pages]
    crc = 0
    for piece in body:
        crc = zlib.crc32(piece, crc)
    return [MAGIC + bytes([VERSION, 0, 0, 0]) + crc.to_bytes(4, "little"), *body]


def decode(data: bytes) -> Snapshot:
    """Raises LogError if it is not valid."""
    if len(data) < HEADER_SIZE or not data.startswith(MAGIC):
        raise LogError("not a snapshot")
    if data[4] not in READABLE:
        raise UnknownVersion(f"unknown snapshot version {data[4]}")
    if int.from_bytes(data[8:12], "little") != zlib.crc32(memoryview(data)[CRC_FROM:]):
        raise LogError("checksum mismatch")
    place = HEADER_SIZE + int.from_bytes(data[12:16], "little")
    text = orjson.loads(data[HEADER_SIZE:place])
    queues: list[QueueImage] = []
    for item in text["queues"]:
        spans: list[Span] = []
        for first, count, size, length in item["spans"]:
            spans.append(Span(first, count, size, data[place : place + length]))
            place += length
        placed = data[place : place + item["placed"]]
        place += item["placed"]
        delayed = data[place : place + item["delayed"]]
        place += item["delayed"]
        image = QueueImage(
            latin1_bytes(item["name"]),
            tuple([latin1_bytes(event) for event in item["events"]]),
            tuple([latin1_bytes(pattern) for pattern in item["patterns"]]),
            item["expires_after"],
            spans,
            placed,
            delayed,
            item["expiring"],
            item["paused"],
            bool(item.get("used", False)),
            _pair(item.get("out_before")),
        )
        image.out_until = _pair(item.get("out_until"))
        image.returned = [int(offset) for offset in item.get("returned", [])]
        queues.append(image)
    snapshot = Snapshot(text["position"], text["next_offset"], text["taken_at"], queues)
    snapshot.has_gap = bool(text.get("has_gap", False))
    snapshot.segments = [str(segment) for segment in text["segments"]]
    for item in text["committed"]:
        writer = latin1_bytes(item[0])
        snapshot.committed[writer] = item[1]
        snapshot.commit_times[writer] = item[2] if len(item) > 2 else snapshot.taken_at
    if data[4] == 1:
        snapshot.dedup = [_part_of([(latin1_bytes(id), until) for id, until in text["dedup"]])]
    else:
        for count, length in text["dedup"]:
            snapshot.dedup.append(decode_ids(data[place : place + length], count))
            place += length
    return snapshot


def _part_of(ids: list[tuple[bytes, int]]) -> IdPart:
    """A page from ids in order of arrival, each with its expiry time."""
    page = IdPage()
    for number, (id, until) in enumerate(ids):
        page.ids.append(id)
        page.untils.append(until)
        page.serials.append(number)
    return IdPart(page, 0, len(ids))


def _pair(value: list[int] | None) -> tuple[int, int] | None:
    return None if value is None else (value[0], value[1])


def snapshot_name(position: int) -> str:
    return f"{position:020d}{SNAPSHOT_SUFFIX}"


def position_in(name: str) -> int:
    """The position in the name of a snapshot file; -1 for any other name."""
    digits = name.removesuffix(SNAPSHOT_SUFFIX)
    return int(digits) if digits.isdecimal() else -1
