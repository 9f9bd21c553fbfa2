"""Messages in over HTTP, out over the other protocols."""

import base64
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.http.publish import SLICE, parts_of

from ..server.conftest import RunningBroker
from .conftest import Api, Open

ARROW = "application/vnd.apache.arrow.stream"


def stream_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_what_comes_in_by_http_goes_out_by_another_protocol(broker: RunningBroker, api: Api) -> None:
    api.declare("q", "greeting")
    answer = api.post("/v1/publish", {"event": "greeting", "body": "hello", "id": "m1"})
    assert (answer.status, answer.json["id"], answer.json["queues"]) == (201, "m1", 1)
    client = broker.connect("mqks")
    client.send(b"c consume q greeting\n")
    assert b"m1 event=greeting hello" in client.line()


def test_bytes_come_as_base64(broker: RunningBroker, api: Api) -> None:
    body = bytes(range(256))
    answer = api.post("/v1/publish", {"queue": "q", "body_base64": base64.b64encode(body).decode()})
    assert answer.json["published"] == 1
    message = broker.call(lambda: broker.node.broker.get(b"q"))
    assert message.body == body  # type: ignore[attr-defined]


def test_a_message_nobody_wants_is_told_so(api: Api) -> None:
    assert api.post("/v1/publish", {"event": "nobody", "body": ""}).json["queues"] == 0


def test_a_message_is_put_into_a_queue_by_its_path(api: Api) -> None:
    assert api.post("/v1/queues/a%2Fb/messages", {"body": "x"}).json["queues"] == 1
    assert api.queue("a/b")["ready"] == 1
    assert api.post("/v1/queues/a%2Fb/messages", {"body": "x", "queue": "q"}).problem == "invalid"


def test_a_full_queue_refuses_by_the_name_of_its_limit(start_broker, open_api: Open) -> None:
    api = open_api(start_broker(queue_length_max=2))
    api.put("q", "1", "2")
    answer = api.post("/v1/publish", {"queue": "q", "body": "3"})
    assert (answer.status, answer.problem) == (429, "over-limit")
    assert "queue_length_max is 2" in answer.json["detail"]


def test_a_batch_comes_as_arrow(broker: RunningBroker, api: Api) -> None:
    api.declare("q", "e")
    table = pa.table(
        {
            "event": ["e"] * 1500 + [None],
            "queue": [None] * 1500 + ["direct"],
            "id": [str(n) for n in range(1501)],
            "body": [b"%d" % n for n in range(1501)],
            "headers": pa.array([[("k", "v")]] * 1501, pa.map_(pa.string(), pa.string())),
        }
    )
    answer = api.post("/v1/publish", stream_of(table), content_type=ARROW)
    assert answer.json == {"published": 1501, "refused": 0, "deduplicated": 0, "first_offset": 0, "next_offset": 1501}
    assert (api.queue("q")["ready"], api.queue("direct")["ready"]) == (1500, 1)
    first = broker.call(lambda: broker.node.broker.get(b"q"))
    assert (first.id, first.body, first.headers) == (b"0", b"0", {b"k": b"v"})  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"body": [b"x"]}),
        pa.table({"event": ["e"], "wrong": [1]}),
        pa.table({"event": pa.array([None], pa.string()), "body": [b"x"]}),
        pa.table({"event": [""], "body": [b"x"]}),
        pa.table({"event": pa.array(["e"]).dictionary_encode(), "body": [b"x"]}),
        pa.table({"event": ["e"], "body": pa.array(["x"], pa.string_view())}),
        pa.table({"event": ["e"], "body": [1]}),
    ],
)
def test_a_batch_that_is_no_messages_is_refused_whole(api: Api, table: pa.Table) -> None:
    assert api.post("/v1/publish", stream_of(table), content_type=ARROW).problem == "invalid"
    assert api.get("/v1/overview").json["counters"]["published"] == 0


def test_what_is_no_arrow_is_malformed(api: Api) -> None:
    good = stream_of(pa.table({"event": ["e"] * 50, "body": [b"x" * 20] * 50}))
    assert api.post("/v1/publish", b"", content_type=ARROW).problem == "malformed"
    assert api.post("/v1/publish", good[: len(good) // 2], content_type=ARROW).status in (400, 422)
    for place in range(0, len(good), 7):
        broken = good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :]
        assert api.post("/v1/publish", broken, content_type=ARROW).status in (201, 400, 422), place
    assert api.get("/healthz").status == 200


def test_what_was_sent_is_all_there_is(api: Api) -> None:
    """A little that stands for very much is not taken: compressed buffers, more rows than anybody sends."""
    table = pa.table({"event": ["e"] * 1000, "body": [b"x" * 1000] * 1000})
    for codec in ("lz4", "zstd"):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_table(table)
        answer = api.post("/v1/publish", sink.getvalue().to_pybytes(), content_type=ARROW)
        assert (answer.problem, "compressed" in answer.json["detail"]) == ("malformed", True)
    many = pa.table({"event": pa.array(["e"] * 200_001)})
    assert api.post("/v1/publish", stream_of(many), content_type=ARROW).problem == "too-large"
    assert api.get("/v1/overview").json["counters"]["published"] == 0


def test_large_types_are_taken(api: Api) -> None:
    columns = {"queue": pa.array(["q"], pa.large_string()), "body": pa.array([b"x"], pa.large_binary())}
    assert api.post("/v1/publish", stream_of(pa.table(columns)), content_type=ARROW).json["published"] == 1


def test_a_full_queue_refuses_its_part_of_a_batch(start_broker, open_api: Open) -> None:
    api = open_api(start_broker(queue_length_max=3))
    table = pa.table({"queue": ["full"] * 5 + ["roomy"], "body": [b"x"] * 6})
    answer = api.post("/v1/publish", stream_of(table), content_type=ARROW)
    assert (answer.json["published"], answer.json["refused"]) == (4, 2)
    table = pa.table({"queue": ["full"], "body": [b"x"]})
    assert api.post("/v1/publish", stream_of(table), content_type=ARROW).problem == "over-limit"


def test_which_queues_would_it_reach(api: Api) -> None:
    api.declare("by-event", "e")
    assert api.ask("PUT", "/v1/queues/by-pattern", {"patterns": [{"x": 1}]}).status == 201
    reached = api.post("/v1/route", {"event": "e", "body": '{"x": 1}'}).json["queues"]
    assert [(row["name"], row["by"]) for row in reached] == [("by-event", "event"), ("by-pattern", "pattern")]
    assert api.post("/v1/route", {"event": "other", "body": "{}"}).json == {"queues": []}
    assert api.post("/v1/route", {"queue": "new", "body": ""}).json["queues"][0]["by"] == "name"
    assert api.get("/v1/queues").json["total"] == 2
    assert api.get("/v1/overview").json["counters"]["published"] == 0


def test_an_answer_means_it_is_on_the_disk(start_process, open_api: Open, tmp_path: Path) -> None:
    process = start_process("--data", str(tmp_path), memory=False)
    api = open_api(process)
    for number in range(20):
        assert api.post("/v1/publish", {"queue": "q", "body": str(number)}).status == 201
    process.process.kill()
    process.process.wait()
    again = open_api(start_process("--data", str(tmp_path), memory=False))
    assert again.queue("q")["ready"] == 20


def test_headers_have_a_limit_in_number_and_in_bytes_and_a_refusal_names_it(api: Api) -> None:
    many = {f"h{number}": "" for number in range(1001)}
    answer = api.post("/v1/publish", {"event": "e", "body": "", "headers": many})
    assert (answer.status, answer.json["detail"]) == (413, "1001 headers: headers_max is 1000")
    answer = api.post("/v1/publish", {"event": "e", "body": "", "headers": {"h": "x" * (1 << 20)}})
    assert answer.status == 413
    assert "headers_bytes_max is 1048576" in answer.json["detail"]
    table = pa.table(
        {
            "event": pa.array(["e"]),
            "headers": pa.array([list(many.items())], pa.map_(pa.string(), pa.string())),
        }
    )
    answer = api.post("/v1/publish", stream_of(table), content_type=ARROW)
    assert (answer.status, answer.json["detail"]) == (413, "1001 headers: headers_max is 1000")


def test_json_of_many_values_is_refused_before_it_is_parsed_and_a_large_text_is_not(api: Api) -> None:
    many = {f"h{number}": "" for number in range(100_001)}
    answer = api.post("/v1/publish", {"event": "e", "body": "", "headers": many})
    assert answer.status == 413
    assert "json_values_max is 50000" in answer.json["detail"]
    answer = api.post("/v1/publish", {"event": "e", "body": "a, [b], {c}" * 100_000})
    assert answer.status == 201


@pytest.mark.parametrize("headers", [None, 0, 1, 30, 400, 1000])
def test_rows_are_made_messages_in_parts_of_a_bounded_size(headers: int | None) -> None:
    columns: dict[str, pa.Array] = {"event": pa.array(["e"] * 2500)}
    if headers is not None:
        row = [(f"h{number}", "") for number in range(headers)]
        columns["headers"] = pa.array([row] * 2500, pa.map_(pa.string(), pa.string()))
    [batch] = pa.table(columns).to_batches()
    parts = list(parts_of(batch))
    assert [row for first, last in parts for row in range(first, last)] == list(range(2500))
    assert all(last - first == 1 or (last - first) * (1 + (headers or 0)) <= SLICE for first, last in parts)
    assert len(parts) <= 1 + 2 * 2500 * (1 + (headers or 0)) / SLICE
