"""Delays, dead letters and policies on a real broker, across restarts; alarms in its log."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.config import LISTENERS, Config
from penstock.storage.reader import LogReader

from .conftest import BrokerProcess, RunningBroker

POLICIES = """
[[policy]]
queues = "jobs"
deliveries_max = 1
dead_letter = "{queue}.dead"
length_max = 5
alarm = 0.6
"""


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.process
def test_what_was_asked_for_holds_across_a_kill(start_process: Callable[..., BrokerProcess], tmp_path: Path) -> None:
    config = tmp_path / "penstock.toml"
    config.write_text(POLICIES)
    arguments = ("--data", str(tmp_path / "data"), "--config", str(config))
    broker = start_process(*arguments, memory=False)
    client = broker.connect("mqks")
    client.send(b"c consume --confirm --manual-ack jobs job\n1 publish --confirm job first\n")
    client.lines(3)
    client.send(b"r reject --confirm c 1\n2 publish --confirm --delay=0.3 --dedup job later\n")
    assert sorted(client.lines(2)) == [b"2 ok ", b"r ok "]
    broker.process.kill()
    broker.process.wait(10)

    broker = start_process(*arguments, memory=False)
    client = broker.connect("mqks")
    client.send(b"2 publish --confirm --dedup job later\n")  # the same again
    assert client.line() == b"2 ok "
    client.send(b"c consume --confirm --manual-ack jobs job\n")
    assert client.lines(2) == [b"c ok ", b"c ok 2 event=job later"]
    client.send(b"a ack c 2\nd consume --confirm jobs.dead none\n")
    assert client.lines(2) == [b"d ok ", b"d ok 1 event=job first"]
    assert broker.terminate()[0] == 0
    headers = [message.headers for message in LogReader(tmp_path / "data").messages() if message.headers]
    assert [found[b"dead-reason"] for found in headers] == [b"deliveries"]


def test_a_message_expires_by_itself_while_nobody_does_anything(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    client.send(b"c consume --confirm q e\nd delete_consumer --confirm c\n")
    client.lines(2)
    client.send(b"m publish --confirm --ttl=0.05 e x\n")
    assert client.line() == b"m ok "
    wait_for(lambda: broker.call(lambda: broker.node.broker.queues[b"q"].expired) == 1)


def test_alarms_and_refusals_are_told(tmp_path: Path) -> None:
    config = tmp_path / "penstock.toml"
    config.write_text(POLICIES)
    broker = RunningBroker()
    broker.config = Config.load({"memory": True, **dict.fromkeys(LISTENERS, 0)}, {}, config)
    broker.start()
    try:
        client = broker.connect("mqks")
        client.send(b"c consume --confirm jobs job\nd delete_consumer --confirm c\n")
        client.lines(2)
        client.send(b"".join(b"%d publish --confirm job x\n" % number for number in range(8)))
        answers = client.lines(8)
        assert [answer.split()[1] for answer in answers] == [b"ok"] * 5 + [b"error"] * 3
        wait_for(lambda: broker.reported("queue.full"))
        (filling,) = broker.reported("queue.filling")
        assert (filling["queue"], filling["messages"], filling["limit"]) == ("jobs", 3, "length_max of its policy")
        assert len(broker.reported("queue.full")) == 1
    finally:
        broker.stop()


def test_what_came_due_while_the_broker_was_down_is_there_when_it_starts(tmp_path: Path) -> None:
    settings = {"data": str(tmp_path), "memory": False}
    broker = RunningBroker(**settings)
    broker.start()
    client = broker.connect("mqmq")
    message = b'\0\0\0\x21\0\0\0\x03Put\0\0\0\x01q\0\0\0\x01x\0\0\0\x0e{"delay": 0.1}'
    client.send((len(message) - 4).to_bytes(4, "big") + message[4:])
    assert client.read(10) == b"\0\0\0\x06\0\0\0\x02OK"
    broker.stop()
    broker = RunningBroker(**settings)
    broker.start()
    wait_for(lambda: broker.call(lambda: broker.node.broker.queues[b"q"].ready) == 1)
    broker.stop()
