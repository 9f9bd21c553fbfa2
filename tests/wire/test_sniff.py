"""One door: which protocol a connection speaks is told from its first bytes."""

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.wire.dialects import DIALECTS
from penstock.wire.session import Hub, Session
from penstock.wire.sniff import HEAD_SIZE_MAX, REST_TIME, AnyDoor


def frame(*values: bytes) -> bytes:
    body = b"".join(len(value).to_bytes(4, "big") + value for value in values)
    return len(body).to_bytes(4, "big") + body


BEGINNINGS = [
    ("mqks", b"m1 publish e x\n"),
    ("mqks", b"c1 consume q e --manual-ack\n"),
    ("mqks", b"1 ping x\n"),
    ("mqks", b"1 _eval len(state.queues)\n"),
    ("mqks", b"S: publish e x\n"),
    ("sevx", b'20161231235959123456uN1q send {"a": 1}\n'),
    ("sevx", b'1 recv {"pattern": {}, "queue": "q"}\n'),
    ("sevx", b'1 _ping {"data": "x"}\n'),
    ("sevx", b'1 ack {"receiver_id": "r", "all": true}\n'),
    ("smqs", b"M:q:{}\n"),
    ("smqs", b"C:q:\n"),
    ("smqs", b"S\n"),
    ("smqs", b"S::\n"),
    ("mqmq", frame(b"Put", b"q", b"x")),
    ("mqmq", frame(b"Get", b"q", b"1")),
    ("mqmq", frame(b"Info")),
    ("mqmq", frame(b"Put", b"q", b"x" * 20_000_000)),
    ("rq", b"\x01\xa0\x01q\x62\x00\x00\x40\x14\x14"),
    ("rq", b"\x01\x80\x00\x00\x00\x00\xa0\x01q\xe0\x00\x00\x00\x01x\x0a"),
    ("rq", b"\x05"),
]


class Street:
    def __init__(self) -> None:
        self.reports: list[dict[str, object]] = []
        self.broker = Broker(MemoryLog(), Limits())
        self.hub = Hub(self.broker, lambda level, event, details: self.reports.append(details))
        self.door = AnyDoor(self.hub, [make(self.hub) for make in DIALECTS])

    def enter(self) -> Session:
        return self.door.open("somebody", 0)


@pytest.mark.parametrize(("protocol", "data"), BEGINNINGS)
def test_each_protocol_is_recognised_in_one_read(protocol: str, data: bytes) -> None:
    session = Street().enter()
    session.feed(data, 0)
    assert session.successor is not None
    assert session.successor.protocol == protocol


@pytest.mark.parametrize(("protocol", "data"), BEGINNINGS)
def test_each_protocol_is_recognised_byte_by_byte_and_loses_nothing(protocol: str, data: bytes) -> None:
    whole, street = Street(), Street()
    expected = whole.enter()
    expected.feed(data, 0)
    session = street.enter()
    for place in range(min(len(data), 100)):
        current = session.successor or session
        current.feed(data[place : place + 1], 0)
    assert session.successor is not None
    assert expected.successor is not None
    session.successor.feed(data[100:], 0)
    assert session.successor.protocol == protocol
    if len(data) < 100:
        assert session.successor.drain() == expected.successor.drain()
    assert list(street.broker.queues) == list(whole.broker.queues)


@pytest.mark.parametrize(
    "data", [b"\x80\x81\x82", b"hello world, nobody speaks like this\n", b"\xff" * 10, b"\x16\x03\x01\x02\x00\x01"]
)
def test_nonsense_is_turned_away_with_a_line_in_the_log(data: bytes) -> None:
    street = Street()
    session = street.enter()
    session.feed(data, 0)
    assert session.closing
    assert session.successor is None
    assert "none of the protocols" in str(street.reports[0]["reason"])
    session.feed(b"m1 publish e x\n", 0)
    assert street.broker.published == 0


def test_an_http_request_is_turned_away_before_its_body_is_read() -> None:
    street = Street()
    session = street.enter()
    session.feed(b"POST /x HTTP/1.1\r\n", 0)
    session.feed(b"\r\nm1 publish e x\n", 0)
    assert session.closing
    assert street.broker.published == 0
    assert len(street.reports) == 1


def test_a_beginning_that_never_ends_is_given_up() -> None:
    street = Street()
    session = street.enter()
    for _ in range(HEAD_SIZE_MAX // 100 + 1):
        session.feed(b"x" * 100, 0)
    assert session.closing


@pytest.mark.parametrize("data", [b"C:users", b"S", b"S:"])
def test_a_command_that_needs_no_line_end_is_recognised_after_a_rest(data: bytes) -> None:
    street = Street()
    session = street.enter()
    session.feed(data, 0)
    assert session.successor is None
    street.broker.tick(REST_TIME)
    assert session.successor is not None
    assert session.successor.protocol == "smqs"
    assert street.hub.dirty[-1] is session


def test_a_client_that_leaves_before_it_is_known_leaves_nothing() -> None:
    street = Street()
    session = street.enter()
    session.feed(b"C:us", 0)
    session.end(0)
    street.broker.tick(REST_TIME)
    assert street.hub.sessions == {}
    assert session.successor is None


def test_a_successor_takes_the_place_of_the_listener() -> None:
    street = Street()
    session = street.enter()
    session.feed(b"1 ping x\n", 0)
    assert list(street.hub.sessions) == [session.successor]
