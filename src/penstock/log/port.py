"""What the core asks of a log. Every accepted change passes through here, in order.

A log hands out two numbers. The **offset** counts messages only: message 0, 1, 2 ... The **position** counts every
entry, messages, settlements and topology alike; a confirm given at position p may leave once `durable >= p`.
"""

from typing import Final

from penstock.log.tuning import Tuning
from penstock.message import Message


class Change:
    """One entry that is not a message, as a reader gives it back."""

    DECLARED: Final = "declared"  # a queue came to be
    BOUND: Final = "bound"  # its bindings were replaced: `names` are events, `patterns` JSON texts
    EXPIRES: Final = "expires"  # it goes away this long after its last consumer: `number` microseconds, -1 = never
    CONSUMED: Final = "consumed"  # one that goes at once with its last consumer has had a consumer
    PAUSED: Final = "paused"  # it gives nothing out: `number` 1; or does again: 0
    DELETED: Final = "deleted"
    COMMITTED: Final = "committed"  # a writer's batch: `queue` is the writer, `number` the batch, `at` when
    FORGOTTEN: Final = "forgotten"  # a writer's last batch is not remembered any more: `queue` is the writer
    SETTLED: Final = "settled"  # a message of the queue: `offset`, `number` is how (message.ACCEPT ...)

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
        self.due_at = due_at  # of a message that was rejected: not to be tried again before
        self.at = at  # when a batch was committed

    def __repr__(self) -> str:
        return f"<Change {self.kind} {self.queue!r} offset={self.offset} number={self.number} {self.names!r}>"


class Ledger:
    """A queue, as its log knows it: the name, and room for the log to note settlements that belong together."""

    def __init__(self, queue: bytes) -> None:
        self.queue = queue
        self.ended = 0  # messages of the queue that the log was told the end of
        self.run_first = -1  # settlements not written yet: accepted from here ...
        self.run_next = -1  # ... up to, and without, here


class Log:
    """The port. One instance is owned by one broker; nobody else appends."""

    def __init__(self, tuning: Tuning | None = None) -> None:
        self.tuning = tuning or Tuning()
        self.next_offset = 0
        self.position = 0
        self.durable = 0
        self.readable = 0  # messages before this offset can be fetched
        self.is_instant = True  # what is accepted is as safe as it will ever be
        self.is_stalled = False  # the last fetch that gave nothing may give the message later
        self.read_bytes = 0  # that fetches ever had to read, what lies in between included

    def append(self, message: Message) -> None:
        """Take a message and give it its offset."""
        raise NotImplementedError

    def fetch(self, offset: int) -> Message | None:
        """A message from before `readable`, once more; None when it cannot be had, which the log has noted.

        With `is_stalled` it cannot be had at the moment: there is nothing wrong with it as far as anybody knows.
        """
        raise NotImplementedError

    def settled(self, ledger: Ledger, offset: int, how: int, due_at: int = 0) -> None:
        """A message of the queue has ended, or goes back into it: `how` is message.ACCEPT, REJECT ...

        One that is rejected may be put off to `due_at`; a settlement DUE says later that the time has come.
        """
        raise NotImplementedError

    def marked(self, ledger: Ledger, offset: int) -> None:
        """All that the queue owes before the place of this message is out, -1: all it owes. Said of the present only.

        What is delayed, or could not be read, is neither ready nor out, and never meant.
        """
        raise NotImplementedError

    def changed(self, change: Change) -> None:
        """Take a change of topology."""
        raise NotImplementedError

    def begin_whole(self) -> None:
        """What comes until `end_whole` is kept whole or not at all, whenever the process ends."""

    def end_whole(self) -> None:
        """The end of that."""
