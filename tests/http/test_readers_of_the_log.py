"""What readers of the log need beside it: cursors, leases, what became of messages, and a place to report to."""

import asyncio
import contextlib
import math
import random
import socket
import threading
import time
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.http import leases
from penstock.http.log_worker import PACKET_MAX, Answers, pieces_of
from penstock.http.log_worker_client import Readers
from penstock.http.metrics import number_of
from penstock.log.header import marked
from penstock.message import ACCEPT, Message
from penstock.storage.cursors import HOLD_SECONDS, Cursors
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.recovery import PositionGap, write_position_gaps
from penstock.storage.retention import Due
from penstock.storage.segments import position_of


@pytest.fixture
def durable(start_broker, tmp_path):
    return start_broker(memory=False, data=str(tmp_path / "data"))


def rows(answer) -> list[dict[str, Any]]:
    assert answer.status == 200, answer.data
    return pa.ipc.open_stream(answer.data).read_all().to_pylist()


def take(api, queue: str, **asked):
    return api.post(f"/v1/queues/{queue}/leases", asked)


def test_a_cursor_keeps_where_it_began_also_over_a_restart(durable, open_api, start_broker, tmp_path) -> None:
    api = open_api(durable)
    assert api.ask("PUT", "/v1/cursors/a%2Fb", {"start": 5}).json["start"] == 5
    assert api.ask("PUT", "/v1/cursors/a%2Fb", {"start": 9}).json["start"] == 5
    assert api.post("/v1/cursors/a%2Fb/reached", {"offset": 8}).json["reached"] == 8
    assert api.post("/v1/cursors/a%2Fb/reached", {"offset": 7}).json["reached"] == 8
    durable.stop()
    again = open_api(start_broker(memory=False, data=str(tmp_path / "data")))
    (row,) = again.get("/v1/cursors").json["cursors"]
    assert (row["name"], row["start"], row["reached"]) == ("a/b", 5, 8)
    assert again.ask("DELETE", row["href"]).json == {"forgotten": True}
    assert again.ask("DELETE", row["href"]).problem == "not-found"
    assert again.ask("PUT", "/v1/cursors/x", {"start": -1}).problem == "invalid"


@pytest.fixture(scope="module")
def many_segments(tmp_path_factory) -> Path:
    """A log of 3,000 segments, of which every other has been let go of."""
    directory = tmp_path_factory.mktemp("many")
    log = DurableLog(1)
    broker = Broker(log, Limits())
    broker.declare(b"q")
    for number in range(6000):
        message = Message(b"%d" % number, b"q", b"", 0, "mqmq")
        broker.put(b"q", message)
        if number < 5999:
            log.append_settlement(broker.queues[b"q"].ack_run, message.offset, ACCEPT)
        log.close_block(0)
    segments = log.take_closed()
    for pending in segments[::2]:
        (directory / pending.segment).write_bytes(b"".join(marked(pending.data())))
    gaps = [
        PositionGap(position_of(gone.segment), position_of(kept.segment), trimmed=True)
        for gone, kept in zip(segments[1::2], segments[2::2], strict=False)
    ]
    write_position_gaps(Disk(directory), gaps)
    return directory


@pytest.mark.parametrize(("what", "count"), [("segments", 3000), ("offset_gaps", 2999)])
def test_answers_of_any_size_come(many_segments: Path, what: str, count: int) -> None:
    """They are larger than what the system takes as one packet."""

    async def ask() -> list[object]:
        readers = Readers(many_segments)
        try:
            both = await asyncio.wait_for(asyncio.gather(readers.ask(what), readers.ask("segments")), 30)
        finally:
            await readers.stop()
        found: list[object] = both[0][what]
        return found

    assert len(asyncio.run(ask())) == count


@given(st.lists(st.integers(1, 5), max_size=5), st.randoms(use_true_random=False))
def test_pieces_of_answers_may_come_among_those_of_others(sizes: list[int], chance: random.Random) -> None:
    wanted = [{"id": number, "rows": "x" * (size * 30_000)} for number, size in enumerate(sizes)]
    waiting = [list(pieces_of(number, orjson.dumps(row))) for number, row in enumerate(wanted)]
    assert all(len(piece) <= PACKET_MAX for pieces in waiting for piece in pieces)
    answers, found = Answers(), []
    while any(waiting):
        whole = answers.add(chance.choice([pieces for pieces in waiting if pieces]).pop(0))
        if whole is not None:
            found.append(whole)
    assert sorted(found, key=lambda row: row["id"]) == wanted


def test_a_cursor_holds_history_until_nobody_hears_of_it_any_more() -> None:
    cursors = Cursors(None)
    cursors.begin("job", 5, now=0)
    cursors.reach("job", 8, now=1_000_000)
    assert cursors.held(2_000_000, 20) == [(8, 20)]
    assert cursors.held((HOLD_SECONDS + 2) * 1_000_000, 20) == []


def test_a_cursor_that_would_begin_in_what_is_going_is_told(durable, open_api) -> None:
    api = open_api(durable)
    cursors = durable.node.storage.cursors
    cursors.begin("there", 2, 0)
    durable.call(lambda: cursors.let_go([Due("a", "b", 0, 2)], 1))
    late = api.ask("PUT", "/v1/cursors/late", {"start": 1})
    assert (late.status, late.problem) == (409, "conflict")
    assert "before offset 2" in late.json["detail"]
    assert api.post("/v1/cursors/late/reached", {"offset": 1}).problem == "conflict"
    assert api.ask("PUT", "/v1/cursors/there", {"start": 0}).json["reached"] == 2
    assert api.ask("PUT", "/v1/cursors/late", {"start": 2}).json["start"] == 2
    durable.call(cursors.went)
    assert api.ask("PUT", "/v1/cursors/later", {"start": 1}).json["start"] == 1


def test_a_lease_is_settled_as_a_whole(api) -> None:
    api.put("jobs", "0", "1", "2")
    taken = take(api, "jobs", limit=2)
    assert [row["body"] for row in rows(taken)] == [b"0", b"1"]
    assert (api.queue("jobs")["ready"], api.queue("jobs")["unacked"]) == (1, 2)
    lease = taken.headers["penstock-lease"]
    assert api.post(f"/v1/leases/{lease}/accept").json == {"accepted": 2}
    assert (api.queue("jobs")["ready"], api.queue("jobs")["unacked"], api.queue("jobs")["consumers"]) == (1, 0, 0)
    assert api.post(f"/v1/leases/{lease}/accept").problem == "not-found"


def test_what_is_given_back_or_not_settled_in_time_is_in_the_queue_again(api) -> None:
    api.put("jobs", "0", "1")
    lease = take(api, "jobs", owner="me").headers["penstock-lease"]
    assert api.ask("DELETE", f"/v1/leases/{lease}").json == {"leases": 1, "messages": 2}
    take(api, "jobs", owner="me", limit=1)
    take(api, "jobs", owner="you", limit=1)
    assert api.ask("DELETE", "/v1/leases?owner=me").json == {"leases": 1, "messages": 1}
    assert api.queue("jobs")["unacked"] == 1
    take(api, "jobs", seconds=0.05)
    api.until("/v1/queues/jobs", lambda queue: queue["ready"] == 1)
    assert [row["body"] for row in rows(take(api, "jobs"))] == [b"0"]


def test_a_lease_has_no_more_bytes_than_one_answer_may_and_says_so(start_broker, open_api) -> None:
    api = open_api(start_broker(lease_bytes_max=10_000))
    api.put("jobs", *["x" * 3000] * 8)
    taken = take(api, "jobs", limit=100)
    assert len(rows(taken)) == 4  # what went past the limit is given whole
    assert (taken.headers["penstock-messages"], taken.headers["penstock-limited-by"]) == ("4", "lease_bytes_max")
    assert (api.queue("jobs")["ready"], api.queue("jobs")["unacked"]) == (4, 4)
    few = take(api, "jobs", limit=2)
    assert few.headers["penstock-messages"] == "2"
    assert "penstock-limited-by" not in few.headers
    assert api.post(f"/v1/leases/{taken.headers['penstock-lease']}/accept").json == {"accepted": 4}


def test_a_message_larger_than_a_lease_may_be_is_leased_alone(start_broker, open_api) -> None:
    api = open_api(start_broker(lease_bytes_max=10_000))
    api.put("jobs", "small", "x" * 2_000_000, "behind")
    first = rows(take(api, "jobs", limit=100))
    assert [len(row["body"]) for row in first] == [5, 2_000_000]
    assert [row["body"] for row in rows(take(api, "jobs", limit=100))] == [b"behind"]


@pytest.mark.parametrize("seconds", [0, 0.5], ids=["at once", "when the socket is full"])
def test_a_lease_that_is_not_read_goes_back(start_broker, open_api, uncollected, seconds) -> None:
    running = start_broker(lease_bytes_max="64MiB")
    api = open_api(running)
    for _ in range(8):
        api.put("jobs", "x" * 2_000_000)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", running.ports["http"]))
        client.sendall(b"POST /v1/queues/jobs/leases HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
        assert client.recv(12) == b"HTTP/1.1 200"
        time.sleep(seconds)
    found = api.until("/v1/queues/jobs", lambda queue: queue["unacked"] == 0)
    assert found["ready"] == 8


def test_a_lease_goes_back_though_who_sends_it_is_not_told_in_time(start_broker, open_api, monkeypatch) -> None:
    closed = threading.Event()

    async def pass_on_unheard() -> None:
        """As where the next step was due already when the client went."""
        for seconds in (0.0, 0.2):  # the second time the loop sees that it has gone
            with contextlib.suppress(asyncio.CancelledError):
                while not closed.is_set():  # noqa: ASYNC110 the client is in another thread
                    await asyncio.sleep(0.01)
                await asyncio.sleep(seconds)

    monkeypatch.setattr(leases, "pass_on", pass_on_unheard)
    running = start_broker()
    api = open_api(running)
    api.put("jobs", "x")
    client = running.connect("http")
    client.send(b"POST /v1/queues/jobs/leases HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
    assert client.read(12) == b"HTTP/1.1 200"
    client.close()
    closed.set()
    found = api.until("/v1/queues/jobs", lambda queue: queue["unacked"] == 0)
    assert found["ready"] == 1


@pytest.mark.parametrize(("count", "size"), [(10_000, 1), (100, 100_000)])
def test_a_lease_has_all_that_was_asked_for_though_it_takes_some_turns(start_broker, open_api, count, size) -> None:
    running = start_broker(lease_bytes_max="64MiB")
    api = open_api(running)

    def fill() -> None:
        for number in range(count + 1):
            running.node.broker.put(b"jobs", Message(b"%d" % number, b"jobs", b"x" * size, 0, "test"))

    running.call(fill)
    taken = take(api, "jobs", limit=count)
    assert "penstock-limited-by" not in taken.headers
    assert [row["id"] for row in rows(taken)] == [str(number) for number in range(count)]
    lease = taken.headers["penstock-lease"]
    assert api.ask("DELETE", f"/v1/leases/{lease}").json == {"leases": 1, "messages": count}
    again = take(api, "jobs", limit=count + 1)  # where some of it may not be back yet
    assert again.headers["penstock-messages"] == str(count + 1)


def test_an_empty_queue_gives_no_lease_and_an_unknown_one_is_told(api) -> None:
    api.declare("jobs")
    taken = take(api, "jobs")
    assert rows(taken) == []
    assert "penstock-lease" not in taken.headers
    assert api.queue("jobs")["consumers"] == 0
    assert take(api, "nothing").problem == "not-found"
    assert take(api, "jobs", limit=0).problem == "invalid"


def test_what_became_of_messages_is_a_stream(durable, open_api) -> None:
    api = open_api(durable)
    api.put("jobs", "0", "1")
    lease = take(api, "jobs", limit=1).headers["penstock-lease"]
    api.post(f"/v1/leases/{lease}/accept")
    api.put("jobs", "2")
    (row,) = rows(api.get("/v1/log/lifecycle"))
    assert (row["offset"], row["queue"], row["action"], row["event"]) == (0, "jobs", "accept", "jobs")
    assert row["at"] >= row["published_at"]
    assert rows(api.get("/v1/log/lifecycle?from=0&to=1")) == []


def test_a_range_of_so_many_bytes(durable, open_api) -> None:
    api = open_api(durable)
    for _ in range(4):
        api.put("jobs", "x" * 3000)
    ends = [api.get(f"/v1/log/offsets?from={start}&bytes=7000").json["offset"] for start in (0, 2, 3, 4)]
    assert ends == [2, 4, 4, 4]
    assert api.get("/v1/log/offsets?from=0&bytes=1").json["offset"] == 1
    assert api.get("/v1/log/offsets?bytes=0").problem == "invalid"


def test_a_pipeline_tells_how_it_is_doing(api) -> None:
    told = {"batch": 1, "rows": 10, "rows_per_second": 5.0, "seconds": 2.0, "offset": 10, "end": 15, "lag": 5}
    api.ask("PUT", "/v1/pipelines/nightly", told)
    assert api.ask("PUT", "/v1/pipelines/nightly", told | {"batch": 2, "state": "done", "rows": 0}).status == 200
    (pipeline,) = api.get("/v1/pipelines").json["pipelines"]
    assert (pipeline["name"], pipeline["rows_total"], pipeline["batches"], pipeline["state"]) == (
        "nightly",
        10,
        1,
        "done",
    )
    assert 'penstock_pipeline_lag{pipeline="nightly"} 5' in api.get("/metrics").text
    assert api.ask("PUT", "/v1/pipelines/nightly", {"batch": 1}).problem == "invalid"
    for wrong in ({"seconds": "inf"}, {"rows_per_second": "nan"}, {"rows": 2**63}, {"end": 2**63}, {"lag": 1e300}):
        assert api.ask("PUT", "/v1/pipelines/nightly", told | wrong).problem == "invalid"
    for _ in range(3):
        assert api.ask("PUT", "/v1/pipelines/nightly", told | {"rows": 2**53}).status == 200
    assert api.get("/v1/pipelines").json["pipelines"][0]["rows_total"] == 2**53
    assert api.get("/metrics").status == 200
    assert [number_of(value) for value in (math.inf, -math.inf, math.nan, 2.0)] == ["+Inf", "-Inf", "NaN", "2"]
    assert api.ask("DELETE", "/v1/pipelines/nightly").json == {"forgotten": True}
