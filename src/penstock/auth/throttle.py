"""Failed authentications: they are counted, answered late, and lead to lockouts.

On the message ports, each failure of an address delays the answer a little more (`AuthThrottle`).

Over HTTP, clients that fail too often are locked out: for a while, further attempts are not even checked
(`LoginThrottle`). Failures are counted by address, and by user and address: many users may be guessed from one address.
A user who is guessed from many addresses is not locked out, or anybody could lock out anybody: its password checks are
delayed instead, one after the other. A valid token is always accepted, whatever failed before: 256 bits cannot be
guessed, so locking out its owner would gain nothing.

An IPv6 address counts by its first 64 bits, the network of one customer.
"""

import ipaddress
from typing import Final

from penstock.auth.pending import PendingConnections

SECOND: Final = 1_000_000  # microseconds
KEYS_MAX: Final = 10_000  # with remembered failures: names and addresses are easy to make up

FORGIVEN_AFTER: Final = 60 * SECOND
DELAY_STEP: Final = 1 * SECOND  # each failure delays the answer by this much more
DELAY_MAX: Final = 10 * SECOND

FREE: Final = 5  # failures before a lockout
FREE_OF_ADDRESS: Final = 20  # many people may share one
FREE_OF_NAME: Final = 20  # of a user, from all addresses
WAIT_SECONDS: Final = 30.0  # lockout after those; doubled by each further failure
WAIT_SECONDS_MAX: Final = 900.0
FORGIVEN_SECONDS: Final = 1800.0


class FailureCounter:
    """Failures by key, such as an address. A count starts anew after some time without another failure.

    Times are of any clock, in the unit of `forgiven_after`.
    """

    def __init__(self, forgiven_after: float) -> None:
        self.forgiven_after = forgiven_after
        self._failures: dict[str, tuple[int, float]] = {}  # count and time of the last one; most recent last

    def __len__(self) -> int:
        return len(self._failures)

    def names(self) -> list[str]:
        return list(self._failures)

    def recent(self, key: str, now: float) -> tuple[int, float]:
        """The number of failures that are not forgiven, and the time of the last one."""
        count, at = self._failures.get(key, (0, 0.0))
        return (0, 0.0) if now - at > self.forgiven_after else (count, at)

    def add(self, key: str, now: float) -> int:
        """Count a failure; returns how many there are."""
        count = self.recent(key, now)[0] + 1
        self._failures.pop(key, None)
        self._failures[key] = (count, now)
        if len(self._failures) > KEYS_MAX:
            del self._failures[next(iter(self._failures))]
        return count

    def take_back(self, key: str) -> int:
        """Undo a failure that was counted in advance; returns how many there were."""
        count, at = self._failures.get(key, (0, 0.0))
        if count > 1:
            self._failures[key] = (count - 1, at)
        else:
            self._failures.pop(key, None)
        return count

    def forget(self, key: str) -> None:
        self._failures.pop(key, None)


class AuthThrottle:
    """Clients of the message ports that have not authenticated: those connected, and recent failures by address."""

    def __init__(self, per_address_max: int) -> None:
        self.per_address_max = per_address_max
        self.delay_step = DELAY_STEP
        self.failures = 0  # on all listeners
        self.pending: PendingConnections[object] = PendingConnections()
        self._by_address = FailureCounter(float(FORGIVEN_AFTER))

    def is_full(self, address: str) -> bool:
        return self.pending.count(address) >= max(1, self.per_address_max)

    def failed(self, address: str, now: int) -> int:
        """Count a failed authentication; returns how many microseconds to delay the answer."""
        self.failures += 1
        return min(self._by_address.add(address, float(now)) * self.delay_step, DELAY_MAX)


class LoginThrottle:
    """Failures by name, and the lockouts they lead to. Times are seconds of any monotonic clock."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.lockouts = 0
        self.failures = FailureCounter(FORGIVEN_SECONDS)

    def wait(self, name: str, now: float) -> float:
        """Seconds until the lockout of that name ends; 0 if it is not locked out."""
        count, at = self.failures.recent(name, now)
        if count < self.free:
            return 0.0
        locked = min(WAIT_SECONDS * 2.0 ** min(count - self.free, 10), WAIT_SECONDS_MAX)
        return max(0.0, at + locked - now)

    def excess(self, name: str, now: float) -> int:
        """How many failures above the free ones are not forgiven yet."""
        return max(0, self.failures.recent(name, now)[0] - self.free)

    def failed(self, name: str, now: float) -> None:
        if self.failures.add(name, now) >= self.free:
            self.lockouts += 1

    def take_back(self, name: str) -> None:
        """Undo a failure that was counted in advance."""
        if self.failures.take_back(name) >= self.free:
            self.lockouts -= 1

    def succeeded(self, name: str) -> None:
        self.failures.forget(name)

    def locked(self, now: float) -> int:
        """How many names are locked out."""
        return sum([1 for name in self.failures.names() if self.wait(name, now) > 0])


def address_of(peer: str) -> str:
    """The address that a peer such as `127.0.0.1:4711` or `::1:4711` counts as."""
    host = peer.rpartition(":")[0]
    if ":" not in host:
        return host or peer
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    mapped = address.ipv4_mapped
    return str(mapped) if mapped is not None else str(ipaddress.IPv6Address(int(address) >> 64 << 64))
