"""One account of memory: whoever holds, does not read or does not end its request is slowed, and others go on."""

import contextlib
import time
from collections.abc import Callable

import pytest
from tests.server.conftest import RunningBroker

from penstock.config import Config
from penstock.message import Message
from penstock.node import limits_of
from penstock.server.account import KINDS, Share
from penstock.server.memory import QUEUE_BYTES

Start = Callable[..., RunningBroker]

MIB = 1 << 20


def wait_until(broker: RunningBroker, is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    """Ask the broker itself, on its own thread, until it is so."""
    deadline = time.monotonic() + seconds
    while not broker.call(is_so):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


@pytest.mark.parametrize("memory_bytes_max", [64 * MIB, 256 * MIB, 1024 * MIB])
def test_queues_alone_leave_room_for_messages(memory_bytes_max: int) -> None:
    """Messages may always take half of the limit; together the two are at most a quarter above it."""
    limits = limits_of(Config.load({"memory_bytes_max": memory_bytes_max}, {}, None))
    assert limits.queues_max * QUEUE_BYTES <= memory_bytes_max * 3 // 4
    assert limits_of(Config.load({}, {}, None)).queues_max == 100_000  # what the documentation promises


def test_a_publisher_beside_an_idle_consumer_of_its_own_is_held_back_in_memory_mode(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=2 * MIB)
    client = running.connect("mqks")
    client.send(b"c consume --confirm idle nothing\nd consume --confirm --manual-ack other elsewhere\n")
    client.lines(2)
    running.call(lambda: running.node.broker.bind(b"full", (b"e",)))
    client.sock.settimeout(1)
    body = b"x" * 50_000
    sent = 0
    with contextlib.suppress(TimeoutError):
        for number in range(1000):
            client.send(b"%d publish e %s\n" % (number, body))
            sent += 1
    assert sent < 1000  # 50 MB would have been taken
    assert running.node.broker.context.bytes < 3 * MIB
    assert running.reported("publishers.paused")


def test_it_is_heard_again_when_it_is_given_something(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=2 * MIB)
    client, other = running.connect("mqks"), running.connect("mqks")
    client.send(b"d consume --confirm --manual-ack work jobs\n")
    client.line()
    running.call(lambda: running.node.broker.bind(b"full", (b"e",)))
    body = b"x" * 50_000
    for number in range(60):
        other.send(b"%d publish e %s\n" % (number, body))
    wait_until(running, lambda: len(running.node.reactor.paused) == 1)
    client.send(b"p publish e %s\n" % body)
    wait_until(running, lambda: len(running.node.reactor.paused) == 2)

    def make_work() -> None:
        running.node.broker.put(b"work", _message())
        running.node.reactor.plan_flush()

    running.call(make_work)  # somebody whom nobody holds back
    delivery = client.line()
    assert delivery.startswith(b"d ")
    wait_until(running, lambda: len(running.node.reactor.paused) == 1)
    client.send(b"r ack --confirm d --all\n")
    assert client.line() == b"r ok "


def test_who_holds_work_while_memory_is_short_may_settle_and_not_publish(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=MIB, unacked_bytes_max=8 * MIB)
    client = running.connect("mqks")
    client.send(b"c consume --confirm q e --manual-ack\n")
    client.line()
    body = b"x" * 100_000
    for number in range(40):
        client.send(b"%d publish --confirm e %s\n" % (number, body))
    client.send(b"z ping there\n")
    refused = taken = 0
    while (line := client.line()) != b"z ok there":
        refused += b" error " in line
        taken += line.endswith(b" ok ")
    assert refused + taken == 40
    assert 5 < taken < 16  # of a hundred kilobytes each; a mebibyte and an eighth, and what one read brings
    client.send(b"p publish --confirm e %s\n" % body)
    refusals = running.reported("request.refused")
    assert any("memory_bytes_max is 1048576" in str(details["reason"]) for details in refusals)
    client.send(b"a ack --confirm c --all\n")
    lines: list[bytes] = []
    while b"a ok " not in lines:
        lines.append(client.line())
    assert running.node.broker.context.bytes < MIB


def test_one_who_holds_much_is_given_no_more_and_the_others_go_on(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=4 * MIB)
    broker = running.node.broker
    holder, worker, publisher = (running.connect("mqks") for _ in range(3))
    for number in range(4):
        holder.send(b"h%d consume --confirm --manual-ack held%d e\n" % (number, number))
    holder.lines(4)
    worker.send(b"w consume --confirm --manual-ack work jobs\n")
    worker.line()
    for number in range(4):
        running.call(lambda number=number: broker.bind(b"held%d" % number, (b"e%d" % number,)))  # type: ignore[misc]
    body = b"x" * 20_000
    for number in range(120):
        publisher.send(b"%d publish --confirm e%d %s\n" % (number, number % 4, body))
        publisher.line()
        if not number % 10:
            time.sleep(0.02)  # the holdings are looked at by the clock
    wait_until(running, lambda: bool(running.node.reactor.holdings.restrained))
    (session,) = running.node.reactor.holdings.restrained
    held = sum(subscription.bytes for subscription in session.subscriptions())
    publisher.send(b"more publish --confirm e0 %s\n" % body)
    publisher.line()
    assert held == sum(subscription.bytes for subscription in session.subscriptions())
    for number in range(20):
        publisher.send(b"j%d publish --confirm jobs %s\n" % (number, body))
        publisher.line()
        assert worker.line().startswith(b"w ")
        worker.send(b"%d ack --confirm w --all\n" % number)
        worker.line()
    assert running.reported("consumer.restrained")[0]["limit"] == "memory_bytes_max"
    for number in range(4):
        holder.send(b"a%d ack h%d --all\n" % (number, number))
    wait_until(running, lambda: not running.node.reactor.holdings.restrained)


def test_small_unfinished_requests_of_many_connections_are_counted(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=16 * MIB)
    clients = [running.connect("mqks") for _ in range(20)]
    for client in clients:
        client.send(b"1 publish e " + b"x" * 200_000)
    incoming = running.node.reactor.incoming
    wait_until(running, lambda: incoming.all_bytes > 2 * MIB)
    wait_until(running, lambda: incoming.waiting > 0)
    assert incoming.all_bytes < 5 * MIB
    for client in clients:
        client.sock.close()
    wait_until(running, lambda: incoming.all_bytes == 0)


def test_the_account_knows_each_kind_and_each_connection(start_broker: Start) -> None:
    running = start_broker()
    holder, half = running.connect("mqks"), running.connect("mqks")
    holder.send(b"h consume --confirm --manual-ack q e\n")
    holder.line()
    half.send(b"1 publish e %s\n2 publish nothing here" % (b"x" * 10_000))
    holder.line()
    reactor = running.node.reactor
    wait_until(running, lambda: reactor.incoming.all_bytes == len(b"2 publish nothing here"))

    def look() -> None:
        account = reactor.account
        account.held = running.node.broker.queues[b"q"].unacked_bytes
        kinds = account.kinds()
        assert tuple(kinds) == KINDS
        assert kinds["held"] > 10_000
        assert kinds["in"] == len(b"2 publish nothing here")
        sizes = sorted(
            account.of_connection(session, connection) for session, connection in reactor.connections.items()
        )
        assert sizes == [len(b"2 publish nothing here"), kinds["held"]]

    running.call(look)


def _message() -> Message:
    return Message(b"m", b"jobs", b"do it", 0, "test")


def test_a_requester_that_reads_no_replies_is_closed_before_they_take_the_memory(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=128 * MIB)
    consumer, requester = running.connect("rq"), running.connect("rq")
    consumer.send(b"\x01\xa0\x01q\x14")
    consumer.read(8)  # CONSUMING
    requests = [b"\x01\x80%s\xa0\x01q\xe0\x00\x00\x00\x01x\x0a" % number.to_bytes(4, "big") for number in range(90)]
    requester.send(b"".join(requests))
    wait_until(running, lambda: running.node.broker.queues[b"q"].unacked == 90)
    payload = b"\xe0" + MIB.to_bytes(4, "big") + b"x" * MIB
    for number in range(90):
        consumer.send(b"\x01\x80%s%s\x0b" % (number.to_bytes(4, "big"), payload))
    wait_until(running, lambda: running.node.broker.queues[b"q"].unacked == 0)
    assert running.reported("connection.stalled")
    assert len(running.node.reactor.connections) == 1


def test_who_fills_queues_waits_and_others_publish_on(start_broker: Start) -> None:
    running = start_broker(memory_bytes_max=4 * MIB)
    greedy, usual = running.connect("mqks"), running.connect("mqks", source="127.0.0.2")
    running.call(lambda: running.node.broker.bind(b"full", (b"e",)))
    usual.send(b"c consume --confirm --manual-ack work jobs\n")
    usual.line()
    other = running.connect("mqks", source="127.0.0.2")
    body = b"x" * 50_000
    for number in range(100):
        greedy.send(b"%d publish e %s\n" % (number, body))
    wait_until(running, lambda: len(running.node.reactor.paused) == 1)
    for number in range(100):
        other.send(b"%d publish --confirm jobs %s\n" % (number, body))
        assert other.line() == b"%d ok " % number
        usual.line()
        usual.send(b"a ack c --all\n")
    assert len(running.node.reactor.paused) == 1
    running.call(lambda: running.node.broker.bind(b"full2", (b"f",)))
    for number in range(20):
        other.send(b"%d publish f %s\n" % (number, body))
    wait_until(running, lambda: len(running.node.reactor.paused) == 2)  # it fills what was kept for such
    assert running.node.broker.context.bytes < 5 * MIB


def test_a_share_gives_way_with_the_room_that_is_left_and_keeps_the_least() -> None:
    allowed: list[int] = []
    share, large = Share(800, 0, allowed.append), Share(800, 500, allowed.append)
    for left in (64, 32, 16, 1, 0):
        share.give_way(left, 64)
    assert allowed == [800, 400, 200, 100, 100]
    allowed.clear()
    large.give_way(0, 64)
    large.give_way(64, 64)
    assert allowed == [500, 800]


def test_while_the_process_has_no_room_left_what_comes_and_goes_has_an_eighth_and_queues_have_half(
    start_broker: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start_broker(memory_bytes_max=64 * MIB)
    reactor = running.node.reactor
    full = reactor.incoming.bytes_max, reactor.outgoing.bytes_max
    resident = [64 * MIB]
    monkeypatch.setattr("penstock.server.account.resident_bytes", lambda: resident[0])
    running.call(reactor.account.balance)
    assert (reactor.incoming.bytes_max, reactor.outgoing.bytes_max) == full
    resident[0] = 200 * MIB
    running.call(reactor.account.balance)
    assert (reactor.incoming.bytes_max, reactor.outgoing.bytes_max) == (full[0] // 8, full[1] // 8)
    assert running.node.broker.context.unsent_max == full[1] // 8
    assert running.node.broker.context.bytes_max == 32 * MIB
    resident[0] = 64 * MIB
    running.call(reactor.account.balance)
    assert (reactor.incoming.bytes_max, reactor.outgoing.bytes_max) == full
