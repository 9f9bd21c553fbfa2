"""Clocks that disagree: the broker's and Spark's, and the broker's with itself after it was set. No row is lost."""

import datetime

import pytest

pytest.importorskip("pyspark")

import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from tests.spark.conftest import Broker
from tests.spark.logs import NOON, WrittenLog
from tests.spark.readers import reader

from penstock.spark.options import OptionError
from penstock.spark.pipelines import archive, stats
from penstock.spark.pipelines.job import Job

SECOND = 1_000_000
HOUR = 3600 * SECOND


def publish_at(log: WrittenLog, moment: int, count: int) -> None:
    """A broker that was started with that clock."""
    log.now = moment
    for _ in range(count):
        log.publish("e", b"x" * 2000)


@pytest.fixture
def stepping(tmp_path) -> WrittenLog:
    """Messages 0-9 around noon, 10-19 half an hour later, 20-29 after the clock was set back by that half hour."""
    log = WrittenLog(tmp_path / "data", segment_bytes_max=6000)
    publish_at(log, NOON, 10)
    publish_at(log, NOON + HOUR // 2, 10)
    publish_at(log, NOON + 10 * SECOND, 10)
    return log


def test_a_time_is_found_where_it_first_was_though_the_clock_was_set_back(spark, stepping) -> None:
    def offsets_from(moment: int) -> list[int]:
        frame = spark.read.format("penstock").options(path=str(stepping.directory), startingTimestamp=moment // 1000)
        return sorted(row.offset for row in frame.load().collect())

    # Everything that was published then or later is there, and what came after it.
    assert offsets_from(NOON + 5 * SECOND) == list(range(5, 30))
    assert offsets_from(NOON + 15 * SECOND) == list(range(10, 30))
    assert offsets_from(NOON + HOUR // 2 + 5 * SECOND) == list(range(15, 30))


def test_the_lake_keeps_every_message_whatever_day_it_says(spark, tmp_path) -> None:
    log = WrittenLog(tmp_path / "data")
    midnight = NOON + 12 * HOUR
    publish_at(log, midnight - 2 * SECOND, 4)  # two of each day
    publish_at(log, midnight - 3 * SECOND, 4)  # set back: three of the day before, and one
    publish_at(log, NOON + 24 * 365 * HOUR * 20, 1)  # years ahead
    publish_at(log, midnight, 2)
    archive.run(Job(spark, "archive", path=str(log.directory), to=str(tmp_path / "lake"), once=True, show=False))
    rows = pq.read_table(tmp_path / "lake", columns=["offset", "date"]).to_pylist()
    by_day: dict[str, list[int]] = {}
    for row in rows:
        by_day.setdefault(str(row["date"]), []).append(row["offset"])
    assert {day: sorted(offsets) for day, offsets in by_day.items()} == {
        "2025-11-15": [0, 1, 4, 5, 6],
        "2025-11-16": [2, 3, 7, 9, 10],
        "2045-11-10": [8],
    }


def test_a_time_far_ahead_makes_nothing_that_follows_too_old_and_what_is_too_old_is_told(
    spark, tmp_path, capsys
) -> None:
    now = int(datetime.datetime.now(datetime.UTC).timestamp()) * SECOND
    log = WrittenLog(tmp_path / "data")
    publish_at(log, NOON, 1)
    publish_at(log, NOON + 6 * HOUR, 2)
    publish_at(log, NOON, 1)  # too old: long ago nothing tells which of the two clocks was right
    publish_at(log, now + 24 * HOUR, 1)  # but nothing can be of tomorrow
    publish_at(log, now - HOUR // 2, 2)
    to = tmp_path / "stats"
    job = Job(spark, "stats", path=str(log.directory), to=str(to), once=True, show=False)
    job.source["maxOffsetsPerTrigger"] = "1"
    assert stats.run(job)["late"] == 1
    assert "rows were not counted: more than 1 hour older than the newest" in capsys.readouterr().out
    counted = [(row["window_start"], row["published"]) for row in pq.read_table(to).to_pylist()]
    assert sum(count for _, count in counted) == 6
    assert sum(count for start, count in counted if start.timestamp() > now / SECOND - 60) == 1


def test_a_spark_ahead_of_the_broker_is_told_or_begins_at_the_end_without_a_gap(broker: Broker) -> None:
    broker.publish("e", "before")
    ahead = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)).isoformat()
    with pytest.raises(OptionError, match="no message at or after this time"):
        reader(broker, startingTimestamp=ahead).initialOffset()
    latest = {"startingTimestamp": ahead, "startingOffsetsByTimestampStrategy": "latest"}
    with pytest.raises(OptionError, match="startingOffsetsByTimestampStrategy='latest': needs cursor=NAME"):
        reader(broker, **latest)
    first = reader(broker, **latest, cursor="job")
    assert first.initialOffset() == {"log": 1}
    broker.publish("e", "after")
    assert reader(broker, **latest, cursor="job").initialOffset() == {"log": 1}  # what came between is read


def test_a_time_that_nothing_reaches_ends_a_read_in_words(spark, stepping) -> None:
    options = {"path": str(stepping.directory), "startingTimestamp": (NOON + HOUR) // 1000}
    with pytest.raises(PySparkException, match="no message at or after this time"):
        spark.read.format("penstock").options(**options).load().count()
    late = spark.read.format("penstock").options(**options, startingOffsetsByTimestampStrategy="latest")
    assert late.load().count() == 0
