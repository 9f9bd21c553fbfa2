"""Quotas of one user. 0 means no limit."""

from typing import Final

from penstock.errors import AccessError

QUOTAS: Final = {
    "connections": "connections open at once, by the five protocols",
    "queues": "queues it has made since the broker started, and that are still there",
    "messages": "messages published in a second; above it the connection waits",
    "bytes": "bytes sent in a second; above it the connection waits",
    "unacked": "messages delivered to its consumers and not settled yet, shared out evenly among them",
}
AMOUNT_MAX: Final = 2**53  # every JSON parser reads integers up to this exactly
SECOND: Final = 1_000_000  # microseconds


class Quotas:
    def __init__(
        self, connections: int = 0, queues: int = 0, messages: int = 0, bytes: int = 0, unacked: int = 0
    ) -> None:
        self.connections = connections
        self.queues = queues
        self.messages = messages
        self.bytes = bytes
        self.unacked = unacked

    def set(self, name: str, amount: int) -> None:
        """Raises AccessError if there is no such quota, or the amount is out of range."""
        if name not in QUOTAS:
            raise AccessError(f"{name!r} is not a quota: use one of {', '.join(QUOTAS)}")
        if not 0 <= amount <= AMOUNT_MAX:
            raise AccessError(f"quota {name} must be a whole number from 0 (no limit) to {AMOUNT_MAX}")
        if name == "connections":
            self.connections = amount
        elif name == "queues":
            self.queues = amount
        elif name == "messages":
            self.messages = amount
        elif name == "bytes":
            self.bytes = amount
        else:
            self.unacked = amount

    def said(self) -> dict[str, int]:
        """The quotas that are set."""
        amounts = {
            "connections": self.connections,
            "queues": self.queues,
            "messages": self.messages,
            "bytes": self.bytes,
            "unacked": self.unacked,
        }
        return {name: amount for name, amount in amounts.items() if amount}


class Meter:
    """A token bucket that holds one second's worth. It is charged after use, so its level may be negative."""

    def __init__(self) -> None:
        self.rate = 0  # per second; 0 means no limit
        self._level = 0.0
        self._at = 0

    def set_rate(self, rate: int) -> None:
        if rate != self.rate:
            self.rate = rate
            self._level = float(rate)

    def charge(self, amount: int, now: int) -> float:
        """Charge an amount; returns how many seconds to wait before using more."""
        rate = self.rate
        if rate == 0:
            return 0.0
        passed = max(0, now - self._at)
        self._at = now
        self._level = min(float(rate), self._level + rate * (passed / SECOND)) - amount
        return 0.0 if self._level >= 0 else -self._level / rate
