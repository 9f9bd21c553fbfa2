"""A node's thread over a real stream, with a disk that fails."""

import asyncio
import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.clock import SystemClock
from penstock.cluster.connection import NatsOptions
from penstock.cluster.driver import Driver
from penstock.cluster.jetstream import JetStream
from penstock.cluster.member import LEADING
from penstock.cluster.replica import Replica
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.message import Message
from penstock.storage.disk import Disk

from .servers import Servers

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(60)]

PATIENCE_SECONDS = 20.0


class FullDisk(Disk):
    """Has room for no more segments once it is full."""

    is_full = False

    def write(self, handle: int, data: memoryview) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(handle, data)


class Node:
    def __init__(self, servers: Servers, name: str, directory: Path) -> None:
        self.broker: GuardedBroker | None = None
        self.replica: Replica
        self.lead = ""
        self.durable = 0
        self.failed = ""
        self.told: list[str] = []
        self.clock = SystemClock()
        options = NatsOptions(servers.addresses, replicas=1)
        self.driver = Driver(
            name,
            lambda: JetStream.connect(options, "driver", self.report, 2.0),
            self,
            directory,
            Limits(),
            1 << 20,
            self.report,
            SystemClock(),
        )
        self.disk = self.driver._disk = FullDisk(directory)

    def report(self, level: str, event: str, details: dict[str, object]) -> None:
        pass

    def on_lead(self, broker: GuardedBroker, replica: Replica, lead: str) -> None:
        self.told.append("lead")
        self.broker, self.replica, self.lead = broker, replica, lead

    def on_durable(self, position: int, next_offset: int) -> None:
        self.durable = position

    def on_deposed(self, reason: str) -> None:
        self.told.append("deposed")
        self.broker = None

    def on_failed(self, reason: str) -> None:
        self.told.append("failed")
        self.failed = reason

    def put(self) -> None:
        assert self.broker is not None
        self.broker.put(b"q", Message(b"1", b"q", b"body", self.clock.now(), "test"))
        self.broker.end_turn()
        self.replica.log.close_block(self.clock.now())
        self.driver.submit(self.lead, self.replica.log.take_closed())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


def test_nodes_whose_disks_are_full_say_so_and_confirm_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        with Servers(tmp_path) as servers:
            nodes = [Node(servers, name, tmp_path / name) for name in ("a", "b")]
            for node in nodes:
                node.driver.start(asyncio.get_running_loop())
            try:
                await until(lambda: any(node.broker is not None for node in nodes))
                leader = next(node for node in nodes if node.broker is not None)
                leader.put()
                await until(lambda: leader.durable > 0)
                for node in nodes:
                    node.disk.is_full = True
                confirmed = leader.durable
                leader.put()
                await until(lambda: all("No space left" in node.failed for node in nodes))
                assert leader.durable == confirmed
            finally:
                for node in nodes:
                    node.driver.stop()

    asyncio.run(test())


def test_after_stop_nothing_is_told_even_if_it_is_under_way(tmp_path: Path) -> None:
    async def test() -> None:
        with Servers(tmp_path) as servers:
            node = Node(servers, "a", tmp_path / "a")
            node.driver.start(asyncio.get_running_loop())
            deadline = time.monotonic() + PATIENCE_SECONDS
            while node.driver.member is None or node.driver.member.role != LEADING:
                assert time.monotonic() < deadline
                time.sleep(0.001)  # noqa: ASYNC251 - so that this loop has no turn in which it could be told
            node.driver.stop()
            await asyncio.sleep(0.1)
            assert node.told == []

    asyncio.run(test())


def test_a_driver_that_is_stopped_at_once_ends(tmp_path: Path) -> None:
    async def test() -> None:
        with Servers(tmp_path) as servers:
            node = Node(servers, "a", tmp_path / "a")
            node.driver.start(asyncio.get_running_loop())
            node.driver.stop()
            assert not node.driver._thread.is_alive()
            assert node.driver.member is None

    asyncio.run(test())


def test_what_is_submitted_after_the_thread_has_ended_is_dropped(tmp_path: Path) -> None:
    async def test() -> None:
        with Servers(tmp_path) as servers:
            node = Node(servers, "a", tmp_path / "a")
            node.disk.make = lambda: 1 / 0  # type: ignore[method-assign, assignment]
            node.driver.start(asyncio.get_running_loop())
            await until(lambda: node.failed != "" and not node.driver._thread.is_alive())
            node.driver.submit("a-1", [])
            node.driver.stop()

    asyncio.run(test())
