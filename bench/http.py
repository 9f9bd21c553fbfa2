"""The cost of monitoring the broker: `python -m bench.http`.

With 50,000 queues: how long `/metrics` and a sorted page of queues take, and the p99 of messages at 10,000 a second
while both are requested every second, against the same without. Then: how fast one reader gets the log, and the
message throughput meanwhile, against the same without.

Runs alternate, so that other load on the machine affects both sides alike.
"""

from __future__ import annotations

import argparse
import http.client
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pyarrow as pa

from bench.latency import Pace, run_latency
from bench.load import Job, run_round
from bench.peers.base import Missing
from bench.peers.penstock import Mqks
from bench.servers import Server, find_program
from bench.wire import HOST
from penstock.config import LISTENERS

ARROW = "application/vnd.apache.arrow.stream"
Pair = tuple[float, float]
PAGE = "/v1/queues?limit=50&sort=-ready"


class Watched(Mqks):
    """MQKS on a broker with a log and an HTTP port."""

    name = "penstock mqks, watched"

    def start(self, workdir: Path) -> None:
        program = find_program("penstock")
        if program is None:
            raise Missing("not installed: make setup")
        ports = [word for name in LISTENERS for word in (f"--{name}", "0")]
        self.server = Server([program, "serve", "--data", str(workdir / "data"), "--host", HOST, *ports], workdir)
        self.server.wait_until(self._is_ready)

    def get(self, path: str) -> tuple[float, int]:
        """Seconds and bytes of one request."""
        connection = http.client.HTTPConnection(HOST, self._ports["http"], timeout=120)
        started = time.perf_counter()
        connection.request("GET", path)
        response = connection.getresponse()
        view = memoryview(bytearray(4 << 20))
        size = 0
        while count := response.readinto(view):
            size += count
        assert response.status == 200, response.status
        connection.close()
        return time.perf_counter() - started, size

    def publish_batch(self, table: pa.Table) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        connection = http.client.HTTPConnection(HOST, self._ports["http"], timeout=120)
        connection.request("POST", "/v1/publish", sink.getvalue().to_pybytes(), {"content-type": ARROW})
        response = connection.getresponse()
        assert response.status == 201, response.read()
        connection.close()


@contextmanager
def beside(work: Callable[[], Pair]) -> Iterator[list[Pair]]:
    """A thread that repeats the work; yields the list of its results."""
    results: list[Pair] = []
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            results.append(work())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield results
    finally:
        over.set()
        thread.join()


def poll(peer: Watched) -> Pair:
    """Requests both, once a second; returns how long each took."""
    started = time.monotonic()
    metrics, _ = peer.get("/metrics")
    page, _ = peer.get(PAGE)
    time.sleep(max(0.0, 1 - (time.monotonic() - started)))
    return metrics, page


def measure_looking(peer: Watched, queues: int, rounds: int) -> None:
    names = [f"queue-{number}" for number in range(queues)]
    for first in range(0, queues, 10_000):
        some = names[first : first + 10_000]
        peer.publish_batch(pa.table({"queue": some * 2, "body": [b"x" * 50] * len(some) * 2}))
    pace = Pace(10_000, 5.0, 64)
    idle: list[float] = []
    polled: list[float] = []
    asked: list[Pair] = []
    for _ in range(rounds):
        idle.append(run_latency(peer, pace).p99)
        with beside(lambda: poll(peer)) as times:
            polled.append(run_latency(peer, pace).p99)
        asked += times
    print(f"{queues} queues, 10,000 messages a second, {rounds} rounds of 5 s each")
    print(f"  p99, nobody looks    {median(idle):8.0f} us  {[round(p) for p in idle]}")
    print(f"  p99, polled          {median(polled):8.0f} us  {[round(p) for p in polled]}")
    print(f"  ratio                {median(polled) / median(idle):8.2f}")
    for path, seconds in (("/metrics", [m for m, _ in asked]), (PAGE, [p for _, p in asked])):
        print(f"  median {median(seconds) * 1000:5.0f} ms, worst {max(seconds) * 1000:5.0f} ms   {path}")


def measure_reading(peer: Watched, rounds: int, count: int, size: int) -> None:
    job = Job(peer, size, count)
    run_round(job)  # gives the reader a log, in blocks as a busy broker writes them
    alone: list[float] = []
    disturbed: list[float] = []
    reads: list[Pair] = []
    for _ in range(rounds):
        alone.append(run_round(job).rate)
        with beside(lambda: peer.get("/v1/log")) as times:
            disturbed.append(run_round(job).rate)
        reads += times
    seconds, total = peer.get("/v1/log")
    print(f"messages of {size} bytes, {count} in a round, {rounds} rounds")
    print(f"  undisturbed          {median(alone):8.0f} msg/s  {[round(rate) for rate in alone]}")
    print(f"  while the log is read{median(disturbed):8.0f} msg/s  {[round(rate) for rate in disturbed]}")
    print(f"  ratio                {median(disturbed) / median(alone):8.2f}")
    print(f"  /v1/log              {median([b / s / 1e6 for s, b in reads]):8.0f} MB/s beside messages")
    print(f"  /v1/log              {total / seconds / 1e6:8.0f} MB/s alone, {total / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.http", description=__doc__)
    parser.add_argument("--queues", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=2_000_000, help="of a throughput round")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--only", choices=["looking", "reading"])
    options = parser.parse_args()
    for name, run in (
        ("looking", lambda peer: measure_looking(peer, options.queues, options.rounds)),
        ("reading", lambda peer: measure_reading(peer, options.rounds, options.messages, options.size)),
    ):
        if options.only in (None, name):
            with tempfile.TemporaryDirectory(prefix="penstock-bench-") as workdir:
                peer = Watched()
                peer.start(Path(workdir))
                try:
                    run(peer)
                finally:
                    assert peer.server is not None
                    peer.server.stop()


if __name__ == "__main__":
    main()
