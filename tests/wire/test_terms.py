"""How clients of each protocol ask for delays, times, tries and deduplication, and what old ones never notice."""

import re

import orjson
import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message
from penstock.wire.detect import ProtocolDetector
from penstock.wire.mqks.session import Mqks
from penstock.wire.mqmq.codec import encode
from penstock.wire.mqmq.session import Mqmq
from penstock.wire.rq.session import Rq
from penstock.wire.session import Dialect, Hub, Session
from penstock.wire.sevx.session import Sevx
from penstock.wire.smqs.session import Smqs

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
ERROR = re.compile(rb"m error [0-9A-Za-z]{24}\n")


class House:
    """A broker that speaks all protocols, with time in the test's hand."""

    def __init__(self) -> None:
        self.reports: list[dict[str, object]] = []
        self.log = MemoryLog(keep=True)
        self.broker = Broker(self.log, Limits())
        self.hub = Hub(self.broker, lambda level, event, details: self.reports.append(details))
        self.now = START
        self.dialects: dict[str, Dialect] = {
            dialect.name: dialect
            for dialect in (Mqks(self.hub), Smqs(self.hub), Sevx(self.hub), Mqmq(self.hub), Rq(self.hub))
        }

    def open(self, protocol: str) -> Session:
        return self.dialects[protocol].open("peer", self.now)

    def say(self, session: Session, data: bytes) -> bytes:
        session.feed(data, self.now)
        self.hub.run_awake(self.now)
        return session.drain()

    def pass_time(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
        self.broker.tick(self.now)
        self.hub.run_awake(self.now)

    def messages(self) -> list[Message]:
        return [entry for entry in self.log.entries if isinstance(entry, Message)]

    def options(self) -> DeliveryOptions:
        terms = self.messages()[-1].options
        assert terms is not None
        return terms

    def reason(self) -> str:
        return str(self.reports[-1]["reason"])


@pytest.fixture
def house() -> House:
    return House()


def shown(terms: DeliveryOptions) -> tuple[int, int, int, int]:
    """Due and over, in seconds from the start; tries; seconds to remember."""
    due = (terms.due_at - START) // SECOND if terms.due_at else 0
    over = (terms.expires_at - START) // SECOND if terms.expires_at else 0
    return due, over, terms.deliveries_max, terms.dedup_seconds


FLAGS = [
    (b"--delay=5", (5, 0, 0, 0)),
    (b"--ttl=7", (0, 7, 0, 0)),
    (b"--ttl=2 --delay=5", (5, 7, 0, 0)),
    (b"--max-deliveries=3", (0, 0, 3, 0)),
    (b"--dedup", (0, 0, 0, 600)),
    (b"--dedup --max-deliveries=1 --delay=1e1", (10, 0, 1, 600)),
]
WRONG = [
    (b"--delay=x", "--delay must be a number of seconds"),
    (b"--delay=", "--delay must be a number of seconds"),
    (b"--delay=-1", "--delay must be 0 to 1000000000 seconds"),
    (b"--delay=nan", "--delay must be 0 to 1000000000 seconds"),
    (b"--ttl=1e10", "--ttl must be 0 to 1000000000 seconds"),
    (b"--max-deliveries=0", "--max-deliveries must be a whole number from 1 to 2147483647"),
    (b"--max-deliveries=1.5", "--max-deliveries must be a whole number from 1 to 2147483647"),
    (b"--max-deliveries=99999999999999999999", "--max-deliveries must be a whole number from 1 to 2147483647"),
]


@pytest.mark.parametrize(("flags", "expected"), FLAGS)
@pytest.mark.parametrize("confirm", [b"", b"--confirm "])
def test_mqks_takes_flags_before_the_event(
    house: House, flags: bytes, expected: tuple[int, ...], confirm: bytes
) -> None:
    client = house.open("mqks")
    answer = house.say(client, b"m publish %s%s e --data --delay=3\n" % (confirm, flags))
    assert answer == (b"m ok \n" if confirm else b"")
    assert (house.messages()[-1].event, house.messages()[-1].body) == (b"e", b"--data --delay=3")
    assert shown(house.options()) == expected


@pytest.mark.parametrize(("flags", "expected"), FLAGS)
def test_sevx_takes_flags_before_the_json(house: House, flags: bytes, expected: tuple[int, ...]) -> None:
    assert house.say(house.open("sevx"), b'm send %s {"event": "e"}\n' % flags) == b"m ok \n"
    assert (house.messages()[-1].event, house.messages()[-1].body) == (b"e", b'{"event": "e"}')
    assert shown(house.options()) == expected


@pytest.mark.parametrize(("flag", "reason"), WRONG)
def test_a_wrong_flag_is_refused_by_name(house: House, flag: bytes, reason: str) -> None:
    for protocol, line in (("mqks", b"m publish %s e x\n" % flag), ("sevx", b'm send %s {"event": "e"}\n' % flag)):
        assert ERROR.fullmatch(house.say(house.open(protocol), line))
        assert reason in house.reason()
    assert house.messages() == []


@pytest.mark.parametrize(
    "event", [b"--delay", b"--confirm=1", b"--delay:5", b"--dedup=1", b"--ttl", b"--x", b"-", b"--", b"---delay=5"]
)
def test_an_event_that_is_no_flag_is_an_event_as_ever(house: House, event: bytes) -> None:
    assert house.say(house.open("mqks"), b"m publish %s x y\n" % event) == b""
    (message,) = house.messages()
    assert (message.event, message.body, message.options) == (event, b"x y", None)


def test_a_flag_with_nothing_behind_it_publishes_nothing(house: House) -> None:
    for line in (b"m publish --delay=5\n", b"m publish --delay=5 e\n", b"m publish --confirm --dedup\n"):
        assert ERROR.fullmatch(house.say(house.open("mqks"), line))
    for line in (b"m send --delay=5\n", b"m send --delay=5 x\n", b"m send --delay 5 {}\n", b"m send --dedup [1]\n"):
        assert ERROR.fullmatch(house.say(house.open("sevx"), line))
    assert house.messages() == []


def test_a_rejected_message_may_be_put_off_or_given_up(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], dead_letter=b"dead")])
    for protocol, consume, publish, put_off, give_up in (
        (
            "mqks",
            b"c consume --manual-ack q e\n",
            b"1 publish e x\n2 publish e y\n",
            b"r reject c 1 --delay=3\n",
            b"r reject c 2 --dead\n",
        ),
        (
            "sevx",
            b'c recv {"pattern": {"e": 1}, "queue": "q", "manual_ack": true}\n',
            b'1 send {"e": 1}\n2 send {"e": 1}\n',
            b'r reject {"receiver_id": "c", "event_id": "1", "delay": 3}\n',
            b'r reject {"receiver_id": "c", "event_id": "2", "dead": true}\n',
        ),
    ):
        client = house.open(protocol)
        house.say(client, consume + publish)
        house.say(client, put_off + give_up)
        assert len(house.broker.queues[b"q"].delayed) == 1
        letter = house.broker.get(b"dead")
        assert letter is not None
        assert letter.id == b"2"
        house.pass_time(3)
        assert b"c ok 1 " in client.drain()
        client.end(house.now)
        house.broker.delete(b"q")


@pytest.mark.parametrize(
    "line",
    [
        b'm reject {"receiver_id": "c", "event_id": "1", "delay": "x"}',
        b'm reject {"receiver_id": "c", "event_id": "1", "delay": -1}',
        b'm reject {"receiver_id": "c", "event_id": "1", "dead": 1}',
        b'm redrive {"limit": 5}',
        b'm redrive {"queue": "q", "limit": 0}',
        b'm redrive {"queue": "q", "limit": true}',
        b'm redrive {"queue": "q", "to": 5}',
        b'm redrive {"queue": "q", "dry_run": "x"}',
        b'm redrive {"queue": "nowhere"}',
    ],
)
def test_sevx_refuses_what_makes_no_sense(house: House, line: bytes) -> None:
    house.broker.declare(b"q")
    assert ERROR.fullmatch(house.say(house.open("sevx"), line + b"\n"))


@pytest.mark.parametrize(
    "line",
    [
        b"m reject c 1 --delay=x",
        b"m redrive --limit=5",
        b"m redrive q --limit=0",
        b"m redrive q --limit=100001",
        b"m redrive q --to=",
        b"m redrive q more",
        b"m redrive nowhere",
    ],
)
def test_mqks_refuses_what_makes_no_sense(house: House, line: bytes) -> None:
    house.broker.declare(b"q")
    assert ERROR.fullmatch(house.say(house.open("mqks"), line + b"\n"))


def test_dead_letters_are_redriven_by_both_line_protocols(house: House) -> None:
    house.broker.set_policies([Rule([b"q*"], dead_letter=b"{queue}.dead")])
    client = house.open("mqks")
    house.say(client, b"c consume --manual-ack q e\n" + b"".join(b"%d publish e x\n" % n for n in range(4)))
    house.say(client, b"r reject c --all --dead\nd delete_consumer c\n")
    assert house.say(client, b"m redrive q.dead --dry-run --limit=3\n") == b"m ok q=3\n"
    assert house.say(client, b"m redrive q.dead --limit=1\n") == b"m ok 1\n"
    assert house.say(client, b"m redrive q.dead --to=other --limit=1\n") == b"m ok 1\n"
    sevx = house.open("sevx")
    answer = house.say(sevx, b'm redrive {"queue": "q.dead", "dry_run": true}\n')
    assert orjson.loads(answer.removeprefix(b"m ok ")) == {"targets": {"q": 2}}
    answer = house.say(sevx, b'm redrive {"queue": "q.dead"}\n')
    assert orjson.loads(answer.removeprefix(b"m ok ")) == {"moved": 2}
    assert [house.broker.queues[name].ready for name in (b"q", b"other", b"q.dead")] == [3, 1, 0]


def test_the_one_port_tells_a_redrive_of_one_protocol_from_that_of_the_other(house: House) -> None:
    door = ProtocolDetector(house.hub, list(house.dialects.values()))
    house.broker.declare(b"q")
    for line, answer in ((b"m redrive q\n", b"m ok 0\n"), (b'm redrive {"queue": "q"}\n', b'm ok {"moved": 0}\n')):
        session = door.open("peer", house.now)
        session.feed(line, house.now)
        assert session.successor is not None
        assert session.successor.drain() == answer


def test_mqmq_takes_options_behind_the_message(house: House) -> None:
    client = house.open("mqmq")
    options = b'{"delay": 1.5, "ttl": 2, "max_deliveries": 4, "dedup": "k"}'
    for _ in range(2):
        assert house.say(client, encode(b"Put", b"q", b"x", options)) == encode(b"OK")
    (message,) = house.messages()
    assert (message.id, message.options is not None) == (b"k", True)
    assert repr(house.options()) == repr(DeliveryOptions(START + 1_500_000, START + 3_500_000, 4, 600))
    assert house.say(client, encode(b"Get", b"q", b"60000")) == b""
    house.pass_time(1.5)
    assert client.drain() == encode(b"OK", b"x")


def test_mqmq_passes_over_other_values_behind_the_message_as_ever(house: House) -> None:
    client = house.open("mqmq")
    for more in ([b""], [b"x"], [b"[1]"], [b"x", b'{"delay": 5}'], [b"", b""]):
        assert house.say(client, encode(b"Put", b"q", b"x", *more)) == encode(b"OK")
    assert [message.options for message in house.messages()] == [None] * 5


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (b"{", "options are not JSON"),
        (b'{"delay": "5"}', "delay must be a number of seconds"),
        (b'{"ttl": true}', "ttl must be a number of seconds"),
        (b'{"max_deliveries": 1.0}', "max_deliveries must be a whole number"),
        (b'{"dedup": true}', "dedup must be an id"),
        (b'{"dedup": ""}', "dedup must be an id"),
        (b'{"later": 5}', "unknown option later"),
    ],
)
def test_mqmq_refuses_wrong_options_and_goes_on(house: House, options: bytes, reason: str) -> None:
    client = house.open("mqmq")
    assert house.say(client, encode(b"Put", b"q", b"x", options)) == encode(b"Error", b"REQUEST_INVALID")
    assert reason in house.reason()
    assert house.say(client, encode(b"Put", b"q", b"x")) == encode(b"OK")
    assert len(house.messages()) == 1


def request(id: int, fields: bytes) -> bytes:
    return b"\x01\x80%b\xa0\x01q\xe0\0\0\0\x01x%b\x0a" % (id.to_bytes(4, "big"), fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (b"\x90\0\0\x13\x88", (5, 0, 0, 0)),
        (b"\x91\0\0\x13\x88", (0, 5, 0, 0)),
        (b"\x90\0\0\x03\xe8\x91\0\0\x13\x88", (1, 6, 0, 0)),
        (b"\x41\x02", (0, 0, 3, 0)),
        (b"\x61\0\x07", (0, 7, 0, 0)),
        (b"\x61\0\x07\x91\0\0\x13\x88", (0, 5, 0, 0)),
        (b"\x61\0\x04\x91\0\0\x13\x88", (0, 4, 0, 0)),
    ],
)
def test_rq_has_codes_for_delay_and_ttl_and_keeps_retries_and_timeout_in_the_log(
    house: House, fields: bytes, expected: tuple[int, ...]
) -> None:
    house.say(house.open("rq"), request(7, fields))
    assert shown(house.options()) == expected


def test_an_rq_request_is_not_tried_more_often_because_the_broker_was_down(house: House) -> None:
    house.say(house.open("rq"), request(7, b"\x21\x41\x01"))
    consumer = house.open("mqks")
    house.say(consumer, b"c consume --manual-ack q none\n")
    consumer.end(house.now)
    house.broker = replay(house.log.entries, MemoryLog(keep=True), Limits())
    hub = Hub(house.broker, lambda level, event, details: None)
    session = Mqks(hub).open("peer", house.now)
    session.feed(b"c consume --manual-ack q none\n", house.now)
    assert b"retry=1" in session.drain()
    session.feed(b"r reject c --all\n", house.now)
    assert house.broker.queues[b"q"].contents() == []


def test_an_rq_timeout_tells_the_requester_once_and_leaves_a_dead_letter(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], dead_letter=b"dead")])
    client = house.open("rq")
    house.say(client, request(7, b"\x61\0\x05"))
    house.pass_time(5)
    assert client.drain() == b"\x01\x80\0\0\0\x07\x10"
    house.pass_time(100)
    assert client.drain() in (b"", b"\x05")
    assert house.broker.queues[b"dead"].ready == 1


def test_smqs_messages_obey_policies(house: House) -> None:
    house.broker.set_policies([Rule([b"q"], ttl=SECOND, dead_letter=b"dead")])
    house.say(house.open("smqs"), b"M:q:hello\n")
    house.pass_time(1)
    assert [house.broker.queues[name].ready for name in (b"q", b"dead")] == [0, 1]


def test_what_clients_asked_for_is_in_the_log(house: House) -> None:
    client = house.open("mqks")
    house.say(client, b"c consume --manual-ack q e\n1 publish --delay=5 e x\n2 publish --ttl=5 e x\n3 publish e x\n")
    house.say(client, b"r reject c 3 --delay=60\n")
    client.end(house.now)
    rebuilt = replay(house.log.entries, MemoryLog(), Limits())
    assert durable_state(rebuilt) == durable_state(house.broker)
    house.pass_time(5)
    rebuilt.tick(house.now)
    assert durable_state(rebuilt) == durable_state(house.broker)
