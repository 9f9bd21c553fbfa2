"""Tables that store each row once: SQLite, from the standard library, and PostgreSQL through psycopg."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol
from urllib.parse import urlsplit

import orjson
import pyarrow as pa

from penstock.errors import Error

KEY = "id"


class DatabaseError(Error):
    """The database failed or cannot be used."""


class Table(Protocol):
    def insert(self, rows: pa.Table) -> int:
        """Insert the rows that are not in the table yet, in one transaction. Returns how many were inserted."""


@contextlib.contextmanager
def open_table(address: str, table: str, schema: pa.Schema) -> Iterator[Table]:
    scheme = urlsplit(address).scheme
    if scheme == "sqlite":
        path = address.removeprefix("sqlite://").removeprefix("/") if address.startswith("sqlite:///") else ""
        if not path:
            raise DatabaseError(f"{address!r} has no file name: use sqlite:///FILE or sqlite:////ABSOLUTE/FILE")
        with _told(address), contextlib.closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
            yield SqliteTable(connection, table, schema)
        return
    if scheme not in ("postgresql", "postgres"):
        raise DatabaseError(
            f"{address!r} is not a supported database: use sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        )
    try:
        import psycopg
    except ImportError:
        raise DatabaseError("PostgreSQL needs the package psycopg: pip install 'penstock-mq[postgres]'") from None
    with _told(address), psycopg.connect(address) as connection:
        yield PostgresTable(connection, table, schema)


@contextlib.contextmanager
def _told(address: str) -> Iterator[None]:
    """Raise the database's errors as DatabaseError, without the password in the address."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        where = urlsplit(address)
        place = f"{where.scheme}://{where.hostname or ''}{where.path}"
        raise DatabaseError(f"{place}: {' '.join(str(error).split())}") from error


class SqliteTable:
    def __init__(self, connection: sqlite3.Connection, table: str, schema: pa.Schema) -> None:
        self.connection = connection
        self.table = quoted(table)
        self.names = schema.names
        columns = ", ".join(f"{quoted(field.name)} {_sqlite_type(field.type)}" for field in schema)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {self.table} ({columns}, PRIMARY KEY ({quoted(KEY)}))")

    def insert(self, rows: pa.Table) -> int:
        names = ", ".join(map(quoted, self.names))
        marks = ", ".join("?" * len(self.names))
        statement = f"INSERT OR IGNORE INTO {self.table} ({names}) VALUES ({marks})"  # noqa: S608
        self.connection.execute("BEGIN IMMEDIATE")
        before = self.connection.total_changes
        self.connection.executemany(statement, _values(rows))
        self.connection.execute("COMMIT")
        return self.connection.total_changes - before


class PostgresTable:
    def __init__(self, connection: Any, table: str, schema: pa.Schema) -> None:
        self.connection = connection
        self.table = quoted(table)
        self.names = schema.names
        columns = ", ".join(f"{quoted(field.name)} {_postgres_type(field.type)}" for field in schema)
        connection.execute(f"CREATE TABLE IF NOT EXISTS {self.table} ({columns}, PRIMARY KEY ({quoted(KEY)}))")
        connection.commit()

    def insert(self, rows: pa.Table) -> int:
        """COPY into a temporary table, then INSERT from it: many times as fast as row by row."""
        names = ", ".join(map(quoted, self.names))
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute(f"CREATE TEMP TABLE incoming (LIKE {self.table} INCLUDING DEFAULTS) ON COMMIT DROP")
            with cursor.copy(f"COPY incoming ({names}) FROM STDIN") as copy:
                for values in _values(rows):
                    copy.write_row([_no_nul(value) for value in values])
            cursor.execute(
                f"INSERT INTO {self.table} ({names}) SELECT DISTINCT ON ({quoted(KEY)}) {names} FROM incoming "  # noqa: S608
                f"ORDER BY {quoted(KEY)}, ctid ON CONFLICT DO NOTHING"
            )
            return int(cursor.rowcount)


def quoted(name: str) -> str:
    if "\0" in name or not name:
        raise DatabaseError(f"{name!r} is not a valid table or column name")
    return '"' + name.replace('"', '""') + '"'


def _values(rows: pa.Table) -> Iterator[list[Any]]:
    for batch in rows.to_batches(max_chunksize=10_000):
        columns = [[_plain(value) for value in column.to_pylist()] for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield list(values)


def _plain(value: Any) -> Any:
    """Convert to types that every database accepts: lists and objects as JSON, times as text in UTC."""
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return orjson.dumps(value, default=str).decode()


def _no_nul(value: Any) -> Any:
    """Escape NUL, which PostgreSQL's text type cannot hold."""
    return value.replace("\0", "\\x00") if isinstance(value, str) else value


def _sqlite_type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "REAL"
    return "BLOB" if pa.types.is_binary(kind) else "TEXT"


def _postgres_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    if pa.types.is_integer(kind):
        return "BIGINT"
    if pa.types.is_floating(kind):
        return "DOUBLE PRECISION"
    if pa.types.is_decimal(kind):
        return "NUMERIC"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMPTZ"
    if pa.types.is_date(kind):
        return "DATE"
    return "BYTEA" if pa.types.is_binary(kind) else "TEXT"
