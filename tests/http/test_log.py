"""The log over HTTP: as Arrow, up to the durable mark, by a process of its own."""

import http.client
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.http.connection import HttpConnection
from penstock.log.arrow import schema

from ..server.conftest import Client, RunningBroker
from .conftest import Api, Open

COLUMNS = ["offset", "event", "queue", "id", "body", "headers", "protocol", "published_at"]


@pytest.fixture(params=["lent", "forwarded"])
def logged(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    start_broker: Callable[..., RunningBroker],
    tmp_path: Path,
) -> RunningBroker:
    """A broker that lends the sockets of readers to the process that reads, or one that cannot."""
    if request.param == "forwarded":
        monkeypatch.setattr(HttpConnection, "lend", lambda self: None)
    return start_broker(memory=False, data=tmp_path, segment_bytes_max=20_000)


def read(api: Api, query: str = "") -> pa.Table:
    answer = api.get(f"/v1/log{query}")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/vnd.apache.arrow.stream")
    return pa.ipc.open_stream(answer.data).read_all()


def test_the_log_is_an_arrow_stream(logged: RunningBroker, open_api: Open) -> None:
    api = open_api(logged)
    api.post("/v1/publish", {"event": "e", "body": "one", "id": "m1", "headers": {"k": "v"}})
    api.put("q", "two")
    client = logged.connect("mqks")
    client.send(b"m3 publish --confirm e three\n")
    client.line()
    table = read(api)
    assert table.schema.equals(schema())
    assert table.schema.names == COLUMNS
    rows = table.to_pylist()
    assert [row["offset"] for row in rows] == [0, 1, 2]
    assert [row["body"] for row in rows] == [b"one", b"two", b"three"]
    assert [row["queue"] for row in rows] == [None, "q", None]
    assert [row["protocol"] for row in rows] == ["http", "http", "mqks"]
    assert (rows[0]["id"], rows[0]["event"], rows[0]["headers"]) == ("m1", "e", [("k", "v")])


def test_any_range_is_read_and_ranges_fit_together(logged: RunningBroker, open_api: Open) -> None:
    api = open_api(logged)
    for some in range(10):
        table = pa.table({"queue": ["q"] * 100, "body": [b"%d" % (some * 100 + n) for n in range(100)]})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        api.post("/v1/publish", sink.getvalue().to_pybytes(), content_type="application/vnd.apache.arrow.stream")
    assert len(api.get("/v1/log/segments").json["segments"]) > 1
    bodies: list[bytes] = []
    while len(bodies) < 1000:
        answer = api.get(f"/v1/log?from={len(bodies)}&to={len(bodies) + 170}")
        bodies += pa.ipc.open_stream(answer.data).read_all()["body"].to_pylist()
        assert answer.headers["penstock-next-offset"] == str(len(bodies))
    assert bodies == [b"%d" % number for number in range(1000)]
    assert read(api, "?from=1000").num_rows == 0
    assert read(api, "?from=7&to=7").num_rows == 0
    assert read(api, "?from=990&to=99999").num_rows == 10
    for query in ("from=1001", "from=5&to=4", "from=-1", "from=x", f"from={1 << 70}"):
        assert api.get(f"/v1/log?{query}").problem == "invalid"


def test_history_that_was_let_go_of_is_told(
    start_broker: Callable[..., RunningBroker], open_api: Open, tmp_path: Path
) -> None:
    broker = start_broker(memory=False, data=tmp_path, segment_bytes_max=20_000, retain_bytes=50_000)
    api = open_api(broker)
    for _ in range(30):
        api.put("q", "x" * 9000)
        assert api.post("/v1/queues/q/purge").json == {"purged": 1}
    first = api.until("/v1/log/offsets", lambda found: found["first_offset"] > 0)["first_offset"]
    refused = api.get("/v1/log?from=0")
    assert (refused.status, refused.problem) == (410, "trimmed")
    assert int(refused.json["hint"].rpartition("=")[2]) >= first  # more may have gone since
    assert read(api)["offset"][0].as_py() >= first


def test_offsets_are_found_by_time(logged: RunningBroker, open_api: Open) -> None:
    api = open_api(logged)
    api.put("q", *["x" * 3000] * 10)
    times = read(api)["published_at"].to_pylist()
    for offset, moment in enumerate(times):
        found = api.get(f"/v1/log/offsets?at={moment.isoformat().replace('+', '%2B')}").json
        assert found["offset"] == offset
    assert api.get("/v1/log/offsets?at=1990-01-01T00:00:00Z").json["offset"] == 0
    assert api.get("/v1/log/offsets?at=2990-01-01T00:00:00Z").json["offset"] == 10
    for wrong in ("yesterday", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00%2B12:00"):
        answer = api.get(f"/v1/log/offsets?at={wrong}")
        assert answer.problem == "invalid"
        assert answer.json["errors"][0]["field"] == "query.at"
    assert api.get("/v1/log/offsets").json["durable_offset"] == 10


def test_a_broker_without_a_log_says_so(api: Api) -> None:
    for path in ("/v1/log", "/v1/log/segments", "/v1/log/holes", "/v1/log/offsets?at=2026-01-01T00:00:00Z"):
        assert api.get(path).problem == "no-log"
    assert api.get("/v1/log/offsets").json["next_offset"] == 0


def test_a_reader_that_leaves_is_let_go(logged: RunningBroker, open_api: Open) -> None:
    api = open_api(logged)
    api.put("q", *["x" * (1 << 20)] * 8)
    client = logged.connect("http")
    client.send(b"GET /v1/log HTTP/1.1\r\nhost: localhost\r\n\r\n")
    client.read(1000)
    client.close()
    server = logged.node.http._server  # type: ignore[union-attr]
    assert server is not None
    readers = server.context.readers
    assert readers is not None
    deadline = time.monotonic() + 10
    while readers.streams:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert read(api).num_rows == 8


def test_a_damaged_log_ends_the_stream_visibly(logged: RunningBroker, open_api: Open, tmp_path: Path) -> None:
    """A stream that stops for a bad reason must not look like one that is over."""
    api = open_api(logged)
    api.put("q", *["x" * (1 << 20)] * 3, *["x" * 9000] * 12)
    damaged = sorted(tmp_path.glob("*.seg"))[3]
    data = bytearray(damaged.read_bytes())
    data[100] ^= 0xFF
    damaged.write_bytes(data)
    client = Client(logged.ports["http"])
    client.send(b"GET /v1/log HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert client.closed_by_peer()
    assert client.buffer.startswith(b"HTTP/1.1 200")
    assert len(client.buffer) > 3 << 20
    assert not client.buffer.endswith(b"0\r\n\r\n")
    client.close()
    refused = api.get("/v1/log?from=3")
    assert refused.problem == "log"
    assert damaged.name in refused.json["detail"]


def test_the_reading_process_is_started_again(logged: RunningBroker, open_api: Open) -> None:
    api = open_api(logged)
    api.put("q", "x")
    assert read(api).num_rows == 1
    process = logged.node.http._server.context.readers._process  # type: ignore[union-attr]
    assert process is not None
    logged.call(process.kill)
    deadline = time.monotonic() + 10
    while True:
        api.close()
        try:
            if api.get("/v1/log").status == 200:
                break
        except http.client.HTTPException:
            pass  # it may have been told to answer in the moment it was ended
        assert time.monotonic() < deadline
    assert read(api).num_rows == 1
