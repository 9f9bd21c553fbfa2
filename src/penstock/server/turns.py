"""Who goes on next: in a turn of the loop each connection has a slice, and whoever has more to do stands in line.

A slice ends by work, and work is counted in pieces: a request is one, what looks at n things adds n, and so many bytes
read are one. What a slice leaves undone waits in the session; the socket is not read meanwhile, so that its client is
told to wait by TCP. In the next turn whoever has said little is served first, when its bytes are read. Then those in
line have a slice each, for as long as the turn lasts, and at least one of them has.

    poll ──► data_received: a slice, if the turn is not over yet or the read is small
      ▲              │ more to do
      │              ▼
      │            line ──► run: a slice each, one of each user after the other
      │                       │
      └──────── flush ◄───────┘

So what one client does costs another one turn, however much it has sent. While somebody else says a little now and
then beside those in line, turns are short: what is done in masses becomes slower by some per cent, and a round trip
takes a quarter.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.server.line import Line
from penstock.wire.session import Hub

if TYPE_CHECKING:
    from penstock.server.connection import Connection

SLICE_WORK = 2048  # a millisecond or two, where each piece is a plain message
TURN_WORK = 4096  # when so much was done in a turn, those in line and large reads wait for the next one
SHORT_PART = 4  # a short turn is one of so many parts of that
SHORT_TURNS = 100  # so many turns are short after somebody said something
BUSY_TURNS = 4  # in which it is remembered for whom much is to be done: there may be several between two reads
READ_PAUSE_SECONDS = 0.001  # between two full reads of a connection in short turns: bytes take the machine's time
BYTES_PER_WORK = 128  # of what is read
SMALL_READ = 4096  # is worked on at once, whatever others have to do

# A read of this size may be followed by another one in the same turn: the loop goes on for as long as reads are full.
FULL_READ = 128 << 10


class Turns:
    """The line of those that have more to do, and how much of a turn is left."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hub: Hub) -> None:
        self._loop = loop
        self._hub = hub
        self._usage = hub.broker.usage
        self._line: Line[Connection] = Line()
        self._planned = False
        self._work = TURN_WORK
        self._short_left = 0  # turns that are to be short
        self._busy_for = ""  # for whom more was to be done than was in a turn, though nobody asked ...
        self._busy_left = 0  # ... in one of the last turns
        self._over_at = self._usage.work + TURN_WORK
        hub.slice_work = SLICE_WORK

    def is_over(self) -> bool:
        """Whether as much was done in this turn as a turn should take."""
        return self._usage.work >= self._over_at

    def rest(self, connection: "Connection") -> bool:
        """All of a full read was done: whether the connection is to wait for a moment before it is read again."""
        if self._short_left:
            self._loop.call_later(READ_PAUSE_SECONDS, self.add, connection)
            return True
        return False

    def begin(self) -> None:
        """A turn has ended."""
        if self._short_left:
            self._short_left -= 1
            if not self._short_left:
                self._set_part(1)
        self._over_at = self._usage.work + self._work
        if self._usage.busy_for:
            self._busy_for = self._usage.busy_for
            self._usage.busy_for = ""
            self._busy_left = BUSY_TURNS
        elif self._busy_left:
            self._busy_left -= 1

    def hear(self, holder: str) -> None:
        """Somebody said a little. Where much is to be done for another user or address, turns become short."""
        if self._line.has_others(holder) or (self._busy_left and self._busy_for != holder):
            if not self._short_left:
                self._set_part(SHORT_PART)
            self._short_left = SHORT_TURNS

    def _set_part(self, part: int) -> None:
        self._work = TURN_WORK // part
        self._hub.slice_work = SLICE_WORK // part
        self._hub.broker.log.tuning.set_turns(part)

    def add(self, connection: "Connection") -> None:
        """The connection has more to do, once it is its turn."""
        if not connection.in_line:
            connection.in_line = True
            self._line.add(connection.holder(), connection)
        if not self._planned:
            self._planned = True
            self._loop.call_soon(self.run)

    def run(self) -> None:
        """Let those in line have their slices, for as long as this turn lasts."""
        self._planned = False
        line = self._line
        for _ in range(len(line)):
            connection = line.pop()
            connection.in_line = False
            connection.go_on()  # it may come back, behind the others
            if self.is_over():
                break
        if line and not self._planned:
            self._planned = True
            self._loop.call_soon(self.run)
