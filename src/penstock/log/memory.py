"""A log in memory: assigns offsets and positions, and keeps nothing unless asked to."""

from penstock.log.interface import AckRun, Change, Log
from penstock.log.tuning import Tuning
from penstock.message import ACCEPT, GOING_BACK, OUT, Message


class MemoryLog(Log):
    """Every entry counts as durable at once, but lasts only as long as the process.

    With `keep`, `entries` is the whole history in order, from which `core.replay` can rebuild a broker.
    """

    def __init__(self, keep: bool = False, tuning: Tuning | None = None) -> None:
        super().__init__(tuning)
        self.keep = keep
        self.entries: list[Message | Change] = []

    def append(self, message: Message) -> None:
        message.offset = self.next_offset
        self.next_offset += 1
        self.position += 1
        self.durable = self.position
        if self.keep:
            self.entries.append(message)

    def fetch(self, offset: int) -> Message | None:
        """Never called: `readable` stays 0."""
        return None

    def append_settlement(self, ack_run: AckRun, offset: int, how: int, due_at: int = 0) -> None:
        self.position += 1
        self.durable = self.position
        if how == ACCEPT or how not in GOING_BACK:  # ACCEPT is the most frequent case and cheap to test
            ack_run.ended += 1
        if self.keep:
            self.entries.append(Change(Change.SETTLED, ack_run.queue, offset, how, due_at=due_at))

    def append_mark(self, ack_run: AckRun, offset: int) -> None:
        self.position += 1
        self.durable = self.position
        if self.keep:
            self.entries.append(Change(Change.SETTLED, ack_run.queue, offset, OUT))

    def append_change(self, change: Change) -> None:
        self.position += 1
        self.durable = self.position
        if self.keep:
            self.entries.append(change)


class ReadableLog(MemoryLog):
    """A MemoryLog whose messages below `readable`, which the owner sets, can be fetched. For tests of paging."""

    def __init__(self, keep: bool = False, tuning: Tuning | None = None) -> None:
        super().__init__(keep, tuning)
        self.messages: list[Message] = []
        self.fetched = 0  # number of fetches
        self.broken: set[int] = set()  # offsets that cannot be read

    def append(self, message: Message) -> None:
        super().append(message)
        self.messages.append(message)

    def fetch(self, offset: int) -> Message | None:
        """Returns a new object each time, as a disk would."""
        self.fetched += 1
        if offset >= self.readable or offset in self.broken:
            return None
        kept = self.messages[offset]
        found = Message(kept.id, kept.event, kept.body, kept.published_at, kept.protocol, kept.headers)
        found.offset = offset
        found.route = kept.route
        found.options = kept.options
        return found
