"""`penstock pipeline`: Spark jobs over the log of a broker."""

import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connect import CaFile, CertFile, Json, KeyFile, TokenFile
from penstock.cli.exits import Failed
from penstock.cli.output import print_json, print_result
from penstock.plain import plain_lines

if TYPE_CHECKING:
    from penstock.spark.listener import Report
    from penstock.spark.pipelines.job import Job

PIPELINES = {
    "archive": "write the log as Parquet files by date and event, exactly once         --to DIR",
    "stats": "compute counts, bytes, retries and latency by window, event and queue  --to DIR, --event NAME",
    "load": "load a queue into a database table                                     --queue NAME --to sqlite:///FILE",
    "replay": "publish a slice of the history again, to an event or a queue           --event NAME, --queue NAME",
    "query": "run a SQL statement and publish its rows as messages                   --sql TEXT --event NAME",
    "infer": "infer the JSON schema of each event, and how it changed                --to DIR",
}
# Options of some pipelines only. All others apply to every pipeline.
SPECIAL = {
    "sql": ("query",),
    "replace": ("query",),
    "mode": ("query",),
    "window": ("stats",),
    "late": ("stats",),
    "where": ("replay",),
    "speed": ("replay",),
    "dry-run": ("replay",),
    "table": ("load",),
    "schema": ("load",),
}
# Otherwise Spark on one machine forgets its tables between two runs.
PERSISTENT_CATALOG = "--conf spark.sql.catalogImplementation=hive"
TEMPLATE = Path(__file__).parent.parent / "spark" / "template"


def app() -> typer.Typer:
    commands = typer.Typer(
        help="Run Spark pipelines over the log of a broker.",
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    commands.command("run", help=_run_help())(run)
    commands.command("list")(list_)
    commands.command("init")(init)
    return commands


def _run_help() -> str:
    lines = "\n\n".join(f"{name}: {' '.join(what.split())}" for name, what in PIPELINES.items())
    return (
        "Run a pipeline until it is stopped, or with --once until it has caught up. The next run continues where this "
        f"one stopped.\n\n{lines}\n\nFILE.py[:NAME]: your own function, decorated with @pipeline"
    )


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Pipeline name, or FILE.py[:NAME].")],
    server: Annotated[str, typer.Option(help="Broker URL, http://HOST:PORT; several separated by commas.")] = "",
    path: Annotated[str, typer.Option(help="Read this data directory instead of connecting to the broker.")] = "",
    to: Annotated[str, typer.Option(help="Output directory; for load, a database.")] = "",
    event: Annotated[str, typer.Option(help="Publish results as this event.")] = "",
    queue: Annotated[str, typer.Option(help="Put results into this queue; for load, consume from it.")] = "",
    once: Annotated[bool, typer.Option("--once", help="Process what is available, then exit.")] = False,
    every: Annotated[float, typer.Option(min=0.0, help="Seconds between batches.")] = 5.0,
    checkpoint: Annotated[str, typer.Option(help="Checkpoint location.")] = "",
    label: Annotated[str, typer.Option("--name", help="Name of this run; defaults to the pipeline's name.")] = "",
    events: Annotated[str, typer.Option(help="Only these events, separated by commas.")] = "",
    queues: Annotated[str, typer.Option(help="Only messages put into these queues.")] = "",
    pattern: Annotated[str, typer.Option(help="Only events that match this pattern, such as 'order.*'.")] = "",
    start: Annotated[str, typer.Option("--from", help="Start: earliest, latest, an offset or a time.")] = "",
    until: Annotated[str, typer.Option(help="replay: end, an offset or a time.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number of offsets per batch.")] = None,
    sql: Annotated[str, typer.Option(help="query: SQL statement over the table `log`.")] = "",
    mode: Annotated[str, typer.Option(help="query: output mode, append, or update for aggregates.")] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="query: replace the statement saved under this name.")
    ] = False,
    window: Annotated[str, typer.Option(help="stats: window length, such as '1 minute'.")] = "",
    late: Annotated[str, typer.Option(help="stats: how late a message may arrive and still count.")] = "",
    where: Annotated[str, typer.Option(help="replay: SQL condition on the columns of the log.")] = "",
    speed: Annotated[
        str, typer.Option(help="replay: 1 is the original speed, 10 ten times as fast; default: no delay.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="replay: only show what would be sent.")] = False,
    table: Annotated[str, typer.Option(help="load: table; defaults to the queue's name.")] = "",
    schema: Annotated[str, typer.Option(help="load: fields of JSON bodies, such as 'name STRING, n INT'.")] = "",
    master: Annotated[str, typer.Option(help="Spark master: local[*], spark://..., yarn, k8s://...")] = "",
    remote: Annotated[str, typer.Option(help="Spark Connect server: sc://HOST:PORT.")] = "",
    conf: Annotated[list[str] | None, typer.Option(help="Spark setting, KEY=VALUE; repeatable.")] = None,
    token_file: TokenFile = "",
    ca_file: CaFile = "",
    cert_file: CertFile = "",
    key_file: KeyFile = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per batch.")] = False,
) -> None:
    """Run a pipeline."""
    own = name.partition(":")[0].endswith(".py")
    if not own and name not in PIPELINES:
        raise Failed(f"unknown pipeline {name!r}: give one of {', '.join(PIPELINES)}, or FILE.py")
    given = {"sql": sql, "mode": mode, "window": window, "late": late, "where": where, "speed": speed, "table": table}
    given |= {"schema": schema, "dry-run": "1" if dry_run else "", "replace": "1" if replace else ""}
    settings = {key: value for key, value in given.items() if value}
    for key in settings:
        if name not in SPECIAL[key]:
            raise Failed(f"--{key} is for {', '.join(SPECIAL[key])}, not for {name}")
    if speed and not re.fullmatch(r"\d+(\.\d+)?", speed):
        raise Failed(f"--speed {speed}: give a number, such as 1 or 10")
    if until and name != "replay":
        raise Failed(f"--until is for replay, not for {name}: a stream has no end")
    if event and queue:
        raise Failed("--event and --queue cannot be combined")
    _require_spark()
    from penstock.spark.pipelines.job import Job
    from penstock.spark.session import spark_session

    session = spark_session(f"penstock {label or name}", master, remote, _settings_of(conf or []))
    source = {"events": events, "queues": queues, "pattern": pattern}
    source |= _place("starting", start) | _place("ending", until)
    source["maxOffsetsPerTrigger"] = "" if limit is None or name == "replay" else str(limit)
    connection = {"tokenFile": token_file, "caFile": ca_file, "certFile": cert_file, "keyFile": key_file}
    job = Job(
        session,
        Path(name.partition(":")[0]).stem if own else name,
        server=server,
        path=path,
        name=label,
        to=to,
        once=once,
        every=every,
        checkpoint=checkpoint,
        event=event,
        queue=queue,
        source={key: value for key, value in source.items() if value},
        connection={key: value for key, value in connection.items() if value},
        settings=settings,
    )
    if json:
        job.show, job.say, job.tell = False, _aside, _batch_as_json
    try:
        done = _start(job, name, own)
        if json:
            print_json({"name": job.name, "state": "done", **done})
    finally:
        session.stop()


def _start(job: "Job", name: str, own: bool) -> dict[str, int]:
    """Runs the pipeline; errors of Spark become one line instead of a stack trace."""
    from pyspark.errors import PySparkException

    from penstock.spark.pipelines.job import PipelineError, reason_of

    try:
        if own:
            from penstock.spark.pipelines import own as owns

            found = owns.load(name)
            job.name = job.name if job.name != job.pipeline else found.name
            return owns.run(job, found)
        done: dict[str, int] = importlib.import_module(f"penstock.spark.pipelines.{name}").run(job)
        return done
    except PySparkException as error:
        raise PipelineError(reason_of(error)) from error


def _aside(line: str) -> None:
    """Text goes to stderr, since stdout has JSON."""
    typer.echo(plain_lines(line), err=True)


def _batch_as_json(report: "Report") -> None:
    if report.state == "running":
        print_json(report.as_json())
        sys.stdout.flush()  # a reader of a pipe gets it at once


def list_(json: Json = False) -> None:
    """List the built-in pipelines."""
    for name, what in PIPELINES.items():
        if json:
            purpose, _, options = what.partition("  ")
            print_json({"name": name, "purpose": purpose, "options": options.strip()})
        else:
            typer.echo(f"{name:<9}{what}")


def init(
    directory: Annotated[Path, typer.Argument(help="Project directory; must not exist.")],
    server: Annotated[str, typer.Option(help="Broker URL.")] = "http://127.0.0.1:7780",
    json: Json = False,
) -> None:
    """Create a Spark Declarative Pipelines project that reads from the broker and writes to it."""
    if directory.exists():
        raise Failed(f"{directory} already exists")
    for source in sorted(TEMPLATE.rglob("*")):
        if source.is_file() and source.suffix in (".py", ".yml", ".md"):
            target = directory / source.relative_to(TEMPLATE)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text()
            text = text.replace("{{server}}", server).replace("{{name}}", directory.name)
            target.write_text(text.replace("{{storage}}", f"file://{directory.absolute()}/storage"))
    line = f"created {directory}. Next: cd {directory} && spark-pipelines run {PERSISTENT_CATALOG}"
    print_result(json, line, directory=str(directory), server=server)


def _place(which: str, value: str) -> dict[str, str]:
    """The option of the source for a start or an end: an offset if it looks like one, else a time."""
    if not value:
        return {}
    is_offset = value.lower() in ("earliest", "latest") or value.startswith("{") or re.fullmatch(r"\d{1,12}", value)
    return {f"{which}Offsets" if is_offset else f"{which}Timestamp": value}


def _settings_of(conf: list[str]) -> dict[str, str]:
    for setting in conf:
        if "=" not in setting:
            raise Failed(f"--conf {setting}: give KEY=VALUE")
    return {key: value for key, _, value in (setting.partition("=") for setting in conf)}


def _require_spark() -> None:
    missing = [name for name in ("pyspark", "pyarrow") if importlib.util.find_spec(name) is None]
    if missing:
        raise Failed(f"pipelines need {' and '.join(missing)}: pip install 'penstock-mq[spark]'")
