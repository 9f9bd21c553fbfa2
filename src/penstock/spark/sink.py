"""`df.write` and `df.writeStream`: rows become messages, each exactly once.

A task stages its rows on the broker, invisible to consumers. When all tasks are done, the driver commits the stages
under the writer's name and the batch number, and the broker makes them visible atomically. A task that runs twice
stages twice, but only one of the two is committed; a batch that runs twice is committed once: its number is known.

A stream is identified by its query id, which the checkpoint keeps. `df.write` is identified by the options writer and
batch. Without them it uses a unique name that is forgotten at the end: exactly once within a run, but a second run of
the job publishes again.

A commit is one entry of the broker's log, so it is limited to 100,000 messages. A stream stays below the limit with
maxOffsetsPerTrigger; `df.write` without a writer is committed in several parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, cast
from uuid import uuid4

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import BinaryType, MapType, StringType, StructType

from penstock.errors import Error
from penstock.spark.client import BrokerClient
from penstock.spark.options import OptionError, SinkOptions

STAGE_BYTES = 4 << 20
STAGE_ROWS = 50_000
COMMIT_MESSAGES = 100_000  # the broker's limit for one commit
COMMIT_BYTES = 100 << 20
BODY_NAMES = ("body", "value")
PLACE_NAMES = ("event", "queue")


class Staged(WriterCommitMessage):
    """The stages of one task, and their writer."""

    def __init__(self, writer: str) -> None:
        self.writer = writer
        self.stages: list[Stage] = []


class Stage(NamedTuple):
    id: str
    messages: int
    bytes: int


class Messages:
    """Converts rows to messages: the columns event, queue, id, headers, and body or else all other columns as JSON."""

    def __init__(self, schema: StructType, options: SinkOptions) -> None:
        self.event = options.event
        self.queue = options.queue
        names = {field.name: field.dataType for field in schema}
        texts = [name for name in (*PLACE_NAMES, "id") if name in names]
        for name in texts:
            if not isinstance(names[name], StringType):
                raise OptionError("schema", f"{name} {names[name].simpleString()}", "must be a string")
        if "headers" in names and names["headers"] != MapType(StringType(), StringType()):
            raise OptionError("schema", f"headers {names['headers'].simpleString()}", "must be map<string,string>")
        self.body = next((name for name in BODY_NAMES if name in names), "")
        if self.body and not isinstance(names[self.body], BinaryType | StringType):
            asked = f"{self.body} {names[self.body].simpleString()}"
            raise OptionError("schema", asked, "must be binary or string: cast it, or rename it")
        self.columns = {name for name in (*texts, "headers") if name in names}
        self.fields = [name for name in names if name not in self.columns]
        if not (self.columns & set(PLACE_NAMES) or self.event or self.queue):
            raise OptionError("event", "", "or queue is missing: set one as an option, or add a column of that name")
        if not self.body and not self.fields:
            raise OptionError("schema", schema.simpleString(), "has no column for the body")

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Convert a batch to the columns that the broker accepts."""
        count = batch.num_rows
        columns = {
            "event": self._place(batch, "event", self.event),
            "queue": self._place(batch, "queue", self.queue),
            "body": batch.column(self.body) if self.body else _documents(batch.select(self.fields)),
        }
        columns["body"] = columns["body"].cast(pa.binary()).fill_null(b"")
        if pc.any(pc.and_(columns["event"].is_null(), columns["queue"].is_null())).as_py():
            raise Error("a row has neither event nor queue, and no option sets one")
        # A row with a queue goes to that queue, even if it also has an event: rows of the log have both.
        columns["event"] = pc.if_else(columns["queue"].is_valid(), pa.scalar(None, pa.string()), columns["event"])
        for name in ("id", "headers"):
            if name in self.columns:
                columns[name] = batch.column(name)
        if columns["event"].null_count == count:
            del columns["event"]
        if columns["queue"].null_count == count:
            del columns["queue"]
        return pa.RecordBatch.from_pydict(columns)

    def _place(self, batch: pa.RecordBatch, name: str, default: str) -> pa.Array:
        found = batch.column(name) if name in self.columns else pa.nulls(batch.num_rows, pa.string())
        return found.fill_null(default) if default else found


def _documents(batch: pa.RecordBatch) -> pa.Array:
    """Encode each row as a JSON object."""
    flags = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
    return pa.array([orjson.dumps(row, default=_as_json, option=flags) for row in batch.to_pylist()], pa.binary())


def _as_json(value: Any) -> Any:
    """Encode types that JSON lacks: bytes as text, everything else as Python's `str`."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


class StagingWriter:
    """Base of the batch and stream writers."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        self.options = options
        self.messages = Messages(schema, options)

    def stage(self, iterator: Iterator[pa.RecordBatch], writer: str) -> Staged:
        client = BrokerClient(self.options)
        staged = Staged(writer)
        held: list[pa.RecordBatch] = []
        for batch in iterator:
            for piece in _pieces(batch):
                made = self.messages.of(piece)
                if held and (made.schema != held[0].schema or sum(b.nbytes for b in held) + made.nbytes > STAGE_BYTES):
                    self._send(client, held, staged)
                    held = []
                held.append(made)
        if held:
            self._send(client, held, staged)
        client.close()
        return staged

    def publish(self, messages: list[WriterCommitMessage | None], batch: int, *, whole: bool) -> None:
        """Commit the stages: all at once, or in as many commits as the broker's limits require."""
        done = [cast(Staged, message) for message in messages if message is not None]
        stages = [stage for staged in done for stage in staged.stages]
        client = BrokerClient(self.options)
        for number, group in enumerate([stages] if whole and stages else groups_of(stages)):
            ids = [stage.id for stage in group]
            client.post("/v1/commits", {"writer": done[0].writer, "batch": batch + number, "stages": ids})
        client.close()

    def discard(self, messages: list[WriterCommitMessage | None]) -> None:
        client = BrokerClient(self.options)
        for message in messages:
            for stage in cast(Staged, message).stages if message is not None else []:
                try:
                    client.delete(f"/v1/stages/{stage.id}")
                except Error:
                    break  # uncommitted stages expire by themselves
        client.close()

    def _send(self, client: BrokerClient, batches: list[pa.RecordBatch], staged: Staged) -> None:
        found = client.post_arrow("/v1/stages", batches, expires_seconds=max(round(self.options.ttl), 1))
        staged.stages.append(Stage(found["stage"], found["messages"], found["bytes"]))


def groups_of(stages: list[Stage]) -> list[list[Stage]]:
    """Group the stages, in order, so that the broker accepts each group in one commit."""
    groups: list[list[Stage]] = []
    messages = size = 0
    for stage in stages:
        messages += stage.messages
        size += stage.bytes
        if not groups or messages > COMMIT_MESSAGES or size > COMMIT_BYTES:
            groups.append([])
            messages, size = stage.messages, stage.bytes
        groups[-1].append(stage)
    return groups


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Split a batch into parts that fit into one request."""
    rows = max(1, min(STAGE_ROWS, batch.num_rows * STAGE_BYTES // max(batch.nbytes, 1)))
    for first in range(0, batch.num_rows, rows):
        yield batch.slice(first, rows)


class BatchWriter(StagingWriter, DataSourceArrowWriter):
    """`df.write`."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        self.writer = options.writer or f"once-{uuid4().hex}"
        self.batch = options.batch or 1

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self.stage(iterator, self.writer)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        # Under a name that is used only once, several commits are as good as one.
        self.publish(messages, self.batch, whole=bool(self.options.writer))
        self._forget()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self.discard(messages)
        self._forget()

    def _forget(self) -> None:
        """Delete a writer name that is used only once, so that the broker need not remember it."""
        if not self.options.writer:
            client = BrokerClient(self.options)
            with suppress(Error):  # nothing was committed, or the broker forgets it by itself
                client.delete(f"/v1/commits/{self.writer}")
            client.close()


class StreamWriter(StagingWriter, DataSourceStreamArrowWriter):
    """`df.writeStream`."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        if options.writer or options.batch:
            raise OptionError(
                "writer", options.writer, "is only for df.write: a stream is identified by its checkpoint"
            )

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        context = TaskContext.get()
        query = context.getLocalProperty("sql.streaming.queryId") if context is not None else None
        if query is None:
            raise Error("Spark does not tell which query this task belongs to, so exactly-once is not possible")
        return self.stage(iterator, f"spark-{query}")

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        self.publish(messages, batchId, whole=True)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        self.discard(messages)
