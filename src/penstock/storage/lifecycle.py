"""The settlements of a log as Arrow batches.

    offset         of the message
    queue          where it was settled
    action         accept, reject, return, drop, release, ...
    at             when the block with the settlement was closed; null if the log has no time
    event          of the message; null if the message is no longer in the log
    published_at   likewise; at - published_at is the time from publish to settlement

Settlements have no offsets of their own. They belong to the offset that was next when they were written, so a range of
offsets stands for the blocks that start within it: the same range always gives the same rows.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from penstock.log.arrow import schema, text_of
from penstock.message import OUT, SETTLEMENT_NAMES
from penstock.storage.reader import LogReader

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH: Final = 16_384
GAP_MAX: Final = 4096  # offsets at most this far apart are fetched in one read


def lifecycle_schema() -> "pa.Schema":
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            pa.field("offset", pa.int64()),
            pa.field("queue", pa.string()),
            pa.field("action", pa.string()),
            pa.field("at", time),
            pa.field("event", pa.string()),
            pa.field("published_at", time),
        ]
    )


class Rows:
    """Columns collected for the next batch."""

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.queues: list[str] = []
        self.actions: list[str] = []
        self.times: list[int | None] = []


def lifecycle_batches(reader: LogReader, start: int, end: int) -> "Iterator[pa.RecordBatch]":
    """The settlements of the blocks that start within a range of offsets."""
    rows = Rows()
    for block in reader.blocks(start, end):
        if block.first_offset < start:
            continue  # it belongs to the previous range
        at = block.closed_at if block.closed_at else None
        for run in block.runs():
            if run.how == OUT:
                continue  # a delivery mark settles nothing
            rows.offsets.extend(range(run.first, run.first + run.count))
            rows.queues.extend([text_of(run.queue)] * run.count)
            rows.actions.extend([SETTLEMENT_NAMES[run.how]] * run.count)
            rows.times.extend([at] * run.count)
        if len(rows.offsets) >= ROWS_PER_BATCH:
            yield _batch(reader, rows)
            rows = Rows()
    if rows.offsets:
        yield _batch(reader, rows)


def _batch(reader: LogReader, rows: Rows) -> "pa.RecordBatch":
    import pyarrow as pa

    schema = lifecycle_schema()
    found = _messages(reader, sorted(set(rows.offsets)))
    places = pa.array(rows.offsets, pa.int64())
    # An offset that is not found gives a null index, and `take` then gives nulls.
    import pyarrow.compute as pc

    index = pc.index_in(places, found.column("offset"))
    return pa.RecordBatch.from_arrays(
        [
            places,
            pa.array(rows.queues, pa.string()),
            pa.array(rows.actions, pa.string()),
            pa.array(rows.times, pa.int64()).cast(schema.field("at").type),
            found.column("event").take(index),
            found.column("published_at").take(index),
        ],
        schema=schema,
    )


def _messages(reader: LogReader, offsets: list[int]) -> "pa.RecordBatch":
    """Offset, event and time of the messages still in the log, and of some others near them."""
    import pyarrow as pa

    names = ["offset", "event", "published_at"]
    found: list[pa.RecordBatch] = []
    first = 0
    for number in range(1, len(offsets) + 1):
        if number == len(offsets) or offsets[number] - offsets[number - 1] > GAP_MAX:
            for batch in reader.batches(offsets[first], offsets[number - 1] + 1):
                found.append(batch.select(names))
            first = number
    if not found:
        return pa.RecordBatch.from_pylist([], schema=pa.schema([schema().field(name) for name in names]))
    return pa.concat_batches(found)
