"""Which messages of the stream count.

The fence (each append names the number of the message it follows) compares numbers, not contents. So one message that
does not count can still get in. A deposed leader has two appends under way, behind 10 and behind 11. The first is lost;
the new leader's LEAD becomes 11; then the second finds the stream ending with 11, as it has to, and becomes 12. Nobody
may believe it: neither the one who sent it (`appender.py`), nor whoever reads.

A message counts if it is the next one of the newest leadership. Everything else is passed over, by every node alike:

    a LEAD whose term is not above the newest one
    what a leadership appends after a newer one began
    a message that is in the stream twice
    parts that are not followed by the rest
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.cluster.stream import BLOCKS, LEAD, StreamMessage
from penstock.errors import LogError


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a node begins to read the stream: behind number `sequence`, with a history as it was there."""

    sequence: int = 0
    lead: str = ""
    term: int = 0
    number: int = -1


class History:
    """Takes the messages of the stream in order, and says which count."""

    def __init__(self, mark: Mark, is_joining: bool = False) -> None:
        self.lead = mark.lead  # the newest leadership
        self.term = mark.term
        self.number = mark.number  # of its last message that counted; parts count one by one
        self.sequence = mark.sequence  # of the last message
        self.begun = mark  # before the message that was taken last, or before its first part
        self.is_joining = (
            is_joining  # messages may have been deleted in between: whole segments, and what was among them
        )
        self._parts: list[StreamMessage] = []

    def __repr__(self) -> str:
        return f"<History at {self.sequence}, term {self.term}, {self.lead}.{self.number}>"

    def take(self, sequence: int, message: StreamMessage) -> StreamMessage | None:
        """The message if it counts; one that comes in parts as a whole, with its last part.

        Raises LogError if a LEAD was not handed out: then the stream is not read as it is.
        """
        follows = sequence == self.sequence + 1
        # Right before this message, not where the last one was: between them may be what was deleted, or what a leader
        # passed over. Who reads from there must not find a gap, and who deletes up to there must leave nothing.
        before = Mark(sequence - 1, self.lead, self.term, self.number)
        self.sequence = sequence
        if message.kind == LEAD:
            if message.term <= self.term:
                return None
            self.lead, self.term = message.lead, message.term
        elif self.is_joining and (not self.lead or not follows) and self._begins_anew(message):
            self.lead, self.term, self.number = message.lead, message.term, message.number - 1
            before = Mark(sequence - 1, self.lead, self.term, self.number)
        elif message.term > self.term and not self.is_joining:
            raise LogError(f"message {sequence} of the stream is of term {message.term}, which has not begun")
        elif message.lead != self.lead or message.number != self.number + 1:
            return None
        self.number = message.number
        if message.part == 0:
            self._parts.clear()
            self.begun = before
        self._parts.append(message)
        if message.part + 1 < message.parts:
            return None
        parts, self._parts = self._parts, []
        return message if len(parts) == 1 else replace(parts[0], data=b"".join([part.data for part in parts]))

    def _begins_anew(self, message: StreamMessage) -> bool:
        """Whether a message that does not follow is the first one behind others that were deleted.

        They are deleted from the beginning of a segment to the beginning of another one, so it begins a segment. Where
        nothing was deleted, what does not follow does not count.
        """
        if message.kind != BLOCKS or message.place or message.part or message.term < self.term:
            return False
        return message.lead != self.lead or message.number > self.number
