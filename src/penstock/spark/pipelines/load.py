"""`load`: moves messages from a queue to a database table, in large batches, each message once.

Messages are taken from the queue, inserted in one transaction, and acknowledged after the commit. If a driver died
between the two, rows that are already in the table are recognized by their id and skipped. The table is created if it
does not exist, with `id` as its key.

    --to sqlite:///orders.db --table orders                          id, event, body, headers, published_at
    --to postgresql://user@host/db --table orders --schema "name STRING, price DOUBLE"       fields of JSON bodies
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from penstock.spark.databases import open_table
from penstock.spark.pipelines.job import Job, PipelineError
from penstock.spark.schema import BAD_RECORD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def transform(log: DataFrame) -> DataFrame:
    """The columns of the table."""
    if "_id" in log.columns:
        return log.withColumnRenamed("_id", "id").drop("_offset")
    return log.select(
        "id",
        "event",
        F.col("body").cast("string").alias("body"),
        F.to_json("headers").alias("headers"),
        "published_at",
    )


def run(job: Job) -> dict[str, int]:
    if not job.to:
        raise PipelineError("load needs --to, a database: sqlite:///FILE or postgresql://USER@HOST/DATABASE")
    if not job.queue:
        raise PipelineError("load needs --queue NAME, the queue to read from")
    counts = {"inserted": 0}
    address, table = job.to, job.settings.get("table") or job.queue
    job.to = ""  # not a directory: the checkpoint goes to the state directory

    def take(frame: DataFrame, batch: int) -> None:
        rows = frame.toArrow()
        with open_table(address, table, rows.schema) as target:
            counts["inserted"] += target.insert(rows)

    def begin() -> Any:
        # With a cursor, the next run gets the messages of a run that died at once, without waiting for the lease.
        options: dict[str, object] = {"mode": "queue", "queues": job.queue, "cursor": f"load-{job.name}-{job.queue}"}
        fields = job.settings.get("schema", "")
        if not fields:
            return job.start(transform(job.stream(**options)).writeStream.foreachBatch(take))
        wanted = StructType.fromDDL(f"_id STRING, {fields}, {BAD_RECORD} STRING")
        reader = job.spark.readStream.format("penstock").options(**job._source(options | {"payload": "json"}))
        return job.start(transform(reader.schema(wanted).load()).writeStream.foreachBatch(take))

    done = job.run(begin)
    if job.is_remote:
        job.say(f"{done['rows']} messages into {table}, each once")
        return done
    job.say(f"{counts['inserted']} rows into {table}")
    return done | counts
