"""`archive`: the log as a lake of Parquet files by date and event, each message exactly once.

The lake is a plain directory that Spark, DuckDB, pandas and others read. What is in it is kept by `lake.Lake`; the
broker is told how far the archive is, and may then trim what no queue owes any more.
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
    """The log's columns, and the day (UTC) on which a message was published."""
    return log.withColumn("date", F.to_date("published_at"))


def write_batch(lake: Lake, frame: DataFrame, writer: str, batch: int) -> list[str]:
    """One batch into the lake; nothing when it is there already. Answers the directories that grew."""
    if lake.has(writer, batch):
        return []
    frame.write.partitionBy(*PARTITIONS).parquet(lake.staging(batch))
    return lake.commit(writer, batch)


def run(job: Job) -> dict[str, int]:
    if not job.to:
        raise PipelineError("archive needs --to DIR, where the files go")
    lake = Lake(job.to)
    lake.open()
    state = lake.state()
    options = {"maxOffsetsPerTrigger": "1000000"} | job.source
    if job.server:
        options["cursor"] = f"archive-{state['id']}"
    if state["next_offset"] is not None and "startingOffsets" not in job.source:
        # Only asked for where there is no checkpoint: then the lake itself knows how far it is.
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
