"""What a client over HTTP leaves behind when it goes: nothing that only the collector would find."""

import gc
from collections.abc import Callable

from penstock.http.connection import HttpConnection

from ..server.conftest import RunningBroker
from .conftest import Api, Open
from .test_access import until
from .test_places import places_of

Start = Callable[..., RunningBroker]


def connections() -> int:
    return sum(isinstance(found, HttpConnection) for found in gc.get_objects())


def test_a_connection_is_gone_with_its_client(start_broker: Start, open_api: Open) -> None:
    broker = start_broker()
    first = open_api(broker)
    first.get("/healthz")
    first.close()
    until(lambda: len(places_of(broker)) == 0)
    gc.collect()
    gc.disable()
    try:
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
    finally:
        gc.enable()
