"""Kills processes of a Spark job, again and again, and checks that nothing is lost or duplicated.

    .venv/bin/python -m scripts.spark_kill --rounds 20 --seed 1

One driver runs two queries on a real standalone cluster: `archive`, from the log to Parquet, and a copy of every
message of `in` to `out` through the sink. In each round one of

    driver      with its JVM; restarted afterwards
    broker      restarted afterwards
    executor    a Java process of the cluster that runs tasks
    worker      a Python process that an executor has started, where our source and sink run

gets SIGKILL at a random moment; a driver that exits because of it is restarted too. Meanwhile messages are
published and their confirmations counted. The violations checked at the end:

    lost       a confirmed message is not in the log, the lake or the copies
    twice      a message is in the lake or among the copies more than once
    foreign    there is a message that nobody published
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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from scripts.spark_cluster import SETTINGS, Cluster, kill

from penstock.config import PROTOCOLS

BATCH = 20
LIMIT = "5000"
TARGETS = ("driver", "broker", "executor", "worker")
PAUSE_MAX = 3.0  # seconds of work before something is killed
IMPATIENCE = 0.25  # how often a round does not wait until the job has recovered
PATIENCE_SECONDS = 180


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_SECONDS} s, in vain: {what}")
        time.sleep(0.05)


class Broker:
    """Always uses the same port and directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        doors = [word for name in (*PROTOCOLS, "any") for word in (f"--{name}", "off")]
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

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            return json.loads(response.read())

    def all_read(self) -> bool:
        """Whether both queries have read everything."""
        try:
            end = self.ask("/v1/log/offsets")["durable_offset"]
            places = [cursor["reached"] for cursor in self.ask("/v1/cursors")["cursors"]]
        except OSError:
            return False
        return places == [end, end]


class Publisher(threading.Thread):
    """Publishes numbered messages until told to stop, and records which were confirmed."""

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
            self.over.wait(0.2)


class Driver:
    """The process that runs both queries; restarted when it has exited."""

    def __init__(self, url: str, master: str, directory: Path) -> None:
        command = [sys.executable, "-m", "scripts.spark_kill", "--drive", url, "--master", master]
        self._command = [*command, "--directory", str(directory)]
        self._directory = directory
        self._process: subprocess.Popen[str] | None = None
        self._batches: Counter[str] = Counter()
        self.starts = 0

    def start(self) -> None:
        self.starts += 1
        with (self._directory / "driver.log").open("a") as log:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
            )
        self._batches = Counter()
        threading.Thread(target=self._listen, args=(self._process, self._batches), daemon=True).start()

    def is_alive(self) -> bool:
        """Restarts the driver if it has exited."""
        assert self._process is not None
        if self._process.poll() is None:
            return True
        self.kill()
        self.start()
        return False

    def is_working(self) -> bool:
        """Whether each query has completed a batch since `forget`."""
        return self.is_alive() and len(self._batches) == 2

    def forget(self) -> None:
        self._batches.clear()

    def kill(self) -> None:
        """Kills the driver with its JVM and its children; its executors on the cluster exit by themselves."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Stops it as a user would."""
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(60)
        finally:
            self.kill()

    @staticmethod
    def _listen(process: subprocess.Popen[str], batches: Counter[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                if line.startswith("batch "):
                    batches[line.split()[1]] += 1


def drive(url: str, master: str, directory: Path) -> None:
    """Runs both queries until a signal arrives."""
    from penstock.spark.listener import PenstockListener
    from penstock.spark.pipelines import archive
    from penstock.spark.pipelines.job import Job
    from penstock.spark.session import spark_session

    spark = spark_session("kill", master, settings=SETTINGS)
    spark.streams.addListener(PenstockListener(tell=lambda report: print("batch", report.name, flush=True)))
    source = spark.readStream.format("penstock").options(servers=url, events="in", maxOffsetsPerTrigger=LIMIT)
    copies = source.option("cursor", "copies").load().selectExpr("'out' AS event", "body").repartition(2)
    written = copies.writeStream.format("penstock").queryName("copies")
    written = written.options(servers=url, checkpointLocation=str(directory / "copies"))
    query = written.trigger(processingTime="100 milliseconds").start()
    job = Job(spark, "archive", server=url, to=str(directory / "lake"), every=0.1, show=False)
    job.source["maxOffsetsPerTrigger"] = LIMIT

    def end_with_the_other() -> None:
        with contextlib.suppress(Exception):
            query.awaitTermination()
            return
        os._exit(1)

    threading.Thread(target=end_with_the_other, daemon=True).start()
    archive.run(job)
    query.stop()


class Outcome(NamedTuple):
    killed: dict[str, int]
    starts: int  # of the driver
    executors: int
    confirmed: int
    unsure: int
    wrong: list[str]  # as text


def run(rounds: int, seed: int, cluster: Cluster, directory: Path, tell: bool = True) -> Outcome:
    chance = random.Random(seed)
    broker = Broker(directory / "data")
    broker.start()
    publisher = Publisher(broker.url)
    publisher.start()
    killed: Counter[str] = Counter()
    driver = Driver(broker.url, cluster.address, directory)
    executors_before = cluster.executors_ever()
    driver.start()
    try:
        for whom in order(rounds, chance):
            if not killed or chance.random() >= IMPATIENCE:
                driver.forget()
                until(driver.is_working, "both queries do a batch")
            time.sleep(chance.uniform(0, PAUSE_MAX))
            if whom == "driver":
                driver.kill()
                driver.start()
            elif whom == "broker":
                broker.kill()
                broker.start()
            else:
                find = cluster.executors if whom == "executor" else cluster.python_workers
                kill(chance.choice(some(find, driver)))
            killed[whom] += 1
            if tell:
                print(f"{sum(killed.values())}: killed {whom}, {len(publisher.confirmed)} confirmed", flush=True)
        publisher.over.set()
        publisher.join()
        until(lambda: driver.is_alive() and broker.all_read(), "all was read")
        driver.end()
        wrong = check(publisher, directory)
    finally:
        publisher.over.set()
        driver.kill()
        broker.kill(signal.SIGTERM)
    ever = cluster.executors_ever() - executors_before
    found = Outcome(dict(killed), driver.starts, ever, len(publisher.confirmed), len(publisher.unsure), wrong)
    if tell:
        print(json.dumps(found._replace(wrong=wrong[:10])._asdict()))
    return found


def some(find: Callable[[], list[int]], driver: Driver) -> list[int]:
    """Waits until `find` returns something, and returns it."""
    found: list[int] = []

    def look() -> bool:
        found[:] = find()
        return driver.is_alive() and bool(found)

    until(look, "something runs on the cluster")
    return found


def order(rounds: int, chance: random.Random) -> list[str]:
    """The target of each round: all equally often, shuffled."""
    chosen = [TARGETS[number % len(TARGETS)] for number in range(rounds)]
    chance.shuffle(chosen)
    return chosen


def check(publisher: Publisher, directory: Path) -> list[str]:
    import pyarrow.parquet as pq

    from penstock.storage.reader import LogReader

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
    for hidden in ("--drive", "--master"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.drive:
        drive(arguments.drive, arguments.master, arguments.directory)
        return
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="penstock-kill-") as scratch, Cluster(Path(scratch, "cluster")) as cluster:
        found = run(arguments.rounds, arguments.seed, cluster, Path(scratch))
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
