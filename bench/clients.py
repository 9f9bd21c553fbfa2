"""Cost of our own client: `penstock.client.mqks` on one side and raw sockets on the other, against raw sockets on both.

The client is used as its documentation shows, on asyncio's own loop: one coroutine publishes messages one by one
without confirmation, another iterates over a consumer. The rounds of one turn follow each other within seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

from bench.load import Job, Round, consume, publish, run_through
from bench.peers import Mode
from bench.peers.penstock import Mqks
from bench.results import Cell, Results
from bench.turns import latest, rotated, running, say
from bench.wire import HOST
from bench.workers import WorkerFailed
from penstock.client import mqks

SIZE = 100
BLOCKS_PER_SECOND = 200
"""Thousands of messages that a round has for each second it should take: what the client has to reach at least."""

RAW_FACTOR = 5
"""How many times as many messages raw sockets get, so that their round is not over in no time."""

ID_SIZE = 24


class Raw(Mqks):
    name = "raw sockets"


class ClientPublish(Mqks):
    """The client's message ids are its own, and longer than the generator's."""

    name = "client publishes"

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return super().delivery(b"0" * ID_SIZE, body)


class ClientConsume(Mqks):
    name = "client consumes"


ROWS = (Raw, ClientPublish, ClientConsume)


def run_clients(rounds: int, round_seconds: float, results: Results, topics: Iterator[bytes]) -> None:
    count = max(5, int(BLOCKS_PER_SECOND * round_seconds)) * 1000
    with running([Mqks], results) as servers:
        for server in servers:
            cells = {row.name: Cell(row.name, Mode.AUTO, SIZE) for row in ROWS}
            for turn in range(rounds):
                for row in rotated(list(ROWS), turn):
                    peer = row().share(server).for_round(Mode.AUTO, next(topics))
                    cells[row.name].rounds.append(
                        client_round(Job(peer, SIZE, count * (RAW_FACTOR if row is Raw else 1)))
                    )
                say(f"clients, round {turn + 1} of {rounds}: {latest(cells.values())}")
            results.clients = list(cells.values())


def client_round(job: Job) -> Round:
    """One round with the client on the side that the row names."""
    take = consume_by_client if isinstance(job.peer, ClientConsume) else consume
    give = publish_by_client if isinstance(job.peer, ClientPublish) else publish
    return run_through(job, take, give)


def publish_by_client(parent: Connection, job: Job) -> None:
    """Worker: publishes every message of the round with the client."""

    async def work() -> None:
        async with await mqks.connect(f"{HOST}:{job.peer.port}") as client:
            bodies = [job.peer.body(index, job.size) for index in range(job.count)]
            event = job.peer.topic
            parent.send("ready")
            parent.recv()
            started_ns, cpu = time.monotonic_ns(), time.process_time()
            for body in bodies:
                await client.publish(event, body)
            await client.flush()
            parent.send((started_ns, 0, time.process_time() - cpu))
            parent.recv()

    asyncio.run(work())


def consume_by_client(parent: Connection, job: Job) -> None:
    """Worker: iterates over all messages of the round with the client."""

    async def work() -> None:
        event = job.peer.topic
        async with (
            await mqks.connect(f"{HOST}:{job.peer.port}") as client,
            await client.consume(event, [event], delete_queue_when_unused=True) as consumer,
        ):
            parent.send("ready")
            parent.recv()
            started_ns, cpu = time.monotonic_ns(), time.process_time()
            last, left = b"", job.count
            async for message in consumer:
                left -= 1
                if not left:
                    last = message.data
                    break
            finished_ns, spent = time.monotonic_ns(), time.process_time() - cpu
            if last != job.peer.body(job.count - 1, job.size):
                raise WorkerFailed(f"the last of {job.count} messages is {last[:40]!r}")
            parent.send((started_ns, finished_ns, spent))

    asyncio.run(work())
