"""Fair scheduling of connections: each gets a slice of work per turn, and queues up if it has more to do.

A turn is one event loop iteration. A slice is limited by units of work: a request is one, an operation on n items adds
n, and every BYTES_PER_WORK bytes read are one. What a slice leaves undone waits in the session. The socket is not read
meanwhile, so TCP pushes back on the client. In the next turn small reads are served first, as they arrive. Then the
connections in line get a slice each while the turn lasts, and one connection of each of eight users in any case. If a
user has hundreds of connections with small reads, some of them are served in a turn; the others wait, ahead of those
with large reads.

    poll ──► data_received: a slice, if the turn is not over or the read is small and not one too many
      ▲              │ more to do
      │              ▼
      │            line ──► run: a slice each, users with the least work so far first
      │                       │
      └──────── flush ◄───────┘

So a client delays another by one turn at most, however much it has sent. While connections wait in line and somebody
else sends small requests, turns are short: bulk work slows down by a few percent, and a round trip takes a quarter of
the time.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.server.line import Line
from penstock.wire.session import Hub

if TYPE_CHECKING:
    from penstock.server.connection import Connection

SLICE_WORK = 2048  # a millisecond or two, if each unit is a plain message
TURN_WORK = 4096  # after this much work in a turn, the line and large reads wait for the next one
SHORT_PART = 4  # a short turn is a quarter of that
SHORT_TURNS = 100  # so many turns are short after a small read
BUSY_TURNS = 4  # turns for which `_busy_for` is remembered: there may be several between two reads
READ_PAUSE_SECONDS = 0.001  # between two full reads of a connection in short turns: bulk data takes CPU time
BYTES_PER_WORK = 128  # of what is read
USERS_AT_LEAST = 8  # users that get a slice in each turn, even if it is over
READ_WORK = 32  # cost of a read itself, however small: about fifteen microseconds
SMALL_READ = 4096  # reads up to this size are processed at once, whatever is in line ...
SMALL_READS = 32  # ... but at most this many per user once the turn is over

# After a read of this size another may follow in the same turn: the loop keeps reading while reads are full.
FULL_READ = 128 << 10


class Turns:
    """The connections with more to do, and how much of the turn is left."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hub: Hub) -> None:
        self._loop = loop
        self._hub = hub
        self._context = hub.broker.context
        self._soon: Line[Connection] = Line()  # connections with small reads
        self._line: Line[Connection] = Line()
        self._heard: dict[str, int] = {}  # small reads since this turn was over, by user or address
        self._planned = False
        self._work = TURN_WORK
        self._short_left = 0  # how many more turns are short
        self._busy_for = ""  # who caused background work that did not fit a turn ...
        self._busy_left = 0  # ... and for how many more turns that counts
        self._over_at = self._context.work + TURN_WORK
        hub.slice_work = SLICE_WORK

    def is_over(self) -> bool:
        """Whether the work of this turn has reached its limit."""
        return self._context.work >= self._over_at

    def charge(self, holder: str, work: int) -> None:
        """Charge work to a user, which moves it back behind others in line."""
        if self._line.waiting:
            self._line.charge(holder, work)

    def rest(self, connection: "Connection") -> bool:
        """After a full read was processed: whether the connection must pause before it is read again."""
        if self._short_left:
            self._loop.call_later(READ_PAUSE_SECONDS, self.add, connection)
            return True
        return False

    def begin(self) -> None:
        """Begin the next turn."""
        if self._short_left:
            self._short_left -= 1
            if not self._short_left:
                self._set_part(1)
        self._over_at = self._context.work + self._work
        if self._heard:
            self._heard.clear()
        if self._context.busy_for:
            self._busy_for = self._context.busy_for
            self._context.busy_for = ""
            self._busy_left = BUSY_TURNS
        elif self._busy_left:
            self._busy_left -= 1

    def hear(self, holder: str) -> bool:
        """A small read of a user has arrived. Returns whether it has to wait: the turn is over, and it is one too many.

        If there is much work for other users or addresses, turns become short.
        """
        line = self._line
        if (line.waiting and line.has_others(holder)) or (self._busy_left and self._busy_for != holder):
            if not self._short_left:
                self._set_part(SHORT_PART)
            self._short_left = SHORT_TURNS
        if self._context.work < self._over_at:
            return False
        count = self._heard[holder] = self._heard.get(holder, 0) + 1
        return count > SMALL_READS

    def _set_part(self, part: int) -> None:
        self._work = TURN_WORK // part
        self._hub.slice_work = SLICE_WORK // part
        self._hub.broker.log.tuning.set_turns(part)

    def add(self, connection: "Connection") -> None:
        """Queue a connection that has more to do."""
        self._add(connection, self._line)

    def add_soon(self, connection: "Connection") -> None:
        """Queue a connection with a small read, ahead of the others."""
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
        """Serve the connections in line while this turn lasts, and a minimum of them in any case."""
        self._planned = False
        soon, line = self._soon, self._line
        for number in range(len(soon)):
            if number >= SMALL_READS and self.is_over():
                break
            self._context.work += READ_WORK  # the cost of reading again
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
        connection.go_on()  # it may queue again, behind the others
