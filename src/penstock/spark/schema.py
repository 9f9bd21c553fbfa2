"""Converts the log's columns to the columns of a query; the only place that knows both.

    payload=binary    body is bytes, as in the log: nothing is copied
    payload=string    body is text; bytes that are not valid UTF-8 appear as backslash escapes
    payload=json      the user gives the schema: a name is a field of the JSON body, a name with a leading underscore is
                      a column of the log (_offset, _event, ...), and _bad_record holds a body that does not fit

A body that is not a JSON object, or does not fit the schema, gives nulls and its text in `_bad_record`. It never fails
a query.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from penstock.spark.options import OptionError, SourceOptions

COLUMNS: dict[str, DataType] = {
    "offset": LongType(),
    "event": StringType(),
    "queue": StringType(),
    "id": StringType(),
    "body": BinaryType(),
    "headers": MapType(StringType(), StringType()),
    "protocol": StringType(),
    "published_at": TimestampType(),
}
LIFECYCLE_COLUMNS: dict[str, DataType] = {
    "offset": LongType(),
    "queue": StringType(),
    "action": StringType(),
    "at": TimestampType(),
    "event": StringType(),
    "published_at": TimestampType(),
}
BAD_RECORD = "_bad_record"


def columns_of(options: SourceOptions) -> dict[str, DataType]:
    """All available columns."""
    if options.table == "lifecycle":
        return LIFECYCLE_COLUMNS
    return COLUMNS | {"body": StringType()} if options.payload == "string" else COLUMNS


def schema_of(options: SourceOptions) -> StructType:
    """The schema of a query that does not give one."""
    if options.payload == "json":
        raise OptionError("payload", "json", 'needs a schema for the bodies: .schema("name STRING, price DOUBLE")')
    known = columns_of(options)
    for name in options.columns:
        if name not in known:
            raise OptionError("columns", ",".join(options.columns), f"{name!r} is not one of {', '.join(known)}")
    names = options.columns or [name for name in known if name != "headers" or options.include_headers]
    return StructType([StructField(name, known[name]) for name in names])


class Shape:
    """Converts batches of the log to the schema of a query."""

    def __init__(self, schema: StructType, options: SourceOptions) -> None:
        self.target: pa.Schema = to_arrow_schema(schema, timezone="UTC")
        self.payload = options.payload
        self._sources: list[str] = []  # for each column: the log's column, or "" for a field of the body
        if options.payload == "json":
            self._plan_json(schema)
        else:
            self._plan_plain(schema, columns_of(options))

    def columns(self) -> list[str]:
        """The columns of the log that are needed."""
        wanted = [name for name in self._sources if name]
        if self.payload != "binary" and "" in self._sources:
            wanted.append("body")
        return list(dict.fromkeys(wanted))

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.payload == "json":
            return self._json(batch)
        arrays = [self._column(batch, name) for name in self._sources]
        return pa.RecordBatch.from_arrays(arrays, schema=self.target)

    def _plan_plain(self, schema: StructType, known: dict[str, DataType]) -> None:
        for column in schema:
            _check_column(column, column.name, known)
            self._sources.append(column.name)

    def _plan_json(self, schema: StructType) -> None:
        for column in schema:
            if column.name == BAD_RECORD:
                _check_column(column, BAD_RECORD, {BAD_RECORD: StringType()})
                self._sources.append("")
            elif column.name.startswith("_") and column.name[1:] in COLUMNS:
                _check_column(column, column.name[1:], COLUMNS)
                self._sources.append(column.name[1:])
            else:
                self._sources.append("")

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        column = batch.column(name)
        return texts_of(column) if name == "body" and self.payload == "string" else column

    def _json(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bodies = batch.column("body")
        wanted = [
            (place, field)
            for place, (field, source) in enumerate(zip(self.target, self._sources, strict=True))
            if not source and field.name != BAD_RECORD
        ]
        columns, bad = json_columns(bodies, [field for _, field in wanted])
        by_place = dict(zip([place for place, _ in wanted], columns, strict=True))
        arrays = []
        for place, (field, source) in enumerate(zip(self.target, self._sources, strict=True)):
            if source:
                arrays.append(batch.column(source))
            elif field.name == BAD_RECORD:
                arrays.append(pc.if_else(pa.array(bad, pa.bool_()), texts_of(bodies), pa.scalar(None, pa.string())))
            else:
                arrays.append(by_place[place])
        return pa.RecordBatch.from_arrays(arrays, schema=self.target)


def _check_column(column: StructField, name: str, known: dict[str, DataType]) -> None:
    if name not in known:
        raise OptionError("schema", column.name, f"is not a column; the columns are {', '.join(known)}")
    if known[name] != column.dataType:
        asked = f"{column.name} {column.dataType.simpleString()}"
        raise OptionError("schema", asked, f"that column is {known[name].simpleString()}")


def texts_of(bodies: pa.Array) -> pa.Array:
    """Convert bytes to text, with a plain cast if all of them are valid UTF-8."""
    try:
        return bodies.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text(body) for body in bodies.to_pylist()], pa.string())


def _text(body: bytes | None) -> str | None:
    return None if body is None else body.decode("utf-8", "backslashreplace")


def json_columns(bodies: pa.Array, fields: list[pa.Field]) -> tuple[list[pa.Array], list[bool]]:
    """Return a column for each field of the JSON bodies, and for each body whether it is bad."""
    documents, bad = _documents(bodies)
    try:
        return [_array(documents, field) for field in fields], bad
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    # At least one document does not fit: check each one separately, so that only the bad ones are lost.
    empty: dict[str, object] = {}
    for place, document in enumerate(documents):
        if not bad[place] and not _fits(document, fields):
            documents[place] = empty
            bad[place] = True
    return [_array(documents, field) for field in fields], bad


def _documents(bodies: pa.Array) -> tuple[list[dict[str, object]], list[bool]]:
    documents: list[dict[str, object]] = []
    bad = []
    for body in bodies.to_pylist():
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            document = None
        bad.append(not isinstance(document, dict))
        documents.append(document if isinstance(document, dict) else {})
    return documents, bad


def _array(documents: list[dict[str, object]], field: pa.Field) -> pa.Array:
    convert = _converter(field.type)
    if convert is None:
        return pa.array([document.get(field.name) for document in documents], field.type)
    return pa.array([convert(document.get(field.name)) for document in documents], field.type)


def _fits(document: dict[str, object], fields: list[pa.Field]) -> bool:
    try:
        for field in fields:
            _array([document], field)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return False
    return True


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """Return the conversion from a JSON value to an Arrow type; None if Arrow accepts the value as it is."""
    if pa.types.is_timestamp(kind):
        return _time
    if pa.types.is_date(kind):
        return _date
    if pa.types.is_decimal(kind):
        return _decimal
    if pa.types.is_string(kind):
        return _string
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _number
    return None


def _time(value: Any) -> datetime | None:
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    _require_none(value)
    return None


def _date(value: Any) -> date | None:
    if isinstance(value, str):
        return date.fromisoformat(value)
    _require_none(value)
    return None


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return Decimal(str(value))
        except InvalidOperation:
            raise ValueError("is not a number") from None
    _require_none(value)
    return None


def _string(value: Any) -> str | None:
    """Keep text as it is; encode anything else as JSON, so that a field of mixed types stays readable."""
    if isinstance(value, str) or value is None:
        return value
    return orjson.dumps(value).decode()


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError("true and false are not numbers")
    return value


def _require_none(value: object) -> None:
    if value is not None:
        raise TypeError(f"does not fit: {value!r}")
