"""`load` into a real PostgreSQL, started from Debian's package on a socket in a directory of its own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'penstock-mq[postgres]'")

import psycopg
import pyarrow as pa

from penstock.spark.databases import DatabaseError, open_table
from penstock.spark.pipelines import load
from penstock.spark.pipelines.job import Job

NOON = datetime(2025, 11, 15, 12, tzinfo=UTC)


def programs() -> Path | None:
    """Where the newest PostgreSQL has its programs: Debian does not put initdb on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return found[-1].parent if found else None


def other_user() -> dict[str, Any]:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    there = programs()
    if there is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    user = other_user()
    directory = Path(tempfile.mkdtemp(prefix="pg-"))  # short, for the socket, and where another user may go
    if user:
        os.chown(directory, user["user"], user["group"])
    command = [str(there / "initdb"), "-D", str(directory / "data"), "-U", "loader", "-A", "trust", "-E", "UTF8"]
    made = subprocess.run(
        [*command, "--locale=C", "--no-sync"], cwd="/", capture_output=True, text=True, check=False, **user
    )
    assert made.returncode == 0, made.stderr
    command = [str(there / "postgres"), "-D", str(directory / "data"), "-k", str(directory)]
    with (directory / "log").open("wb") as told:
        server = subprocess.Popen(
            [*command, "-c", "listen_addresses=", "-F"], cwd="/", stdout=told, stderr=told, text=False, **user
        )
    address = f"postgresql://loader@/postgres?host={directory}"
    try:
        wait_for(address, server)
        yield address
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        shutil.rmtree(directory)


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL does not start") from error
            time.sleep(0.05)


def asked(address: str, statement: str) -> list[Any]:
    with psycopg.connect(address) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        return list(connection.execute(statement).fetchall())


def test_every_kind_of_value_arrives_and_each_id_once(postgres) -> None:
    rows = pa.table(
        {
            "id": ["1", "2", "1"],
            "flag": [True, None, False],
            "n": [1 << 40, None, 0],
            "x": [0.5, None, 0.0],
            "price": pa.array([Decimal("12.50"), None, None], pa.decimal128(10, 2)),
            "at": pa.array([NOON, None, None], pa.timestamp("us", tz="UTC")),
            "day": [date(2025, 11, 15), None, None],
            "data": [b"\x00\xff", None, b""],
            "text": ["tab\t, line\n, quote', nul\0", None, ""],
            "list": [["a"], None, []],
        }
    )
    for inserted in (2, 0):
        with open_table(postgres, 'odd "name"', rows.schema) as table:
            assert table.insert(rows) == inserted
    first, second = asked(postgres, 'SELECT * FROM "odd ""name""" ORDER BY id')
    text = "tab\t, line\n, quote', nul\\x00"
    day = date(2025, 11, 15)
    assert first == ("1", True, 1 << 40, 0.5, Decimal("12.50"), NOON, day, b"\x00\xff", text, '["a"]')
    assert second == ("2", *[None] * 9)


def test_what_the_database_says_is_told_and_nothing_of_the_batch_stays(postgres) -> None:
    rows = pa.table({"id": ["1", "2"], "n": [1, -1]})
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE strict (id text PRIMARY KEY, n bigint CHECK (n > 0))")
    with (
        pytest.raises(DatabaseError, match=r"postgresql:///postgres: .*violates check constraint"),
        open_table(postgres, "strict", rows.schema) as table,
    ):
        table.insert(rows)
    assert asked(postgres, "SELECT count(*) FROM strict") == [(0,)]
    with (
        pytest.raises(DatabaseError, match=r"^postgresql://127.0.0.1/nobody: "),
        open_table("postgresql://user:secret@127.0.0.1:1/nobody", "t", rows.schema),
    ):
        pass


def test_a_queue_is_loaded_and_acknowledged(spark, broker, postgres, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PENSTOCK_STATE", str(tmp_path / "state"))
    broker.put("orders", '{"name": "a", "price": 1.5}', '{"name": "b"}', "broken")
    settings = {"schema": "name STRING, price DOUBLE"}
    job = Job(spark, "load", server=broker.url, once=True, show=False, queue="orders", to=postgres, settings=settings)
    assert load.run(job)["inserted"] == 3
    queue = broker.ask("GET", "/v1/queues/orders")
    assert (queue["ready"], queue["unacked"]) == (0, 0)
    found = asked(postgres, "SELECT name, price, _bad_record FROM orders ORDER BY name NULLS FIRST")
    assert found == [(None, None, "broken"), ("a", 1.5, None), ("b", None, None)]
