"""Rows become messages, each exactly once: a real Spark and a real broker."""

import datetime
from decimal import Decimal

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

from penstock.spark.options import OptionError, SinkOptions
from penstock.spark.sink import COMMIT_MESSAGES, BatchWriter, Messages, Stage, Staged, StreamWriter, groups_of

SERVERS = {"servers": "http://127.0.0.1:1"}


def bodies(broker, queue: str) -> list[str]:
    found = broker.ask("GET", f"/v1/queues/{queue}/messages?limit=1000")
    return [message["body"] for message in found["messages"]]


def made(columns: dict[str, object], ddl: dict[str, str], **options: str) -> list[dict[str, object]]:
    schema = StructType.fromDDL(", ".join(f"{name} {kind}" for name, kind in ddl.items()))
    return Messages(schema, SinkOptions.of(SERVERS | options)).of(pa.RecordBatch.from_pydict(columns)).to_pylist()


def test_rows_become_messages_of_their_columns_or_of_all_of_them(spark) -> None:
    assert made({"body": [b"x"], "id": ["7"]}, {"body": "BINARY", "id": "STRING"}, event="e") == [
        {"event": "e", "body": b"x", "id": "7"}
    ]
    moment = datetime.datetime(2025, 11, 15, 12, tzinfo=datetime.UTC)
    columns = {"queue": ["q", None], "n": [1, None], "at": [moment, None], "d": [Decimal("1.50"), None]}
    assert made(columns, {"queue": "STRING", "n": "INT", "at": "TIMESTAMP", "d": "DECIMAL(5,2)"}, queue="rest") == [
        {"queue": "q", "body": b'{"n":1,"at":"2025-11-15T12:00:00Z","d":"1.50"}'},
        {"queue": "rest", "body": b'{"n":null,"at":null,"d":null}'},
    ]
    both = {"event": ["e", "e"], "queue": [None, "q"], "value": ["a", None]}
    assert made(both, {"event": "STRING", "queue": "STRING", "value": "STRING"}) == [
        {"event": "e", "queue": None, "body": b"a"},
        {"event": None, "queue": "q", "body": b""},
    ]


@pytest.mark.parametrize(
    ("ddl", "options", "message"),
    [
        ("body BINARY", {}, "or queue is missing"),
        ("body INT", {"event": "e"}, "body int.*must be binary or string"),
        ("event INT, body STRING", {}, "event int.*must be a string"),
        ("headers MAP<STRING,INT>, body STRING", {"event": "e"}, r"must be map<string,string>"),
        ("event STRING", {}, "no column for the body"),
    ],
)
def test_a_frame_that_cannot_become_messages_is_refused_by_its_columns(spark, ddl, options, message) -> None:
    with pytest.raises(OptionError, match=message):
        Messages(StructType.fromDDL(ddl), SinkOptions.of(SERVERS | options))


def test_commits_keep_below_what_the_broker_takes_at_once() -> None:
    stages = [Stage(str(number), 40_000, 1) for number in range(6)] + [Stage("large", COMMIT_MESSAGES, 1)]
    groups = groups_of(stages)
    assert [[stage.id for stage in group] for group in groups] == [["0", "1"], ["2", "3"], ["4", "5"], ["large"]]


def test_a_frame_is_written_and_a_batch_of_a_known_writer_only_once(spark, broker) -> None:
    frame = spark.range(20).selectExpr("CAST(id AS STRING) AS body").repartition(3)
    for _ in range(2):
        options = {"servers": broker.url, "queue": "out", "writer": "report", "batch": "4"}
        frame.write.format("penstock").options(**options).mode("append").save()
    assert sorted(map(int, bodies(broker, "out"))) == list(range(20))
    frame.write.format("penstock").options(servers=broker.url, queue="out").mode("append").save()
    assert len(bodies(broker, "out")) == 40
    with pytest.raises(PySparkException, match="the log is append-only"):
        frame.write.format("penstock").options(servers=broker.url, queue="out").mode("overwrite").save()


def test_a_stream_goes_out_once_though_its_last_batch_is_run_again(spark, broker, tmp_path) -> None:
    broker.publish("in", *map(str, range(10)))

    def run() -> None:
        stream = spark.readStream.format("penstock")
        stream = stream.options(servers=broker.url, events="in", maxOffsetsPerTrigger=4, payload="string").load()
        out = stream.selectExpr("'copies' AS queue", "body").writeStream.format("penstock")
        out = out.options(servers=broker.url, checkpointLocation=str(tmp_path / "c"))
        out.trigger(availableNow=True).start().awaitTermination()

    run()
    assert bodies(broker, "copies") == list(map(str, range(10)))
    # As if the driver had died after the broker's commit and before Spark's own.
    last = max((tmp_path / "c" / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    (last.parent / f".{last.name}.crc").unlink(missing_ok=True)
    broker.publish("in", "10")
    run()
    assert bodies(broker, "copies") == list(map(str, range(11)))


def test_a_task_that_fails_leaves_nothing_behind(spark, broker) -> None:
    frame = spark.range(10).selectExpr("IF(id = 7, raise_error('broken'), CAST(id AS STRING)) AS body").repartition(2)
    with pytest.raises(PySparkException, match="broken"):
        frame.write.format("penstock").options(servers=broker.url, queue="out").mode("append").save()
    assert broker.ask("GET", "/v1/log/offsets")["next_offset"] == 0


def test_a_stream_is_known_by_its_checkpoint_alone() -> None:
    with pytest.raises(OptionError, match="a stream is identified by its checkpoint"):
        StreamWriter(SinkOptions.of(SERVERS | {"event": "e", "writer": "me"}), StructType().add("body", "string"))


def test_a_run_without_a_writer_is_forgotten_at_its_end_and_one_with_a_writer_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str]] = []

    class Client:
        def __init__(self, options: SinkOptions) -> None:
            pass

        def post(self, path: str, body: dict[str, object]) -> None:
            asked.append(("commit", str(body["writer"])))

        def delete(self, path: str) -> None:
            asked.append(("delete", path))

        def close(self) -> None:
            pass

    monkeypatch.setattr("penstock.spark.sink.BrokerClient", Client)
    schema = StructType().add("body", "string")
    for options in ({}, {"writer": "daily", "batch": "3"}):
        writer = BatchWriter(SinkOptions.of(SERVERS | {"event": "e"} | options), schema)
        staged = Staged(writer.writer)
        staged.stages.append(Stage("s", 1, 1))
        writer.commit([staged])
    once = asked[0][1]
    assert asked == [("commit", once), ("delete", f"/v1/commits/{once}"), ("commit", "daily")]
