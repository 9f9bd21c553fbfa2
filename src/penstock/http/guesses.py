"""Whoever guesses too often has to wait before the next guess is looked at at all.

Kept for an address, and for a user at an address: many may be guessed from one place. A user who is guessed from many
places is not locked out, or anybody could do that to anybody: its passwords are looked at later, one after the other.
Whoever presents a right token is let in whatever was guessed before: 256 bits are not guessed, so there is no use in
locking anybody out who has them.
"""

FREE = 5  # failures that cost nothing but their own delay
FREE_OF_ADDRESS = 20  # many people may sit behind one
FREE_OF_NAME = 20  # of a user, from everywhere
WAIT_SECONDS = 30.0  # after those; twice as long after each further one
WAIT_SECONDS_MAX = 900.0
FORGOTTEN_SECONDS = 1800.0  # without another failure
KEPT_MAX = 10_000  # names are made up easily


class Guesses:
    """Failures by a name. Times are seconds of any clock that only goes forward."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.lockouts = 0
        self._failures: dict[str, tuple[int, float]] = {}  # how many, and when the last one was; the last is last

    def wait(self, name: str, now: float) -> float:
        """How many seconds it is before that name is listened to again; 0 when it is now."""
        count, at = self._failures.get(name, (0, 0.0))
        if count < self.free:
            return 0.0
        locked = min(WAIT_SECONDS * 2.0 ** min(count - self.free, 10), WAIT_SECONDS_MAX)
        return max(0.0, at + locked - now)

    def excess(self, name: str, now: float) -> int:
        """How many failures above those that are free are not forgotten yet."""
        count, at = self._failures.get(name, (0, 0.0))
        return 0 if now - at > FORGOTTEN_SECONDS else max(0, count - self.free)

    def failed(self, name: str, now: float) -> None:
        count, at = self._failures.pop(name, (0, 0.0))
        if now - at > FORGOTTEN_SECONDS:
            count = 0
        self._failures[name] = (count + 1, now)
        if count + 1 >= self.free:
            self.lockouts += 1
        if len(self._failures) > KEPT_MAX:
            del self._failures[next(iter(self._failures))]

    def take_back(self, name: str) -> None:
        """What was counted while it was looked at was no failure."""
        count, at = self._failures.get(name, (0, 0.0))
        if count >= self.free:
            self.lockouts -= 1
        if count > 1:
            self._failures[name] = (count - 1, at)
        else:
            self._failures.pop(name, None)

    def succeeded(self, name: str) -> None:
        self._failures.pop(name, None)

    def locked(self, now: float) -> int:
        """How many names have to wait."""
        return sum(1 for name in self._failures if self.wait(name, now) > 0)
