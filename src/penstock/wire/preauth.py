"""Authentication of a session: until a client has presented a valid token, it can do nothing else.

    feed ──► held ──► parse_preauth ──┬── ping     ──► answered, if the protocol has one
                                      ├── a token  ──► valid: the session opens, and is fed the rest of the input
                                      │                invalid: refused
                                      └── the rest ──► refused

A client is refused once, in its protocol's format, and the connection is closed. The refusal is delayed by a time that
grows with the failures of the client's address; input is ignored in the meantime. A client that sends nothing is
refused when its authentication time is over.

A client may present another token later. If that one is wrong, it is refused in the same way.
"""

from typing import TYPE_CHECKING, Final

from penstock.auth.directory import Directory, Identity
from penstock.auth.throttle import address_of
from penstock.auth.tokens import id_of
from penstock.core.deadlines import Timer
from penstock.errors import Error

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


class TurnedAway(Error):
    """The client presented a wrong token among other requests: the requests after it are not executed."""


class PreAuth:
    """What a session has until its client has authenticated, and again once it was refused.

    Fires when the time to authenticate is over, or when the delayed refusal is due.
    """

    def __init__(self, session: "Session", access: Directory) -> None:
        self.session = session
        self.access = access
        self.address = address_of(session.peer)
        self.held = b""  # an incomplete request
        self.spent = 0  # bytes of requests already answered
        self.failing = False
        self.refusal = b""
        self.timer: Timer | None = Timer(self._on_time, self._on_error)  # None once it is over
        access.throttle.pending.add(self.address, self)

    def start(self, now: int) -> None:
        self._wait_until(now + self.access.auth_time)

    def move_to(self, session: "Session") -> None:
        """Another session replaces the one that handled the connection before its protocol was known."""
        self.session = session
        session.preauth = self

    def feed(self, data: bytes, now: int) -> None:
        """What `Session.feed` does until the client has authenticated."""
        if self.failing:
            return
        session = self.session
        session.now = now
        data = self.held + data
        at = 0
        while at < len(data):
            request = session.parse_preauth(data, at)
            size = self.spent + (len(data) if request is None else request.end)
            if size > self.access.unauthenticated_bytes_max:
                limit = f"unauthenticated_bytes_max is {self.access.unauthenticated_bytes_max}"
                refuse(session, b"", f"sent {size} bytes before authenticating: {limit}", b"")
                return
            if request is None:
                break
            at = request.end
            if request.kind == PREAUTH_TOKEN:
                authenticate(session, request.id, request.data)
                if session.preauth is None and at < len(data) and not session.closing:
                    session.feed(data[at:], now)
                return
            if request.kind == PREAUTH_PING:
                session.write(request.data)
            elif request.kind == PREAUTH_QUIT:
                session.hang_up()
                return
            else:
                refuse(session, request.id, "sent a request before authenticating", b"")
                return
        self.spent += at
        self.held = data[at:]

    def fail(self, id: bytes, reason: str, at_once: bool) -> None:
        """Send the refusal, at once or after a delay that grows with the earlier failures of the address."""
        session = self.session
        throttle = self.access.throttle
        self.failing = True
        throttle.pending.put_first(self.address, self)
        self.held = b""
        self.refusal = session.auth_error(id, reason)
        session.tell_ids()
        if at_once:
            self._on_time(session.now)
        else:
            self._wait_until(session.now + throttle.failed(self.address, session.now))

    def _wait_until(self, when: int) -> None:
        if self.timer is not None:
            self.session.broker.deadlines.set(self.timer, when)

    def _on_error(self, error: Exception) -> None:
        self.session.broke(error)

    def _on_time(self, now: int) -> None:
        session = self.session
        session.now = now
        if self.failing:
            session.write(self.refusal)
            session.hang_up()
        else:
            seconds = self.access.auth_time / 1_000_000
            refuse(session, b"", f"not authenticated within auth_seconds ({seconds:g})", b"", True)

    def leave(self) -> None:
        """The client has authenticated or disconnected."""
        if self.timer is not None:
            self.session.broker.deadlines.cancel(self.timer)
            self.timer = None
            self.held = b""
            self.access.throttle.pending.remove(self.address, self)


def authenticate(session: "Session", id: bytes, token: bytes) -> None:
    """The client presents a token. Without access control, any token is accepted."""
    access = session.hub.access
    if access is not None:
        identity = access.authenticate(token, session.now)
        if identity is None:
            why = f": {access.why}" if access.why else ""
            refuse(session, id, f"the token is unknown, revoked or expired{why}", token)
            return
        reason = why_not(session, identity)
        if reason:
            refuse(session, id, reason, token, True)
            return
        become(session, identity)
    session.send(session.auth_ok(id))


def authenticate_again(session: "Session", id: bytes, token: bytes) -> None:
    """The same for a client that is already authenticated. Raises TurnedAway when the token is wrong."""
    authenticate(session, id, token)
    if session.preauth is not None:
        raise TurnedAway


def why_not(session: "Session", identity: Identity) -> str:
    """Why the client cannot become the user of a valid token; empty if it can."""
    user = identity.user
    former = session.user
    if user is former:
        return ""
    if former is not None and session.subscriptions():
        # They were granted to the former user, and would survive the revocation of its permissions.
        return f"has consumers as user {former.name!r}: it cannot become another one"
    if not user.has_room():
        return f"user {user.name!r} has reached its quota: connections is {user.quotas.connections}"
    if not session.hub.has_place(user):
        limit = f"connections_max is {session.hub.connections_max}, and the last ones are kept for others"
        return f"user {user.name!r} has {user.connections} connections: {limit}"
    return ""


def become(session: "Session", identity: Identity) -> None:
    """The client is authenticated: the session gets its user."""
    if identity.user is not session.user:
        session.leave_user()
        identity.user.connect()
    session.adopt(identity)
    preauth = session.preauth
    if preauth is not None:
        session.preauth = None
        preauth.leave()
    details: dict[str, object] = {
        "user": identity.user.name,
        "by": identity.how,
        "which": identity.which,
        "peer": session.peer,
        "protocol": session.protocol,
    }
    session.hub.report("info", "audit.auth", details)


def refuse(session: "Session", id: bytes, reason: str, token: bytes, at_once: bool = False) -> None:
    """Refuse the client and close the connection, see `PreAuth.fail`."""
    access = session.hub.access
    if access is None or session.closing:
        return
    session.suspend()
    preauth = session.preauth
    if preauth is None:
        preauth = session.preauth = PreAuth(session, access)
    details: dict[str, object] = {"peer": session.peer, "protocol": session.protocol, "reason": reason}
    if token:
        details["token"] = id_of(token) or "malformed"
    session.hub.report("warning", "audit.auth_failed", details)
    preauth.fail(id, reason, at_once)
