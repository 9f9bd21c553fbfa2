"""One heap of what is due when. Time is handed in; nothing here looks at a clock."""

import heapq
from collections.abc import Callable


class Timer:
    """Something to be done at a time, unless cancelled before. Subclasses say what."""

    def __init__(self) -> None:
        self.when = 0
        self.armed = False
        self.serial = 0

    def fire(self, now: int) -> None:
        raise NotImplementedError

    def failed(self, error: Exception) -> None:
        """`fire` raised this. A timer of a client ends that client; one of the core passes it on."""
        raise error


class Deadlines:
    """Timers in order of their time; timers of the same time in the order they were set."""

    def __init__(self, stale_max: int = 64) -> None:
        self.stale_max = stale_max  # cancelled timers that may stay where they are
        self._heap: list[tuple[int, int, Timer]] = []
        self._serial = 0
        self._stale = 0

    def set(self, timer: Timer, when: int) -> None:
        """Arm the timer, or move it when it is armed already."""
        self._disarm(timer)
        self._serial += 1
        timer.when = when
        timer.serial = self._serial
        timer.armed = True
        heapq.heappush(self._heap, (when, self._serial, timer))

    def cancel(self, timer: Timer) -> None:
        self._disarm(timer)

    def _disarm(self, timer: Timer) -> None:
        if timer.armed:
            timer.armed = False
            self._stale += 1
            # Cancelled timers stay in the heap until their time; where they are the most of it, sweep them out.
            if self._stale > self.stale_max and self._stale * 2 > len(self._heap):
                self._sweep()

    def next_due(self) -> int:
        """When the earliest timer is due; -1 when there is none."""
        heap = self._heap
        while heap:
            when, serial, timer = heap[0]
            if timer.armed and timer.serial == serial:
                return when
            heapq.heappop(heap)
            self._stale -= 1
        return -1

    def run(self, now: int, is_enough: Callable[[int], bool]) -> None:
        """Fire what is due, until it is enough after so many. A timer that is set meanwhile waits for the next run."""
        bound = self._serial
        fired = 0
        later: list[tuple[int, int, Timer]] = []
        while not is_enough(fired):
            when = self.next_due()
            if when < 0 or when > now:
                break
            entry = heapq.heappop(self._heap)
            timer = entry[2]
            if timer.serial > bound:
                later.append(entry)
                continue
            timer.armed = False
            fired += 1
            try:
                timer.fire(now)
            except Exception as error:
                timer.failed(error)
        for entry in later:
            heapq.heappush(self._heap, entry)

    def _sweep(self) -> None:
        self._heap = [entry for entry in self._heap if entry[2].armed and entry[2].serial == entry[1]]
        heapq.heapify(self._heap)
        self._stale = 0
