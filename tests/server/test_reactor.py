"""The reactor by itself: publishers that wait for a queue, and sessions that go wrong while others go on."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from penstock.clock import ManualClock
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.server.reactor import Reactor
from penstock.wire.session import Hub

from .conftest import RunningBroker


class Loop:
    """Does what it was asked to do later when the test says so."""

    def __init__(self) -> None:
        self.later: list[Callable[[], None]] = []

    def call_later(self, seconds: float, function: Callable[[], None]) -> "Loop":
        self.later.append(function)
        return self

    def cancel(self) -> None: ...

    def go_on(self) -> None:
        self.later.pop(0)()


class Publisher:
    def __init__(self) -> None:
        self.is_read = True

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


class Board:
    """A reactor with a queue in which messages wait."""

    def __init__(self) -> None:
        self.broker = Broker(MemoryLog(), Limits())
        for _ in range(9):
            self.broker.put(b"q", Message(b"m", b"q", b"", 0, "test"))
        self.loop = Loop()
        hub = Hub(self.broker, lambda level, event, details: None)
        self.reactor = Reactor(cast(asyncio.AbstractEventLoop, self.loop), hub, ManualClock(), 10)

    def is_waited_for(self) -> bool:
        """Whether a publisher waits for the queue; it does not any more after that."""
        publisher: Any = Publisher()
        self.reactor.slow_down(publisher, self.broker.queues[b"q"])
        return not publisher.is_read


def test_a_queue_that_gave_nothing_while_publishers_waited_for_it_is_not_waited_for_again_until_it_does() -> None:
    it = Board()
    assert it.is_waited_for()
    it.loop.go_on()
    assert not it.is_waited_for()
    assert it.broker.get(b"q") is not None
    assert it.is_waited_for()


def test_a_queue_that_gave_something_while_publishers_waited_for_it_is_waited_for_again() -> None:
    it = Board()
    assert it.is_waited_for()
    it.broker.subscribe(b"q", Inbox(credit=1), None, 0)
    it.loop.go_on()
    assert it.is_waited_for()


def test_publishers_that_waited_for_a_queue_are_read_again() -> None:
    it = Board()
    waiting: list[Any] = [Publisher(), Publisher()]
    for publisher in waiting:
        it.reactor.slow_down(publisher, it.broker.queues[b"q"])
    assert [publisher.is_read for publisher in waiting] == [False, False]
    it.loop.go_on()
    assert [publisher.is_read for publisher in waiting] == [True, True]


def test_a_session_that_cannot_be_ended_while_it_is_awake_is_told_of_and_cut_off(
    broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = broker.connect("smqs")
    client.send(b"S\n")
    client.line()
    other = broker.connect("mqks")
    other.send(b"1 ping here\n")
    assert other.line() == b"1 ok here"

    def fail() -> None:
        raise RuntimeError("no")

    def wake() -> None:
        reactor = broker.node.reactor
        (connection,) = [found for session, found in reactor.connections.items() if session.protocol == "smqs"]
        assert connection.session is not None
        connection.transport.close()
        reactor.hub.awake.append(connection.session)
        with monkeypatch.context() as patch:
            patch.setattr(connection, "end_session", fail)
            reactor.flush()

    broker.call(wake)
    assert client.closed_by_peer()
    (failed,) = broker.reported("session.failed")
    assert (failed["protocol"], failed["error"]) == ("smqs", "RuntimeError('no')")
    other.send(b"2 ping still\n")
    assert other.line() == b"2 ok still"
