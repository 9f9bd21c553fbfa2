"""A client that leaves, or is sent away, is given its answers first: those that wait for the disk, or for room."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

from fuzz.words import mqmq_frame

from .conftest import RunningBroker

Start = Callable[..., RunningBroker]


def test_a_confirmation_comes_before_the_door_closes(start_broker: Start, tmp_path: Path) -> None:
    client = start_broker(memory=False, data=tmp_path).connect("mqmq")
    client.send(mqmq_frame(b"Put", b"q", b"x") + mqmq_frame(b"Quit"))
    assert client.closed_by_peer()
    assert client.buffer == mqmq_frame(b"OK")


def test_a_confirmation_comes_to_a_half_closed_client(start_broker: Start, tmp_path: Path) -> None:
    running = start_broker(memory=False, data=tmp_path)
    client = running.connect("mqks")
    client.send(b"c consume q e\nm publish --confirm e x\n")
    client.sock.shutdown(socket.SHUT_WR)
    assert client.closed_by_peer()
    assert b"m ok \n" in client.buffer
    assert running.node.broker.queues[b"q"].consumer_count() == 0


def test_answers_that_had_to_wait_for_room_come_before_the_door_closes(start_broker: Start) -> None:
    client = start_broker(outbox_bytes_max=100).connect("mqmq")
    client.send(mqmq_frame(b"Put", b"q", b"x") * 55 + mqmq_frame(b"Quit"))
    assert client.closed_by_peer()
    assert client.buffer == mqmq_frame(b"OK") * 55


def test_a_client_that_only_settles_waits_for_a_disk_that_does_not_answer(start_broker: Start, tmp_path: Path) -> None:
    """What it is owed takes memory: a confirmation each. Who has the disk do nothing is served all the same."""
    running = start_broker(memory=False, data=tmp_path, memory_bytes_max=1 << 20)
    client, other = running.connect("mqks"), running.connect("mqks")
    client.send(b"c consume --confirm q e --manual-ack\n")
    assert client.line() == b"c ok "
    answers = threading.Event()
    storage = running.node.storage
    assert storage is not None
    flusher, step = storage._flusher, storage._flusher.step

    def slow_step() -> bool:
        return answers.wait(30) and step()

    running.call(lambda: setattr(flusher, "step", slow_step))
    client.send(b"m publish e x\n")
    assert client.line() == b"c ok m event=e x"
    count = 20_000
    sender = threading.Thread(target=client.send, args=(b"a ack --confirm c nothing\n" * count,))
    sender.start()
    try:
        while not running.call(lambda: list(running.node.reactor.behind)):
            pass  # it is still being read
        (session,) = [connection.session for connection in running.node.reactor.behind]
        assert session is not None
        assert 1000 < session.unconfirmed < count
        other.send(b"p ping x\n")
        assert other.line() == b"p ok x"
    finally:
        answers.set()
    assert set(client.lines(count)) == {b"a ok "}
    sender.join()
