"""The step budget of all clients' evaluations (`_eval`) together, whatever each of them may take on its own."""

from typing import Final

STEPS_MAX: Final = 100_000  # of one evaluation
STEPS_PER_SECOND: Final = 10_000  # of all: 1 % of the time, since a step takes 1 µs
STEP_MICROSECONDS: Final = 1_000_000 // STEPS_PER_SECOND
SAVED_MICROSECONDS: Final = 1_000_000  # how much idle time is credited


class Allowance:
    """10,000 steps per second. An overdraft delays the next evaluation."""

    def __init__(self) -> None:
        self._spent_until = -SAVED_MICROSECONDS  # the time at which the budget is positive again

    def wait(self, now: int) -> int:
        """The microseconds until the next evaluation may start. 0: it may start now."""
        if self._spent_until - now > 2 * STEPS_MAX * STEP_MICROSECONDS:
            self._spent_until = now  # that is more than can be spent: the clock was set back
        return max(self._spent_until - now, 0)

    def spend(self, steps: int, now: int) -> None:
        saved = now - SAVED_MICROSECONDS
        self._spent_until = max(self._spent_until, saved) + steps * STEP_MICROSECONDS
