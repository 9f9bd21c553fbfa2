"""Who gets what, in which order, and what becomes of it: the same for every protocol that has the words for it.

And the same whether the log is in memory or on disk, where confirmations come later.
"""

import re
from collections.abc import Callable

import pytest

from ..server.conftest import RunningBroker
from .conftest import Start, wait_until
from .drivers import Delivery, Driver, MqmqDriver, having, job, jobs, needs

Q = b"jobs"
LEAVE: list[Callable[[Driver], None]] = [Driver.close, Driver.reset]


@pytest.fixture(params=["memory", "disk"])
def log(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def numbers(deliveries: list[Delivery]) -> list[int]:
    return [delivery.number for delivery in deliveries]


def counts(broker: RunningBroker, queue: bytes = Q) -> tuple[int, int]:
    """What is ready and what is out."""

    def look() -> tuple[int, int]:
        found = broker.node.broker.queues[queue]
        return found.ready, found.unacked

    return broker.call(look)  # type: ignore[return-value]


def wait_for_consumers(broker: RunningBroker, count: int, queue: bytes = Q) -> None:
    wait_until(lambda: broker.call(lambda: broker.node.broker.declare(queue).consumer_count()) == count)


# -- order -------------------------------------------------------------------------------------------------------------


@needs()
def test_what_waited_comes_in_the_order_it_was_put(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    publisher.put(Q, *jobs(Q, 300))
    consumer.consume(Q)
    assert [delivery.body for delivery in consumer.receive_many(300)] == jobs(Q, 300)
    assert consumer.rest() == []


@needs()
def test_what_is_put_while_somebody_consumes_comes_in_order(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q)
    for first in range(0, 300, 100):
        publisher.put(Q, *jobs(Q, 100, first=first))
    assert [delivery.body for delivery in consumer.receive_many(300)] == jobs(Q, 300)
    assert consumer.rest() == []


@needs()
def test_queues_do_not_mix(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, first, second = driver(broker), driver(broker), driver(broker)
    first.consume(b"first")
    second.consume(b"second")
    publisher.put(b"first", job(b"first", 1))
    publisher.put(b"second", job(b"second", 2))
    assert numbers(first.rest()) == [1]
    assert numbers(second.rest()) == [2]


@needs()
def test_a_client_consumes_what_it_puts_itself(broker: RunningBroker, driver: type[Driver]) -> None:
    client = driver(broker)
    client.declare(Q)
    client.put(Q, job(Q, 1))
    client.consume(Q)
    client.put(Q, job(Q, 2))
    assert numbers(client.rest()) == [1, 2]


@needs("put_confirmed")
def test_a_confirmed_message_is_in_its_queue(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    answer = publisher.put_confirmed(Q, job(Q, 1))
    assert counts(broker) == (1, 0)
    assert re.search(rb" ok $|OK$|\x0d$", answer)
    consumer.consume(Q)
    assert consumer.receive().number == 1


# -- several consumers -------------------------------------------------------------------------------------------------


@needs()
def test_competing_consumers_share_without_loss_or_duplicates(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, *consumers = (driver(broker) for _ in range(4))
    for consumer in consumers:
        consumer.consume(Q)
    got: list[list[int]] = [[] for _ in consumers]
    for first in range(0, 600, 60):
        for consumer in consumers:
            consumer.want(20)
        wait_for_consumers(broker, 3)
        publisher.put(Q, *jobs(Q, 60, first=first))
        for index, consumer in enumerate(consumers):
            got[index] += numbers(consumer.rest())
    assert sorted(number for own in got for number in own) == list(range(600))
    for own in got:
        assert own
        assert own == sorted(own)


@needs()
def test_consumers_that_wait_take_turns(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, *consumers = (driver(broker) for _ in range(4))
    for waiting, consumer in enumerate(consumers, 1):
        consumer.consume(Q)
        consumer.want(3)
        wait_for_consumers(broker, waiting)
    for number in range(9):
        publisher.put(Q, job(Q, number))
    assert [numbers(consumer.receive_many(3)) for consumer in consumers] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


@needs()
def test_whoever_consumes_last_gets_what_is_put_then(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, gone, heir = (driver(broker) for _ in range(3))
    gone.consume(Q)
    gone.want(1)
    wait_for_consumers(broker, 1)
    gone.close()
    wait_for_consumers(broker, 0)
    publisher.put(Q, job(Q, 1))
    heir.consume(Q)
    assert heir.receive().number == 1


@needs("cancel")
def test_a_client_that_cancels_gets_nothing_more(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, gone, heir = (driver(broker) for _ in range(3))
    gone.consume(Q)
    publisher.put(Q, job(Q, 1))
    delivery = gone.receive()
    if driver in having("ack"):
        gone.ack(delivery)
    gone.cancel()
    wait_for_consumers(broker, 0)
    publisher.put(Q, job(Q, 2))
    assert gone.pass_fence() == []
    heir.consume(Q)
    assert heir.receive().number == 2


# -- done --------------------------------------------------------------------------------------------------------------


@needs("ack")
def test_what_is_acked_is_gone(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer, heir = (driver(broker) for _ in range(3))
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 5))
    assert counts(broker) == (0, 5)
    for delivery in consumer.receive_many(5):
        consumer.ack(delivery)
    assert consumer.rest() == []
    assert counts(broker) == (0, 0)
    consumer.close()
    heir.consume(Q, manual=True)
    assert heir.rest() == []


@needs("ack_any")
def test_what_is_acked_out_of_order_is_gone_and_the_rest_is_not(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer, heir = (driver(broker) for _ in range(3))
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 5))
    deliveries = consumer.receive_many(5)
    for index in (3, 1, 4):
        consumer.ack_any(deliveries[index])
    consumer.close()
    heir.consume(Q, manual=True)
    assert numbers(heir.receive_many(2)) == [0, 2]
    assert heir.rest() == []


@needs("consume_for_good")
def test_without_manual_ack_delivered_is_done(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer, heir = (driver(broker) for _ in range(3))
    consumer.consume_for_good(Q)
    publisher.put(Q, *jobs(Q, 3))
    assert numbers(consumer.receive_many(3)) == [0, 1, 2]
    assert counts(broker) == (0, 0)
    consumer.close()
    heir.consume_for_good(Q)
    assert heir.rest() == []


@needs("ack")
def test_unacked_max_holds_back_the_next_until_an_ack(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(unacked_max=2)
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 5))
    first, second = consumer.rest()
    assert counts(broker) == (3, 2)
    consumer.ack(first)
    (third,) = consumer.rest()
    assert numbers([first, second, third]) == [0, 1, 2]


# -- and not done ------------------------------------------------------------------------------------------------------


@needs("ack")
@pytest.mark.parametrize("leave", LEAVE)
def test_a_lost_consumers_messages_return_in_order(
    broker: RunningBroker, driver: type[Driver], leave: Callable[[Driver], None]
) -> None:
    publisher, lost, heir = (driver(broker) for _ in range(3))
    lost.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 6))
    deliveries = lost.receive_many(6)
    lost.ack(deliveries[0])
    lost.ack(deliveries[1])
    assert lost.rest() == []
    leave(lost)
    wait_for_consumers(broker, 0)
    publisher.put(Q, job(Q, 6))
    heir.consume(Q, manual=True)
    assert numbers(heir.receive_many(5)) == [2, 3, 4, 5, 6]
    assert heir.rest() == []


@needs("ack")
def test_what_several_lost_consumers_held_is_in_order_again(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, first, second, heir = (driver(broker) for _ in range(4))
    for waiting, consumer in enumerate((first, second), 1):
        consumer.consume(Q, manual=True)
        wait_for_consumers(broker, waiting)
    for number in range(6):
        publisher.put(Q, job(Q, number))
    assert numbers(second.receive_many(3)) == [1, 3, 5]
    second.close()
    assert numbers(first.receive_many(6)) == [0, 2, 4, 1, 3, 5]
    first.close()
    wait_for_consumers(broker, 0)
    heir.consume(Q, manual=True)
    assert numbers(heir.receive_many(6)) == [0, 1, 2, 3, 4, 5]


@needs("reject")
def test_a_rejected_message_goes_to_the_back(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker(unacked_max=1)
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    publisher.put(Q, *jobs(Q, 4))
    consumer.consume(Q, manual=True)
    consumer.reject(consumer.receive())
    for expected in (1, 2, 3, 0):
        delivery = consumer.receive()
        assert delivery.number == expected
        consumer.ack(delivery)
    assert consumer.rest() == []


@needs("reject")
def test_rejected_messages_come_back_in_the_order_of_the_rejects(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer = driver(broker), driver(broker)
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 4))
    deliveries = consumer.receive_many(4)
    for index in (2, 0, 3):
        consumer.reject(deliveries[index])
    assert numbers(consumer.receive_many(3)) == [2, 0, 3]
    assert counts(broker) == (0, 4)


@needs("reject")
def test_a_rejected_message_goes_to_another_consumer(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer, other = (driver(broker) for _ in range(3))
    consumer.consume(Q, manual=True)
    publisher.put(Q, job(Q, 1))
    delivery = consumer.receive()
    other.consume(Q, manual=True)
    wait_for_consumers(broker, 2)
    consumer.reject(delivery)
    rejected = consumer.rest() + other.rest()
    assert numbers(rejected) == [1]


@needs("reject", "retry_of")
def test_the_retry_counter_counts_rejects_and_lost_consumers(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer, heir = (driver(broker) for _ in range(3))
    consumer.consume(Q, manual=True)
    publisher.put(Q, job(Q, 1))
    for retry in range(3):
        delivery = consumer.receive()
        assert (delivery.body, consumer.retry_of(delivery)) == (job(Q, 1), retry)
        consumer.reject(delivery)
    assert consumer.retry_of(consumer.receive()) == 3
    consumer.close()
    wait_for_consumers(broker, 0)
    publisher.put(Q, job(Q, 2))
    heir.consume(Q, manual=True)
    again, fresh = heir.receive_many(2)
    assert (again.number, heir.retry_of(again)) == (1, 4)
    assert (fresh.number, heir.retry_of(fresh)) == (2, 0)


@pytest.mark.parametrize("driver", [driver for driver in having("ack") if driver not in having("retry_of")])
def test_without_a_retry_counter_a_second_delivery_looks_like_the_first(
    broker: RunningBroker, driver: type[Driver]
) -> None:
    publisher, lost, heir = (driver(broker) for _ in range(3))
    lost.consume(Q, manual=True)
    publisher.put(Q, job(Q, 1))
    first = lost.receive()
    lost.close()
    wait_for_consumers(broker, 0)
    heir.consume(Q, manual=True)
    assert heir.receive() == first


def test_an_MQMQ_get_whose_client_has_gone_takes_nothing_with_it(broker: RunningBroker) -> None:
    """What stands for `a lost consumer's messages return` where nothing is acked."""
    publisher, gone, heir = (MqmqDriver(broker) for _ in range(3))
    gone.consume(Q)
    gone.want(2)
    wait_for_consumers(broker, 1)
    gone.reset()
    publisher.put(Q, *jobs(Q, 2))
    heir.consume(Q)
    assert numbers(heir.receive_many(2)) == [0, 1]


# -- queues come and go ------------------------------------------------------------------------------------------------


@needs("consume_while_used")
def test_a_queue_goes_with_its_last_consumer_where_it_was_told_so(broker: RunningBroker, driver: type[Driver]) -> None:
    first, second = driver(broker), driver(broker)
    first.consume_while_used(Q, 0)
    second.consume_while_used(Q, 0)
    first.close()
    wait_for_consumers(broker, 1)
    second.put(Q, job(Q, 1))
    wait_until(lambda: Q in broker.node.broker.queues)
    second.close()
    wait_until(lambda: Q not in broker.node.broker.queues)


@needs("consume_while_used")
def test_a_queue_that_waits_for_its_consumer_keeps_its_messages(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, gone, heir = (driver(broker) for _ in range(3))
    gone.consume_while_used(Q, 30)
    gone.close()
    wait_for_consumers(broker, 0)
    publisher.put(Q, job(Q, 1))
    heir.consume_while_used(Q, 0.05)
    assert heir.receive().number == 1
    heir.close()
    wait_until(lambda: Q not in broker.node.broker.queues)
    publisher.put(Q, job(Q, 2))  # nobody is there to want it
    assert broker.call(lambda: broker.node.broker.unrouted) == 1


@needs("delete_queue")
def test_a_deleted_queue_is_gone_with_its_messages(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, consumer, other = (driver(broker) for _ in range(3))
    consumer.consume(Q, manual=True)
    publisher.put(Q, *jobs(Q, 3))
    consumer.receive_many(3)
    other.delete_queue(Q)
    assert Q not in broker.node.broker.queues
    publisher.put(Q, job(Q, 3))
    assert consumer.rest() == []
    consumer.consume(Q, manual=True)
    publisher.put(Q, job(Q, 4))
    assert numbers(consumer.rest()) == [4]


@needs("bind")
def test_every_queue_that_is_bound_gets_a_copy(broker: RunningBroker, driver: type[Driver]) -> None:
    publisher, *consumers = (driver(broker) for _ in range(4))
    event = b"created"
    queues = [b"mail", b"search", b"stats"]
    for queue in queues:
        publisher.bind(queue, event)
    publisher.put(event, *jobs(event, 20))
    publisher.put(b"other", *jobs(b"other", 5))
    for queue, consumer in zip(queues, consumers, strict=True):
        assert counts(broker, queue) == (20, 0)
        consumer.consume(queue)
        assert [delivery.body for delivery in consumer.receive_many(20)] == jobs(event, 20)
        assert consumer.rest() == []


# -- the broker comes and goes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", ["disk"], indirect=True)
@needs()
def test_what_was_confirmed_and_not_done_outlives_the_broker(start_broker: Start, driver: type[Driver]) -> None:
    broker = start_broker()
    publisher, consumer = driver(broker), driver(broker)
    publisher.declare(Q)
    publisher.put(Q, *jobs(Q, 6))
    consumer.consume(Q, manual=True)
    first, *_ = consumer.receive_many(3)
    if driver in having("ack"):
        consumer.ack(first)
    consumer.pass_fence()
    broker.stop()
    broker = start_broker()
    publisher, consumer = driver(broker), driver(broker)
    publisher.put(Q, job(Q, 6))
    consumer.consume(Q, manual=True)
    left = [1, 2, 3, 4, 5, 6] if driver in having("ack") else [3, 4, 5, 6]
    deliveries = consumer.receive_many(len(left))
    assert numbers(deliveries) == left
    if driver in having("retry_of"):
        assert [consumer.retry_of(delivery) for delivery in deliveries] == [1, 1, 1, 1, 1, 0]
    assert consumer.rest() == []
