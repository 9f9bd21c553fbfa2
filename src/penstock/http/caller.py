"""The caller of a request, and what they may do.

The middleware authenticates a request before anything else is done with it (`authenticator.py`). Handlers get the
caller from here instead of an argument: it is valid for everything done in the request's task.
"""

from collections.abc import Iterable
from contextvars import ContextVar

from penstock.auth.directory import Identity
from penstock.auth.rights import BROWSE, CONSUME, DECLARE, DELETE, EVENT, PUBLISH, QUEUE
from penstock.auth.throttle import address_of
from penstock.auth.user import User
from penstock.core.broker import Broker
from penstock.core.queue import Queue
from penstock.http.problems import Problem
from penstock.message import TO_QUEUE, Message
from penstock.wire.session import check_claim, check_rebind

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
        """Raises Refused, like the other checks except `check_rate`."""
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

    # -- operations -------------------------------------------------------------------------------------------------

    def check_send(self, message: Message, broker: Broker) -> None:
        """Publish the message, or put it into the queue it names."""
        user = self.user
        if user is None:
            return
        if message.route != TO_QUEUE:
            if message.event not in user.publishable:
                user.check_publish(message.event)
        elif message.event not in user.puttable:
            is_new = broker.would_make(message.event)
            user.check_put(message.event, is_new)
            if is_new:
                user.count_made(message.event, broker.queues)

    def check_claims(self, messages: Iterable[Message], broker: Broker) -> None:
        """While patterns match bodies, a body that names another event needs the permission to publish that event."""
        user = self.user
        if user is not None and broker.routing.has_patterns:
            for message in messages:
                if message.route != TO_QUEUE:
                    check_claim(user, message.event, message.body, broker.limits.name_size_max)

    def check_put(self, queue: bytes, broker: Broker) -> None:
        """Move or copy messages into a queue."""
        user = self.user
        if user is not None:
            is_new = queue not in broker.queues
            user.check_put(queue, is_new)
            if is_new:
                user.count_made(queue, broker.queues)

    def may_put(self, queue: bytes, broker: Broker) -> bool:
        return self.may(PUBLISH, QUEUE, queue) and (queue in broker.queues or self.may(DECLARE, QUEUE, queue))

    def check_bind(self, events: Iterable[bytes], patterns: Iterable[object]) -> None:
        """A pattern for one event needs the permission for that event; any other pattern may match all events."""
        user = self.user
        if user is None:
            return
        for event in events:
            user.check(CONSUME, EVENT, event)
        for pattern in patterns:
            wanted = pattern.get("event") if isinstance(pattern, dict) else None
            if isinstance(wanted, str):
                user.check(CONSUME, EVENT, wanted.encode())
            else:
                user.check_all(CONSUME, EVENT)

    def check_rebind(self, queue: Queue, events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> None:
        """Removing bindings of a queue needs the permission to bind them, or to delete the queue."""
        if self.user is not None:
            check_rebind(self.user, queue, events, patterns)

    def check_made(self, queue: bytes, broker: Broker) -> None:
        """Count a queue that is about to be created against the user's quota."""
        if self.user is not None and queue not in broker.queues:
            self.user.count_made(queue, broker.queues)

    def check_expiry(self, queue: Queue | None, after: int) -> None:
        """Letting an existing queue expire amounts to deleting it, and needs the same permission."""
        if queue is not None and queue.expires_after != after:
            self.check(DELETE, QUEUE, queue.name)

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
