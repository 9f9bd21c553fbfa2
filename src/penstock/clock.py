"""Time as something you are handed, so that any run can be run again."""

import time
from typing import Final

# The part of the time that passed by which a clock nears the wall clock.
PACE: Final = 10

# 1 January 2024: a machine whose clock says less has not been told the time yet.
NEVER_SET_BEFORE: Final = 1_704_067_200_000_000

# Linux counts sleep with CLOCK_BOOTTIME.
UPTIME_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock:
    """Wall-clock time in microseconds since 1970, never running backwards while the process lives."""

    def now(self) -> int:
        raise NotImplementedError


class SystemClock(Clock):
    """The machine's wall clock, without its steps.

    Delays, times to live and expiries count time that has really passed: a clock that is set an hour ahead must not end
    an hour's worth of messages at once, and one that is set back must not stop them. So this clock goes at the pace of
    the machine's uptime, sleep included, and nears the wall clock by a tenth of what passes: an hour's step is made up
    for in ten hours. Only a wall clock that was plainly never set before is followed at once.
    """

    def __init__(self) -> None:
        self._last_uptime = time.clock_gettime_ns(UPTIME_CLOCK) // 1000  # only ever grows
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
