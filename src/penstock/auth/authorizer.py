"""The permissions that each operation needs, for sessions and for HTTP.

It knows no broker: callers pass the table of queues, and whether an operation would create one. Sessions look names up
in `User.publishable` and `User.puttable` first, and ask here about the others.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

import orjson

from penstock.auth.rights import ADMIN, BROWSE, CONSUME, DECLARE, DELETE, EVENT, PUBLISH, QUEUE
from penstock.auth.user import User


class BoundQueue(Protocol):
    """What the checks need to know about an existing queue."""

    @property
    def events(self) -> tuple[bytes, ...]: ...

    @property
    def patterns(self) -> tuple[bytes, ...]: ...  # canonical texts

    @property
    def expires_after(self) -> int: ...


class Authorizer:
    """What one user may do. Without a user there is no access control, and everything is allowed.

    Each `check_*` raises Refused.
    """

    def __init__(self, user: User | None, queues: Mapping[bytes, BoundQueue], name_size_max: int) -> None:
        self.user = user
        self.queues = queues  # of the broker: it changes
        self.name_size_max = name_size_max

    # -- messages ---------------------------------------------------------------------------------------------------

    def check_publish(self, event: bytes) -> None:
        user = self.user
        if user is not None and event not in user.publishable:
            user.check_publish(event)

    def may_publish_all(self) -> bool:
        return self.user is None or self.user.may_all(PUBLISH, EVENT)

    def check_claimed(self, event: bytes) -> None:
        """Check the event that a body names, which patterns see instead of the message's own."""
        user = self.user
        if user is None:
            return
        if len(event) > self.name_size_max:
            user.check_all(PUBLISH, EVENT)  # decisions are cached by name, and this one is too long to cache
        elif event not in user.publishable:
            user.check_publish(event)

    def check_put(self, queue: bytes, is_new: bool) -> None:
        """Check a queue that messages are put into. If that creates the queue, it counts towards the user's quota."""
        user = self.user
        if user is None or queue in user.puttable:
            return
        user.check_put(queue, is_new)
        if is_new:
            user.count_made(queue, self.queues)

    def check_targets(self, queues: Iterable[bytes]) -> None:
        """Check the queues that messages are moved to."""
        for queue in queues:
            self.check_put(queue, queue not in self.queues)

    def may_put(self, queue: bytes) -> bool:
        user = self.user
        if user is None:
            return True
        return user.may(PUBLISH, QUEUE, queue) and (queue in self.queues or user.may(DECLARE, QUEUE, queue))

    def check_take(self, queue: bytes) -> None:
        """Check a queue that messages are taken from, and that is not created by it."""
        if self.user is not None:
            self.user.check(CONSUME, QUEUE, queue)

    def check_get(self, queue: bytes) -> None:
        """Check a queue that one message is taken from; remembered in the user's `gettable`, if possible."""
        self.check_consume(queue)
        user = self.user
        if user is not None and user.quotas.queues == 0 and user.may(DECLARE, QUEUE, queue):
            user.remember_get(queue)

    # -- consumers --------------------------------------------------------------------------------------------------

    def check_consume(self, queue: bytes) -> None:
        """Check the queue of a consumer, which is created if it does not exist."""
        self.check_take(queue)
        self.check_declare(queue)

    def check_unacked(self, consumers: int) -> None:
        """Check that one more consumer gets a share of the user's un-acked quota."""
        user = self.user
        if user is not None and user.quotas.unacked and consumers >= user.quotas.unacked:
            raise user.over_quota("unacked", user.quotas.unacked)

    # -- queues -----------------------------------------------------------------------------------------------------

    def check_declare(self, queue: bytes) -> None:
        """If the queue does not exist, check the permission to create it and count it towards the user's quota."""
        user = self.user
        if user is not None and queue not in self.queues:
            user.check(DECLARE, QUEUE, queue)
            user.count_made(queue, self.queues)

    def check_bind(self, events: Iterable[bytes], patterns: Iterable[object]) -> None:
        """Check new bindings of a queue."""
        user = self.user
        if user is None:
            return
        for event in events:
            user.check(CONSUME, EVENT, event)
        for pattern in patterns:
            wanted = event_of(pattern)
            if wanted is None:
                user.check_all(CONSUME, EVENT)
            else:
                user.check(CONSUME, EVENT, wanted)

    def check_rebind(self, queue: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> None:
        """Check bindings (canonical texts) that replace those of an existing queue.

        Removing a binding needs the same permission as creating it, or the permission to delete the queue. The refusal
        does not reveal what the queue is bound to.
        """
        user = self.user
        found = self.queues.get(queue)
        if user is None or found is None:
            return
        if (found.events == events and found.patterns == patterns) or user.may(DELETE, QUEUE, queue):
            return
        kept = set(events)
        others = [event for event in found.events if event not in kept and not user.may(CONSUME, EVENT, event)]
        removed = [orjson.loads(pattern) for pattern in found.patterns if pattern not in patterns]
        if others or [pattern for pattern in removed if not may_bind_pattern(user, pattern)]:
            shown = queue.decode("utf-8", "backslashreplace")
            raise user.refusal(f"to remove bindings of queue {shown!r}: consume on each of their events, or delete")

    def check_expiry(self, queue: bytes, after: int) -> None:
        """Letting an existing queue expire when unused amounts to deleting it, and needs that permission."""
        found = self.queues.get(queue)
        if found is not None and found.expires_after != after:
            self.check_delete(queue)

    def check_delete(self, queue: bytes) -> None:
        if self.user is not None:
            self.user.check(DELETE, QUEUE, queue)

    def may_browse(self, queue: bytes) -> bool:
        """Whether a queue is included in answers that list queues."""
        return self.user is None or self.user.may(BROWSE, QUEUE, queue)

    def check_admin(self) -> None:
        if self.user is not None:
            self.user.check_has(ADMIN)


def may_bind_pattern(user: User, pattern: object) -> bool:
    event = event_of(pattern)
    return user.may_all(CONSUME, EVENT) if event is None else user.may(CONSUME, EVENT, event)


def event_of(pattern: object) -> bytes | None:
    """The only event that a pattern can match; None if it may match all of them."""
    event = pattern.get("event") if isinstance(pattern, dict) else None
    return event.encode("utf-8", "surrogatepass") if isinstance(event, str) else None
