"""When the collector looks at everything: after much was done, and when nothing is."""

import gc

import pytest

from penstock.server.memory import QUIET_LOOKS, SWEEP_WORK, Sweeper


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda generation=2: found.append(generation))
    return found


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
