"""Back-pressure works over TLS as without, and those who are slow with their handshake cost the others nothing."""

import contextlib
import gc
import socket
import ssl
import subprocess
import time
from collections.abc import Callable

import pytest

from penstock.server.connection import Connection
from penstock.server.handshakes import REPORTS_MAX, PendingHandshake

from .conftest import Certificates, TlsBroker, until

Start = Callable[..., TlsBroker]


def test_a_slow_reader_gets_everything_in_the_end(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(outbox_bytes_max=1 << 16)
    consumer, publisher = broker.open("mqks", ours.context()), broker.open("mqks", ours.context())
    consumer.send(b"c consume --confirm q e\n")
    consumer.line()
    body, count = b"y" * 2000, 10_000
    publisher.send(b"".join(b"%d publish e %s\n" % (number, body) for number in range(count)))
    publisher.send(b"z ping x\n")
    assert publisher.line() == b"z ok x"
    (session,) = (s for s in broker.node.reactor.connections if s.subscriptions())
    assert broker.node.reactor.connections[session].transport.get_write_buffer_size() < 4 << 20
    assert len(broker.node.broker.queues[b"q"].backlog) > 0
    assert [line.split(b" ")[2] for line in consumer.lines(count)] == [b"%d" % number for number in range(count)]


def test_a_client_that_asks_and_never_reads_is_not_heard_any_longer(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker()
    greedy = broker.open("mqks", ours.context())
    greedy.sock.settimeout(1)
    request = b"1 ping " + b"x" * 60_000 + b"\n"
    asked = 0
    with contextlib.suppress(TimeoutError):
        while asked < 10_000:
            greedy.send(request)
            asked += 1
    assert asked < 10_000
    (connection,) = broker.node.reactor.connections.values()
    assert connection.transport.get_write_buffer_size() < 16 << 20
    other = broker.open("mqks", ours.context())
    other.send(b"1 ping x\n")
    assert other.line() == b"1 ok x"


def test_publishers_are_paused_while_memory_is_short(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(memory_bytes_max=1 << 20)
    publisher, other = broker.open("mqks", ours.context()), broker.open("mqks", ours.context())
    other.send(b"c consume --confirm q e\nd delete_consumer --confirm c\n")
    other.lines(2)
    publisher.send(b"".join(b"%d publish e %s\n" % (number, b"x" * 100_000) for number in range(11)))
    until(lambda: bool(broker.reported("publishers.paused")))
    publisher.send(b"late ping x\n")
    assert publisher.quiet(0.2)
    other.send(b"1 ping x\nc consume q e\n")
    assert other.line() == b"1 ok x"
    assert len(other.lines(11)) == 11
    assert publisher.line() == b"late ok x"


class Slow:
    """A client that has begun a handshake and sends a byte of it whenever it is told to."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        secure = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        with contextlib.suppress(ssl.SSLWantReadError):
            secure.do_handshake()
        self.hello = outgoing.read()
        self.sent = 0
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=20)

    def send(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.send(self.hello[self.sent : self.sent + 1])
            self.sent += 1

    def ended(self) -> bool:
        self.sock.setblocking(False)
        try:
            return self.sock.recv(100) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True


def test_slow_handshakes_are_few_and_cost_nobody(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(tls_handshakes_max=100, tls_handshake_seconds=600)
    context = ours.context()
    working = broker.open("mqks", context)
    slow = [Slow(broker.ports["mqks"], context) for _ in range(60)]
    try:
        for client in slow:
            client.send()
        handshakes = broker.node.handshakes
        assert handshakes is not None
        until(lambda: handshakes.counts["crowded"] == 50)
        assert len(handshakes) == 10  # a tenth for one address: the last ones to come
        until(lambda: sum(client.ended() for client in slow) == 50)
        for _ in range(100):
            for client in slow:
                client.send()
            working.send(b"1 ping x\n")
            assert working.line() == b"1 ok x"
        new = broker.open("mqks", context)  # takes the place of the one that has taken longest, and is quick
        new.send(b"1 ping x\n")
        assert new.line() == b"1 ok x"
        assert handshakes.counts == {"done": 2, "failed": 0, "timeout": 0, "crowded": 51}
    finally:
        for client in slow:
            client.sock.close()


def test_the_oldest_of_all_may_be_the_only_one_of_its_address(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(tls_handshakes_max=20, tls_handshake_seconds=600)
    handshakes = broker.node.handshakes
    assert handshakes is not None
    port, context = broker.ports["mqks"], ours.context()
    waiting = []
    try:
        for number in range(20):
            waiting.append(socket.create_connection(("127.0.0.1", port), 20, (f"127.0.0.{50 + number}", 0)))
            until(lambda count=number + 1: len(handshakes) == count)  # type: ignore[misc]
        newcomer = socket.create_connection(("127.0.0.1", port), 20, ("127.0.0.50", 0))
        with context.wrap_socket(newcomer, server_hostname="localhost") as secure:
            secure.sendall(b"1 ping x\n")
            assert secure.recv(100) == b"1 ok x\n"
        assert waiting[0].recv(1) == b""
        assert handshakes.counts["crowded"] == 1
    finally:
        for sock in waiting:
            sock.close()
    until(lambda: len(handshakes) == 0)
    assert not handshakes._pending._by_address


def test_a_handshake_that_fails_by_our_mistake_ends_alone(
    broker: TlsBroker, ours: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    shake = PendingHandshake.shake
    failures = [RuntimeError("a mistake")]

    def shake_badly(arrival: PendingHandshake) -> None:
        if failures:
            raise failures.pop()
        shake(arrival)

    monkeypatch.setattr(PendingHandshake, "shake", shake_badly)
    with pytest.raises((ConnectionError, ssl.SSLError)):
        broker.open("mqks", ours.context())
    client = broker.open("mqks", ours.context())
    client.send(b"1 ping x\n")
    assert client.line() == b"1 ok x"
    (report,) = broker.reported("tls.failed")
    assert "a mistake" in str(report["error"])
    assert len(broker.node.handshakes or "") == 0


def test_a_byte_now_and_then_is_no_reason_to_stay(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(tls_handshake_seconds=0.3)
    slow = Slow(broker.ports["mqks"], ours.context())
    silent = broker.connect("mqks")
    while not slow.ended():
        slow.send()
        time.sleep(0.01)
    slow.sock.close()
    assert silent.closed_by_peer()
    assert len(broker.node.handshakes or "") == 0
    assert {str(report["reason"]) for report in broker.reported("tls.refused")} == {
        "no handshake within tls_handshake_seconds (0.3)"
    }


def test_those_who_leave_in_the_middle_are_forgotten(broker: TlsBroker, ours: Certificates) -> None:
    handshakes = broker.node.handshakes
    assert handshakes is not None
    began = time.monotonic()
    for _ in range(50):
        client = Slow(broker.ports["any"], ours.context())
        client.send()
        client.sock.close()
    until(lambda: handshakes.counts["failed"] == 50)
    assert len(handshakes) == 0
    seconds = int(time.monotonic() - began) + 2  # begun, which a busy machine makes more of them
    assert len(broker.reported("tls.refused")) <= REPORTS_MAX * seconds


def test_connections_that_are_gone_leave_nothing_behind(start_broker: Start, ours: Certificates) -> None:
    """Without the collector, which a broker lets look seldom: each has buffers of its own."""
    broker = start_broker()
    kinds = (ssl.SSLObject, PendingHandshake, Connection)
    gc.collect()
    gc.disable()
    try:
        for number in range(30):
            door = ("mqks", "any", "http")[number % 3]
            client = broker.open(door, ours.context())
            client.send(b"1 ping x\n" if door != "http" else b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            client.line()
            client.close()
        until(lambda: not broker.node.reactor.connections)
        until(lambda: not [each for each in gc.get_objects() if isinstance(each, kinds)])
    finally:
        gc.enable()


def test_many_handshakes_at_once_all_succeed(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(tls_handshakes_max=10_000)
    context = ours.context()
    pairs = []
    for _ in range(150):
        sock = socket.create_connection(("127.0.0.1", broker.ports["mqks"]), timeout=20)
        pairs.append(context.wrap_socket(sock, server_hostname="localhost", do_handshake_on_connect=False))
    for secure in pairs:
        secure.do_handshake()
        secure.sendall(b"1 ping x\n")
    for secure in pairs:
        assert secure.recv(100) == b"1 ok x\n"
        secure.close()
    until(lambda: not broker.node.reactor.connections)


def test_new_keys_may_be_asked_for_at_any_time(broker: TlsBroker, ours: Certificates) -> None:
    address = f"127.0.0.1:{broker.ports['mqks']}"
    process = subprocess.Popen(
        ["openssl", "s_client", "-tls1_3", "-connect", address, "-CAfile", ours["ca.pem"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    try:
        for number in range(20):
            process.stdin.write(b"K\n")  # by which s_client sends a KeyUpdate, and asks for one
            process.stdin.flush()
            while b"KEYUPDATE" not in (line := process.stderr.readline()):
                assert line
            process.stdin.write(b"%d ping x\n" % number)
            process.stdin.flush()
            while not (line := process.stdout.readline()).startswith(b"%d ok x" % number):
                assert line
    finally:
        process.kill()
        process.communicate()
