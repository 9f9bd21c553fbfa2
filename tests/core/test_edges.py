"""What only happens at the edge between what is in memory and what is not; most of it was found by simulation."""

from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.core.invariants import Inconsistent
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import replay
from penstock.core.subscription import Inbox
from penstock.core.walk import Walk
from penstock.log.memory import MemoryLog
from penstock.log.tuning import Tuning
from penstock.message import MESSAGE_OVERHEAD, DeliveryOptions, Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager
from penstock.storage.storage import recover

from ..storage.histories import write_out

SECOND = 1_000_000


def message(body: bytes = b"", terms: DeliveryOptions | None = None) -> Message:
    made = Message(b"m", b"q", body, 0, "test")
    made.options = terms
    return made


def small() -> Tuning:
    """Every message is more than is kept in memory."""
    tuning = Tuning()
    tuning.congested_bytes = tuning.head_bytes_max = tuning.tail_bytes_max = 0
    tuning.page_length = 1
    return tuning


class Bench:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log = DurableLog(1 << 20, small())
        self.log.pager = Pager(Disk(directory), self.log.tuning)
        self.broker = Broker(self.log, Limits())

    def flush(self) -> None:
        self.log.close_block(0)
        write_out(self.log, self.directory)
        self.log.written(self.log.position, self.log.next_offset)


def test_a_look_at_the_oldest_does_not_ask_the_log_for_what_it_does_not_have_yet(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for body in (b"0", b"1"):
        bench.broker.put(b"q", message(body))
    bench.flush()
    queue = bench.broker.queues[b"q"]
    queue.free_memory()
    bench.broker.put(b"q", message(b"2"))  # to the tail: not written yet
    assert [bench.broker.get(b"q") for _ in range(2)] != [None, None]
    queue.find_oldest()
    assert queue.knows_oldest()
    assert bench.log.pager is not None
    assert bench.log.pager.faults == []
    bench.flush()
    queue.free_memory()
    got = bench.broker.get(b"q")
    assert got is not None
    assert got.body == b"2"


def test_a_snapshot_knows_that_what_is_put_off_or_out_may_not_wait_for_ever() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.put(b"delayed", message(terms=DeliveryOptions(due_at=5 * SECOND, expires_at=9 * SECOND)))
    broker.subscribe(b"out", Inbox(b"out", manual=True), None, 0)
    broker.put(b"out", message(terms=DeliveryOptions(expires_at=9 * SECOND)))
    broker.put(b"for ever", message())
    broker.put(b"for ever", message(terms=DeliveryOptions(due_at=5 * SECOND)))
    assert {image.name: image.expiring for image in capture(broker, 0).queues} == {
        b"delayed": True,
        b"out": True,
        b"for ever": False,
    }


def test_a_queue_is_full_by_what_its_messages_are_found_to_cost(tmp_path: Path) -> None:
    """What was rejected is taken to cost a little after a restart; once it is read, more is known."""
    bench = Bench(tmp_path)
    inbox = Inbox(b"q", manual=True, credit=9)
    bench.broker.subscribe(b"q", inbox, None, 0)
    for _ in range(3):
        bench.broker.put(b"q", message(b"x" * 900))
    for delivery in inbox.held():
        bench.broker.reject(delivery, SECOND)
    bench.broker.tick(SECOND)
    bench.flush()
    tuning = small()
    tuning.page_length = 3
    broker, _ = recover(Disk(tmp_path), DurableLog(1 << 20, tuning), Limits(), 0)
    broker.set_policies([Rule([b"q"], bytes_max=2000)])
    queue = broker.queues[b"q"]
    assert not queue.full
    assert broker.get(b"q") is not None
    assert queue.size() == 2 * (900 + MESSAGE_OVERHEAD)
    assert queue.full


def test_a_queue_that_went_in_the_middle_of_a_turn_says_nothing_at_its_end() -> None:
    """It would be said of a queue that is not there, or of another one that has the name by then."""
    log = MemoryLog(keep=True)
    broker = Broker(log, Limits())
    inbox = Inbox(b"q", manual=True)
    broker.subscribe(b"q", inbox, None, 0)
    broker.put(b"q", message())
    broker.end_turn()
    broker.suspend(inbox)
    broker.release(inbox.held()[0])
    broker.delete(b"q")
    before = list(log.entries)
    broker.end_turn()
    assert log.entries == before
    replay(log.entries, MemoryLog(), Limits())


def test_what_comes_back_from_a_move_still_expires() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.set_policies([Rule([b"small"], length_max=1)])
    for _ in range(2):
        broker.put(b"q", message(terms=DeliveryOptions(expires_at=5 * SECOND)))
    assert broker.move(b"q", {0, 1}, b"small", 0) == 1  # and there is no room for the other one
    inbox = Inbox(b"q")
    broker.subscribe(b"q", inbox, None, 6 * SECOND)
    assert inbox.received == []


def test_a_message_that_was_taken_out_and_went_nowhere_is_missed_at_the_end_of_the_turn() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.put(b"q", message())
    broker.end_turn()
    queue = broker.queues[b"q"]
    assert len(queue.take_out([seen[0] for seen in Walk(queue.backlog).step(1)])) == 1
    with pytest.raises(Inconsistent):
        broker.end_turn()


def test_a_redrive_to_the_queue_itself_moves_nothing() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.put(b"q", message())
    assert broker.redrive(b"q", 5, b"q", 0) == 0
    assert [found.offset for found, _ in broker.queues[b"q"].contents()] == [0]
