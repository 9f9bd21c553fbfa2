"""Numbers: at a glance, live, and for Prometheus."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.http.overview import Overview, SampleShape
from penstock.http.statistics import LIVE_MAX

from ..server.conftest import Client, RunningBroker
from .conftest import Api, Open

SAMPLE = re.compile(r'^[a-z_]+(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? -?[0-9.e+-]+$')


def series_of(text: str) -> dict[str, float]:
    """The samples of a Prometheus text, each line of which is checked."""
    found = {}
    typed = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("# HELP "):
            assert SAMPLE.match(line) or '"+Inf"' in line, line
            name, _, value = line.rpartition(" ")
            family = name.partition("{")[0]
            assert family in typed or re.sub("_(bucket|sum|count)$", "", family) in typed, line
            assert name not in found, line
            found[name] = float(value)
    return found


def live(broker: RunningBroker, query: str = "") -> Client:
    client = Client(broker.ports["http"])
    client.send(b"GET /v1/live%s HTTP/1.1\r\nhost: localhost\r\n\r\n" % query.encode())
    return client


def samples(client: Client) -> Iterator[dict]:
    while True:
        line = client.line()
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def test_the_overview_counts_what_happened(broker: RunningBroker, api: Api) -> None:
    api.declare("q", "e")
    for _ in range(3):
        api.post("/v1/publish", {"event": "e", "body": "x"})
    api.post("/v1/publish", {"event": "nobody", "body": "x"})
    consumer = broker.connect("mqks")
    consumer.send(b"c consume q e --manual-ack\n")
    overview = api.until("/v1/overview", lambda found: found["totals"]["unacked"] == 3)
    Overview.model_validate(overview)
    assert overview["counters"]["published"] == 4
    assert overview["counters"]["unrouted"] == 1
    assert overview["counters"]["queued"] == 3
    assert overview["counters"]["delivered"] == 3
    assert overview["totals"]["oldest_age_seconds"] > 0
    assert overview["totals"]["consumers"] == 1
    assert overview["connections"] == {"mqks": 1}
    assert overview["log"]["next_offset"] == 4
    unsaid = dict.fromkeys(("directory", "sync", "retain_seconds", "retain_bytes"))
    assert overview["storage"] == {"durable": False, **unsaid}
    assert overview["ports"] == broker.ports


def test_a_sample_comes_at_once_and_then_each_second(broker: RunningBroker, api: Api) -> None:
    client = live(broker, "?queue=q")
    stream = samples(client)
    first = next(stream)
    SampleShape.model_validate({key: value for key, value in first.items() if key != "queue"})
    assert first["queue"] is None
    api.put("q", "x")
    after = next(sample for sample in stream if sample["counters"]["published"])
    assert (after["totals"]["ready"], after["queue"]["ready"]) == (1, 1)
    assert 0 < after["rates"]["published"] < 5
    history = api.get("/v1/overview/history").json["samples"]
    kept = [sample["time"] for sample in history]
    assert kept == sorted(kept)
    assert kept.index(after["time"]) > 0  # not the first; on a busy machine there may be another behind it by now
    client.close()


def test_live_streams_are_bounded_and_end_with_the_broker(
    start_broker: Callable[..., RunningBroker], open_api: Open
) -> None:
    broker = start_broker()
    clients = [live(broker) for _ in range(LIVE_MAX // 2)]
    for client in clients:
        next(samples(client))
    refused = live(broker)
    assert b"429" in refused.line()  # one address has half of them
    refused.close()
    clients.pop().close()
    door = broker.node.http
    assert door is not None
    open_api(broker).until("/v1/overview", lambda _: len(door.statistics.watchers) < LIVE_MAX // 2)
    clients.append(live(broker))
    next(samples(clients[-1]))
    broker.stop()
    for client in clients:
        assert client.closed_by_peer()
        client.close()


def test_metrics_are_totals(start_broker: Callable[..., RunningBroker], open_api: Open, tmp_path: Path) -> None:
    broker = start_broker(memory=False, data=tmp_path)
    api = open_api(broker)
    before = series_of(api.get("/metrics").text)
    for number in range(50):
        api.put(f"q{number}", "x")
    answer = api.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    after = series_of(answer.text)
    assert set(before) == set(after)
    assert after["penstock_queues"] == 50
    assert after["penstock_messages_ready"] == 50
    assert after["penstock_messages_published_total"] == 50
    assert after["penstock_oldest_message_age_seconds"] > 0
    assert after["penstock_log_durable_offset"] == 50
    assert after["penstock_fsync_seconds_count"] > 0
    assert after['penstock_fsync_seconds_bucket{le="+Inf"}'] == after["penstock_fsync_seconds_count"]
    assert after['penstock_connections{protocol="mqks"}'] == 0
    assert after["process_resident_memory_bytes"] > 1e6


def test_some_queues_are_shown_in_detail(api: Api) -> None:
    name = 'a"b\\c\nd'
    api.put(name, "x")
    api.put("other", "x", "y")
    found = series_of(api.get("/metrics/detail?queue=a%22b%5Cc%0Ad&queue=other").text)
    assert found['penstock_queue_messages_ready{queue="a\\"b\\\\c\\nd"}'] == 1
    assert found['penstock_queue_messages_ready{queue="other"}'] == 2
    assert api.get("/metrics/detail?queue=nothing").problem == "not-found"
    assert api.get("/metrics/detail").status == 422
    assert api.get("/metrics/detail?" + "&".join(["queue=other"] * 101)).status == 422
