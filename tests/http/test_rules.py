"""What holds for every request: who may ask, how errors look, how much may be sent."""

import http.client
import socket
from collections.abc import Callable

import pytest

from penstock.errors import CONFLICT, REFUSAL_CODES
from penstock.http import bodies
from penstock.http.problems import PROBLEMS

from ..server.conftest import RunningBroker
from .conftest import Api, Open


def test_a_broker_that_serves_is_healthy_and_ready(api: Api) -> None:
    assert api.get("/healthz").json == {"status": "ok"}
    assert api.get("/readyz").json == {"status": "ok", "reasons": []}


def test_a_broker_without_room_is_healthy_and_not_ready(broker: RunningBroker, api: Api) -> None:
    broker.call(lambda: broker.node.broker.shut("No space left"))
    assert api.get("/healthz").status == 200
    unready = api.get("/readyz")
    assert (unready.status, unready.json["reasons"]) == (503, ["No space left"])
    assert api.post("/v1/publish", {"event": "e", "body": ""}).problem == "no-room"
    assert api.get("/v1/overview").json["status"] == "degraded"


def test_http_can_be_switched_off(start_broker: Callable[..., RunningBroker]) -> None:
    assert "http" not in start_broker(http="off").ports


def test_every_refusal_of_the_core_has_its_answer() -> None:
    assert set(PROBLEMS) == {*REFUSAL_CODES, CONFLICT}


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""])
def test_a_name_that_is_not_ours_is_not_answered_to(api: Api, host: str) -> None:
    assert api.get("/v1/overview", host=host).problem == "wrong-host"
    assert api.post("/v1/publish", {"event": "e", "body": ""}, host=host).problem == "wrong-host"
    assert api.get("/metrics", host=host).status == 200


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:7780", "127.0.0.1", "[::1]:7780", "my.localhost", "10.0.0.7:80"]
)
def test_addresses_and_localhost_are_answered_to(api: Api, host: str) -> None:
    assert api.get("/v1/overview", host=host).status == 200


def test_more_names_can_be_given(start_broker: Callable[..., RunningBroker], open_api: Open) -> None:
    api = open_api(start_broker(http_hosts="broker.internal, Queue.Internal"))
    assert api.get("/v1/overview", host="broker.internal:7780").status == 200
    assert api.get("/v1/overview", host="queue.internal").status == 200
    assert api.get("/v1/overview", host="other.internal").status == 403


def test_a_page_from_elsewhere_cannot_change_anything(api: Api) -> None:
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}):
        assert api.ask("PUT", "/v1/queues/q", {}, **headers).problem == "cross-origin"
        assert api.ask("DELETE", "/v1/queues/q", **headers).problem == "cross-origin"
    # Another port of the same host is another page.
    assert api.ask("PUT", "/v1/queues/q", {}, origin="http://127.0.0.1:1").problem == "cross-origin"
    assert api.get("/v1/queues").json["total"] == 0
    assert api.ask("PUT", "/v1/queues/q", {}, origin=f"http://127.0.0.1:{api.port}").status == 201


def test_an_unknown_path_and_a_wrong_method_are_problems_too(api: Api) -> None:
    assert api.get("/v1/nothing").problem == "not-found"
    answer = api.post("/v1/overview")
    assert (answer.problem, answer.headers["allow"]) == ("method", "GET")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/publish", {"body": "neither"}, "body.event"),
        ("/v1/publish", {"event": "e", "queue": "q"}, "body.event"),
        ("/v1/publish", {"event": "e", "body": "x", "body_base64": "eA=="}, "body.body_base64"),
        ("/v1/publish", {"event": "e", "body_base64": "???"}, "body.body_base64"),
        ("/v1/publish", {"event": "e", "body": 5}, "body.body"),
        ("/v1/publish", {"event": "e", "wrong": 5}, "body.wrong"),
        ("/v1/publish", {"event": ""}, "body.event"),
        ("/v1/publish", [], "body"),
    ],
)
def test_what_is_wrong_is_named(api: Api, path: str, body: object, field: str) -> None:
    answer = api.post(path, body)
    assert (answer.status, answer.problem, answer.json["errors"][0]["field"]) == (422, "invalid", field)


def test_a_body_that_is_no_json_is_malformed(api: Api) -> None:
    answer = api.post("/v1/publish", b"{", content_type="application/json")
    assert (answer.status, answer.problem) == (400, "malformed")
    assert api.post("/v1/publish", b"x", content_type="text/plain").status == 415


def test_a_body_over_the_limit_is_refused_by_its_limit(
    start_broker: Callable[..., RunningBroker], open_api: Open
) -> None:
    api = open_api(start_broker(json_size_max=1000, body_size_max=100))
    assert "json_size_max is 1000" in api.post("/v1/publish", {"event": "e", "body": "x" * 1000}).json["detail"]
    assert "body_size_max is 100" in api.post("/v1/publish", {"event": "e", "body": "x" * 101}).json["detail"]
    assert api.post("/v1/publish", {"event": "e", "body": "x" * 100}).status == 201
    assert api.post("/v1/publish", {"event": "e" * 900, "body": ""}).status == 201


def test_a_body_that_is_refused_is_read_to_its_end_and_the_next_request_is_answered(broker: RunningBroker) -> None:
    client = http.client.HTTPConnection("127.0.0.1", broker.ports["http"], timeout=20)
    try:
        client.request("POST", "/v1/publish", b" " * (20 << 20), {"content-type": "application/json"})
        answer = client.getresponse()
        assert (answer.status, b"json_size_max" in answer.read()) == (413, True)
        client.request("GET", "/healthz")
        assert client.getresponse().status == 200
    finally:
        client.close()


def test_a_head_without_end_is_cut_off(broker: RunningBroker) -> None:
    with socket.create_connection(("127.0.0.1", broker.ports["http"]), timeout=10) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + 100 * (b"x-more: " + b"x" * 1000 + b"\r\n"))
        assert client.recv(1000).startswith(b"HTTP/1.1 431")
        assert client.recv(1000) == b""


def test_garbage_is_answered_and_ends_the_connection(broker: RunningBroker, api: Api) -> None:
    with socket.create_connection(("127.0.0.1", broker.ports["http"]), timeout=10) as client:
        client.sendall(b"\x00\x01\x02 nonsense\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400")
        assert client.recv(1000) == b""
    assert api.get("/healthz").status == 200


def test_a_body_that_does_not_come_is_given_up(
    broker: RunningBroker, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "IDLE_SECONDS", 0.05)
    api.get("/healthz")
    with socket.create_connection(("127.0.0.1", broker.ports["http"]), timeout=10) as client:
        client.sendall(b"POST /v1/publish HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
        assert client.recv(1000).startswith(b"HTTP/1.1 400")


def test_bodies_that_are_being_read_are_bounded_together(
    start_broker: Callable[..., RunningBroker], open_api: Open
) -> None:
    running = start_broker(memory_bytes_max=4000, line_size_max=3000)  # no line that is allowed alone is refused
    api = open_api(running)
    with socket.create_connection(("127.0.0.1", running.ports["http"]), timeout=10) as client:
        client.sendall(b"POST /v1/publish HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2500\r\n\r\n" + b" " * 2400)
        while api.post("/v1/publish", {"event": "e", "body": "x" * 2000}).status == 201:
            pass  # until those bytes are read
        assert api.post("/v1/publish", {"event": "e", "body": "x" * 2000}).problem == "over-limit"
    for _ in range(3):
        while api.post("/v1/publish", {"event": "e", "body": "x" * 2000}).status != 201:
            pass  # until it is seen that the client is gone
