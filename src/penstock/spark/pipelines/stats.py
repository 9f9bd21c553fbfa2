"""`stats`: counts, sizes, retries and latency, by time window, event and queue.

A message published to an event has no queue, so a row without a queue counts publishes, and a row with a queue counts
what happened to the messages there. Each batch emits the windows it changed. They are written to files, one per window,
and, with --event, published to the broker as messages, so that clients of any protocol can subscribe to them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.lake import absolute
from penstock.spark.pipelines.job import Job, PipelineError, query_id

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame

WINDOW = "1 minute"
# How late a message may be and still be counted; dropped rows are reported. A time more than LATE ahead of Spark's
# clock is reduced to that, and the watermark stays 2 * LATE behind: one wrong time makes no later message too old.
LATE = "1 hour"
PERCENTILES = {"latency_p50": 0.5, "latency_p95": 0.95, "latency_p99": 0.99}
RETRIES = ("reject", "return")
DEAD = "dead-reason"  # the header of dead letters

SCHEMA = pa.schema(
    [
        pa.field("window_start", pa.timestamp("us", tz="UTC")),
        pa.field("window_end", pa.timestamp("us", tz="UTC")),
        pa.field("event", pa.string()),
        pa.field("queue", pa.string()),
        *[pa.field(name, pa.int64()) for name in ("published", "bytes", "dead_letters", "accepted", "retries")],
        *[pa.field(name, pa.float64()) for name in PERCENTILES],
    ]
)


def transform(messages: DataFrame, lifecycle: DataFrame, window: str = WINDOW, late: str = LATE) -> DataFrame:
    """One row for each window, event and queue; latency is in seconds, from publish to accept."""
    none = F.lit(None).cast("double")
    published = messages.select(
        F.col("published_at").alias("time"),
        "event",
        "queue",
        F.lit(1).alias("published"),
        F.octet_length("body").alias("bytes"),
        F.element_at("headers", DEAD).isNotNull().cast("int").alias("dead_letters"),
        F.lit(0).alias("accepted"),
        F.lit(0).alias("retries"),
        none.alias("latency"),
    )
    seconds = F.col("at").cast("double") - F.col("published_at").cast("double")
    settled = lifecycle.where("at IS NOT NULL").select(
        F.col("at").alias("time"),
        "event",
        "queue",
        F.lit(0).alias("published"),
        F.lit(0).alias("bytes"),
        F.lit(0).alias("dead_letters"),
        (F.col("action") == "accept").cast("int").alias("accepted"),
        F.col("action").isin(*RETRIES).cast("int").alias("retries"),
        F.when(F.col("action") == "accept", F.greatest(seconds, F.lit(0.0))).otherwise(none).alias("latency"),
    )
    ahead = F.current_timestamp() + F.lit(late).cast("interval")
    counted = (
        published.unionByName(settled)
        .withColumn("time", F.least("time", ahead))
        .withWatermark("time", f"{late} {late}")
        .groupBy(F.window("time", window).alias("window"), "event", "queue")
        .agg(
            *[F.sum(name).alias(name) for name in ("published", "bytes", "dead_letters", "accepted", "retries")],
            F.percentile_approx("latency", list(PERCENTILES.values()), 1000).alias("latency"),
        )
    )
    return counted.select(
        F.col("window.start").alias("window_start"),
        F.col("window.end").alias("window_end"),
        "event",
        "queue",
        *[
            F.col(name).cast("long").alias(name)
            for name in ("published", "bytes", "dead_letters", "accepted", "retries")
        ],
        *[F.get("latency", F.lit(place)).alias(name) for place, name in enumerate(PERCENTILES)],
    )


class WindowFiles:
    """One file per window: DIR/date=2026-11-15/100500.parquet. Writing the same rows again changes nothing."""

    def __init__(self, address: str) -> None:
        self.files, self.root = fs.FileSystem.from_uri(absolute(address))

    def put(self, rows: list[dict[str, Any]]) -> None:
        by_window: defaultdict[datetime, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_window[row["window_start"]].append(row)
        for start, found in by_window.items():
            self._put_window(f"{self.root}/date={start:%Y-%m-%d}/{start:%H%M%S}.parquet", found)

    def _put_window(self, path: str, rows: list[dict[str, Any]]) -> None:
        known: dict[tuple[Any, Any], dict[str, Any]] = {}
        if self.files.get_file_info(path).type != fs.FileType.NotFound:
            with self.files.open_input_file(path) as file:
                known = {(row["event"], row["queue"]): row for row in pq.ParquetFile(file).read().to_pylist()}
        known |= {(row["event"], row["queue"]): row for row in rows}
        ordered = sorted(known.values(), key=lambda row: (row["event"] or "", row["queue"] or ""))
        self.files.create_dir(path.rpartition("/")[0], recursive=True)
        hidden = path.replace(path.rpartition("/")[2], "." + path.rpartition("/")[2])
        with self.files.open_output_stream(hidden) as file:
            pq.write_table(pa.Table.from_pylist(ordered, schema=SCHEMA), file)
        self.files.move(hidden, path)


def run(job: Job) -> dict[str, int]:
    if not job.to and not job.event and not job.queue:
        raise PipelineError("stats needs --to DIR for its files, or --event NAME to publish them, or both")
    files = WindowFiles(job.to) if job.to else None
    checkpoint = job.checkpoint_address()
    counts = {"windows": 0}

    def take(frame: DataFrame, batch: int) -> None:
        frame.persist()
        rows = frame.toArrow().cast(SCHEMA).to_pylist()
        counts["windows"] += len(rows)
        if files is not None:
            files.put(rows)
        if rows and (job.event or job.queue):
            writer = {"writer": f"stats-{query_id(checkpoint)}", "batch": str(batch + 1)}
            # As bodies: the columns event and queue describe what was counted, not where the message goes.
            whole = frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("body"))
            whole.write.format("penstock").options(**job.sink(**writer)).mode("append").save()
        frame.unpersist()

    def begin() -> Any:
        columns = "published_at,event,queue,body,headers"
        limit = {"maxOffsetsPerTrigger": job.source.get("maxOffsetsPerTrigger", "1000000")}
        frame = transform(
            job.stream(columns=columns, **limit),
            job.stream(table="lifecycle", events="", pattern="", **limit),
            job.settings.get("window", WINDOW),
            job.settings.get("late", LATE),
        )
        return job.start(frame.writeStream.outputMode("update").foreachBatch(take))

    done = job.run(begin)
    windows = "windows" if job.is_remote else f"{counts['windows']} windows"
    job.say(f"{windows} in {absolute(job.to)}" if job.to else windows)
    if done["late"]:
        late = job.settings.get("late", LATE)
        job.say(f"{done['late']} or more rows were not counted: more than {late} older than the newest (--late)")
    return done if job.is_remote else done | counts
