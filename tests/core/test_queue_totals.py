"""Counts over all queues, and which of them come first: slice by slice, and by every number there is."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import REFUSE, Limits
from penstock.core.policy import Rule
from penstock.core.queue import Queue
from penstock.core.queue_store import NO_MESSAGE
from penstock.core.queue_totals import SORT_KEYS, QueueTotals, Ranking
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message

START = 1_000_000


def put(broker: Broker, queue: bytes, at: int, count: int = 1, body: bytes = b"x", due_at: int = 0) -> None:
    for _ in range(count):
        message = Message(b"m", queue, body, at, "test")
        if due_at:
            message.options = DeliveryOptions(due_at=due_at)
        broker.put(queue, message)


@pytest.fixture
def broker() -> Broker:
    """Queues a to e, each first or last by something: f is empty."""
    made = Broker(MemoryLog(), Limits())
    made.set_time(START)
    put(made, b"a", START + 5, 3)
    put(made, b"b", START + 1, 1, bytes(5000))
    holder = Inbox(manual=True)
    made.subscribe(b"c", holder, None, START)
    put(made, b"c", START + 3, 2)
    made.subscribe(b"c", Inbox(manual=True), None, START)
    put(made, b"d", START + 2, 2, due_at=START + 10_000_000)
    put(made, b"e", START + 4, 6)
    for _ in range(5):
        made.get(b"e")
    worker = Inbox(manual=True, credit=1)
    made.subscribe(b"e", worker, None, START)
    made.reject(worker.deliveries[0])
    made.cancel(worker, START)
    made.declare(b"f")
    made.purge(b"a", made.log.next_offset, 1)
    made.set_policies([Rule([b"b"], length_max=1, full=REFUSE)])
    made.pause(b"a", True)
    return made


def totals_of(broker: Broker, step: int) -> QueueTotals:
    queues = list(broker.queues.values())
    totals = QueueTotals(broker.gone)
    for first in range(0, len(queues), step):
        totals.take(queues, first, min(first + step, len(queues)))
    return totals


@pytest.mark.parametrize("step", [1, 2, 100])
def test_all_queues_are_counted_in_slices_of_any_size(broker: Broker, step: int) -> None:
    totals = totals_of(broker, step)
    assert (totals.queues, totals.consumers, totals.paused, totals.full) == (6, 2, 1, 1)
    assert (totals.ready, totals.unacked, totals.delayed) == (4, 2, 2)
    assert totals.bytes == sum(queue.size() for queue in broker.queues.values())
    assert totals.oldest_at == START + 1
    assert (totals.counts.queued, totals.counts.retried, totals.counts.dropped) == (14, 2, 1)


def test_nothing_is_oldest_where_there_is_nothing() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.declare(b"q")
    totals = totals_of(broker, 1)
    assert (totals.queues, totals.ready, totals.oldest_at) == (1, 0, NO_MESSAGE)


# By each key, from the smallest on.
ORDERS = {
    "name": b"abcdef",
    "ready": b"cdfbea",
    "unacked": b"abdefc",
    "delayed": b"abcefd",
    "bytes": b"f",
    "consumers": b"abdefc",
    "queued": b"fbcdae",
    "delivered": b"abdfce",
    "retried": b"abcdfe",
    "dropped": b"bcdefa",
}


def names(best: list[tuple[int, bytes]]) -> bytes:
    return b"".join([name for _, name in best])


def ranked(queues: list[Queue], key: str, descending: bool, keep: int, search: bytes = b"", step: int = 2) -> Ranking:
    ranking = Ranking(key, descending, search, keep)
    for first in range(0, len(queues), step):
        ranking.take(queues, first, min(first + step, len(queues)))
    return ranking


@pytest.mark.parametrize("keep", [1, 3, 6, 10])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("key", SORT_KEYS)
def test_the_first_queues_by_a_number_are_found_in_whatever_order_they_come(
    broker: Broker, key: str, descending: bool, backwards: bool, keep: int
) -> None:
    queues = sorted(broker.queues.values(), key=lambda queue: queue.name, reverse=backwards)
    numbers = {
        "name": lambda queue: 0,
        "ready": lambda queue: queue.ready,
        "unacked": lambda queue: queue.unacked,
        "delayed": lambda queue: queue.delayed_count,
        "bytes": lambda queue: queue.size(),
        "consumers": lambda queue: queue.consumer_count(),
        "oldest": lambda queue: 0 if queue.oldest_at() == NO_MESSAGE else 2 * START - queue.oldest_at(),
        "queued": lambda queue: queue.queued,
        "delivered": lambda queue: queue.delivered,
        "retried": lambda queue: queue.retried,
        "dropped": lambda queue: queue.dropped,
    }
    by_name = sorted(queues, key=lambda queue: queue.name, reverse=descending and key == "name")
    expected = sorted(by_name, key=numbers[key], reverse=descending)
    ranking = ranked(queues, key, descending, keep)
    assert names(ranking.best) == b"".join([queue.name for queue in expected])[:keep]
    assert ranking.total == 6
    if not descending and key in ORDERS:
        assert names(ranking.best).startswith(ORDERS[key][:keep])


def test_only_queues_with_the_text_in_their_name_are_ranked(broker: Broker) -> None:
    put(broker, b"orders.de", START)
    put(broker, b"orders.fr", START, 2)
    ranking = ranked(list(broker.queues.values()), "ready", True, 10, b"orders")
    assert (ranking.total, [name for _, name in ranking.best]) == (2, [b"orders.fr", b"orders.de"])
