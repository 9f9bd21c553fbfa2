"""A client that leaves, or is sent away, is given its answers first: those that wait for the disk, or for room."""

import socket
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
