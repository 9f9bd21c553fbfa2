"""The interface of a log, as used by the core. Every accepted change passes through here, in order.

A log assigns two numbers. The **offset** counts messages only: message 0, 1, 2 ... The **position** counts every entry:
messages, settlements and topology changes. A confirm created at position p may be sent once `durable >= p`.
"""

from typing import Final

from penstock.log.tuning import Tuning
from penstock.message import Message


class Change:
    """A log entry that is not a message, as a reader returns it."""

    DECLARED: Final = "declared"  # the queue was created
    BOUND: Final = "bound"  # its bindings were replaced: `names` are events, `patterns` JSON texts
    EXPIRES: Final = "expires"  # it is deleted this long after its last consumer: `number` microseconds, -1 = never
    CONSUMED: Final = "consumed"  # a queue that is deleted at once with its last consumer has had a consumer
    PAUSED: Final = "paused"  # `number` 1: deliveries are paused; 0: resumed
    DELETED: Final = "deleted"
    COMMITTED: Final = "committed"  # a writer's batch: `queue` is the writer, `number` the batch, `at` the time
    FORGOTTEN: Final = "forgotten"  # a writer's last batch is no longer remembered: `queue` is the writer
    SETTLED: Final = "settled"  # a message of the queue: `offset`; `number` is the outcome (message.ACCEPT ...)

    def __init__(
        self,
        kind: str,
        queue: bytes,
        offset: int = -1,
        number: int = 0,
        names: tuple[bytes, ...] = (),
        patterns: tuple[bytes, ...] = (),
        due_at: int = 0,
        at: int = 0,
    ) -> None:
        self.kind = kind
        self.queue = queue
        self.offset = offset
        self.number = number
        self.names = names
        self.patterns = patterns
        self.due_at = due_at  # for a rejected message: the earliest time of the next try
        self.at = at  # when a batch was committed

    def __repr__(self) -> str:
        return f"<Change {self.kind} {self.queue!r} offset={self.offset} number={self.number} {self.names!r}>"


class AckRun:
    """A queue from the log's point of view: its name, and the run of settlements being collected for it."""

    def __init__(self, queue: bytes) -> None:
        self.queue = queue
        self.ended = 0  # messages of the queue that were settled for good
        self.run_first = -1  # settlements not written yet: accepted from here ...
        self.run_next = -1  # ... to here (exclusive)


class Confirmation:
    """Tells somebody that what they asked for is durable."""

    def confirm(self) -> None:
        """Called once; raises nothing."""
        raise NotImplementedError


class Log:
    """The log interface. Each instance belongs to one broker; only that broker appends."""

    def __init__(self, tuning: Tuning | None = None) -> None:
        self.tuning = tuning or Tuning()
        self.next_offset = 0
        self.position = 0
        self.durable = 0
        self.readable = 0  # messages before this offset can be fetched
        self.is_instant = True  # an accepted entry is already as durable as it will ever be
        self.confirmations: list[Confirmation] = []  # due once everything appended so far is durable
        self.is_stalled = False  # the last fetch that returned None may succeed later
        self.read_bytes = 0  # total bytes read by fetches, including skipped data

    def append(self, message: Message) -> None:
        """Append a message and assign its offset."""
        raise NotImplementedError

    def fetch(self, offset: int) -> Message | None:
        """Read back a message with an offset below `readable`; None if it is unreadable, which the log has recorded.

        If `is_stalled` is set, the failure is temporary: as far as is known, the message is intact.
        """
        raise NotImplementedError

    def append_settlement(self, ack_run: AckRun, offset: int, how: int, due_at: int = 0) -> None:
        """A message of the queue was settled, or is requeued: `how` is message.ACCEPT, REJECT ...

        A rejected message may be delayed until `due_at`; a later settlement DUE records that the time has come.
        """
        raise NotImplementedError

    def append_mark(self, ack_run: AckRun, offset: int) -> None:
        """All unsettled messages before this message's place are out for delivery; -1: all of them. Holds for now only.

        Messages that are delayed or could not be read are neither ready nor out, and are not included.
        """
        raise NotImplementedError

    def append_change(self, change: Change) -> None:
        """Append a topology change."""
        raise NotImplementedError

    def begin_whole(self) -> None:
        """Make the entries up to `end_whole` atomic: if the process dies, all of them survive or none."""

    def end_whole(self) -> None:
        """End the atomic group."""
