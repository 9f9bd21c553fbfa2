"""What a running broker does about an error of its own: it exits, says why, and starts again from a whole log."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import penstock.wire.smqs.session as module
from penstock.config import LISTENERS
from penstock.message import Message
from penstock.wire.smqs.session import SmqsSession

from .conftest import BrokerProcess, Client, RunningBroker

StartBroker = Callable[..., RunningBroker]
StartProcess = Callable[..., BrokerProcess]

# `penstock serve`, but for one thing: a message for the queue `poison` breaks a counter of the queue `jobs`.
POISONED = """
import sys
from penstock.cli.main import main
from penstock.server.connection import Connection

received = Connection.data_received

def data_received(self, data):
    if b"poison" in data:
        queue = self.reactor.hub.broker.queues[b"jobs"]
        if b"counter" in data:
            queue.ready += 1
            queue.touch()
        else:
            queue.backlog.head.appendleft("no message")
    received(self, data)

Connection.data_received = data_received
sys.argv = ["penstock", "serve", *sys.argv[1:]]
main()
"""

DOORS = [word for name in LISTENERS for word in (f"--{name}", "0")]


class Poisoned:
    def __init__(self, directory: Path, *more: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", POISONED, "--data", str(directory), *DOORS, *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.ports: dict[str, int] = json.loads(self.process.stdout.readline().partition(" ")[2])
        self.clients: list[Client] = []

    def connect(self, protocol: str) -> Client:
        self.clients.append(Client(self.ports[protocol]))
        return self.clients[-1]

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.process.kill()
        self.process.communicate()

    def end(self) -> tuple[int, dict[str, object]]:
        """Its exit code, and what it said of the fault."""
        _, stderr = self.process.communicate(timeout=20)
        events = [json.loads(line) for line in stderr.splitlines() if line.startswith("{")]
        faults = [event for event in events if event["event"] == "broker.fault"]
        assert len(faults) == 1, stderr
        return self.process.returncode, faults[0]


@pytest.mark.parametrize("kind", ["counter", "verb"])
def test_a_broken_broker_exits_and_the_next_one_has_all_that_was_confirmed(
    kind: str, start_process: StartProcess, tmp_path: Path
) -> None:
    broker = Poisoned(tmp_path)
    try:
        client = broker.connect("mqks")
        client.send(b"c consume --confirm jobs e --manual-ack\nc2 delete_consumer --confirm c\n")
        assert client.lines(2) == [b"c ok ", b"c2 ok "]
        client.send(b"".join(b"%d publish --confirm e body%d\n" % (n, n) for n in range(20)))
        assert sorted(client.lines(20)) == sorted(b"%d ok " % n for n in range(20))
        client.send(
            b"p publish poison-%s secret\n" % kind.encode() + (b"z consume jobs e\n" if kind == "verb" else b"")
        )
        code, fault = broker.end()
        assert client.closed_by_peer()
        assert not client.buffer  # nothing of the turn that failed was said
    finally:
        broker.close()
    assert code == 70
    assert fault["verb"] == {"counter": "end_turn", "verb": "subscribe"}[kind]
    if kind == "verb":
        assert fault["protocol"] == "mqks"
        assert str(fault["peer"]).startswith("127.0.0.1:")
        assert str(fault["request"]).startswith("p publish poison")
    assert "Traceback" in str(fault["traceback"])
    again = start_process("--data", str(tmp_path), memory=False).connect("mqks")
    again.send(b"c consume jobs e\n")
    assert [line.rpartition(b" ")[2] for line in again.lines(20)] == [b"body%d" % n for n in range(20)]


def test_over_http_the_report_names_the_request(tmp_path: Path) -> None:
    broker = Poisoned(tmp_path)
    try:
        client = broker.connect("mqks")
        client.send(b"c consume --confirm jobs e\nd delete_consumer --confirm c\nm publish --confirm e x\n")
        client.lines(3)
        client.send(b"p ping poison-verb\n")
        assert client.line() == b"p ok poison-verb"
        http = broker.connect("http")
        http.send(b"POST /v1/queues/jobs/leases HTTP/1.1\r\nHost: localhost\r\ncontent-length: 2\r\n"
                  b"content-type: application/json\r\n\r\n{}")  # fmt: skip
        code, fault = broker.end()
    finally:
        broker.close()
    assert code == 70
    assert fault["protocol"] == "http"
    assert "POST /v1/queues/jobs/leases" in str(fault["request"])


@pytest.mark.parametrize("protocol", ["mqks", "sevx", "smqs"])
def test_a_session_that_fails_is_ended_and_nobody_else_notices(protocol: str, start_broker: StartBroker) -> None:
    consume = {
        "mqks": b"bad consume jobs e --manual-ack\n",
        "sevx": b'bad recv {"queue": "jobs", "pattern": {"event": "e"}, "manual_ack": true}\n',
        "smqs": b"C:jobs\n",
    }
    broker = start_broker()
    witness = broker.connect("mqks")
    witness.send(b"w consume --confirm jobs e --manual-ack\n")
    assert witness.line() == b"w ok "
    client = broker.connect(protocol)
    client.send(consume[protocol])
    reactor = broker.node.reactor

    def is_there() -> bool:
        return bool(broker.call(lambda: len(reactor.connections) == 2 and len(reactor.hub.broker.queues) > 0))

    while not is_there():
        pass
    broker.call(lambda: _break_newest(broker))
    assert client.closed_by_peer()
    witness.send(b"m publish --confirm e hello\n")
    assert sorted(witness.lines(2)) == [b"m ok ", b"w ok m event=e hello"]
    (failed,) = broker.reported("session.failed")
    assert failed["protocol"] == protocol
    assert "RuntimeError" in str(failed["traceback"])


def _break_newest(broker: RunningBroker) -> None:
    reactor = broker.node.reactor
    list(reactor.connections)[-1].broke(RuntimeError("no"))
    reactor.plan_flush()


def test_what_a_session_was_given_before_it_failed_goes_out(start_broker: StartBroker) -> None:
    """Nobody acks it, so it is gone from the queue."""
    broker = start_broker()
    client = broker.connect("mqks")
    client.send(b"c consume --confirm jobs e\n")
    assert client.line() == b"c ok "

    def give_and_break() -> None:
        broker.node.broker.publish(Message(b"m", b"e", b"hello", broker.node.clock.now(), "test"))
        _break_newest(broker)

    broker.call(give_and_break)
    assert client.closed_by_peer()
    assert client.buffer == b"c ok m event=e hello\n"
    assert broker.call(lambda: len(broker.node.hub.sessions)) == 0
    assert broker.call(broker.node.broker.queues[b"jobs"].consumer_count) == 0


@pytest.mark.skipif(not module.__file__.endswith(".py"), reason="a method of a compiled class cannot be replaced")
def test_a_session_that_fails_at_its_end_leaves_no_consumer_behind(
    start_broker: StartBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(self: SmqsSession, now: int) -> None:
        raise RuntimeError("no")

    broker = start_broker()
    consumer = broker.connect("smqs")
    publisher = broker.connect("smqs")
    consumer.send(b"C:jobs\n")
    publisher.send(b"M:jobs:1\nS\n")
    assert consumer.line() == b"1"
    publisher.line()
    monkeypatch.setattr(SmqsSession, "end", end)
    consumer.close()
    other = broker.connect("mqks")
    other.send(b"w consume jobs e\n")
    assert other.line().endswith(b"event=jobs,retry=1 1")
    (failed,) = broker.reported("session.failed")
    assert "RuntimeError" in str(failed["error"])
    monkeypatch.undo()
