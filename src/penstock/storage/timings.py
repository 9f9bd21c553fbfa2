"""Durations of a repeated operation: a histogram with fixed bounds, the sum and the maximum."""

from bisect import bisect_left

# Upper bounds in seconds: from the speed of memory to that of a failing disk.
BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Timings:
    """Written by one thread; other threads may read slightly stale values."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.count = 0
        self.sum = 0.0
        self._worst = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.count += 1
        self.sum += seconds
        self._worst = max(self._worst, seconds)

    def take_worst(self) -> float:
        """The longest duration since the last call."""
        worst = self._worst
        self._worst = 0.0
        return worst
