"""Queues over HTTP."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ..server.conftest import RunningBroker
from .conftest import Api, Open


def test_a_queue_is_declared_shown_and_deleted(api: Api) -> None:
    declared = api.ask("PUT", "/v1/queues/orders", {"events": ["a", "b"], "patterns": [{"x": 1}]})
    assert declared.status == 201
    assert declared.json["bindings"] == {"events": ["a", "b"], "patterns": [{"x": 1}]}
    assert api.ask("PUT", "/v1/queues/orders", {"events": ["c"]}).json["bindings"] == {
        "events": ["c"],
        "patterns": [{"x": 1}],
    }
    assert api.ask("PUT", "/v1/queues/orders").status == 200
    assert api.queue("orders")["bindings"]["events"] == ["c"]
    api.put("orders", "one", "two")
    assert api.ask("DELETE", "/v1/queues/orders").json == {"deleted": True, "messages": 2}
    assert api.get("/v1/queues/orders").problem == "not-found"
    assert api.ask("DELETE", "/v1/queues/orders").problem == "not-found"


@pytest.mark.parametrize("depth", [40, 300])
def test_a_pattern_that_is_nested_too_deep_is_refused_by_the_name_of_the_limit(api: Api, depth: int) -> None:
    pattern: object = 1
    for _ in range(depth):
        pattern = {"a": pattern}
    refused = api.ask("PUT", "/v1/queues/deep", {"patterns": [pattern]})
    assert refused.status in (400, 409, 413, 422, 429), refused.json
    assert "pattern_depth_max" in refused.json["detail"]
    assert api.get("/v1/queues/deep").problem == "not-found"


def test_expiry_is_set_and_taken_away(api: Api) -> None:
    assert api.ask("PUT", "/v1/queues/q", {"expires_after_seconds": 1.5}).json["expires_after_seconds"] == 1.5
    assert api.ask("PUT", "/v1/queues/q", {}).json["expires_after_seconds"] == 1.5
    assert api.ask("PUT", "/v1/queues/q", {"expires_after_seconds": None}).json["expires_after_seconds"] is None


@pytest.mark.parametrize("name", ["a/b", "a b", "ü", "%", "?", "#", "a%2Fb", "..", "messages", "x/pause"])
def test_any_name_has_a_path(api: Api, name: str) -> None:
    api.declare(name)
    (row,) = api.get("/v1/queues").json["queues"]
    assert row["name"] == name
    assert api.get(row["href"]).json["name"] == name
    assert api.ask("DELETE", row["href"]).status == 200


def test_a_name_that_is_no_text_has_a_path(api: Api) -> None:
    assert api.ask("PUT", "/v1/queues/%FF%00").status == 201
    (row,) = api.get("/v1/queues").json["queues"]
    assert (row["name"], row["href"]) == ("\\xff\x00", "/v1/queues/%FF%00")
    assert api.get(row["href"]).status == 200


def test_a_queue_is_deleted_on_condition(broker: RunningBroker, api: Api) -> None:
    api.put("q", "one")
    assert api.ask("DELETE", "/v1/queues/q?if_empty=true").problem == "conflict"
    consumer = broker.connect("mqks")
    consumer.send(b"c consume q e --manual-ack\n")
    api.until("/v1/queues/q", lambda queue: queue["consumers"] == 1)
    assert api.ask("DELETE", "/v1/queues/q?if_unused=true").problem == "conflict"
    assert api.ask("DELETE", "/v1/queues/q").status == 200


def test_pages_are_sorted_and_searched(api: Api) -> None:
    for name, count in (("b", 2), ("a", 2), ("c", 3), ("other", 0)):
        api.declare(name)
        api.put(name, *["x"] * count)

    def names(query: str) -> list[str]:
        return [row["name"] for row in api.get(f"/v1/queues?{query}").json["queues"]]

    assert names("") == ["a", "b", "c", "other"]
    assert names("sort=-name") == ["other", "c", "b", "a"]
    assert names("sort=-ready") == ["c", "a", "b", "other"]
    assert names("sort=ready&limit=2") == ["other", "a"]
    assert names("sort=-ready&limit=2&offset=1") == ["a", "b"]
    assert names("sort=-name&limit=2&offset=3") == ["a"]
    assert names("sort=-oldest&limit=1") == ["b"]
    assert names("search=th") == ["other"]
    assert names("offset=9") == []
    assert api.get("/v1/queues?search=th&limit=1").json["total"] == 1


@pytest.mark.parametrize("sort", ["name", "-name", "-ready", "ready", "-oldest", "bytes"])
def test_pages_of_many_queues_fit_together(broker: RunningBroker, api: Api, sort: str) -> None:
    def declare() -> None:
        for number in range(5000):
            broker.node.broker.declare(b"q%d" % (number * 7919 % 5000))

    broker.call(declare)
    api.put("q77", "x")
    seen: list[str] = []
    while page := api.get(f"/v1/queues?sort={sort}&limit=999&offset={len(seen)}").json["queues"]:
        seen += [row["name"] for row in page]
    assert len(seen) == len(set(seen)) == 5000
    if sort.endswith("name"):
        assert seen == sorted(seen, reverse=sort.startswith("-"))
    else:
        assert seen.index("q77") == (0 if sort.startswith("-") else 4999)


def test_wrong_bindings_change_nothing(start_broker: Callable[..., RunningBroker], open_api: Open) -> None:
    api = open_api(start_broker(events_per_queue_max=2))
    assert api.ask("PUT", "/v1/queues/q", {"events": ["a", "b", "c"]}).problem == "over-limit"
    assert api.ask("PUT", "/v1/queues/" + "x" * 1025).problem == "too-large"
    assert api.ask("PUT", "/v1/queues/q", {"expires_after_seconds": -1}).status == 422
    assert api.get("/v1/queues").json["total"] == 0


def test_what_was_declared_survives_a_restart(
    start_broker: Callable[..., RunningBroker], open_api: Open, tmp_path: Path
) -> None:
    first = start_broker(memory=False, data=tmp_path)
    api = open_api(first)
    api.declare("q", "e")
    assert api.post("/v1/publish", {"event": "e", "body": "kept"}).json["queues"] == 1
    first.stop()
    again = open_api(start_broker(memory=False, data=tmp_path))
    assert (again.queue("q")["ready"], again.queue("q")["bindings"]["events"]) == (1, ["e"])
