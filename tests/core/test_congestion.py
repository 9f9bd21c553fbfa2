"""A queue is congested by what nobody has taken yet, not by what its consumers have in work."""

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.log.tuning import Tuning
from penstock.message import Message

BODY = b"x" * 100_000
CONGESTED_BYTES = Tuning().congested_bytes
MANY = CONGESTED_BYTES // len(BODY) + 2


def fill(broker: Broker, count: int) -> None:
    for _ in range(count):
        broker.put(b"q", Message(b"m", b"q", BODY, 0, "test"))


def test_what_consumers_have_in_work_congests_nothing() -> None:
    broker = Broker(MemoryLog(), Limits())
    worker = Inbox(manual=True)
    broker.subscribe(b"q", worker, None, 0)
    fill(broker, MANY)
    queue = broker.queues[b"q"]
    assert (queue.unacked, queue.ready_bytes()) == (MANY, 0)
    broker.suspend(worker)
    fill(broker, 2)
    assert queue.bytes > CONGESTED_BYTES
    assert broker.context.congested is None
    fill(broker, MANY)
    assert broker.context.congested is queue


def test_what_waits_is_counted_in_bytes_through_every_settlement() -> None:
    broker = Broker(MemoryLog(), Limits())
    worker = Inbox(manual=True)
    broker.subscribe(b"q", worker, None, 0)
    queue = broker.queues[b"q"]
    fill(broker, 4)
    broker.accept(worker.deliveries[0])
    broker.suspend(worker)
    broker.reject(worker.deliveries[1])
    broker.release(worker.deliveries[2])
    assert (queue.ready, queue.unacked) == (2, 1)
    assert queue.ready_bytes() == 2 * queue.unacked_bytes
    broker.cancel(worker, 0)
    assert (queue.ready, queue.ready_bytes(), queue.unacked_bytes) == (3, queue.bytes, 0)
    broker.subscribe(b"q", Inbox(manual=True), None, 0)
    broker.delete(b"q")
    assert (queue.bytes, queue.unacked_bytes, broker.context.bytes) == (0, 0, 0)
