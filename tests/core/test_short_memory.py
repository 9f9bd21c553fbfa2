"""One limit for what is in memory, whatever consumers do: a backlog on disk, and those who take and do not settle."""

from collections.abc import Callable, Iterator

import pytest

from penstock.core.broker import Broker
from penstock.core.invariants import violations, wrong_memory
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog, ReadableLog
from penstock.log.tuning import Tuning
from penstock.message import MESSAGE_OVERHEAD, DeliveryOptions, Message

KIB = 1 << 10
MEMORY = 256 * KIB
BODY = 2 * KIB
COST = BODY + MESSAGE_OVERHEAD
PAGE = 8 * KIB


def small() -> Tuning:
    tuning = Tuning()
    tuning.page_bytes = PAGE
    tuning.head_bytes_max = 16 * KIB
    tuning.tail_bytes_max = 8 * KIB
    tuning.congested_bytes = 4 * KIB
    return tuning


def offsets(inbox: Inbox) -> list[int]:
    return [message.offset for message, _ in inbox.received]


class House:
    def __init__(self, unacked_bytes_max: int = 1 << 40) -> None:
        self.log = ReadableLog(keep=True, tuning=small())
        self.limits = Limits(memory_bytes_max=MEMORY, unacked_bytes_max=unacked_bytes_max)
        self.broker = Broker(self.log, self.limits)
        self.now = 0

    def put(self, queue: bytes, count: int, body: bytes = b"x" * BODY, terms: DeliveryOptions | None = None) -> None:
        for _ in range(count):
            message = Message(b"%d" % self.log.next_offset, queue, body, self.now, "test")
            message.options = terms
            self.broker.put(queue, message)
            self.log.readable = self.log.next_offset

    def chill(self) -> None:
        for queue in self.broker.queues.values():
            queue.free_memory()

    def consume(self, queue: bytes, manual: bool = True, credit: int = 0) -> Inbox:
        inbox = Inbox(b"c", manual=manual, credit=credit)
        self.broker.subscribe(queue, inbox, None, self.now)
        return inbox

    def bury_the_rest(self, queue: bytes) -> None:
        """Where tries are used up and memory was short, in as many turns as it takes: a turn ends with a write."""
        while ready := self.broker.queues[queue].ready:
            self.log.readable = self.log.next_offset
            self.broker.cancel(self.consume(queue), self.now)
            assert self.broker.queues[queue].ready < ready

    def go_on(self) -> None:
        """Turns of the loop, until there is nothing to do at once."""
        while 0 <= self.broker.deadlines.next_due() <= self.now:
            self.broker.tick(self.now)

    def check(self) -> None:
        broker = self.broker
        assert wrong_memory(broker.context) == ""
        for queue in broker.queues.values():
            assert violations(queue) == ""
            held = [d for s in queue.consumers.active for d in s.held()]
            messages = [*queue.backlog.in_memory(), *queue.delayed.in_memory()]
            assert queue.bytes_in_memory() == (
                sum(m.size for m in messages) + sum(MESSAGE_OVERHEAD if d.message is None else d.size for d in held)
            )
        assert durable_state(replay(self.log.entries, MemoryLog(), self.limits)) == durable_state(broker)


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    house.check()


def test_who_does_not_settle_gets_no_more_than_fits(house: House) -> None:
    house.put(b"q", 4000)  # 9 MB, and a memory of a quarter of one
    house.chill()
    inbox = house.consume(b"q")
    assert house.broker.context.bytes <= MEMORY + PAGE + COST
    assert inbox.in_flight == pytest.approx(MEMORY / MESSAGE_OVERHEAD, rel=0.2)  # an un-acked message is its overhead
    house.check()
    house.go_on()
    assert offsets(inbox) == list(range(inbox.in_flight))


def test_what_was_let_go_of_while_it_was_out_comes_back_unread_and_in_order(house: House) -> None:
    house.put(b"q", 2000)
    house.chill()
    inbox = house.consume(b"q")
    count = inbox.in_flight
    fetched = house.log.fetched
    house.broker.cancel(inbox, 0)
    house.check()
    house.go_on()
    assert house.log.fetched == fetched
    assert house.broker.context.bytes <= MEMORY
    house.check()
    other = house.consume(b"q", manual=False)
    assert offsets(other) == list(range(2000))
    assert house.broker.queues[b"q"].retried == count


def test_a_consumer_that_settles_goes_through_all_of_it(house: House) -> None:
    house.put(b"q", 3000)
    house.chill()
    inbox = house.consume(b"q")
    while inbox.oldest is not None:
        house.broker.accept(inbox.oldest)
        house.go_on()
        assert house.broker.context.bytes <= MEMORY + PAGE + COST
    assert offsets(inbox) == list(range(3000))


def test_who_was_held_up_goes_on_when_another_gives_bytes_back(house: House) -> None:
    house.put(b"greedy", 2000)
    house.put(b"q", 1000)
    house.chill()
    greedy = house.consume(b"greedy")
    inbox = house.consume(b"q")
    assert inbox.in_flight == 1  # one is always given
    for _ in range(3):
        assert inbox.oldest is not None
        house.broker.accept(inbox.oldest)
        assert inbox.in_flight == 1
    house.check()
    house.broker.cancel(greedy, 0)
    assert inbox.in_flight == 1  # not in the middle of somebody else's verb
    house.go_on()
    assert inbox.in_flight > 900
    house.check()


def test_those_who_are_held_up_take_turns(house: House) -> None:
    names = [b"a", b"b", b"c"]
    for name in names:
        house.put(name, 1500)
    house.chill()
    inboxes = [house.consume(name) for name in names]
    house.broker.suspend(inboxes[0])  # it settles, and wants no more
    for delivery in inboxes[0].held():
        house.broker.accept(delivery)
        house.go_on()
    assert min(inboxes[1].in_flight, inboxes[2].in_flight) > 100
    house.check()


def test_a_deleted_queue_is_not_waited_for(house: House) -> None:
    house.put(b"greedy", 2000)
    house.put(b"q", 1000)
    house.chill()
    house.consume(b"greedy")
    house.consume(b"q")
    house.broker.delete(b"q")
    house.broker.delete(b"greedy")
    house.go_on()
    assert house.broker.context.bytes == 0


def test_what_is_in_memory_anyway_is_given_however_short_that_is() -> None:
    log = MemoryLog()
    broker = Broker(log, Limits(memory_bytes_max=4 * COST, unacked_bytes_max=1 << 40))
    for number in range(10):
        broker.put(b"q", Message(b"%d" % number, b"q", b"x" * BODY, 0, "test"))
    inbox = Inbox(b"c", manual=True)
    broker.subscribe(b"q", inbox, None, 0)
    assert inbox.in_flight == 10


def test_heads_that_were_read_for_nobody_make_room(house: House) -> None:
    for number in range(40):
        house.put(b"idle %d" % number, 10)
    house.put(b"q", 1000)
    house.chill()
    for number in range(40):
        house.consume(b"idle %d" % number, credit=1)  # one is out, and a page is in memory
    assert house.broker.context.bytes > MEMORY / 2
    inbox = house.consume(b"q")
    assert inbox.in_flight > 300


def test_credit_counts_bytes() -> None:
    house = House(unacked_bytes_max=10 * COST)
    house.put(b"q", 30)
    house.chill()
    inbox, other = house.consume(b"q"), house.consume(b"q", credit=5)
    assert (inbox.in_flight, other.in_flight) == (10, 5)
    assert inbox.oldest is not None
    house.broker.accept(inbox.oldest)
    assert (inbox.in_flight, other.in_flight) == (10, 5)
    house.put(b"large", 2, b"x" * 20 * COST)
    large = house.consume(b"large")
    assert large.in_flight == 1  # one is always given
    house.check()


def test_unless_said_a_consumer_holds_a_quarter_of_the_memory() -> None:
    assert Limits(memory_bytes_max=400).unacked_bytes_max == 100
    assert Limits(memory_bytes_max=400, unacked_bytes_max=70).unacked_bytes_max == 70


Settle = Callable[[House, Inbox], None]


def reject(house: House, inbox: Inbox) -> None:
    for delivery in inbox.held():
        house.broker.reject(delivery, 0)


def reject_for_later(house: House, inbox: Inbox) -> None:
    for delivery in inbox.held():
        house.broker.reject(delivery, 5)
    house.check()
    house.now = 5
    house.go_on()


def release(house: House, inbox: Inbox) -> None:
    for delivery in reversed(inbox.held()):
        house.broker.release(delivery)


@pytest.mark.parametrize("settle", [reject, reject_for_later, release])
def test_whatever_way_it_comes_back_it_is_not_read_for_that(house: House, settle: Settle) -> None:
    house.put(b"q", 1500)
    house.chill()
    inbox = house.consume(b"q")
    count = inbox.in_flight
    kept = sum(delivery.message is not None for delivery in inbox.held())
    assert kept < 100 < count - kept
    fetched = house.log.fetched
    house.broker.suspend(inbox)
    settle(house, inbox)
    assert house.log.fetched <= fetched + 10  # the first of the queue may be looked at
    assert house.broker.context.bytes <= MEMORY
    house.check()
    first = list(range(count)) if settle is release else list(range(count, 1500))
    house.broker.cancel(inbox, 0)
    house.go_on()
    other = house.consume(b"q", manual=False)
    assert offsets(other) == first + [n for n in range(1500) if n not in set(first)]


def test_terms_outlive_a_message_that_was_let_go_of(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], dead_letter=b"dead")])
    house.put(b"q", 300, terms=DeliveryOptions(deliveries_max=2))
    house.put(b"other", 300, terms=DeliveryOptions(expires_at=100))
    house.chill()
    inbox, other = house.consume(b"q"), house.consume(b"other")
    assert inbox.held()[-1].message is None
    assert other.held()[-1].message is None
    house.broker.cancel(inbox, 0)
    inbox = house.consume(b"q")
    house.broker.cancel(inbox, 0)
    house.bury_the_rest(b"q")
    dead = house.broker.queues[b"dead"]
    assert dead.ready == len(inbox.received) == 300
    assert house.broker.queues[b"q"].dead_lettered == 300
    house.broker.cancel(other, 0)
    house.now = 100
    house.broker.tick(100)
    assert house.broker.queues[b"other"].ready == 0
    assert house.broker.queues[b"other"].expired == 300


def test_tries_end_unread_where_nobody_wants_the_dead(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], deliveries_max=1)])
    house.put(b"q", 600)
    house.chill()
    inbox = house.consume(b"q")
    count = inbox.in_flight
    fetched = house.log.fetched
    house.broker.cancel(inbox, 0)
    assert house.log.fetched == fetched
    assert house.broker.queues[b"q"].dropped == count


def test_dead_letters_of_many_who_leave_at_once_do_not_take_all_the_memory(house: House) -> None:
    house.put(b"q", 1000)
    house.chill()
    inboxes = [house.consume(b"q", credit=100) for _ in range(10)]
    house.chill()
    house.broker.set_policies([Rule([b"q"], deliveries_max=1, dead_letter=b"dead")])
    for inbox in inboxes:
        house.broker.cancel(inbox, 0)
    queue = house.broker.queues[b"q"]
    assert house.broker.context.bytes < MEMORY // 2
    assert 0 < house.broker.queues[b"dead"].ready < 100
    assert queue.length() + house.broker.queues[b"dead"].length() == 1000
    house.check()
    house.bury_the_rest(b"q")
    assert house.broker.queues[b"dead"].length() == 1000
    assert house.broker.context.bytes < MEMORY
    house.check()


def test_one_that_cannot_be_read_again_is_no_dead_letter_and_is_still_owed(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], dead_letter=b"dead")])
    house.put(b"q", 300)
    house.chill()
    inbox = house.consume(b"q")
    last = inbox.held()[-1]
    assert last.message is None
    house.log.broken.add(last.offset)
    house.broker.suspend(inbox)
    house.broker.bury(last)
    assert b"dead" not in house.broker.queues
    house.broker.cancel(inbox, 0)
    other = house.consume(b"q", manual=False)
    assert last.offset not in offsets(other)
    assert [place[2] for place in house.broker.queues[b"q"].unreadable] == [last.offset]


def test_what_is_out_is_let_go_of_when_memory_is_freed(house: House) -> None:
    inbox = house.consume(b"q")
    house.put(b"q", 20)  # straight through, when the log could not give it back yet
    assert house.broker.context.bytes == 20 * COST
    house.chill()
    assert house.broker.context.bytes == 20 * MESSAGE_OVERHEAD
    assert house.broker.queues[b"q"].oldest_at() == 0
    for delivery in inbox.held():
        house.broker.accept(delivery)
    assert house.broker.context.bytes == 0


def test_a_delayed_message_that_comes_due_is_not_read_for_that(house: House) -> None:
    house.put(b"q", 200, terms=DeliveryOptions(due_at=10))
    house.chill()
    assert house.broker.context.bytes == 0
    house.now = 10
    house.broker.tick(10)
    assert house.log.fetched <= 10
    assert house.broker.queues[b"q"].ready == 200
    other = house.consume(b"q", manual=False)
    assert offsets(other) == list(range(200))


def test_what_comes_back_to_the_end_of_a_long_queue_does_not_bring_the_queue_with_it(house: House) -> None:
    house.put(b"q", 1)
    inbox = house.consume(b"q", credit=1)
    house.broker.suspend(inbox)
    house.put(b"q", 2000)
    house.broker.reject(inbox.held()[0], 0)
    house.put(b"q", 500)
    house.chill()
    other = house.consume(b"q", manual=True, credit=2001)
    house.broker.suspend(other)
    for delivery in other.held()[:-1]:
        house.broker.accept(delivery)
    house.put(b"q", 10)
    house.chill()
    fetched = house.log.fetched
    house.broker.cancel(other, 0)
    assert house.log.fetched == fetched
    house.check()


def test_a_redrive_of_a_long_queue_without_dead_letters_keeps_nothing(house: House) -> None:
    house.put(b"q", 4000)
    house.chill()
    redrive = house.broker.start_redrive(b"q", 1, b"", 0)
    steps = 0
    while not house.broker.step_redrive(redrive, 0):
        steps += 1
        assert house.broker.context.bytes == 0
        assert house.log.fetched <= 500 * steps
    assert steps >= 4000 // 500
    assert (redrive.moved, redrive.targets) == (0, {})


def test_a_redrive_looks_at_what_was_there_when_it_began(house: House) -> None:
    house.put(b"q", 700)
    redrive = house.broker.start_redrive(b"q", 10_000, b"to", 0)
    assert not house.broker.step_redrive(redrive, 0)
    house.put(b"q", 5)
    while not house.broker.step_redrive(redrive, 0):
        pass
    assert (redrive.moved, redrive.targets, redrive.moved_bytes) == (700, {b"to": 700}, 700 * BODY)
    assert house.broker.queues[b"q"].ready == 5
    assert house.broker.redrive_targets(b"to", 300, b"q") == {b"q": 300}
    redrive = house.broker.start_redrive(b"to", 10_000, b"q", 0)
    house.broker.delete(b"to")
    assert house.broker.step_redrive(redrive, 0)
    assert redrive.moved == 0
