"""Connection slots of the HTTP port: how many each client has, and which connection is closed when all are taken.

Above `http_connections_max` there are some extra slots, for as long as it takes to see the request. Health, metrics and
requests of administrators are answered there. Any other request needs a regular slot. It gets one at the expense of the
user or address with the most connections: one of these is closed that is idle, slow to send its request, or has not
read from its response for a moment. A connection that is being answered stays open. So a client with many connections
cannot keep others out, and nobody can keep an operator out.

A body has to arrive at `http_body_rate_min` after its first seconds, and a response has to be read.
"""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.http.connection import HttpConnection

EXTRA = 64  # slots above the limit
LOOKED_AT = 32  # connections considered for closing, the oldest first
GRACE_SECONDS = 10.0  # before a body has to arrive at the minimum rate
UNREAD_SECONDS = 30.0  # a client that reads nothing of its response for this long is closed ...
UNREAD_SECONDS_CROWDED = 2.0  # ... and for this long may be closed while all slots are taken

# What a connection is doing, in the order in which connections are closed for others.
IDLE = 0
RECEIVING = 1
UNREAD = 2
ANSWERING = 3


class HttpPlaces:
    def __init__(self, most: int, rate_min: int) -> None:
        self.most = most
        self.rate_min = rate_min  # bytes per second
        self.crowded_out = 0  # connections closed for others
        self.slow = 0  # connections closed because they stalled
        self._all: dict[HttpConnection, None] = {}
        self._extra: dict[HttpConnection, None] = {}  # those above the limit
        self._by_holder: dict[str, dict[HttpConnection, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def is_extra(self, connection: "HttpConnection") -> bool:
        return connection in self._extra

    def enter(self, connection: "HttpConnection") -> bool:
        """Count one more. False if not even an extra slot is free."""
        if len(self._all) - len(self._extra) >= self.most:
            if len(self._extra) >= EXTRA and not self._let_go(self._extra, self._extra):
                return False
            self._extra[connection] = None
        self._all[connection] = None
        self._by_holder.setdefault(connection.holder, {})[connection] = None
        return True

    def leave(self, connection: "HttpConnection") -> None:
        if self._all.pop(connection, connection) is None:
            self._extra.pop(connection, None)
            self._forget(connection)

    def belong(self, connection: "HttpConnection", holder: str) -> None:
        """Set the owner of a connection, once it is known."""
        if connection.holder != holder and connection in self._all:
            self._forget(connection)
            connection.holder = holder
            self._by_holder.setdefault(holder, {})[connection] = None

    def take(self, connection: "HttpConnection") -> bool:
        """Give it a regular slot, if necessary by closing another connection. False if none can be closed."""
        if connection in self._extra:
            if len(self._all) - len(self._extra) >= self.most and not self._make_room(connection):
                return False
            self._extra.pop(connection, None)
        return True

    def look(self, now: float) -> None:
        """Called once a second: close connections that neither send their request nor read their response."""
        for connection in list(self._all):
            if connection.is_too_slow(now):
                self.slow += 1
                connection.end_early(408, b"the request arrived too slowly, or the response was not read")

    def _make_room(self, connection: "HttpConnection") -> bool:
        holder = max(self._by_holder, key=lambda name: len(self._by_holder[name]))
        those = self._by_holder[holder]
        if len(those) <= len(self._by_holder[connection.holder]):
            those = self._by_holder[connection.holder]  # nobody has more: close one of its own, if possible
        return self._let_go(those, (other for other in those if other is not connection and other not in self._extra))

    def _let_go(self, those: "dict[HttpConnection, None]", able: "Iterable[HttpConnection]") -> bool:
        """Of the first few candidates, close the one that is idle, or has been sending its request the longest.

        False if all of them are being answered; next time, the ones after them are considered.
        """
        first = list(islice(able, LOOKED_AT))
        found = min(first, key=lambda other: (other.doing(), other.since), default=None)
        if found is None or found.doing() == ANSWERING:
            for other in first:
                del those[other]
                those[other] = None
            return False
        self.crowded_out += 1
        found.end_early(503, b"all connections are in use: http_connections_max is reached")
        self.leave(found)
        return True

    def _forget(self, connection: "HttpConnection") -> None:
        those = self._by_holder[connection.holder]
        del those[connection]
        if not those:
            del self._by_holder[connection.holder]
