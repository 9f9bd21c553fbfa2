"""Answers that list all queues: made once for a moment, however often they are asked for.

Each costs a look at every queue. While nothing was logged since it was made, an answer is as good as a new one; where
there are very many queues, it may be a second old.
"""

from collections.abc import Callable
from typing import Final

from penstock.access.user import User
from penstock.wire.session import Session

MOMENT: Final = 50_000  # microseconds: rights and deliveries change without an entry in the log
MANY: Final = 10_000  # queues
MOMENT_OF_MANY: Final = 1_000_000
USERS_MAX: Final = 100
BYTES_PER_WORK: Final = 1024  # of an answer that is given again


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

    def answer(self, session: Session, make: Callable[[], bytes]) -> bytes:
        """The answer that was made a moment ago, if there is one and it still holds; else a new one."""
        broker = session.broker
        user = None if session.puttable is None else session.user
        position = broker.log.position
        found = self._by_user.get(user)
        if found is None or not found.holds(position, session.now):
            count = len(broker.queues)
            broker.usage.work += count
            if len(self._by_user) >= USERS_MAX:
                self._by_user.clear()
            found = self._by_user[user] = Listing(make(), position, session.now, count)
        broker.usage.work += len(found.text) // BYTES_PER_WORK
        return found.text
