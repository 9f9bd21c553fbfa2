import pytest

from penstock.core import deadlines as module
from penstock.core.broker import Broker, QueueExpiry
from penstock.core.deadlines import Deadlines, Timer
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog


def never(fired: int) -> bool:
    return False


def timers(count: int) -> tuple[Broker, list[QueueExpiry]]:
    broker = Broker(MemoryLog(), Limits())
    return broker, [QueueExpiry(broker, broker.declare(b"%d" % number)) for number in range(count)]


def test_timers_fire_in_order_of_their_time_and_only_once() -> None:
    broker, (early, late) = timers(2)
    deadlines = Deadlines()
    deadlines.set(late, 20)
    deadlines.set(early, 10)
    assert deadlines.next_due() == 10
    deadlines.run(10, never)
    assert sorted(broker.queues) == [b"1"]
    deadlines.run(30, never)
    assert broker.queues == {}
    assert deadlines.next_due() == -1


def test_a_timer_set_again_moves_and_a_cancelled_one_never_fires() -> None:
    broker, (moved, cancelled) = timers(2)
    deadlines = Deadlines()
    deadlines.set(moved, 10)
    deadlines.set(cancelled, 10)
    deadlines.set(moved, 50)
    deadlines.cancel(cancelled)
    deadlines.run(49, never)
    assert len(broker.queues) == 2
    deadlines.run(50, never)
    assert sorted(broker.queues) == [b"1"]


def test_cancelled_timers_do_not_pile_up() -> None:
    _, (timer,) = timers(1)
    deadlines = Deadlines()
    for when in range(10_000):
        deadlines.set(timer, 1_000_000 + when)
    assert len(deadlines._heap) < 200
    assert deadlines.next_due() == 1_009_999


@pytest.mark.skipif(not module.__file__.endswith(".py"), reason="a compiled timer takes no subclass of a test")
@pytest.mark.parametrize("set_again", [False, True])
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_timer_that_another_one_cancels_or_moves_in_the_same_run_does_not_fire_in_it(
    cancelled: bool, set_again: bool
) -> None:
    deadlines = Deadlines()
    fired: list[int] = []

    class Note(Timer):
        def fire(self, now: int) -> None:
            fired.append(now)

    class Change(Timer):
        def fire(self, now: int) -> None:
            if cancelled:
                deadlines.cancel(note)
            if set_again:
                deadlines.set(note, 30)

    note = Note()
    deadlines.set(Change(), 10)
    deadlines.set(note, 11)
    deadlines.run(20, never)
    assert fired == ([] if cancelled or set_again else [20])
    fired.clear()
    deadlines.run(40, never)
    assert fired == ([40] if set_again else [])
    assert deadlines.next_due() == -1


@pytest.mark.skipif(not module.__file__.endswith(".py"), reason="a compiled timer takes no subclass of a test")
def test_what_is_due_waits_for_the_next_run_when_it_is_enough_or_set_meanwhile() -> None:
    deadlines = Deadlines()
    fired: list[str] = []

    class Note(Timer):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def fire(self, now: int) -> None:
            fired.append(self.name)
            if self.name == "again":
                deadlines.set(self, 5)

    for number, name in enumerate(["again", "second", "third"]):
        deadlines.set(Note(name), 10 + number)
    deadlines.run(20, lambda count: count == 2)
    assert fired == ["again", "second"]
    deadlines.run(20, lambda count: count == 2)
    assert fired == ["again", "second", "again", "third"]
