"""A broker with an SMQS and an MQKS door, and no socket."""

import json
from typing import Any

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.wire.mqks.session import Mqks
from penstock.wire.session import Hub, ProtocolOptions, Session
from penstock.wire.smqs.session import Smqs


class World:
    def __init__(self, *, lose_undone: bool = False, **limits: Any) -> None:
        self.reports: list[dict[str, object]] = []
        self.broker = Broker(MemoryLog(), Limits(**limits))
        self.hub = Hub(
            self.broker,
            lambda level, event, details: self.reports.append(details),
            ProtocolOptions(smqs_lose_undone=lose_undone),
        )
        self.smqs = Smqs(self.hub)
        self.mqks = Mqks(self.hub)

    def client(self, *reads: bytes) -> Session:
        """A client that has sent these, each in a read of its own."""
        client = self.smqs.open("peer", 0)
        for read in reads:
            client.feed(read, 0)
        return client

    def other(self, *reads: bytes) -> Session:
        """A client of MQKS."""
        client = self.mqks.open("other", 0)
        for read in reads:
            client.feed(read, 0)
        return client

    def ask(self, client: Session, data: bytes) -> bytes:
        """What is in the outbox once the client has sent this."""
        client.feed(data, 0)
        return client.drain()

    def stats(self) -> dict[str, int]:
        probe = self.client(b"S::\n")
        counts = json.loads(probe.drain())
        probe.end(0)
        return counts

    def reasons(self) -> list[object]:
        return [details["reason"] for details in self.reports]


@pytest.fixture(scope="session")
def make_world():
    return World


@pytest.fixture
def world():
    return World()
