"""A heap of timers. The time is passed in; nothing here reads a clock."""

import heapq
from collections.abc import Callable


class Timer:
    """Calls `action` with the time when it is due, unless it is cancelled before.

    `on_error` gets the error if `action` raises: the timer of a client ends that client. Without it the error is
    raised.
    """

    def __init__(self, action: Callable[[int], None], on_error: Callable[[Exception], None] | None = None) -> None:
        self.action = action
        self.on_error = on_error
        self.when = 0
        self.armed = False
        self.sequence = 0


class Deadlines:
    """Timers sorted by time; timers with the same time fire in the order they were set."""

    def __init__(self, stale_max: int = 64) -> None:
        self.stale_max = stale_max  # cancelled timers that may stay in the heap
        self._heap: list[tuple[int, int, Timer]] = []
        self._sequence = 0
        self._stale = 0

    def set(self, timer: Timer, when: int) -> None:
        """Arm the timer, or move it if it is armed already."""
        self._disarm(timer)
        self._sequence += 1
        timer.when = when
        timer.sequence = self._sequence
        timer.armed = True
        heapq.heappush(self._heap, (when, self._sequence, timer))

    def cancel(self, timer: Timer) -> None:
        self._disarm(timer)

    def _disarm(self, timer: Timer) -> None:
        if timer.armed:
            timer.armed = False
            self._stale += 1
            # Cancelled timers stay in the heap until their time comes; once they are the majority, sweep them out.
            if self._stale > self.stale_max and self._stale * 2 > len(self._heap):
                self._sweep()

    def next_due(self) -> int:
        """When the earliest timer is due; -1 when there is none."""
        heap = self._heap
        while heap:
            when, sequence, timer = heap[0]
            if timer.armed and timer.sequence == sequence:
                return when
            heapq.heappop(heap)
            self._stale -= 1
        return -1

    def run(self, now: int, is_enough: Callable[[int], bool]) -> None:
        """Fire due timers until `is_enough(fired)`. A timer set meanwhile waits for the next run."""
        last = self._sequence
        fired = 0
        later: list[tuple[int, int, Timer]] = []
        while not is_enough(fired):
            when = self.next_due()
            if when < 0 or when > now:
                break
            entry = heapq.heappop(self._heap)
            timer = entry[2]
            if timer.sequence > last:
                later.append(entry)
                continue
            timer.armed = False
            fired += 1
            try:
                timer.action(now)
            except Exception as error:
                if timer.on_error is None:
                    raise
                timer.on_error(error)
        for entry in later:
            heapq.heappush(self._heap, entry)

    def _sweep(self) -> None:
        self._heap = [entry for entry in self._heap if entry[2].armed and entry[2].sequence == entry[1]]
        heapq.heapify(self._heap)
        self._stale = 0
