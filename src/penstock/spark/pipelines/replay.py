"""`replay`: publishes a slice of the log again, to an event or a queue, as fast as possible or at a chosen speed.

Select the slice by offset or time (--from, --until), by event (--events, --pattern) and by any SQL condition (--where).
--dry-run counts and shows it without sending. Messages get new ids, and headers with their original offset and id.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.client import BrokerClient
from penstock.spark.options import SinkOptions
from penstock.spark.pipelines.job import Job, PipelineError
from penstock.spark.sink import Messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TICK = 0.1  # at a chosen speed, messages due within this many seconds are sent together
SAMPLE = 5


def transform(log: DataFrame, where: str = "", event: str = "", queue: str = "") -> DataFrame:
    """Convert the slice to messages, for their original event or queue unless another is given."""
    chosen = log.where(where) if where else log
    none = F.lit(None).cast("string")
    origin = F.create_map(
        F.lit("replayed-offset"), F.col("offset").cast("string"), F.lit("replayed-id"), F.coalesce("id", F.lit(""))
    )
    return chosen.select(
        "offset",
        "published_at",
        F.lit(event).alias("event") if event else (none if queue else F.col("event")).alias("event"),
        F.lit(queue).alias("queue") if queue else (none if event else F.col("queue")).alias("queue"),
        "body",
        F.map_concat(F.coalesce("headers", F.create_map().cast("map<string,string>")), origin).alias("headers"),
    )


def run(job: Job) -> dict[str, int]:
    slice_ = transform(job.batch(), job.settings.get("where", ""), job.event, job.queue)
    if job.settings.get("dry-run"):
        return _show(job, slice_)
    if not (job.event or job.queue or job.settings.get("same-place")):
        raise PipelineError("replay needs a target, --event NAME or --queue NAME; --dry-run shows what would be sent")
    job.sink()
    speed = float(job.settings.get("speed", "0"))
    if speed > 0:
        return _send_at(job, slice_, speed)
    options = job.sink(event="", queue="")
    slice_.drop("offset", "published_at").write.format("penstock").options(**options).mode("append").save()
    sent = slice_.count()
    job.say(f"{sent} messages sent")
    return {"rows": sent}


def _show(job: Job, slice_: DataFrame) -> dict[str, int]:
    total = 0
    for row in (
        slice_.groupBy("event", "queue").agg(F.count("*").alias("n"), F.min("offset"), F.max("offset")).collect()
    ):
        place = f"queue {row.queue}" if row.queue else f"event {row.event}"
        job.say(f"{row.n:>10}  to {place}, offsets {row[3]} to {row[4]}")
        total += row.n
    for row in slice_.orderBy("offset").limit(SAMPLE).collect():
        job.say(f"  {row.offset}  {row.published_at}  {bytes(row.body)[:80]!r}")
    job.say(f"{total} messages would be sent")
    return {"rows": total}


def _send_at(job: Job, slice_: DataFrame, speed: float) -> dict[str, int]:
    """Publish with the original timing, `speed` times as fast."""
    options = SinkOptions.of(job.sink())
    client = BrokerClient(options)
    schema = slice_.drop("offset", "published_at").schema
    messages = Messages(schema, SinkOptions.of(job.sink(event=job.event, queue=job.queue)))
    sent = 0
    for rows in paced(slice_.orderBy("offset").toLocalIterator(prefetchPartitions=True), speed):
        columns = {name: [_plain(row[name]) for row in rows] for name in schema.names}
        types = {"headers": pa.map_(pa.string(), pa.string()), "body": pa.binary()}
        arrays = [pa.array(values, types.get(name, pa.string())) for name, values in columns.items()]
        found = client.post_arrow("/v1/publish", [messages.of(pa.RecordBatch.from_arrays(arrays, schema.names))])
        sent += found["published"]
    client.close()
    job.say(f"{sent} messages sent")
    return {"rows": sent}


def paced(
    rows: Iterator[Any], speed: float, clock: Any = time.monotonic, sleep: Any = time.sleep
) -> Iterator[list[Any]]:
    """Yield rows in groups, each when it is due."""
    began = clock()
    first: float | None = None
    held: list[Any] = []
    due = 0.0
    for row in rows:
        moment = row["published_at"].timestamp()
        first = moment if first is None else first
        due_of_row = (moment - first) / speed
        if held and due_of_row - due > TICK:
            yield held
            held = []
        if not held:
            due = due_of_row
            left = due - (clock() - began)
            if left > 0:
                sleep(left)
        held.append(row)
    if held:
        yield held


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return list(value.items())
    return bytes(value) if isinstance(value, bytearray) else value
