"""Virtual time: what is to happen, in order. Equal times go by the order in which they were planned."""

import heapq
from collections.abc import Callable

SECOND = 1_000_000


class Timeline:
    def __init__(self, now: int) -> None:
        self.now = now
        self._planned: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0

    def plan(self, delay: int, action: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._planned, (self.now + delay, self._count, action))

    def run(self, seconds: float) -> None:
        end = self.now + int(seconds * SECOND)
        while self._planned and self._planned[0][0] <= end:
            self.now, _, action = heapq.heappop(self._planned)
            action()
        self.now = end
