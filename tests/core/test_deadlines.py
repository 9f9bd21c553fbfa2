import pytest

from penstock.core import deadlines as module
from penstock.core.broker import Broker, QueueExpiry
from penstock.core.deadlines import Deadlines, Timer
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog


def timers(count: int) -> tuple[Broker, list[QueueExpiry]]:
    broker = Broker(MemoryLog(), Limits())
    return broker, [QueueExpiry(broker, broker.declare(b"%d" % number)) for number in range(count)]


def test_timers_fire_in_order_of_their_time_and_only_once() -> None:
    broker, (early, late) = timers(2)
    deadlines = Deadlines()
    deadlines.set(late, 20)
    deadlines.set(early, 10)
    assert deadlines.next_due() == 10
    deadlines.run(10)
    assert sorted(broker.queues) == [b"1"]
    deadlines.run(30)
    assert broker.queues == {}
    assert deadlines.next_due() == -1


def test_a_timer_set_again_moves_and_a_cancelled_one_never_fires() -> None:
    broker, (moved, cancelled) = timers(2)
    deadlines = Deadlines()
    deadlines.set(moved, 10)
    deadlines.set(cancelled, 10)
    deadlines.set(moved, 50)
    deadlines.cancel(cancelled)
    deadlines.run(49)
    assert len(broker.queues) == 2
    deadlines.run(50)
    assert sorted(broker.queues) == [b"1"]


def test_cancelled_timers_do_not_pile_up() -> None:
    _, (timer,) = timers(1)
    deadlines = Deadlines()
    for when in range(10_000):
        deadlines.set(timer, 1_000_000 + when)
    assert len(deadlines._heap) < 200
    assert deadlines.next_due() == 1_009_999


@pytest.mark.skipif(not module.__file__.endswith(".py"), reason="a compiled timer takes no subclass of a test")
@pytest.mark.parametrize("moved_to", [0, 30])
def test_a_timer_that_another_one_cancels_or_moves_in_the_same_run_does_not_fire_in_it(moved_to: int) -> None:
    deadlines = Deadlines()
    fired: list[int] = []

    class Note(Timer):
        def fire(self, now: int) -> None:
            fired.append(now)

    class Change(Timer):
        def fire(self, now: int) -> None:
            deadlines.cancel(note)
            if moved_to:
                deadlines.set(note, moved_to)

    note = Note()
    deadlines.set(Change(), 10)
    deadlines.set(note, 11)
    deadlines.run(20)
    assert fired == []
    deadlines.run(40)
    assert fired == ([40] if moved_to else [])
    assert deadlines.next_due() == -1
