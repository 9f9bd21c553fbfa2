"""A short-lived cache of answers that list all queues.

Building one visits every queue. An answer is reused for a moment, as long as nothing was logged since it was built.
With very many queues, it is reused for a second in any case.
"""

from collections.abc import Callable
from typing import Final

from penstock.auth.user import User
from penstock.wire.session import Session

MOMENT: Final = 50_000  # microseconds: permissions and deliveries change without a log entry
MANY: Final = 10_000  # queues
MOMENT_OF_MANY: Final = 1_000_000
USERS_MAX: Final = 100
BYTES_PER_WORK: Final = 1024  # of a cached answer


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
    """The answers of one protocol, by user: users may see different queues."""

    def __init__(self) -> None:
        self._by_user: dict[User | None, Listing] = {}

    def answer(self, session: Session, make: Callable[[], bytes]) -> bytes:
        """The cached answer if it is still valid, else a new one."""
        broker = session.broker
        user = None if session.puttable is None else session.user
        position = broker.log.position
        found = self._by_user.get(user)
        if found is None or not found.holds(position, session.now):
            count = len(broker.queues)
            broker.context.work += count
            if len(self._by_user) >= USERS_MAX:
                self._by_user.clear()
            found = self._by_user[user] = Listing(make(), position, session.now, count)
        broker.context.work += len(found.text) // BYTES_PER_WORK
        return found.text
