"""Each connection has a slice of a turn: what one client sends, others do not wait for."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, cast

import pytest

from penstock.clock import ManualClock
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.server.connection import Connection
from penstock.server.reactor import Reactor
from penstock.server.turns import FULL_READ, SHORT_PART, SHORT_TURNS, SLICE_WORK, TURN_WORK
from penstock.wire.dialects import DIALECTS
from penstock.wire.session import LEFT_AT_ONCE, Hub

FLOOD = b"m publish e x\n"


class Loop:
    """A loop that turns when a test says so."""

    def __init__(self) -> None:
        self.ready: list[Callable[[], None]] = []
        self.later: list[Callable[[], None]] = []

    def call_soon(self, function: Callable[[], None]) -> None:
        self.ready.append(function)

    def call_later(self, seconds: float, function: Callable[..., None], *arguments: object) -> "Loop":
        self.later.append(partial(function, *arguments))
        return self

    def cancel(self) -> None:
        pass

    def time(self) -> float:
        return 0.0

    def turn(self) -> None:
        ready = self.ready
        self.ready = []
        for function in ready:
            function()


class Transport:
    """A socket that takes all there is, and gives a read when it is read from."""

    def __init__(self) -> None:
        self.reading = True
        self.written = b""
        self.closed = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes) -> None:
        self.written += data

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def is_reading(self) -> bool:
        return self.reading

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


class House:
    def __init__(self) -> None:
        self.loop = Loop()
        self.broker = Broker(MemoryLog(), Limits())
        hub = Hub(self.broker, lambda level, event, details: None)
        self.reactor = Reactor(cast(Any, self.loop), hub, ManualClock(0), 1000)
        self.dialects = {dialect.name: dialect for dialect in [make(hub) for make in DIALECTS]}

    def connect(self, protocol: str = "mqks") -> tuple[Connection, Transport]:
        connection = Connection(self.reactor, self.dialects[protocol])
        transport = Transport()
        connection.connection_made(cast(Any, transport))
        return connection, transport

    def turns_until(self, condition: Callable[[], bool]) -> int:
        """How many turns of the loop it takes."""
        for turns in range(1000):
            if condition():
                return turns
            self.loop.turn()
        raise AssertionError("it never came to that")


@pytest.fixture
def house() -> House:
    return House()


def test_a_read_of_many_requests_takes_a_slice_in_each_turn_and_the_socket_is_not_read_meanwhile(house: House) -> None:
    flood, transport = house.connect()
    flood.data_received(FLOOD * (5 * SLICE_WORK))
    assert house.broker.published == SLICE_WORK
    assert not transport.is_reading()
    seen = []
    while not transport.is_reading():
        house.loop.turn()
        seen.append(house.broker.published)
    assert seen[-1] == 5 * SLICE_WORK
    steps = [after - before for before, after in pairwise(seen)]
    assert max(steps) <= TURN_WORK


def test_a_client_that_says_little_is_answered_in_the_turn_it_is_read_however_many_others_flood(house: House) -> None:
    floods = [house.connect()[0] for _ in range(50)]
    probe, transport = house.connect()
    for flood in floods:
        flood.data_received(FLOOD * (4 * SLICE_WORK))
    before = house.broker.context.work
    probe.data_received(b"p ping hello\n")
    assert house.turns_until(lambda: transport.written == b"p ok hello\n") <= 2
    assert house.broker.context.work - before <= 2 * TURN_WORK


def test_turns_are_short_while_somebody_else_says_a_little_beside_those_that_flood(house: House) -> None:
    flood, transport = house.connect()
    neighbour, probe = house.connect()[0], house.connect()[0]
    assert probe.session is not None
    probe.session.holder = "user 'probe'"
    many = SLICE_WORK // SHORT_PART * 2 * SHORT_TURNS + 10 * SLICE_WORK
    flood.data_received(FLOOD * many)
    neighbour.data_received(b"n ping x\n")  # shares an address with the one that floods
    house.turns_until(lambda: house.broker.published > SLICE_WORK)
    assert house.broker.published == 2 * SLICE_WORK
    probe.data_received(b"p ping x\n")
    seen = [house.broker.published]
    while not transport.is_reading():
        house.loop.turn()
        seen.append(house.broker.published)
    steps = [after - before for before, after in pairwise(seen)]
    assert max(steps[: SHORT_TURNS // 2]) <= TURN_WORK // SHORT_PART
    assert max(steps) >= SLICE_WORK  # after a while of silence, they are as long as before
    assert house.broker.published == many


def test_turns_are_short_while_somebody_else_is_given_a_long_queue(house: House) -> None:
    consumer, neighbour, probe = (house.connect()[0] for _ in range(3))
    assert probe.session is not None
    probe.session.holder = "user 'probe'"
    house.broker.bind(b"q", (b"e",))
    for number in range(3 * house.broker.log.tuning.given_at_once):
        house.broker.publish(Message(b"%d" % number, b"e", b"x", 0, "mqks"))
    tuning = house.broker.log.tuning
    given_at_once = tuning.given_at_once
    consumer.data_received(b"c consume q e\n")
    assert house.broker.queues[b"q"].ready == 2 * given_at_once
    house.loop.turn()
    neighbour.data_received(b"n ping x\n")
    assert tuning.given_at_once == given_at_once
    probe.data_received(b"p ping x\n")
    assert tuning.given_at_once == given_at_once // SHORT_PART
    for _ in range(SHORT_TURNS + 1):
        house.reactor.plan_flush()
        house.loop.turn()
    assert tuning.given_at_once == given_at_once


def test_in_short_turns_there_is_a_moment_between_two_full_reads_of_a_connection(house: House) -> None:
    flood = house.connect()[0]
    bulk, transport = house.connect()
    probe = house.connect()[0]
    assert probe.session is not None
    probe.session.holder = "user 'probe'"
    part = b"m publish e " + b"x" * FULL_READ
    bulk.data_received(part)
    house.turns_until(transport.is_reading)
    flood.data_received(FLOOD * (20 * SLICE_WORK))
    probe.data_received(b"p ping x\n")
    house.loop.later.clear()
    bulk.data_received(part)
    for _ in range(5):
        house.loop.turn()
        assert not transport.is_reading()
    for function in house.loop.later:
        function()
    house.turns_until(transport.is_reading)


def test_of_many_that_flood_no_more_than_a_turn_is_worked_on_at_once_and_each_has_its_share(house: House) -> None:
    floods = [house.connect() for _ in range(20)]
    for number, (connection, _) in enumerate(floods):
        house.broker.bind(b"q%d" % number, (b"e%d" % number,))
        connection.data_received(b"m publish e%d x\n" % number * (3 * SLICE_WORK))
    assert house.broker.published <= TURN_WORK + SLICE_WORK
    house.turns_until(lambda: house.broker.published >= 20 * 2 * SLICE_WORK)
    lengths = [queue.ready for queue in house.broker.queues.values()]
    assert max(lengths) - min(lengths) <= 2 * SLICE_WORK
    house.turns_until(lambda: all(transport.is_reading() for _, transport in floods))
    assert house.broker.published == 20 * 3 * SLICE_WORK


def test_a_full_read_is_followed_by_no_other_in_the_same_turn(house: House) -> None:
    connection, transport = house.connect()
    connection.data_received(b"m publish e " + b"x" * FULL_READ)  # a request that goes on
    assert not transport.is_reading()
    house.turns_until(lambda: transport.is_reading())


def test_what_was_read_of_a_client_that_is_gone_is_done(house: House) -> None:
    connection, transport = house.connect()
    connection.data_received(FLOOD * (3 * SLICE_WORK))
    transport.closed = True
    connection.connection_lost(None)
    house.turns_until(lambda: connection.session is None)
    assert house.broker.published == 3 * SLICE_WORK


def test_who_has_said_all_it_has_to_say_is_answered_before_the_connection_ends(house: House) -> None:
    connection, transport = house.connect()
    connection.data_received(FLOOD * (3 * SLICE_WORK) + b"p ping last\n")
    assert connection.eof_received()
    house.turns_until(lambda: transport.closed)
    assert transport.written == b"p ok last\n"
    assert house.broker.published == 3 * SLICE_WORK


def test_reads_that_come_while_others_wait_keep_their_order(house: House) -> None:
    connection, transport = house.connect()
    connection.data_received(FLOOD * (2 * SLICE_WORK))
    connection.data_received(b"p ping 1\n")  # as TLS may have it, which decrypts more than one read
    connection.data_received(b"p ping 2\n")
    assert house.broker.published == SLICE_WORK
    house.turns_until(lambda: transport.written == b"p ok 1\np ok 2\n")
    assert transport.is_reading()


def test_who_is_not_read_for_another_reason_does_not_go_on_with_what_was_read(house: House) -> None:
    connection, transport = house.connect()
    connection.data_received(FLOOD * (3 * SLICE_WORK))
    connection.pause_reading()
    for _ in range(10):
        house.loop.turn()
    assert house.broker.published == SLICE_WORK
    connection.resume_reading()
    house.turns_until(lambda: transport.is_reading())
    assert house.broker.published == 3 * SLICE_WORK


def test_lists_of_all_queues_are_asked_for_in_a_flood_and_others_go_first(house: House) -> None:
    for number in range(5000):
        house.broker.declare(b"q%d" % number)
    flood, _ = house.connect("smqs")
    probe, transport = house.connect()
    flood.data_received(b"M:q1:x\nS\n" * 5000)
    before = house.broker.context.work
    probe.data_received(b"p ping hello\n")
    assert house.turns_until(lambda: transport.written == b"p ok hello\n") <= 2
    assert house.broker.context.work - before <= 3 * (5000 + SLICE_WORK)


@pytest.mark.parametrize("how", ["lost", "ended", "refused"])
@pytest.mark.parametrize("protocol", ["mqks", "smqs"])
def test_many_consumers_of_one_connection_end_some_in_a_turn(house: House, protocol: str, how: str) -> None:
    many, _ = house.connect(protocol)
    count = 3 * LEFT_AT_ONCE
    for number in range(count):
        line = b"C:q%d\n" % number if protocol == "smqs" else b"c%d consume q%d e%d\n" % (number, number, number)
        many.data_received(line)
        house.loop.turn()

    def left() -> int:
        return sum(queue.consumer_count() for queue in house.broker.queues.values())

    house.turns_until(lambda: left() == count)
    if how == "ended":
        many.eof_received()
    else:
        if how == "refused":
            assert many.session is not None
            many.session.hang_up()
        many.connection_lost(None)
    seen = []
    while left():
        before = left()
        house.loop.turn()
        seen.append(before - left())
    assert max(seen) <= 2 * LEFT_AT_ONCE
    assert many.session is None
    assert not house.reactor.connections


def test_a_user_that_has_fallen_behind_waits_for_one_connection_of_each_other_user_at_a_time(house: House) -> None:
    floods = [house.connect()[0] for _ in range(50)]
    late, transport = house.connect()
    assert late.session is not None
    late.session.holder = "user 'late'"
    for flood in floods:
        flood.data_received(FLOOD * (20 * SLICE_WORK))
    late.data_received(b"l publish e x\n" * SLICE_WORK + b"p ping hello\n")
    before = house.broker.context.work
    house.turns_until(lambda: transport.written.endswith(b"p ok hello\n"))
    assert house.broker.context.work - before <= 8 * SLICE_WORK


def test_of_hundreds_that_each_say_a_little_some_are_served_in_a_turn_and_all_in_the_end(house: House) -> None:
    clients = [house.connect() for _ in range(800)]
    other, transport = house.connect()
    assert other.session is not None
    other.session.holder = "user 'other'"
    for connection, _ in clients:
        connection.data_received(b"p ping x\n")
    paused = [socket for _, socket in clients if not socket.is_reading()]
    assert len(paused) > 100  # they are not read in the next turn
    other.data_received(b"o ping hello\n")
    assert house.turns_until(lambda: transport.written == b"o ok hello\n") <= 2
    house.turns_until(lambda: all(socket.written == b"p ok x\n" for _, socket in clients))
    assert all(socket.is_reading() for _, socket in clients)


def test_those_that_say_little_and_had_to_wait_go_before_those_that_say_much(house: House) -> None:
    floods = [house.connect()[0] for _ in range(50)]
    for flood in floods:
        flood.data_received(FLOOD * (20 * SLICE_WORK))
    clients = [house.connect() for _ in range(100)]
    for connection, _ in clients:
        connection.data_received(b"p ping x\n")
    assert any(not socket.written and not socket.is_reading() for _, socket in clients)
    assert house.turns_until(lambda: all(socket.written for _, socket in clients)) <= 10
