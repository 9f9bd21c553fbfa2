"""The statistics available to `_eval`, under the names in the MQKS documents. Computed on access."""

from typing import ClassVar, Final

from penstock.core.queue import NEVER
from penstock.core.subscription import Subscription
from penstock.wire.allowance import STEPS_MAX
from penstock.wire.expression import ExpressionError, View, evaluate
from penstock.wire.session import EVALUATION_WORK, Hub

MESSAGES_MAX: Final = 65_536  # to list


def text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def evaluate_state(hub: Hub, code: str, now: int) -> object:
    """The result of a client's `_eval`. Raises ExpressionError."""
    hub.broker.context.work += EVALUATION_WORK
    return evaluate(code, {"state": StateView(hub)}, STEPS_MAX, hub.evaluations, now)


class SizeView(View):
    """An object that exposes only its length."""

    visible: ClassVar[frozenset[str]] = frozenset({"qsize"})

    def __init__(self, size: int) -> None:
        self._size = size

    def qsize(self) -> int:
        return self._size


class FlagView(View):
    """An object that exposes only whether it is set."""

    visible: ClassVar[frozenset[str]] = frozenset({"is_set"})

    def __init__(self, flag: bool) -> None:
        self._flag = flag

    def is_set(self) -> bool:
        return self._flag


class StateView(View):
    """The `state` variable of an `_eval` expression."""

    visible: ClassVar[frozenset[str]] = frozenset(
        {
            "published",
            "queued",
            "consumed",
            "queues",
            "queues_by_events",
            "queues_to_delete_when_unused",
            "queues_used",
            "queues_by_consumer_ids",
            "messages_by_consumer_ids",
            "consumer_ids_by_clients",
            "responses_by_clients",
            "socks_by_clients",
        }
    )

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._broker = hub.broker

    @property
    def published(self) -> int:
        return self._broker.published

    @property
    def queued(self) -> int:
        return self._broker.queued()

    @property
    def consumed(self) -> int:
        return self._broker.delivered()

    @property
    def queues(self) -> dict[str, SizeView]:
        return {text(name): SizeView(queue.ready) for name, queue in self._broker.queues.items()}

    @property
    def queues_by_events(self) -> dict[str, list[str]]:
        by_event = self._broker.routing.by_event
        return {text(event): [text(queue.name) for queue in queues] for event, queues in by_event.items()}

    @property
    def queues_to_delete_when_unused(self) -> dict[str, float]:
        queues = self._broker.queues
        return {text(n): q.expires_after / 1_000_000 for n, q in queues.items() if q.expires_after != NEVER}

    @property
    def queues_used(self) -> dict[str, FlagView]:
        return {text(name): FlagView(queue.consumer_count() > 0) for name, queue in self._broker.queues.items()}

    @property
    def queues_by_consumer_ids(self) -> dict[str, str]:
        return {id: text(s.queue.name) for id, s in self._consumers().items() if s.queue is not None}

    @property
    def messages_by_consumer_ids(self) -> dict[str, dict[str, str]]:
        count = sum([s.in_flight for s in self._consumers().values()])
        if count > MESSAGES_MAX:
            raise ExpressionError(f"{count} messages are unacknowledged: more than {MESSAGES_MAX} are not listed")
        return {
            id: {text(m.id): text(m.event) for m in map(s.queue.message_out, s.held()) if m is not None}
            for id, s in self._consumers().items()
            if s.manual and s.queue is not None
        }

    @property
    def consumer_ids_by_clients(self) -> dict[str, list[str]]:
        return {session.peer: [text(s.name) for s in session.subscriptions()] for session in self._hub.sessions}

    @property
    def responses_by_clients(self) -> dict[str, SizeView]:
        return {session.peer: SizeView(len(session.outbox)) for session in self._hub.sessions}

    @property
    def socks_by_clients(self) -> dict[str, str]:
        return {session.peer: session.protocol for session in self._hub.sessions}

    def _consumers(self) -> dict[str, Subscription]:
        """Consumers by id. If two users share an id, the second one's is shown as `{id} of {user}`."""
        found: dict[str, Subscription] = {}
        for session in self._hub.sessions:
            for subscription in session.subscriptions():
                id = text(subscription.name)
                if id in found and session.user is not None:
                    id = f"{id} of {session.user.name}"
                found[id] = subscription
        return found
