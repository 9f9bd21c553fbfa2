"""Time never goes back while a process lives, whatever is done to the machine's clock."""

import time

import pytest

from penstock.clock import SystemClock


def test_a_clock_that_is_set_back_goes_on_from_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, steady = 5_000_000_000_000, 1_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: wall)
    monkeypatch.setattr(time, "monotonic_ns", lambda: steady)
    clock = SystemClock()
    assert clock.now() == 5_000_000_000
    wall -= 3600 * 10**9
    steady += 2_000_000
    assert clock.now() == 5_000_002_000
    steady += 1_000_000
    assert clock.now() == 5_000_003_000
    wall = 6_000_000_000_000
    assert clock.now() == 6_000_000_000
