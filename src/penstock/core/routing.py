"""Which queues a published message goes to: those bound to its event, and those bound by a pattern it matches."""

from typing import Final

from penstock.core.patterns import Patterns, document_of, may_be_object
from penstock.core.places import GREED_OF_BYTES, NO_HOLDER, Places
from penstock.core.queue import Queue
from penstock.errors import OVER_LIMIT, Refused
from penstock.message import Message

BINDING_OVERHEAD: Final = 200  # memory per binding beyond its text, measured and rounded up
PATTERN_FACTOR: Final = 4  # a pattern is also kept in parsed form


class Routing:
    """The bindings of all queues. A list once returned is never changed, so a publish can safely iterate over it."""

    def __init__(self, bytes_max: int) -> None:
        self.by_event: dict[bytes, list[Queue]] = {}
        self.by_pattern = Patterns()
        self.has_patterns = False
        self.costs = Places(bytes_max, GREED_OF_BYTES)  # approximate memory taken by bindings, by who made them

    def route(self, message: Message) -> list[Queue] | None:
        """The queues the message goes to, each once; None when there are none."""
        queues = self.by_event.get(message.event)
        if self.has_patterns:
            return self._add_matching(message, queues)
        return queues

    def _add_matching(self, message: Message, queues: list[Queue] | None) -> list[Queue] | None:
        """Queues bound to the event first, then those of each matching pattern, in the order they were bound."""
        if message.document is None and not self.by_pattern.wrapped and not may_be_object(message.body):
            return queues
        matching = self.by_pattern.queues_for(document_of(message))
        if matching is None:
            return queues
        return matching if queues is None else list(dict.fromkeys([*queues, *matching]))

    def check_event(self, event: bytes, queues_max: int, queue: Queue | None) -> None:
        """Check that one more queue may be bound to the event. Raises Refused."""
        bound = self.by_event.get(event)
        if bound is not None and len(bound) >= queues_max and (queue is None or event not in queue.events):
            raise Refused(OVER_LIMIT, f"event {event!r} is bound to {len(bound)} queues: the maximum is {queues_max}")

    def check_bindings(
        self, queue: Queue | None, events: tuple[bytes, ...], patterns: tuple[bytes, ...], holder: str
    ) -> None:
        """Check that the bindings fit. They are always in memory, so all of them together get a fixed share of it."""
        added = cost_of_bindings(events, patterns)
        removed = 0 if queue is None else cost_of_bindings(queue.events, queue.patterns)
        if added > removed and not self.costs.has_room(holder, added - removed):
            why = self.costs.why_full(holder, "bytes for bindings")
            raise Refused(OVER_LIMIT, f"bindings of {added} bytes do not fit: {why}, a share of memory_bytes_max")

    def bind(
        self, queue: Queue, events: tuple[bytes, ...], patterns: tuple[bytes, ...], holder: str = NO_HOLDER
    ) -> None:
        """Replace the bindings of the queue; patterns are canonical texts."""
        self.unbind(queue)
        queue.events = tuple(dict.fromkeys(events))
        queue.patterns = tuple(dict.fromkeys(patterns))
        queue.bound_by = holder
        self.costs.enter(holder, cost_of_bindings(queue.events, queue.patterns))
        for event in queue.events:
            self.by_event[event] = [*self.by_event.get(event, ()), queue]
        for pattern in queue.patterns:
            self.by_pattern.bind(queue, pattern)
        self.has_patterns = len(self.by_pattern) > 0

    def unbind(self, queue: Queue) -> None:
        self.costs.leave(queue.bound_by, cost_of_bindings(queue.events, queue.patterns))
        for event in queue.events:
            left = [other for other in self.by_event[event] if other is not queue]
            if left:
                self.by_event[event] = left
            else:
                del self.by_event[event]
        for pattern in queue.patterns:
            self.by_pattern.unbind(queue, pattern)
        queue.events = ()
        queue.patterns = ()
        self.has_patterns = len(self.by_pattern) > 0


def cost_of_bindings(events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> int:
    """Approximate memory these bindings of a queue take."""
    texts = sum([len(event) for event in events]) + PATTERN_FACTOR * sum([len(pattern) for pattern in patterns])
    return texts + BINDING_OVERHEAD * (len(events) + len(patterns))
