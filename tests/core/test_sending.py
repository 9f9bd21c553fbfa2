"""Large messages go out one after the other: the next when sockets have taken those before it."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import LARGE_BODY, Limits
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.message import Message


@pytest.fixture
def broker() -> Broker:
    made = Broker(MemoryLog(), Limits())
    made.context.unsent_max = 3 * LARGE_BODY
    return made


def put(broker: Broker, *sizes: int, queue: bytes = b"q") -> None:
    for size in sizes:
        broker.put(queue, Message(b"m", queue, bytes(size), 0, "test"))


def sizes_of(inbox: Inbox) -> list[int]:
    return [len(message.body) for message, _ in inbox.received]


def sent(broker: Broker, unsent: int) -> None:
    """Sockets have taken all but so much, and time goes on."""
    broker.context.sent({"": unsent} if unsent else {})
    broker.tick(0)


def test_a_large_message_waits_until_others_are_sent(broker: Broker) -> None:
    put(broker, *[2 * LARGE_BODY] * 3)
    inbox = Inbox()
    broker.subscribe(b"q", inbox, None, 0)
    assert sizes_of(inbox) == [2 * LARGE_BODY]
    assert broker.queues[b"q"].ready == 2
    sent(broker, 2 * LARGE_BODY)
    assert len(inbox.received) == 1
    sent(broker, LARGE_BODY)
    assert len(inbox.received) == 2
    sent(broker, 0)
    assert len(inbox.received) == 3
    assert broker.queues[b"q"].ready == 0


def test_one_that_is_larger_than_all_may_be_goes_out_alone(broker: Broker) -> None:
    put(broker, 10 * LARGE_BODY, 10 * LARGE_BODY)
    inbox = Inbox()
    broker.subscribe(b"q", inbox, None, 0)
    assert len(inbox.received) == 1
    sent(broker, 0)
    assert len(inbox.received) == 2


def test_consumers_of_all_queues_wait_for_each_other(broker: Broker) -> None:
    inboxes = {name: Inbox() for name in (b"a", b"b", b"c")}
    for name, inbox in inboxes.items():
        broker.subscribe(name, inbox, None, 0)
        put(broker, 2 * LARGE_BODY, queue=name)
    assert [len(inbox.received) for inbox in inboxes.values()] == [1, 0, 0]
    sent(broker, 0)
    assert [len(inbox.received) for inbox in inboxes.values()] == [1, 1, 0]
    sent(broker, 0)
    assert [len(inbox.received) for inbox in inboxes.values()] == [1, 1, 1]


def test_small_messages_do_not_wait_for_large_ones_of_other_queues(broker: Broker) -> None:
    large, small = Inbox(), Inbox()
    broker.subscribe(b"large", large, None, 0)
    broker.subscribe(b"small", small, None, 0)
    put(broker, 5 * LARGE_BODY, 5 * LARGE_BODY, queue=b"large")
    put(broker, 1, 2, queue=b"small")
    assert (len(large.received), len(small.received)) == (1, 2)


def test_the_order_of_a_queue_is_kept(broker: Broker) -> None:
    inbox = Inbox(manual=True)
    broker.subscribe(b"q", inbox, None, 0)
    put(broker, 4 * LARGE_BODY, 4 * LARGE_BODY, 1)
    broker.accept(inbox.deliveries[0])
    put(broker, 2)
    assert sizes_of(inbox) == [4 * LARGE_BODY]
    sent(broker, 0)
    assert sizes_of(inbox) == [4 * LARGE_BODY, 4 * LARGE_BODY, 1, 2]


def test_a_queue_that_was_deleted_meanwhile_is_passed_over(broker: Broker) -> None:
    first, second = Inbox(), Inbox()
    broker.subscribe(b"a", first, None, 0)
    broker.subscribe(b"b", second, None, 0)
    put(broker, 4 * LARGE_BODY, 4 * LARGE_BODY, queue=b"a")
    put(broker, 4 * LARGE_BODY, queue=b"b")
    broker.delete(b"a")
    sent(broker, 0)
    assert len(second.received) == 1


def test_a_large_broadcast_reaches_as_many_as_there_is_room_for(broker: Broker) -> None:
    inboxes = [Inbox() for _ in range(4)]
    for inbox in inboxes:
        broker.subscribe(b"q", inbox, None, 0)
    broker.broadcast(b"q", Message(b"m", b"q", bytes(LARGE_BODY), 0, "test"))
    assert [len(inbox.received) for inbox in inboxes] == [1, 1, 1, 0]
    broker.broadcast(b"q", Message(b"m", b"q", b"small", 0, "test"))
    assert [len(inbox.received) for inbox in inboxes] == [2, 2, 2, 1]


def test_who_has_nothing_on_its_way_does_not_wait_for_others_who_are_slow(broker: Broker) -> None:
    slow = [Inbox() for _ in range(2)]
    for number, inbox in enumerate(slow):
        inbox.holder = "user slow"
        broker.subscribe(b"slow%d" % number, inbox, None, 0)
        put(broker, *[2 * LARGE_BODY] * 2, queue=b"slow%d" % number)
    assert [len(inbox.received) for inbox in slow] == [1, 0]
    quick = Inbox()
    quick.holder = "user quick"
    broker.subscribe(b"quick", quick, None, 0)
    put(broker, *[3 * LARGE_BODY] * 2, queue=b"quick")
    assert len(quick.received) == 1  # the second waits for the first
    broker.context.sent({"user slow": 2 * LARGE_BODY})
    broker.tick(0)
    assert len(quick.received) == 2
    assert [len(inbox.received) for inbox in slow] == [1, 0]


def test_what_waits_is_not_looked_at_again_and_again(broker: Broker) -> None:
    inbox = Inbox()
    broker.subscribe(b"q", inbox, None, 0)
    put(broker, LARGE_BODY, 10 * LARGE_BODY)
    for _ in range(3):
        broker.context.sent({"": LARGE_BODY})
        assert broker.deadlines.next_due() < 0
    sent(broker, 0)
    assert len(inbox.received) == 2


def test_where_nobody_counts_nothing_waits() -> None:
    broker = Broker(MemoryLog(), Limits())
    inbox = Inbox()
    broker.subscribe(b"q", inbox, None, 0)
    put(broker, *[LARGE_BODY] * 5)
    assert len(inbox.received) == 5


@pytest.mark.parametrize("waits_first", [False, True])
def test_what_is_given_out_in_one_turn_has_an_end_and_goes_on_in_the_next(waits_first: bool) -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.context.unsent_max = 1 << 40
    inboxes = [Inbox() for _ in range(3)]
    body = 1_000_000  # not large enough to be counted on its way out
    for number, inbox in enumerate(inboxes):
        if waits_first:
            broker.subscribe(b"q%d" % number, inbox, None, 0)
        for _ in range(4):
            broker.put(b"q%d" % number, Message(b"m", b"q%d" % number, b"x" * body, 0, "test"))
    for number, inbox in enumerate(inboxes):
        if not waits_first:
            broker.subscribe(b"q%d" % number, inbox, None, 0)
    turns = []
    while broker.deadlines.next_due() == 0:
        turns.append(sum(len(inbox.received) for inbox in inboxes))
        broker.end_turn()
        broker.tick(0)
    assert turns == [5, 10]
    assert [len(inbox.received) for inbox in inboxes] == [4, 4, 4]
