"""The log as a Spark table, read from files by a real local Spark."""

import datetime

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.spark.logs import NOON, WrittenLog
from tests.storage.histories import flip, paths_of


def table(spark: SparkSession, log: WrittenLog, **options: object) -> DataFrame:
    return spark.read.format("penstock").options(path=str(log.directory), **options).load()


def offsets(frame: DataFrame) -> list[int]:
    return sorted(row.offset for row in frame.select("offset").collect())


def batches_of(spark: SparkSession, log: WrittenLog, checkpoint: object, **options: object) -> list[tuple[int, int]]:
    """How many rows each batch of an AvailableNow run had, and where it ended."""
    stream = spark.readStream.format("penstock").options(path=str(log.directory), **options).load()
    query = (
        stream.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = [(p["numInputRows"], p["sources"][0]["endOffset"]) for p in query.recentProgress if p["numInputRows"]]
    return [(rows, int(str(end).strip('{}" log:'))) for rows, end in found]


def test_every_column_arrives_as_it_was_written(spark, log) -> None:
    log.publish("order.placed", b'{"n": 1}', headers={b"trace": b"7"})
    log.put("jobs", b"\x00\xff")
    first, second = table(spark, log).orderBy("offset").collect()
    noon = datetime.datetime(2025, 11, 15, 12)
    assert first.asDict() == {
        "offset": 0,
        "event": "order.placed",
        "queue": None,
        "id": "m0",
        "body": b'{"n": 1}',
        "headers": {"trace": "7"},
        "protocol": "mqks",
        "published_at": noon,
    }
    assert (second.event, second.queue, bytes(second.body), second.headers) == ("jobs", "jobs", b"\x00\xff", None)
    assert second.published_at == noon + datetime.timedelta(seconds=1)


def test_a_range_is_chosen_by_offset_and_by_time_and_split_over_tasks(spark, log) -> None:
    for block in range(10):
        log.publish("e", *[b"%d" % number for number in range(block * 10, block * 10 + 10)])
    frame = table(spark, log, startingOffsets=15, endingOffsets='{"log": 42}', maxRecordsPerPartition=10)
    assert frame.rdd.getNumPartitions() == 3
    assert offsets(frame) == list(range(15, 42))
    start = NOON // 1000 + 20_500
    assert offsets(table(spark, log, startingTimestamp=start, endingTimestamp=start + 5000)) == [21, 22, 23, 24, 25]


def test_events_queues_patterns_and_columns_are_chosen(spark, log) -> None:
    log.publish("order.placed", b"0")
    log.publish("order.paid", b"1")
    log.put("jobs", b"2")
    log.publish("user", b"3")
    assert offsets(table(spark, log, events="order.paid,user")) == [1, 3]
    assert offsets(table(spark, log, pattern="order.*")) == [0, 1]
    assert offsets(table(spark, log, queues="jobs")) == [2]
    assert offsets(table(spark, log, pattern="order.*", events="order.paid,user")) == [1]
    assert offsets(table(spark, log, events="nobody")) == []
    frame = table(spark, log, columns="body,offset", payload="string")
    assert frame.columns == ["body", "offset"]
    assert [row.body for row in frame.orderBy("offset").collect()] == ["0", "1", "2", "3"]


def test_json_gives_columns_and_what_does_not_fit_is_kept_beside(spark, log) -> None:
    log.publish(
        "e",
        b'{"id": 1, "name": "a", "at": "2025-11-15T12:00:00Z", "tags": ["x"]}',
        b'{"id": "one", "name": "b"}',
        b"no json",
        b'{"name": 5}',
        b"[1]",
    )
    schema = "id INT, name STRING, at TIMESTAMP, tags ARRAY<STRING>, _offset BIGINT, _bad_record STRING"
    frame = spark.read.format("penstock").options(path=str(log.directory), payload="json").schema(schema).load()
    rows = {row._offset: row for row in frame.collect()}
    assert (rows[0].id, rows[0].name, rows[0].at, rows[0].tags) == (1, "a", datetime.datetime(2025, 11, 15, 12), ["x"])
    assert rows[0]._bad_record is None
    assert (rows[1].id, rows[1].name, rows[1]._bad_record) == (None, None, '{"id": "one", "name": "b"}')
    assert rows[2]._bad_record == "no json"
    assert (rows[3].name, rows[3]._bad_record) == ("5", None)
    assert rows[4]._bad_record == "[1]"


def test_conditions_skip_parts_of_the_log_when_asked_to(spark, log) -> None:
    log.publish("a", *[b"x"] * 50)
    log.publish("b", *[b"x"] * 50)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        frame = table(spark, log, pushdown="true", maxRecordsPerPartition=10)
        assert frame.where("offset >= 45 AND offset < 55").rdd.getNumPartitions() == 1
        assert offsets(frame.where("offset > 45 AND offset <= 55 AND event = 'b'")) == list(range(50, 56))
        assert offsets(frame.where("event IN ('a', 'c') AND offset = 3")) == [3]
        assert offsets(frame.where("published_at < '2025-11-15 12:00:02'")) == [0, 1]
        assert offsets(frame.where("queue = 'b'")) == []
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")


def test_a_stream_goes_on_where_it_stopped_and_every_batch_keeps_the_limit(spark, log, tmp_path) -> None:
    log.publish("e", *[b"x"] * 25)
    assert batches_of(spark, log, tmp_path / "c", maxOffsetsPerTrigger=10) == [(10, 10), (10, 20), (5, 25)]
    log.publish("e", *[b"x"] * 3)
    assert batches_of(spark, log, tmp_path / "c", maxOffsetsPerTrigger=10) == [(3, 28)]


def test_a_limit_in_bytes_bounds_batches_and_lets_a_large_message_pass(spark, log, tmp_path) -> None:
    for _ in range(4):
        log.publish("e", b"x" * 3000)
    log.publish("e", b"x" * 50_000)
    log.publish("e", b"x")
    assert batches_of(spark, log, tmp_path / "c", maxBytesPerTrigger=7000) == [(2, 2), (2, 4), (1, 5), (1, 6)]


def test_settlements_are_a_table_of_their_own(spark, log, tmp_path) -> None:
    log.put("jobs", b"0", b"1", b"2")
    log.accept("jobs", 2)
    log.put("jobs", b"3")
    frame = table(spark, log, table="lifecycle")
    assert sorted((row.offset, row.queue, row.action) for row in frame.collect()) == [
        (0, "jobs", "accept"),
        (1, "jobs", "accept"),
        (2, "jobs", "return"),
    ]


def test_what_is_gone_ends_a_query_or_is_told(spark, log) -> None:
    for _ in range(40):
        log.publish("e", *[b"y" * 200] * 10)
    first, *_ = paths_of(log.directory)
    first.unlink()
    with pytest.raises(PySparkException, match="retention deleted them"):
        table(spark, log, startingOffsets=0).count()
    left = table(spark, log, startingOffsets=0, failOnDataLoss="false").count()
    assert 0 < left < 400
    assert left == table(spark, log).count()


def test_damage_is_named(spark, log) -> None:
    for _ in range(40):
        log.publish("e", *[b"y" * 200] * 10)
    flip(paths_of(log.directory)[0], 5000)
    with pytest.raises(PySparkException, match="checksum mismatch"):
        table(spark, log).count()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffsets": 11}, "is after the end of the log, 10"),
        ({"startingOffsets": 5, "endingOffsets": 3}, "is before the start, 5"),
        ({"startingTimestamp": "2030-01-01"}, "no message at or after this time"),
        ({"columns": "offset,colour"}, "'colour' is not one of offset, event, queue"),
        ({"payload": "json"}, "needs a schema for the bodies"),
    ],
)
def test_a_wrong_wish_is_told_in_words(spark, log, options, message) -> None:
    log.publish("e", *[b"x"] * 10)
    with pytest.raises(PySparkException, match=message):
        table(spark, log, **options).count()


def test_latest_needs_a_name_to_be_remembered_by(spark, log, tmp_path) -> None:
    log.publish("e", b"x")
    with pytest.raises(PySparkException, match=r"latest.*needs cursor=NAME"):
        batches_of(spark, log, tmp_path / "c", startingOffsets="latest")
