"""Kills what takes part in a Spark job, again and again, and checks that nothing is lost and nothing is there twice.

    .venv/bin/python -m scripts.spark_kill --rounds 20 --seed 1

One driver runs two queries at once: `archive`, from the log to Parquet, and a copy of every message of `in` to `out`
through the sink. In each round the driver, one of its Python workers, or the broker gets SIGKILL at a random moment;
then what died is started again. Meanwhile messages are published and their confirmations counted. In the end

    lost       a confirmed message is not in the log, the lake or the copies
    twice      a message is in the lake or among the copies more than once
    foreign    there is something that nobody published
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

BATCH = 50
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Broker:
    """Always on the same port, always on the same directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        doors = [word for name in ("mqks", "smqs", "sevx", "mqmq", "rq", "any") for word in (f"--{name}", "off")]
        command = [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(self.directory), *doors]
        self.process = subprocess.Popen(
            [*command, "--http", str(self.port), "--log-level", "error"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready"), line

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.communicate(timeout=60)
            self.process = None


class Publisher(threading.Thread):
    """Publishes numbered messages until told to stop, and knows which were confirmed."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.number = 0
        self.confirmed: set[int] = set()
        self.unsure: set[int] = set()
        self.over = threading.Event()

    def run(self) -> None:
        import pyarrow as pa

        while not self.over.is_set():
            numbers = range(self.number, self.number + BATCH)
            self.number += BATCH
            sink = pa.BufferOutputStream()
            batch = pa.RecordBatch.from_pydict({"event": ["in"] * BATCH, "body": [b"%d" % n for n in numbers]})
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            kind = {"content-type": "application/vnd.apache.arrow.stream"}
            request = urllib.request.Request(f"{self.url}/v1/publish", bytes(sink.getvalue()), kind)
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    response.read()
                self.confirmed |= set(numbers)
            except (OSError, urllib.error.URLError):
                self.unsure |= set(numbers)
            self.over.wait(0.3)


def start_driver(url: str, directory: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scripts.spark_kill", "--drive", url, "--directory", str(directory)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def drive(url: str, directory: Path) -> None:
    """Both queries, until they have caught up with what there was at their start."""
    from penstock.spark.pipelines import archive
    from penstock.spark.pipelines.job import Job
    from penstock.spark.session import spark_session

    settings = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": JAVA_OPTIONS}
    spark = spark_session("kill", "local[2]", settings=settings)
    source = spark.readStream.format("penstock").options(servers=url, events="in", maxOffsetsPerTrigger=1000)
    copies = source.load().selectExpr("'out' AS event", "body").writeStream.format("penstock")
    copies = copies.options(servers=url, checkpointLocation=str(directory / "copies"))
    print("driving", flush=True)
    query = copies.trigger(availableNow=True).start()
    job = Job(spark, "archive", server=url, to=str(directory / "lake"), once=True, show=False)
    job.source["maxOffsetsPerTrigger"] = "1000"
    archive.run(job)
    query.awaitTermination()
    print("done", flush=True)


def kill_group(driver: subprocess.Popen[str]) -> None:
    """The driver with its Java and its workers."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()


def workers_of(driver: subprocess.Popen[str]) -> list[int]:
    """The Python workers that Java has started for the driver."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, ProcessLookupError):
            if os.getpgid(int(path.name)) == driver.pid and b"pyspark.daemon" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return sorted(found)


def run(rounds: int, seed: int, directory: Path, tell: bool = True) -> list[str]:
    """What is wrong, in words; nothing when all is well."""
    chance = random.Random(seed)
    broker = Broker(directory / "data")
    broker.start()
    publisher = Publisher(broker.url)
    publisher.start()
    killed: Counter[str] = Counter()
    for number in range(rounds):
        whom = ("driver", "broker", "worker")[number % 3]
        driver = start_driver(broker.url, directory)
        assert driver.stdout is not None
        assert driver.stdout.readline() == "driving\n"
        time.sleep(chance.uniform(0.5, 12))
        if whom == "worker":
            workers = workers_of(driver)
            if workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(workers), signal.SIGKILL)
            time.sleep(chance.uniform(0, 3))
        if whom == "broker":
            broker.kill()
            broker.start()
            time.sleep(chance.uniform(0, 3))
        kill_group(driver)
        killed[whom] += 1
        if tell:
            print(f"round {number + 1}: killed {whom}, {len(publisher.confirmed)} confirmed", flush=True)
    publisher.over.set()
    publisher.join()
    for _ in range(2):  # the second one archives what the first one has copied
        finish(broker.url, directory)
    wrong = check(publisher, directory)
    broker.kill(signal.SIGTERM)
    if tell:
        print(json.dumps({"killed": killed, "confirmed": len(publisher.confirmed), "wrong": wrong[:10]}))
    return wrong


def finish(url: str, directory: Path) -> None:
    driver = start_driver(url, directory)
    assert driver.stdout is not None
    try:
        out, _ = driver.communicate(timeout=300)
        assert out.endswith("done\n"), out
    finally:
        kill_group(driver)


def check(publisher: Publisher, directory: Path) -> list[str]:
    import pyarrow.parquet as pq

    from penstock.log.reader import LogReader

    log = [(message.offset, message.event, int(message.body)) for message in LogReader(directory / "data").messages()]
    put = Counter(number for _, event, number in log if event == b"in")
    copied = Counter(number for _, event, number in log if event == b"out")
    rows = pq.read_table(directory / "lake", columns=["offset", "body", "event"]).to_pylist()
    lake = Counter((row["offset"], row["event"].encode(), int(row["body"])) for row in rows)
    wrong = [f"lost {number} from the log" for number in sorted(publisher.confirmed - set(put))]
    wrong += [f"foreign {number}" for number in sorted(set(put) - publisher.confirmed - publisher.unsure)]
    wrong += [f"{count - put[n]:+} copies of {n}" for n, count in (copied | put).items() if copied[n] != put[n]]
    wrong += [f"{lake[entry] - 1:+} of {entry} in the lake" for entry in log if lake[entry] != 1]
    return wrong + [f"foreign {entry} in the lake" for entry in lake.keys() - set(log)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--drive", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.drive:
        drive(arguments.drive, arguments.directory)
        return
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="penstock-kill-") as directory:
        sys.exit(1 if run(arguments.rounds, arguments.seed, Path(directory)) else 0)


if __name__ == "__main__":
    main()
