"""RQ over real sockets."""

import signal
import threading

import pytest

CONSUME = b"\x01\xa0\x04work\x62\x00\x05\x40\x14\x14"
CONSUMING = b"\x01\x60\x00\x01\xa0\x04work\x18"


def request(id: int, body: bytes, flags: bytes = b"") -> bytes:
    size = len(body).to_bytes(4, "big")
    return b"\x01\x80" + id.to_bytes(4, "big") + b"\xa0\x04work\xe0" + size + body + flags + b"\x0a"


def given(id: int, body: bytes, flags: bytes = b"") -> bytes:
    """The same request as its consumer gets it."""
    size = len(body).to_bytes(4, "big")
    return b"\x01\x60\x00\x01\xe0" + size + body + flags + b"\x80" + id.to_bytes(4, "big") + b"\x0a"


def delivered(id: int) -> bytes:
    return b"\x01\x80" + id.to_bytes(4, "big") + b"\x0d"


def reply(id: int, body: bytes) -> bytes:
    return b"\x01\x80" + id.to_bytes(4, "big") + b"\xe0" + len(body).to_bytes(4, "big") + body + b"\x0b"


def exactly(client, expected: bytes) -> None:
    assert client.read(len(expected)) == expected


def test_request_delivered_reply(broker) -> None:
    consumer, requester = broker.connect("rq"), broker.connect("rq")
    consumer.send(CONSUME)
    exactly(consumer, CONSUMING)
    requester.send(request(7, b"ping"))
    exactly(consumer, given(0, b"ping"))
    consumer.send(delivered(0) + reply(0, b"pong"))
    exactly(requester, delivered(7) + reply(7, b"pong"))
    assert requester.quiet()


def test_many_requests_one_byte_at_a_time_and_in_one_go(broker) -> None:
    consumer, requester = broker.connect("rq"), broker.connect("rq")
    for byte in CONSUME:
        consumer.send(bytes([byte]))
    exactly(consumer, CONSUMING)
    requester.send(b"".join(request(id, b"%03d" % id, b"\x21") for id in range(500)))
    exactly(requester, b"".join(delivered(id) for id in range(500)))
    for id in range(500):
        exactly(consumer, given(id, b"%03d" % id, b"\x21"))
        consumer.send(delivered(id))
    assert consumer.quiet()


def test_a_large_body_both_ways(broker) -> None:
    consumer, requester = broker.connect("rq"), broker.connect("rq")
    consumer.send(CONSUME)
    exactly(consumer, CONSUMING)
    body = bytes(range(256)) * (1 << 14)
    sending = threading.Thread(target=requester.send, args=(request(1, body),))
    sending.start()
    exactly(consumer, given(0, body))
    sending.join()
    answering = threading.Thread(target=consumer.send, args=(delivered(0) + reply(0, body),))
    answering.start()
    exactly(requester, delivered(1) + reply(1, body))
    answering.join()


def test_a_lost_consumers_request_goes_to_the_next(broker) -> None:
    lost, requester = broker.connect("rq"), broker.connect("rq")
    lost.send(CONSUME)
    exactly(lost, CONSUMING)
    requester.send(request(1, b"x"))
    exactly(lost, given(0, b"x"))
    lost.close()
    heir = broker.connect("rq")
    heir.send(CONSUME)
    exactly(heir, CONSUMING + given(0, b"x"))
    heir.send(delivered(0) + reply(0, b"y"))
    exactly(requester, delivered(1) + reply(1, b"y"))


def test_CLOSING_with_a_debt_closes_once_it_is_paid(broker) -> None:
    consumer, requester = broker.connect("rq"), broker.connect("rq")
    consumer.send(CONSUME)
    exactly(consumer, CONSUMING)
    requester.send(request(1, b"x") + b"\x16")
    exactly(consumer, given(0, b"x"))
    assert requester.quiet()
    consumer.send(delivered(0) + reply(0, b"y"))
    exactly(requester, delivered(1) + reply(1, b"y"))
    assert requester.closed_by_peer()
    consumer.send(b"\x16")
    assert consumer.closed_by_peer()
    assert consumer.buffer == b""


def test_a_payload_of_4_GB_is_refused_when_its_length_is_seen(broker) -> None:
    client = broker.connect("rq")
    client.send(b"\x01\x80\x00\x00\x00\x09\xa0\x04work\xe0\xff\xff\xff\xff")
    assert client.closed_by_peer()
    assert client.buffer == b"\x01\x80\x00\x00\x00\x09\x10"


def test_SERVER_FULL_at_the_connection_limit(start_broker) -> None:
    broker = start_broker(connections_max=1)
    first = broker.connect("rq")
    first.send(b"\x05")
    exactly(first, b"\x06")
    second = broker.connect("rq")
    assert second.closed_by_peer()
    assert second.buffer == b"\x17"


@pytest.mark.process
def test_CLOSING_when_the_server_stops(start_process) -> None:
    process = start_process()
    client = process.connect("rq")
    client.send(CONSUME)
    exactly(client, CONSUMING)
    assert process.terminate()[0] == 0
    assert client.closed_by_peer()
    assert client.buffer == b"\x01\x16"
    client.close()


@pytest.mark.process
def test_a_server_that_stops_waits_for_work_that_was_begun_and_gives_back_the_rest(start_process) -> None:
    process = start_process()
    consumer, requester = process.connect("rq"), process.connect("rq")
    consumer.send(CONSUME.replace(b"\x62\x00\x05", b"\x62\x00\x01"))  # MAX is 1: the second request waits
    exactly(consumer, CONSUMING)
    requester.send(request(1, b"begun") + request(2, b"not begun"))
    exactly(consumer, given(0, b"begun"))
    consumer.send(delivered(0))
    exactly(requester, delivered(1))
    process.process.send_signal(signal.SIGTERM)
    exactly(consumer, b"\x01\x16")
    exactly(requester, b"\x01\x16" + b"\x01\x80\x00\x00\x00\x02\x10")
    assert requester.quiet()
    consumer.send(reply(0, b"done"))
    exactly(requester, reply(1, b"done"))
    assert requester.closed_by_peer()
    assert consumer.closed_by_peer()
    assert process.terminate()[0] == 0


@pytest.mark.process
def test_it_does_not_wait_for_ever(start_process) -> None:
    process = start_process("--drain-seconds", "0.1")
    consumer, requester = process.connect("rq"), process.connect("rq")
    consumer.send(CONSUME)
    exactly(consumer, CONSUMING)
    requester.send(request(1, b"never done"))
    exactly(consumer, given(0, b"never done"))
    consumer.send(delivered(0))
    exactly(requester, delivered(1))
    assert process.terminate()[0] == 0
    assert requester.closed_by_peer()
