"""Writes the data directory of a release, for the test that later releases start on it (tests/server/test_upgrade.py).

    .venv/bin/python -m scripts.release_fixture          tests/vectors/releases/VERSION, by the installed broker

Run it once for each release, with the package as it is released, and commit what it writes. Another release's broker is
the one that PYTHONPATH names first. The script uses only what every release has: `penstock.client`, `penstock.testing`,
commands and HTTP.

The broker runs three times on one directory and is used over all protocols. The first two runs end with a snapshot,
and the second one trims the log. The third run is killed, and the last block is cut, as a power cut could leave it.
`expected.json` is what the same release reports after its own start on a copy of that directory.
"""

import base64
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import penstock
from penstock.client import Options, mqks, mqmq, rq, sevx, smqs
from penstock.testing import BrokerProcess

RELEASES = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "releases"
POLICIES = """
[[policy]]
queues = "orders"
dead_letter = "orders.dead"
"""
DECADES = 900_000_000  # seconds: nothing in the fixture comes due or expires while anybody uses it
SETTINGS = {"segment_bytes_max": "8KiB", "dedup_seconds": DECADES}
PASSWORD = "of the fixture only"  # noqa: S105 it opens nothing but the fixture
WRITER = "nightly-report"
CUT_BYTES = 8

QUEUE_FIELDS = ("ready", "unacked", "delayed", "paused", "bindings", "expires_after_seconds")
MESSAGE_FIELDS = (
    *("offset", "id", "event", "queue", "state", "retries", "due_at", "published_at", "protocol", "headers"),
    *("body", "body_base64"),
)


class Http:
    """The HTTP API of a broker, as one user."""

    def __init__(self, broker: BrokerProcess, token: str) -> None:
        self._server = f"http://{broker.address('http')}"
        self._token = token

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._server + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read())


def state(broker: BrokerProcess, token: str) -> dict[str, Any]:
    """What a broker reports about itself that another release must report as well; `token` is an administrator's."""
    http = Http(broker, token)
    queues, messages = {}, {}
    for row in http("GET", "/v1/queues?sort=name&limit=1000")["queues"]:
        queue = http("GET", row["href"])
        queues[row["name"]] = {field: queue[field] for field in QUEUE_FIELDS}
        page = http("GET", f"{row['href']}/messages?limit=1000")
        messages[row["name"]] = [{field: message[field] for field in MESSAGE_FIELDS} for message in page["messages"]]
    offsets = http("GET", "/v1/log/offsets")
    cursors = http("GET", "/v1/cursors")["cursors"]
    users = http("GET", "/v1/users")["users"]
    return {
        "queues": queues,
        "messages": messages,
        "log": {field: offsets[field] for field in ("first_offset", "next_offset")},
        "holes": http("GET", "/v1/log/holes")["holes"],
        "cursors": {cursor["name"]: [cursor["start"], cursor["reached"]] for cursor in cursors},
        "writers": {WRITER: http("GET", f"/v1/commits/{WRITER}")["batch"]},
        "users": {user["name"]: {"grants": user["grants"], "quotas": user["quotas"]} for user in users},
    }


def main() -> None:
    home = RELEASES / penstock.__version__
    if home.exists():
        sys.exit(f"penstock: {home} exists, and is never written again")
    with tempfile.TemporaryDirectory(prefix="penstock-") as scratch:
        data, policies = Path(scratch, "data"), Path(scratch, "policies.toml")
        policies.write_text(POLICIES)
        command("user", "add", "ann", "--grant", "admin", "--data", str(data))
        tokens = {"ann": command("token", "create", "ann", "--data", str(data))}
        settings: dict[str, Any] = {**SETTINGS, "data": data, "config": policies}

        with BrokerProcess(**settings) as broker:
            tokens["bob"] = first_run(broker, tokens["ann"])
        with BrokerProcess(**settings, retain_bytes=1) as broker:
            second_run(broker, tokens["ann"])
        broker = BrokerProcess(**settings).start()
        try:
            last_run(broker, tokens["ann"])
        finally:
            broker.kill()
        last = max(data.glob("*.seg"))
        last.write_bytes(last.read_bytes()[:-CUT_BYTES])

        kept = Path(scratch, "kept")
        shutil.copytree(data, kept)
        with BrokerProcess(**settings) as broker:
            reported = state(broker, tokens["ann"])
        check(kept, reported)
        shutil.copytree(kept, home / "data")
        expected = {"version": penstock.__version__, "tokens": tokens, "password": PASSWORD, **reported}
        (home / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    print(f"penstock: wrote {home}, {size:,} bytes")


def command(*arguments: str) -> str:
    run = [sys.executable, "-m", "penstock.cli.main", *arguments]
    return subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def first_run(broker: BrokerProcess, token: str) -> str:
    """Uses everything a queue can have. Returns the token of the user it creates."""
    make_history(broker, token)
    http, options = Http(broker, token), Options(token=token)
    user = {"name": "bob", "grants": ["consume queue:jobs"], "quotas": {"connections": 5}, "password": PASSWORD}
    http("POST", "/v1/users", user)
    bob: str = http("POST", "/v1/tokens", {"user": "bob"})["token"]

    http("PUT", "/v1/cursors/nightly", {"start": http("GET", "/v1/log/offsets")["next_offset"]})
    with mqks.Client(options).connect(broker.address("mqks")) as client:
        orders = client.consume("orders", ["order.placed", "order.paid"], manual_ack=True)
        for number in range(6):
            client.publish("order.placed", f"order {number}", confirm=True)
        taken = [orders.get() for _ in range(6)]
        taken[0].ack(confirm=True)
        taken[1].reject(confirm=True, delay=DECADES)
        taken[2].reject(confirm=True, dead=True)
        client.publish("order.paid", "order 6", confirm=True, max_deliveries=4)
        # The consumer leaves with four messages; they go back to their places with one more try.
    with sevx.Client(options).connect(broker.address("sevx")) as events:

        @events.on({"type": "reading"}, queue="readings", delete_queue_when_unused=False, manual_ack=True, wait=True)
        def receive(_event: sevx.Event) -> None:
            """Acks nothing."""

        for celsius in (3.5, 4.0):
            events.send({"type": "reading", "celsius": celsius}, wait=True)
    with mqmq.Client(options).connect(broker.address("mqmq")) as queues:
        queues.put("jobs", b"\x00\xff a body that is no text")
        queues.put("jobs", "much later", delay=DECADES)
        queues.put("jobs", "expires", ttl=DECADES)
    with rq.Client(options).connect(broker.address("rq")) as requests:
        requests.send("jobs", "three tries", retries=3)
    with smqs.Client(options).connect(broker.address("smqs")) as lines:
        lines.publish("jobs", {"over": "smqs"}, confirm=True)

    body = base64.b64encode(b"caf\xe9").decode()
    http("POST", "/v1/publish", {"queue": "jobs", "body_base64": body, "headers": {"trace": "1"}})
    http("POST", "/v1/publish", {"queue": "jobs", "body": "once", "id": "once-1", "dedup": True})
    stopped = {"events": ["alarm"], "patterns": [{"level": "high"}], "expires_after_seconds": DECADES}
    http("PUT", "/v1/queues/stopped", stopped)
    http("POST", "/v1/publish", {"event": "alarm", "body": "while paused"})
    http("POST", "/v1/queues/stopped/pause")
    commit(http, 7)
    return bob


def second_run(broker: BrokerProcess, token: str) -> None:
    """The cursor passes what is published here, so nothing needs it any more: a hole in the middle of the log."""
    make_history(broker, token)
    http = Http(broker, token)
    http("POST", "/v1/cursors/nightly/reached", {"offset": http("GET", "/v1/log/offsets")["next_offset"]})


def make_history(broker: BrokerProcess, token: str) -> None:
    """More than a segment of messages that no queue needs any more."""
    with mqmq.Client(Options(token=token)).connect(broker.address("mqmq")) as queues:
        for number in range(12):
            queues.put("history", f"{number} " + "x" * 1000)
            queues.get("history")


def last_run(broker: BrokerProcess, token: str) -> None:
    """What the log has after its last snapshot."""
    http, options = Http(broker, token), Options(token=token)
    client = mqks.Client(options).connect(broker.address("mqks"))
    orders = client.consume("orders", ["order.placed", "order.refunded"], manual_ack=True)
    taken = [orders.get() for _ in range(3)]
    taken[0].ack(confirm=True)
    taken[1].reject(confirm=True, delay=DECADES)  # the others are un-acked when the broker is killed
    client.publish("order.refunded", "order 7", confirm=True)
    commit(http, 8)
    http("PUT", "/v1/cursors/hourly", {"start": http("GET", "/v1/log/offsets")["next_offset"]})
    with mqmq.Client(options).connect(broker.address("mqmq")) as queues:
        queues.put("jobs", "the last one that is kept")
        queues.put("jobs", "cut off by the power cut")


def commit(http: Http, batch: int) -> None:
    stage = http("POST", "/v1/stages", {"queue": "reports", "body": f"report {batch}"})["stage"]
    http("POST", "/v1/commits", {"writer": WRITER, "batch": batch, "stages": [stage]})


def check(data: Path, reported: dict[str, Any]) -> None:
    """Stops if the fixture lacks something that it is there for."""
    bodies = {name: [message["body"] for message in found] for name, found in reported["messages"].items()}
    wanted = ("*.seg", "*.snap", "gaps.json", "cursors.json", "users.json")
    assert all(list(data.glob(pattern)) for pattern in wanted), "a file is missing"
    assert reported["log"]["first_offset"] > 0, "nothing was trimmed"
    assert reported["holes"], "nothing was trimmed in the middle"
    assert reported["queues"]["orders"]["delayed"] == 2, reported["queues"]["orders"]
    assert reported["queues"]["stopped"]["paused"], reported["queues"]["stopped"]
    assert bodies["orders.dead"] == ["order 2"], bodies
    assert bodies["reports"] == ["report 7", "report 8"], bodies
    assert len(bodies["readings"]) == 2, bodies
    assert "the last one that is kept" in bodies["jobs"], bodies
    assert "cut off by the power cut" not in bodies["jobs"], bodies
    assert {message["retries"] for message in reported["messages"]["orders"]} >= {1, 2}, reported["messages"]["orders"]


if __name__ == "__main__":
    main()
