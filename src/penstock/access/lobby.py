"""Connections of nobody in particular yet: who they are from each address, and how often it failed of late.

They cost little, prove nothing, and cannot keep anybody out: where there are too many, one goes for the next. Whoever
has presented something wrong goes first, then whoever has been silent longest.

An address of IPv6 counts by its first 64 bits, which are one customer's.
"""

import ipaddress
from typing import Final

SECOND: Final = 1_000_000  # microseconds
FORGIVEN_AFTER: Final = 60 * SECOND  # without another failure
DELAY_STEP: Final = 1 * SECOND  # the answer to a failure comes later by this with each one
DELAY_MAX: Final = 10 * SECOND
ADDRESSES_MAX: Final = 10_000  # whose failures are remembered


class Crowd:
    """Some of those connections, each in order of coming. A guest is whatever stands for one of them."""

    def __init__(self) -> None:
        self.silent: dict[object, None] = {}
        self.failed: dict[object, None] = {}  # wait to be told so

    def __len__(self) -> int:
        return len(self.silent) + len(self.failed)

    def first(self) -> object:
        """Who goes when one has to; None when there is nobody."""
        for guests in (self.failed, self.silent):
            for guest in guests:
                return guest
        return None

    def remove(self, guest: object) -> None:
        self.silent.pop(guest, None)
        self.failed.pop(guest, None)


class Lobby:
    def __init__(self, per_address_max: int) -> None:
        self.per_address_max = per_address_max
        self.delay_step = DELAY_STEP
        self.failures = 0  # at all doors
        self._all = Crowd()
        self._by_address: dict[str, Crowd] = {}
        self._failures: dict[str, tuple[int, int]] = {}  # how many, and when the last one was; the last is last

    @property
    def count(self) -> int:
        return len(self._all)

    def is_full(self, address: str) -> bool:
        crowd = self._by_address.get(address)
        return crowd is not None and len(crowd) >= self.per_address_max

    def first(self, address: str = "") -> object:
        """Who goes for another, of an address or of all; None when there is nobody."""
        crowd = self._by_address.get(address) if address else self._all
        return None if crowd is None else crowd.first()

    def enter(self, address: str, guest: object) -> None:
        self._all.silent[guest] = None
        self._by_address.setdefault(address, Crowd()).silent[guest] = None

    def put_first(self, address: str, guest: object) -> None:
        """The guest has presented something wrong, and waits to be told: it goes before those who may be right."""
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
        """Somebody there presented nothing right; how many microseconds the answer has to wait."""
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
    """What counts as one address, of a peer as it is shown: `127.0.0.1:4711`, `::1:4711`."""
    host = peer.rpartition(":")[0]
    if ":" not in host:
        return host or peer
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    mapped = address.ipv4_mapped
    return str(mapped) if mapped is not None else str(ipaddress.IPv6Address(int(address) >> 64 << 64))
