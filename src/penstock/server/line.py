"""Those who wait for their turn, by user: next is whoever has had the least of late.

However many connections or requests somebody has in a line, others wait for one of them at a time, and the less one
takes the sooner one is served. Who is not known counts by address. Among those of one user who came first goes first.

What each has had is counted from when somebody had to wait first until nobody has to. Whoever comes anew begins with
what the one has had whose turn it was last: not to have been there is nothing to be paid for.
"""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")
KNOWN = 1000  # users whose part is remembered, before those are looked for whose part says nothing any more


class Line(Generic[T]):
    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}
        self._had: dict[str, int] = {}
        self._level = 0  # what the one has had whose turn it was last
        self._known_max = KNOWN
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, holder: str, one: T) -> None:
        if not self._length:
            self._had.clear()
            self._level = 0
        self._length += 1
        waiting = self._waiting.get(holder)
        if waiting is None:
            self._waiting[holder] = deque((one,))
            self._had[holder] = max(self._level, self._had.get(holder, 0))
            if len(self._had) > self._known_max:
                self._forget()
        else:
            waiting.append(one)

    def pop(self) -> T:
        """The one whose turn it is; that it has had a turn counts as one."""
        holder = min(self._waiting, key=self._had.__getitem__)
        waiting = self._waiting[holder]
        one = waiting.popleft()
        if not waiting:
            del self._waiting[holder]
        self._level = self._had[holder]
        self._had[holder] += 1
        self._length -= 1
        return one

    def charge(self, holder: str, amount: int) -> None:
        """A user has had so much more, in its turn or otherwise."""
        if self._length:
            self._had[holder] = self._had.get(holder, self._level) + amount

    def _forget(self) -> None:
        """Who has had no more than the one whose turn it was last would begin with that anyway."""
        self._had = {holder: had for holder, had in self._had.items() if had > self._level or holder in self._waiting}
        self._known_max = KNOWN + 2 * len(self._had)

    def holders(self) -> int:
        """How many users wait."""
        return len(self._waiting)

    def has_others(self, holder: str) -> bool:
        """Whether anybody is in line besides those of a user."""
        return len(self._waiting) > (holder in self._waiting)
