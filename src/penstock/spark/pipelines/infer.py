"""`infer`: the JSON schema of each event, how it changed over time, and an example of each field.

The results so far are in one file, DIR/infer.json, replaced atomically after each batch; next to it is a JSON Schema
for each event. `drift` lists fields and kinds of values that first appeared after the event itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
from pyarrow import fs
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.lake import absolute
from penstock.spark.pipelines.job import Job, PipelineError, file_name, query_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DEPTH_MAX = 8
EXAMPLE_MAX = 200  # characters
NOT_JSON = "not json"
SEEN = "event STRING, path STRING, kind STRING, count BIGINT, first_offset BIGINT, first_at TIMESTAMP, example STRING"


def transform(log: DataFrame) -> DataFrame:
    """One row for each event, path and kind of value: the count, the first occurrence, and an example."""
    found = log.select("offset", "event", "body", "published_at").mapInArrow(_fields, SEEN)
    return found.groupBy("event", "path", "kind").agg(
        F.sum("count").alias("count"),
        F.min("first_offset").alias("first_offset"),
        F.min("first_at").alias("first_at"),
        F.min_by("example", "first_offset").alias("example"),
    )


def _fields(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the paths and kinds of values in the bodies of each batch."""
    for batch in batches:
        seen: dict[tuple[str, str, str], list[Any]] = {}
        for offset, event, body, at in zip(*(batch.column(n).to_pylist() for n in range(4)), strict=True):
            for path, kind, value in walk(body):
                known = seen.get((event, path, kind))
                if known is None:
                    seen[event, path, kind] = [1, offset, at, _example(value)]
                else:
                    known[0] += 1
        rows = [(*key, *values) for key, values in seen.items()]
        columns = list(zip(*rows, strict=True)) or [()] * 7
        kinds = [pa.string()] * 3 + [pa.int64(), pa.int64(), pa.timestamp("us", tz="UTC"), pa.string()]
        names = ["event", "path", "kind", "count", "first_offset", "first_at", "example"]
        arrays = [pa.array(list(values), kind) for values, kind in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names)


def walk(body: bytes) -> Iterator[tuple[str, str, Any]]:
    """Yield every path of a JSON body (`$`, `$.items`, `$.items[].price`), with the kind of value and the value."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        yield "$", NOT_JSON, body.decode("utf-8", "backslashreplace")
        return
    yield from _walk("$", document, DEPTH_MAX)


def _walk(path: str, value: Any, depth: int) -> Iterator[tuple[str, str, Any]]:
    yield path, _kind(value), value
    if depth and isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(f"{path}.{key}", inner, depth - 1)
    elif depth and isinstance(value, list):
        for inner in value:
            yield from _walk(f"{path}[]", inner, depth - 1)


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    return {int: "integer", float: "number"}.get(type(value), "string")


def _example(value: Any) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text[:EXAMPLE_MAX]


class Knowledge:
    """The fields of all events seen so far."""

    def __init__(self, address: str) -> None:
        self.files, self.root = fs.FileSystem.from_uri(absolute(address))
        self.files.create_dir(self.root, recursive=True)
        self.path = f"{self.root}/infer.json"
        self.events: dict[str, Any] = {}
        self.batches: dict[str, int] = {}
        if self.files.get_file_info(self.path).type != fs.FileType.NotFound:
            with self.files.open_input_stream(self.path) as file:
                kept = orjson.loads(file.read())
            self.events, self.batches = kept["events"], kept["batches"]

    def add(self, rows: list[Any], writer: str, batch: int) -> None:
        """Add a batch. A batch that was added before changes nothing."""
        if self.batches.get(writer, -1) >= batch:
            return
        for row in sorted(rows, key=lambda row: (row["event"], row["first_offset"], row["path"])):
            self._add_row(row)
        self.batches[writer] = batch
        for event in {row["event"] for row in rows}:
            self._write(f"{self.root}/{file_name(event)}.schema.json", json_schema(event, self.events[event]["fields"]))
        self._write(self.path, {"events": self.events, "batches": self.batches})

    def _add_row(self, row: Any) -> None:
        at = row["first_at"].isoformat()
        event = self.events.setdefault(
            row["event"], {"first_offset": row["first_offset"], "first_at": at, "fields": {}, "drift": []}
        )
        kinds = event["fields"].setdefault(row["path"], {})
        known = kinds.get(row["kind"])
        if known is not None:
            known["count"] += row["count"]
            return
        kinds[row["kind"]] = {
            "count": row["count"],
            "first_offset": row["first_offset"],
            "first_at": at,
            "example": row["example"],
        }
        if row["first_offset"] > event["first_offset"]:
            what = "new field" if len(kinds) == 1 else "new kind"
            event["drift"].append(
                {"offset": row["first_offset"], "at": at, "what": what, "path": row["path"], "kind": row["kind"]}
            )

    def _write(self, path: str, value: object) -> None:
        with self.files.open_output_stream(path + ".new") as file:
            file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
        self.files.move(path + ".new", path)


def json_schema(event: str, fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Build a JSON Schema that all bodies seen so far match."""
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": event}
    return found | _schema_at("$", fields)


def _schema_at(path: str, fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    kinds = fields[path]
    names = sorted(kind for kind in kinds if kind != NOT_JSON)
    schema: dict[str, Any] = {"type": names[0] if len(names) == 1 else names} if names else {}
    examples = [kind["example"] for name, kind in sorted(kinds.items()) if name not in ("object", "array", "null")]
    if examples:
        schema["examples"] = examples
    children = [other for other in fields if other.startswith(f"{path}.") and "." not in other[len(path) + 1 :]]
    children = [child for child in children if not child.endswith("[]")]
    if "object" in kinds and children:
        count = kinds["object"]["count"]
        schema["properties"] = {child[len(path) + 1 :]: _schema_at(child, fields) for child in sorted(children)}
        required = [
            c[len(path) + 1 :] for c in sorted(children) if sum(k["count"] for k in fields[c].values()) >= count
        ]
        if required:
            schema["required"] = required
    if "array" in kinds and f"{path}[]" in fields:
        schema["items"] = _schema_at(f"{path}[]", fields)
    return schema


def run(job: Job) -> dict[str, int]:
    if not job.to:
        raise PipelineError("infer needs --to DIR, the directory for the schemas")
    knowledge = Knowledge(job.to)
    checkpoint = job.checkpoint_address()

    def take(frame: DataFrame, batch: int) -> None:
        knowledge.add([row.asDict() for row in frame.collect()], query_id(checkpoint), batch)

    def begin() -> Any:
        return job.start(_by_batch(job, take))

    done = job.run(begin)
    known = Knowledge(job.to) if job.is_remote else knowledge
    for event, seen in sorted(known.events.items()):
        job.say(f"{event}: {len(seen['fields'])} fields, {len(seen['drift'])} changes")
    return done


def _by_batch(job: Job, take: Any) -> Any:
    """Count each batch separately: the state between batches is in the file, not in Spark."""
    columns = "offset,event,body,published_at"
    stream = job.stream(**{"columns": columns, "maxOffsetsPerTrigger": "500000"} | job.source)
    return stream.writeStream.foreachBatch(lambda frame, batch: take(transform(frame), batch))
