"""A broker with RQ nodes on it, and time in the test's hand. No socket."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.wire.mqks.session import Mqks
from penstock.wire.rq.session import Rq, RqSession
from penstock.wire.session import Hub, ProtocolOptions, Session

SECOND = 1_000_000
VECTORS = Path(__file__).parents[2] / "vectors" / "rq.json"

NAMES = {
    0x00: "NOP",
    0x01: "CLEAR",
    0x05: "PING",
    0x06: "PONG",
    0x0A: "REQUEST",
    0x0B: "REPLY",
    0x0D: "DELIVERED",
    0x0E: "BROADCAST",
    0x10: "UNDELIVERED",
    0x14: "CONSUME",
    0x15: "CANCEL_QUEUE",
    0x16: "CLOSING",
    0x17: "SERVER_FULL",
    0x18: "CONSUMING",
    0x20: "EXCLUSIVE",
    0x21: "NOREPLY",
    0x40: "PRIORITY",
    0x41: "RETRIES",
    0x60: "QUEUEID",
    0x61: "TIMEOUT",
    0x62: "MAX",
    0x80: "ID",
    0xA0: "QUEUE",
    0xE0: "PAYLOAD",
}
CODES = {name: code for code, name in NAMES.items()}


def encode(words: str, payload: bytes | None = None) -> bytes:
    """Commands from how people write them down: `CLEAR ID=7 QUEUE=work REQUEST`. A payload replaces PAYLOAD's text."""
    out = b""
    for word in words.split():
        name, _, text = word.partition("=")
        code = CODES[name]
        kind = code >> 5
        out += bytes([code])
        if 2 <= kind <= 4:
            out += int(text).to_bytes((1, 2, 4)[kind - 2], "big")
        elif kind > 4:
            data = payload if name == "PAYLOAD" and payload is not None else text.encode()
            out += len(data).to_bytes((1, 2, 4)[kind - 5], "big") + data
    return out


def decode(data: bytes) -> list[str]:
    """What came from the broker, one text per action. Written apart from the codec under test."""
    groups: list[str] = []
    words: list[str] = []
    at = 0
    while at < len(data):
        code = data[at]
        kind = code >> 5
        at += 1
        size = (0, 0, 1, 2, 4, 1, 2, 4)[kind]
        number = int.from_bytes(data[at : at + size], "big")
        at += size
        word = NAMES[code]
        if 2 <= kind <= 4:
            word += f"={number}"
        elif kind > 4:
            assert at + number <= len(data), "an unfinished command was sent"
            text = data[at : at + number]
            word += "=" + (text.decode("latin-1") if number <= 64 else f"<{number}>")
            at += number
        words.append(word)
        if kind == 0 and word != "CLEAR":
            if word not in ("PING", "PONG"):
                assert words[0] == "CLEAR", f"a group without CLEAR: {words}"
            groups.append(" ".join(words).removeprefix("CLEAR "))
            words = []
    assert not words, f"a group without an action: {words}"
    return groups


class Node:
    """One connection."""

    def __init__(self, house: "House", session: Session) -> None:
        assert isinstance(session, RqSession)
        self.house = house
        self.session: RqSession = session

    def feed(self, data: bytes) -> None:
        self.session.feed(data, self.house.now)
        self.house.turn()

    def say(self, words: str, payload: bytes | None = None) -> "Node":
        self.feed(encode(words, payload))
        return self

    def consume(self, queue: str, more: str = "MAX=5 PRIORITY=20") -> list[str]:
        return self.say(f"CLEAR QUEUE={queue} {more} CONSUME").hear()

    def request(self, id: int, queue: str, body: str, more: str = "") -> "Node":
        return self.say(f"CLEAR ID={id} QUEUE={queue} PAYLOAD={body} {more} REQUEST")

    def delivered(self, *ids: int) -> "Node":
        for id in ids:
            self.say(f"CLEAR ID={id} DELIVERED")
        return self

    def reply(self, id: int, body: str) -> "Node":
        return self.say(f"CLEAR ID={id} PAYLOAD={body} REPLY")

    def drain(self) -> bytes:
        """As the owner of the socket does it."""
        self.house.turn()
        session = self.session
        full = session.outbox_size >= session.outbox_max
        data = session.drain()
        if full:
            session.resume()
            return data + self.drain()
        return data

    def hear(self) -> list[str]:
        return decode(self.drain())

    def leave(self) -> None:
        self.session.end(self.house.now)
        self.house.turn()

    def closed(self) -> bool:
        return self.session.closing


class House:
    def __init__(self, options: ProtocolOptions | None = None, **limits: object) -> None:
        self.reports: list[dict[str, object]] = []
        self.log = MemoryLog(keep=True)
        self.broker = Broker(self.log, Limits(**limits))  # type: ignore[arg-type]
        self.hub = Hub(self.broker, lambda level, event, details: self.reports.append(details), options)
        self.rq = Rq(self.hub)
        self.mqks = Mqks(self.hub)
        self.now = 1_000_000_000_000_000

    def node(self) -> Node:
        return Node(self, self.rq.open(f"peer{len(self.hub.sessions)}", self.now))

    def consumer(self, queue: str, more: str = "MAX=5 PRIORITY=20") -> Node:
        """A node that serves the queue."""
        node = self.node()
        assert [group.split()[-1] for group in node.consume(queue, more)] == ["CONSUMING"]
        return node

    def turn(self) -> None:
        """What the server does between reads."""
        self.hub.run_awake(self.now)

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
        self.broker.tick(self.now)
        self.turn()

    def reasons(self) -> list[str]:
        """Why requests were refused since last asked."""
        reasons = [str(report["reason"]) for report in self.reports]
        self.reports.clear()
        return reasons


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture(scope="session")
def make_house() -> Callable[..., House]:
    return House


@pytest.fixture(scope="session")
def commands() -> Callable[..., bytes]:
    return encode


@pytest.fixture(scope="session")
def groups() -> Callable[[bytes], list[str]]:
    return decode


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`vector`: the steps of one captured conversation of the original programs."""
    if "vector" in metafunc.fixturenames:
        vectors = json.loads(VECTORS.read_text())
        metafunc.parametrize("vector", list(vectors.values()), ids=list(vectors))
