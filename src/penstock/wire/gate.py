"""The gate before a session: a client that has not said who it is gets no further than its token.

    feed ──► held ──► greet ──┬── ping     ──► answered, if the protocol has one
                              ├── a token  ──► right: the session opens, and what is held goes on to it
                              │                wrong: refused
                              └── the rest ──► refused

A client is refused once, in its protocol's own form, and the connection closed. The refusal is held back for a while
that grows with the failures of the client's address, and nothing is read meanwhile. A client that says nothing is
refused when its time is over.
"""

from typing import TYPE_CHECKING, Final

from penstock.access.directory import Directory
from penstock.access.lobby import address_of
from penstock.wire.timer import SessionTimer

if TYPE_CHECKING:
    from penstock.wire.session import Session

# What a client may do that is not known yet.
SHOWS: Final = 0  # a token
PINGS: Final = 1
LEAVES: Final = 2  # says goodbye
ASKS: Final = 3  # for anything else


class Greeting:
    """One request of a client that is not known yet."""

    def __init__(self, kind: int, end: int, id: bytes = b"", data: bytes = b"") -> None:
        self.kind = kind
        self.end = end  # where the next request begins
        self.id = id  # of the request, where the protocol has such ids
        self.data = data  # the token, or the answer to a ping


class Gate(SessionTimer):
    """Holds one client back. Due when its time to say who it is is over, or when it may be told that it failed."""

    def __init__(self, session: "Session", access: Directory) -> None:
        super().__init__(session)
        self.session = session
        self.access = access
        self.address = address_of(session.peer)
        self.held = b""
        self.spent = 0  # bytes of requests that were answered
        self.failing = False
        self.refusal = b""
        self._is_open = False
        access.lobby.enter(self.address, self)

    def fire(self, now: int) -> None:
        session = self.session
        session.now = now
        if self.failing:
            session.write(self.refusal)
            session.hang_up()
        else:
            seconds = self.access.auth_time / 1_000_000
            session.turn_away(b"", f"said nobody who it is within auth_seconds, {seconds:g}", b"", True)

    def leave(self) -> None:
        """The client came in, or is gone."""
        if not self._is_open:
            self._is_open = True
            self.held = b""
            self.access.lobby.leave(self.address, self)
            self.session.broker.deadlines.cancel(self)
