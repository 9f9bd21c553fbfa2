"""Every limit is kept, in each protocol's own words, and the log names it.

`Refusal` is what a client is told: a pattern for each unit of the answer, and whether its connection goes on.
"""

import re
from typing import NamedTuple

import pytest

from ..server.conftest import RunningBroker
from .conftest import Start, wait_until
from .drivers import (
    DRIVERS,
    SERVER_FULL,
    Answer,
    Driver,
    MqksDriver,
    RqDriver,
    SevxDriver,
    frame,
    having,
    job,
    jobs,
    needs,
)

Q = b"jobs"
ERROR_LINE = rb"[em]\d+ error [0-9A-Za-z]{24}"
UNDELIVERED = rb"\x01\x80\0\0\0.\x10"  # CLEAR, the request's ID, UNDELIVERED


class Refusal(NamedTuple):
    units: tuple[bytes, ...]
    stays: bool = True


BODY_TOO_LARGE = {
    "mqks": Refusal((ERROR_LINE,)),
    "smqs": Refusal(()),
    "sevx": Refusal((ERROR_LINE,)),
    "mqmq": Refusal((re.escape(frame(b"Error", b"REQUEST_MESSAGE_TOO_LARGE")),)),
    "rq": Refusal((UNDELIVERED,), stays=False),
}
QUEUE_FULL = {
    "mqks": Refusal((ERROR_LINE,)),
    "smqs": Refusal(()),
    "sevx": Refusal((ERROR_LINE,)),
    "mqmq": Refusal((re.escape(frame(b"Error", b"REQUEST_QUEUE_FULL")),)),
    "rq": Refusal((UNDELIVERED,)),
}
DISK_FULL = QUEUE_FULL | {"mqmq": Refusal((re.escape(frame(b"Error", b"REQUEST_DISK_FULL")),))}
TOO_LONG = {
    "mqks": Refusal((rb"None error [0-9A-Za-z]{24}",), stays=False),
    "smqs": Refusal((), stays=False),
    "sevx": Refusal((rb"\d{20}[0-9A-Za-z]{4} error [0-9A-Za-z]{24}",), stays=False),
    "mqmq": Refusal((), stays=False),
}


def assert_refused(broker: RunningBroker, got: Answer, expected: Refusal, limit: str) -> None:
    assert got.stays == expected.stays, got
    assert len(got.units) == len(expected.units), got
    for unit, pattern in zip(got.units, expected.units, strict=True):
        assert re.fullmatch(pattern, unit, re.DOTALL), unit
    reasons = [str(details["reason"]) for details in broker.reported("request.refused")]
    assert any(limit in reason for reason in reasons), reasons


def test_every_protocol_has_its_refusals() -> None:
    every = {driver.protocol for driver in DRIVERS}
    assert BODY_TOO_LARGE.keys() == QUEUE_FULL.keys() == DISK_FULL.keys() == every
    assert TOO_LONG.keys() == {driver.protocol for driver in having("encode_too_long")}


@needs()
def test_a_body_over_body_size_max(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(body_size_max=1000)
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q)
    largest = job(Q, 1, 1000 - len(job(Q, 1, 1)) + 1)
    assert len(largest) == 1000
    publisher.put(Q, largest)
    got = publisher.attempt(publisher.encode_put(Q, job(Q, 2, 1000)))
    assert_refused(broker, got, BODY_TOO_LARGE[driver.protocol], "body_size_max is 1000")
    if not got.stays:
        publisher = driver(broker)
    publisher.put(Q, job(Q, 3))
    assert [delivery.number for delivery in consumer.rest()] == [1, 3]


@needs()
@pytest.mark.parametrize("limit", ["queue_length_max", "queue_bytes_max"])
def test_a_full_queue_refuses_and_takes_again_when_there_is_room(
    start_broker: Start, driver: type[Driver], limit: str
) -> None:
    broker = start_broker(**{limit: {"queue_length_max": 3, "queue_bytes_max": 30_000}[limit]})
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    publisher.put(Q, *jobs(Q, 3, size=10_000))
    got = publisher.attempt(publisher.encode_put(Q, job(Q, 3)))
    assert_refused(broker, got, QUEUE_FULL[driver.protocol], limit)
    consumer.consume(Q, manual=True)
    for delivery in consumer.receive_many(3):
        if driver in having("ack"):
            consumer.ack(delivery)
    assert consumer.rest() == []
    publisher.put(Q, job(Q, 4))
    assert [delivery.number for delivery in consumer.rest()] == [4]


@needs()
def test_a_full_disk_refuses_and_takes_again_when_there_is_room(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker()
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    publisher.put(Q, job(Q, 1))
    broker.call(lambda: broker.node.broker.shut("No space left on device: data directory here"))
    got = publisher.attempt(publisher.encode_put(Q, job(Q, 2)))
    assert_refused(broker, got, DISK_FULL[driver.protocol], "DISK_FULL: No space left on device: data directory here")
    consumer.consume(Q)
    assert [delivery.number for delivery in consumer.rest()] == [1]
    broker.call(broker.node.broker.reopen)
    publisher.put(Q, job(Q, 3))
    assert [delivery.number for delivery in consumer.rest()] == [3]


@needs("ack")
def test_what_is_not_acked_counts_in_a_full_queue(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(queue_length_max=3)
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 3))
    first, *_ = consumer.receive_many(3)
    got = publisher.attempt(publisher.encode_put(Q, job(Q, 3)))
    assert_refused(broker, got, QUEUE_FULL[driver.protocol], "queue_length_max is 3")
    consumer.ack(first)
    consumer.pass_fence()
    publisher.put(Q, job(Q, 4))
    assert consumer.receive().number == 4


@needs()
def test_a_full_queue_may_drop_its_oldest_instead(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(queue_length_max=3, queue_full="drop-oldest")
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    publisher.put(Q, *jobs(Q, 8))
    consumer.consume(Q)
    assert [delivery.number for delivery in consumer.rest()] == [5, 6, 7]


@needs("bind")
def test_a_full_queue_keeps_a_message_from_nobody_else(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(queue_length_max=3)
    publisher, consumer = driver(broker), driver(broker)
    event = b"created"
    publisher.bind(b"full", event)
    publisher.bind(Q, event)
    consumer.consume_for_good(Q)
    publisher.bind(Q, event)
    publisher.put(event, *jobs(event, 3))
    got = publisher.attempt(publisher.encode_put(event, job(event, 3)))
    assert_refused(broker, got, QUEUE_FULL[driver.protocol], "queue b'full' is full")
    assert [delivery.number for delivery in consumer.rest()] == [0, 1, 2, 3]


@needs("encode_too_long")
def test_a_line_or_frame_over_line_size_max(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(line_size_max=5000)
    client, witness = driver(broker), driver(broker)
    client.client.send(client.encode_too_long(5000))
    assert_refused(broker, client.read_answer(), TOO_LONG[driver.protocol], "line_size_max")
    assert witness.pass_fence() == []


@needs()
def test_queues_max(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(queues_max=2)
    client = driver(broker)
    for queue in (b"first", b"second"):
        client.declare(queue)
        client.put(queue, job(queue, 1))
    if driver is MqksDriver:
        got = client.attempt(b"m1 consume third third\n")
        expected = Refusal((ERROR_LINE,))
    elif driver is SevxDriver:
        got = client.attempt(b'e1 recv {"queue": "third", "pattern": {}}\n')
        expected = Refusal((ERROR_LINE,))
    else:
        got = client.attempt(client.encode_put(b"third", b"x"))
        many = re.escape(frame(b"Error", b"REQUEST_TOO_MANY_QUEUES"))
        expected = {"smqs": Refusal(()), "mqmq": Refusal((many,)), "rq": Refusal((UNDELIVERED,))}[driver.protocol]
    assert_refused(broker, got, expected, "queues_max is 2")
    client.put(b"second", job(b"second", 2))
    client.consume(b"second")
    assert [delivery.number for delivery in client.rest()] == [1, 2]


@needs()
def test_connections_max(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(connections_max=2)
    first, second = driver(broker), driver(broker)
    assert first.pass_fence() == second.pass_fence() == []
    third = driver(broker)
    assert third.client.closed_by_peer()
    assert third.client.buffer == (SERVER_FULL if driver is RqDriver else b"")
    (report,) = broker.reported("connection.refused")
    assert "connections_max is 2" in str(report["limit"])
    second.close()
    wait_until(lambda: len(broker.node.reactor.connections) == 1)
    heir = driver(broker)
    heir.consume(Q)
    first.put(Q, job(Q, 1))
    assert heir.receive().number == 1
