"""What all queues of a broker share: the time, the timers, and whom to tell."""

from typing import TYPE_CHECKING, Final

from penstock.core.deadlines import Deadlines
from penstock.message import Message

if TYPE_CHECKING:
    from penstock.core.queue import Queue


class Alarm:
    """Something about a queue that people should hear of."""

    FILLING: Final = "queue.filling"  # it has passed a mark below its limit
    FULL: Final = "queue.full"  # it has reached its limit, and what its policy says is being done

    def __init__(self, kind: str, queue: "Queue", limit_name: str, limit: int) -> None:
        self.kind = kind
        self.queue = queue.name
        self.length = queue.length()
        self.bytes = queue.size()
        self.full = queue.policy.full
        self.limit_name = limit_name
        self.limit = limit

    def __repr__(self) -> str:
        return f"<Alarm {self.kind} {self.queue!r} {self.limit_name}={self.limit}>"


class DeadLetters:
    """Where queues hand over what they give up."""

    def take(self, queue: "Queue", message: Message, retry: int, reason: str) -> bool:
        """Put the message into the dead-letter queue that the policy names; False when it cannot be taken now."""
        raise NotImplementedError


class Usage:
    """What all queues of a broker share, and what they hold together."""

    def __init__(self, deadlines: Deadlines, dead_letters: DeadLetters) -> None:
        self.deadlines = deadlines
        self.dead_letters = dead_letters
        self.now = 0  # the time that was said last
        self.alarms: list[Alarm] = []  # whoever tells people empties it
        self.bytes = 0  # in memory, overhead included
        self.touched: list[Queue] = []  # in this turn, each once; whoever ends the turn looks at them
        self.stalled = 0  # queues that wait for the log to be readable again; one that waits for two things is two
        # The queue that a publish found congested last. Whoever acts on it resets it.
        self.congested: Queue | None = None
