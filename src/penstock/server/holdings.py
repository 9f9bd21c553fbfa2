"""Memory of un-acked messages: by connection, by user, and in total.

Once the log can give an un-acked message back, its body is freed and only its overhead remains; without a log it stays
in memory. It cannot be taken back from its consumer. So un-acked messages have a share of the memory: half of it. Above
that, a consumer that holds more than its fair part gets nothing more until it settles something, except for one message
if it holds none. Users are compared with users, and within a user its connections with each other. Other consumers
continue, and publishers do not wait.

This is checked ten times a second while memory is that short; there is no accounting per message.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.core.subscription import Subscription
from penstock.message import MESSAGE_OVERHEAD

if TYPE_CHECKING:
    from penstock.auth.user import User
    from penstock.wire.session import Hub, Session

LOOK_SECONDS = 0.1
RESUMES_BELOW = 0.75  # a consumer resumes below this part of the limit it exceeded


def held_by(subscription: Subscription) -> int:
    """Approximate memory of a consumer's un-acked messages."""
    queue = subscription.queue
    if queue is None or not subscription.in_flight:
        return 0
    overhead = subscription.in_flight * MESSAGE_OVERHEAD
    return overhead + int((subscription.bytes - overhead) * queue.kept_part())


def held_of(session: "Session") -> int:
    """The same for all consumers of a client."""
    return sum(held_by(subscription) for subscription in session.subscriptions())


class Holdings:
    def __init__(self, loop: asyncio.AbstractEventLoop, hub: "Hub", bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.restrained: dict[Session, None] = {}  # get nothing more
        self._loop = loop
        self._hub = hub
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Check now, and keep checking while un-acked messages may be why memory is short."""
        if self._timer is None:
            self.look()

    def look(self) -> None:
        self._timer = None
        context = self._hub.broker.context
        is_tight = context.bytes > self.bytes_max
        over = self._over() if is_tight or self.restrained else {}
        for session in [session for session in self.restrained if session not in over]:
            del self.restrained[session]
            self._allow(session, self._hub.limits.unacked_bytes_max)
        for session, size in over.items():
            if session not in self.restrained:
                self.restrained[session] = None
                self._tell(session, size)
            self._allow(session, 1)
        if self.restrained or is_tight:
            self._timer = self._loop.call_later(LOOK_SECONDS, self.look)

    def _over(self) -> "dict[Session, int]":
        """The sessions that hold more than their fair part, and how much."""
        users: dict[User | Session, dict[Session, int]] = {}
        total = 0
        for session in self._hub.sessions:
            held = held_of(session)
            if held:
                users.setdefault(session.user or session, {})[session] = held
                total += held
        found: dict[Session, int] = {}
        if total > self.bytes_max * (RESUMES_BELOW if self.restrained else 1):
            fair = self.bytes_max // (2 * len(users))
            for sessions in users.values():
                if sum(sessions.values()) > fair * (
                    RESUMES_BELOW if any(s in self.restrained for s in sessions) else 1
                ):
                    part = fair // len(sessions)
                    for session, held in sessions.items():
                        if held > part * (RESUMES_BELOW if session in self.restrained else 1):
                            found[session] = held
        return found

    def _allow(self, session: "Session", bytes_credit: int) -> None:
        for subscription in session.subscriptions():
            if subscription.manual and subscription.bytes_credit != bytes_credit:
                self._hub.broker.allow_bytes(subscription, bytes_credit)

    def _tell(self, session: "Session", size: int) -> None:
        user = None if session.user is None else session.user.name
        details: dict[str, object] = {"peer": session.peer, "user": user, "bytes": size, "limit": "memory_bytes_max"}
        self._hub.report("warning", "consumer.restrained", details)
