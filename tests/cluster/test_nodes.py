"""Three nodes in processes of their own, on three real servers of NATS: killed, stopped, moved, and new ones."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .servers import Servers

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(180)]

PATIENCE_SECONDS = 40.0


class Node:
    """A process of `process.py`."""

    def __init__(self, name: str, directory: Path, servers: Servers) -> None:
        self.name = name
        self.directory = directory
        self._servers = servers
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.cluster.process", self.name, str(self.directory), "test"]
        with (self.directory.parent / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, ",".join(self._servers.addresses)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                bufsize=1,
            )
        self._said: queue.Queue[str] = queue.Queue()
        self.is_leading = False
        threading.Thread(target=self._listen, args=(self._process, self._said), daemon=True).start()

    def _listen(self, process: subprocess.Popen[str], said: "queue.Queue[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            words = line.split()
            if words[0] in ("leading", "deposed"):
                self.is_leading = words[0] == "leading"
            else:
                said.put(line.strip())

    def ask(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")

    def answer(self, seconds: float = PATIENCE_SECONDS) -> str:
        return self._said.get(timeout=seconds)

    def signal(self, number: int) -> None:
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self.is_leading = False
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def where(self) -> list[str]:
        self.ask("where")
        return self.answer().split()


class Cluster:
    def __init__(self, directory: Path, servers: Servers) -> None:
        self.nodes = [Node(name, directory / name, servers) for name in ("a", "b", "c")]

    def leader(self, but: Node | None = None) -> Node:
        """Wait until another node than this one leads."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for node in self.nodes:
                if node.is_leading and node is not but:
                    return node
            time.sleep(0.005)
        raise AssertionError("nobody leads")

    def wait_until_equal(self) -> None:
        """Wait until all have read all that is in the stream."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if len({tuple(node.where()[3:]) for node in self.nodes}) == 1:
                return
            time.sleep(0.05)
        raise AssertionError([node.where() for node in self.nodes])

    def segments(self) -> list[dict[str, bytes]]:
        return [{path.name: path.read_bytes() for path in node.directory.glob("*.seg")} for node in self.nodes]


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    running = Servers(tmp_path, 3).start()
    yield running
    running.stop()


@pytest.fixture
def cluster(servers: Servers, tmp_path: Path) -> Iterator[Cluster]:
    running = Cluster(tmp_path, servers)
    yield running
    for node in running.nodes:
        node.kill()


def put(node: Node, *names: str) -> None:
    for name in names:
        node.ask(f"put {name}")
    assert [node.answer() for _ in names] == [f"confirmed {name}" for name in names]


def take_all(node: Node) -> list[str]:
    taken: list[str] = []
    while True:
        node.ask("take")
        answer = node.answer()
        if answer == "taken nothing":
            return taken
        taken.append(answer.removeprefix("taken "))


def test_what_was_confirmed_survives_the_loss_of_leaders_and_of_a_directory(cluster: Cluster) -> None:
    first = cluster.leader()
    put(first, "one", "two", "three")
    first.ask("take")
    assert first.answer() == "taken one"
    first.kill()
    second = cluster.leader()
    put(second, "four")
    first.start()
    # It is asked to leave, and names the node that was killed before.
    cluster.wait_until_equal()
    second.ask(f"leave {first.name}")
    third = cluster.leader(but=second)
    assert third is first
    put(third, "five")
    # A node that has lost everything fetches it again.
    other = next(node for node in cluster.nodes if node not in (first, second))
    other.kill()
    for path in other.directory.iterdir():
        path.unlink()
    other.start()
    cluster.wait_until_equal()
    assert take_all(third) == ["two", "three", "four", "five"]
    cluster.wait_until_equal()
    segments = cluster.segments()
    assert segments[0] == segments[1] == segments[2]


def test_a_leader_that_was_stopped_for_long_confirms_nothing_more(cluster: Cluster) -> None:
    first = cluster.leader()
    put(first, "one")
    first.signal(signal.SIGSTOP)
    first.ask("put lost")
    second = cluster.leader(but=first)
    put(second, "two")
    first.signal(signal.SIGCONT)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while first.is_leading:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first.ask("put three")
    assert first.answer() == "refused put three"
    cluster.wait_until_equal()
    assert take_all(second) == ["one", "two"]


def test_the_servers_lose_their_leader_and_the_log_goes_on(cluster: Cluster, servers: Servers) -> None:
    leader = cluster.leader()
    put(leader, "one")
    for server in list(servers.servers):
        server.kill()
        time.sleep(0.5)
        server.start()
        put(cluster.leader(), f"after-{server.name}")
    cluster.wait_until_equal()
    taken = take_all(cluster.leader())
    assert taken == ["one", *[f"after-{server.name}" for server in servers.servers]]
