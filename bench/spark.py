"""How fast the log becomes Parquet: `python -m bench.spark [--rows N] [--rounds N]`.

The question is what our source costs, not how fast Spark writes. So the same job is also fed by a Python source that
yields ready-made Arrow batches of the same shape from memory, which is as fast as Spark's API for Python sources can
be, and by Spark's own Parquet reader. Rounds are interleaved; a ratio is of the two figures of one round, and the
median of those is told.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.block import marked
from penstock.log.durable import DurableLog
from penstock.message import Message
from penstock.spark.options import SourceOptions
from penstock.spark.schema import Shape, schema_of
from penstock.spark.session import spark_session

BODY = b'{"id": %d, "item": "turbine", "price": 12.5, "note": "' + b"x" * 140 + b'"}'
BLOCK = 1000  # messages
TASKS = 4
BAR = 0.7  # of the ceiling


def write_log(directory: Path, rows: int) -> None:
    """A log as a busy broker writes it."""
    directory.mkdir()
    log = DurableLog(128 << 20)
    broker = Broker(log, Limits())
    now = time.time_ns() // 1000
    for first in range(0, rows, BLOCK):
        for number in range(first, min(first + BLOCK, rows)):
            broker.publish(Message(b"%016d" % number, b"e%d" % (number % 5), BODY % number, now + number, "mqks"))
        log.close_block(now + first)
        for pending in log.take_closed():
            with (directory / pending.segment).open("ab") as file:
                file.write(b"".join(marked(pending.data)))


class MemorySource(DataSource):
    """Batches of the log's shape that were made before anybody asked."""

    @classmethod
    def name(cls) -> str:
        return "bench_memory"

    def schema(self) -> StructType:
        return StructType.fromJson(json.loads(self.options["json_schema"]))

    def reader(self, schema: StructType) -> DataSourceReader:
        return MemoryReader(int(self.options["rows"]), schema)


class MemoryReader(DataSourceReader):
    def __init__(self, rows: int, schema: StructType) -> None:
        self.rows = rows
        self.shape = Shape(schema, SourceOptions(path="/"))

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(TASKS)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        rows = 16_000
        offsets = range(rows)
        columns = [
            list(offsets),
            [f"e{n % 5}" for n in offsets],
            [None] * rows,
            [f"{n:016d}" for n in offsets],
            [BODY % n for n in offsets],
            [None] * rows,
            ["mqks"] * rows,
            [1_700_000_000_000_000 + n for n in offsets],
        ]
        arrays = [pa.array(c, field.type) for c, field in zip(columns, self.shape.target, strict=True)]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.shape.target)
        left = self.rows // TASKS
        while left > 0:
            yield batch.slice(0, min(rows, left))
            left -= rows


def timed(frame: DataFrame, target: Path) -> float:
    began = time.perf_counter()
    frame.write.mode("overwrite").parquet(str(target))
    return time.perf_counter() - began


def feeds(spark: SparkSession, directory: Path, server: str, rows: int) -> dict[str, Callable[[], DataFrame]]:
    per_task = -(-rows // TASKS)
    log = {"maxRecordsPerPartition": str(per_task)}
    schema = schema_of(SourceOptions(path="/")).json()
    memory = {"json_schema": schema, "rows": str(rows)}
    return {
        "memory (ceiling)": lambda: spark.read.format("bench_memory").options(**memory).load(),
        "log files": lambda: spark.read.format("penstock").options(path=str(directory / "data"), **log).load(),
        "broker, HTTP": lambda: spark.read.format("penstock").options(servers=server, **log).load(),
        "spark.read.parquet": lambda: spark.read.parquet(str(directory / "parquet")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--check", action="store_true", help=f"fail below {BAR} of the ceiling")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        directory = Path(scratch)
        write_log(directory / "data", options.rows)
        doors = [word for name in ("mqks", "smqs", "sevx", "mqmq", "rq", "any") for word in (f"--{name}", "off")]
        command = [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(directory / "data"), *doors]
        broker = subprocess.Popen([*command, "--http", "0", "--log-level", "error"], stdout=subprocess.PIPE, text=True)
        try:
            assert broker.stdout is not None
            port = json.loads(broker.stdout.readline().removeprefix("ready "))["http"]
            figures = measure(directory, f"http://127.0.0.1:{port}", options.rows, options.rounds)
        finally:
            broker.terminate()
            broker.wait()
    ceiling = figures["memory (ceiling)"]
    ratios = {n: statistics.median(f / c for f, c in zip(fs, ceiling, strict=True)) for n, fs in figures.items()}
    print(f"{options.rows:,} rows of {len(BODY % 0)} bytes to Parquet, {options.rounds} rounds, rows/s")
    for name, found in figures.items():
        print(f"  {name:<20} {statistics.median(found):>12,.0f}   {ratios[name]:.2f} x the ceiling")
    if options.json:
        options.json.write_text(json.dumps({"rows_per_second": figures, "ratios": ratios}, indent=2) + "\n")
    met = ratios["broker, HTTP"] >= BAR
    print(f"bar: broker over HTTP at least {BAR} of the ceiling: {'met' if met else 'MISSED'}")
    return 1 if options.check and not met else 0


def measure(directory: Path, server: str, rows: int, rounds: int) -> dict[str, list[float]]:
    spark = spark_session("bench", "local[2]", settings={"spark.driver.memory": "3g"})
    spark.dataSource.register(MemorySource)
    found: dict[str, list[float]] = {}
    try:
        every = feeds(spark, directory, server, rows)
        timed(every["log files"](), directory / "parquet")  # also warms up
        timed(every["memory (ceiling)"](), directory / "out")
        for _ in range(rounds):
            for name, feed in every.items():
                found.setdefault(name, []).append(rows / timed(feed(), directory / "out"))
    finally:
        spark.stop()
    return found


if __name__ == "__main__":
    sys.exit(main())
