"""The places of the HTTP port: who has how many connections, and who goes when every place is taken.

Above `http_connections_max` there are some places more, for as long as it takes to see what is asked. Health, metrics
and whatever an administrator asks is answered there. Anybody else needs a place, and gets one where somebody has more
of them: of the user or the address with the most connections, one goes that asks nothing, or is slow to say what, or
takes nothing of its answer for a moment. One that is being answered stays. So nobody is kept out by one who has many,
and an operator is kept out by nobody.

A body has to come at `http_body_rate_min` after its first seconds, and an answer has to be taken.
"""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.http.connection import HttpConnection

EXTRA = 64  # places above the limit
LOOKED_AT = 32  # connections, the oldest first, of which one goes for another
GRACE_SECONDS = 10.0  # of a body, before it has to come at the least rate
UNREAD_SECONDS = 30.0  # an answer of which nothing is taken for so long is given up ...
UNREAD_SECONDS_CROWDED = 2.0  # ... and where every place is taken for so long

# What a connection does, in the order in which it may have to go for another.
IDLE = 0
RECEIVING = 1
UNREAD = 2
ANSWERING = 3


class HttpPlaces:
    def __init__(self, most: int, rate_min: int) -> None:
        self.most = most
        self.rate_min = rate_min  # bytes in a second
        self.crowded_out = 0  # connections that went for others
        self.slow = 0  # that were ended since they did not go on
        self._all: dict[HttpConnection, None] = {}
        self._extra: dict[HttpConnection, None] = {}  # of them, those above the limit
        self._by_holder: dict[str, dict[HttpConnection, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def is_extra(self, connection: "HttpConnection") -> bool:
        return connection in self._extra

    def enter(self, connection: "HttpConnection") -> bool:
        """Count one more. False when there is not even a place to see what it asks."""
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
        """It is known whose connection that is."""
        if connection.holder != holder and connection in self._all:
            self._forget(connection)
            connection.holder = holder
            self._by_holder.setdefault(holder, {})[connection] = None

    def take(self, connection: "HttpConnection") -> bool:
        """Give it a place of its own, where somebody who has more can do without one. False when nobody can."""
        if connection in self._extra:
            if len(self._all) - len(self._extra) >= self.most and not self._make_room(connection):
                return False
            self._extra.pop(connection, None)
        return True

    def look(self, now: float) -> None:
        """Once a second: end those that neither go on with their request nor take their answer."""
        for connection in list(self._all):
            if connection.is_too_slow(now):
                self.slow += 1
                connection.end_early(408, b"the request came too slowly, or its answer was not taken")

    def _make_room(self, connection: "HttpConnection") -> bool:
        holder = max(self._by_holder, key=lambda name: len(self._by_holder[name]))
        those = self._by_holder[holder]
        if len(those) <= len(self._by_holder[connection.holder]):
            those = self._by_holder[connection.holder]  # nobody has more than it has: one of its own goes, if any
        return self._let_go(those, (other for other in those if other is not connection and other not in self._extra))

    def _let_go(self, those: "dict[HttpConnection, None]", able: "Iterable[HttpConnection]") -> bool:
        """Of the first some that are able to, end the one that asks nothing, or has been asking longest.

        False when all of these are being answered; the next ones are looked at next time then.
        """
        first = list(islice(able, LOOKED_AT))
        found = min(first, key=lambda other: (other.doing(), other.since), default=None)
        if found is None or found.doing() == ANSWERING:
            for other in first:
                del those[other]
                those[other] = None
            return False
        self.crowded_out += 1
        found.end_early(503, b"every place is taken: http_connections_max")
        self.leave(found)
        return True

    def _forget(self, connection: "HttpConnection") -> None:
        those = self._by_holder[connection.holder]
        del those[connection]
        if not those:
            del self._by_holder[connection.holder]
