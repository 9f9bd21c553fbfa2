"""Authentication before a session: until a client has presented a valid token, it can do nothing else.

    feed ──► held ──► greet ──┬── ping     ──► answered, if the protocol has one
                              ├── a token  ──► valid: the session opens, and the rest of the input is fed to it
                              │                invalid: refused
                              └── the rest ──► refused

A client is refused once, in its protocol's format, and the connection is closed. The refusal is delayed by a time that
grows with the failures of the client's address; input is ignored in the meantime. A client that sends nothing is
refused when its authentication time is over.
"""

from typing import TYPE_CHECKING, Final

from penstock.auth.directory import Directory
from penstock.auth.throttle import address_of
from penstock.wire.timer import SessionTimer

if TYPE_CHECKING:
    from penstock.wire.session import Session

# Kinds of requests of a client that has not authenticated yet.
PREAUTH_TOKEN: Final = 0  # presents a token
PREAUTH_PING: Final = 1
PREAUTH_QUIT: Final = 2  # ends the connection
PREAUTH_OTHER: Final = 3  # any other request


class PreAuthRequest:
    """One request of a client that has not authenticated yet."""

    def __init__(self, kind: int, end: int, id: bytes = b"", data: bytes = b"") -> None:
        self.kind = kind
        self.end = end  # where the next request begins
        self.id = id  # of the request, if the protocol has ids
        self.data = data  # the token, or the answer to a ping


class PreAuth(SessionTimer):
    """Holds back one client. Fires when its time to authenticate is over, or when its delayed refusal is due."""

    def __init__(self, session: "Session", access: Directory) -> None:
        super().__init__(session)
        self.session = session
        self.access = access
        self.address = address_of(session.peer)
        self.held = b""
        self.spent = 0  # bytes of requests already answered
        self.failing = False
        self.refusal = b""
        self._is_open = False
        access.throttle.enter(self.address, self)

    def fire(self, now: int) -> None:
        session = self.session
        session.now = now
        if self.failing:
            session.write(self.refusal)
            session.hang_up()
        else:
            seconds = self.access.auth_time / 1_000_000
            session.reject_connection(b"", f"said nobody who it is within auth_seconds, {seconds:g}", b"", True)

    def leave(self) -> None:
        """The client has authenticated or disconnected."""
        if not self._is_open:
            self._is_open = True
            self.held = b""
            self.access.throttle.leave(self.address, self)
            self.session.broker.deadlines.cancel(self)
