"""A replicated stream that does exactly what its random numbers say, in virtual time.

`Servers` are what the servers of a stream agree on. A `Port` is the stream as one node sees it: what it sends may be
late, lost, or arrive although the answer is lost; what it reads comes in order, some time. A node can be cut off,
and stopped: then everything that reaches it waits. A port that was closed is that of a process that is gone; what it
has sent may still arrive.
"""

import random
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from penstock.cluster.stream import Answer, Beat, Extent, Found, Refused, Stored, StreamMessage, Unknown

from .timeline import SECOND, Timeline

TIMEOUT = 2 * SECOND

# What stops a deposed leader.
FULL = "full"  # its appends are refused
NUMBERS = "numbers"  # appends follow anything, but the answer says behind what: a number that was not expected
NONE = "none"  # appends follow anything, and the answer says what was expected

T = TypeVar("T")


class Servers:
    def __init__(self, timeline: Timeline, chance: random.Random, data_max: int, fence: str = FULL) -> None:
        self.timeline = timeline
        self.chance = chance
        self.data_max = data_max
        self.fence = fence
        self.messages: dict[int, StreamMessage] = {}  # by number
        self.last = 0
        self.numbers: dict[str, int] = {}  # by id, while it is remembered
        self.ports: list[Port] = []
        self.cursors: list[Cursor] = []
        self.up_at = 0  # until then the servers elect a leader
        self.lost_share = 0.0  # of requests, and of answers
        self.late_share = 0.0
        self.refused = 0

    @property
    def is_up(self) -> bool:
        return self.timeline.now >= self.up_at

    def elect(self, seconds: float) -> None:
        self.up_at = self.timeline.now + int(seconds * SECOND)
        if self.chance.random() < 0.2:
            self.numbers.clear()

    def append(self, message: StreamMessage, after: int) -> Answer:
        if not self.is_up:
            return Unknown("the stream has no leader")
        known = self.numbers.get(message.id)
        if known is not None:
            return Stored(known)
        if after != self.last and self.fence == FULL:
            self.refused += 1
            return Refused()
        self.last += 1
        self.messages[self.last] = message
        self.numbers[message.id] = self.last
        for cursor in self.cursors:
            cursor.wake()
        return Stored(after + 1 if self.fence == NONE else self.last)


class Cursor:
    """One reading of a port."""

    def __init__(self, port: "Port", after: int, take: Callable[[int, StreamMessage], None]) -> None:
        self.port = port
        self.after = after
        self.take = take
        self.is_over = False
        self._is_planned = False
        port.servers.cursors.append(self)
        self.wake()

    def stop(self) -> None:
        self.is_over = True
        if self in self.port.servers.cursors:
            self.port.servers.cursors.remove(self)

    def wake(self) -> None:
        """There may be something to read."""
        if not self._is_planned and self.after < self.port.servers.last:
            self._is_planned = True
            self.port.servers.timeline.plan(self.port.delay(), self._read)

    def _read(self) -> None:
        self._is_planned = False
        if self.is_over or self.port.is_closed:
            self.stop()
            return
        servers = self.port.servers
        if self.port.is_cut_off or not servers.is_up:
            self._is_planned = True
            servers.timeline.plan(SECOND // 5, self._read)
            return
        for _ in range(servers.chance.choice([1, 3, 20])):
            if self.after < servers.last:
                self.after += 1
                number = self.after
                self.port.hand_over(partial(self._give, number))
        self.wake()

    def _give(self, number: int) -> None:
        message = self.port.servers.messages.get(number)
        if not self.is_over and message is not None:
            self.take(number, message)


class Port:
    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.is_cut_off = False
        self.is_deaf = False  # to beats
        self.is_closed = False
        self.stopped = False
        self._is_keeping = False
        self._kept: list[Callable[[], None]] = []  # what reached a stopped process
        self._deletes: deque[tuple[int, int]] = deque()
        self._hears: Callable[[Beat], None] | None = None
        servers.ports.append(self)

    @property
    def data_max(self) -> int:
        return self.servers.data_max

    @property
    def is_connected(self) -> bool:
        return not self.is_cut_off

    def close(self) -> None:
        self.is_closed = True
        self.servers.ports.remove(self)

    def stop_process(self) -> None:
        self.stopped = self._is_keeping = True

    def resume_process(self) -> None:
        """The process may do something else before it looks at what came meanwhile."""
        self.stopped = False
        self.servers.timeline.plan(self.servers.chance.choice([0, 0, SECOND // 5]), self._look_up)

    def _look_up(self) -> None:
        if self.stopped:
            return
        self._is_keeping = False
        kept, self._kept = self._kept, []
        for action in kept:
            self.hand_over(action)

    def delay(self) -> int:
        chance = self.servers.chance
        late = chance.random() < self.servers.late_share
        return chance.randint(200, 3000) + (chance.randint(0, 4 * SECOND) if late else 0)

    def hand_over(self, action: Callable[[], None]) -> None:
        """Something reaches the process."""
        if self.is_closed:
            return
        if self._is_keeping:
            self._kept.append(action)
        else:
            action()

    # -- the stream -------------------------------------------------------------------------------------------------

    def append(self, message: StreamMessage, after: int, answer: Callable[[Answer], None]) -> None:
        self._ask(lambda: self.servers.append(message, after), answer)

    def look(self, sequence: int, answer: Callable[[Found | Unknown], None]) -> None:
        servers = self.servers

        def find() -> Found | Unknown:
            return Found(servers.messages.get(sequence)) if servers.is_up else Unknown("the stream has no leader")

        self._ask(find, answer)

    def read(self, after: int, take: Callable[[int, StreamMessage], None]) -> Cursor:
        return Cursor(self, after, take)

    def extent(self, answer: Callable[[Extent | Unknown], None]) -> None:
        servers = self.servers
        self._ask(lambda: Extent(min(servers.messages, default=servers.last + 1), servers.last), answer)

    def delete(self, first: int, end: int) -> None:
        self._deletes.append((first, end))
        if len(self._deletes) == 1:
            self.servers.timeline.plan(self.delay(), self._delete_some)

    def _delete_some(self) -> None:
        """Delete a range at once if nothing comes before it, otherwise message after message, the last one first.

        If the process dies, the rest stays.
        """
        servers = self.servers
        if self.is_closed or not self._deletes:
            return
        first, end = self._deletes[0]
        numbers = [number for number in range(first, end) if number in servers.messages]
        if self.is_cut_off or self.stopped or not servers.is_up:
            pass
        elif numbers and min(servers.messages) < first:
            del servers.messages[numbers[-1]]
        else:
            for number in numbers:
                del servers.messages[number]
            self._deletes.popleft()
        servers.timeline.plan(self.delay(), self._delete_some)

    def beat(self, beat: Beat) -> None:
        if self.is_cut_off:
            return
        for port in list(self.servers.ports):
            self.servers.timeline.plan(port.delay(), partial(port.hear_beat, beat))

    def hear(self, take: Callable[[Beat], None]) -> None:
        self._hears = take

    def hear_beat(self, beat: Beat) -> None:
        if not self.is_cut_off and not self.is_deaf and self._hears is not None:
            self.hand_over(lambda: self._hears(beat) if self._hears is not None else None)

    def _ask(self, question: Callable[[], T], answer: Callable[[T | Unknown], None]) -> None:
        """Exactly one answer. The question may arrive much later than it was given up."""
        chance, plan = self.servers.chance, self.servers.timeline.plan
        is_answered = False
        is_out = not self.is_cut_off and chance.random() < 0.5  # a server has it, and passes it on some time

        def answered(said: T | Unknown) -> None:
            nonlocal is_answered
            if not is_answered:
                is_answered = True
                self.hand_over(lambda: answer(said))

        def arrives() -> None:
            if self.is_cut_off and not is_out:
                return
            said = question()
            if chance.random() >= self.servers.lost_share:
                plan(self.delay(), lambda: None if self.is_cut_off else answered(said))

        if chance.random() >= self.servers.lost_share:
            plan(self.delay(), arrives)
        plan(TIMEOUT, lambda: answered(Unknown("no answer")))
