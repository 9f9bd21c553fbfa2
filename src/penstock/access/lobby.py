"""Connections of nobody in particular yet: how many there are from each address, and how often it failed of late.

An address of IPv6 counts by its first 64 bits, which are one customer's.
"""

import ipaddress
from typing import Final

SECOND: Final = 1_000_000  # microseconds
FORGIVEN_AFTER: Final = 60 * SECOND  # without another failure
DELAY_STEP: Final = 1 * SECOND  # the answer to a failure comes later by this with each one
DELAY_MAX: Final = 10 * SECOND
ADDRESSES_MAX: Final = 10_000  # whose failures are remembered


class Lobby:
    def __init__(self, per_address_max: int) -> None:
        self.per_address_max = per_address_max
        self.delay_step = DELAY_STEP
        self.count = 0
        self.failures = 0  # at all doors
        self._waiting: dict[str, int] = {}
        self._failures: dict[str, tuple[int, int]] = {}  # how many, and when the last one was; the last is last

    def is_full(self, address: str) -> bool:
        return self._waiting.get(address, 0) >= self.per_address_max

    def enter(self, address: str) -> None:
        self.count += 1
        self._waiting[address] = self._waiting.get(address, 0) + 1

    def leave(self, address: str) -> None:
        self.count -= 1
        left = self._waiting[address] - 1
        if left:
            self._waiting[address] = left
        else:
            del self._waiting[address]

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
