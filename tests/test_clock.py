"""Time never goes back while a process lives, and never jumps, whatever is done to the machine's clock."""

import time

import pytest

from penstock.clock import NEVER_SET_BEFORE, SystemClock
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message

SECOND = 1_000_000
HOUR = 3600 * SECOND
START = NEVER_SET_BEFORE + 1000 * HOUR


class Machine:
    """Both clocks of a machine, in microseconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = START
        self.uptime = 1000 * SECOND
        monkeypatch.setattr(time, "time_ns", lambda: self.wall * 1000)
        monkeypatch.setattr(time, "clock_gettime_ns", lambda which: self.uptime * 1000)

    def wait(self, time: int) -> None:
        self.wall += time
        self.uptime += time


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_time_passes_as_on_the_wall(machine: Machine) -> None:
    clock = SystemClock()
    for step in (0, 1, 17, SECOND, HOUR):
        machine.wait(step)
        assert clock.now() == machine.wall


def test_a_small_correction_of_the_clock_is_followed(machine: Machine) -> None:
    clock = SystemClock()
    machine.wait(SECOND)
    machine.wall += 300
    assert clock.now() == machine.wall
    machine.wait(SECOND)
    machine.wall -= 500
    assert clock.now() == machine.wall


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_a_step_is_made_up_for_in_ten_times_as_long(machine: Machine, step: int) -> None:
    clock = SystemClock()
    machine.wall += step
    last = clock.now()
    assert last == START
    for minutes in range(1, 601):
        machine.wait(60 * SECOND)
        now = clock.now()
        passed = now - last
        assert 54 * SECOND <= passed <= 66 * SECOND
        if minutes < 600:
            assert now != machine.wall
        last = now
    assert last == machine.wall


def test_a_clock_that_was_never_set_is_followed_at_once(machine: Machine) -> None:
    machine.wall = 5 * SECOND
    clock = SystemClock()
    machine.wall = START
    assert clock.now() == START


def test_time_that_the_machine_slept_has_passed(machine: Machine) -> None:
    clock = SystemClock()
    machine.wait(10 * HOUR)
    assert clock.now() == START + 10 * HOUR


def test_a_step_of_the_clock_ends_no_message_before_its_time(machine: Machine) -> None:
    clock = SystemClock()
    broker = Broker(MemoryLog(), Limits())
    broker.set_time(clock.now())
    broker.expire(b"unused", 600 * SECOND)
    for id, terms in (
        (b"short", DeliveryOptions(expires_at=clock.now() + 60 * SECOND)),
        (b"later", DeliveryOptions(due_at=clock.now() + 60 * SECOND)),
    ):
        message = Message(id, b"q", b"x", clock.now(), "test")
        message.options = terms
        broker.put(b"q", message)
    machine.wall += HOUR
    machine.wait(SECOND)
    broker.tick(clock.now())
    queue = broker.queues[b"q"]
    assert (queue.ready, queue.delayed_count, queue.expired, len(broker.queues)) == (1, 1, 0, 2)
    machine.wall -= 2 * HOUR
    machine.wait(66 * SECOND)
    broker.tick(clock.now())
    assert (queue.ready, queue.delayed_count, queue.expired) == (1, 0, 1)
