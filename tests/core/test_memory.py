"""What may leave memory, what has to stay, and in which order it comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.queue import Queue
from penstock.core.subscription import Inbox, Waiter
from penstock.errors import Refused
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message, Requester

from .test_care import Bench

LARGE = b"x" * (1 << 20)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A broker on a log in a directory. What is not written yet cannot be read back."""
    made = Bench(tmp_path)
    yield made
    made.check()
    assert made.log.pager is not None
    made.log.pager.close()


def queue_of(bench: Bench) -> Queue:
    return bench.broker.queues[b"q"]


def received(inbox: Inbox) -> list[bytes]:
    return [message.id for message, _ in inbox.received]


def check_bytes(bench: Bench) -> None:
    """What is counted is what is in memory."""
    queue = queue_of(bench)
    held = sum(message.size for message in [*queue.backlog.in_memory(), *queue.delayed.in_memory()])
    assert bench.broker.context.bytes == held + queue.unacked_bytes


# -- the head of a backlog ---------------------------------------------------------------------------------------------


def test_what_the_log_cannot_give_back_yet_stays_in_memory_and_in_its_place(bench: Bench) -> None:
    bench.put(b"q", 3)
    bench.write()
    bench.put(b"q", 3)
    queue = queue_of(bench)
    size = queue.bytes
    assert bench.broker.queues[b"q"].free_memory() == size // 2
    backlog = queue.backlog
    assert sorted(message.id for message in backlog.in_memory()) == [b"m3", b"m4", b"m5"]
    assert (len(backlog), backlog.cold, queue.bytes) == (6, size // 2, size)
    check_bytes(bench)
    bench.put(b"q", 2)
    assert received(bench.consume(b"q")) == [b"m%d" % number for number in range(8)]


def test_nothing_leaves_memory_where_the_log_can_give_nothing_back() -> None:
    broker = Broker(MemoryLog(), Limits())
    for number in range(3):
        broker.put(b"q", Message(b"m%d" % number, b"q", b"body", 0, "test"))
    queue = broker.queues[b"q"]
    assert queue.free_memory() == 0
    assert (len(queue.backlog.in_memory()), queue.backlog.is_long) == (3, False)
    inbox = Inbox()
    broker.subscribe(b"q", inbox, None, 0)
    assert received(inbox) == [b"m0", b"m1", b"m2"]


def test_a_head_that_cannot_be_read_back_does_not_fall_behind_what_can(bench: Bench) -> None:
    """A rejected message is in the log long since, and stands behind new ones that are not."""
    worker = Inbox(b"c", manual=True, credit=1)
    bench.put(b"q")
    bench.broker.subscribe(b"q", worker, None, 0)
    bench.write()
    count = bench.log.tuning.head_bytes_max // len(LARGE)  # with what each costs besides, it is more
    bench.put(b"q", count, LARGE)
    queue = queue_of(bench)
    assert queue.backlog.is_long
    bench.broker.suspend(worker)
    bench.broker.reject(worker.deliveries[0])
    queue.free_memory()
    assert queue.backlog.spans
    assert len(queue.backlog.head) == count  # its place is before the span
    check_bytes(bench)
    bench.broker.cancel(worker, 0)
    assert received(bench.consume(b"q")) == [*[b"m%d" % (number + 1) for number in range(count)], b"m0"]


def test_what_could_not_be_sealed_counts_in_the_tail(bench: Bench) -> None:
    bench.put(b"q")
    bench.write()
    bench.put(b"q", bench.log.tuning.tail_bytes_max // len(LARGE), LARGE)
    queue = queue_of(bench)
    queue.free_memory()
    assert queue.backlog.has_long_tail()
    bench.chill()
    assert not queue.backlog.has_long_tail()
    assert queue.backlog.in_memory() == []
    check_bytes(bench)


def test_a_long_queue_keeps_a_short_tail_in_memory(bench: Bench) -> None:
    tuning = bench.log.tuning
    tuning.congested_bytes, tuning.head_bytes_max, tuning.tail_bytes_max = 100, 2_000, 1_000
    bench.put(b"q")
    bench.write()
    queue = queue_of(bench)
    for _ in range(100):
        bench.put(b"q")
        bench.write()
    assert sum(message.size for message in queue.backlog.in_memory()) < 3_000 + 2 * bench.message(b"q").size
    check_bytes(bench)
    assert len(received(bench.consume(b"q"))) == 101


def test_a_message_somebody_waits_for_is_the_same_one_after_memory_was_freed(bench: Bench) -> None:
    bench.put(b"q")
    request = bench.message(b"q")
    request.requester = Requester()
    bench.broker.put(b"q", request)
    bench.put(b"q")
    bench.chill()
    assert queue_of(bench).backlog.in_memory() == [request]
    inbox = bench.consume(b"q")
    assert received(inbox) == [b"m0", b"m1", b"m2"]
    assert inbox.received[1][0] is request


def test_requests_that_wait_for_their_reply_have_a_quarter_of_the_memory() -> None:
    broker = Broker(MemoryLog(), Limits(memory_bytes_max=16 << 20))
    waiting = [request(number) for number in range(4)]
    for each in waiting:
        broker.put(b"q", each)
    with pytest.raises(
        Refused, match=r"\d+ of 4194304 bytes for requests .*: the limit is a quarter of memory_bytes_max"
    ):
        broker.put(b"q", request(4))
    assert broker.refused == 1
    broker.put(b"q", Message(b"nobody waits for it", b"q", LARGE, 0, "test"))

    assert broker.reply(waiting[0].id, b"done")  # a reply makes room, as does whoever gives up
    broker.put(b"q", request(5))
    broker.forget_request(waiting[1], revoke=False)
    broker.put(b"q", request(6))
    with pytest.raises(Refused, match="a quarter of memory_bytes_max"):
        broker.put(b"q", request(7))


def test_a_request_that_is_not_taken_makes_no_queue() -> None:
    broker = Broker(MemoryLog(), Limits(memory_bytes_max=1 << 20))
    broker.put(b"q", request(0))  # one is always taken
    with pytest.raises(Refused, match="a quarter of memory_bytes_max"):
        broker.put(b"other", request(1))
    assert list(broker.queues) == [b"q"]


def request(number: int) -> Message:
    made = Message(b"request %d" % number, b"q", LARGE[:-1000], 0, "test")
    made.requester = Waiter()
    return made


def test_large_requests_that_were_given_up_leave_a_long_queue_before_they_are_half_of_it() -> None:
    broker = Broker(MemoryLog(), Limits(memory_bytes_max=16 << 20))
    for number in range(1000):
        broker.put(b"q", Message(b"m%d" % number, b"q", b"small", 0, "test"))
    for number in range(10):
        given_up = request(number)
        broker.put(b"q", given_up)
        broker.forget_request(given_up, revoke=True)
    assert broker.context.bytes < 1000 * Message(b"", b"q", b"small", 0, "test").size + 2 * len(LARGE)


# -- delayed messages --------------------------------------------------------------------------------------------------


def delayed(bench: Bench, requester: Requester | None = None) -> Message:
    message = bench.message(b"q")
    message.options = DeliveryOptions(due_at=1_000)
    message.requester = requester
    bench.broker.put(b"q", message)
    return message


def test_a_delayed_request_stays_in_memory_and_a_delayed_message_does_not(bench: Bench) -> None:
    plain, request = delayed(bench), delayed(bench, Requester())
    queue = queue_of(bench)
    size = queue.delayed.bytes
    bench.chill()
    assert queue.delayed.in_memory() == [request]
    assert (queue.delayed.bytes, queue.delayed.cold) == (size, plain.size)
    check_bytes(bench)
    inbox = bench.consume(b"q")
    bench.broker.tick(1_000)
    assert received(inbox) == [plain.id, request.id]
    assert inbox.received[1][0] is request
    assert inbox.received[1][0].requester is not None


def test_a_delayed_message_that_was_given_up_is_not_delivered_after_memory_was_freed(bench: Bench) -> None:
    given_up = delayed(bench)
    kept = delayed(bench)
    bench.broker.forget_request(given_up, revoke=True)
    bench.chill()
    inbox = bench.consume(b"q")
    bench.broker.tick(1_000)
    assert received(inbox) == [kept.id]
    check_bytes(bench)


def test_delayed_messages_that_were_given_up_do_not_wait_for_their_time_in_memory(bench: Bench) -> None:
    kept = delayed(bench)
    for number in range(4):
        given_up = delayed(bench, Requester())
        bench.broker.forget_request(given_up, revoke=True)
        assert queue_of(bench).delayed.in_memory() == [kept], number
        check_bytes(bench)
    inbox = bench.consume(b"q")
    bench.broker.tick(1_000)
    assert received(inbox) == [kept.id]


def test_a_delayed_message_that_is_not_written_yet_stays_in_memory(bench: Bench) -> None:
    written = delayed(bench)
    bench.write()
    fresh = delayed(bench)
    queue = queue_of(bench)
    assert queue.free_memory() == written.size
    assert queue.free_memory() == 0
    assert queue.delayed.in_memory() == [fresh]
    inbox = bench.consume(b"q")
    bench.broker.tick(1_000)
    assert received(inbox) == [written.id, fresh.id]
    assert queue.unreadable == []


# -- many queues -------------------------------------------------------------------------------------------------------


def test_of_many_queues_some_are_looked_at_at_a_time_and_none_is_forgotten(bench: Bench) -> None:
    broker, context = bench.broker, bench.broker.context
    bench.log.tuning.freed_at_once = 2
    context.keep_max = 0
    names = [b"q%d" % number for number in range(5)]
    for name in names:
        bench.put(name, 3)
    bench.write()
    before = context.bytes
    freed: list[int] = []
    while not freed or context.is_freeing:
        freed.append(broker.free_memory())
    assert freed == [before * 2 // 5, before * 2 // 5, before // 5]
    assert context.bytes == 0
    assert len(context.warm) == 5  # this turn may bring them more
    broker.end_turn()
    broker.free_memory()
    assert (context.is_freeing, len(context.warm)) == (True, 3)


def test_a_queue_with_nothing_in_memory_is_not_looked_at_until_it_has_something_again(bench: Bench) -> None:
    broker, context = bench.broker, bench.broker.context
    context.keep_max = 0
    for name in (b"a", b"b", b"gone"):
        bench.put(name, 1)
    bench.write()
    broker.end_turn()
    broker.delete(b"gone")
    broker.end_turn()
    broker.free_memory()
    assert list(context.warm) == []
    bench.put(b"b", 1)
    broker.end_turn()
    assert list(context.warm) == [broker.queues[b"b"]]
    assert broker.free_memory() == 0  # the log cannot give it back yet
    assert list(context.warm) == [broker.queues[b"b"]]
    bench.write()
    assert broker.free_memory() > 0
    assert list(context.warm) == []
