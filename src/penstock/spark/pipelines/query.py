"""`query`: runs a SQL statement over the stream and publishes its rows as messages.

    penstock pipeline run query --server URL --name big-orders --event order.big \\
        --sql "SELECT get_json_object(body, '$.id') AS order FROM log WHERE event = 'order.placed'"

The table `log` has the log's columns, with the body as text. In the result, the columns event, queue, id, headers and
body set these fields of the message; without a body, all other columns become its JSON body. The statement is stored
under its name: running that name again continues where it stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from pyspark.errors import PySparkException

from penstock.files import replace_file
from penstock.spark.pipelines.job import Job, PipelineError, file_name, reason_of, state_directory

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEPT = ("sql", "event", "queue", "mode")


def transform(log: DataFrame, sql: str) -> DataFrame:
    """Run the statement over the log."""
    log.createOrReplaceTempView("log")
    try:
        return log.sparkSession.sql(sql)
    except PySparkException as error:
        raise PipelineError(f"the statement failed: {reason_of(error)}") from error


def definition(job: Job) -> dict[str, str]:
    """Return the given query, or the one stored under that name. If both exist and differ, `replace` is required."""
    path = state_directory() / "queries" / f"{file_name(job.name)}.json"
    asked = {"sql": job.settings.get("sql", ""), "event": job.event, "queue": job.queue}
    asked["mode"] = job.settings.get("mode", "")
    kept: dict[str, str] = orjson.loads(path.read_bytes()) if path.exists() else {}
    if not kept and not asked["sql"]:
        raise PipelineError(f"no saved query {job.name!r}: set one with --sql")
    if kept and asked["sql"] and any(asked[key] and asked[key] != kept.get(key) for key in KEPT):
        if not job.settings.get("replace"):
            raise PipelineError(
                f"a different query is saved as {job.name!r}: use --replace to overwrite it, or another --name"
            )
        kept = {}
    chosen = {key: asked[key] or kept.get(key, "") for key in KEPT}
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, orjson.dumps(chosen, option=orjson.OPT_INDENT_2))
    return chosen


def run(job: Job) -> dict[str, int]:
    chosen = definition(job)
    job.event, job.queue = chosen["event"], chosen["queue"]
    options = job.sink()

    def begin() -> Any:
        rows = transform(
            job.stream(**{"payload": "string", "maxOffsetsPerTrigger": "50000"} | job.source), chosen["sql"]
        )
        writer = rows.writeStream.format("penstock").options(**options)
        return job.start(writer.outputMode(chosen["mode"] or "append"))

    return job.run(begin)
