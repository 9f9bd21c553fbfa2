"""The replicated stream that holds the log of a cluster: what the cluster needs of it, in a few methods.

A stream is a list of messages, numbered 1, 2, 3 ... by the servers that keep it. What it has acknowledged is not lost
and does not change; messages are deleted only on request. `jetstream.py` is one; the simulation has another.

An append names the message it follows. It is refused if the stream ends with another one, so of two nodes that both
believe they lead, one is stopped by its next append. An append with the id of an earlier one is not appended again: for
two minutes it is answered with the number of the earlier one, whatever it follows, and is refused after that. Ids are
therefore never shared by two nodes.

All callbacks run on the thread that the stream was given for them, never inside the call that they answer, and raise
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

# What a message is.
LEAD = "lead"  # a node leads from here on: `data` is a `Leader`
BLOCKS = "blocks"  # whole blocks of one segment, or a part of one block
SNAPSHOT = "snapshot"  # the state at `position`, for nodes that start without the log before it
TRIM = "trim"  # segments that every node deletes: `data` is their names, one a line
LEAVE = "leave"  # the leader has stopped leading: `data` is the name of the node that should lead next, or empty


@dataclass(frozen=True, slots=True)
class StreamMessage:
    kind: str
    lead: str  # which leadership appended it: unique, even if a node leads again
    term: int
    number: int  # counts the messages of a leadership; the first, 0, is its LEAD
    position: int  # of the log, before the first entry in `data`
    segment: str = ""  # the file that the blocks are in ...
    place: int = 0  # ... and at which byte they start there
    part: int = 0  # what is too large for one message is appended in parts: this is part 0, 1 ...
    parts: int = 1  # ... of so many. They are valid once the last one is there, with nothing in between.
    data: bytes = field(default=b"", repr=False)

    @property
    def id(self) -> str:
        return f"{self.lead}.{self.number}"


@dataclass(frozen=True, slots=True)
class Stored:
    """The message is in the stream, with this number."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The stream does not end with the message that this one had to follow, as far as the servers know now.

    They also count appends that may be dropped in the end. So this is not final: look what the stream has there.
    """


@dataclass(frozen=True, slots=True)
class Unknown:
    """There was no answer, or the stream could not take it now: it may be there or not. Ask again."""

    reason: str


Answer = Stored | Refused | Unknown


@dataclass(frozen=True, slots=True)
class Found:
    """What the stream has at some place."""

    message: StreamMessage | None  # None if it has none there


@dataclass(frozen=True, slots=True)
class Extent:
    """The numbers of the oldest message and of the last; without any, the first is one more than the last."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Beat:
    """What a leader tells the other nodes a few times a second. May be lost."""

    lead: str
    term: int
    node: str
    position: int  # of its log, acknowledged by the stream
    addresses: dict[str, str] = field(default_factory=dict)


def names_in(message: StreamMessage) -> list[str]:
    """The segments that a TRIM names."""
    return message.data.decode().split("\n")


class Reading(Protocol):
    def stop(self) -> None:
        """No message is handed out after this."""


class Stream(Protocol):
    @property
    def data_max(self) -> int:
        """The largest `data` of a message, in bytes."""

    @property
    def is_connected(self) -> bool:
        """Whether the servers can be reached now, as far as is known."""

    def append(self, message: StreamMessage, after: int, answer: Callable[[Answer], None]) -> None:
        """Append the message behind number `after`. Appends that were not answered yet may follow one another."""

    def read(self, after: int, take: Callable[[int, StreamMessage], None]) -> Reading:
        """Hand out all messages behind number `after` in order, those of today and of the future."""

    def look(self, sequence: int, answer: Callable[[Found | Unknown], None]) -> None:
        """The message with this number."""

    def extent(self, answer: Callable[[Extent | Unknown], None]) -> None:
        """Where the stream begins and ends."""

    def delete(self, first: int, end: int) -> None:
        """Delete the messages from `first` to `end` (exclusive), some time. Nobody needs them any more.

        Ranges are deleted in order, each at once or its last message first: what is left of one has no gaps. The rest
        stays if the process ends.
        """

    def beat(self, beat: Beat) -> None:
        """Tell all nodes, this one included."""

    def hear(self, take: Callable[[Beat], None]) -> None:
        """Hand out the beats from now on."""
