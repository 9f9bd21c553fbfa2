"""A redrive of a long queue: made of steps, one in each turn, and answered at its end; others are served meanwhile."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.redrive import LINE_MAX, WAIT_TIME, WAITS_MAX
from penstock.log.memory import MemoryLog
from penstock.log.tuning import Tuning
from penstock.message import MESSAGE_OVERHEAD, Message
from penstock.wire.mqks.session import Mqks
from penstock.wire.session import Dialect, Hub, Session
from penstock.wire.sevx.session import Sevx

STEP_LENGTH = Tuning().look_length
ASKS = {
    "mqks": (b"%b redrive %b --to=%b --limit=100000\n", b"%b redrive %b --limit=100000 --dry-run\n"),
    "sevx": (
        b'%b redrive {"queue": "%b", "to": "%b", "limit": 100000}\n',
        b'%b redrive {"queue": "%b", "limit": 100000, "dry_run": true}\n',
    ),
}
ANSWERS = {"mqks": b"%b ok %d\n", "sevx": b'%b ok {"moved": %d}\n'}
NOTHING = {"mqks": b"%b ok \n", "sevx": b'%b ok {"targets": {}}\n'}


class House:
    def __init__(self, protocol: str, memory_bytes_max: int = 1 << 30) -> None:
        self.protocol = protocol
        self.broker = Broker(MemoryLog(), Limits(memory_bytes_max=memory_bytes_max))
        self.hub = Hub(self.broker, lambda level, event, details: None)
        self.dialect: Dialect = Mqks(self.hub) if protocol == "mqks" else Sevx(self.hub)
        self.now = 1000

    def put(self, count: int) -> None:
        for number in range(count):
            self.broker.put(b"q", Message(b"%d" % number, b"q", b"{}", self.now, "test"))

    def ready(self, queue: bytes) -> int:
        return self.broker.queues[queue].ready if queue in self.broker.queues else 0

    def open(self, peer: str = "10.0.0.1:4711") -> Session:
        return self.dialect.open(peer, self.now)

    def say(self, session: Session, data: bytes) -> bytes:
        session.feed(data, self.now)
        self.hub.run_awake(self.now)
        return session.drain()

    def turn(self) -> bool:
        """One turn of the loop at the next time that something is due; False when nothing is."""
        due = self.broker.deadlines.next_due()
        self.now = max(self.now, due)
        self.broker.tick(self.now)
        return due >= 0

    def ask(self, id: bytes, queue: bytes, to: bytes) -> bytes:
        return ASKS[self.protocol][0] % (id, queue, to)

    def answer(self, id: bytes, moved: int) -> bytes:
        return ANSWERS[self.protocol] % (id, moved)


@pytest.fixture(params=["mqks", "sevx"])
def house(request: pytest.FixtureRequest) -> House:
    return House(request.param)


def test_a_short_one_is_answered_at_once(house: House) -> None:
    house.put(STEP_LENGTH - 1)
    session = house.open()
    assert house.say(session, house.ask(b"r", b"q", b"to")) == house.answer(b"r", STEP_LENGTH - 1)
    assert not house.turn()


def test_a_long_one_lets_others_have_their_turns(house: House) -> None:
    house.put(3 * STEP_LENGTH + 10)
    session, other = house.open(), house.open()
    assert house.say(session, house.ask(b"r", b"q", b"to")) == b""
    for step in (1, 2, 3):
        assert house.ready(b"to") == step * STEP_LENGTH
        assert house.say(session, b"p ping\n")
        assert house.say(other, b"p ping\n")
        assert session.drain() == b""
        house.turn()
    assert session.drain() == house.answer(b"r", 3 * STEP_LENGTH + 10)
    assert not house.turn()


def test_many_at_once_are_one_step_in_each_turn(house: House) -> None:
    house.put(2 * STEP_LENGTH + 10)
    session = house.open()
    dry = ASKS[house.protocol][1]
    assert house.say(session, dry % (b"a", b"q") + dry % (b"b", b"q") + house.ask(b"c", b"q", b"to")) == b""
    said = []
    while house.turn():
        assert house.ready(b"to") % STEP_LENGTH in (0, 10)
        said.append(session.drain())
    nothing = NOTHING[house.protocol]
    assert [answer for answer in said if answer] == [
        nothing % b"a",
        nothing % b"b",
        house.answer(b"c", 2 * STEP_LENGTH + 10),
    ]
    assert len(said) == 2 + 3 + 3


def test_who_has_gone_is_not_answered_and_its_redrive_is_done(house: House) -> None:
    house.put(STEP_LENGTH + 10)
    session = house.open()
    house.say(session, house.ask(b"r", b"q", b"to"))
    session.end(house.now)
    while house.turn():
        pass
    assert house.ready(b"to") == STEP_LENGTH + 10
    assert session.drain() == b""


def test_who_has_gone_is_not_counted_for(house: House) -> None:
    house.put(3 * STEP_LENGTH)
    session = house.open()
    house.say(session, ASKS[house.protocol][1] % (b"d", b"q") * 10)
    session.end(house.now)
    turns = 0
    while house.turn():
        turns += 1
    assert turns == 10  # and not three for each


def test_no_more_than_so_many_wait_half_of_them_for_one_and_the_next_is_refused(house: House) -> None:
    house.put(STEP_LENGTH + 10)
    session, same, other = house.open(), house.open(), house.open("10.0.0.2:4711")
    assert house.say(session, ASKS[house.protocol][1] % (b"d", b"q") * (LINE_MAX // 2)) == b""
    assert house.say(same, house.ask(b"r", b"q", b"to")).startswith(b"r error ")
    assert house.say(other, house.ask(b"r", b"q", b"to")) == b""
    while house.turn():
        pass
    assert session.drain() == NOTHING[house.protocol] % b"d" * (LINE_MAX // 2)
    assert other.drain() == house.answer(b"r", STEP_LENGTH + 10)
    house.say(same, house.ask(b"r", b"to", b"q"))
    while house.turn():
        pass
    assert same.drain() == house.answer(b"r", STEP_LENGTH + 10)


def test_one_waits_while_memory_is_short_and_ends_when_that_takes_long() -> None:
    house = House("mqks", memory_bytes_max=3 * STEP_LENGTH * (MESSAGE_OVERHEAD + 2))
    house.put(2 * STEP_LENGTH - 1)
    session = house.open()
    house.say(session, house.ask(b"r", b"q", b"to"))
    house.broker.put(b"other", Message(b"m", b"other", b"x" * STEP_LENGTH * 600, house.now, "test"))
    house.turn()
    before = house.now
    house.turn()
    assert (house.now, house.ready(b"to")) == (before + WAIT_TIME, STEP_LENGTH)
    house.broker.delete(b"other")
    house.turn()
    assert house.ready(b"to") == 2 * STEP_LENGTH - 1
    house.put(2 * STEP_LENGTH - 1)
    house.broker.delete(b"to")
    house.say(session, house.ask(b"s", b"q", b"to"))
    house.broker.put(b"other", Message(b"m", b"other", b"x" * STEP_LENGTH * 600, house.now, "test"))
    before = house.now
    while house.turn():
        pass
    assert house.now == pytest.approx(before + WAITS_MAX * WAIT_TIME, rel=0.01)
    assert session.drain().endswith(house.answer(b"s", STEP_LENGTH))


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_one_of_a_queue_that_is_not_there_is_refused(protocol: str) -> None:
    house = House(protocol)
    session = house.open()
    answer = house.say(session, house.ask(b"r", b"nothing", b"to"))
    assert answer.startswith(b"r error ")
    assert answer.count(b"\n") == 1
    assert b"to" not in house.broker.queues
