"""What do open consoles cost? `python -m bench.consoles`: throughput with ten of them, against none.

A console is simulated as the broker sees it: a live stream, and the overview's requests every two seconds. Browsers
are left out, since on one machine they would only measure rendering. Rounds alternate, so that other load on the
machine affects both alike.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from bench.load import Job, Round, run_round
from bench.machine import usage
from bench.peers import Mode
from bench.peers.penstock import Mqks
from bench.plan import message_count
from bench.wire import HOST
from bench.workers import Worker

CONSOLES = 10
POLL_SECONDS = 2.0
POLLED = ("/v1/overview", "/v1/queues?sort=-ready&limit=8")
SIZE = 16
TRIAL_COUNT = 200_000
IDLE_SECONDS = 4.0
READY_SECONDS = 30.0


class Watched(Mqks):
    """A broker with its HTTP port open."""

    http = "0"

    def __init__(self, durable: bool) -> None:
        super().__init__()
        self.durable = durable

    def storage(self, workdir: Path) -> list[str]:
        return ["--data", str(workdir / "data")] if self.durable else ["--memory"]

    @property
    def http_port(self) -> int:
        return self._ports["http"]


def watch(parent: Connection, port: int, count: int) -> None:
    """Keeps `count` consoles open until the parent is done. Reports how many samples arrived."""
    asyncio.run(_watch(parent, port, count))


async def _watch(parent: Connection, port: int, count: int) -> None:
    seen = [0] * count
    tasks = [asyncio.create_task(stream(port, index, seen)) for index in range(count)]
    tasks += [asyncio.create_task(poll(port)) for _ in range(count)]
    while not all(seen):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    parent.send("ready")
    await asyncio.get_running_loop().run_in_executor(None, parent.recv)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    parent.send(sum(seen))


async def stream(port: int, index: int, seen: list[int]) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(request("/v1/live"))
    while data := await reader.read(1 << 16):
        seen[index] += data.count(b"event: sample")


async def poll(port: int) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    while True:
        for path in POLLED:
            writer.write(request(path))
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
        await asyncio.sleep(POLL_SECONDS)


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: {HOST}\r\n\r\n".encode()


def measure(peer: Watched, consoles: int, count: int, topic: bytes) -> Round:
    job = Job(peer.for_round(Mode.AUTO, topic), SIZE, count)
    if not consoles:
        return run_round(job)
    with open_consoles(peer, consoles):
        return run_round(job)


@contextmanager
def open_consoles(peer: Watched, count: int) -> Iterator[None]:
    with Worker(watch, peer.http_port, count) as worker:
        worker.report(READY_SECONDS)
        yield
        worker.tell("done")
        worker.report(READY_SECONDS)


def idle_cpu(peer: Watched, consoles: int) -> float:
    """Percent of one core that an idle broker spends on `consoles` open consoles."""
    with open_consoles(peer, consoles):
        before, started = usage(peer.pid), time.monotonic()
        time.sleep(IDLE_SECONDS)
        spent = usage(peer.pid).since(before)
        seconds = time.monotonic() - started
    return 100 * spent.cpu / seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.consoles", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round; a sample comes each second")
    parser.add_argument("--durable", action="store_true", help="with --data, in place of --memory")
    options = parser.parse_args()
    peer = Watched(options.durable)
    rounds: dict[int, list[Round]] = {0: [], CONSOLES: []}
    with tempfile.TemporaryDirectory(prefix="bench-") as workdir:
        try:
            peer.start(Path(workdir))
            measure(peer, 0, TRIAL_COUNT, b"t0000")
            trial = measure(peer, 0, TRIAL_COUNT, b"t0001")
            count = message_count(trial.rate * options.seconds, SIZE)
            idle = idle_cpu(peer, CONSOLES)
            for turn in range(1, options.rounds + 1):
                for consoles in (0, CONSOLES) if turn % 2 else (CONSOLES, 0):
                    found = measure(peer, consoles, count, b"t%02d%02d" % (turn, consoles))
                    if found.failure:
                        print(found.failure, file=sys.stderr)
                        return 1
                    rounds[consoles].append(found)
                latest = [f"{rounds[consoles][-1].rate:,.0f} with {consoles}" for consoles in rounds]
                print(f"round {turn}: {', '.join(latest)}", file=sys.stderr)
        finally:
            peer.stop()
    kept = "durable" if options.durable else "memory"
    print(f"{peer.version()}, {kept}, MQKS, {SIZE}-byte bodies, {count:,} a round, median of {options.rounds} rounds")
    for consoles, measured in rounds.items():
        rate = statistics.median(one.rate for one in measured)
        spent = statistics.median(one.server.cpu / one.count for one in measured)
        print(f"{consoles:>3} open consoles {rate:>12,.0f} msg/s {spent * 1e6:>8.3f} server us/msg")
    print(f"an idle broker spends {idle:.1f} % of a core on {CONSOLES} of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
