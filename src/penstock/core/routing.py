"""Which queues want a message that is published under an event name."""

from penstock.core.queue import Queue
from penstock.message import Message


class Routing:
    """Bindings of queues to events. A list once handed out is never changed, so a publish may walk it in peace."""

    def __init__(self) -> None:
        self.by_event: dict[bytes, list[Queue]] = {}

    def route(self, message: Message) -> list[Queue] | None:
        """The queues the message goes to, each once; None when nobody wants it."""
        return self.by_event.get(message.event)

    def bind(self, queue: Queue, events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> None:
        """Replace the bindings of the queue."""
        self.unbind(queue)
        queue.events = tuple(dict.fromkeys(events))
        queue.patterns = patterns
        for event in queue.events:
            self.by_event[event] = [*self.by_event.get(event, ()), queue]

    def unbind(self, queue: Queue) -> None:
        for event in queue.events:
            left = [other for other in self.by_event[event] if other is not queue]
            if left:
                self.by_event[event] = left
            else:
                del self.by_event[event]
        queue.events = ()
        queue.patterns = ()
