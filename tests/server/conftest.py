"""A real broker on real sockets: in this process for most tests, as a process of its own where it may be hurt."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from penstock.config import LISTENERS, Config
from penstock.node import Node

HANG_SECONDS = 40  # then it is not slow, it hangs; less than a test may take


class Client:
    """A plain socket with a buffer: what any client of any protocol has."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), HANG_SECONDS, (source, 0))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def read(self, count: int) -> bytes:
        """Exactly that many bytes."""
        while len(self.buffer) < count:
            self._more()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def line(self) -> bytes:
        """The next line, without its end."""
        while b"\n" not in self.buffer:
            self._more()
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def lines(self, count: int) -> list[bytes]:
        return [self.line() for _ in range(count)]

    def quiet(self, seconds: float = 0.1) -> bool:
        """True when nothing comes for that long."""
        return not self.buffer and not select.select([self.sock], [], [], seconds)[0]

    def closed_by_peer(self) -> bool:
        """True once the other side has closed; what came before is in `buffer`."""
        try:
            while data := self.sock.recv(1 << 16):
                self.buffer += data
        except ConnectionError:
            pass
        return True

    def close(self) -> None:
        self.sock.close()

    def _more(self) -> None:
        data = self.sock.recv(1 << 20)
        if not data:
            raise EOFError(f"closed by the broker after {self.buffer!r}")
        self.buffer += data


class RunningBroker:
    """A broker in a thread of this process; `connect("mqks")` gives a client of one of its doors."""

    def __init__(self, **settings: object) -> None:
        ports = dict.fromkeys(LISTENERS, 0)
        flags = {"memory": True, "log_level": "error", "drain_seconds": 0.2, **ports, **settings}
        self.config = Config.load(flags, {}, None)
        self.reports: list[tuple[str, str, dict[str, object]]] = []
        self.node: Node
        self.ports: dict[str, int] = {}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._clients: list[Client] = []

    def connect(self, protocol: str, source: str = "127.0.0.1") -> Client:
        client = Client(self.ports[protocol], source)
        self._clients.append(client)
        return client

    def reported(self, event: str) -> list[dict[str, object]]:
        return [details for _, name, details in self.reports if name == event]

    def call(self, function: Callable[[], object]) -> object:
        """Run a function on the broker's own thread."""

        async def run() -> object:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(HANG_SECONDS)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(HANG_SECONDS)

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(HANG_SECONDS)
        assert not self._thread.is_alive()
        for client in self._clients:
            client.close()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self.node = Node(self.config, lambda level, event, details: self.reports.append((level, event, details)))
        self.ports = await self.node.start()
        self._ready.set()
        await self._stop.wait()
        await self.node.stop()


class BrokerProcess:
    """`penstock serve` as users start it."""

    def __init__(self, *arguments: str, memory: bool = True) -> None:
        doors = [word for name in LISTENERS for word in (f"--{name}", "0")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "penstock.cli.main", "serve", *["--memory"][:memory], *doors, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_")},
        )
        assert self.process.stdout is not None
        word, _, ports = self.process.stdout.readline().partition(" ")
        assert word == "ready", self.process.communicate()[1]
        self.ports: dict[str, int] = json.loads(ports)
        self._clients: list[Client] = []

    def connect(self, protocol: str) -> Client:
        client = Client(self.ports[protocol])
        self._clients.append(client)
        return client

    def rss(self) -> int:
        """Resident bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def cpu_seconds(self) -> float:
        """What it has used of the processor."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def terminate(self) -> tuple[int, str]:
        """The exit code and the log after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        _, stderr = self.process.communicate(timeout=HANG_SECONDS)
        return self.process.returncode, stderr

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.communicate()
        for client in self._clients:
            client.close()


@pytest.fixture
def broker() -> Iterator[RunningBroker]:
    running = RunningBroker()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def start_broker() -> Iterator[Callable[..., RunningBroker]]:
    """Start a broker with settings of its own."""
    started: list[RunningBroker] = []

    def start(**settings: object) -> RunningBroker:
        running = RunningBroker(**settings)
        running.start()
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop()


@pytest.fixture
def start_process() -> Iterator[Callable[..., BrokerProcess]]:
    started: list[BrokerProcess] = []

    def start(*arguments: str, memory: bool = True) -> BrokerProcess:
        process = BrokerProcess(*arguments, memory=memory)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
