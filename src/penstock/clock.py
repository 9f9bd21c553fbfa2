"""Time as something you are handed, so that any run can be run again."""

import time


class Clock:
    """Wall-clock time in microseconds since 1970, never running backwards while the process lives."""

    def now(self) -> int:
        raise NotImplementedError


class SystemClock(Clock):
    """The machine's wall clock; where that steps back, time goes on from where it was at its usual pace."""

    def __init__(self) -> None:
        self._last_monotonic = time.monotonic_ns() // 1000
        self._last = time.time_ns() // 1000

    def now(self) -> int:
        monotonic = time.monotonic_ns() // 1000
        at_least = self._last + (monotonic - self._last_monotonic)
        wall = time.time_ns() // 1000
        self._last_monotonic = monotonic
        self._last = wall if wall > at_least else at_least
        return self._last


class ManualClock(Clock):
    """A clock that moves only when told to."""

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, seconds: float) -> int:
        self._now += round(seconds * 1_000_000)
        return self._now
