"""Does a working client notice a crowd of idle connections? `python -m bench.crowd`

2,000 unauthenticated connections, from forty loopback addresses: half send nothing, half send the start of a token at
one byte a second, to every port. The broker has its default limits, so it closes them after a while, and they
reconnect. Meanwhile one client publishes and consumes one message at a time, and each message is timed from publish
to delivery. Rounds with the crowd and without it alternate, since the machine has other work as well; the figure is
the ratio of the medians of the 99th percentiles.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import random
import resource
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from penstock.auth.file import UsersFile
from penstock.config import PROTOCOLS
from penstock.testing import BrokerProcess

ADDRESSES = 40
DOORS = (*PROTOCOLS, "any")
# The input that keeps each listener undecided for longest: the beginning of a token.
BEGINNINGS = {
    "mqks": b"a auth pst_",
    "any": b"a auth pst_",
    "sevx": b'a auth {"token": "pst_',
    "smqs": b"A:pst_",
    "mqmq": b"\0\0\0\x50\0\0\0\4Auth\0\0\0\x48pst_",
    "rq": b"\x01\xb0\x38pst_",
}
RATIO_MAX = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.crowd", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--connections", type=int, default=2000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="With the crowd, and as many without.")
    parser.add_argument("--messages", type=int, default=10_000, metavar="N", help="Timed in one round.")
    said = parser.parse_args(arguments)
    _allow_files()
    with tempfile.TemporaryDirectory() as directory, _broker(Path(directory)) as (ports, token):
        calm: list[float] = []
        crowded: list[float] = []
        worker = Worker(ports["mqks"], token)
        for number in range(said.rounds):
            calm.append(worker.p99(said.messages))
            with _crowd(ports, said.connections):
                crowded.append(worker.p99(said.messages))
            print(f"round {number + 1}: p99 {calm[-1]:.0f} us alone, {crowded[-1]:.0f} us in the crowd")
        worker.close()
    ratio = statistics.median(crowded) / statistics.median(calm)
    result = {
        "connections": said.connections,
        "p99_alone_us": round(statistics.median(calm), 1),
        "p99_crowded_us": round(statistics.median(crowded), 1),
        "ratio": round(ratio, 2),
    }
    print(json.dumps(result))
    return 0 if ratio <= RATIO_MAX else 1


class Worker:
    """A working client: publishes and consumes over MQKS, one message at a time."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(b"a auth %s\nc consume --confirm q e\n" % token.encode())
        self._read(b"c ok \n")

    def p99(self, count: int) -> float:
        """The 99th percentile of the time from publish to delivery, in microseconds."""
        times: list[int] = []
        for number in range(count):
            begun = time.perf_counter_ns()
            self._socket.sendall(b"%d publish e 0123456789abcdef\n" % number)
            self._read(b"cdef\n")
            times.append(time.perf_counter_ns() - begun)
        return sorted(times)[count * 99 // 100] / 1000

    def _read(self, end: bytes) -> None:
        data = b""
        while not data.endswith(end):
            more = self._socket.recv(65536)
            if not more:
                raise ConnectionError("the broker closed the connection of the client that works")
            data += more

    def close(self) -> None:
        self._socket.close()


@contextlib.contextmanager
def _broker(directory: Path) -> Iterator[tuple[dict[str, int], str]]:
    file = UsersFile(directory / "users.json")
    with file.edit() as users:
        users.add("worker")
        users.grant("worker", "publish e")
        users.grant("worker", "consume *")
        users.grant("worker", "declare q")
        token = users.create_token("worker", 0)
    process = BrokerProcess(users=file.path)
    process.start()
    try:
        yield process.ports, token
    finally:
        process.stop()


@contextlib.contextmanager
def _crowd(ports: dict[str, int], count: int) -> Iterator[None]:
    """Runs the crowd in a process of its own; all of it is connected before the block begins."""
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_be_many, args=(ports, count, ready), daemon=True)
    process.start()
    try:
        if not ready.wait(60):
            raise TimeoutError("the crowd did not come together")
        yield
    finally:
        process.terminate()
        process.join(30)


def _be_many(ports: dict[str, int], count: int, ready: "multiprocessing.synchronize.Event") -> None:
    _allow_files()
    asyncio.run(_gather(ports, count, ready))


async def _gather(ports: dict[str, int], count: int, ready: "multiprocessing.synchronize.Event") -> None:
    there: set[int] = set()
    loiterers = [asyncio.create_task(_loiter(number, ports, there)) for number in range(count)]
    while len(there) < count * 9 // 10:  # noqa: ASYNC110 some are reconnecting at any time
        await asyncio.sleep(0.05)
    ready.set()
    await asyncio.gather(*loiterers)


async def _loiter(number: int, ports: dict[str, int], there: set[int]) -> None:
    """Connects, sends nothing or next to nothing, and reconnects when closed."""
    door = DOORS[number % len(DOORS)]
    source = f"127.1.0.{number % ADDRESSES + 1}"
    await asyncio.sleep(random.random())
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", ports[door], local_addr=(source, 0))
        except OSError:
            await asyncio.sleep(0.5)
            continue
        there.add(number)
        with contextlib.suppress(OSError):
            if number // len(DOORS) % 2:
                await _speak_slowly(writer, BEGINNINGS[door])
            await reader.read()
        writer.close()
        there.discard(number)
        await asyncio.sleep(random.random())


async def _speak_slowly(writer: asyncio.StreamWriter, data: bytes) -> None:
    for byte in data:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)


def _allow_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    sys.exit(main())
