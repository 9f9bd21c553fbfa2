"""Who has a place at the HTTP port, and who goes for whom when every place is taken."""

import json
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

from penstock.auth.rights import ADMIN
from penstock.http.places import HttpPlaces

from ..server.conftest import Client, RunningBroker
from .conftest import Api, Open
from .test_access import Guarded, bearer, until

Start = Callable[..., RunningBroker]

SLOW = b"POST /v1/publish HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n%s\r\n{"


def places_of(broker: RunningBroker) -> HttpPlaces:
    assert broker.node.http is not None
    server = broker.node.http._server
    assert server is not None
    return server.context.places


def receiving(broker: RunningBroker) -> int:
    return sum(connection.doing() == 1 for connection in list(places_of(broker)._all))


def slow_bodies(broker: RunningBroker, count: int, token: str = "") -> list[Client]:
    """Requests whose bodies do not come, all of which are seen."""
    header = b"authorization: Bearer %s\r\n" % token.encode() if token else b""
    before = receiving(broker)
    clients = []
    for number in range(count):
        clients.append(broker.connect("http"))
        clients[-1].send(SLOW % header)
        until(lambda: receiving(broker) == before + number + 1)  # noqa: B023
    return clients


def test_slow_bodies_keep_nobody_out(start_broker: Start, open_api: Open) -> None:
    broker = start_broker(http_connections_max=4)
    first = open_api(broker)
    first.get("/healthz")
    first.close()
    until(lambda: len(places_of(broker)) == 0)
    clients = slow_bodies(broker, 4)
    health = open_api(broker)
    for path in ("/healthz", "/readyz", "/metrics"):
        answer = health.get(path)
        assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert receiving(broker) == 4  # and nobody had to go for that
    api = open_api(broker)
    assert api.get("/v1/overview").status == 200
    assert clients[0].closed_by_peer()  # the one that has taken longest
    assert clients[0].buffer.startswith(b"HTTP/1.1 503")
    assert b"http_connections_max" in clients[0].buffer
    assert receiving(broker) == 3
    assert api.get("/v1/overview").status == 200  # it has its place now
    assert places_of(broker).crowded_out == 1


def test_whoever_has_most_makes_room_for_others(tmp_path: Path, open_api: Open) -> None:
    broker = Guarded(tmp_path / "users.json", http_connections_max=4)
    broker.start()
    try:
        broker.api().close()
        until(lambda: len(places_of(broker)) == 0)
        ann = broker.add("ann", "publish *", "browse *")
        bob = bearer(broker.add("bob", "browse *"))
        root = bearer(broker.add("root", ADMIN))
        slow = slow_bodies(broker, 4, ann)
        api = open_api(broker)
        assert api.get("/v1/me", **bob).status == 200
        assert slow[0].closed_by_peer()
        streams = []
        for client in slow[1:]:
            client.close()
        until(lambda: receiving(broker) == 0)
        for _ in range(3):
            streams.append(broker.connect("http"))
            streams[-1].send(
                b"GET /v1/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer %s\r\n\r\n" % ann.encode()
            )
            assert b"200" in streams[-1].line()
        another = open_api(broker)  # all of them are being answered, or belong to who has fewer
        answer = another.get("/v1/me", **bearer(broker.add("eve")))
        assert (answer.status, answer.problem) == (503, "no-place")
        operator = open_api(broker)
        assert operator.get("/v1/users", **root).status == 200
    finally:
        broker.stop()


def test_a_body_has_to_come_at_some_rate(start_broker: Start, open_api: Open) -> None:
    broker = start_broker(http_body_rate_min=100)
    first = open_api(broker)
    first.get("/healthz")
    first.close()
    slow, quick = slow_bodies(broker, 2)
    quick.send(b"x" * 5000)
    places = places_of(broker)
    until(lambda: any(connection._received > 5000 for connection in list(places._all)))
    broker.call(lambda: places.look(broker._loop.time() + 9))
    assert (receiving(broker), places.slow) == (2, 0)
    broker.call(lambda: places.look(broker._loop.time() + 20))
    assert slow.closed_by_peer()
    assert slow.buffer.startswith(b"HTTP/1.1 408")
    assert (receiving(broker), places.slow) == (1, 1)


def test_an_answer_has_to_be_taken(start_broker: Start, open_api: Open) -> None:
    broker = start_broker()
    api = open_api(broker)
    for _ in range(12):
        api.put("big", "x" * (1 << 20))
    client = broker.connect("http")
    client.send(b"GET /v1/queues/big/messages?limit=20&body_max=2000000 HTTP/1.1\r\nhost: localhost\r\n\r\n")
    places = places_of(broker)

    def unsent() -> int:
        return max([connection.transport.get_write_buffer_size() for connection in list(places._all)], default=0)

    until(lambda: unsent() > 0)
    now = broker.call(lambda: broker._loop.time())
    for seconds in (0, 29, 31):
        assert places.slow == 0
        broker.call(lambda: places.look(float(str(now)) + seconds))  # noqa: B023
    assert places.slow == 1
    assert json.loads(api.get("/healthz").text) == {"status": "ok"}


def test_answers_that_are_not_taken_keep_nobody_out(start_broker: Start, open_api: Open) -> None:
    broker = start_broker(http_connections_max=3)
    api = open_api(broker)
    for _ in range(12):
        api.put("big", "x" * (1 << 20))
    api.close()
    until(lambda: len(places_of(broker)) == 0)
    clients = [broker.connect("http") for _ in range(3)]
    for client in clients:
        client.send(b"GET /v1/queues/big/messages?limit=20&body_max=2000000 HTTP/1.1\r\nhost: localhost\r\n\r\n")
    places = places_of(broker)
    until(lambda: sum(c.transport.get_write_buffer_size() > 0 for c in list(places._all)) == 3)
    api = open_api(broker)
    assert api.get("/v1/queues").status == 503  # all of them are being answered
    api.close()
    now = broker.call(lambda: broker._loop.time())
    for seconds in (-4, -3):  # that they do not take anything was seen before
        broker.call(lambda: places.look(float(str(now)) + seconds))  # noqa: B023
    assert open_api(broker).get("/v1/queues").status == 200
    assert places.crowded_out == 1
    for client in clients:
        client.close()


def test_nobody_takes_every_stream_lease_or_stage(tmp_path: Path, open_api: Open) -> None:
    broker = Guarded(tmp_path / "users.json", memory=False, data=tmp_path / "data")
    broker.start()
    try:
        broker.api().close()
        many, few = broker.add("ann", ADMIN), broker.add("bob", ADMIN)
        api = open_api(broker)
        assert api.ask("PUT", "/v1/queues/q", {}, **bearer(many)).status == 201
        for number in range(20):
            body = {"queue": "q", "body": "x" * (1 << 20), "id": str(number)}
            assert api.post("/v1/publish", body, **bearer(many)).status == 201
        server = broker.node.http._server  # type: ignore[union-attr]
        assert server is not None
        readers = server.context.readers
        assert readers is not None
        readers.places.most = 4
        unread = []
        for number in range(2):
            unread.append(broker.connect("http"))
            head = b"host: localhost\r\nauthorization: Bearer %s\r\n\r\n" % many.encode()
            unread[-1].send(b"GET /v1/log HTTP/1.1\r\n" + head)
            until(lambda: readers.streams == number + 1)  # noqa: B023
        refused = api.get("/v1/log", **bearer(many))
        assert refused.problem == "over-limit"
        assert refused.json["detail"] == "user 'ann' has 2 of 4 streams of the log (2 reserved for others)"
        assert open_api(broker).get("/v1/log?to=1", **bearer(few)).status == 200
        for client in unread:
            client.close()
    finally:
        broker.stop()


def test_no_address_brings_every_writer(start_broker: Start, open_api: Open) -> None:
    broker = start_broker(writers_per_user_max=4)
    api, other = open_api(broker), open_api(broker)
    other.connection = HTTPConnection("127.0.0.1", other.port, timeout=20, source_address=("127.0.0.2", 0))

    def commit(by: Api, writer: str, batch: int = 1) -> int:
        return by.post("/v1/commits", {"writer": writer, "batch": batch, "stages": []}).status

    assert [commit(api, writer) for writer in ("a", "b", "c")] == [201, 201, 429]
    refused = api.post("/v1/commits", {"writer": "c", "batch": 1, "stages": []})
    assert "address 127.0.0.1 has 2 of 4 writers" in refused.json["detail"]
    assert "writers_per_user_max is 4" in refused.json["detail"]
    assert commit(api, "a", 2) == 201  # whoever is known goes on
    assert commit(other, "c") == 201
    assert api.ask("DELETE", "/v1/commits/a").status == 200
    assert commit(api, "d") == 201
