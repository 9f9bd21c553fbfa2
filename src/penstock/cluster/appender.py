"""A leader's appends: in order, several under way, each until the stream has it for certain.

    send ─► waiting ─► under way (a few, behind consecutive numbers) ─► stored, in order

As long as each append is stored where it was expected, nothing else happens. The first one that is not stops sending.
When all that were under way are answered, the stream is asked what it has there instead:

    the message that was to be stored      its answer was lost: it is stored
    nothing                                it was lost: it is sent again, with the same id (by `retry`)
    a message of ours that was stored      the stream has it twice: it is passed over, as every reader does
    a message of an older leadership       it was late: passed over as well (`history.py`)
    a LEAD of a higher term                we were replaced
    a later message of ours                it got in before one that was lost, and can never be valid: we give up

What is under way when a leader gives up may still get in later. It does not count then, and was never confirmed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from penstock.cluster.stream import Answer, Found, Stored, Stream, StreamMessage, Unknown

UNDER_WAY_MAX = 4


class Append:
    """A message on its way into the stream."""

    def __init__(self, message: StreamMessage, stored: Callable[[int], None]) -> None:
        self.message = message
        self.stored = stored  # called with its number in the stream
        self.after = 0  # the number it was sent behind
        self.answer: Answer | None = None


class Appender:
    def __init__(
        self, stream: Stream, after: int, given_up: Callable[[str], None], under_way_max: int = UNDER_WAY_MAX
    ) -> None:
        """`given_up` is called once, with the reason, when nothing can be appended by this leadership any more."""
        self.after = after  # the number of the last message known to be in the stream
        self.trouble = ""  # why the stream does not take anything now
        self._stream = stream
        self._given_up = given_up
        self._under_way_max = under_way_max
        self._waiting: deque[Append] = deque()
        self._under_way: deque[Append] = deque()
        self._is_mending = False  # something was not stored where it was expected
        self._is_asking = False
        self._is_lost = False  # the first append is not in the stream, and has to be sent again
        self._is_over = False

    @property
    def count(self) -> int:
        """Messages that are not known to be stored."""
        return len(self._waiting) + len(self._under_way)

    def send(self, message: StreamMessage, stored: Callable[[int], None]) -> None:
        """Append a message behind those that were sent before. `stored` is called in this order."""
        self._waiting.append(Append(message, stored))
        self._fill()

    def stop(self) -> None:
        """Nobody is called after this."""
        self._is_over = True

    def retry(self) -> None:
        """Go on after trouble. Called every now and then by the owner, which keeps the pace."""
        if self._is_over:
            return
        if self._is_lost:
            self._send_again()
        elif self._is_mending:
            self._mend()

    def _fill(self) -> None:
        while self._waiting and len(self._under_way) < self._under_way_max and not self._is_mending:
            append = self._waiting.popleft()
            append.after = self.after + len(self._under_way)
            self._under_way.append(append)
            self._append(append)

    def _append(self, append: Append) -> None:
        append.answer = None

        def answered(answer: Answer) -> None:
            append.answer = answer
            if not self._is_over:
                self._on_answer()

        self._stream.append(append.message, append.after, answered)

    def _on_answer(self) -> None:
        under_way = self._under_way
        while under_way and under_way[0].answer == Stored(self.after + 1):
            self._pop()
            if self._is_over:
                return
        if any(append.answer is not None and append.answer != Stored(append.after + 1) for append in under_way):
            self._is_mending = True
        if self._is_mending:
            if not under_way:
                self._end_mending()
            elif not self._is_unanswered():
                unknown = [append.answer for append in under_way if isinstance(append.answer, Unknown)]
                self.trouble = unknown[0].reason if unknown else ""
                if not unknown:
                    self._mend()  # otherwise `retry` does, later
        else:
            self._fill()

    def _is_unanswered(self) -> bool:
        return any(append.answer is None for append in self._under_way)

    def _pop(self) -> None:
        """The first append is stored, behind `after`."""
        self.after += 1
        self._under_way.popleft().stored(self.after)

    def _mend(self) -> None:
        """Ask what the stream has where the first append was to be."""
        if not self._is_asking and self._under_way and not self._is_unanswered():
            self._is_asking = True
            self._stream.look(self.after + 1, self._on_found)

    def _on_found(self, found: Found | Unknown) -> None:
        self._is_asking = False
        if self._is_over:
            return
        if isinstance(found, Unknown):
            self.trouble = found.reason
            return
        mine, other = self._under_way[0].message, found.message
        if other is None:
            self._is_lost = True  # `retry` sends it again
        elif other.id == mine.id:
            self._pop()
            self._go_on()
        elif other.lead == mine.lead and other.number > mine.number:
            self._give_up(f"message {other.number} of this leadership was stored before message {mine.number}")
        elif other.lead != mine.lead and other.term >= mine.term:
            self._give_up(f"the stream has a message of term {other.term}, and this is term {mine.term}")
        else:
            self.after += 1  # it does not count
            self._go_on()

    def _go_on(self) -> None:
        if self._is_over:
            return
        if self._under_way:
            self._mend()
        else:
            self._end_mending()

    def _send_again(self) -> None:
        """Send the first append again, and those behind it once it is stored."""
        self._is_lost = False
        first = self._under_way.popleft()
        self._waiting.extendleft(reversed(self._under_way))
        self._under_way.clear()
        self._under_way.append(first)
        first.after = self.after
        self._append(first)

    def _end_mending(self) -> None:
        self._is_mending = False
        self.trouble = ""
        self._fill()

    def _give_up(self, reason: str) -> None:
        self._is_over = True
        self._given_up(reason)
