"""A broker per test, stopped without ceremony."""

import time
from collections.abc import Callable, Iterator

import pytest

from ..server.conftest import RunningBroker

Start = Callable[..., RunningBroker]


@pytest.fixture
def start_broker() -> Iterator[Start]:
    """Start a broker with settings of its own."""
    started: list[RunningBroker] = []

    def start(**settings: object) -> RunningBroker:
        running = RunningBroker(drain_seconds=0, **settings)
        running.start()
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop()


@pytest.fixture
def broker(start_broker: Start) -> RunningBroker:
    return start_broker()


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)
