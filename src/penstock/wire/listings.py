"""Answers that list all queues: made once for a moment, however often they are asked for.

Each costs a look at every queue. While nothing was logged since it was made, an answer is as good as a new one; where
there are very many queues, it may be a second old.
"""

from typing import Final

from penstock.access.user import User

MOMENT: Final = 50_000  # microseconds: rights and deliveries change without an entry in the log
MANY: Final = 10_000  # queues
MOMENT_OF_MANY: Final = 1_000_000
USERS_MAX: Final = 100


class Listing:
    def __init__(self, text: bytes, position: int, made_at: int, count: int) -> None:
        self.text = text
        self.position = position  # of the log
        self.made_at = made_at
        self.count = count  # of queues

    def holds(self, position: int, now: int) -> bool:
        age = now - self.made_at
        if age < 0:
            return False  # the clock was set back
        return age < MOMENT_OF_MANY if self.count > MANY else self.position == position and age < MOMENT


class Listings:
    """Those of one protocol, by user: what a queue's name may be shown to differs."""

    def __init__(self) -> None:
        self._by_user: dict[User | None, Listing] = {}

    def find(self, user: User | None, position: int, now: int) -> bytes | None:
        """The answer that was made a moment ago, if there is one and it still holds."""
        found = self._by_user.get(user)
        return found.text if found is not None and found.holds(position, now) else None

    def keep(self, user: User | None, text: bytes, position: int, now: int, count: int) -> None:
        if len(self._by_user) >= USERS_MAX:
            self._by_user.clear()
        self._by_user[user] = Listing(text, position, now, count)
