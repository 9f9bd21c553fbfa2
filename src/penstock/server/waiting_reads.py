"""Reads that wait for their slice, by user or address.

A connection is not read while it has unprocessed input. So one connection has one read in memory, but a thousand
connections have a thousand. If those of one user or address exceed their part of the share of all requests, its other
connections are not read until half of it is processed, except for those with small reads. Other users and addresses are
not affected. While publishers wait for memory, all are read: consumers free memory, and any connection may be one.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.server.connection import Connection
    from penstock.wire.session import Session


class WaitingReads:
    def __init__(
        self, bytes_max: int, connections: "Mapping[Session, Connection]", publishers_wait: Callable[[], bool]
    ) -> None:
        self.bytes = 0  # of all
        self.bytes_max = bytes_max  # of one user or address
        self._publishers_wait = publishers_wait
        self._connections = connections
        self._by_holder: dict[str, int] = {}
        self._stopped: dict[str, list[Connection]] = {}  # connections not read although they have no unprocessed input

    def hold(self, connection: "Connection", holder: str, size: int) -> None:
        """Set the unprocessed bytes of a connection. They stay charged to the same holder until there are none."""
        before = connection.waiting_in
        if not before:
            if not size:
                return
            connection.waiting_for = holder
        holder = connection.waiting_for
        connection.waiting_in = size
        if connection.is_stopped:
            self._resume(connection)  # it was read nevertheless, and others wait until that is processed
        self.bytes += size - before
        of_holder = self._by_holder.get(holder, 0) + size - before
        if of_holder:
            self._by_holder[holder] = of_holder
        else:
            del self._by_holder[holder]
        if of_holder > self.bytes_max:
            if holder not in self._stopped and not self._publishers_wait():
                self._stop(holder)
        elif of_holder <= self.bytes_max // 2 and holder in self._stopped:
            self._go_on(holder)

    def read_all(self) -> None:
        """Publishers have to wait: read all other connections."""
        for holder in list(self._stopped):
            self._go_on(holder)

    def _stop(self, holder: str) -> None:
        stopped = self._stopped[holder] = []
        for session, connection in self._connections.items():
            if session.holder == holder and connection.says_much and not connection.waiting_in:
                stopped.append(connection)
                connection.is_stopped = True
                connection.pause_reading()

    def _go_on(self, holder: str) -> None:
        for connection in self._stopped.pop(holder):
            if connection.is_stopped:
                self._resume(connection)

    def _resume(self, connection: "Connection") -> None:
        connection.is_stopped = False
        connection.resume_reading()
