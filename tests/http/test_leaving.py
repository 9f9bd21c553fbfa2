"""What a client over HTTP leaves behind when it goes: nothing that only the collector would find."""

import gc
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.http.connection import HttpConnection

from ..server.conftest import RunningBroker
from .conftest import Api, Open
from .test_access import until
from .test_places import places_of

Start = Callable[..., RunningBroker]


def connections() -> int:
    return sum(isinstance(found, HttpConnection) for found in gc.get_objects())


@pytest.mark.usefixtures("uncollected")
def test_a_connection_is_gone_with_its_client(start_broker: Start, open_api: Open) -> None:
    broker = start_broker()
    first = open_api(broker)
    first.get("/healthz")
    first.close()
    until(lambda: len(places_of(broker)) == 0)
    before = connections()
    clients: list[Api] = [open_api(broker) for _ in range(10)]
    for client in clients:
        assert client.get("/v1/queues").status == 200
    half = broker.connect("http")
    half.send(b"POST /v1/publish HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{")
    until(lambda: len(places_of(broker)) >= 11)
    assert connections() >= before + 11
    for client in clients:
        client.close()
    half.close()
    until(lambda: connections() <= before)


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("seconds", [0, 0.5], ids=["at once", "when the socket is full"])
def test_a_stream_of_the_log_is_over_when_its_client_has_gone(
    start_broker: Start, open_api: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(HttpConnection, "lend", lambda _: None)  # as over TLS: the broker itself passes the stream on
    broker = start_broker(memory=False, data=tmp_path)
    api = open_api(broker)
    for _ in range(8):
        api.put("jobs", "x" * 2_000_000)
    server = broker.node.http._server  # type: ignore[union-attr]
    assert server is not None
    readers = server.context.readers
    assert readers is not None
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", broker.ports["http"]))
        client.sendall(b"GET /v1/log HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
        assert readers.places.taken == 1
        time.sleep(seconds)
    until(lambda: readers.places.taken == 0)


@pytest.mark.usefixtures("uncollected")
def test_a_stream_of_samples_is_over_when_its_client_has_gone(start_broker: Start) -> None:
    broker = start_broker()
    http = broker.node.http
    assert http is not None
    client = broker.connect("http")
    client.send(b"GET /v1/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
    until(lambda: len(http.statistics.watchers) == 1)
    client.close()
    until(lambda: len(http.statistics.watchers) == 0)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/queues", None),
        ("PUT", "/v1/queues/q", {}),
        ("PUT", "/v1/queues/q", {"no_such_field": 1}),
        ("GET", "/v1/queues/none", None),
        ("GET", "/no/such/path", None),
        ("POST", "/v1/publish", {"queue": "q", "body": "x"}),
        ("POST", "/v1/stages", {"queue": "q", "body": "x"}),
        ("GET", "/v1/queues/q/messages", None),
        ("GET", "/metrics", None),
    ],
)
@pytest.mark.usefixtures("uncollected")
def test_a_request_is_gone_with_its_answer(
    start_broker: Start, open_api: Open, method: str, path: str, body: object
) -> None:
    api = open_api(start_broker())
    api.ask("PUT", "/v1/queues/q", {})
    api.ask(method, path, body)
    status = api.ask(method, path, body).status
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(20):
            assert api.ask(method, path, body).status == status
        gc.collect()
        left = Counter(type(found).__qualname__ for found in gc.garbage)
        assert max(left.values(), default=0) < 20, left  # the client's side of the test may leave something, once
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
