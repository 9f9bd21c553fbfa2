"""One message in many queues is in memory once, and counts once: whoever holds it last gives it back."""

from collections.abc import Iterator

import pytest

from penstock.core.broker import Broker
from penstock.core.delivery import Delivery
from penstock.core.invariants import violations, wrong_memory
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog, ReadableLog
from penstock.message import MESSAGE_OVERHEAD, DeliveryOptions, Message

BODY = b"x" * 100_000
QUEUES = 50


class House:
    def __init__(self) -> None:
        self.log = ReadableLog(keep=True)
        self.limits = Limits(memory_bytes_max=1 << 20)
        self.broker = Broker(self.log, self.limits)
        self.names = [b"q%d" % number for number in range(QUEUES)]
        for name in self.names:
            self.broker.bind(name, (b"news",))

    @property
    def bytes(self) -> int:
        return self.broker.context.bytes

    def publish(self, terms: DeliveryOptions | None = None) -> None:
        message = Message(b"m%d" % self.log.next_offset, b"news", BODY, 0, "test")
        message.options = terms
        self.broker.publish(message)
        self.check()

    def consume_all(self) -> list[Inbox]:
        inboxes = [Inbox(b"c", manual=True) for _ in self.names]
        for name, inbox in zip(self.names, inboxes, strict=True):
            self.broker.subscribe(name, inbox, None, 0)
        self.check()
        return inboxes

    def first(self, inbox: Inbox) -> Delivery:
        found = inbox.oldest
        assert found is not None
        return found

    def go_on(self, now: int) -> None:
        self.broker.tick(now)
        while 0 <= self.broker.deadlines.next_due() <= now:
            self.broker.tick(now)

    def check(self) -> None:
        assert wrong_memory(self.broker.context) == ""
        for queue in self.broker.queues.values():
            assert violations(queue) == ""


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    house.check()
    assert durable_state(replay(house.log.entries, MemoryLog(), house.limits)) == durable_state(house.broker)


def test_a_message_in_many_queues_counts_once(house: House) -> None:
    house.publish()
    assert house.bytes == len(BODY) + QUEUES * MESSAGE_OVERHEAD
    assert all(queue.bytes == len(BODY) + MESSAGE_OVERHEAD for queue in house.broker.queues.values())


def test_who_reads_it_and_does_not_ack_counts_it_once_as_well_and_the_last_gives_it_back(house: House) -> None:
    inboxes = house.consume_all()
    house.publish()
    assert house.bytes == len(BODY) + QUEUES * MESSAGE_OVERHEAD
    for done, inbox in enumerate(inboxes, 1):
        house.broker.accept(house.first(inbox))
        house.check()
        left = QUEUES - done
        assert house.bytes == (len(BODY) + left * MESSAGE_OVERHEAD if left else 0)


def test_a_queue_that_is_deleted_leaves_it_to_the_others(house: House) -> None:
    house.publish()
    for name in house.names:
        house.broker.delete(name)
        house.check()
    assert house.bytes == 0


def test_what_the_log_can_give_back_is_gone_once_every_queue_has_let_go_of_it(house: House) -> None:
    house.publish()
    house.log.readable = house.log.next_offset
    for done, name in enumerate(house.names, 1):
        house.broker.queues[name].free_memory()
        house.check()
        assert house.bytes == (len(BODY) + (QUEUES - done) * MESSAGE_OVERHEAD if done < QUEUES else 0)
    inbox = Inbox(b"c", manual=True)
    house.broker.subscribe(house.names[0], inbox, None, 0)
    assert house.bytes == len(BODY) + MESSAGE_OVERHEAD  # read again, and nobody shares that
    house.broker.accept(house.first(inbox))
    assert house.bytes == 0


def test_un_acked_ones_that_are_let_go_of_are_gone_with_the_last(house: House) -> None:
    house.broker.context.keep_max = 0
    for queue in house.broker.queues.values():
        queue.congested_bytes = 1
    inboxes = house.consume_all()
    house.publish()
    house.log.readable = house.log.next_offset
    house.broker.free_memory()
    house.check()
    assert house.bytes == QUEUES * MESSAGE_OVERHEAD
    for inbox in inboxes:
        house.broker.reject(house.first(inbox), 0)
        house.check()


def test_it_counts_once_through_rejections_returns_and_deaths(house: House) -> None:
    house.broker.set_policies([Rule([b"q*"], deliveries_max=2, dead_letter=b"dead")])
    inboxes = house.consume_all()
    house.publish()
    for inbox in inboxes[:10]:
        house.broker.reject(house.first(inbox), 5)
        house.check()
    for inbox in inboxes[10:20]:
        house.broker.release(house.first(inbox))
        house.check()
    for inbox in inboxes[20:30]:
        house.broker.cancel(inbox, 1)
        house.check()
    for inbox in inboxes[30:40]:
        house.broker.bury(house.first(inbox))
        house.check()
    house.go_on(10)
    house.check()
    for inbox in inboxes[:20]:
        house.broker.accept(house.first(inbox))
        house.check()


def test_one_that_is_put_off_in_many_queues_counts_once(house: House) -> None:
    house.publish(DeliveryOptions(due_at=1000))
    assert house.bytes == len(BODY) + QUEUES * MESSAGE_OVERHEAD
    house.log.readable = house.log.next_offset
    house.broker.queues[house.names[0]].free_memory()
    house.check()
    assert house.bytes == len(BODY) + (QUEUES - 1) * MESSAGE_OVERHEAD
    house.go_on(1000)
    house.check()


def test_a_purge_and_an_expiry_leave_it_to_the_others(house: House) -> None:
    house.publish(DeliveryOptions(expires_at=500))
    house.broker.purge(house.names[0], house.log.next_offset, 10)
    house.check()
    assert house.bytes == len(BODY) + (QUEUES - 1) * MESSAGE_OVERHEAD
    house.go_on(1000)
    assert house.bytes == 0


def test_a_publisher_is_not_kept_waiting_by_one_message_in_a_thousand_queues(house: House) -> None:
    """The limit is a mebibyte, and queues count five together."""
    house.consume_all()
    house.publish()
    assert sum(queue.bytes for queue in house.broker.queues.values()) > 4 * house.limits.memory_bytes_max
    assert house.bytes < house.limits.memory_bytes_max // 4


def test_headers_count_as_bodies_do() -> None:
    broker = Broker(MemoryLog(), Limits(queue_bytes_max=100_000))
    headers = {b"trace": b"t" * 40_000}
    inbox = Inbox(b"c", manual=True)
    broker.subscribe(b"other", inbox, None, 0)
    for queue in (b"q", b"other"):
        broker.put(queue, Message(b"m", queue, b"", 0, "test", headers))
        assert broker.queues[queue].bytes > 40_000
    assert inbox.bytes > 40_000
    assert broker.context.bytes == 2 * Message(b"m", b"q", b"", 0, "test", headers).size


def test_many_short_headers_count_for_what_they_take() -> None:
    headers = {b"%d" % number: b"" for number in range(10_000)}
    assert Message(b"m", b"q", b"", 0, "test", headers).size > 1_000_000


def test_a_connection_that_has_no_room_is_given_no_more_by_any_of_its_consumers(house: House) -> None:
    """A consumer each of many queues, and all of them write to one outbox: the first message filled it."""
    inboxes = house.consume_all()
    for inbox in inboxes[1:]:
        inbox.is_full = True
    house.publish()
    assert [len(inbox.received) for inbox in inboxes] == [1] + [0] * (QUEUES - 1)
    inboxes[1].is_full = False
    house.broker.resume(inboxes[1])
    house.broker.resume(inboxes[2])
    house.check()
    assert [len(inbox.received) for inbox in inboxes[:3]] == [1, 1, 0]


def test_what_goes_to_many_is_on_its_way_as_often_as_there_are_consumers_and_waits_for_sockets(house: House) -> None:
    context = house.broker.context
    context.unsent_max = 20 * len(BODY)
    inboxes = house.consume_all()
    house.publish()
    assert sum(len(inbox.received) for inbox in inboxes) == 20
    for _ in range(4):
        context.sent({})  # sockets have taken all of it
        house.go_on(0)
    assert [len(inbox.received) for inbox in inboxes] == [1] * QUEUES
