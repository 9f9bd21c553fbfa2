"""The caller of a request. `AppContext.authorizer` checks what they may do.

The middleware authenticates a request before anything else is done with it (`authenticator.py`). Handlers get the
caller from here instead of an argument: it is valid for everything done in the request's task.
"""

from collections.abc import Iterable
from contextvars import ContextVar

from penstock.auth.directory import Identity
from penstock.auth.rights import BROWSE, QUEUE
from penstock.auth.throttle import address_of
from penstock.auth.user import User
from penstock.core.queue import Queue
from penstock.http.problems import Problem

VIA = " via "  # between the client that a proxy reports and the proxy


class Caller:
    """If `user` is None everything is allowed: authentication is off, or the resource is open."""

    def __init__(self, identity: Identity | None, peer: str, login: bytes = b"") -> None:
        self.identity = identity
        self.user: User | None = None if identity is None else identity.user
        self.peer = peer
        self.login = login  # the console login it was authenticated by, if any
        self.request = ""  # peer, method and path, for fault reports

    @property
    def name(self) -> str:
        return "" if self.user is None else self.user.name

    @property
    def holder(self) -> str:
        """Whose limits this request counts towards: the user or, if there is none, the address."""
        return f"user {self.name!r}" if self.user is not None else f"address {address_of(self.peer.partition(VIA)[0])}"

    # -- single permissions -----------------------------------------------------------------------------------------

    def may(self, right: str, scope: str, name: bytes) -> bool:
        return self.user is None or self.user.may(right, scope, name)

    def check(self, right: str, scope: str, name: bytes) -> None:
        """Raises Refused."""
        if self.user is not None:
            self.user.check(right, scope, name)

    def has(self, right: str) -> bool:
        return self.user is None or self.user.has(right)

    def sees_all(self) -> bool:
        return self.user is None or self.user.may_all(BROWSE, QUEUE)

    def sees(self, queue: bytes) -> bool:
        return self.may(BROWSE, QUEUE, queue)

    def seen(self, queues: Iterable[Queue]) -> list[Queue]:
        """Those of the queues that the caller may browse."""
        return list(queues) if self.sees_all() else [queue for queue in queues if self.sees(queue.name)]

    # -- quotas -----------------------------------------------------------------------------------------------------

    def check_rate(self, now: int) -> None:
        """Raises Problem if the user has exceeded its rate quotas. Called before the request body is read."""
        if self.user is None:
            return
        wait = self.user.charge(0, 0, now)
        if wait > 0:
            raise Problem(
                429,
                "over-quota",
                f"user {self.name!r} has exceeded its quota of messages or bytes per second",
                f"try again in {wait:.1f} seconds",
                {"retry-after": str(int(wait) + 1)},
            )

    def charge(self, messages: int, size: int, now: int) -> None:
        if self.user is not None:
            self.user.charge(messages, size, now)


_present: ContextVar[Caller] = ContextVar("caller")


def enter(caller: Caller) -> None:
    """Called by the middleware: set the caller for this task."""
    _present.set(caller)


def caller() -> Caller:
    """The caller of the current request. Fails if none is set: that is a bug, and must not grant access."""
    return _present.get()


def describe_request() -> dict[str, object]:
    """The current request, if there is one, for fault reports."""
    found = _present.get(None)
    if found is None:
        return {}
    return {"protocol": "http", "user": found.name or None, "request": found.request}
