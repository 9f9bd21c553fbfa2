"""Messages of a queue: looked at, moved, copied, purged, redriven; queues paused."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from penstock.core.policy import Rule
from penstock.http import messages
from penstock.http.messages import SCAN_MAX
from penstock.message import DeliveryOptions, Message

from ..server.conftest import RunningBroker
from .conftest import Api, Open


def fill(broker: RunningBroker, queue: bytes, count: int, body: bytes = b"body %d") -> None:
    def put() -> None:
        core = broker.node.broker
        for number in range(count):
            event = b"even" if number % 2 == 0 else b"odd"
            core.publish(Message(b"m%d" % number, event, body % number, broker.node.clock.now(), "test", {b"n": b"1"}))
        broker.node.reactor.plan_flush()

    broker.call(lambda: broker.node.broker.bind(queue, (b"even", b"odd")))
    broker.call(put)


def pages(api: Api, query: str, queue: str = "q") -> Iterator[list[Any]]:
    after = ""
    while after is not None:
        answer = api.get(f"/v1/queues/{queue}/messages?{query}&after={quote(after)}").json
        yield answer["messages"]
        after = answer["next"]


def ids(api: Api, query: str = "limit=1000", queue: str = "q") -> list[str]:
    return [message["id"] for page in pages(api, query, queue) for message in page]


@pytest.fixture(params=["memory", "disk"])
def filled(request: pytest.FixtureRequest, start_broker: Callable[..., RunningBroker], tmp_path: Path) -> RunningBroker:
    """A broker with 1000 messages in the queue `q`, in memory or not."""
    if request.param == "memory":
        broker = start_broker()
        fill(broker, b"q", 1000)
        return broker
    first = start_broker(memory=False, data=tmp_path)
    fill(first, b"q", 1000)
    first.stop()
    return start_broker(memory=False, data=tmp_path)


def test_browsing_changes_nothing(filled: RunningBroker, open_api: Open) -> None:
    api = open_api(filled)
    before = api.queue("q")
    assert ids(api, "limit=99") == [f"m{number}" for number in range(1000)]
    assert ids(api, "event=even&limit=7") == [f"m{number}" for number in range(0, 1000, 2)]
    assert ids(api, "id=m500") == ["m500"]
    assert ids(api, "search=body+99") == ["m99", *[f"m{number}" for number in range(990, 1000)]]
    assert ids(api, "search=nothing") == []
    assert ids(api, "state=unacked") == []
    after = api.queue("q")
    assert {key: value for key, value in before.items() if "age" not in key} == {
        key: value for key, value in after.items() if "age" not in key
    }


def test_a_message_is_shown_with_all_it_has(api: Api) -> None:
    api.post("/v1/publish", {"queue": "q", "body": "grün", "id": "m", "headers": {"k": "v"}})
    body = b"\xff\x00" * 10
    api.post("/v1/publish", {"queue": "q", "body_base64": base64.b64encode(body).decode()})
    api.post("/v1/publish", {"queue": "q", "body": "ü" * 3000})
    text, binary, long = api.get("/v1/queues/q/messages").json["messages"]
    assert (text["id"], text["event"], text["body"], text["headers"], text["protocol"]) == (
        *("m", "q", "grün", {"k": "v"}, "http"),
    )
    assert (text["state"], text["retries"], text["size"], text["truncated"]) == ("ready", 0, 5, False)
    assert (binary["body"], base64.b64decode(binary["body_base64"])) == (None, body)
    assert (long["size"], long["truncated"], long["body"]) == (6000, True, "ü" * 2048)
    (cut,) = api.get("/v1/queues/q/messages?body_max=3&id=" + long["id"]).json["messages"]
    assert cut["body"] == "ü"
    (whole,) = api.get("/v1/queues/q/messages?body_max=10000&id=" + long["id"]).json["messages"]
    assert whole["body"] == "ü" * 3000


def test_what_is_out_and_what_is_put_off_is_shown(broker: RunningBroker, api: Api) -> None:
    api.declare("q", "e")
    for number in range(3):
        api.post("/v1/publish", {"event": "e", "body": str(number), "id": f"m{number}"})
    consumer = broker.connect("mqks")
    consumer.send(b"c consume q e --manual-ack\n")
    api.until("/v1/queues/q", lambda queue: queue["unacked"] == 3)
    api.post("/v1/publish", {"queue": "q", "body": "later", "id": "d", "delay_seconds": 1000})
    shown = api.get("/v1/queues/q/messages").json["messages"]
    assert [(message["id"], message["state"]) for message in shown] == [
        *(("m0", "unacked"), ("m1", "unacked"), ("m2", "unacked"), ("d", "delayed")),
    ]
    assert shown[3]["due_at"] > shown[3]["published_at"]
    assert ids(api, "limit=1") == ["m0", "m1", "m2", "d"]
    assert ids(api, "state=delayed") == ["d"]
    assert api.queue("q")["delayed"] == 1


def test_a_long_search_says_where_it_stopped(broker: RunningBroker, api: Api) -> None:
    fill(broker, b"q", SCAN_MAX + 10)
    answer = api.get(f"/v1/queues/q/messages?id=m{SCAN_MAX + 5}").json
    assert answer["messages"] == []
    again = api.get(f"/v1/queues/q/messages?id=m{SCAN_MAX + 5}&after={answer['next']}").json
    assert [message["id"] for message in again["messages"]] == [f"m{SCAN_MAX + 5}"]


@pytest.mark.parametrize("after", ["x", "ready", "ready:1", "ready:a:b:c:d", f"ready:{1 << 70}:0:0:0", "unacked:1"])
def test_a_wrong_mark_is_refused(api: Api, after: str) -> None:
    api.put("q", "x")
    assert api.get(f"/v1/queues/q/messages?state=ready&after={after}").problem == "malformed"


def test_messages_are_moved_by_filter(filled: RunningBroker, open_api: Open) -> None:
    api = open_api(filled)
    assert api.post("/v1/queues/q/move", {"to": "r", "event": "odd", "limit": 9, "dry_run": True}).json["moved"] == 9
    assert api.get("/v1/queues/r").problem == "not-found"
    answer = api.post("/v1/queues/q/move", {"to": "r", "event": "odd", "limit": 600})
    assert answer.json == {"moved": 500, "dry_run": False}
    assert ids(api) == [f"m{number}" for number in range(0, 1000, 2)]
    moved = next(pages(api, "limit=1000", "r"))
    assert [message["id"] for message in moved] == [f"m{number}" for number in range(1, 1000, 2)]
    assert (moved[0]["event"], moved[0]["headers"], moved[0]["body"]) == ("odd", {"n": "1"}, "body 1")
    assert api.post("/v1/queues/q/move", {"to": "q"}).problem == "conflict"
    assert api.post("/v1/queues/none/move", {"to": "q"}).problem == "not-found"
    assert api.post("/v1/queues/q/move", {"to": ""}).problem == "invalid"
    assert api.post("/v1/queues/q/move", {}).problem == "invalid"


def test_messages_are_copied(filled: RunningBroker, open_api: Open) -> None:
    api = open_api(filled)
    assert api.post("/v1/queues/q/copy", {"to": "r", "limit": 700, "search": "body"}).json["copied"] == 700
    assert (api.queue("q")["ready"], api.queue("r")["ready"]) == (1000, 700)


def test_a_queue_is_purged(filled: RunningBroker, open_api: Open) -> None:
    api = open_api(filled)
    assert api.post("/v1/queues/q/purge").json == {"purged": 1000}
    assert api.post("/v1/queues/q/purge").json == {"purged": 0}
    queue = api.queue("q")
    assert (queue["ready"], queue["bytes"], queue["dropped"]) == (0, 0, 1000)


def test_a_paused_queue_stays_paused(
    start_broker: Callable[..., RunningBroker], open_api: Open, tmp_path: Path
) -> None:
    first = start_broker(memory=False, data=tmp_path)
    api = open_api(first)
    api.put("q", "x")
    assert api.post("/v1/queues/q/pause").json["paused"] is True
    assert api.get("/v1/overview").json["totals"]["paused_queues"] == 1
    first.stop()
    again = start_broker(memory=False, data=tmp_path)
    api = open_api(again)
    consumer = again.connect("mqks")
    consumer.send(b"c consume --confirm q e\n")
    assert consumer.line() == b"c ok "
    assert consumer.quiet()
    assert api.queue("q")["paused"] is True
    assert api.post("/v1/queues/q/resume").json["paused"] is False
    assert consumer.line().endswith(b" x")
    assert api.post("/v1/queues/none/pause").problem == "not-found"


def test_dead_letters_go_back_to_where_they_died(broker: RunningBroker, api: Api) -> None:
    rules = [Rule([b"work.*"], deliveries_max=1, dead_letter=b"dead")]
    broker.call(lambda: broker.node.broker.set_policies(rules))
    for name in ("work.a", "work.b"):
        api.declare(name, name)
        api.post("/v1/publish", {"event": name, "body": "x", "id": name})
        consumer = broker.connect("mqks")
        consumer.send(b"c%s consume %s %s --manual-ack\n" % ((name.encode(),) * 3))
        consumer.line()
        consumer.send(b"1 reject c%s %s\n" % ((name.encode(),) * 2))
        api.until(f"/v1/queues/{name}", lambda queue: queue["dead_lettered"] == 1)
        consumer.close()
    dry = api.post("/v1/queues/dead/redrive", {"dry_run": True}).json
    assert dry == {"redriven": 2, "targets": {"work.a": 1, "work.b": 1}, "dry_run": True}
    assert api.queue("dead")["ready"] == 2
    assert api.get("/v1/queues/dead/messages").json["messages"][0]["headers"]["dead-reason"] == "deliveries"
    assert api.post("/v1/queues/dead/redrive").json == {**dry, "dry_run": False}
    assert (api.queue("dead")["ready"], api.queue("work.a")["ready"], api.queue("work.b")["ready"]) == (0, 1, 1)
    assert api.post("/v1/queues/work.a/redrive", {"to": "elsewhere", "limit": 5}).json["redriven"] == 1
    assert api.queue("elsewhere")["ready"] == 1
    assert api.queue("work.a")["policy"]["dead_letter"] == "dead"


def test_terms_are_taken(api: Api) -> None:
    assert api.post("/v1/publish", {"queue": "q", "body": "x", "ttl_seconds": 0}).status == 201
    answers = []
    for _ in range(3):
        answers.append(api.post("/v1/publish", {"queue": "once", "body": "x", "id": "same", "dedup": True}))
    assert [(answer.status, answer.json["published"]) for answer in answers] == [(201, 1), (200, 0), (200, 0)]
    assert answers[1].json == {
        "published": 0,
        "deduplicated": 1,
        "id": "same",
        "first_offset": None,
        "next_offset": None,
        "queues": 0,
    }
    assert api.queue("once")["ready"] == 1
    assert api.get("/v1/overview").json["counters"]["deduplicated"] == 2
    assert api.post("/v1/publish", {"queue": "q", "body": "x", "dedup": True}).problem == "invalid"
    assert api.post("/v1/publish", {"queue": "q", "body": "x", "delay_seconds": -1}).problem == "invalid"
    assert api.post("/v1/publish", {"queue": "q", "body": "x", "max_deliveries": 0}).problem == "invalid"


def test_policies_are_shown(start_broker: Callable[..., RunningBroker], open_api: Open, api: Api) -> None:
    assert api.get("/v1/policies").json["policies"] == []
    assert api.get("/v1/policies").json["default"]["full"] == "refuse"


def test_it_is_the_same_when_others_have_a_turn_after_each_message(
    filled: RunningBroker, open_api: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "TURN_SECONDS", 0)
    api = open_api(filled)
    assert ids(api, "limit=99") == [f"m{number}" for number in range(1000)]
    assert api.post("/v1/queues/q/move", {"to": "odd", "event": "odd", "limit": 400}).json["moved"] == 400
    assert api.post("/v1/queues/q/copy", {"to": "even", "event": "even", "limit": 450}).json["copied"] == 450
    assert ids(api, queue="odd") == [f"m{number}" for number in range(1, 800, 2)]
    assert ids(api) == [f"m{number}" for number in range(1000) if number >= 800 or number % 2 == 0]
    assert api.post("/v1/queues/q/move", {"to": "rest", "limit": 100_000}).json["moved"] == 600
    assert api.queue("q")["ready"] == 0


def test_an_answer_has_an_end_however_large_the_messages_are(filled: RunningBroker, open_api: Open) -> None:
    def put() -> None:
        for number in range(20):
            body = b"x" * (1 << 20)
            filled.node.broker.put(b"large", Message(b"%d" % number, b"large", body, 0, "test"))

    filled.call(put)
    api = open_api(filled)
    answers = list(pages(api, "limit=1000&body_max=16777216", "large"))
    assert [len(answer) for answer in answers] == [16, 4]
    assert len(api.get("/v1/queues/large/messages?limit=1000&body_max=1").json["messages"]) == 20


def test_a_redrive_of_a_queue_without_dead_letters_moves_nothing(filled: RunningBroker, open_api: Open) -> None:
    api = open_api(filled)
    expected = {"redriven": 0, "targets": {}}
    assert api.post("/v1/queues/q/redrive", {"limit": 1}).json == {**expected, "dry_run": False}
    assert api.post("/v1/queues/q/redrive", {"limit": 1, "dry_run": True}).json == {**expected, "dry_run": True}
    assert api.queue("q")["ready"] == 1000


def test_delayed_messages_are_browsed_in_the_order_of_their_time(
    start_broker: Callable[..., RunningBroker], open_api: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "SORTED_AT_ONCE", 7)
    broker = start_broker()
    later = broker.node.clock.now() + 3_600_000_000

    def put() -> None:
        for number in range(100):
            message = Message(b"m%d" % number, b"q", b"body", broker.node.clock.now(), "test")
            message.options = DeliveryOptions(due_at=later + number * 37 % 100)
            broker.node.broker.put(b"q", message)

    broker.call(put)
    api = open_api(broker)
    expected = [f"m{number}" for number in sorted(range(100), key=lambda number: number * 37 % 100)]
    assert ids(api, "limit=9") == expected
    monkeypatch.setattr(messages, "ORDER_SECONDS", -1)  # the broker was asked by somebody else in between
    assert ids(api, "limit=9&state=delayed") == expected
