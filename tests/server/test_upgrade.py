"""A broker starts on the data directory of every earlier release, and goes on from there.

`tests/vectors/releases/` has such a directory for each release, and what that release itself reported about it.
`scripts/release_fixture.py` writes them; none is ever written again.
"""

import base64
import json
import shutil
import subprocess
import sys
import urllib.error
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scripts.release_fixture import RELEASES, WRITER, Http, state

from penstock.client import Denied, Options, mqks, mqmq, rq, sevx, smqs
from penstock.testing import BrokerProcess

pytestmark = pytest.mark.process


class Release(NamedTuple):
    data: Path  # a copy
    expected: dict[str, Any]

    def broker(self) -> BrokerProcess:
        """This version on that directory. It keeps all history: the files may be older than it is by default."""
        return BrokerProcess(data=self.data, retain_seconds=0, sync="off")

    def options(self, user: str = "ann") -> Options:
        return Options(token=self.expected["tokens"][user])

    def state(self, broker: BrokerProcess) -> dict[str, Any]:
        return state(broker, self.expected["tokens"]["ann"])

    def http(self, broker: BrokerProcess) -> Http:
        return Http(broker, self.expected["tokens"]["ann"])

    def verify(self) -> dict[str, Any]:
        """What `penstock log verify` reports; it must find no damage."""
        command = [sys.executable, "-m", "penstock.cli.main", "log", "verify", str(self.data), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def ready(self, queue: str) -> list[dict[str, Any]]:
        return [message for message in self.expected["messages"][queue] if message["state"] == "ready"]


@pytest.fixture(params=sorted(path.name for path in RELEASES.iterdir()))
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Release:
    data = tmp_path / "data"
    shutil.copytree(RELEASES / request.param / "data", data)
    data.chmod(0o700)
    for path in data.iterdir():
        path.chmod(0o600)  # as the broker leaves them; git keeps no such modes
    return Release(data, json.loads((RELEASES / request.param / "expected.json").read_text()))


def test_the_log_of_an_earlier_release_has_a_torn_end_and_no_damage(release: Release) -> None:
    found = release.verify()
    log, holes = release.expected["log"], release.expected["holes"]
    trimmed = sum(hole["end_offset"] - hole["first_offset"] for hole in holes)
    assert found["torn_end"] is not None
    assert found["messages"] == log["next_offset"] - log["first_offset"] - trimmed
    assert (found["damages"], found["replay"]) == ([], "ok")


def test_a_broker_has_everything_that_the_earlier_release_had(release: Release) -> None:
    with release.broker() as broker:
        found = release.state(broker)
    assert found == {key: release.expected[key] for key in found}


def test_users_of_the_earlier_release_may_do_what_they_might(release: Release) -> None:
    with release.broker() as broker:
        with mqmq.Client(release.options("bob")).connect(broker.address("mqmq")) as bob:
            assert bob.get("jobs") == body(release.ready("jobs")[0])
            with pytest.raises(Denied):
                bob.put("jobs", "not allowed")
        http = release.http(broker)
        login = {"user": "bob", "password": release.expected["password"]}
        assert http("POST", "/v1/session", login)["user"] == "bob"
        with pytest.raises(urllib.error.HTTPError):
            http("POST", "/v1/session", {**login, "password": "another"})


def test_what_was_done_once_is_not_done_again(release: Release) -> None:
    with release.broker() as broker:
        http = release.http(broker)
        again = http("POST", "/v1/publish", {"queue": "jobs", "body": "once", "id": "once-1", "dedup": True})
        assert again["deduplicated"] == 1
        stage = http("POST", "/v1/stages", {"queue": "reports", "body": "report again"})["stage"]
        batch = release.expected["writers"][WRITER]
        assert http("POST", "/v1/commits", {"writer": WRITER, "batch": batch, "stages": [stage]})["duplicate"]
        found = release.state(broker)
    assert found["messages"] == release.expected["messages"]


def test_a_broker_goes_on_and_starts_again(release: Release) -> None:
    options = release.options()
    with release.broker() as broker:
        publish_over_every_protocol(broker, options)
        broker.kill()
    with release.broker() as broker:
        found = release.state(broker)
    counts = {name: len(messages) for name, messages in release.expected["messages"].items()}
    by_offset = messages_by_offset(found)
    assert {name: by_offset[name][:count] for name, count in counts.items()} == messages_by_offset(release.expected)
    new = {name: [(row["protocol"], row["body"]) for row in by_offset[name][count:]] for name, count in counts.items()}
    assert {name: messages for name, messages in new.items() if messages} == {
        "orders": [("mqks", "order 8")],
        "readings": [("sevx", '{"type":"reading","celsius":5.0}')],
        "jobs": [("smqs", '"a line"'), ("mqmq", "a job"), ("rq", "a task")],
    }

    with release.broker() as broker:
        with mqmq.Client(options).connect(broker.address("mqmq")) as queues:
            jobs = [queues.get("jobs", timeout=20) for _ in range(len(release.ready("jobs")) + 3)]
        with mqks.Client(options).connect(broker.address("mqks")) as client:
            consumer = client.consume("orders", ["order.placed"])
            orders = [consumer.get(20) for _ in range(len(release.ready("orders")) + 1)]
    assert jobs == [*map(body, release.ready("jobs")), b'"a line"', b"a job", b"a task"]
    expected = [(message["retries"], message["body"]) for message in release.ready("orders")]
    assert [(order.retry, order.text) for order in orders] == [*expected, (0, "order 8")]
    assert release.verify()["torn_end"] is None


def publish_over_every_protocol(broker: BrokerProcess, options: Options) -> None:
    with smqs.Client(options).connect(broker.address("smqs")) as lines:
        lines.publish("jobs", "a line", confirm=True)  # on disk with the next confirmation: SMQS has none
    with mqks.Client(options).connect(broker.address("mqks")) as client:
        client.publish("order.refunded", "order 8", confirm=True)
    with sevx.Client(options).connect(broker.address("sevx")) as events:
        events.send({"type": "reading", "celsius": 5.0}, wait=True)
    with mqmq.Client(options).connect(broker.address("mqmq")) as queues:
        queues.put("jobs", "a job")
    with rq.Client(options).connect(broker.address("rq")) as requests:
        requests.send("jobs", "a task")


def messages_by_offset(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The messages of each queue in the order they were published, whether they are ready or delayed."""
    return {
        name: sorted(messages, key=lambda message: message["offset"]) for name, messages in found["messages"].items()
    }


def body(message: dict[str, Any]) -> bytes:
    return message["body"].encode() if message["body_base64"] is None else base64.b64decode(message["body_base64"])
