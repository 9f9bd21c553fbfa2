"""Who goes on next: in a turn of the loop each connection has a slice, and whoever has more to do stands in line.

A slice ends by work, and work is counted in pieces: a request is one, what looks at n things adds n, and so many bytes
read are one. What a slice leaves undone waits in the session; the socket is not read meanwhile, so that its client is
told to wait by TCP. In the next turn whoever has said little is served first, when its bytes are read. Then those in
line have a slice each, for as long as the turn lasts, and one of each of eight users in any case. Of a user with
hundreds of connections that each say little some are served in a turn; the others wait, before those that have said
much.

    poll ──► data_received: a slice, if the turn is not over yet or the read is small, and not one of too many
      ▲              │ more to do
      │              ▼
      │            line ──► run: a slice each, first of whoever has had the least of late
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
USERS_AT_LEAST = 8  # so many have a slice in each turn, whatever else was done in it
READ_WORK = 32  # of a read itself, however small: fifteen microseconds or so
SMALL_READ = 4096  # is worked on at once, whatever others have to do ...
SMALL_READS = 32  # ... unless a user has so many of them when the turn is over

# A read of this size may be followed by another one in the same turn: the loop goes on for as long as reads are full.
FULL_READ = 128 << 10


class Turns:
    """The line of those that have more to do, and how much of a turn is left."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hub: Hub) -> None:
        self._loop = loop
        self._hub = hub
        self._usage = hub.broker.usage
        self._soon: Line[Connection] = Line()  # those that have said little
        self._line: Line[Connection] = Line()
        self._heard: dict[str, int] = {}  # small reads, since this turn is over, by whose they are
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

    def charge(self, holder: str, work: int) -> None:
        """So much was done for a user: where others wait, it is their turn first."""
        self._line.charge(holder, work)

    def has_heard(self, holder: str) -> bool:
        """One more small read of a user has come: whether there were enough of them in this turn."""
        if not self.is_over():
            return False
        count = self._heard[holder] = self._heard.get(holder, 0) + 1
        return count > SMALL_READS

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
        if self._heard:
            self._heard.clear()
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
        self._add(connection, self._line)

    def add_soon(self, connection: "Connection") -> None:
        """The same of one that has said little."""
        self._add(connection, self._soon)

    def _add(self, connection: "Connection", line: "Line[Connection]") -> None:
        if not connection.in_line:
            connection.in_line = True
            line.add(connection.holder(), connection)
        self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._loop.call_soon(self.run)

    def run(self) -> None:
        """Let those in line have their slices, for as long as this turn lasts, and some of them in any case."""
        self._planned = False
        soon, line = self._soon, self._line
        for number in range(len(soon)):
            if number >= SMALL_READS and self.is_over():
                break
            self._usage.work += READ_WORK  # it is read again
            self._go_on(soon.pop())
        at_least = min(line.holders(), USERS_AT_LEAST)
        for number in range(len(line)):
            if number >= at_least and self.is_over():
                break
            self._go_on(line.pop())
        if soon or line:
            self._plan()

    def _go_on(self, connection: "Connection") -> None:
        connection.in_line = False
        connection.go_on()  # it may come back, behind the others
