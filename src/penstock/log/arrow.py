"""A block as an Arrow record batch.

The columns of a block are stored in Arrow's layout: a column of bytes is its ends and its bytes, a column of numbers is
an array. So bodies, ids and times are not copied: their arrays point into the block and keep it alive. Names are
expanded, because a block stores them as numbers. Headers are parsed if there are any; those internal to a protocol are
left out.

Arrow text is UTF-8, but names are arbitrary bytes. Invalid UTF-8 is escaped: b"\\xff" becomes "\\\\xff".

pyarrow comes with the extra `spark` and is slow to load, so it is imported when the first batch is built.
"""

from typing import TYPE_CHECKING, Final

from penstock.log import columns
from penstock.log.block import Block
from penstock.log.columns import BYTES, I64, NAME, Column
from penstock.log.json_texts import decode_headers
from penstock.message import BY_EVENT, INTERNAL_PREFIX, Message, queue_of

if TYPE_CHECKING:
    import pyarrow as pa


SMALL_BLOCK: Final = 100  # messages; a block with fewer is merged with others
GATHERED_LENGTH: Final = 4096  # messages
GATHERED_BYTES: Final = 1 << 20

_schema: "pa.Schema | None" = None


def schema() -> "pa.Schema":
    """The columns of the log: the same in a stream over HTTP, in Spark and in the lake."""
    global _schema
    if _schema is not None:
        return _schema
    import pyarrow as pa

    _schema = pa.schema(
        [
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("event", pa.string(), nullable=False),
            pa.field("queue", pa.string()),  # null if the message was fanned out by its event
            pa.field("id", pa.string(), nullable=False),
            pa.field("body", pa.binary(), nullable=False),
            pa.field("headers", pa.map_(pa.string(), pa.string())),
            pa.field("protocol", pa.string(), nullable=False),
            pa.field("published_at", pa.timestamp("us", tz="UTC"), nullable=False),
        ]
    )
    return _schema


def record_batch(block: Block, first: int, bound: int) -> "pa.RecordBatch":
    """Messages `first` to `bound` (exclusive) of a block."""
    import pyarrow as pa
    import pyarrow.compute as pc

    event = _array(block, columns.EVENT)
    is_by_event = pc.equal(_array(block, columns.ROUTE), pa.scalar(BY_EVENT, pa.int32()))
    queue = pc.if_else(is_by_event, pa.scalar(None, pa.string()), event)
    if block.messages.has(columns.TARGET):
        queue = pc.coalesce(_array(block, columns.TARGET), queue)
    wanted = schema()
    batch = pa.RecordBatch.from_arrays(
        [
            pa.arange(block.first_offset, block.end_offset),
            event,
            queue,
            _ids(_array(block, columns.ID)),
            _array(block, columns.BODY),
            _headers(_array(block, columns.HEADERS), wanted.field("headers").type),
            _array(block, columns.PROTOCOL),
            _array(block, columns.PUBLISHED_AT).view(wanted.field("published_at").type),
        ],
        schema=wanted,
    )
    return batch.slice(first, bound - first)


def _array(block: Block, column: Column) -> "pa.Array":
    """A column of the block's messages. Only names are copied."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = block.messages
    count = int(rows.count)
    buffer = pa.py_buffer(block.data)
    at = int(rows.place(column))
    if column.kind == BYTES:
        values = buffer.slice(int(rows.place_of_bytes(column)), int(rows.end_of(column, rows.count)))
        return pa.Array.from_buffers(pa.binary(), count, [None, buffer.slice(at, 4 * (count + 1)), values])
    number = pa.int64() if column.kind == I64 else pa.int32()
    numbers = pa.Array.from_buffers(number, count, [None, buffer.slice(at, count * int(column.width))])
    if column.kind != NAME:
        return numbers
    if column.rare:
        numbers = pc.if_else(pc.less(numbers, pa.scalar(0, pa.int32())), pa.scalar(None, pa.int32()), numbers)
    codes = numbers.dictionary_encode()
    names = pa.array([text_of(block.names[code]) for code in codes.dictionary.to_pylist()], pa.string())
    return names.take(codes.indices)


class Gathering:
    """Turns blocks into batches, merging small blocks: a batch costs much more than a message."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._bytes = 0

    def add(self, block: Block, first: int, bound: int) -> "list[pa.RecordBatch]":
        """Add messages `first` to `bound` (exclusive) of a block; returns the batches that are complete."""
        if bound - first >= SMALL_BLOCK or len(block.data) >= GATHERED_BYTES:
            return [*self.rest(), record_batch(block, first, bound)] if first < bound else self.rest()
        for index in range(first, bound):
            message = block.message(index)
            self._messages.append(message)
            self._bytes += message.size
        if len(self._messages) >= GATHERED_LENGTH or self._bytes >= GATHERED_BYTES:
            return self.rest()
        return []

    def rest(self) -> "list[pa.RecordBatch]":
        """The remaining messages as a batch."""
        messages = self._messages
        if not messages:
            return []
        self._messages = []
        self._bytes = 0
        return [batch_of(messages)]


def batch_of(messages: list[Message]) -> "pa.RecordBatch":
    """A batch of single messages. Faster than `record_batch` when many small blocks make up one batch."""
    import pyarrow as pa

    wanted = schema()
    queues = [None if message.route == BY_EVENT else text_of(queue_of(message)) for message in messages]
    return pa.RecordBatch.from_arrays(
        [
            pa.array([message.offset for message in messages], pa.int64()),
            pa.array([text_of(message.event) for message in messages], pa.string()),
            pa.array(queues, pa.string()),
            pa.array([text_of(message.id) for message in messages], pa.string()),
            pa.array([message.body for message in messages], pa.binary()),
            pa.array([_shown(message.headers) for message in messages], wanted.field("headers").type),
            pa.array([message.protocol for message in messages], pa.string()),
            pa.array([message.published_at for message in messages], wanted.field("published_at").type),
        ],
        schema=wanted,
    )


def _shown(headers: dict[bytes, bytes] | None) -> list[tuple[str, str]] | None:
    """Headers as entries of an Arrow map, without those internal to a protocol."""
    if headers is None:
        return None
    shown = [(text_of(key), text_of(value)) for key, value in headers.items() if not key.startswith(INTERNAL_PREFIX)]
    return shown or None


def text_of(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _ids(ids: "pa.Array") -> "pa.Array":
    """Ids as text: without a copy if all are valid UTF-8."""
    import pyarrow as pa

    try:
        return ids.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([text_of(id) for id in ids.to_pylist()], pa.string())


def _headers(texts: "pa.Array", kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.max(pc.binary_length(texts)).as_py():
        return pa.nulls(len(texts), kind)
    found: list[object] = []
    for text in texts.to_pylist():
        found.append(_shown(decode_headers(text) if text else None))
    return pa.array(found, kind)
