"""Every door speaks TLS: tried with openssl, with Python's own TLS, and by those who speak something else."""

import json
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from penstock.wire.mqmq.codec import encode

from ..server.conftest import Client
from .conftest import Certificates, TlsBroker, until

# What a client says first, and what the answer begins with.
TALKS = {
    "mqks": (b"1 ping hello\n", b"1 ok hello\n"),
    "smqs": (b"S::\n", b"{}\n"),
    "sevx": (b'1 send {"n": 1}\n', b"1 ok \n"),
    "mqmq": (encode(b"Put", b"q", b"x"), encode(b"OK")),
    "rq": (b"\x01\xa0\x04work\x62\x00\x05\x40\x14\x14", b"\x01\x60\x00\x01\xa0\x04work\x18"),
    "any": (b"1 ping hello\n", b"1 ok hello\n"),
    "http": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"HTTP/1.1 200 OK\r\n"),
}


class OpenSsl:
    """`openssl s_client`, as one would type into it."""

    def __init__(self, port: int, *options: str | Path) -> None:
        fixed = ("-quiet", "-connect", f"127.0.0.1:{port}", "-verify_return_error", "-verify_hostname", "localhost")
        self.process = subprocess.Popen(
            ["openssl", "s_client", *fixed, *map(str, options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> "OpenSsl":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, text: bytes, size: int) -> bytes:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(text)
        self.process.stdin.flush()
        return self.process.stdout.read(size)

    def complaint(self) -> str:
        """What it says when it does not come in."""
        _, said = self.process.communicate(timeout=30)
        assert self.process.returncode != 0
        return said.decode(errors="replace")


@pytest.mark.parametrize("door", TALKS)
def test_openssl_is_answered_at_every_door(broker: TlsBroker, ours: Certificates, door: str) -> None:
    said, answer = TALKS[door]
    version = "-tls1_2" if door in ("mqks", "http") else "-tls1_3"
    with OpenSsl(broker.ports[door], version, "-CAfile", ours["ca.pem"]) as client:
        assert client.ask(said, len(answer)) == answer


def test_openssl_does_not_believe_a_stranger(broker: TlsBroker, others: Certificates) -> None:
    with OpenSsl(broker.ports["mqks"], "-CAfile", others["ca.pem"]) as client:
        assert "verify error" in client.complaint()


@pytest.mark.parametrize("setting", ["1.2", "1.3"])
def test_old_versions_are_refused(start_broker, ours: Certificates, setting: str) -> None:
    broker = start_broker(tls_min=setting)
    old = ["-tls1", "-tls1_1"] if setting == "1.2" else ["-tls1_2"]
    for version in old:
        # SECLEVEL=0: openssl itself would not offer the old ones any more.
        with OpenSsl(broker.ports["any"], version, "-cipher", "ALL:@SECLEVEL=0", "-CAfile", ours["ca.pem"]) as client:
            assert "alert protocol version" in client.complaint()
    assert len(broker.reported("tls.refused")) == len(old)
    client = broker.open("any", ours.context())
    client.send(b"1 ping still-here\n")
    assert client.line() == b"1 ok still-here"


def test_two_protocols_meet_over_tls(broker: TlsBroker, ours: Certificates) -> None:
    """What goes in by SMQS comes out by MQKS, over one port and over two."""
    context = ours.context()
    for put, take in (("smqs", "mqks"), ("any", "any")):
        worker, producer = broker.open(take, context), broker.open(put, context)
        worker.send(b"c consume --confirm jobs jobs --delete-queue-when-unused\n")
        assert worker.line() == b"c ok "
        producer.send(b"".join(b'M:jobs:{"n":%d}\n' % n for n in range(20_000)))
        for n in range(20_000):
            assert worker.line().endswith(b' {"n":%d}' % n)
        worker.close()
        until(lambda: not broker.node.broker.queues)


def test_a_large_message_both_ways(broker: TlsBroker, ours: Certificates) -> None:
    client = broker.open("mqmq", ours.context())
    body = bytes(range(256)) * (1 << 14)
    client.send(encode(b"Put", b"q", body) + encode(b"Get", b"q", b"1000"))
    assert client.read(len(encode(b"OK"))) == encode(b"OK")
    wanted = encode(b"OK", body)
    assert client.read(len(wanted)) == wanted


def test_bytes_that_come_one_by_one(broker: TlsBroker, ours: Certificates) -> None:
    """Of the hello, too: a proxy between the two cuts everything to pieces."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    secure = ours.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(("127.0.0.1", broker.ports["mqks"]), timeout=20) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def pass_on() -> None:
            for byte in outgoing.read():
                sock.send(bytes([byte]))

        while True:
            try:
                secure.do_handshake()
                break
            except ssl.SSLWantReadError:
                pass_on()
                incoming.write(sock.recv(1 << 16))
        secure.write(b"1 ping a\n2 ping b\n")
        pass_on()
        answer = b""
        while answer.count(b"\n") < 2:
            try:
                answer += secure.read(100)
            except ssl.SSLWantReadError:
                incoming.write(sock.recv(1 << 16))
        assert answer == b"1 ok a\n2 ok b\n"


def test_what_comes_with_the_last_bytes_of_the_handshake_counts(broker: TlsBroker, ours: Certificates) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    secure = ours.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(("127.0.0.1", broker.ports["mqks"]), timeout=20) as sock:
        with pytest.raises(ssl.SSLWantReadError):
            secure.do_handshake()
        sock.sendall(outgoing.read())
        done = False
        while not done:
            incoming.write(sock.recv(1 << 16))
            try:
                secure.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                pass
        secure.write(b"1 ping together\n")
        sock.sendall(outgoing.read())  # the end of the handshake, and the request
        incoming.write(sock.recv(1 << 16))
        assert secure.read(100) == b"1 ok together\n"


def test_a_client_that_has_said_all_is_answered(start_broker, ours: Certificates, tmp_path: Path) -> None:
    """As over a plain socket: whoever closes its side still hears that its messages are on disk."""
    broker = start_broker(memory=False, data=tmp_path / "data")
    for protocol_version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ours.context()
        context.maximum_version = protocol_version
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        secure = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        with socket.create_connection(("127.0.0.1", broker.ports["mqks"]), timeout=20) as sock:
            while True:
                try:
                    secure.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    sock.sendall(outgoing.read())
                    incoming.write(sock.recv(1 << 16))
            secure.write(b"1 publish --confirm e x\n2 publish --confirm e y\n")
            with pytest.raises(ssl.SSLWantReadError):
                secure.unwrap()  # which says close_notify, and waits for the other's
            sock.sendall(outgoing.read())
            sock.shutdown(socket.SHUT_WR)
            while data := sock.recv(1 << 16):
                incoming.write(data)
            answers = b""
            while answers.count(b"\n") < 2:
                answers += secure.read(100)
            assert answers == b"1 ok \n2 ok \n"
            with pytest.raises(ssl.SSLZeroReturnError):
                secure.read(100)  # the broker's own close_notify


def test_a_client_that_only_sends_loses_nothing(broker: TlsBroker, ours: Certificates) -> None:
    """Nothing lies in its buffer that would make the system throw away what it sent when it closes."""
    watcher = broker.open("smqs", ours.context())
    watcher.send(b"C:jobs:\n")
    sender = broker.open("smqs", ours.context())
    sender.send(b"".join(b"M:jobs:%d\n" % n for n in range(1000)))
    sender.sock.close()
    assert watcher.lines(1000) == [b"%d" % n for n in range(1000)]


def test_plain_clients_are_turned_away_and_told(broker: TlsBroker) -> None:
    for door in ("mqks", "smqs", "any"):
        client = broker.connect(door)
        client.send(TALKS[door][0])
        assert client.closed_by_peer()
        assert client.buffer == b""
    browser = broker.connect("http")
    browser.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert browser.closed_by_peer()
    assert browser.buffer.startswith(b"HTTP/1.1 400 ")
    assert browser.buffer.endswith(b"https://\n")
    reasons = [report["reason"] for report in broker.reported("tls.refused")]
    assert reasons == ["the client does not speak TLS"] * 4


def test_the_port_any_serves_both_where_it_may(start_broker, ours: Certificates) -> None:
    broker = start_broker(any_tls="both")
    secure, plain = broker.open("any", ours.context()), broker.connect("any")
    secure.send(b"c consume --confirm q e\n")
    assert secure.line() == b"c ok "
    plain.send(b"m publish e from-a-plain-one\n")
    assert secure.line() == b"c ok m event=e from-a-plain-one"
    plain_mqks = broker.connect("mqks")  # the others do not
    plain_mqks.send(b"1 ping x\n")
    assert plain_mqks.closed_by_peer()


def test_whoever_is_silent_at_a_door_for_both_is_taken_for_plain(start_broker) -> None:
    broker = start_broker(any_tls="both", tls_handshake_seconds=0.1)
    client = broker.connect("any")
    until(lambda: len(broker.node.reactor.connections) == 1)
    client.send(b"1 ping late\n")
    assert client.line() == b"1 ok late"


def test_the_port_any_can_do_without(start_broker, ours: Certificates) -> None:
    broker = start_broker(any_tls="off")
    plain = broker.connect("any")
    plain.send(b"1 ping x\n")
    assert plain.line() == b"1 ok x"
    with pytest.raises((ssl.SSLError, ConnectionError)):
        broker.open("any", ours.context())


GARBAGE = [
    b"\x16",
    b"\x16\x03\x01",
    b"\x16" * 1000,
    b"\x16\x03\x01\x40\x00" + b"\0" * 16384,
    b"\x16\x03\x01\x00\x05hello",
    b"\x16\x03\x01\xff\xff" + b"x" * 70000,
    b"\x16\x03\x03\x00\x00" * 60_000,
    b"\0",
    b"\x80\x2e\x01\x03\x01",
    bytes(range(256)) * 100,
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_instead_of_a_hello_hurts_nobody(broker: TlsBroker, ours: Certificates, garbage: bytes) -> None:
    client = broker.connect("mqks")
    try:
        client.send(garbage)
        client.sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it was cut off before
    assert client.closed_by_peer()
    until(lambda: not broker.node.reactor.connections)
    good = broker.open("mqks", ours.context())
    good.send(b"1 ping x\n")
    assert good.line() == b"1 ok x"
    assert len(broker.reported("tls.refused")) == 1


def test_garbage_after_the_handshake_ends_one_connection(broker: TlsBroker, ours: Certificates) -> None:
    bad, good = broker.open("mqks", ours.context()), broker.open("mqks", ours.context())
    bad.send(b"c consume q e\n")
    until(lambda: b"q" in broker.node.broker.queues)
    raw = socket.socket(fileno=bad.sock.detach())
    raw.settimeout(20)
    with raw:
        raw.sendall(b"\x17\x03\x03\x00\x20" + b"\xaa" * 32)
        while raw.recv(1 << 16):
            pass
    until(lambda: len(broker.node.reactor.connections) == 1)
    good.send(b"1 ping x\n")
    assert good.line() == b"1 ok x"


def test_a_reset_in_the_middle_is_the_end_of_a_session(broker: TlsBroker, ours: Certificates) -> None:
    consumer = broker.open("mqks", ours.context())
    consumer.send(b"c consume --confirm q e --manual-ack\nm publish e x\n")
    assert consumer.lines(2) == [b"c ok ", b"c ok m event=e x"]
    Client.close(consumer)
    second = broker.open("mqks", ours.context())
    second.send(b"d consume q e\n")
    assert second.line().startswith(b"d ok m event=e")


def test_a_draining_broker_says_goodbye_over_tls(start_broker, ours: Certificates) -> None:
    broker = start_broker()
    client = broker.open("mqks", ours.context())
    client.send(b"1 ping x\n")
    assert client.line() == b"1 ok x"
    broker._loop.call_soon_threadsafe(broker._stop.set)
    assert client.sock.recv(100) == b""  # a proper end: Python's TLS raises when the other just hangs up
    broker._thread.join(10)


def test_who_a_client_is_reaches_the_connection(start_broker, ours: Certificates) -> None:
    broker = start_broker(tls_ca=ours["ca.pem"])
    broker.open("mqks", ours.context(ours)).send(b"1 ping x\n")
    until(lambda: len(broker.node.reactor.connections) == 1)
    (connection,) = broker.node.reactor.connections.values()
    shown = connection.transport.get_extra_info("peercert")
    assert shown["subject"] == ((("commonName", "worker-1"),),)
    assert connection.transport.get_extra_info("ssl_object").getpeercert(True)
    assert json.dumps(shown["notAfter"])
