"""Time as an argument, so that any run can be repeated."""

import time
from typing import Final

# The clock approaches the wall clock by 1/PACE of the elapsed time.
PACE: Final = 10

# 1 January 2024: a machine whose clock shows an earlier time has not had it set yet.
NEVER_SET_BEFORE: Final = 1_704_067_200_000_000

# On Linux, CLOCK_BOOTTIME includes time spent asleep.
UPTIME_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock:
    """Wall-clock time in microseconds since 1970; never runs backwards during the life of the process."""

    def now(self) -> int:
        raise NotImplementedError


class SystemClock(Clock):
    """The machine's wall clock, with steps smoothed out.

    Delays, times to live and expiries count elapsed time: a clock that is set an hour ahead must not expire an hour's
    worth of messages at once, and one that is set back must not delay them. So this clock runs at the pace of the
    machine's uptime, sleep included, and approaches the wall clock by a tenth of the elapsed time: a step of an hour is
    made up for in ten hours. Only a wall clock that was clearly never set before is followed at once.
    """

    def __init__(self) -> None:
        self._last_uptime = time.clock_gettime_ns(UPTIME_CLOCK) // 1000  # never decreases
        self._last = time.time_ns() // 1000

    def now(self) -> int:
        uptime = time.clock_gettime_ns(UPTIME_CLOCK) // 1000
        passed = uptime - self._last_uptime
        self._last_uptime = uptime
        now = self._last + passed
        apart = time.time_ns() // 1000 - now
        if apart > 0 and now < NEVER_SET_BEFORE:
            now += apart
        else:
            most = passed // PACE
            now += most if apart > most else -most if apart < -most else apart
        self._last = now
        return now


class ManualClock(Clock):
    """A clock that moves only when told to."""

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, seconds: float) -> int:
        self._now += round(seconds * 1_000_000)
        return self._now
