"""Several protocols at one queue: whoever puts and whoever takes, a message is the same message."""

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

from ..server.conftest import RunningBroker
from .conftest import wait_until
from .drivers import (
    BROADCAST,
    CLEAR,
    DELIVERED,
    DRIVERS,
    EXCLUSIVE,
    ID,
    NOREPLY,
    PAYLOAD,
    PRIORITY,
    QUEUE,
    QUEUEID,
    REPLY,
    REQUEST,
    Delivery,
    Driver,
    MqksDriver,
    MqmqDriver,
    RqDriver,
    SevxDriver,
    SmqsDriver,
    answer,
    command,
    fields_of,
    frame,
    having,
    job,
    jobs,
    needs,
    request,
)

Q = b"jobs"


def each(name: str, drivers: list[type[Driver]] | tuple[type[Driver], ...] = DRIVERS) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(name, drivers, ids=[driver.protocol for driver in drivers])


def numbers(deliveries: list[Delivery]) -> list[int]:
    return [delivery.number for delivery in deliveries]


def wait_for_consumers(broker: RunningBroker, count: int) -> None:
    wait_until(lambda: broker.call(lambda: broker.node.broker.declare(Q).consumer_count()) == count)


# -- one queue ---------------------------------------------------------------------------------------------------------


@needs()
@pytest.mark.parametrize("waits", [True, False])
def test_a_consumer_gets_what_five_protocols_put_in_the_order_they_did(
    broker: RunningBroker, driver: type[Driver], waits: bool
) -> None:
    consumer = driver(broker)
    MqksDriver(broker).bind(Q, Q)
    if waits:
        consumer.consume(Q)
    publishers = [publisher(broker) for publisher in DRIVERS]
    for number in range(50):
        publishers[number % 5].put(Q, job(Q, number))
    if not waits:
        consumer.consume(Q)
    assert [delivery.body for delivery in consumer.receive_many(50)] == jobs(Q, 50)
    assert consumer.rest() == []


def test_consumers_of_five_protocols_share_one_queue(broker: RunningBroker) -> None:
    consumers = [consumer(broker) for consumer in DRIVERS]
    publishers = [publisher(broker) for publisher in DRIVERS]
    for consumer in consumers:
        consumer.consume(Q, manual=True)
    got: dict[str, list[int]] = {consumer.protocol: [] for consumer in consumers}
    for first in range(0, 500, 50):
        for consumer in consumers:
            consumer.want(1)
        wait_for_consumers(broker, 5)
        for number in range(first, first + 50):
            publishers[number % 5].put(Q, job(Q, number))
        for consumer in consumers:
            deliveries = [consumer.receive()] if isinstance(consumer, MqmqDriver) else consumer.rest()
            got[consumer.protocol] += numbers(deliveries)
            for delivery in deliveries:
                if type(consumer) in having("ack"):
                    consumer.ack(delivery)
    for consumer in consumers:
        consumer.pass_fence()
    assert sorted(number for own in got.values() for number in own) == list(range(500))
    assert all(own == sorted(own) and len(own) >= 10 for own in got.values())
    assert broker.call(lambda: broker.node.broker.context.bytes) == 0


@each("heir")
@each("lost", having("ack"))
def test_what_a_lost_consumer_held_goes_to_any_other(
    broker: RunningBroker, lost: type[Driver], heir: type[Driver]
) -> None:
    publisher, first, second = MqmqDriver(broker), lost(broker), heir(broker)
    first.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 4))
    first.ack(first.receive_many(4)[0])
    first.close()
    wait_for_consumers(broker, 0)
    publisher.put(Q, job(Q, 4))
    second.consume(Q, manual=True)
    deliveries = second.receive_many(4)
    assert numbers(deliveries) == [1, 2, 3, 4]
    if heir in having("retry_of"):
        assert [second.retry_of(delivery) for delivery in deliveries] == [1, 1, 1, 0]
    assert second.rest() == []


@each("heir")
@each("rejecting", having("reject"))
def test_what_one_rejects_goes_to_the_back_for_any_other(
    broker: RunningBroker, rejecting: type[Driver], heir: type[Driver]
) -> None:
    publisher, first, second = SmqsDriver(broker), rejecting(broker), heir(broker)
    first.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 3))
    delivery, *_ = first.receive_many(3)
    first.reject(delivery)
    assert first.receive().number == 0
    first.close()
    wait_for_consumers(broker, 0)
    second.consume(Q, manual=True)
    deliveries = second.receive_many(3)
    assert numbers(deliveries) == [1, 2, 0]
    if heir in having("retry_of"):
        assert [second.retry_of(delivery) for delivery in deliveries] == [1, 1, 2]


def test_tries_are_counted_across_protocols(broker: RunningBroker) -> None:
    MqmqDriver(broker).put(Q, job(Q, 1))
    tries: list[type[Driver]] = [MqksDriver, SmqsDriver, RqDriver, SevxDriver, RqDriver, MqksDriver]
    for index, driver in enumerate(tries):
        consumer = driver(broker)
        consumer.consume(Q, manual=True)
        delivery = consumer.receive()
        assert delivery.body == job(Q, 1)
        if driver in having("retry_of"):
            assert consumer.retry_of(delivery) == index
        consumer.close()
        wait_for_consumers(broker, 0)


@pytest.mark.parametrize("reader", [SmqsDriver, MqmqDriver, RqDriver])
def test_events_reach_a_queue_that_an_MQKS_consumer_has_bound_and_left(
    broker: RunningBroker, reader: type[Driver]
) -> None:
    """The example of docs/fidelity.md."""
    client, mqks, sevx, consumer = MqksDriver(broker), MqksDriver(broker), SevxDriver(broker), reader(broker)
    client.client.send(b"c1 consume --confirm orders created paid\nd1 delete_consumer --confirm c1\n")
    assert client.client.lines(2) == [b"c1 ok ", b"d1 ok "]
    bodies = [job(b"created", 1), job(b"paid", 2), job(b"created", 3), job(b"paid", 4)]
    mqks.put(b"created", bodies[0])
    mqks.put(b"paid", bodies[1])
    sevx.put(b"created", bodies[2])
    sevx.put(b"paid", bodies[3])
    sevx.put(b"returned", job(b"returned", 5))
    consumer.consume(b"orders")
    assert [delivery.body for delivery in consumer.receive_many(4)] == bodies
    assert consumer.rest() == []


@needs()
def test_one_door_serves_all_protocols_at_once(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker, "any"), driver(broker, "any")
    publisher.declare(Q)
    publisher.put(Q, *jobs(Q, 10))
    consumer.consume(Q)
    assert numbers(consumer.receive_many(10)) == list(range(10))


# -- what only one of them can ask for, the others live with -----------------------------------------------------------

OTHERS = [driver for driver in DRIVERS if driver is not RqDriver]


@each("other", OTHERS)
def test_an_exclusive_RQ_consumer_has_the_queue_for_itself(broker: RunningBroker, other: type[Driver]) -> None:
    publisher, exclusive, second = MqmqDriver(broker), RqDriver(broker), other(broker)
    exclusive.consume(Q, options=EXCLUSIVE)
    second.consume(Q, manual=True)
    second.want(2)
    wait_for_consumers(broker, 2)
    publisher.put(Q, *jobs(Q, 3))
    deliveries = exclusive.receive_many(3)
    exclusive.ack(deliveries[0])
    assert exclusive.rest() == []
    exclusive.close()
    assert numbers(second.receive_many(2)) == [1, 2]


@each("other", OTHERS)
def test_an_RQ_consumer_is_served_before_or_after_the_others_by_its_PRIORITY(
    broker: RunningBroker, other: type[Driver]
) -> None:
    publisher, high, normal, low = SmqsDriver(broker), RqDriver(broker), other(broker), RqDriver(broker)
    low.consume(Q, options=command(PRIORITY, b"\x0a"))
    normal.consume(Q, manual=True)
    normal.want(3)
    wait_for_consumers(broker, 2)
    for number in range(2):
        publisher.put(Q, job(Q, number))
    high.consume(Q, options=command(PRIORITY, b"\x1e"))
    for number in range(2, 4):
        publisher.put(Q, job(Q, number))
        high.ack(high.receive())
    high.close()
    wait_for_consumers(broker, 2)
    publisher.put(Q, job(Q, 4))
    assert numbers(normal.rest()) == [0, 1, 4]
    assert numbers(low.rest()) == []


@needs()
def test_a_BROADCAST_reaches_the_consumers_of_all_protocols(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, first, second = RqDriver(broker), driver(broker), driver(broker)
    for waiting, consumer in enumerate((first, second), 1):
        consumer.consume(Q, manual=True)
        consumer.want(1)
        wait_for_consumers(broker, waiting)
    publisher.client.send(CLEAR + command(QUEUE, Q) + command(PAYLOAD, job(Q, 1)) + BROADCAST)
    assert publisher.pass_fence() == []
    for consumer in (first, second):
        unit = consumer.read_unit()
        body = fields_of(unit)[PAYLOAD] if isinstance(consumer, RqDriver) else consumer.decode_delivery(unit).body
        assert body == job(Q, 1)
    queue = broker.call(lambda: (broker.node.broker.queues[Q].ready, broker.node.broker.queues[Q].unacked))
    assert queue == (0, 0)


@needs()
@each("deleting", having("delete_queue"))
def test_a_queue_that_is_deleted_under_a_consumer_of_another_protocol(
    broker: RunningBroker, driver: type[Driver], deleting: type[Driver]
) -> None:
    """Nobody is told. A Get ends, an RQ node goes on consuming, and the others consume again."""
    publisher, consumer, other = SmqsDriver(broker), driver(broker), deleting(broker)
    publisher.put(Q, job(Q, 1))
    consumer.consume(Q, manual=True)
    consumer.receive()
    consumer.want(1)
    wait_for_consumers(broker, 1)
    other.delete_queue(Q)
    if isinstance(consumer, MqmqDriver):
        assert consumer.read_unit() == frame(b"Timeout")
        consumer.wanted = 0
    elif not isinstance(consumer, RqDriver):
        publisher.put(Q, job(Q, 2))
        assert consumer.rest() == []
        other.delete_queue(Q)
        consumer.consume(Q, manual=True)
    publisher.put(Q, job(Q, 3))
    assert numbers(consumer.rest()) == [3]


# -- nothing but the message -------------------------------------------------------------------------------------------


class Sending(NamedTuple):
    """One way to send, with all that its protocol lets a publisher say beside the body."""

    name: str
    driver: type[Driver]
    encode: Callable[[bytes], bytes]
    id: bytes = (
        rb"[0-9A-Za-z]+\.\d+(\.[0-9a-f]{24})?"  # as consumers see it; the broker's own where the publisher has none
    )
    noreply: bytes = NOREPLY  # to an RQ consumer


FRILLS = b"\x41\x03\x61\x00\x3c"  # RETRIES 3, TIMEOUT 60 s
SENDINGS = [
    Sending("mqks", MqksDriver, lambda body: b"first publish --confirm jobs %s\n" % body, b"first"),
    Sending("smqs", SmqsDriver, lambda body: b"M:jobs:%s\n" % body),
    Sending("sevx", SevxDriver, lambda body: b"first send %s\n" % body, b"first"),
    Sending("mqmq", MqmqDriver, lambda body: frame(b"Put", Q, body, b"nobody", b"reads this")),
    Sending("rq", RqDriver, lambda body: request(77, Q, body, FRILLS), noreply=b""),
    Sending("rq NOREPLY", RqDriver, lambda body: request(77, Q, body, FRILLS + NOREPLY)),
]


def shape(consumer: Driver, sending: Sending, body: bytes, retry: bytes = b"") -> bytes:
    """A pattern for all there may be in a delivery."""
    text = re.escape(body)
    if isinstance(consumer, MqksDriver):
        properties = b"event=jobs,retry=" + retry if retry else b"event=jobs"
        return b" ".join([consumer.name, b"ok", sending.id, properties, text])
    if isinstance(consumer, SevxDriver):
        if retry:
            text = text.replace(rb"\{", rb'\{"retry": ' + retry + b", ", 1)
        return b" ".join([consumer.name, b"ok", sending.id, text])
    if isinstance(consumer, SmqsDriver):
        return text
    if isinstance(consumer, MqmqDriver):
        return re.escape(frame(b"OK", body))
    head = CLEAR + command(QUEUEID, b"\0\1") + command(PAYLOAD, body)
    return re.escape(head + sending.noreply + command(ID, bytes(4)) + REQUEST)


@each("consumer")
@pytest.mark.parametrize("sending", SENDINGS, ids=lambda sending: sending.name)
def test_a_delivery_holds_nothing_of_another_protocol(
    broker: RunningBroker, sending: Sending, consumer: type[Driver]
) -> None:
    publisher, receiver = sending.driver(broker), consumer(broker)
    MqksDriver(broker).bind(Q, Q)
    receiver.consume(Q, manual=True)
    publisher.attempt(sending.encode(job(Q, 1)))
    unit = receiver.receive().unit
    assert re.fullmatch(shape(receiver, sending, job(Q, 1)), unit, re.DOTALL), unit


@each("consumer", having("ack"))
@pytest.mark.parametrize("sending", SENDINGS, ids=lambda sending: sending.name)
def test_neither_does_a_second_delivery(broker: RunningBroker, sending: Sending, consumer: type[Driver]) -> None:
    publisher, lost, receiver = sending.driver(broker), SmqsDriver(broker), consumer(broker)
    MqksDriver(broker).bind(Q, Q)
    lost.consume(Q)
    publisher.attempt(sending.encode(job(Q, 1)))
    lost.receive()
    lost.close()
    wait_for_consumers(broker, 0)
    receiver.consume(Q, manual=True)
    unit = receiver.receive().unit
    assert re.fullmatch(shape(receiver, sending, job(Q, 1), b"1"), unit, re.DOTALL), unit


# -- requests and replies ----------------------------------------------------------------------------------------------

SEVEN = b"\0\0\0\7"


@each("answering")
@each("taking", [MqksDriver, SevxDriver])
@pytest.mark.parametrize("manual", [True, False])
def test_a_request_by_RQ_is_answered_by_any_protocol(
    broker: RunningBroker, taking: type[Driver], answering: type[Driver], manual: bool
) -> None:
    """The consumer is shown the message's id. Whoever knows it may answer, by event or into the queue of that name."""
    requester, consumer, other = RqDriver(broker), taking(broker), answering(broker)
    consumer.consume(Q, manual=manual)
    requester.client.send(request(7, Q, job(Q, 1)))
    delivery = consumer.receive()
    if not manual:
        # Delivered is done, and the requester hears of it at once.
        assert requester.read_unit() == answer(SEVEN, DELIVERED)
    assert requester.pass_fence() == []
    reply = b"reply/" + delivery.id
    other.put(reply, job(reply, 4))
    if manual:
        assert requester.read_unit() == answer(SEVEN, DELIVERED)
    assert requester.read_unit() == answer(SEVEN, REPLY, job(reply, 4))
    if manual:
        consumer.ack(delivery)
    assert consumer.rest() == []
    assert requester.pass_fence() == []
    queues = broker.call(lambda: list(broker.node.broker.queues))
    assert queues == [Q]


@each("taking", [MqksDriver, SevxDriver])
def test_the_consumer_itself_may_answer(broker: RunningBroker, taking: type[Driver]) -> None:
    requester, consumer = RqDriver(broker), taking(broker)
    consumer.consume(Q, manual=True)
    requester.client.send(b"".join([request(number, Q, job(Q, number)) for number in range(10)]))
    for delivery in reversed(consumer.receive_many(10)):
        reply = b"reply/" + delivery.id
        consumer.put(reply, job(reply, delivery.number * 10))
        consumer.ack(delivery)
    for number in reversed(range(10)):
        id = number.to_bytes(4, "big")
        assert requester.read_unit() == answer(id, DELIVERED)
        assert requester.decode_reply(requester.read_unit()) == (id, number * 10)
    assert requester.pass_fence() == []


@each("taking", having("ack"))
def test_a_request_that_is_taken_and_not_answered_is_DELIVERED(broker: RunningBroker, taking: type[Driver]) -> None:
    requester, consumer = RqDriver(broker), taking(broker)
    consumer.consume(Q, manual=True)
    requester.client.send(request(7, Q, job(Q, 1)))
    delivery = consumer.receive()
    assert requester.pass_fence() == []
    if isinstance(consumer, RqDriver):
        consumer.client.send(answer(delivery.id, DELIVERED))
    else:
        consumer.ack(delivery)
    assert requester.read_unit() == answer(SEVEN, DELIVERED)
    assert requester.pass_fence() == []


@each("answering")
def test_a_second_answer_finds_nobody(broker: RunningBroker, answering: type[Driver]) -> None:
    """Published it is gone; put, it is a message in a queue of that name, as any other."""
    requester, consumer, other = RqDriver(broker), MqksDriver(broker), answering(broker)
    consumer.consume(Q)
    requester.client.send(request(7, Q, job(Q, 1)))
    reply = b"reply/" + consumer.receive().id
    other.put(reply, job(reply, 4))
    other.put(reply, job(reply, 5))
    assert requester.read_unit() == answer(SEVEN, DELIVERED)
    assert requester.read_unit() == answer(SEVEN, REPLY, job(reply, 4))
    assert requester.pass_fence() == []
    is_event = answering in having("bind")
    assert broker.call(lambda: reply in broker.node.broker.queues) is not is_event


@each("answering", [SmqsDriver, MqmqDriver, RqDriver])
def test_a_queue_whose_name_begins_like_a_reply_keeps_its_messages_while_requests_wait(
    broker: RunningBroker, answering: type[Driver]
) -> None:
    requester, publisher, consumer = RqDriver(broker), answering(broker), MqmqDriver(broker)
    requester.client.send(request(7, Q, job(Q, 1)))
    requester.pass_fence()
    queue = b"reply/to-client-1"
    publisher.put(queue, *jobs(queue, 2))
    consumer.consume(queue)
    assert numbers(consumer.rest()) == [0, 1]


# -- ids ---------------------------------------------------------------------------------------------------------------

ODD_IDS = [
    b"a,b=c/\xc3\xa9",
    b"tab\tin",
    b"50%",
    b"%09",
    b'"quoted"',
    b"back\\slash",
    b"\xff\xfe",
    b"{}",
    b"\xe2\x80\xa8",
]


@each("consumer", having("ack_any"))
@each("publisher", [MqksDriver, SevxDriver])
def test_whatever_id_a_publisher_chose_a_consumer_can_settle_by_what_it_is_shown(
    broker: RunningBroker, publisher: type[Driver], consumer: type[Driver]
) -> None:
    sender = publisher(broker)
    sender.declare(Q)
    verb = b"publish jobs" if publisher is MqksDriver else b"send"
    for id in ODD_IDS:
        if publisher is SevxDriver and not is_utf8(id):
            continue  # refused
        first, second = consumer(broker), consumer(broker)
        first.consume(Q, manual=True)
        sender.attempt(b"%s %s %s\n" % (id, verb, job(Q, 1)))
        first.reject(first.receive())
        assert first.receive().body == job(Q, 1)
        first.close()
        wait_for_consumers(broker, 0)
        second.consume(Q, manual=True)
        second.ack_any(second.receive())
        assert second.rest() == [], id
        assert broker.call(lambda: broker.node.broker.context.bytes) == 0
        second.close()
        wait_for_consumers(broker, 0)


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except ValueError:
        return False
    return True
