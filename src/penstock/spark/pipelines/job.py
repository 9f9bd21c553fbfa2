"""What every pipeline run needs: a session, a source, a checkpoint location, and waiting for its end."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import orjson
from pyarrow import fs
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock.errors import Error
from penstock.spark.lake import absolute
from penstock.spark.listener import PenstockListener, Report
from penstock.spark.progress import ProgressDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery


class PipelineError(Error):
    """A pipeline cannot run, or has failed."""


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@dataclass
class Job:
    """One run of one pipeline, with the settings of the command line."""

    spark: SparkSession
    pipeline: str
    server: str = ""
    path: str = ""
    name: str = ""  # its name on the broker and in the checkpoint path; by default the pipeline's
    to: str = ""
    once: bool = False
    every: float = 5.0
    checkpoint: str = ""
    event: str = ""
    queue: str = ""
    source: dict[str, str] = field(default_factory=dict)  # options of the source: events, pattern, startingOffsets, ...
    connection: dict[str, str] = field(default_factory=dict)  # tokenFile, caFile, ... for both source and sink
    settings: dict[str, str] = field(default_factory=dict)  # specific to the pipeline
    show: bool = True
    say: Callable[[str], None] = say
    tell: Callable[[Report], None] | None = None  # called with the report of each batch

    def __post_init__(self) -> None:
        self.name = self.name or self.pipeline
        if not self.server and not self.path:
            raise PipelineError("set a broker with --server http://HOST:PORT, or a data directory with --path DIR")

    @property
    def is_remote(self) -> bool:
        """Whether batches run in a Spark Connect server: variables they change are then not visible here."""
        return type(self.spark).__module__.startswith("pyspark.sql.connect")

    # DataFrames

    def stream(self, **options: object) -> DataFrame:
        return self.spark.readStream.format("penstock").options(**self._source(options)).load()

    def batch(self, **options: object) -> DataFrame:
        return self.spark.read.format("penstock").options(**self._source(options)).load()

    def _source(self, more: Mapping[str, object]) -> dict[str, str]:
        found = {"servers": self.server, "path": self.path} | self.connection | self.source
        return {key: str(value) for key, value in (found | dict(more)).items() if value not in ("", None)}

    def sink(self, **more: object) -> dict[str, str]:
        """The options of the sink."""
        if not self.server:
            raise PipelineError(f"{self.pipeline} publishes messages: set the broker with --server http://HOST:PORT")
        found = {"servers": self.server, "event": self.event, "queue": self.queue} | self.connection
        return {key: str(value) for key, value in (found | more).items() if value not in ("", None)}

    # State

    def checkpoint_address(self) -> str:
        if self.checkpoint:
            return absolute(self.checkpoint)
        if self.to and "://" not in self.to.replace("file://", ""):
            return f"{absolute(self.to)}/.penstock/checkpoints/{file_name(self.name)}"
        return str(state_directory() / "checkpoints" / file_name(self.name))

    def query_id(self) -> str:
        """The id of the query, the same in all its runs: Spark keeps it in the checkpoint."""
        return query_id(self.checkpoint_address())

    # Running

    def start(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start a stream. With `once` it stops at the current end of the log; otherwise it runs until stopped."""
        writer = writer.option("checkpointLocation", self.checkpoint_address()).queryName(self.name)
        writer = (
            writer.trigger(availableNow=True) if self.once else writer.trigger(processingTime=f"{self.every} seconds")
        )
        return writer.start()

    def run(self, begin: Callable[[], StreamingQuery]) -> dict[str, int]:
        """Start a query, show its progress, and wait until it ends. A signal stops it."""
        display = ProgressDisplay(self.name, show=self.show)

        def told(report: Report) -> None:
            display.update(report)
            if self.tell is not None:
                self.tell(report)

        listener = PenstockListener(self.server, self.name, tell=told, **self.connection)
        self.spark.streams.addListener(listener)
        try:
            with display:
                query = begin()
                with ending_by_signal(query):
                    wait(query)
                listener.ended.wait(60)  # Spark notifies listeners a little later
        finally:
            self.spark.streams.removeListener(listener)
        return {"batches": display.batches, "rows": display.rows, "late": display.late}


def wait(query: StreamingQuery) -> None:
    """Wait until the query has ended. Raises PipelineError with the relevant line of the stack trace."""
    try:
        while not query.awaitTermination(1):
            pass
    except PySparkException as error:
        raise PipelineError(reason_of(error)) from error


@contextmanager
def ending_by_signal(query: StreamingQuery) -> Iterator[None]:
    """Stop the query on SIGTERM and SIGINT; the checkpoint makes that safe at any time."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=query.stop, daemon=True).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


OURS = re.compile(r"^\s*penstock\.[\w.]+: (.+)$", re.MULTILINE)
PYTHONS = re.compile(r"^\s*((?:[a-z_]+\.)*[A-Z]\w*(?:Error|Exception): .+)$", re.MULTILINE)


def reason_of(error: BaseException) -> str:
    """Find the line that describes the error: Penstock's, that of a Python traceback inside, or Spark's first."""
    text = str(error)
    for kind in (OURS, PYTHONS):
        if found := kind.findall(text):
            return str(found[-1]).strip()
    return text.strip().split("\n")[0]


def query_id(checkpoint: str) -> str:
    files, root = fs.FileSystem.from_uri(checkpoint)
    with files.open_input_stream(f"{root}/metadata") as file:
        return str(orjson.loads(file.read())["id"])


def state_directory() -> Path:
    base = os.environ.get("PENSTOCK_STATE") or os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser().absolute() / "penstock" / "pipelines"


def file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", lambda found: f"%{ord(found[0]):02x}", name)
