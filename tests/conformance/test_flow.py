"""Bytes in any size and any pieces, and clients that do not read."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ..server.conftest import RunningBroker
from .conftest import Start, wait_until
from .drivers import Driver, MqmqDriver, having, job, jobs, needs

Q = b"jobs"
MIB = 1 << 20


@contextmanager
def sending(client: Driver, data: bytes) -> Iterator[None]:
    """Send on the side: what is larger than the sockets' buffers is only gone when somebody reads."""
    thread = threading.Thread(target=client.client.send, args=(data,))
    thread.start()
    yield
    thread.join(30)
    assert not thread.is_alive()


def receive_all(broker: RunningBroker, consumer: Driver) -> list[int]:
    """The numbers of what is left in the queue: more than one outbox takes at once comes in several turns."""
    got: list[int] = []
    while True:
        is_last = broker.call(lambda: broker.node.broker.queues[Q].ready) == 0
        got += [delivery.number for delivery in consumer.rest()]
        if is_last:
            return got


@needs()
def test_a_body_of_1_MiB(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q)
    bodies = jobs(Q, 3, size=MIB)
    with sending(publisher, b"".join([publisher.encode_put(Q, body) for body in bodies])):
        for body in bodies:
            assert consumer.receive().body == body
    assert consumer.rest() == []


@needs()
@pytest.mark.parametrize("door", ["its own", "any"])
def test_requests_in_single_bytes(broker: RunningBroker, driver: type[Driver], door: str) -> None:
    publisher, consumer = driver(broker, "any" if door == "any" else ""), driver(broker)
    consumer.consume(Q)
    for byte in b"".join([publisher.encode_put(Q, body) for body in jobs(Q, 5)]):
        publisher.client.send(bytes([byte]))
    publisher.pass_fence()
    assert [delivery.body for delivery in consumer.rest()] == jobs(Q, 5)


@needs()
@pytest.mark.parametrize("piece", [7, 1000, 65_537])
def test_requests_cut_anywhere(broker: RunningBroker, driver: type[Driver], piece: int) -> None:
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q)
    bodies = [job(Q, number, size=number * piece // 40) for number in range(60)]
    data = b"".join([publisher.encode_put(Q, body) for body in bodies])
    for start in range(0, len(data), piece):
        publisher.client.send(data[start : start + piece])
    publisher.pass_fence()
    assert [delivery.body for delivery in consumer.receive_many(60)] == bodies


@needs()
def test_a_pipeline_is_answered_in_order(broker: RunningBroker, driver: type[Driver]) -> None:
    """All in one go. Confirmations come in the order of what they confirm; other answers need not wait for them."""
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q)
    requests = [publisher.encode_put(Q, body) for body in jobs(Q, 2000)]
    publisher.client.send(b"".join([request + publisher.fence for request in requests]))
    expected = [answer for request in requests for answer in publisher.accepted(request)]
    units = [publisher.read_unit() for _ in range(len(expected) + len(requests))]
    assert [unit for unit in units if not publisher.is_fence_answer(unit)] == expected
    assert [delivery.body for delivery in consumer.receive_many(2000)] == jobs(Q, 2000)
    assert consumer.rest() == []


@needs("ack")
def test_a_pipeline_of_acks(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 500))
    for delivery in consumer.receive_many(500):
        consumer.ack(delivery)
    assert consumer.rest() == []
    assert broker.call(lambda: broker.node.broker.context.bytes) == 0


# -- clients that do not read ------------------------------------------------------------------------------------------


@needs()
def test_a_consumer_that_does_not_read_keeps_nobody_waiting_and_gets_all_of_it_later(
    start_broker: Start, driver: type[Driver]
) -> None:
    broker = start_broker(outbox_bytes_max=1 << 16)
    publisher, stuck, alive = (driver(broker) for _ in range(3))
    stuck.read_slowly()
    stuck.consume(b"stuck")
    alive.consume(b"alive")
    count, size = 800, 20_000
    stuck.want(count)
    for first in range(0, count, 40):
        publisher.put(b"stuck", *jobs(b"stuck", 40, size, first))
        publisher.put(b"alive", *jobs(b"alive", 1, size, first))
        assert alive.receive().number == first

    # Nearly all of it stays in the queue: the outbox, the loop's buffer and the kernel's took no more than their share.
    ready = broker.call(lambda: broker.node.broker.queues[b"stuck"].ready)
    assert isinstance(ready, int)
    assert (count - ready) * size < 8 * MIB
    assert [stuck.receive().body for _ in range(count)] == jobs(b"stuck", count, size)
    assert stuck.rest() == []


@needs()
def test_a_consumer_that_does_not_read_does_not_get_what_another_could_have(
    start_broker: Start, driver: type[Driver]
) -> None:
    """Two consumers of one queue: once the first is full, everything goes to the second."""
    broker = start_broker(outbox_bytes_max=1 << 16)
    publisher, stuck, reader = (driver(broker) for _ in range(3))
    stuck.read_slowly()
    for client in (stuck, reader):
        client.consume(Q)
    count, size = 800, 20_000
    stuck.want(count)
    got: list[int] = []
    for first in range(0, count, 40):
        publisher.put(Q, *jobs(Q, 40, size, first))
        got += receive_all(broker, reader)
    assert len(got) > count // 3
    assert got == sorted(got)
    if isinstance(stuck, MqmqDriver):
        # Its waiting Gets would wait for the messages that the reader has.
        stuck.wanted = count - len(got)
    left = [stuck.receive().number for _ in range(count - len(got))]
    assert sorted(got + left) == list(range(count))
    assert left == sorted(left)


@needs()
def test_a_client_that_leaves_without_reading_leaves_nothing_behind(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(outbox_bytes_max=1 << 16)
    publisher, stuck = driver(broker), driver(broker)
    stuck.read_slowly()
    stuck.consume(Q, manual=True)
    stuck.want(400)
    publisher.put(Q, *jobs(Q, 400, size=20_000))
    stuck.reset()
    wait_until(lambda: len(broker.node.reactor.connections) == 1)
    assert broker.call(lambda: len(broker.node.hub.sessions)) == 1
    heir = driver(broker)
    heir.consume(Q)
    got = receive_all(broker, heir)
    if driver in having("ack"):
        assert got == list(range(400))
    else:
        # What was on its way to the lost client is lost with it, and nothing behind that.
        assert got == list(range(400))[-len(got) :]
        assert len(got) > 100


@needs()
def test_publishers_wait_while_memory_is_short_and_nothing_is_lost(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(memory_bytes_max=MIB)
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    bodies = jobs(Q, 60, size=50_000)
    with sending(publisher, b"".join([publisher.encode_put(Q, body) for body in bodies])):
        wait_until(lambda: bool(broker.reported("publishers.paused")))
        consumer.consume(Q, manual=True)
        for body in bodies:
            delivery = consumer.receive()
            assert delivery.body == body
            if driver in having("ack"):
                consumer.ack(delivery)
    publisher.pass_fence()
