"""The broker on real sockets: doors, limits, back-pressure, the end."""

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from .conftest import BrokerProcess, RunningBroker

Start = Callable[..., RunningBroker]
StartProcess = Callable[..., BrokerProcess]


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def alive(running: RunningBroker | BrokerProcess) -> None:
    client = running.connect("mqks")
    client.send(b"1 ping x\n")
    assert client.line() == b"1 ok x"
    client.close()


def test_publish_and_consume_over_a_socket(broker: RunningBroker) -> None:
    consumer, publisher = broker.connect("mqks"), broker.connect("mqks")
    consumer.send(b"c consume --confirm q e\n")
    assert consumer.line() == b"c ok "
    publisher.send(b"m1 publish e hello\nm2 publish --confirm e world\n")
    assert consumer.lines(2) == [b"c ok m1 event=e hello", b"c ok m2 event=e world"]
    assert publisher.line() == b"m2 ok "


def test_a_disconnect_returns_what_was_not_acked(broker: RunningBroker) -> None:
    first, second = broker.connect("mqks"), broker.connect("mqks")
    first.send(b"c consume --confirm q e --manual-ack\n1 publish e a\n2 publish e b\n")
    first.lines(3)
    first.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    first.close()
    second.send(b"d consume q e\n")
    assert second.lines(2) == [b"d ok 1 event=e,retry=1 a", b"d ok 2 event=e,retry=1 b"]


def test_timers_run_without_any_traffic(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    client.send(b"c consume --confirm q e --delete-queue-when-unused=0.05\nd delete_consumer c\n")
    client.line()
    wait_until(lambda: b"q" not in broker.node.broker.queues)


def test_a_half_close_is_answered_and_closed(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    client.send(b"1 ping x\n")
    assert client.line() == b"1 ok x"
    client.sock.shutdown(socket.SHUT_WR)
    assert client.closed_by_peer()


def test_too_many_connections_are_turned_away_and_the_others_live(start_broker: Start) -> None:
    running = start_broker(connections_max=2)
    first, second = running.connect("mqks"), running.connect("mqks")
    first.send(b"1 ping x\n")
    second.send(b"1 ping x\n")
    assert (first.line(), second.line()) == (b"1 ok x", b"1 ok x")
    third = running.connect("mqks")
    assert third.closed_by_peer()
    (report,) = running.reported("connection.refused")
    assert "connections_max is 2" in str(report["limit"])
    second.close()
    wait_until(lambda: len(running.node.reactor.connections) == 1)
    alive(running)


def test_random_bytes_are_refused_and_the_broker_lives(broker: RunningBroker) -> None:
    noise = os.urandom(200_000)
    client = broker.connect("mqks")
    client.send(noise + b"\nlast ping x\n")
    while (line := client.line()) != b"last ok x":
        assert re.fullmatch(rb".* error [0-9A-Za-z]{24}", line, re.DOTALL), line
    alive(broker)


def test_unknown_flags_and_actions_are_error_lines(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    client.send(b"1 consume q e --what\n2 fly away x\n3 publish --confirm\n4 ping x\n")
    first, second, third, fourth = client.lines(4)
    assert [line.split(b" ")[:2] for line in (first, second, third)] == [
        [b"1", b"error"],
        [b"2", b"error"],
        [b"3", b"error"],
    ]
    assert fourth == b"4 ok x"


def test_invalid_utf8_goes_through_as_it_is(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    client.send(b"c consume \xff \xfe\nm publish \xfe \xc3\x28\x80\n")
    assert client.line() == b"c ok m event=\xfe \xc3\x28\x80"


def test_half_lines_over_many_segments(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    for byte in b"c consume q e\nm publish e slow\n":
        client.send(bytes([byte]))
    assert client.line() == b"c ok m event=e slow"


def test_a_consumer_that_never_reads_holds_up_nobody(start_broker: Start) -> None:
    running = start_broker(queue_bytes_max=4 << 20, outbox_bytes_max=1 << 18)
    stuck, reader, publisher = running.connect("mqks"), running.connect("mqks"), running.connect("mqks")
    stuck.send(b"s consume --confirm stuck e\n")
    stuck.line()
    reader.send(b"r consume --confirm alive e\n")
    reader.line()
    count, body = 40_000, b"x" * 1000
    publisher.sock.settimeout(30)
    sent = 0
    got: list[bytes] = []
    for start in range(0, count, 1000):
        publisher.send(b"".join(b"%d publish e %s\n" % (number, body) for number in range(start, start + 1000)))
        sent += 1000
        got += reader.lines(1000)
    assert [line.split(b" ")[2] for line in got] == [b"%d" % number for number in range(sent)]
    # The stuck queue filled up to its limit, refused the rest, and said so to the publisher.
    queue = running.node.broker.queues[b"stuck"]
    assert queue.bytes < (4 << 20) + 2000
    publisher.send(b"last ping x\n")
    refusals = 0
    while (line := publisher.line()) != b"last ok x":
        assert b" error " in line
        refusals += 1
    assert refusals == running.node.broker.refused > 0
    assert stuck.sock.fileno() > 0


def test_a_client_that_asks_and_never_reads_is_not_heard_any_longer(start_broker: Start) -> None:
    running = start_broker()
    greedy = running.connect("mqks")
    greedy.sock.settimeout(1)
    request = b"1 ping " + b"x" * 60_000 + b"\n"
    asked = 0
    with contextlib.suppress(TimeoutError):
        while asked < 10_000:
            greedy.send(request)
            asked += 1
    assert asked < 10_000
    (connection,) = running.node.reactor.connections.values()
    # The loop reads up to eight megabytes at a time before anything is written.
    assert connection.transport.get_write_buffer_size() < 16 << 20
    alive(running)
    # It is heard again once it reads. What the last send left behind is half a request.
    greedy.sock.settimeout(10)
    assert {len(line) for line in greedy.lines(asked)} == {len(request) - 3}


def test_a_paused_publisher_that_holds_work_can_still_settle_it(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=4 << 20, unacked_bytes_max=16 << 20)
    client = running.connect("mqks")
    client.send(b"c consume --confirm q e --manual-ack\n")
    client.line()
    body = b"x" * 200_000
    client.send(b"".join(b"%d publish e %s\n" % (number, body) for number in range(10)))
    assert len(client.lines(10)) == 10
    client.send(b"a ack --confirm c --all\n")
    assert client.line() == b"a ok "
    assert running.node.broker.context.bytes == 0


def test_a_slow_reader_gets_everything_in_the_end(start_broker: Start) -> None:
    running = start_broker(outbox_bytes_max=1 << 16)
    consumer, publisher = running.connect("mqks"), running.connect("mqks")
    consumer.send(b"c consume --confirm q e\n")
    consumer.line()
    body = b"y" * 2000
    count = 10_000
    publisher.send(b"".join(b"%d publish e %s\n" % (number, body) for number in range(count)))
    publisher.send(b"z ping x\n")
    assert publisher.line() == b"z ok x"
    assert [line.split(b" ")[2] for line in consumer.lines(count)] == [b"%d" % number for number in range(count)]


def test_publishers_are_paused_while_memory_is_short_and_nobody_else_is(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=1 << 20)
    publisher, other = running.connect("mqks"), running.connect("mqks")
    other.send(b"c consume --confirm q e\nd delete_consumer --confirm c\n")
    other.lines(2)
    body = b"x" * 100_000
    publisher.send(b"".join(b"%d publish e %s\n" % (number, body) for number in range(11)))
    wait_until(lambda: bool(running.reported("publishers.paused")))
    publisher.send(b"late ping x\n")
    assert publisher.quiet(0.2)
    other.send(b"1 ping x\nc consume q e\n")
    assert other.line() == b"1 ok x"
    assert len(other.lines(11)) == 11
    assert publisher.line() == b"late ok x"
    assert running.reported("publishers.resumed")


def test_a_browser_that_posts_to_the_port_is_cut_off(broker: RunningBroker) -> None:
    consumer, browser = broker.connect("mqks"), broker.connect("mqks")
    consumer.send(b"c consume --confirm q e\n")
    consumer.line()
    browser.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nm publish e evil\n")
    assert browser.closed_by_peer()
    assert consumer.quiet()


def test_a_mistake_of_ours_closes_one_connection_and_is_reported(broker: RunningBroker) -> None:
    client = broker.connect("mqks")
    client.send(b"1 ping x\n")
    client.line()
    (connection,) = broker.node.reactor.connections.values()

    class Broken:
        peer = holder = "somebody"
        protocol = "mqks"
        outbox_size = 0
        closing = busy = False
        unfed: ClassVar[list[bytes]] = []
        successor = user = preauth = None

        def feed(self, data: bytes, now: int) -> None:
            raise RuntimeError("oops")

        def hang_up(self) -> None:
            connection.transport.close()

        def subscriptions(self) -> list[object]:
            return []

        def end(self, now: int) -> None:
            pass

    def break_it() -> None:
        connections = broker.node.reactor.connections
        connections.clear()
        connection.session = Broken()  # type: ignore[assignment]
        connections[connection.session] = connection  # type: ignore[index]

    broker.call(break_it)
    client.send(b"2 ping x\n")
    assert client.closed_by_peer()
    assert client.buffer == b""
    (report,) = broker.reported("session.failed")
    assert "oops" in str(report["error"])
    alive(broker)


def test_a_mistake_while_one_is_written_to_holds_up_nobody(broker: RunningBroker) -> None:
    bad = broker.connect("mqks")
    bad.send(b"b consume --confirm first e\n")
    bad.line()
    (connection,) = broker.node.reactor.connections.values()
    good, publisher = broker.connect("mqks"), broker.connect("mqks")
    good.send(b"g consume --confirm second e\n")
    good.line()

    def fail() -> None:
        raise RuntimeError("oops")

    connection.write_outbox = fail  # type: ignore[method-assign]
    publisher.send(b"1 publish e x\n")
    assert good.line().endswith(b" x")
    assert bad.closed_by_peer()
    assert bad.buffer == b""
    (report,) = broker.reported("session.failed")
    assert "oops" in str(report["error"])
    alive(broker)


@pytest.mark.process
def test_connect_and_vanish_ten_thousand_times_leaks_nothing(start_process: StartProcess) -> None:
    process = start_process("--log-level", "error", "--http", "off")  # which would be loaded meanwhile
    lines = (b"", b"c consume q e --manual-ack\n", b"half a li", b"m publish nowhere x\n", b"\x00\xff")

    def vanish(count: int) -> None:
        for number in range(count):
            client = process.connect("mqks")
            client.send(lines[number % len(lines)])
            if number % 2:
                client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()

    def sockets() -> int:
        return len(list(Path(f"/proc/{process.process.pid}/fd").iterdir()))

    vanish(2_000)
    alive(process)
    files, memory = sockets(), process.rss()
    vanish(8_000)
    alive(process)
    wait_until(lambda: sockets() <= files)
    assert process.rss() - memory < 2 << 20
    client = process.connect("mqks")
    client.send(b"1 _eval len(state.socks_by_clients)\n")
    assert client.line() == b"1 ok 1"
    client.close()


@pytest.mark.process
def test_a_gigabyte_without_a_line_end_costs_no_memory(start_process: StartProcess) -> None:
    process = start_process("--log-level", "error", "--line-size-max", "4MiB", "--http", "off")
    client = process.connect("mqks")
    before = process.rss()
    chunk = b"x" * (1 << 20)
    sent = 0
    try:
        while sent < 1 << 30:
            client.send(chunk)
            sent += len(chunk)
    except (ConnectionError, TimeoutError):
        pass
    assert sent < 64 << 20
    assert client.closed_by_peer()
    assert not client.buffer or re.fullmatch(rb"None error [0-9A-Za-z]{24}\n", client.buffer)
    client.close()
    assert process.rss() - before < 40 << 20
    alive(process)


@pytest.mark.process
def test_sigterm_drains_and_exits_zero(start_process: StartProcess) -> None:
    process = start_process()
    consumer, publisher = process.connect("mqks"), process.connect("mqks")
    consumer.send(b"c consume --confirm q e\n")
    consumer.line()
    count, body = 2_000, b"x" * 1000
    publisher.send(b"".join(b"%d publish e %s\n" % (number, body) for number in range(count)))
    publisher.send(b"z ping x\n")
    assert publisher.line() == b"z ok x"
    process.process.send_signal(signal.SIGTERM)
    # What was on its way to a consumer that reads still arrives.
    assert len(consumer.lines(count)) == count
    assert consumer.closed_by_peer()
    _, log = process.process.communicate(timeout=20)
    assert process.process.returncode == 0
    assert "Traceback" not in log


@pytest.mark.process
def test_an_error_line_and_the_log_share_the_error_id(start_process: StartProcess) -> None:
    process = start_process()
    client = process.connect("mqks")
    client.send(b"1 fly away\n")
    error_id = client.line().split(b" ")[2].decode()
    client.close()
    code, log = process.terminate()
    assert code == 0
    (line,) = [line for line in log.splitlines() if error_id in line]
    assert '"reason": "unknown action"' in line


@pytest.mark.process
def test_a_port_that_is_taken_is_one_clear_line(broker: RunningBroker) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "serve", "--memory", "--mqks", str(broker.ports["mqks"]),
        "--smqs", "off",  "--sevx", "off", "--mqmq", "off", "--rq", "off", "--any", "off", "--http", "off"],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"cannot listen for mqks on 127.0.0.1:{broker.ports['mqks']}" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_half_closed_consumer_is_given_no_more_than_it_hears(start_broker: Start) -> None:
    """With room for one message at a time, more would be taken from the queue when the last of them was written."""
    broker = start_broker(outbox_bytes_max=1)
    for _ in range(20):
        publisher = broker.connect("mqks")
        publisher.send(b"a consume q e\nr delete_consumer --confirm a\n")
        assert publisher.line() == b"r ok "
        publisher.send(b"".join(b"m publish e %d\n" % number for number in range(50)) + b"r ping x\n")
        assert publisher.line() == b"r ok x"
        client = broker.connect("mqks")
        client.send(b"c consume q e\n")
        client.sock.shutdown(socket.SHUT_WR)
        assert client.closed_by_peer()
        assert broker.call(lambda: broker.node.broker.queues[b"q"].ready) == 50 - client.buffer.count(b"\n")
        publisher.send(b"r delete_queue --confirm q\n")
        assert publisher.line() == b"r ok "


def test_a_body_takes_at_most_an_eighth_of_the_memory(start_broker: Callable[..., RunningBroker]) -> None:
    broker = start_broker(memory_bytes_max=32 << 20)
    (lowered,) = broker.reported("limits.lowered")
    assert (lowered["body_size_max"], lowered["line_size_max"]) == (4 << 20, 6 << 20)
    client = broker.connect("mqks")
    client.send(b"a publish --confirm e " + b"x" * (4 << 20) + b"\n")
    assert client.line() == b"a ok "
    client.send(b"b publish --confirm e " + b"x" * ((4 << 20) + 1) + b"\n")
    assert client.line().startswith(b"b error ")
    (refused,) = broker.reported("request.refused")
    assert "body_size_max is 4194304" in str(refused["reason"])
