"""Those who wait for their turn: the first one of each user, then the second one of each.

However many connections or requests somebody has in a line, others wait for one of them at a time. Who is not known
counts by address. Among those of one user who came first goes first.
"""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Line(Generic[T]):
    def __init__(self) -> None:
        self._by_holder: dict[str, deque[T]] = {}  # whoever is next comes first
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, holder: str, one: T) -> None:
        self._length += 1
        waiting = self._by_holder.get(holder)
        if waiting is None:
            self._by_holder[holder] = deque((one,))
        else:
            waiting.append(one)

    def pop(self) -> T:
        """The one whose turn it is. Whoever else the same user has in line waits for those of all others."""
        holder = next(iter(self._by_holder))
        waiting = self._by_holder.pop(holder)
        self._length -= 1
        one = waiting.popleft()
        if waiting:
            self._by_holder[holder] = waiting
        return one

    def has_others(self, holder: str) -> bool:
        """Whether anybody is in line besides those of a user."""
        return len(self._by_holder) > (holder in self._by_holder)
