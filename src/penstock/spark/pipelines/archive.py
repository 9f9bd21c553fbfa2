"""`archive`: copies the log to a lake of Parquet files by date and event, each message exactly once.

The lake is a plain directory that Spark, DuckDB, pandas and others can read; `lake.Lake` manages it. The archive
reports its progress to the broker, which may then trim messages that no queue needs any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.lake import Lake
from penstock.spark.pipelines.job import Job, PipelineError, query_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITIONS = ("date", "event")


def transform(log: DataFrame) -> DataFrame:
    """Add the day (UTC) on which a message was published to the log's columns."""
    return log.withColumn("date", F.to_date("published_at"))


def write_batch(lake: Lake, frame: DataFrame, writer: str, batch: int) -> list[str]:
    """Write one batch to the lake, unless it is there already. Returns the directories that received files."""
    if lake.has(writer, batch):
        return []
    frame.write.partitionBy(*PARTITIONS).parquet(lake.staging(batch))
    return lake.commit(writer, batch)


def run(job: Job) -> dict[str, int]:
    if not job.to:
        raise PipelineError("archive needs --to DIR, the directory for its files")
    lake = Lake(job.to)
    lake.open()
    state = lake.state()
    options = {"maxOffsetsPerTrigger": "1000000"} | job.source
    if job.server:
        options["cursor"] = f"archive-{state['id']}"
    if state["next_offset"] is not None and "startingOffsets" not in job.source:
        # Spark uses this only without a checkpoint; then the lake's own state says where to continue.
        options["startingOffsets"] = str(state["next_offset"])
    job.source = options
    checkpoint = job.checkpoint_address()

    def take(frame: DataFrame, batch: int) -> None:
        for folder in write_batch(lake, frame, query_id(checkpoint), batch):
            lake.compact(folder)

    done = job.run(lambda: job.start(transform(job.stream()).writeStream.foreachBatch(take)))
    files = lake.paths()
    job.say(f"{lake.address}: {len(files)} files, up to offset {lake.state()['next_offset'] or 0}")
    return done
