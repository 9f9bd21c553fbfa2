"""Throttles connections that have not authenticated yet. Tracks them, and recent failures, by address.

Such connections are cheap and must not lock others out: if there are too many, one is closed for each new one. Those
that have failed to authenticate are closed first, then those that have been open longest.

An IPv6 address counts by its first 64 bits, the network of one customer.
"""

import ipaddress
from typing import Final

SECOND: Final = 1_000_000  # microseconds
FORGIVEN_AFTER: Final = 60 * SECOND  # without another failure, the count is reset
DELAY_STEP: Final = 1 * SECOND  # each failure delays the answer by this much more
DELAY_MAX: Final = 10 * SECOND
ADDRESSES_MAX: Final = 10_000  # with remembered failures


class Crowd:
    """A group of unauthenticated connections, in order of arrival. A guest is any object that represents one."""

    def __init__(self) -> None:
        self.silent: dict[object, None] = {}
        self.failed: dict[object, None] = {}  # waiting for the delayed answer

    def __len__(self) -> int:
        return len(self.silent) + len(self.failed)

    def first(self) -> object:
        """The connection to close first; None if there is none."""
        for guests in (self.failed, self.silent):
            for guest in guests:
                return guest
        return None

    def remove(self, guest: object) -> None:
        self.silent.pop(guest, None)
        self.failed.pop(guest, None)


class AuthThrottle:
    def __init__(self, per_address_max: int) -> None:
        self.per_address_max = per_address_max
        self.delay_step = DELAY_STEP
        self.failures = 0  # on all listeners
        self._all = Crowd()
        self._by_address: dict[str, Crowd] = {}
        self._failures: dict[str, tuple[int, int]] = {}  # by address: count, time of the last one; latest last

    @property
    def count(self) -> int:
        return len(self._all)

    def is_full(self, address: str) -> bool:
        crowd = self._by_address.get(address)
        return crowd is not None and len(crowd) >= self.per_address_max

    def first(self, address: str = "") -> object:
        """The connection to close to make room, from one address or from all; None if there is none."""
        crowd = self._by_address.get(address) if address else self._all
        return None if crowd is None else crowd.first()

    def enter(self, address: str, guest: object) -> None:
        self._all.silent[guest] = None
        self._by_address.setdefault(address, Crowd()).silent[guest] = None

    def put_first(self, address: str, guest: object) -> None:
        """The guest has failed to authenticate and waits for the answer: it is closed before those that may succeed."""
        for crowd in (self._all, self._by_address[address]):
            crowd.remove(guest)
            crowd.failed[guest] = None

    def leave(self, address: str, guest: object) -> None:
        self._all.remove(guest)
        crowd = self._by_address[address]
        crowd.remove(guest)
        if not len(crowd):
            del self._by_address[address]

    def failed(self, address: str, now: int) -> int:
        """Count a failed authentication; returns how many microseconds to delay the answer."""
        self.failures += 1
        count, at = self._failures.pop(address, (0, 0))
        if now - at > FORGIVEN_AFTER:
            count = 0
        count += 1
        self._failures[address] = (count, now)
        if len(self._failures) > ADDRESSES_MAX:
            del self._failures[next(iter(self._failures))]
        return min(count * self.delay_step, DELAY_MAX)


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
