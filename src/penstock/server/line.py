"""A fair queue: the next item is of the user who was charged the least so far.

However many connections or requests a user has in line, others wait for one of them at a time, and the less work a user
causes, the sooner it is served. Without authentication the address counts. Items of one user are served in order.

Charges accumulate from when the line fills until it is empty. A user new to the line starts at the level of the one
served last: being absent earns no credit.
"""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")
KNOWN = 1000  # remembered users before irrelevant ones are dropped


class Line(Generic[T]):
    def __init__(self) -> None:
        self.waiting: dict[str, deque[T]] = {}  # by user; empty users are removed
        self._had: dict[str, int] = {}
        self._level = 0  # charge of the user served last
        self._known_max = KNOWN
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, holder: str, one: T) -> None:
        if not self._length:
            self._had.clear()
            self._level = 0
        self._length += 1
        waiting = self.waiting.get(holder)
        if waiting is None:
            self.waiting[holder] = deque((one,))
            self._had[holder] = max(self._level, self._had.get(holder, 0))
            if len(self._had) > self._known_max:
                self._forget()
        else:
            waiting.append(one)

    def pop(self) -> T:
        """Remove and return the next item. Its user is charged one for it."""
        holder = min(self.waiting, key=self._had.__getitem__)
        waiting = self.waiting[holder]
        one = waiting.popleft()
        if not waiting:
            del self.waiting[holder]
        self._level = self._had[holder]
        self._had[holder] += 1
        self._length -= 1
        return one

    def charge(self, holder: str, amount: int) -> None:
        """Charge a user for work, done from this line or otherwise."""
        if self._length:
            self._had[holder] = self._had.get(holder, self._level) + amount

    def _forget(self) -> None:
        """Drop users charged no more than the level: they would start at it anyway."""
        self._had = {holder: had for holder, had in self._had.items() if had > self._level or holder in self.waiting}
        self._known_max = KNOWN + 2 * len(self._had)

    def holders(self) -> int:
        """How many users are in line."""
        return len(self.waiting)

    def has_others(self, holder: str) -> bool:
        """Whether other users than this one are in line."""
        return len(self.waiting) > (holder in self.waiting)
