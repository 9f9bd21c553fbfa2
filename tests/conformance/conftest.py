"""A broker per test, stopped without ceremony.

It keeps its log in memory; a module that has a fixture `log` of its own says otherwise.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ..server.conftest import RunningBroker

Start = Callable[..., RunningBroker]


@pytest.fixture
def log() -> str:
    return "memory"


@pytest.fixture
def start_broker(log: str, tmp_path: Path) -> Iterator[Start]:
    """Start a broker with settings of its own."""
    started: list[RunningBroker] = []
    place: dict[str, object] = {"memory": True} if log == "memory" else {"memory": False, "data": tmp_path}

    def start(**settings: object) -> RunningBroker:
        running = RunningBroker(**{"drain_seconds": 0, **place, **settings})
        running.start()
        started.append(running)
        return running

    yield start
    for running in started:
        if running._thread.is_alive():
            running.stop()


@pytest.fixture
def broker(start_broker: Start) -> RunningBroker:
    return start_broker()


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)
