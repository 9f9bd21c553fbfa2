"""The TLS layer without a socket: a transport and a protocol that remember, and a client in memory at the other end."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.server import certificates as module
from penstock.server.certificates import Certificates, Paths
from penstock.server.handshakes import HandshakeLimiter, PendingHandshake
from penstock.server.tls import PLAIN_SIZE, TlsTransport

from .conftest import Certificates as Made


class Below(asyncio.Transport):
    """What a socket would be."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 5)})
        self.sent = b""
        self.calls: list[str] = []
        self.gone = False
        self.unsent = 0

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.calls.append("set_protocol")

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)

    def is_closing(self) -> bool:
        return self.gone

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")

    def pause_reading(self) -> None:
        self.calls.append("pause_reading")

    def resume_reading(self) -> None:
        self.calls.append("resume_reading")

    def get_write_buffer_size(self) -> int:
        return self.unsent


class Above(asyncio.Protocol):
    """What a connection would be."""

    def __init__(self, stays: bool) -> None:
        self.stays = stays  # when the peer says no more
        self.read: list[bytes] = []
        self.calls: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.calls.append("made")

    def data_received(self, data: bytes) -> None:
        self.read.append(data)

    def eof_received(self) -> bool:
        self.calls.append("eof")
        return self.stays

    def connection_lost(self, exc: Exception | None) -> None:
        self.calls.append("lost")

    def pause_writing(self) -> None:
        self.calls.append("pause")

    def resume_writing(self) -> None:
        self.calls.append("resume")


class Talk:
    """Both ends, after the handshake."""

    def __init__(self, made: Made, stays: bool = True) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made["server.pem"], made["server.key"])
        context.options |= ssl.OP_NO_TICKET
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.to_client, self.of_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        secure = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.client = made.context().wrap_bio(self.to_client, self.of_client, server_hostname="localhost")
        for _ in range(3):
            for end in (self.client, secure):
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    pass
                self.incoming.write(self.of_client.read())
                self.to_client.write(self.outgoing.read())
        self.below, self.above = Below(), Above(stays)
        room = memoryview(bytearray(PLAIN_SIZE))
        self.transport = TlsTransport(self.below, secure, self.incoming, self.outgoing, room)
        self.transport.begin(self.above)

    def say(self, data: bytes) -> None:
        """As the client."""
        self.client.write(data)
        self.transport.data_received(self.of_client.read())

    def heard(self) -> bytes:
        """By the client; what it got by now."""
        self.to_client.write(self.below.sent)
        self.below.sent = b""
        found = b""
        try:
            while data := self.client.read(1 << 20):
                found += data
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        return found


@pytest.fixture
def talk(ours: Made) -> Talk:
    return Talk(ours)


def test_what_is_said_arrives_at_both_ends(talk: Talk) -> None:
    talk.say(b"hello")
    talk.transport.write(b"welcome")
    assert (talk.above.calls, talk.above.read, talk.heard()) == (["made"], [b"hello"], b"welcome")
    talk.transport.write(b"")
    assert talk.below.sent == b""
    large = bytes(range(256)) * 2048
    talk.transport.write(large)
    assert talk.heard() == large


def test_flow_control_goes_through_in_both_directions(talk: Talk) -> None:
    talk.transport.pause_reading()
    talk.transport.resume_reading()
    assert talk.below.calls == ["set_protocol", "pause_reading", "resume_reading"]
    talk.transport.pause_writing()
    talk.transport.resume_writing()
    assert talk.above.calls == ["made", "pause", "resume"]
    talk.below.unsent = 7
    assert talk.transport.get_write_buffer_size() == 7


def test_a_transport_is_closing_once_either_side_has_closed(talk: Talk) -> None:
    assert not talk.transport.is_closing()
    talk.below.gone = True
    assert talk.transport.is_closing()
    talk.below.gone = False
    talk.transport.close()
    assert talk.transport.is_closing()


def test_a_close_says_so_once_and_nothing_after_it(talk: Talk) -> None:
    talk.transport.write(b"last")
    talk.transport.close()
    talk.transport.close()
    talk.transport.write(b"too late")
    assert talk.heard() == b"last"
    assert talk.client.read(1) == b""  # a close_notify, or it would wait for more
    assert talk.below.calls == ["set_protocol", "close"]


def test_what_a_client_says_after_the_close_is_not_read(talk: Talk) -> None:
    talk.transport.close()
    talk.say(b"too late")
    assert talk.above.read == []


@pytest.mark.parametrize("stays", [True, False])
def test_a_client_that_says_no_more_is_answered_if_there_is_an_answer(ours: Made, stays: bool) -> None:
    talk = Talk(ours, stays)
    talk.client.write(b"question")
    with pytest.raises(ssl.SSLWantReadError):
        talk.client.unwrap()
    talk.transport.data_received(talk.of_client.read())
    assert (talk.above.read, talk.above.calls) == ([b"question"], ["made", "eof"])
    assert talk.transport.eof_received() is stays
    assert talk.above.calls == ["made", "eof"]  # it is told once
    assert ("close" in talk.below.calls) is not stays
    if stays:
        talk.transport.write(b"answer")
        talk.to_client.write(talk.below.sent)
        assert talk.client.read(100) == b"answer"


def test_nonsense_instead_of_records_ends_the_connection(talk: Talk) -> None:
    talk.transport.data_received(b"GET / HTTP/1.1\r\n\r\n" * 10)
    assert talk.below.calls == ["set_protocol", "abort"]
    assert talk.transport.is_closing()
    talk.transport.write(b"anybody there?")  # and whoever writes gets no error for it
    assert talk.above.read == []


def test_a_connection_that_is_lost_is_told_once_and_forgotten(talk: Talk) -> None:
    talk.transport.connection_lost(None)
    assert talk.above.calls == ["made", "lost"]
    assert talk.transport.is_closing()
    assert talk.transport.get_protocol() is not talk.above
    assert talk.transport.get_extra_info("ssl_object") is None
    talk.transport.write(b"too late")


# -- before the handshake is done --------------------------------------------------------------------------------------


@pytest.fixture
def handshakes(ours: Made) -> Iterator[HandshakeLimiter]:
    paths = Paths(ours["server.pem"], ours["server.key"], None, "off", "1.2")
    loop = asyncio.new_event_loop()
    made = Certificates(paths, lambda level, event, details: None, lambda: 0.0)
    yield HandshakeLimiter(loop, made, lambda level, event, details: None, seconds=60, count_max=20)
    loop.close()


def arrive(handshakes: HandshakeLimiter) -> tuple[PendingHandshake, Below]:
    below = Below()
    arrival = PendingHandshake(handshakes, "mqks", lambda: Above(True), plain=False)
    arrival.connection_made(below)
    return arrival, below


def test_who_is_refused_is_refused_once_and_not_listened_to_any_more(handshakes: HandshakeLimiter) -> None:
    arrival, below = arrive(handshakes)
    assert len(handshakes) == 1
    arrival.data_received(b"GET / HTTP/1.1\r\n")
    assert (len(handshakes), handshakes.counts["failed"], below.calls) == (0, 1, ["close"])
    assert below.sent.startswith(b"HTTP/1.1 400")
    arrival.data_received(b"GET / HTTP/1.1\r\n")
    arrival.eof_received()
    arrival.connection_lost(None)
    assert (handshakes.counts["failed"], below.calls) == (1, ["close"])


def test_who_has_not_come_in_when_the_broker_stops_stays_outside(handshakes: HandshakeLimiter) -> None:
    (one, below), (_, other) = arrive(handshakes), arrive(handshakes)
    one.connection_lost(None)
    handshakes.stop()
    assert (below.calls, other.calls, len(handshakes)) == ([], ["abort"], 0)


# -- certificates ------------------------------------------------------------------------------------------------------


def test_reloads_are_counted_and_what_is_good_stays_in_use(
    ours: Made, others: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate and its key are replaced one after the other: the second look is after a while."""
    slept: list[float] = []
    really_sleep = asyncio.sleep
    thread = threading.current_thread()
    directory = tmp_path / "files"
    ours.install(directory)
    reports: list[str] = []

    async def sleep(seconds: float) -> None:
        """Somebody goes on with the replacing meanwhile, if there is something left to replace."""
        if threading.current_thread() is not thread:  # a client of another test that connects again
            await really_sleep(seconds)
            return
        slept.append(seconds)
        if (directory / "later").exists():
            others.install(directory, "server.key")

    async def run() -> None:
        paths = Paths(directory / "server.pem", directory / "server.key", None, "off", "1.2")
        made = Certificates(paths, lambda level, event, details: reports.append(event), lambda: 0.0)
        assert made.reloads == {"done": 0, "failed": 0}
        first = made.context
        monkeypatch.setattr(asyncio, "sleep", sleep)
        others.install(directory, "server.pem")  # without its key
        assert not await made.reload()
        assert (made.reloads, slept, made.context) == ({"done": 0, "failed": 1}, [module.SETTLE_SECONDS], first)
        (directory / "later").touch()
        assert await made.reload()
        assert (made.reloads, len(slept)) == ({"done": 1, "failed": 1}, 2)
        assert made.context is not first
        made.stop()

    asyncio.run(run())
    assert reports == ["tls.kept", "tls.reloaded"]
