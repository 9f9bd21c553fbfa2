"""A broker with an HTTP port, and a client that speaks to it as any program would."""

import gc
import http.client
import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from ..server.conftest import BrokerProcess, RunningBroker


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.data = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def text(self) -> str:
        return self.data.decode()

    @property
    def problem(self) -> str:
        """The type of the problem this answer is."""
        assert self.headers["content-type"] == "application/problem+json", self.data
        assert self.json["status"] == self.status
        assert self.json["detail"]
        return str(self.json["type"].removeprefix("/problems/"))


class Api:
    """One connection to the HTTP port."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send a request; a body that is not bytes goes as JSON."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("content-type", "application/json")
        self.connection.request(method, path, body, sent)
        return Answer(self.connection.getresponse())

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: object = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def declare(self, name: str, *events: str) -> None:
        assert self.ask("PUT", f"/v1/queues/{quote(name, safe='')}", {"events": list(events)}).status in (200, 201)

    def put(self, queue: str, *bodies: str) -> None:
        for body in bodies:
            assert self.post("/v1/publish", {"queue": queue, "body": body}).status == 201

    def queue(self, name: str) -> Any:
        return self.get(f"/v1/queues/{quote(name, safe='')}").json

    def until(self, path: str, wanted: Callable[[Any], bool]) -> Any:
        """The JSON behind the path, once it is as wanted."""
        deadline = time.monotonic() + 10
        while not wanted(found := self.get(path).json):
            assert time.monotonic() < deadline, found
            time.sleep(0.01)
        return found

    def close(self) -> None:
        self.connection.close()


Open = Callable[[RunningBroker | BrokerProcess], Api]


@pytest.fixture
def open_api() -> Iterator[Open]:
    opened: list[Api] = []

    def connect(broker: RunningBroker | BrokerProcess) -> Api:
        api = Api(broker.ports["http"])
        opened.append(api)
        return api

    yield connect
    for api in opened:
        api.close()


@pytest.fixture
def broker() -> Iterator[RunningBroker]:
    running = RunningBroker()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def api(broker: RunningBroker, open_api: Open) -> Api:
    return open_api(broker)


@pytest.fixture
def start_broker() -> Iterator[Callable[..., RunningBroker]]:
    started: list[RunningBroker] = []

    def start(**settings: object) -> RunningBroker:
        running = RunningBroker(**settings)
        running.start()
        started.append(running)
        return running

    yield start
    for running in started:
        if running.is_running():
            running.stop()


@pytest.fixture
def uncollected() -> Iterator[None]:
    """A client that goes must leave nothing that only the collector would end: it does not look meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


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
