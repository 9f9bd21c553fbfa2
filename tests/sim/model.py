"""What a broker should remember, said so simply that it is obviously right.

A queue is what it owes: offset -> (place, retry). A message that comes in or is rejected gets the next place; one that
goes back keeps its own. Who is given what is not predicted but watched: the model is told what clients saw and did.
"""

from penstock.core.queue import NEVER

Owed = tuple[int, int, int]  # place, offset, retry
# Events, whether by pattern, expiry, whether it goes with its last consumer and had one, what is owed in order.
QueueState = tuple[tuple[bytes, ...], bool, int, bool, tuple[Owed, ...]]


class ModelQueue:
    def __init__(self) -> None:
        self.events: tuple[bytes, ...] = ()
        self.by_pattern = False
        self.expires_after = NEVER
        self.used = False
        self.owed: dict[int, tuple[int, int]] = {}

    def freeze(self) -> QueueState:
        owed = sorted((place, offset, retry) for offset, (place, retry) in self.owed.items())
        return (self.events, self.by_pattern, self.expires_after, self.used, tuple(owed))

    @staticmethod
    def thaw(state: QueueState) -> "ModelQueue":
        queue = ModelQueue()
        queue.events, queue.by_pattern, queue.expires_after, queue.used, owed = state
        queue.owed = {offset: (place, retry) for place, offset, retry in owed}
        return queue


class Sent:
    """A message as its publisher knows it."""

    def __init__(self, id: bytes, event: bytes, body: bytes, at: int, headers: dict[bytes, bytes] | None) -> None:
        self.id = id
        self.event = event
        self.body = body
        self.at = at
        self.headers = headers
        self.tries_max = 0


class Model:
    def __init__(self) -> None:
        self.queues: dict[bytes, ModelQueue] = {}
        self.sent: list[Sent] = []  # by offset
        self.place = 0

    def declare(self, name: bytes) -> ModelQueue:
        return self.queues.setdefault(name, ModelQueue())

    def wanting(self, event: bytes, is_object: bool) -> list[bytes]:
        """The queues a published message goes to."""
        queues = self.queues.items()
        return [name for name, queue in queues if event in queue.events or (queue.by_pattern and is_object)]

    def send(self, sent: Sent, queues: list[bytes]) -> int:
        """The offset of a message that these queues take."""
        self.sent.append(sent)
        offset = len(self.sent) - 1
        for name in queues:
            self.queues[name].owed[offset] = (self._next_place(), 0)
        return offset

    def end(self, name: bytes, offset: int) -> None:
        del self.queues[name].owed[offset]

    def reject(self, name: bytes, offset: int) -> None:
        _, retry = self.queues[name].owed[offset]
        if not self._wears_out(name, offset, retry):
            self.queues[name].owed[offset] = (self._next_place(), retry + 1)

    def give_back(self, name: bytes, offset: int) -> None:
        """Its consumer went away."""
        place, retry = self.queues[name].owed[offset]
        if not self._wears_out(name, offset, retry):
            self.queues[name].owed[offset] = (place, retry + 1)

    def _wears_out(self, name: bytes, offset: int, retry: int) -> bool:
        tries_max = self.sent[offset].tries_max
        if tries_max and retry + 1 >= tries_max:
            self.end(name, offset)
            return True
        return False

    def _next_place(self) -> int:
        self.place += 1
        return self.place

    def freeze(self) -> dict[bytes, QueueState]:
        return {name: queue.freeze() for name, queue in self.queues.items()}

    def thaw(self, state: dict[bytes, QueueState], message_count: int) -> None:
        """Go back to how it was."""
        self.queues = {name: ModelQueue.thaw(queue) for name, queue in state.items()}
        del self.sent[message_count:]
