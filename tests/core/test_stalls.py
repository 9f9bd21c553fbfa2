"""Queues whose messages cannot be read back at the moment: they wait, nothing is lost, nothing spins, order stays."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, Limits
from penstock.core.policy import Rule
from penstock.core.queue import Queue
from penstock.core.queue_store import READ_AGAIN_TIME
from penstock.core.replay import durable_state
from penstock.core.subscription import Inbox
from penstock.errors import OVER_LIMIT, Refused
from penstock.message import DeliveryOptions, Message
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager

from ..storage.faulty import FaultyDisk
from ..storage.histories import flip, paths_of, recovered, write_out

COUNT = 9


class House:
    """A queue `q` with messages 0 to 8 on the disk and not in memory, a segment for every few of them."""

    def __init__(self, directory: Path, *rules: Rule, limits: Limits | None = None) -> None:
        self.directory = directory
        self.disk = FaultyDisk(directory)
        self.log = DurableLog(500)
        self.log.pager = Pager(self.disk)
        self.now = 0
        self.broker = Broker(self.log, limits or Limits())
        self.broker.set_policies(list(rules))
        self.queue = self.broker.declare(b"q")
        self.log.tuning.page_length = 2
        self.number = 0
        for _ in range(COUNT):
            self.put()

    def put(self, terms: DeliveryOptions | None = None) -> None:
        message = Message(b"%d" % self.number, b"q", b"%d" % self.number, self.now, "mqmq")
        message.options = terms
        self.number += 1
        self.broker.put(b"q", message)
        self.turn()

    def turn(self) -> None:
        write_out(self.log, self.directory)
        self.log.written(self.log.position, self.log.next_offset)

    def page_out(self) -> Queue:
        self.queue.free_memory()
        assert not self.queue.backlog.head
        return self.queue

    def fail(self, where: str = "open", code: int = errno.EMFILE) -> None:
        assert self.log.pager is not None
        self.log.pager.close()
        self.disk.fail(where, code)

    def wait(self) -> None:
        self.now += READ_AGAIN_TIME
        self.broker.tick(self.now)
        self.turn()

    def check(self) -> None:
        """The running broker and its log agree."""
        self.disk.heal()
        self.turn()
        assert durable_state(recovered(self.directory)) == durable_state(self.broker)
        assert self.queue.ready == len(self.queue.backlog)
        assert self.queue.unreadable == []
        assert self.log.pager is not None
        assert self.log.pager.faults == []


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def bodies(inbox: Inbox) -> list[bytes]:
    return [message.body for message, _ in inbox.received]


NUMBERS = [b"%d" % number for number in range(COUNT)]


@pytest.mark.parametrize("where", ["open", "read", "list"])
@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.ENOENT])
def test_a_consumer_gets_everything_in_order_once_it_can_be_read_again(house: House, where: str, code: int) -> None:
    house.page_out()
    house.fail(where, code)
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, house.now)
    assert bodies(inbox) == []
    assert house.queue.ready == COUNT
    assert house.broker.context.stalled == 1
    house.disk.heal()
    house.wait()
    assert bodies(inbox) == NUMBERS
    assert house.broker.context.stalled == 0
    house.check()


def test_between_two_tries_the_disk_is_left_alone(house: House) -> None:
    queue = house.page_out()
    house.fail()
    assert queue.take() is None
    asked = house.disk.asked
    for _ in range(100):
        assert queue.take() is None
        queue.pump()
        house.put()
    house.now += READ_AGAIN_TIME - 1
    house.broker.tick(house.now)
    assert house.disk.asked == asked
    assert house.broker.deadlines.next_due() == house.now + 1
    house.now += 1
    house.broker.tick(house.now)
    assert house.disk.asked > asked
    assert house.broker.deadlines.next_due() == house.now + READ_AGAIN_TIME
    house.check()


def test_a_failure_behind_what_was_read_already_stops_there(house: House) -> None:
    house.page_out()
    inbox = Inbox(manual=True, credit=3)
    house.broker.subscribe(b"q", inbox, None, house.now)
    assert bodies(inbox) == NUMBERS[:3]
    house.queue.free_memory()
    house.fail("read", errno.EIO)
    for delivery in inbox.held():
        house.broker.accept(delivery)
    house.disk.heal()
    house.wait()
    while inbox.held():
        house.broker.accept(inbox.held()[0])
    assert bodies(inbox) == NUMBERS
    house.check()


@pytest.mark.parametrize("free", [True, False])
def test_what_a_consumer_held_goes_back_to_its_place_without_a_look_at_the_disk(house: House, free: bool) -> None:
    house.page_out()
    inbox = Inbox(manual=True, credit=4)
    house.broker.subscribe(b"q", inbox, None, house.now)
    house.broker.reject(inbox.held()[1])
    if free:
        house.queue.free_memory()
    house.fail()
    asked = house.disk.asked
    house.broker.cancel(inbox, house.now)
    assert house.disk.asked == asked
    house.disk.heal()
    house.wait()
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, house.now)
    assert bodies(inbox) == [b"0", *NUMBERS[2:], b"1"]
    house.check()


def test_what_was_taken_from_the_middle_goes_back_there(house: House) -> None:
    queue = house.page_out()
    taken = queue.take_out(queue.backlog.places_of({3, 4, 7}))
    house.fail()
    queue.put_back(taken)
    assert [offset for _, _, offset, _ in queue.backlog.places()] == list(range(COUNT))
    house.check()
    assert queue.backlog.cold == queue.bytes
    assert house.broker.context.bytes == 0


def by_get(house: House) -> None:
    assert house.broker.get(b"q") is None


def by_redrive(house: House) -> None:
    asked = house.disk.asked
    assert house.broker.redrive(b"q", 5, b"elsewhere", house.now) == 0
    assert house.disk.asked <= asked + 2


def by_move(house: House) -> None:
    assert house.broker.move(b"q", {1, 2, 5}, b"elsewhere", house.now) == 0


def by_a_look(house: House) -> None:
    assert house.queue.first_messages(3) == []
    house.queue.find_oldest()


@pytest.mark.parametrize("verb", [by_get, by_redrive, by_move, by_a_look])
def test_a_verb_that_cannot_read_changes_nothing(house: House, verb: Callable[[House], None]) -> None:
    house.broker.declare(b"elsewhere")
    house.page_out()
    before = durable_state(house.broker)
    house.fail("read", errno.EIO)
    verb(house)
    assert durable_state(house.broker) == before
    house.check()
    house.wait()
    assert [house.broker.get(b"q").body for _ in range(COUNT)] == NUMBERS  # type: ignore[union-attr]


def test_a_purge_needs_no_disk(house: House) -> None:
    queue = house.page_out()
    house.fail()
    assert queue.take() is None
    assert queue.purge(1000, 1000) == COUNT
    house.put()
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, house.now)
    assert bodies(inbox) == [b"9"]
    house.wait()
    assert house.broker.context.stalled == 0
    house.check()


@pytest.mark.parametrize("full", [DROP_OLDEST, DEAD_LETTER])
def test_a_full_queue_whose_oldest_cannot_be_read_refuses(tmp_path: Path, full: str) -> None:
    house = House(tmp_path, Rule([b"q"], length_max=COUNT, full=full, dead_letter=b"dead"))
    house.page_out()
    house.fail()
    with pytest.raises(Refused) as refusal:
        house.put()
    assert refusal.value.code == OVER_LIMIT
    house.disk.heal()
    house.wait()
    house.put()
    assert house.queue.ready == COUNT
    house.check()


def test_a_time_that_is_over_is_seen_when_it_can_be_read(tmp_path: Path) -> None:
    house = House(tmp_path, Rule([b"q"], ttl=1_000_000))
    house.page_out()
    house.fail()
    house.now = 5_000_000
    house.broker.tick(house.now)
    assert house.queue.ready == COUNT
    house.disk.heal()
    house.wait()
    house.broker.tick(house.now)
    assert house.queue.ready == 0
    assert house.queue.expired == COUNT
    house.check()


def test_one_of_few_that_may_expire_is_not_forgotten_meanwhile(house: House) -> None:
    """No policy says that messages expire; one of them says so itself."""
    house.queue.purge(1000, 1000)
    house.put(DeliveryOptions(expires_at=1_000_000))
    house.page_out()
    house.fail()
    house.now = 900_000
    house.broker.tick(house.now)
    house.queue.pump()
    house.disk.heal()
    house.wait()
    house.wait()
    assert house.queue.expired == 1
    house.check()


def test_what_is_due_and_cannot_be_read_comes_later_and_not_never(house: House) -> None:
    house.queue.purge(1000, 1000)
    house.put(DeliveryOptions(due_at=1_000_000))
    house.put(DeliveryOptions(due_at=1_000_001))
    house.queue.free_memory()
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, house.now)
    house.fail("read", errno.EIO)
    house.now = 2_000_000
    house.broker.tick(house.now)
    asked = house.disk.asked
    assert house.broker.context.stalled == 1
    assert house.broker.deadlines.next_due() == house.now + READ_AGAIN_TIME
    house.put(DeliveryOptions(due_at=9_000_000))
    house.broker.tick(house.now + 1)
    assert house.disk.asked == asked
    house.disk.heal()
    house.wait()
    assert bodies(inbox) == [b"9", b"10"]
    assert house.broker.context.stalled == 0
    house.check()


def test_a_queue_that_is_deleted_waits_for_nothing(house: House) -> None:
    queue = house.page_out()
    house.fail()
    assert queue.take() is None
    assert house.broker.context.stalled == 1
    house.broker.delete(b"q")
    assert house.broker.context.stalled == 0
    assert house.broker.deadlines.next_due() == -1


def test_damage_sets_aside_what_is_damaged_and_the_rest_goes_on(house: House) -> None:
    queue = house.page_out()
    flip(paths_of(house.directory)[1], 200)
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, house.now)
    missing = [offset for _, _, offset, _ in queue.unreadable]
    assert 0 < len(missing) < COUNT
    assert bodies(inbox) == [b"%d" % offset for offset in range(COUNT) if offset not in missing]
    assert house.broker.context.stalled == 0
    assert [offset for _, _, offset, _ in queue.owed()] == missing
