"""What consumers hold un-acked, and what that costs in memory: by connection, by user, in all.

A message that somebody holds is let go of once the log can give it back, and costs its overhead from then on; without a
log it costs all of it. Nobody can take it away from who holds it. So all of it together has a share of the memory, half
of it. Above that, whoever holds more than a fair part is given nothing more until it settles something, except for one
message where it holds none: a user against users, and among the connections of one user, a connection against those.
Others go on, and publishers do not wait for it.

It is looked at while memory is that short, ten times a second: nothing is counted by the message.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.core.subscription import Subscription
from penstock.message import MESSAGE_OVERHEAD

if TYPE_CHECKING:
    from penstock.access.user import User
    from penstock.wire.session import Hub, Session

LOOK_SECONDS = 0.1
CALM = 0.75  # below this part of what it was restrained for, a consumer goes on


def held_by(subscription: Subscription) -> int:
    """What a consumer's messages take in memory, about."""
    queue = subscription.queue
    if queue is None or not subscription.in_flight:
        return 0
    overhead = subscription.in_flight * MESSAGE_OVERHEAD
    return overhead + int((subscription.bytes - overhead) * queue.kept_part())


def held_of(session: "Session") -> int:
    """The same of all consumers of a client."""
    return sum(held_by(subscription) for subscription in session.subscriptions())


class Holdings:
    def __init__(self, loop: asyncio.AbstractEventLoop, hub: "Hub", bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.restrained: dict[Session, None] = {}  # are given nothing more
        self._loop = loop
        self._hub = hub
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Memory may be short because of what is held: look, and go on looking."""
        if self._timer is None:
            self.look()

    def look(self) -> None:
        self._timer = None
        usage = self._hub.broker.usage
        is_tight = usage.bytes > self.bytes_max
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
        """Who holds more than a fair part, and how much."""
        users: dict[User | Session, dict[Session, int]] = {}
        total = 0
        for session in self._hub.sessions:
            held = held_of(session)
            if held:
                users.setdefault(session.user or session, {})[session] = held
                total += held
        found: dict[Session, int] = {}
        if total > self.bytes_max * (CALM if self.restrained else 1):
            fair = self.bytes_max // (2 * len(users))
            for sessions in users.values():
                if sum(sessions.values()) > fair * (CALM if any(s in self.restrained for s in sessions) else 1):
                    part = fair // len(sessions)
                    for session, held in sessions.items():
                        if held > part * (CALM if session in self.restrained else 1):
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
