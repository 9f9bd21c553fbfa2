"""All connections of a broker, and the end of each turn: output is written, and publishers wait while memory is short.

A turn is one event loop iteration, see `turns.py`. `Hub` is what sessions leave for the end of the turn.
"""

import asyncio
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.auth.directory import Directory
from penstock.auth.throttle import address_of
from penstock.auth.tokens import redacted
from penstock.clock import Clock
from penstock.core.memory_shares import Shares
from penstock.core.places import GREED_OF_ONE, Places
from penstock.core.queue import Queue
from penstock.server.account import Account
from penstock.server.filling import Filling
from penstock.server.holdings import Holdings
from penstock.server.incoming import Incoming
from penstock.server.memory import Collector
from penstock.server.outgoing import Outgoing
from penstock.server.turns import Turns
from penstock.server.waiting_reads import WaitingReads
from penstock.storage.storage import Storage
from penstock.wire.preauth import PreAuth
from penstock.wire.refusals import TEXT_SIZE_MAX
from penstock.wire.session import Hub, Session

if TYPE_CHECKING:
    from penstock.server.connection import Connection

# How much of a traceback is logged, from its end.
TRACE_SIZE_MAX = 8000
# A client with messages to settle may publish until memory_bytes_max is exceeded by this fraction: one eighth.
REFUSE_PART = 8
# The longest single pause of a publisher for the consumers of a queue it fills.
SLOWDOWN_SECONDS = 0.05
# How many refused or evicted connections are logged per second.
CROWDED_TOLD_MAX = 10
# The longest event loop timer; the clock is read again after that.
TIMER_SECONDS_MAX = 30.0


class Reactor:
    """All connections of a broker: writes their outboxes, and pauses publishers while memory is short."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hub: Hub, clock: Clock, connections_max: int) -> None:
        self.loop = loop
        self.hub = hub
        self.clock = clock
        self.connections_max = connections_max
        self.connections: dict[Session, Connection] = {}
        hub.connections_max = connections_max
        self.places = Places(connections_max, GREED_OF_ONE)  # by address, while authentication is off
        self._crowded_second = -1
        self._crowded_told = 0
        self.timer: asyncio.TimerHandle | None = None
        self.timer_due = -1
        self.paused: list[Connection] = []
        self.behind: list[Connection] = []  # paused until the disk catches up, whether they publish or not
        self.slowed: dict[Queue, Slowdown] = {}
        self.turns = Turns(loop, hub)
        self.flush_planned = False
        self.draining = False
        self.storage: Storage | None = None
        self.feeding: Connection | None = None  # whose bytes are being processed, for fault reports
        self.fed = b""
        self.describe_request: Callable[[], dict[str, object]] | None = None  # the same for an HTTP request
        shares = Shares(hub.limits.memory_bytes_max)
        self.incoming = Incoming(loop, shares.incoming, self.is_short)
        self.waiting_reads = WaitingReads(shares.incoming // 2, self.connections, lambda: bool(self.paused))
        self.outgoing = Outgoing(loop, hub.broker.context, shares.outgoing)
        self.holdings = Holdings(loop, hub, shares.held)
        self.filling = Filling(loop, hub.broker.context)
        self.account = Account(self)
        self.collector = Collector()
        # From here on clients with messages to settle, which must still be read, may not publish either.
        self.refuse_at = hub.limits.memory_bytes_max + hub.limits.memory_bytes_max // REFUSE_PART
        self.free_at = hub.broker.context.keep_max  # bytes of messages from which on memory is freed
        self.freed_up_to = 0  # end of the readable log when memory was last freed
        self.may_free = True  # memory was not freed in this turn yet

    def plan_flush(self) -> None:
        if not self.flush_planned:
            self.flush_planned = True
            self.loop.call_soon(self.flush)

    def flush(self) -> None:
        """End the turn: check it, hand it to the log, and make one write for each session with output.

        An exception here leaves the turn half finished, which is a fault like one inside a verb.
        """
        broker = self.hub.broker
        if broker.is_broken:
            return
        try:
            self._flush()
        except Exception as error:
            broker.fail("the end of a turn", "", error)
            raise

    def _flush(self) -> None:
        self.flush_planned = False
        hub = self.hub
        if hub.awake:
            self._run_awake()
        if hub.broken:
            self._end_broken()
        if hub.broker.context.alarms:
            self._tell_alarms()
        hub.broker.end_turn()
        if self.storage is not None:
            self.storage.end_turn(self.clock.now())
        self.turns.begin()
        self.may_free = True
        if hub.broker.context.work >= self.collector.due_at:
            self.collector.collect(hub.broker.context.work)
        if hub.unfinished:
            self._put_in_line()
        dirty = hub.dirty
        hub.dirty = []
        for session in dirty:
            connection = self.connections.get(session)
            if connection is not None:
                try:
                    connection.write_outbox()
                except Exception as error:
                    self.fail(connection, session, error)
                if connection.is_held_back and holds_work(session):
                    # It has received deliveries meanwhile, and reading its acks frees memory.
                    connection.is_held_back = False
                    self.paused.remove(connection)
                    connection.resume_reading()
        if self.slowed:
            for slowdown in [s for queue, s in self.slowed.items() if queue.ready_bytes() < queue.congested_bytes // 2]:
                slowdown.end()
        if hub.broker.context.unsent or self.outgoing.held:
            self.outgoing.go_on()
        if hub.broker.context.bytes > self.holdings.bytes_max:
            self.holdings.watch()
        if (self.paused or self.incoming.waiting) and not self.is_short():
            if self.paused:
                self._resume_publishers()
            self.incoming.go_on()
        if self.behind and not self.is_far_behind():
            behind = self.behind
            self.behind = []
            for connection in behind:
                connection.resume_reading()
        self._arm_timer()

    def _put_in_line(self) -> None:
        unfinished = self.hub.unfinished
        self.hub.unfinished = []
        for session in unfinished:
            connection = self.connections.get(session)
            if connection is not None and session.busy:
                connection.wait_in_line()

    # -- connection limits ------------------------------------------------------------------------------------------

    def make_room(self, peer: str) -> str:
        """Evict an unauthenticated connection if all slots are taken.

        Returns the limit that keeps the new connection out, or "" if there is room.
        """
        access = self.hub.access
        is_full = len(self.connections) >= self.connections_max
        if access is None:
            holder = f"address {address_of(peer)}"
            if not is_full and self.places.has_room(holder):
                return ""
            return f"connections_max is {self.connections_max}: {self.places.why_full(holder, 'connections')}"
        if is_full and not self._let_go(access.throttle.pending.first(), "connections_max"):
            return f"connections_max is {self.connections_max}"
        return ""

    def make_room_for_unauthenticated(self, access: Directory, address: str) -> None:
        """Evict unauthenticated connections of an address until it may have one more."""
        while access.throttle.is_full(address):
            self._let_go(access.throttle.pending.first_of(address), "unauthenticated_per_address_max")

    def _let_go(self, preauth: object, limit: str) -> bool:
        """Close an unauthenticated connection to make room for another. False if there is none."""
        if not isinstance(preauth, PreAuth):
            return False
        session = preauth.session
        connection = self.connections.get(session)
        self.report_crowded("connection.crowded_out", session.peer, session.protocol, limit)
        if connection is None:
            preauth.leave()
            return True
        refusal = preauth.refusal
        connection.end_session()
        if refusal:
            connection.transport.write(refusal)
        connection.transport.close()
        return True

    def report_crowded(self, event: str, peer: str, protocol: str, limit: str) -> None:
        """Log a refused or evicted connection. Rate-limited, since a client may reconnect often."""
        second = int(self.loop.time())
        if second != self._crowded_second:
            self._crowded_second, self._crowded_told = second, 0
        self._crowded_told += 1
        if self._crowded_told <= CROWDED_TOLD_MAX:
            self.hub.report("warning", event, {"peer": peer, "protocol": protocol, "limit": limit})

    def fail(self, connection: "Connection", session: Session, error: Exception) -> None:
        """Abort the connection whose session raised an error. Other connections are not affected."""
        self.report_failed(session, error)
        connection.transport.abort()

    def report_failed(self, session: Session, error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        details: dict[str, object] = {
            "peer": session.peer,
            "protocol": session.protocol,
            "error": repr(error),
            "traceback": trace[-TRACE_SIZE_MAX:],
        }
        self.hub.report("error", "session.failed", details)

    def _end_broken(self) -> None:
        """End sessions that raised on a call from the core, and those that this in turn wakes or breaks."""
        hub = self.hub
        while hub.broken:
            session, error = hub.broken.pop(0)
            connection = self.connections.get(session)
            if connection is None:
                continue  # already ended
            self.report_failed(session, error)
            try:
                connection.end_broken()
            except Exception as second:
                self.report_failed(session, second)
                connection.transport.abort()
            if hub.awake:
                self._run_awake()

    def _tell_alarms(self) -> None:
        context = self.hub.broker.context
        alarms = context.alarms
        context.alarms = []
        for alarm in alarms:
            details: dict[str, object] = {
                "queue": alarm.queue.decode("utf-8", "backslashreplace"),
                "messages": alarm.length,
                "bytes": alarm.bytes,
                "limit": alarm.limit_name,
                "value": alarm.limit,
                "policy": alarm.full,
            }
            self.hub.report("warning", alarm.kind, details)

    def _run_awake(self) -> None:
        """Resume woken sessions, after ending those whose peer disconnected in this turn: they can receive nothing."""
        hub = self.hub
        while hub.awake:
            for session in hub.awake:  # grows when messages returned by one session go to another
                connection = self.connections.get(session)
                if connection is not None and connection.transport.is_closing() and not connection.gone:
                    try:
                        connection.end_session()
                    except Exception as error:
                        self.fail(connection, session, error)
            hub.run_awake_once(self.clock.now())

    def slow_down(self, connection: "Connection", queue: Queue) -> None:
        """Briefly stop reading from a publisher, so that the consumers of the queue it fills can keep up.

        If the consumers took nothing during a pause, there are no more pauses for that queue until they do: a slow or
        stuck consumer costs a publisher next to nothing.
        """
        if queue.full or queue.delivered == queue.unmoved_at:
            return
        slowdown = self.slowed.get(queue)
        if slowdown is None:
            slowdown = self.slowed[queue] = Slowdown(self, queue)
        slowdown.connections.append(connection)
        connection.pause_reading()

    def is_short(self) -> bool:
        """Whether memory is short or the disk is behind. Frees memory that the log can give back, once per turn."""
        if self.storage is not None and self.storage.is_behind():
            return True
        broker = self.hub.broker
        context = broker.context
        if context.bytes < self.free_at:
            if context.bytes < context.keep_max:
                self.free_at = context.keep_max
            return False
        limit = context.bytes_max
        if self.may_free and (context.is_freeing or broker.log.readable > self.freed_up_to):
            self.may_free = False  # again in the next turn
            if not context.is_freeing:
                # What was written to the log since the last time can be freed now.
                self.freed_up_to = broker.log.readable
            broker.free_memory()
            if not context.is_freeing:
                # What could not be freed is not scanned again until there is more of it.
                self.free_at = min(limit, max(context.keep_max, context.bytes + limit // 16))
            self.plan_flush()
        return context.bytes >= limit

    def must_wait(self, holder: str) -> bool:
        """Whether a user or address may not publish now: memory is short, and it has used its fair share."""
        if not self.is_short():
            return False
        is_behind = self.storage is not None and self.storage.is_behind()
        return is_behind or self.hub.broker.context.bytes >= self.refuse_at or self.filling.is_over(holder)

    def let_queues_hold(self, bytes_max: int) -> None:
        """Set how many bytes queues may hold before memory counts as short."""
        context = self.hub.broker.context
        context.bytes_max = bytes_max
        context.keep_max = bytes_max // 4
        self.free_at = min(self.free_at, bytes_max)
        self.refuse_at = bytes_max + bytes_max // REFUSE_PART
        self.holdings.bytes_max = bytes_max // 2
        context.relieve()
        if self.paused or self.incoming.waiting or context.held_up:
            self.plan_flush()

    def is_far_behind(self) -> bool:
        """Whether the disk is so far behind that every client that causes writes has to wait."""
        return self.storage is not None and self.storage.is_far_behind()

    def pause_publisher(self, connection: "Connection") -> None:
        """Stop reading from a publisher until queues have drained somewhat or the disk has caught up."""
        if not self.paused:
            held = self.hub.broker.context.bytes
            limit = "memory_bytes_max" if held >= self.hub.broker.context.bytes_max else "the disk is behind"
            self.hub.report("warning", "publishers.paused", {"limit": limit, "bytes": held})
        self.paused.append(connection)
        connection.is_held_back = True
        connection.pause_reading()
        self.waiting_reads.read_all()

    def _resume_publishers(self) -> None:
        self.hub.report("info", "publishers.resumed", {"count": len(self.paused)})
        paused = self.paused
        self.paused = []
        for connection in paused:
            connection.is_held_back = False
            connection.resume_reading()

    def _arm_timer(self) -> None:
        due = self.hub.broker.deadlines.next_due()
        if due == self.timer_due:
            return
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        self.timer_due = due
        if due >= 0:
            # Capped: the loop's clock stops while the machine sleeps, and the two clocks drift apart.
            delay = min(max(0, due - self.clock.now()) / 1_000_000, TIMER_SECONDS_MAX)
            self.timer = self.loop.call_later(delay, self._tick)

    def _tick(self) -> None:
        self.timer = None
        self.timer_due = -1
        self.hub.broker.tick(self.clock.now())
        self.flush()

    def describe_work(self) -> dict[str, object]:
        """The request being processed now, for fault reports."""
        connection = self.feeding
        session = None if connection is None else connection.session
        if session is None:
            return {} if self.describe_request is None else self.describe_request()
        request = redacted(self.fed[:TEXT_SIZE_MAX]).decode("utf-8", "backslashreplace")
        user = None if session.user is None else session.user.name
        return {"peer": session.peer, "protocol": session.protocol, "user": user, "request": request}


class Slowdown:
    """Publishers paused for one congested queue."""

    def __init__(self, reactor: Reactor, queue: Queue) -> None:
        self.reactor = reactor
        self.queue = queue
        self.delivered = queue.delivered
        self.connections: list[Connection] = []
        self.timer = reactor.loop.call_later(SLOWDOWN_SECONDS, self.end)

    def end(self) -> None:
        self.timer.cancel()
        del self.reactor.slowed[self.queue]
        if self.queue.delivered == self.delivered:
            self.queue.unmoved_at = self.delivered
        for connection in self.connections:
            connection.resume_reading()


def holds_work(session: Session) -> bool:
    """Whether the client has deliveries to settle. Reading its acks is what frees memory."""
    return any(subscription.in_flight for subscription in session.subscriptions())
