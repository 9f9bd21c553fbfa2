"""A consumer that holds many messages gives them back in slices when it goes; order and tries are as if at once."""

from collections.abc import Iterator

import pytest

from penstock.core.broker import Broker
from penstock.core.invariants import violations, wrong_memory
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.log.tuning import Tuning
from penstock.message import Message

SLICE = 10
COUNT = 35


class House:
    def __init__(self) -> None:
        tuning = Tuning()
        tuning.at_once = SLICE
        self.log = MemoryLog(keep=True, tuning=tuning)
        self.broker = Broker(self.log, Limits())
        for number in range(COUNT):
            self.put(b"%d" % number)
        self.queue = self.broker.queues[b"q"]

    def put(self, id: bytes) -> None:
        self.broker.put(b"q", Message(id, b"q", b"body", 0, "test"))

    def consume(self, credit: int = 0, instead_of: Inbox | None = None, exclusive: bool = False) -> Inbox:
        inbox = Inbox(b"c", manual=True, credit=credit, exclusive=exclusive)
        self.broker.subscribe(b"q", inbox, instead_of, 0)
        return inbox

    def turn(self) -> None:
        self.broker.end_turn()
        self.broker.tick(0)

    def go_on(self) -> int:
        """Turns until there is nothing to do; how many."""
        turns = 0
        while self.broker.deadlines.next_due() == 0:
            self.turn()
            turns += 1
        return turns

    def check(self) -> None:
        assert wrong_memory(self.broker.context) == ""
        for queue in self.broker.queues.values():
            assert violations(queue) == ""
        assert durable_state(replay(self.log.entries, MemoryLog(), Limits())) == durable_state(self.broker)


def received(inbox: Inbox) -> list[tuple[int, int]]:
    return [(int(message.id), retry) for message, retry in inbox.received]


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    house.check()


def test_what_was_held_comes_back_in_several_turns_and_in_order(house: House) -> None:
    house.broker.cancel(house.consume(), 0)
    house.check()
    assert (house.queue.ready, house.queue.unacked, house.queue.consumer_count()) == (SLICE, COUNT - SLICE, 0)
    assert house.go_on() == 3
    assert received(house.consume()) == [(number, 1) for number in range(COUNT)]


def test_nobody_is_given_what_is_behind_while_some_of_it_is_not_back(house: House) -> None:
    first, second = house.consume(credit=COUNT), house.consume()
    house.broker.cancel(first, 0)
    third = house.consume()
    house.put(b"100")
    house.broker.allow(second, 5)
    house.broker.suspend(second)
    house.broker.resume(second)
    assert house.broker.get(b"q") is None
    assert second.received == third.received == []
    house.check()
    house.go_on()
    assert sorted(received(second) + received(third)) == [*((number, 1) for number in range(COUNT)), (100, 0)]
    assert house.queue.ready == 0


def test_who_takes_its_place_gets_all_of_it_in_order(house: House) -> None:
    former = house.consume()
    heir = house.consume(instead_of=former)
    house.put(b"100")
    house.go_on()
    assert received(heir) == [*((number, 1) for number in range(COUNT)), (100, 0)]
    assert house.queue.consumers.active == [heir]


def test_an_exclusive_one_waits_until_all_of_it_is_back(house: House) -> None:
    former = house.consume(exclusive=True)
    parked = house.consume(exclusive=True)
    house.broker.cancel(former, 0)
    assert parked.received == []
    house.go_on()
    assert received(parked) == [(number, 1) for number in range(COUNT)]


def test_two_that_leave_at_once(house: House) -> None:
    first, second = house.consume(credit=20), house.consume()
    house.broker.cancel(second, 0)
    house.broker.cancel(first, 0)
    house.check()
    house.go_on()
    assert house.queue.consumer_count() == 0
    assert received(house.consume()) == [(number, 1) for number in range(COUNT)]


def test_what_a_consumer_that_left_says_of_its_messages_counts_no_more(house: House) -> None:
    inbox = house.consume()
    house.broker.cancel(inbox, 0)
    for delivery in inbox.deliveries:
        house.broker.accept(delivery)
        house.broker.reject(delivery)
        house.broker.release(delivery)
    house.broker.cancel(inbox, 0)
    house.go_on()
    assert received(house.consume()) == [(number, 1) for number in range(COUNT)]


def test_a_broker_that_dies_in_between_counts_one_try_for_each(house: House) -> None:
    inbox = house.consume()
    house.broker.end_turn()
    house.broker.cancel(inbox, 0)
    house.turn()
    again = replay(house.log.entries, MemoryLog(), Limits())
    again.return_lost(0)
    assert [retry for _, retry in again.queues[b"q"].contents()] == [1] * COUNT


@pytest.mark.parametrize("expires_after", [-1, 0])
def test_the_queue_may_be_deleted_in_between(house: House, expires_after: int) -> None:
    house.broker.expire(b"q", expires_after)
    inbox = house.consume()
    house.broker.cancel(inbox, 0)
    assert house.broker.delete(b"q") == (expires_after < 0)
    assert house.go_on() == 0
    assert (inbox.in_flight, inbox.over) == (0, False)
    assert house.broker.context.bytes == 0
    house.put(b"0")
    assert received(house.consume()) == [(0, 0)]


def test_the_last_try_may_be_over_for_all_of_it(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], deliveries_max=1, dead_letter=b"dead")])
    house.broker.cancel(house.consume(), 0)
    house.go_on()
    assert (house.queue.length(), house.broker.queues[b"dead"].ready) == (0, COUNT)


def test_many_queues_at_once_do_not_make_a_turn_longer(house: House) -> None:
    house.log.tuning.tick_work = 2 * SLICE
    names = [b"q%d" % number for number in range(8)]
    inboxes = []
    for name in names:
        for number in range(COUNT):
            house.broker.put(name, Message(b"%d" % number, name, b"body", 0, "test"))
        inbox = Inbox(b"c", manual=True)
        house.broker.subscribe(name, inbox, None, 0)
        inboxes.append(inbox)
    for inbox in inboxes:
        house.broker.cancel(inbox, 0)
    worst = 0
    while house.broker.deadlines.next_due() == 0:
        before = house.broker.context.work
        house.turn()
        worst = max(worst, house.broker.context.work - before)
    assert SLICE <= worst <= 4 * SLICE
    assert all(house.broker.queues[name].ready == COUNT for name in names)
