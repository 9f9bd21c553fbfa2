"""HTTP over TLS: the API, long answers, live streams, who may ask, and what is told of certificates."""

import http.client
import json
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.auth.file import UsersFile
from penstock.http.connection import HttpConnection
from penstock.wire.mqmq.codec import encode

from ..http.conftest import Answer, Api
from .conftest import Certificates, TlsBroker

Start = Callable[..., TlsBroker]
Open = Callable[[TlsBroker], Api]


class HttpsApi(Api):
    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self.port = port
        self.connection = http.client.HTTPSConnection("localhost", port, timeout=30, context=context)


@pytest.fixture
def open_api(ours: Certificates) -> Iterator[Open]:
    opened: list[Api] = []

    def connect(broker: TlsBroker) -> Api:
        api = HttpsApi(broker.ports["http"], ours.context())
        opened.append(api)
        return api

    yield connect
    for api in opened:
        api.close()


def test_requests_on_one_connection(broker: TlsBroker, open_api: Open) -> None:
    api = open_api(broker)
    api.declare("jobs", "orders")
    api.put("jobs", *(f"body {number}" for number in range(20)))
    assert api.queue("jobs")["ready"] == 20
    large = "x" * 2_000_000
    assert api.post("/v1/publish", {"queue": "jobs", "body": large}).status == 201
    assert api.get("/").text.startswith("<!doctype html>")


def test_the_log_comes_over_tls(start_broker: Start, open_api: Open, tmp_path: Path) -> None:
    broker = start_broker(memory=False, data=tmp_path / "data")
    api = open_api(broker)
    table = pa.table({"queue": ["q"] * 4000, "body": [b"%06d" % n + b"x" * 2000 for n in range(4000)]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    answer = api.post("/v1/publish", sink.getvalue().to_pybytes(), content_type="application/vnd.apache.arrow.stream")
    assert answer.status in (200, 201)
    for _ in range(2):  # the connection stays, unlike one whose socket was lent
        answer = api.get("/v1/log")
        assert (answer.status, answer.headers["penstock-next-offset"]) == (200, "4000")
        assert pa.ipc.open_stream(answer.data).read_all()["body"].to_pylist() == table["body"].to_pylist()


def test_a_reader_of_the_log_that_stops_reading_holds_nothing_up(
    start_broker: Start, open_api: Open, ours: Certificates, tmp_path: Path
) -> None:
    broker = start_broker(memory=False, data=tmp_path / "data")
    api = open_api(broker)
    publisher = broker.open("mqmq", ours.context())
    for _ in range(30):
        publisher.send(encode(b"Put", b"q", b"z" * (1 << 20)))
        publisher.read(len(encode(b"OK")))
    stuck = broker.open("http", ours.context())
    stuck.send(b"GET /v1/log HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert stuck.read(15) == b"HTTP/1.1 200 OK"
    assert api.get("/healthz").status == 200
    # What waits for it is some buffers, not the log.
    waiting = [
        each.transport.get_write_buffer_size()
        for each in broker.node.http._server._uvicorn.server_state.connections  # type: ignore[union-attr]
        if isinstance(each, HttpConnection)
    ]
    assert sum(waiting) < 8 << 20
    stuck.close()
    assert api.get("/v1/log/offsets").json["next_offset"] == 30


def test_live_samples_come_over_tls(broker: TlsBroker, ours: Certificates) -> None:
    client = broker.open("http", ours.context())
    client.send(b"GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    while not (line := client.line()).startswith(b"data: "):
        pass
    assert json.loads(line.removeprefix(b"data: "))


def test_only_the_page_of_this_very_broker_may_change_things(broker: TlsBroker, open_api: Open) -> None:
    api = open_api(broker)
    host = f"localhost:{api.port}"

    def purge(origin: str, **headers: str) -> Answer:
        return api.post("/v1/queues/q/purge", origin=origin, **headers)

    api.declare("q")
    assert purge(f"https://{host}").status == 200
    assert purge(f"http://{host}").problem == "cross-origin"
    assert purge("https://elsewhere.example").problem == "cross-origin"
    assert purge("https://evil.example", host="evil.example").problem == "wrong-host"


def test_metrics_tell_of_certificates_and_handshakes(start_broker: Start, open_api: Open, ours: Certificates) -> None:
    broker = start_broker(tls_ca=ours["ca.pem"])
    api = open_api(broker)
    broker.connect("mqks").send(b"no hello\n")
    (broker.directory / "server.key").write_bytes(b"nonsense")
    broker.reload()
    samples = dict(line.rsplit(" ", 1) for line in api.get("/metrics").text.splitlines() if not line.startswith("#"))
    expiry = "penstock_tls_certificate_expiry_timestamp_seconds"
    for labels in ('kind="cert",subject="CN=localhost"', 'kind="ca",subject="CN=Penstock development CA"'):
        assert 99 * 86_400 < float(samples[f"{expiry}{{{labels}}}"]) - broker.node.clock.now() / 1e6 < 101 * 86_400
    assert samples['penstock_tls_handshakes_total{result="done"}'] == "1"
    assert samples['penstock_tls_handshakes_total{result="failed"}'] == "1"
    assert int(samples['penstock_tls_reloads_total{result="failed"}']) >= 1
    assert samples["penstock_tls_handshakes"] == "0"


def test_a_certificate_is_a_user_over_http_too(start_broker: Start, ours: Certificates, tmp_path: Path) -> None:
    with UsersFile(tmp_path / "users.json").edit() as users:
        users.add("worker")
        users.grant("worker", "browse a.*")
        users.add_certificate("worker", "CN:worker-1")
        users.add("guest")
        token = users.create_token("guest", 0)
    broker = start_broker(users=tmp_path / "users.json", tls_ca=ours["ca.pem"])
    known = HttpsApi(broker.ports["http"], ours.context(ours))
    stranger = HttpsApi(broker.ports["http"], ours.context())
    try:
        me = known.get("/v1/me").json
        assert (me["user"], me["by"], me["which"]) == ("worker", "certificate", "CN:worker-1")
        assert known.get("/v1/queues").status == 200
        assert known.get("/v1/queues/b").problem == "denied"
        assert known.get("/v1/me", authorization=f"Bearer {token}").json["user"] == "guest"
        assert stranger.get("/v1/queues").problem == "unknown-user"
        with UsersFile(tmp_path / "users.json").edit() as users:
            users.remove_certificate("worker", "CN:worker-1")
        broker.call(broker.node.user_reloader.reload)
        assert known.get("/v1/queues").problem == "unknown-user"  # on the connection that is there
    finally:
        known.close()
        stranger.close()


def test_a_login_over_tls_is_for_tls_alone(
    start_broker: Start, open_api: Open, ours: Certificates, tmp_path: Path
) -> None:
    with UsersFile(tmp_path / "users.json").edit() as users:
        users.add("ada")
        token = users.create_token("ada", 0)
    broker = start_broker(users=tmp_path / "users.json", http_hosts="broker.example")
    api = open_api(broker)
    kept = api.post("/v1/session", {"token": token}).headers["set-cookie"]
    name, _, value = kept.partition(";")[0].partition("=")
    assert name == f"__Host-penstock-{broker.ports['http']}"
    assert "secure" in kept.lower()
    assert api.get("/v1/me", cookie=f"{name}={value}").json["user"] == "ada"
    assert api.get("/v1/me", cookie=f"{name.removeprefix('__Host-')}={value}").status == 401
    # A name that others may know is asked by TLS alone from now on; what runs on localhost besides is left in peace.
    assert "max-age" in api.get("/healthz", host="broker.example").headers["strict-transport-security"]
    assert "strict-transport-security" not in api.get("/healthz").headers
