"""The pipelines: what each makes of a log, and that it goes on where it stopped."""

import datetime
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

pytest.importorskip("pyspark")

import pandas as pd
import pyarrow.parquet as pq
from tests.spark.conftest import Broker

from penstock.spark.databases import DatabaseError, open_table
from penstock.spark.pipelines import archive, infer, load, own, query, replay, stats
from penstock.spark.pipelines.job import Job, PipelineError

NOON = datetime.datetime(2025, 11, 15, 12)


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PENSTOCK_STATE", str(tmp_path / "state"))


@pytest.fixture
def job(spark, broker, tmp_path):
    def make(pipeline: str, **fields: Any) -> Job:
        return Job(spark, pipeline, server=broker.url, once=True, show=False, **fields)

    return make


def bodies(broker: Broker, queue: str) -> list[str]:
    return [message["body"] for message in broker.ask("GET", f"/v1/queues/{queue}/messages?limit=1000")["messages"]]


DUCKDB = """
import duckdb, json, sys
rows = duckdb.sql(
    "SELECT event, count(*), min(\\"offset\\"), max(decode(body)), epoch(min(published_at)) "
    f"FROM '{sys.argv[1]}/*/*/*.parquet' GROUP BY event ORDER BY event"
)
print(json.dumps(rows.fetchall()))
"""


def read_by_duckdb(lake: Path) -> list[list[Any]]:
    """In a process of its own: when it ends, DuckDB tells of things that it did not let go of."""
    done = subprocess.run([sys.executable, "-c", DUCKDB, str(lake)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_archive_keeps_each_message_once_for_any_reader(spark, broker, job, tmp_path) -> None:
    lake = tmp_path / "lake"
    broker.publish("order/placed", *map(str, range(12)))
    broker.put("jobs", "a", "b")
    assert archive.run(job("archive", to=str(lake), source={"maxOffsetsPerTrigger": "5"}))["rows"] == 14
    broker.publish("order/placed", "12")
    assert archive.run(job("archive", to=str(lake)))["rows"] == 1
    # The lake knows how far it is, also when the checkpoint is lost.
    broker.publish("order/placed", "13")
    assert archive.run(job("archive", to=str(lake), checkpoint=str(tmp_path / "fresh")))["rows"] == 1

    table = pd.read_parquet(lake).sort_values("offset")
    assert list(table["offset"]) == list(range(16))
    assert set(table.columns) == {
        *("offset", "event", "queue", "id", "body", "headers", "protocol", "published_at", "date")
    }
    orders = table[table["event"] == "order/placed"]
    assert [bytes(body) for body in orders["body"]] == [b"%d" % number for number in range(14)]
    by_spark = spark.read.parquet(str(lake))
    assert by_spark.count() == 16
    published_at = table["published_at"].iloc[12].to_pydatetime()
    # A microsecond is near the end of what a float of seconds can tell.
    same_time = pytest.approx(published_at.timestamp(), abs=1e-5)
    assert read_by_duckdb(lake) == [["jobs", 2, 12, "b", same_time], ["order/placed", 14, 0, "9", ANY]]
    days = by_spark.selectExpr("CAST(date AS STRING) AS day", "date_format(published_at, 'yyyy-MM-dd') AS published")
    assert all(row.day == row.published for row in days.collect())
    (cursor,) = broker.ask("GET", "/v1/cursors")["cursors"]
    assert cursor["reached"] == 16


def test_stats_count_by_window_event_and_queue(spark) -> None:
    messages = spark.createDataFrame(
        [
            (NOON, "e", None, bytearray(b"12345"), None),
            (NOON + datetime.timedelta(seconds=30), "e", None, bytearray(b"1"), None),
            (NOON + datetime.timedelta(seconds=90), "e", "dead", bytearray(b""), {"dead-reason": "expired"}),
        ],
        "published_at TIMESTAMP, event STRING, queue STRING, body BINARY, headers MAP<STRING,STRING>",
    )
    lifecycle = spark.createDataFrame(
        [
            (0, "q", "reject", NOON + datetime.timedelta(seconds=1), "e", NOON),
            (0, "q", "accept", NOON + datetime.timedelta(seconds=3), "e", NOON),
            (1, "q", "accept", NOON + datetime.timedelta(seconds=31), "e", NOON + datetime.timedelta(seconds=30)),
            (2, "q", "release", None, "e", NOON),
        ],
        "offset BIGINT, queue STRING, action STRING, at TIMESTAMP, event STRING, published_at TIMESTAMP",
    )
    found = {(row.window_start, row.queue): row for row in stats.transform(messages, lifecycle, "1 minute").collect()}
    minute = datetime.timedelta(minutes=1)
    assert set(found) == {(NOON, None), (NOON, "q"), (NOON + minute, "dead")}
    row = found[NOON, None]
    assert (row.published, row.bytes, row.accepted, row.latency_p50) == (2, 6, 0, None)
    row = found[NOON, "q"]
    assert (row.published, row.accepted, row.retries, row.latency_p50, row.latency_p99) == (0, 2, 1, 1.0, 3.0)
    assert found[NOON + minute, "dead"].dead_letters == 1


def test_stats_go_into_files_and_back_to_the_broker(broker, job, tmp_path) -> None:
    broker.ask("PUT", "/v1/queues/dashboard", {"events": ["penstock.stats"]})
    broker.put("jobs", "1", "22")
    (tmp_path / "token").write_text("secret")
    settings = {"window": "36500 days"}  # so that no midnight comes in between
    wanted = job("stats", to=str(tmp_path / "stats"), event="penstock.stats", settings=settings)
    wanted.connection = {"tokenFile": str(tmp_path / "token")}
    assert stats.run(wanted)["windows"] == 1
    (pipeline,) = broker.ask("GET", "/v1/pipelines")["pipelines"]
    assert (pipeline["name"], pipeline["state"]) == ("stats", "done")
    (row,) = pq.read_table(tmp_path / "stats").to_pylist()
    assert (row["event"], row["queue"], row["published"], row["bytes"]) == ("jobs", "jobs", 2, 3)
    (message,) = map(json.loads, bodies(broker, "dashboard"))
    assert (message["event"], message["queue"], message["published"]) == ("jobs", "jobs", 2)


def test_infer_finds_fields_kinds_and_drift(spark, broker, job, tmp_path) -> None:
    broker.publish("order", '{"id": 1, "tags": ["a"]}', '{"id": 2, "price": 1.5, "tags": []}')
    infer.run(job("infer", to=str(tmp_path / "schemas")))
    broker.publish("order", '{"id": "three", "tags": []}', "no json")
    infer.run(job("infer", to=str(tmp_path / "schemas")))
    known = json.loads((tmp_path / "schemas" / "infer.json").read_text())["events"]["order"]
    assert known["fields"]["$.id"]["integer"]["count"] == 2
    drift = [(change["what"], change["path"], change["kind"]) for change in known["drift"]]
    assert drift == [
        ("new field", "$.price", "number"),
        ("new kind", "$.id", "string"),
        ("new kind", "$", "not json"),
    ]
    schema = json.loads((tmp_path / "schemas" / "order.schema.json").read_text())
    assert schema["properties"]["id"] == {"type": ["integer", "string"], "examples": ["1", "three"]}
    assert schema["properties"]["tags"] == {"type": "array", "items": {"type": "string", "examples": ["a"]}}
    assert schema["required"] == ["id", "tags"]


def test_a_batch_that_was_inferred_before_changes_nothing(tmp_path) -> None:
    knowledge = infer.Knowledge(str(tmp_path))
    row = {
        "event": "e",
        "path": "$",
        "kind": "object",
        "count": 1,
        "first_offset": 0,
        "first_at": NOON,
        "example": "{}",
    }
    for _ in range(2):
        knowledge.add([row], "writer", 0)
    assert infer.Knowledge(str(tmp_path)).events["e"]["fields"]["$"]["object"]["count"] == 1


def test_query_makes_messages_of_sql_and_goes_on_by_its_name(broker, job) -> None:
    sql = "SELECT get_json_object(body, '$.id') AS order FROM log WHERE event = 'order' AND body LIKE '%big%'"
    broker.publish("order", '{"id": 1}', '{"id": 2, "note": "big"}')
    query.run(job("query", name="big", queue="big-orders", settings={"sql": sql}))
    broker.publish("order", '{"id": 3, "note": "big"}')
    query.run(job("query", name="big"))
    assert bodies(broker, "big-orders") == ['{"order":"2"}', '{"order":"3"}']
    with pytest.raises(PipelineError, match="a different query is saved as 'big'"):
        query.run(job("query", name="big", queue="big-orders", settings={"sql": "SELECT 1"}))
    with pytest.raises(PipelineError, match="no saved query 'small'"):
        query.run(job("query", name="small"))
    with pytest.raises(PipelineError, match=r"the statement failed: .*nowhere"):
        query.run(job("query", name="bad", queue="q", settings={"sql": "SELECT x FROM nowhere"}))


def test_replay_shows_and_sends_a_slice(broker, job, capsys) -> None:
    broker.publish("order", *map(str, range(6)))
    slice_ = {"startingOffsets": "1", "endingOffsets": "5", "events": "order"}
    shown = job("replay", queue="again", source=slice_, settings={"where": "offset <> 3", "dry-run": "1"})
    assert replay.run(shown) == {"rows": 3}
    assert "3 messages would be sent" in capsys.readouterr().out
    assert replay.run(job("replay", queue="again", source=slice_, settings={"where": "offset <> 3"})) == {"rows": 3}
    assert sorted(bodies(broker, "again")) == ["1", "2", "4"]
    (first, *_) = broker.ask("GET", "/v1/queues/again/messages")["messages"]
    assert set(first["headers"]) == {"replayed-offset", "replayed-id"}
    assert replay.run(job("replay", queue="paced", source=slice_, settings={"speed": "1000"})) == {"rows": 4}
    assert bodies(broker, "paced") == ["1", "2", "3", "4"]
    with pytest.raises(PipelineError, match="replay needs a target, --event NAME or --queue NAME"):
        replay.run(job("replay", source=slice_))


def test_a_chosen_speed_keeps_the_rhythm() -> None:
    clock = [0.0]
    rows = [{"n": n, "published_at": NOON + datetime.timedelta(seconds=s)} for n, s in enumerate([0, 0, 10, 10.5, 40])]
    sent = []
    for group in replay.paced(
        iter(rows), 10, clock=lambda: clock[0], sleep=lambda s: clock.__setitem__(0, clock[0] + s)
    ):
        sent.append((round(clock[0], 3), [row["n"] for row in group]))
    # A group is sent when the first row of the next one is known.
    assert [numbers for _, numbers in sent] == [[0, 1], [2, 3], [4]]
    assert sent[-1][0] == 4.0


def test_load_inserts_each_message_once_and_acknowledges_it(broker, job, tmp_path) -> None:
    database = f"sqlite:///{tmp_path}/orders.db"
    broker.put("orders", '{"name": "a", "price": 1.5}', '{"name": "b"}', "broken")
    settings = {"schema": "name STRING, price DOUBLE"}
    assert load.run(job("load", queue="orders", to=database, settings=settings))["inserted"] == 3
    queue = broker.ask("GET", "/v1/queues/orders")
    assert (queue["ready"], queue["unacked"]) == (0, 0)
    with sqlite3.connect(tmp_path / "orders.db") as connection:
        found = connection.execute("SELECT name, price, _bad_record FROM orders ORDER BY name").fetchall()
    connection.close()
    assert found == [(None, None, "broken"), ("a", 1.5, None), ("b", None, None)]


def test_a_table_takes_a_row_of_the_same_id_once(tmp_path) -> None:
    import pyarrow as pa

    rows = pa.table({"id": ["1", "2", "1"], "when": [NOON, None, NOON], "list": [["a"], None, []]})
    address = f"sqlite:///{tmp_path}/x.db"
    for inserted in (2, 0):
        with open_table(address, 'odd "name"', rows.schema) as table:
            assert table.insert(rows) == inserted
    with pytest.raises(DatabaseError, match="is not a supported database"), open_table("mysql://x", "t", rows.schema):
        pass
    with pytest.raises(DatabaseError, match="unable to open"), open_table("sqlite:////no/where/x", "t", rows.schema):
        pass


OWN = """
from penstock.spark import pipeline

@pipeline(events="order", payload="string", queue="loud")
def shout(orders):
    return orders.selectExpr("upper(body) AS body")
"""


def test_a_function_of_the_user_is_a_pipeline(broker, job, tmp_path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    broker.publish("order", "hello")
    own.run(job("mine"), own.load(str(file)))
    assert bodies(broker, "loud") == ["HELLO"]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("x = 1", "", "has no function marked"),
        (OWN + OWN.replace("shout", "whisper"), "", "has several pipelines; choose one: .*:shout, .*:whisper"),
        (OWN, ":cry", "has no pipeline 'cry'; it has shout"),
        ("1 / 0", "", "cannot be loaded: ZeroDivisionError"),
    ],
)
def test_a_file_that_is_no_pipeline_is_told(tmp_path, text, place, message) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(own.OwnPipelineError, match=message):
        own.load(f"{file}{place}")
    with pytest.raises(own.OwnPipelineError, match="no such file"):
        own.load("nowhere.py")
