"""How fast the log becomes Parquet: the section `spark`, and `python -m bench.spark [--rows N] [--rounds N]`.

The question is what our source costs, not how fast Spark writes. So the same job also reads from a Python source that
yields ready-made Arrow batches of the same shape from memory, which is as fast as Spark's API for Python sources can
be, and from Spark's own Parquet reader. Rounds are interleaved; a ratio is taken within a round, and the median of
the ratios is reported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from bench.results import Tables
from bench.tables import CEILING, FILES, HTTP, PARQUET
from bench.turns import directory, rotated
from penstock.config import PROTOCOLS
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.header import marked
from penstock.message import Message
from penstock.spark.options import SourceOptions
from penstock.spark.schema import Shape, schema_of
from penstock.spark.session import spark_session
from penstock.storage.durable import DurableLog

BODY = b'{"id": %d, "item": "turbine", "price": 12.5, "note": "' + b"x" * 140 + b'"}'
BLOCK = 1000  # messages
TASKS = 4


def write_log(data: Path, rows: int) -> None:
    """Writes a log as a busy broker would."""
    data.mkdir()
    log = DurableLog(128 << 20)
    broker = Broker(log, Limits())
    now = time.time_ns() // 1000
    for first in range(0, rows, BLOCK):
        for number in range(first, min(first + BLOCK, rows)):
            broker.publish(Message(b"%016d" % number, b"e%d" % (number % 5), BODY % number, now + number, "mqks"))
        log.close_block(now + first)
        for pending in log.take_closed():
            with (data / pending.segment).open("ab") as file:
                file.write(b"".join(marked(pending.data())))


class MemorySource(DataSource):
    """Prebuilt batches in the shape of the log."""

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


def feeds(spark: SparkSession, scratch: Path, server: str, rows: int) -> dict[str, Callable[[], DataFrame]]:
    per_task = -(-rows // TASKS)
    log = {"maxRecordsPerPartition": str(per_task)}
    schema = schema_of(SourceOptions(path="/")).json()
    memory = {"json_schema": schema, "rows": str(rows)}
    return {
        CEILING: lambda: spark.read.format("bench_memory").options(**memory).load(),
        FILES: lambda: spark.read.format("penstock").options(path=str(scratch / "data"), **log).load(),
        HTTP: lambda: spark.read.format("penstock").options(servers=server, **log).load(),
        PARQUET: lambda: spark.read.parquet(str(scratch / "parquet")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    with directory() as scratch:
        write_log(scratch / "data", options.rows)
        with serving(scratch / "data") as server:
            figures = measure(scratch, server, options.rows, options.rounds)
    found = Tables(options.rows, len(BODY % 0), figures)
    print(f"{found.rows:,} rows of {found.size} bytes to Parquet, {options.rounds} rounds, rows/s")
    for name in figures:
        print(f"  {name:<20} {found.rate(name):>12,.0f}   {found.ratio(name, CEILING):.2f} x the ceiling")
    if options.json:
        options.json.write_text(json.dumps({"size": found.size, "rows_per_second": figures}, indent=2) + "\n")
    return 0


@contextmanager
def serving(data: Path) -> Iterator[str]:
    """Runs a broker on that log and yields its address."""
    doors = [word for name in (*PROTOCOLS, "any") for word in (f"--{name}", "off")]
    command = [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(data), *doors]
    broker = subprocess.Popen([*command, "--http", "0", "--log-level", "error"], stdout=subprocess.PIPE, text=True)
    try:
        assert broker.stdout is not None
        yield f"http://127.0.0.1:{json.loads(broker.stdout.readline().removeprefix('ready '))['http']}"
    finally:
        broker.terminate()
        broker.wait()


def measure(scratch: Path, server: str, rows: int, rounds: int) -> dict[str, list[float]]:
    spark = spark_session("bench", "local[2]", settings={"spark.driver.memory": "3g"})
    spark.dataSource.register(MemorySource)
    found: dict[str, list[float]] = {}
    try:
        every = feeds(spark, scratch, server, rows)
        timed(every[FILES](), scratch / "parquet")  # also the warm-up
        timed(every[CEILING](), scratch / "out")
        for turn in range(rounds):
            for name in rotated(list(every), turn):
                found.setdefault(name, []).append(rows / timed(every[name](), scratch / "out"))
    finally:
        spark.stop()
    return found


if __name__ == "__main__":
    sys.exit(main())
