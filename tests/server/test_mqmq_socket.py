"""MQMQ over real sockets: what only they can show. The rest is in tests/wire/mqmq."""

import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.wire.mqmq.codec import OK, TIMEOUT, encode

ROUNDS = 40


def read_frame(client: Any) -> list[bytes]:
    frame = client.read(int.from_bytes(client.read(4), "big"))
    values = []
    while frame:
        size = int.from_bytes(frame[:4], "big")
        values.append(frame[4 : 4 + size])
        frame = frame[4 + size :]
    return values


def ask(client: Any, *values: bytes) -> list[bytes]:
    client.send(encode(*values))
    return read_frame(client)


def wait_for_waiters(broker: Any, count: int) -> None:
    deadline = time.monotonic() + 5
    while broker.call(lambda: len(broker.node.broker.declare(b"q").consumers.waiting)) != count:
        assert time.monotonic() < deadline


def reset(client: Any) -> None:
    """Close so that the other side sees a reset instead of an end."""
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def close(client: Any) -> None:
    client.close()


def test_put_get_and_info(broker: Any) -> None:
    client, other = broker.connect("mqmq"), broker.connect("mqmq")
    assert ask(client, b"Put", b"q", b"\0\n\xff") == [b"OK"]
    assert ask(other, b"Put", b"q", b"2") == [b"OK"]
    assert ask(other, b"Get", b"q", b"1000") == [b"OK", b"\0\n\xff"]
    info = json.loads(ask(client, b"Info")[1])
    assert info == {"NumConnections": 2, "NumQueues": 1, "NumMessages": 1, "Queues": {"q": {"NumMessages": 1}}}


def test_a_get_waits_for_a_put_of_another_client_and_its_pipeline_goes_on(broker: Any) -> None:
    client, other = broker.connect("mqmq"), broker.connect("mqmq")
    client.send(encode(b"Get", b"q", b"10000") * 3 + encode(b"Put", b"done", b"x"))
    wait_for_waiters(broker, 1)
    other.send(encode(b"Put", b"q", b"1") + encode(b"Put", b"q", b"2") + encode(b"Put", b"q", b"3"))
    assert [read_frame(client) for _ in range(4)] == [[b"OK", b"1"], [b"OK", b"2"], [b"OK", b"3"], [b"OK"]]
    assert other.read(3 * len(OK)) == OK * 3


def test_a_get_times_out(broker: Any) -> None:
    client = broker.connect("mqmq")
    started = time.monotonic()
    client.send(encode(b"Get", b"q", b"60"))
    assert client.read(len(TIMEOUT)) == TIMEOUT
    assert 0.06 <= time.monotonic() - started < 5


@pytest.mark.parametrize("go_away", [close, reset])
def test_a_waiting_get_whose_client_goes_away_swallows_no_message(broker: Any, go_away: Callable[[Any], None]) -> None:
    """The Put is sent the moment the waiter is gone, when the broker has not had a chance to look."""
    producer = broker.connect("mqmq")
    for number in range(ROUNDS):
        waiter = broker.connect("mqmq")
        waiter.send(encode(b"Get", b"q", b"60000"))
        wait_for_waiters(broker, 1)
        go_away(waiter)
        producer.send(encode(b"Put", b"q", b"%d" % number) + encode(b"Get", b"q", b"5000"))
        assert read_frame(producer) == [b"OK"]
        assert read_frame(producer) == [b"OK", b"%d" % number]


def test_what_is_no_frame_is_closed_and_costs_nothing(start_process: Callable[..., Any]) -> None:
    process = start_process("--http", "off")  # which would be loaded meanwhile
    witness = process.connect("mqmq")
    assert ask(witness, b"Put", b"q", b"1") == [b"OK"]
    before = process.rss()
    for head in (b"\xff\xff\xff\xff", b"\x02\0\x04\x10", b"\0\0\0\x08\xff\xff\xff\xffInfo", b"GET / HTTP/1.1\r\n\r\n"):
        client = process.connect("mqmq")
        client.send(head)
        assert client.closed_by_peer()
        assert client.buffer == b""
    assert process.rss() - before < 4 << 20
    assert ask(witness, b"Get", b"q", b"1") == [b"OK", b"1"]


def test_the_largest_message_comes_back(broker: Any) -> None:
    client = broker.connect("mqmq")
    body = bytes(range(256)) * (33_555_432 // 256) + b"x" * (33_555_432 % 256)
    assert ask(client, b"Put", b"q" * 24, body) == [b"OK"]
    client.send(encode(b"Get", b"q" * 24, b"1"))
    chunks = []
    left = 14 + len(body)
    while left:
        chunks.append(client.sock.recv(min(left, 1 << 20)))
        left -= len(chunks[-1])
    assert b"".join(chunks) == encode(b"OK", body)


def test_a_client_that_does_not_read_leaves_the_messages_in_the_queue(broker: Any) -> None:
    client, producer = broker.connect("mqmq"), broker.connect("mqmq")
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    count = 40
    for _ in range(count):
        assert ask(producer, b"Put", b"q", b"x" * (1 << 20)) == [b"OK"]
    client.send(encode(b"Get", b"q", b"1000") * count)
    assert ask(producer, b"Put", b"q", b"last") == [b"OK"]
    assert json.loads(ask(producer, b"Info")[1])["NumMessages"] > count // 2
    for _ in range(count):
        assert len(read_frame(client)[1]) == 1 << 20
    assert ask(client, b"Get", b"q", b"1000") == [b"OK", b"last"]


def test_a_stopping_broker_closes_waiting_gets(start_process: Callable[..., Any]) -> None:
    process = start_process()
    client = process.connect("mqmq")
    client.send(encode(b"Put", b"q", b"1") + encode(b"Get", b"other", b"60000"))
    assert client.read(len(OK)) == OK
    code, _ = process.terminate()
    assert code == 0
    assert client.closed_by_peer()
    assert client.buffer == b""


@pytest.mark.parametrize("go_away", [close, reset])
def test_a_busy_loop_does_not_swallow_a_message_for_a_get_that_has_just_gone(
    broker: Any, go_away: Callable[[Any], None]
) -> None:
    """Others keep the loop busy, so that the end of one client and the message of another meet in one turn of it."""
    noise = [broker.connect("mqks") for _ in range(2)]
    producer = broker.connect("mqmq")
    for number in range(200):
        waiter = broker.connect("mqmq")
        waiter.send(encode(b"Get", b"q", b"60000"))
        wait_for_waiters(broker, 1)
        for client in noise:
            client.send(b"1 publish nowhere x\n" * 500)
        go_away(waiter)
        body = b"%d" % number
        producer.send(encode(b"Put", b"q", body) + encode(b"Get", b"q", b"5000"))
        assert read_frame(producer) == [b"OK"]
        assert read_frame(producer) == [b"OK", body]
