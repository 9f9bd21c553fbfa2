"""A block as an Arrow record batch.

The columns of a block lie there as Arrow wants them: a column of bytes is its ends and its bytes, a number is itself.
So bodies, ids and times are not copied: their arrays point into the block, and keep it alive. Names are written out,
because a block knows them by number; headers are parsed, where there are any, and those that are internal to a
protocol are left out.

Arrow text is UTF-8 and names are any bytes, so what is no UTF-8 is shown with backslashes: b"\\xff" becomes "\\\\xff".

pyarrow is the extra `spark` and takes a while to load: it is imported when the first batch is made.
"""

from typing import TYPE_CHECKING

from penstock.log.block import RARE_TARGET, Block, decode_headers
from penstock.message import BY_EVENT, INTERNAL_PREFIX

if TYPE_CHECKING:
    import pyarrow as pa


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
            pa.field("queue", pa.string()),  # null when it was fanned out by its event
            pa.field("id", pa.string(), nullable=False),
            pa.field("body", pa.binary(), nullable=False),
            pa.field("headers", pa.map_(pa.string(), pa.string())),
            pa.field("protocol", pa.string(), nullable=False),
            pa.field("published_at", pa.timestamp("us", tz="UTC"), nullable=False),
        ]
    )
    return _schema


def record_batch(block: Block, first: int, bound: int) -> "pa.RecordBatch":
    """The messages `first` up to, and without, `bound` of a block."""
    import pyarrow as pa
    import pyarrow.compute as pc

    buffer = pa.py_buffer(block.data)
    m = block.message_count

    def numbers(kind: "pa.DataType", at: int, size: int) -> "pa.Array":
        return pa.Array.from_buffers(kind, m, [None, buffer.slice(at, m * size)])

    def strings(kind: "pa.DataType", ends_at: int, at: int, end: int) -> "pa.Array":
        return pa.Array.from_buffers(kind, m, [None, buffer.slice(ends_at, 4 * (m + 1)), buffer.slice(at, end - at)])

    def names(at: int, some: bool = False) -> "pa.Array":
        """With `some`, not every message has one."""
        codes = numbers(pa.int32(), at, 4)
        if some:
            codes = pc.if_else(pc.less(codes, pa.scalar(0, pa.int32())), pa.scalar(None, pa.int32()), codes)
        codes = codes.dictionary_encode()
        known = pa.array([text_of(block.names[code]) for code in codes.dictionary.to_pylist()], pa.string())
        return known.take(codes.indices)

    event = names(int(block.events_at))
    is_by_event = pc.equal(numbers(pa.int32(), int(block.routes_at), 4), pa.scalar(BY_EVENT, pa.int32()))
    queue = pc.if_else(is_by_event, pa.scalar(None, pa.string()), event)
    if block.rare & RARE_TARGET:
        queue = pc.coalesce(names(int(block.targets_at), some=True), queue)
    ids = strings(pa.binary(), int(block.id_ends_at), int(block.id_at), int(block.body_ends_at))
    bodies = strings(pa.binary(), int(block.body_ends_at), int(block.body_at), int(block.header_ends_at))
    headers = strings(pa.binary(), int(block.header_ends_at), int(block.headers_at), len(block.data))
    wanted = schema()
    batch = pa.RecordBatch.from_arrays(
        [
            pa.arange(block.first_offset, block.first_offset + m),
            event,
            queue,
            _ids(ids),
            bodies,
            _headers(headers, wanted.field("headers").type),
            names(int(block.protocols_at)),
            numbers(wanted.field("published_at").type, int(block.times_at), 8),
        ],
        schema=wanted,
    )
    return batch.slice(first, bound - first)


def text_of(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _ids(ids: "pa.Array") -> "pa.Array":
    """The same as text: as they lie there, where all of them are UTF-8."""
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
        pairs = decode_headers(text).items() if text else ()
        shown = [(text_of(key), text_of(value)) for key, value in pairs if not key.startswith(INTERNAL_PREFIX)]
        found.append(shown or None)
    return pa.array(found, kind)
