"""Retention and readers: a real broker that trims, what its readers miss and what they do not."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from tests.spark.conftest import Broker
from tests.spark.readers import reader, rows

from penstock.spark.options import SourceOptions
from penstock.spark.schema import schema_of
from penstock.spark.source import DataLoss, LogBatchReader, LogStreamReader
from penstock.storage.reader import LogReader

LARGE = "x" * 9000


@pytest.fixture
def trimming(tmp_path: Path) -> Iterator[Broker]:
    """A broker that keeps a few segments of two or three messages each."""
    running = Broker(memory=False, data=str(tmp_path / "broker"), segment_bytes_max=20_000, retain_bytes=50_000)
    running.start()
    yield running
    running.stop()


def publish_and_settle(broker: Broker, count: int = 20) -> None:
    """Publish what nobody waits for; all that is to be trimmed is when this returns."""
    broker.publish("bulk", *[LARGE] * count)
    storage = broker.node.storage
    assert storage is not None
    deadline = time.monotonic() + 60
    while not (written := broker.reported("log.snapshot")) or (
        written[-1]["position"] != storage.snapshots.taken_at_position
    ):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def there(broker: Broker) -> list[int]:
    """The offsets that the files of the log have."""
    assert broker.config.data is not None
    return [message.offset for message in LogReader(broker.config.data).messages()]


def offsets(found: list[dict[str, object]]) -> list[object]:
    return [row["offset"] for row in found]


def test_what_was_trimmed_before_a_query_began_is_passed_over(trimming) -> None:
    trimming.put("keep", "owed")
    publish_and_settle(trimming)
    left = there(trimming)
    ((first, end),) = [
        (hole["first_offset"], hole["end_offset"]) for hole in trimming.ask("GET", "/v1/log/holes")["holes"]
    ]
    assert left == [*range(first), *range(end, 21)]
    for given in ({"servers": trimming.url}, {"path": trimming.config.data}):
        options = SourceOptions.of({key: str(value) for key, value in given.items()})
        stream = LogStreamReader(options, schema_of(options))
        start = stream.initialOffset()
        assert start == {"log": 0, "holes": f"{first}-{end}"}
        # A limit counts what is there.
        middle = stream.latestOffset(start, ReadMaxRows(first + 1))
        assert middle == {"log": end + 1}
        last = stream.latestOffset(middle, ReadAllAvailable())
        assert offsets(rows(stream, start, middle) + rows(stream, middle, last)) == left
        batch = LogBatchReader(options, schema_of(options))
        assert [
            n for part in batch.partitions() for read in batch.read(part) for n in read["offset"].to_pylist()
        ] == left


def test_spark_keeps_the_holes_of_a_query_in_its_checkpoint(spark, trimming, tmp_path) -> None:
    trimming.put("keep", "owed")
    publish_and_settle(trimming)
    expected = len(there(trimming))

    def run() -> int:
        stream = spark.readStream.format("penstock").options(servers=trimming.url, maxOffsetsPerTrigger=5).load()
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c"))
        done = query.trigger(availableNow=True).start()
        done.awaitTermination()
        return sum(progress["numInputRows"] for progress in done.recentProgress)

    assert run() == expected
    trimming.publish("bulk", "one more")
    assert run() == 1


def test_a_query_that_retention_passes_is_told(trimming, caplog) -> None:
    trimming.put("keep", "owed")
    trimming.publish("bulk", *[LARGE] * 4)
    stream = reader(trimming)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadAllAvailable())
    handed_out = stream.partitions(start, end)
    assert (start, end) == ({"log": 0}, {"log": 5})
    publish_and_settle(trimming)
    left = [offset for offset in there(trimming) if offset < 5]
    assert 0 in left
    assert len(left) < 5
    message = rf"offsets {left[-1] + 1} to 4 are .* retention deleted them"
    with pytest.raises(DataLoss, match=message):
        stream.partitions(start, end)
    with pytest.raises(DataLoss, match=message):
        [batch for part in handed_out for batch in stream.read(part)]
    lenient = reader(trimming, failOnDataLoss="false")
    with caplog.at_level(logging.WARNING, "penstock.spark"):
        assert offsets(rows(lenient, start, end)) == left
    assert "retention deleted them" in caplog.text


def test_a_task_whose_beginning_went_says_what_is_missing(trimming) -> None:
    trimming.publish("bulk", *[LARGE] * 4)
    stream = reader(trimming)
    (part,) = stream.partitions({"log": 0}, {"log": 4})
    publish_and_settle(trimming)
    first = there(trimming)[0]
    assert first > 4
    with pytest.raises(DataLoss, match="offsets 0 to 3 are missing from the log"):
        list(stream.read(part))
    assert list(reader(trimming, failOnDataLoss="false").read(part)) == []
    # Asked for by number, it is missed; from the earliest on, there is nothing to miss.
    with pytest.raises(DataLoss, match=f"offsets 0 to {first - 1} are no longer in the log"):
        stream.partitions(reader(trimming, startingOffsets=0).initialOffset(), {"log": 24})
    assert reader(trimming).initialOffset() == {"log": first}


def test_a_cursor_holds_back_what_its_reader_is_not_done_with(trimming) -> None:
    stream = reader(trimming, cursor="job")
    start = stream.initialOffset()
    publish_and_settle(trimming)
    assert there(trimming) == list(range(20))
    end = stream.latestOffset(start, ReadMaxRows(10))
    assert offsets(rows(stream, start, end)) == list(range(10))
    stream.latestOffset(end, ReadMaxRows(10))  # it is done with the first ten
    publish_and_settle(trimming)
    left = there(trimming)
    assert 0 < left[0] <= 10
    assert left == list(range(left[0], 40))
    assert trimming.ask("DELETE", "/v1/cursors/job") == {"forgotten": True}
    publish_and_settle(trimming)
    assert there(trimming)[0] > 20


def test_a_frame_that_was_read_before_its_log_was_trimmed_says_so_or_gives_what_is_left(spark, trimming) -> None:
    """One frame, read twice: what it is to give was settled when it was first asked."""
    publish_and_settle(trimming)

    before = there(trimming)
    source = spark.read.format("penstock").options(servers=trimming.url)
    strict, lenient = source.load(), source.option("failOnDataLoss", "false").load()
    assert strict.count() == lenient.count() == len(before)
    publish_and_settle(trimming)
    left = [offset for offset in there(trimming) if offset <= before[-1]]
    assert len(left) < len(before)
    with pytest.raises(PySparkException, match=r"retention deleted them.*failOnDataLoss=false"):
        strict.count()
    assert lenient.count() == len(left)
    assert source.load().count() == len(there(trimming))  # a new frame misses nothing
