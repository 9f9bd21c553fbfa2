"""When the collector looks at new objects, and when at everything: after much was done, and when nothing is."""

import gc
from collections import deque
from collections.abc import Iterator

import pytest

from penstock.server.memory import COLLECT_WORK, NEVER, NEW_OBJECTS, QUIET_LOOKS, SWEEP_WORK, Collector, Sweeper


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda generation=2: found.append(generation))
    return found


@pytest.fixture
def seldom() -> Iterator[None]:
    """The collector looks as seldom as in a broker."""
    usual = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, NEVER, NEVER)
    yield
    gc.set_threshold(*usual)


def new_objects_at_most(collector: Collector | None) -> int:
    """While 100,000 objects take the places of as many that were there before."""
    held: deque[list[int]] = deque([number] for number in range(100_000))
    gc.collect()
    most = 0
    for work in range(100_000):
        held.popleft()
        held.append([work])
        if work % 1000 == 0:
            most = max(most, len(gc.get_objects(0)))
            if collector is not None and work >= collector.due_at:
                collector.collect(work)
    return most


@pytest.mark.usefixtures("seldom")
def test_new_objects_are_never_many_though_as_many_old_ones_go() -> None:
    assert new_objects_at_most(None) > 50_000  # which is why there is a collector of ours
    assert new_objects_at_most(Collector()) < 3 * COLLECT_WORK


def test_it_looks_after_so_much_work(swept: list[int]) -> None:
    collector = Collector()
    for work in range(0, 5 * COLLECT_WORK, COLLECT_WORK // 2):
        if work >= collector.due_at:
            collector.collect(work)
    assert swept == [1, 1, 1, 1]


def test_all_is_looked_at_once_after_much_work_when_there_is_none(swept: list[int]) -> None:
    sweeper = Sweeper()
    for work in range(0, 10 * SWEEP_WORK, SWEEP_WORK):
        sweeper.look(work)
    assert swept == []  # it is never without work
    for _ in range(QUIET_LOOKS - 1):
        sweeper.look(9 * SWEEP_WORK)
    assert swept == []
    for _ in range(3 * QUIET_LOOKS):
        sweeper.look(9 * SWEEP_WORK)
    assert swept == [2]


def test_after_little_work_it_is_not(swept: list[int]) -> None:
    sweeper = Sweeper()
    for _ in range(3 * QUIET_LOOKS):
        sweeper.look(SWEEP_WORK - 1)
    assert swept == []
