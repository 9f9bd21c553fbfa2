"""Connections that have not authenticated yet, or not finished their TLS handshake: in total and by address.

Such connections are cheap and must not lock others out: if there are too many, one is closed for each new one. Those
that have failed to authenticate are closed first, then those that have been open longest.
"""

from typing import Generic, TypeVar

T = TypeVar("T")


class Arrivals(Generic[T]):
    """Connections in order of arrival."""

    def __init__(self) -> None:
        self.pending: dict[T, None] = {}
        self.failed: dict[T, None] = {}  # waiting for the delayed answer

    def __len__(self) -> int:
        return len(self.pending) + len(self.failed)

    def first(self) -> T | None:
        """The connection to close first; None if there is none."""
        for connections in (self.failed, self.pending):
            for connection in connections:
                return connection
        return None

    def remove(self, connection: T) -> None:
        self.pending.pop(connection, None)
        self.failed.pop(connection, None)


class PendingConnections(Generic[T]):
    """A connection is any object that represents one."""

    def __init__(self) -> None:
        self._all: Arrivals[T] = Arrivals()
        self._by_address: dict[str, Arrivals[T]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def count(self, address: str) -> int:
        arrivals = self._by_address.get(address)
        return 0 if arrivals is None else len(arrivals)

    def first(self) -> T | None:
        """The connection to close to make room; None if there is none."""
        return self._all.first()

    def first_of(self, address: str) -> T | None:
        """The same, of those from one address."""
        arrivals = self._by_address.get(address)
        return None if arrivals is None else arrivals.first()

    def all(self) -> list[T]:
        return [*self._all.failed, *self._all.pending]

    def add(self, address: str, connection: T) -> None:
        arrivals = self._by_address.get(address)
        if arrivals is None:
            arrivals = self._by_address[address] = Arrivals()
        arrivals.pending[connection] = None
        self._all.pending[connection] = None

    def put_first(self, address: str, connection: T) -> None:
        """It has failed to authenticate and waits for the answer: it is closed before those that may succeed."""
        for arrivals in (self._all, self._by_address[address]):
            arrivals.remove(connection)
            arrivals.failed[connection] = None

    def remove(self, address: str, connection: T) -> None:
        """Does nothing if it is not there."""
        self._all.remove(connection)
        arrivals = self._by_address.get(address)
        if arrivals is not None:
            arrivals.remove(connection)
            if len(arrivals) == 0:
                del self._by_address[address]
