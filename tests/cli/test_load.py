"""The load generator: what it counts and sends, on a pair of sockets."""

import select
import socket
from collections.abc import Iterator

import pytest

from penstock.cli.load import Closed, Consumer, EchoCounter, Exchange, MarkCounter, Publisher, SizeCounter, talk
from penstock.cli.load_protocols import LOAD_PROTOCOLS

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5)
        yield ours, theirs


@pytest.mark.parametrize("via", LOAD_PROTOCOLS)
def test_a_body_has_the_size_asked_for_and_a_delivery_contains_it(via: str) -> None:
    protocol = LOAD_PROTOCOLS[via](b"q")
    body = protocol.wrap(b"x" * (100 - len(protocol.wrap(b""))))
    assert len(body) == 100
    assert body in protocol.publish(b"1", body)
    assert body in protocol.delivery(b"1", body)


@pytest.mark.parametrize("step", [1, 10, 1000])
def test_each_rq_request_is_acked_under_its_own_id_however_it_is_cut(pair: Pair, step: int) -> None:
    ours, theirs = pair
    protocol = LOAD_PROTOCOLS["rq"](b"q")
    acks = protocol.acks(b"body")
    assert acks is not None
    counter = EchoCounter(acks)
    stream = b"".join(protocol.delivery(b"%d" % id, b"body") for id in (1, 258, 70_000))
    count = 0
    for start in range(0, len(stream), step):
        theirs.sendall(stream[start : start + step])
        count += counter.read(ours)
    assert count == 3
    assert counter.take_answers() == bytes.fromhex("01 80 00000001 0d  01 80 00000102 0d  01 80 00011170 0d")
    assert counter.take_answers() == b""


def test_feedback_that_a_full_socket_holds_back_is_sent_later_and_for_all_deliveries(pair: Pair) -> None:
    ours, theirs = pair
    size = 1 << 22  # more than the socket's buffer
    consumer = Consumer(ours, SizeCounter(1), lambda first, last: bytes([last]) * size * (last - first))
    theirs.sendall(b"x")
    consumer.read()
    consumer.settle()
    assert consumer.unsent
    theirs.sendall(b"x")
    consumer.read()
    consumer.settle()
    sent = bytearray()
    while not consumer.is_settled or len(sent) < 2 * size:
        sent += theirs.recv(1 << 20)
        consumer.settle()
    assert sent == b"\x01" * size + b"\x02" * size


def test_a_window_requests_messages_ahead(pair: Pair) -> None:
    ours, theirs = pair
    consumer = Consumer(ours, SizeCounter(2), lambda first, last: b"g" * (last - first), window=3)
    consumer.settle()
    assert theirs.recv(100) == b"ggg"
    theirs.sendall(b"xxxxx")
    consumer.read()
    consumer.settle()
    assert consumer.seen == 2
    assert theirs.recv(100) == b"gg"


def test_a_publisher_counts_answers_while_it_sends(pair: Pair) -> None:
    ours, theirs = pair
    publisher = Publisher(ours, MarkCounter(b"k"))
    publisher.unsent = memoryview(b"frames")
    theirs.sendall(b"1 ok \n2 ok \n")
    publisher.step(select.POLLIN | select.POLLOUT)
    assert (publisher.answered, bytes(publisher.unsent), theirs.recv(100)) == (2, b"", b"frames")


def test_a_server_that_closes_in_the_handshake_is_reported_with_what_it_sent(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b"no")
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(Closed, match="waited for b'yes', heard b'no'"):
        talk(ours, [Exchange(b"hello", b"yes")])
