"""One socket: feeds what it reads to a session and writes the session's output once per event loop iteration.

A turn is one such iteration, see `turns.py`.
"""

import asyncio
import socket
import ssl
import traceback
from collections.abc import Callable
from typing import cast

from penstock.auth.certificates import names_of
from penstock.auth.directory import Directory
from penstock.auth.throttle import address_of
from penstock.auth.tokens import redacted
from penstock.auth.user import User
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
from penstock.server.turns import BYTES_PER_WORK, FULL_READ, READ_WORK, SMALL_READ, Turns
from penstock.server.waiting_reads import WaitingReads
from penstock.storage.storage import Storage
from penstock.wire.preauth import PreAuth
from penstock.wire.refusals import TEXT_SIZE_MAX
from penstock.wire.session import LEFT_AT_ONCE, Dialect, Hub, Session

# A session gets no more deliveries while the transport has more than this many bytes buffered.
WRITE_HIGH = 1 << 20
WRITE_LOW = 1 << 18

# Deliveries stop at WRITE_HIGH, so above this it is replies that pile up. A client that does not read them is not read.
UNREAD_MAX = 4 << 20

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
        self.collector.end_turn(hub.broker.context.work)
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
        if hub.broker.context.unsent or self.outgoing.is_watching():
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

    def __init__(self, board: Reactor, queue: Queue) -> None:
        self.board = board
        self.queue = queue
        self.delivered = queue.delivered
        self.connections: list[Connection] = []
        self.timer = board.loop.call_later(SLOWDOWN_SECONDS, self.end)

    def end(self) -> None:
        self.timer.cancel()
        del self.board.slowed[self.queue]
        if self.queue.delivered == self.delivered:
            self.queue.unmoved_at = self.delivered
        for connection in self.connections:
            connection.resume_reading()


class Connection(asyncio.Protocol):
    """The asyncio side of one client."""

    transport: asyncio.Transport

    def __init__(self, reactor: Reactor, dialect: Dialect) -> None:
        self.reactor = reactor
        self.dialect = dialect
        self.session: Session | None = None
        self.reading_pauses = 0  # the number of reasons why reading is paused
        self.writing_paused = False
        self.kept_in = 0  # bytes of incomplete requests; kept by `Incoming`
        self.waiting_in = 0  # bytes read and not processed yet; kept by `WaitingReads` ...
        self.waiting_for = ""  # ... and charged to this user or address
        self.is_stopped = False  # not read, since its user has many unprocessed bytes
        self.says_much = True  # its last read was large, or there was none yet
        self.was_full = False  # its last read was a full one: there may be more to read
        self.is_held_back = False  # a publisher, paused because memory is short
        self.is_squeezed = False  # paused until it reads its output: too much is unsent in total
        self.unread = False  # paused because the peer does not read its replies
        self.half_closed = False  # the peer has closed its sending side
        self.deaf = False  # authentication failed: never read again
        self.in_line = False  # queued for its next slice, see `turns.py`
        self.waits = False  # not read until everything read so far is processed
        self.refills = False  # there is room for more deliveries
        self.ended = False  # end of input was received; what was read is processed first
        self.gone = False  # the same, and replies are discarded
        self.place = ""  # the holder its slot counts for, while authentication is off

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        board = self.reactor
        peer = peer_name(transport)
        access = board.hub.access
        limit = "draining" if board.draining else board.make_room(peer)
        if limit:
            board.report_crowded("connection.refused", peer, self.dialect.name, limit)
            farewell = self.dialect.full()
            if farewell:
                transport.write(farewell)
            transport.close()
            return
        raw = transport.get_extra_info("socket")
        if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=WRITE_HIGH, low=WRITE_LOW)
        identity = None
        if access is not None:
            names = certificate_names(transport)
            identity = access.by_certificate(names) or access.by_default(self.dialect.default_user)
            if identity is None:
                board.make_room_for_unauthenticated(access, address_of(peer))
            limit = "" if identity is None else limit_of(board.hub, identity.user)
            if limit:
                board.report_crowded("connection.refused", peer, self.dialect.name, limit)
                transport.close()
                return
        now = board.clock.now()
        self.session = self.dialect.open(peer, now)
        if access is not None:
            self.session.enter(identity, now)
        board.connections[self.session] = self
        if access is None:
            self.place = f"address {address_of(peer)}"
            board.places.enter(self.place)
        board.plan_flush()

    def data_received(self, data: bytes) -> None:
        session = self.session
        if session is None:
            return
        board = self.reactor
        size = len(data)
        turns = board.turns
        board.hub.broker.context.work += READ_WORK + size // BYTES_PER_WORK
        self.says_much = size > SMALL_READ
        self.was_full = size >= FULL_READ
        if self.says_much:
            has_to_wait = turns.is_over()
        else:
            turns.hear(session.holder)
            has_to_wait = turns.has_heard(session.holder)
        if session.busy or session.unfed or has_to_wait:
            if not self.says_much and not session.busy:
                turns.add_soon(self)
            session.unfed.append(data)
            self.wait_in_line()
            board.waiting_reads.hold(self, session.holder, session.unworked())
            return
        session = self._work(session, data)
        if session.busy or size >= FULL_READ:
            self.wait_in_line()

    def holder(self) -> str:
        """The user or address that its work is charged to."""
        return "" if self.session is None else self.session.holder

    def wait_in_line(self) -> None:
        """Stop reading until what was read is processed, one slice per turn."""
        if not self.waits:
            self.waits = True
            self.pause_reading()
        self.reactor.turns.add(self)

    def go_on(self) -> None:
        """Do the next slice: more deliveries, and more of what was read."""
        session = self.session
        if session is None:
            return
        if self.refills:
            self.refills = False
            self._refill(session)
        if not self.waits or (self.reading_pauses > 1 and not self.gone):
            return  # reading is paused for another reason too, so what was read waits as well
        if session.busy:
            session = self._work(session, None)
        elif session.unfed:
            session = self._work(session, session.unfed.pop(0))
        if session.busy or session.unfed:
            self.reactor.turns.add(self)
            return
        if self.gone and not session.leave_some(self.reactor.clock.now()):
            self.reactor.turns.add(self)
            self.reactor.plan_flush()
            return
        if self.was_full and not self.gone:
            self.was_full = False
            if self.reactor.turns.rest(self):
                return
        self.waits = False
        self.resume_reading()
        if self.gone:
            self.end_session()
            self.transport.close()
        elif self.ended and not self._end_of_input():
            self.transport.close()

    def _work(self, session: Session, data: bytes | None) -> Session:
        """Feed the session, or let it continue, then apply back-pressure according to what it did.

        Returns the session that serves the connection afterwards.
        """
        board = self.reactor
        hub = board.hub
        context = hub.broker.context
        before, work = hub.broker.published, context.work
        log = hub.broker.log
        entries = log.position + len(log.confirmations)
        now = board.clock.now()
        failure: Exception | None = None
        is_refused = hub.broker.context.bytes >= board.refuse_at and board.is_short() and holds_work(session)
        if is_refused:
            hub.broker.hold_memory(True)
        try:
            board.feeding = self
            hub.broker.context.publisher = session.holder
            if data is None:
                session.go_on(now)
            else:
                board.fed = data
                session.feed(data, now)
        except Exception as error:
            failure = error
        if is_refused:
            hub.broker.hold_memory(False)
        board.feeding = None
        if session.successor is not None:
            session = self.succeed(session, session.successor)
        if failure is not None:
            # The core is intact, or the process would have exited. Only this client is disconnected.
            board.report_failed(session, failure)
            session.hang_up()
        board.plan_flush()
        board.turns.charge(session.holder, context.work - work)
        if context.congested is not None:
            board.slow_down(self, context.congested)
            context.congested = None
        pending = session.pending()
        if pending or self.kept_in:
            board.incoming.hold(self, session.holder, pending)
        if session.busy or self.waiting_in:
            board.waiting_reads.hold(self, session.holder, session.unworked())
        if (
            board.is_short()  # called first in any case: it frees memory
            and hub.broker.published != before
            and not holds_work(session)
            and board.must_wait(session.holder)
        ):
            board.pause_publisher(self)
        elif board.is_far_behind() and log.position + len(log.confirmations) != entries:
            board.behind.append(self)
            self.pause_reading()
        if session.preauth is not None and session.preauth.failing and not self.deaf:
            self.deaf = True  # never reset: the refusal is sent after a delay, then the connection closes
            self.pause_reading()
        user = session.user
        if user is not None:
            wait = user.charge(hub.broker.published - before, 0 if data is None else len(data), now)
            if wait > 0:
                self.pause_reading()
                board.loop.call_later(wait, self.resume_reading)
        return session

    def close_stalled(self, size: int) -> None:
        """Abort a client that stalls in a large request or does not read its output while others wait for memory."""
        session = self.session
        if session is not None:
            details: dict[str, object] = {
                "peer": session.peer,
                "protocol": session.protocol,
                "bytes": size,
                "limit": "memory_bytes_max",
            }
            self.reactor.hub.report("warning", "connection.stalled", details)
        self.transport.abort()

    def pause_reading(self) -> None:
        self.reading_pauses += 1
        if self.reading_pauses == 1:
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        self.reading_pauses -= 1
        if self.reading_pauses == 0:
            if not self.transport.is_closing():
                self.transport.resume_reading()
        elif self.reading_pauses == 1 and self.waits:
            self.reactor.turns.add(self)

    def eof_received(self) -> bool:
        """A half-closed connection counts as closed: pending requests are answered, no more deliveries are sent."""
        self.half_closed = True
        if self._has_more():
            self.ended = True
            return True
        return self._end_of_input()

    def _end_of_input(self) -> bool:
        """Called when all input is processed. Returns whether the connection stays open for now."""
        self.write_outbox()
        if self.session is not None and self.session.unconfirmed:
            self.session.hang_up()
            return True  # until the disk has confirmed, see `write_outbox`
        if self.session is not None and self._has_many_consumers():
            self._go(self.session)
            return True
        self.end_session()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        session = self.session
        if session is None:
            return
        has_more = self._has_more() and not session.closing and not self.deaf
        if has_more or self._has_many_consumers():
            self._go(session)
        else:
            self.end_session()

    def _go(self, session: Session) -> None:
        """Process what was read and end the consumers, in as many slices as that takes."""
        self.gone = True
        session.be_gone()
        self.wait_in_line()

    def _has_many_consumers(self) -> bool:
        return self.session is not None and len(self.session.subscriptions()) > LEFT_AT_ONCE

    def _has_more(self) -> bool:
        session = self.session
        return session is not None and (session.busy or bool(session.unfed))

    def end_session(self) -> None:
        session = self.session
        if session is not None:
            self.session = None
            board = self.reactor
            board.connections.pop(session, None)
            if self.place:
                board.places.leave(self.place)
                self.place = ""
            board.incoming.leave(self)
            board.waiting_reads.hold(self, session.holder, 0)
            board.outgoing.leave(self)
            board.holdings.restrained.pop(session, None)
            now = board.clock.now()
            try:
                session.end(now)
            except Exception as error:
                board.report_failed(session, error)
                Session.end(session, now)  # its consumers end even if its own code failed
            board.plan_flush()

    def end_broken(self) -> None:
        """End a session that failed. Deliveries it already had are sent: without acks they count as processed."""
        given = b"" if self.session is None else self.session.drain()
        self.end_session()
        if given:
            self.transport.write(given)
        self.transport.close()

    def pause_writing(self) -> None:
        self.writing_paused = True
        if self.session is not None:
            self.session.pause()
            if self.session.waits_for_room:
                self.unread = True
                self.pause_reading()

    def resume_writing(self) -> None:
        self.writing_paused = False
        self.reactor.outgoing.leave(self)  # also ends a squeeze
        if self.unread:
            self.unread = False
            self.resume_reading()
        if self.session is not None and self.session.preauth is None:
            self.refills = True
            self.reactor.turns.add(self)

    def _refill(self, session: Session) -> None:
        """Resume deliveries."""
        if not self.writing_paused and not self.is_squeezed and not self.gone and session.preauth is None:
            session.resume()
            self.reactor.plan_flush()

    def unsent(self) -> int:
        """Bytes not sent to the client yet, in the session and in the transport."""
        session = self.session
        kept = 0 if session is None else session.outbox_size + session.kept_out()
        return kept + self.transport.get_write_buffer_size()

    def squeeze(self) -> None:
        """Pause deliveries and reading until the client has read its output."""
        if not self.is_squeezed:
            self.is_squeezed = True
            self.pause_reading()
            if self.session is not None:
                self.session.pause()

    def unsqueeze(self) -> None:
        if self.is_squeezed:
            self.is_squeezed = False
            self.resume_reading()
            if not self.writing_paused and self.session is not None and self.session.preauth is None:
                self.session.resume()
                self.reactor.plan_flush()

    def write_outbox(self) -> None:
        session = self.session
        if session is None:
            return
        if session.successor is not None:
            session = self.succeed(session, session.successor)
        if self.gone:
            session.drain()
            return
        if session.outbox_size:
            size = session.outbox_size
            full = size >= session.outbox_max
            self.transport.write(session.drain())
            if self.transport.get_write_buffer_size():
                self.reactor.outgoing.hold(self, size)
            if self.writing_paused and not self.unread and self.transport.get_write_buffer_size() > UNREAD_MAX:
                self.unread = True
                self.pause_reading()
            takes_more = not self.writing_paused and not self.is_squeezed and not self.half_closed
            if full and takes_more and session.preauth is None:
                # The outbox was the limit, not the socket, so `resume_writing` will not be called.
                self.refills = True
                self.reactor.turns.add(self)
        if session.closing and not session.unconfirmed and not session.outbox_size:
            self.transport.close()

    def succeed(self, session: Session, successor: Session) -> Session:
        """Replace the session by another one, now that the protocol is known."""
        connections = self.reactor.connections
        del connections[session]
        connections[successor] = self
        self.session = successor
        return successor


def holds_work(session: Session) -> bool:
    """Whether the client has deliveries to settle. Reading its acks is what frees memory."""
    return any(subscription.in_flight for subscription in session.subscriptions())


def certificate_names(transport: asyncio.BaseTransport) -> list[str]:
    """The names in the client's certificate; empty without a verified one."""
    try:
        tls = transport.get_extra_info("ssl_object")
        certificate = None if tls is None else tls.getpeercert()
    except (ValueError, ssl.SSLError):
        return []  # a name in it cannot be decoded, though a CA signed it: it identifies nobody
    return names_of(certificate, tls.getpeercert(True)) if certificate else []


def limit_of(hub: Hub, user: User) -> str:
    """The limit that keeps a user from another connection; empty if none does."""
    if not user.has_room():
        return f"the quota of connections of user {user.name!r} is {user.quotas.connections}"
    if not hub.has_place(user):
        return f"user {user.name!r} has {user.connections} connections of connections_max, {hub.connections_max}"
    return ""


def peer_name(transport: asyncio.BaseTransport) -> str:
    address = transport.get_extra_info("peername")
    if isinstance(address, tuple):
        return f"{address[0]}:{address[1]}"
    return str(address or "local")
