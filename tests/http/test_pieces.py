"""What an HTTP client sends in one go is taken in pieces, and all of it is answered, in order."""

import json
import socket
import struct

import pytest

from ..server.conftest import Client, RunningBroker
from .conftest import Api, Open

HEALTH = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


def answers(client: Client, count: int) -> bytes:
    """What came once there are so many, all of which are JSON."""
    client.sock.settimeout(20)
    while client.buffer.count(b"HTTP/1.1 ") < count or not client.buffer.endswith(b"}"):
        client.buffer += client.sock.recv(1 << 20)
    return client.buffer


def test_a_thousand_requests_in_one_go_are_answered(broker: RunningBroker, api: Api) -> None:
    api.get("/healthz")
    client = broker.connect("http")
    client.send(HEALTH * 1000)
    assert answers(client, 1000).count(b"HTTP/1.1 200 OK") == 1000
    client.send(HEALTH)  # and it goes on
    assert answers(client, 1001).count(b"HTTP/1.1 200 OK") == 1001


@pytest.mark.parametrize("size", [100, 4000, 5000, 300_000])
def test_requests_with_bodies_are_done_in_order(broker: RunningBroker, api: Api, size: int) -> None:
    api.declare("q")
    client = broker.connect("http")
    count = 20
    sent = b""
    for number in range(count):
        body = json.dumps({"queue": "q", "body": f"{number} " + "x" * size}).encode()
        head = b"POST /v1/publish HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        sent += head + b"content-length: %d\r\n\r\n" % len(body) + body
    client.send(sent)
    assert answers(client, count).count(b"HTTP/1.1 201 Created") == count
    found = api.get("/v1/queues/q/messages?limit=100&body_max=5").json["messages"]
    assert [int(message["body"].split()[0]) for message in found] == list(range(count))


def test_a_body_in_chunks_of_one_byte_is_taken(broker: RunningBroker, api: Api) -> None:
    body = json.dumps({"queue": "q", "body": "x" * 20_000}).encode()
    client = broker.connect("http")
    head = b"POST /v1/publish HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    client.send(head + b"transfer-encoding: chunked\r\n\r\n")
    client.send(b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n" + HEALTH)
    text = answers(client, 2)
    assert (text.count(b"201 Created"), text.count(b"200 OK")) == (1, 1)


def test_who_asks_much_and_goes_leaves_no_trace(broker: RunningBroker, open_api: Open) -> None:
    api = open_api(broker)
    api.get("/healthz")
    for _ in range(5):
        client = broker.connect("http")
        client.send(b"GET /v1/queues HTTP/1.1\r\nhost: localhost\r\n\r\n" * 500)
        client.read(100)
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    for _ in range(50):
        assert api.get("/v1/overview").status == 200
    assert broker.reported("http.failed") == []
