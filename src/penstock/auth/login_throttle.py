"""Locks out clients that fail too often: for a while, further attempts are not even checked.

Failures are counted by address, and by user and address: many users may be guessed from one address. A user who is
guessed from many addresses is not locked out, or anybody could lock out anybody: its password checks are delayed
instead, one after the other. A valid token is always accepted, whatever failed before: 256 bits cannot be guessed, so
locking out its owner would gain nothing.
"""

FREE = 5  # failures before a lockout
FREE_OF_ADDRESS = 20  # many people may share one
FREE_OF_NAME = 20  # of a user, from all addresses
WAIT_SECONDS = 30.0  # lockout after those; doubled by each further failure
WAIT_SECONDS_MAX = 900.0
FORGOTTEN_SECONDS = 1800.0  # without another failure
KEPT_MAX = 10_000  # names are easy to make up


class LoginThrottle:
    """Failures by name. Times are seconds of any monotonic clock."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.lockouts = 0
        self._failures: dict[str, tuple[int, float]] = {}  # count and time of the last one; most recent last

    def wait(self, name: str, now: float) -> float:
        """Seconds until the lockout of that name ends; 0 if it is not locked out."""
        count, at = self._failures.get(name, (0, 0.0))
        if count < self.free:
            return 0.0
        locked = min(WAIT_SECONDS * 2.0 ** min(count - self.free, 10), WAIT_SECONDS_MAX)
        return max(0.0, at + locked - now)

    def excess(self, name: str, now: float) -> int:
        """How many failures above the free ones are not forgotten yet."""
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
        """Undo a failure that was counted in advance."""
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
        """How many names are locked out."""
        return sum(1 for name in self._failures if self.wait(name, now) > 0)
