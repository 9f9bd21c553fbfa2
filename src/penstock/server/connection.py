"""One socket: what is read is fed to a session, what the session has to say is written once per turn of the loop."""

import asyncio
import socket
import ssl
import traceback
from collections.abc import Callable
from typing import cast

from penstock.access.certificates import names_of
from penstock.access.directory import Directory
from penstock.access.lobby import address_of
from penstock.access.tokens import redacted
from penstock.access.user import User
from penstock.clock import Clock
from penstock.core.places import GREED_OF_ONE, Places
from penstock.core.queue import Queue
from penstock.server.account import Account
from penstock.server.filling import Filling
from penstock.server.holdings import Holdings
from penstock.server.incoming import Incoming
from penstock.server.memory import Collector, Shares
from penstock.server.outgoing import Outgoing
from penstock.server.storage import Storage
from penstock.server.turns import BYTES_PER_WORK, FULL_READ, READ_WORK, SMALL_READ, Turns
from penstock.server.waiting_reads import WaitingReads
from penstock.wire.gate import Gate
from penstock.wire.refusals import TEXT_SIZE_MAX
from penstock.wire.session import LEFT_AT_ONCE, Dialect, Hub, Session

# Above this many bytes the kernel and the loop have not taken yet, a session gets no more deliveries.
WRITE_HIGH = 1 << 20
WRITE_LOW = 1 << 18

# Deliveries stop at WRITE_HIGH; above this it is answers that pile up, and whoever does not read them may not ask for
# more.
UNREAD_MAX = 4 << 20

# How much of a traceback is logged, from its end.
TRACE_SIZE_MAX = 8000

# A client that has messages to settle may publish until memory_bytes_max is exceeded by this part: one in so many.
REFUSE_PART = 8

# How long a publisher waits at most, at one time, for the consumers of a queue it fills.
SLOWDOWN_SECONDS = 0.05

# How many connections that were refused, or had to go for others, are told of in a second.
CROWDED_TOLD_MAX = 10

# How long a timer of the loop runs at most before the clock is looked at again.
TIMER_SECONDS_MAX = 30.0


class Switchboard:
    """Writes the outboxes of sessions that have something to say, and pauses publishers while memory is short."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hub: Hub, clock: Clock, connections_max: int) -> None:
        self.loop = loop
        self.hub = hub
        self.clock = clock
        self.connections_max = connections_max
        self.connections: dict[Session, Connection] = {}
        hub.connections_max = connections_max
        self.places = Places(connections_max, GREED_OF_ONE)  # by address, where there are no users
        self._crowded_second = -1
        self._crowded_told = 0
        self.timer: asyncio.TimerHandle | None = None
        self.timer_due = -1
        self.paused: list[Connection] = []
        self.behind: list[Connection] = []  # wait for the disk alone, whatever they do, and however short memory is
        self.slowed: dict[Queue, Slowdown] = {}
        self.turns = Turns(loop, hub)
        self.flush_planned = False
        self.draining = False
        self.storage: Storage | None = None
        self.feeding: Connection | None = None  # whose bytes are being worked on: for the report of a fault
        self.fed = b""
        self.describe_request: Callable[[], dict[str, object]] | None = None  # the same for one over HTTP
        shares = Shares(hub.limits.memory_bytes_max)
        self.incoming = Incoming(loop, shares.incoming, self.is_short)
        self.waiting_reads = WaitingReads(shares.incoming // 2, self.connections, lambda: bool(self.paused))
        self.outgoing = Outgoing(loop, hub.broker.usage, shares.outgoing)
        self.holdings = Holdings(loop, hub, shares.held)
        self.filling = Filling(loop, hub.broker.usage)
        self.account = Account(self)
        self.collector = Collector()
        # From here on whoever has messages to settle, and so cannot be kept from being read, may not publish.
        self.refuse_at = hub.limits.memory_bytes_max + hub.limits.memory_bytes_max // REFUSE_PART
        self.free_at = hub.broker.usage.keep_max  # so many bytes of messages, and some of them are let go of
        self.freed_up_to = 0  # the log was readable up to here when memory was last freed
        self.may_free = True  # it was not in this turn

    def plan_flush(self) -> None:
        if not self.flush_planned:
            self.flush_planned = True
            self.loop.call_soon(self.flush)

    def flush(self) -> None:
        """End the turn: check it, hand it to the log, and make one write for each session that has something to say.

        An exception here leaves a turn that has half ended, which is a fault like one inside a verb.
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
        if hub.broker.usage.alarms:
            self._tell_alarms()
        hub.broker.end_turn()
        if self.storage is not None:
            self.storage.end_turn(self.clock.now())
        self.turns.begin()
        self.may_free = True
        self.collector.end_turn(hub.broker.usage.work)
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
                    # It was given something meanwhile: to hear it is what makes room.
                    connection.is_held_back = False
                    self.paused.remove(connection)
                    connection.resume_reading()
        if self.slowed:
            for slowdown in [s for queue, s in self.slowed.items() if queue.ready_bytes() < queue.congested_bytes // 2]:
                slowdown.end()
        if hub.broker.usage.unsent or self.outgoing.is_watching():
            self.outgoing.go_on()
        if hub.broker.usage.bytes > self.holdings.bytes_max:
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

    # -- places -----------------------------------------------------------------------------------------------------

    def make_room(self, peer: str) -> str:
        """Let one who has not said who it is go where every place is taken; which limit keeps the next one out."""
        access = self.hub.access
        is_full = len(self.connections) >= self.connections_max
        if access is None:
            holder = f"address {address_of(peer)}"
            if not is_full and self.places.has_room(holder):
                return ""
            return f"connections_max is {self.connections_max}: {self.places.why_full(holder, 'connections')}"
        if is_full and not self._let_go(access.lobby.first(), "connections_max"):
            return f"connections_max is {self.connections_max}"
        return ""

    def make_room_in_lobby(self, access: Directory, address: str) -> None:
        """Another one of an address is about to come: the first of those it has goes where they are too many."""
        while access.lobby.is_full(address):
            self._let_go(access.lobby.first(address), "unauthenticated_per_address_max")

    def _let_go(self, guest: object, limit: str) -> bool:
        """End the connection of somebody who has not said who it is, for another one. False when there is nobody."""
        if not isinstance(guest, Gate):
            return False
        session = guest.session
        connection = self.connections.get(session)
        self.report_crowded("connection.crowded_out", session.peer, session.protocol, limit)
        if connection is None:
            guest.leave()
            return True
        refusal = guest.refusal
        connection.end_session()
        if refusal:
            connection.transport.write(refusal)
        connection.transport.close()
        return True

    def report_crowded(self, event: str, peer: str, protocol: str, limit: str) -> None:
        """Some of them each second: whoever comes may come often."""
        second = int(self.loop.time())
        if second != self._crowded_second:
            self._crowded_second, self._crowded_told = second, 0
        self._crowded_told += 1
        if self._crowded_told <= CROWDED_TOLD_MAX:
            self.hub.report("warning", event, {"peer": peer, "protocol": protocol, "limit": limit})

    def fail(self, connection: "Connection", session: Session, error: Exception) -> None:
        """An error of a session ends the one connection it happened on: the others of this turn go on."""
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
        """End the sessions that failed at what the core gave them, and what that in turn wakes or breaks."""
        hub = self.hub
        while hub.broken:
            session, error = hub.broken.pop(0)
            connection = self.connections.get(session)
            if connection is None:
                continue  # it has ended already
            self.report_failed(session, error)
            try:
                connection.end_broken()
            except Exception as second:
                self.report_failed(session, second)
                connection.transport.abort()
            if hub.awake:
                self._run_awake()

    def _tell_alarms(self) -> None:
        usage = self.hub.broker.usage
        alarms = usage.alarms
        usage.alarms = []
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
        """Let sessions go on, and end those whose peer was seen to be gone in this turn: they can be given nothing."""
        hub = self.hub
        while hub.awake:
            for session in hub.awake:  # grows when what one gives back goes to another
                connection = self.connections.get(session)
                if connection is not None and connection.transport.is_closing() and not connection.gone:
                    try:
                        connection.end_session()
                    except Exception as error:
                        self.fail(connection, session, error)
            hub.run_awake_once(self.clock.now())

    def slow_down(self, connection: "Connection", queue: Queue) -> None:
        """Read no more from a publisher for a moment, so that the consumers of the queue it fills can keep up.

        The moment is short, and a queue whose consumers took nothing during one is not waited for again until they do:
        a consumer that is slow or stuck costs a publisher next to nothing.
        """
        if queue.full or queue.delivered == queue.unmoved_at:
            return
        slowdown = self.slowed.get(queue)
        if slowdown is None:
            slowdown = self.slowed[queue] = Slowdown(self, queue)
        slowdown.connections.append(connection)
        connection.pause_reading()

    def is_short(self) -> bool:
        """Whether memory is short, or the disk is behind."""
        if self.storage is not None and self.storage.is_behind():
            return True
        broker = self.hub.broker
        usage = broker.usage
        if usage.bytes < self.free_at:
            if usage.bytes < usage.keep_max:
                self.free_at = usage.keep_max
            return False
        limit = usage.bytes_max
        if self.may_free and (usage.is_freeing or broker.log.readable > self.freed_up_to):
            self.may_free = False  # again in the next turn
            if not usage.is_freeing:
                # What has come into the log since the last time can be let go of now.
                self.freed_up_to = broker.log.readable
            broker.free_memory()
            if not usage.is_freeing:
                # What it cannot give back is not looked through again before there is more of it.
                self.free_at = min(limit, max(usage.keep_max, usage.bytes + limit // 16))
            self.plan_flush()
        return usage.bytes >= limit

    def must_wait(self, holder: str) -> bool:
        """Whether a user, or an address, may not publish at present: memory is short, and it has taken its part."""
        if not self.is_short():
            return False
        is_behind = self.storage is not None and self.storage.is_behind()
        return is_behind or self.hub.broker.usage.bytes >= self.refuse_at or self.filling.is_over(holder)

    def let_queues_hold(self, bytes_max: int) -> None:
        """Others take the rest of the memory: from so many bytes on it is short."""
        usage = self.hub.broker.usage
        usage.bytes_max = bytes_max
        usage.keep_max = bytes_max // 4
        self.free_at = min(self.free_at, bytes_max)
        self.refuse_at = bytes_max + bytes_max // REFUSE_PART
        self.holdings.bytes_max = bytes_max // 2
        usage.relieve()
        if self.paused or self.incoming.waiting or usage.held_up:
            self.plan_flush()

    def is_far_behind(self) -> bool:
        """Whether the disk is so far behind that whoever has it do anything has to wait."""
        return self.storage is not None and self.storage.is_far_behind()

    def pause_publisher(self, connection: "Connection") -> None:
        """Read no more from a client that publishes until queues have emptied somewhat, or the disk has caught up."""
        if not self.paused:
            held = self.hub.broker.usage.bytes
            limit = "memory_bytes_max" if held >= self.hub.broker.usage.bytes_max else "the disk is behind"
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
            # Looked at now and then: the loop's time stands still while the machine sleeps, and clocks differ in pace.
            delay = min(max(0, due - self.clock.now()) / 1_000_000, TIMER_SECONDS_MAX)
            self.timer = self.loop.call_later(delay, self._tick)

    def _tick(self) -> None:
        self.timer = None
        self.timer_due = -1
        self.hub.broker.tick(self.clock.now())
        self.flush()

    def describe_work(self) -> dict[str, object]:
        """What is being worked on right now: for the report of a fault."""
        connection = self.feeding
        session = None if connection is None else connection.session
        if session is None:
            return {} if self.describe_request is None else self.describe_request()
        request = redacted(self.fed[:TEXT_SIZE_MAX]).decode("utf-8", "backslashreplace")
        user = None if session.user is None else session.user.name
        return {"peer": session.peer, "protocol": session.protocol, "user": user, "request": request}


class Slowdown:
    """Publishers that wait for one congested queue."""

    def __init__(self, board: Switchboard, queue: Queue) -> None:
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

    def __init__(self, switchboard: Switchboard, dialect: Dialect) -> None:
        self.switchboard = switchboard
        self.dialect = dialect
        self.session: Session | None = None
        self.reading_pauses = 0  # for how many reasons nothing is read right now
        self.writing_paused = False
        self.kept_in = 0  # bytes of requests that are not whole; `Incoming` counts
        self.waiting_in = 0  # bytes that were read and wait for their slice; `WaitingReads` counts ...
        self.waiting_for = ""  # ... for this user or address
        self.is_stopped = False  # it is not read since much of its user's waits
        self.says_much = True  # by its last read, or nobody knows yet
        self.was_full = False  # its last read: there may be more behind it
        self.is_held_back = False  # it publishes, and memory is short
        self.is_squeezed = False  # it has much to read, as all have together
        self.unread = False  # the peer asks and does not read the answers
        self.half_closed = False  # the peer says no more
        self.deaf = False  # the peer failed to say who it is
        self.in_line = False  # for its next slice, see `turns.py`
        self.waits = False  # nothing is read until what was read is done
        self.refills = False  # there is room for more deliveries
        self.ended = False  # the peer has said all it has to say; that is done first
        self.gone = False  # the same, and nobody hears the answers
        self.place = ""  # whose place among the connections it takes, where there are no users

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        board = self.switchboard
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
                board.make_room_in_lobby(access, address_of(peer))
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
        board = self.switchboard
        size = len(data)
        turns = board.turns
        board.hub.broker.usage.work += READ_WORK + size // BYTES_PER_WORK
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
        """Who waits where it does: its user, or its address."""
        return "" if self.session is None else self.session.holder

    def wait_in_line(self) -> None:
        """Read no more until what was read is done, a slice in each turn."""
        if not self.waits:
            self.waits = True
            self.pause_reading()
        self.switchboard.turns.add(self)

    def go_on(self) -> None:
        """The next slice: more deliveries, and more of what was read."""
        session = self.session
        if session is None:
            return
        if self.refills:
            self.refills = False
            self._refill(session)
        if not self.waits or (self.reading_pauses > 1 and not self.gone):
            return  # when it is not to be read for other reasons either, what was read waits as well
        if session.busy:
            session = self._work(session, None)
        elif session.unfed:
            session = self._work(session, session.unfed.pop(0))
        if session.busy or session.unfed:
            self.switchboard.turns.add(self)
            return
        if self.gone and not session.leave_some(self.switchboard.clock.now()):
            self.switchboard.turns.add(self)
            self.switchboard.plan_flush()
            return
        if self.was_full and not self.gone:
            self.was_full = False
            if self.switchboard.turns.rest(self):
                return
        self.waits = False
        self.resume_reading()
        if self.gone:
            self.end_session()
            self.transport.close()
        elif self.ended and not self._end_of_input():
            self.transport.close()

    def _work(self, session: Session, data: bytes | None) -> Session:
        """Feed the session, or let it go on, and see what follows from what it did."""
        board = self.switchboard
        hub = board.hub
        usage = hub.broker.usage
        before, work = hub.broker.published, usage.work
        log = hub.broker.log
        entries = log.position + len(hub.receipts)
        now = board.clock.now()
        failure: Exception | None = None
        is_refused = hub.broker.usage.bytes >= board.refuse_at and board.is_short() and holds_work(session)
        if is_refused:
            hub.broker.hold_memory(True)
        try:
            board.feeding = self
            hub.broker.usage.publisher = session.holder
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
            # The core is untouched by it, or the process would have ended: only this client pays for it.
            board.report_failed(session, failure)
            session.hang_up()
        board.plan_flush()
        board.turns.charge(session.holder, usage.work - work)
        if usage.congested is not None:
            board.slow_down(self, usage.congested)
            usage.congested = None
        pending = session.pending()
        if pending or self.kept_in:
            board.incoming.hold(self, session.holder, pending)
        if session.busy or self.waiting_in:
            board.waiting_reads.hold(self, session.holder, session.unworked())
        if (
            board.is_short()  # asked first, whatever was done: it lets go of what the log can give back
            and hub.broker.published != before
            and not holds_work(session)
            and board.must_wait(session.holder)
        ):
            board.pause_publisher(self)
        elif board.is_far_behind() and log.position + len(hub.receipts) != entries:
            board.behind.append(self)
            self.pause_reading()
        if session.gate is not None and session.gate.failing and not self.deaf:
            self.deaf = True  # for good, whoever it was before: it is told so in a while, and the door closes
            self.pause_reading()
        user = session.user
        if user is not None:
            wait = user.charge(hub.broker.published - before, 0 if data is None else len(data), now)
            if wait > 0:
                self.pause_reading()
                board.loop.call_later(wait, self.resume_reading)
        return session

    def close_stalled(self, size: int) -> None:
        """The client does not go on with a large request, or reads no large message, and others wait for that."""
        session = self.session
        if session is not None:
            details: dict[str, object] = {
                "peer": session.peer,
                "protocol": session.protocol,
                "bytes": size,
                "limit": "memory_bytes_max",
            }
            self.switchboard.hub.report("warning", "connection.stalled", details)
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
            self.switchboard.turns.add(self)

    def eof_received(self) -> bool:
        """A half-closed connection counts as closed: what was asked is answered, nothing more is given."""
        self.half_closed = True
        if self._has_more():
            self.ended = True
            return True
        return self._end_of_input()

    def _end_of_input(self) -> bool:
        """All that the peer has said is done; whether the connection stays nevertheless."""
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
        """What it has said is done, and its consumers end, in as many slices as that takes."""
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
            board = self.switchboard
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
                Session.end(session, now)  # its consumers end whatever its own code did wrong
            board.plan_flush()

    def end_broken(self) -> None:
        """End a session that failed. What it was given before that goes out: where nobody acks, it counts as done."""
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
        self.switchboard.outgoing.leave(self)  # ends a squeeze as well
        if self.unread:
            self.unread = False
            self.resume_reading()
        if self.session is not None and self.session.gate is None:
            self.refills = True
            self.switchboard.turns.add(self)

    def _refill(self, session: Session) -> None:
        """Let consumers have more."""
        if not self.writing_paused and not self.is_squeezed and not self.gone and session.gate is None:
            session.resume()
            self.switchboard.plan_flush()

    def unsent(self) -> int:
        """What the client has still to be sent, wherever it waits."""
        session = self.session
        kept = 0 if session is None else session.outbox_size + session.kept_out()
        return kept + self.transport.get_write_buffer_size()

    def squeeze(self) -> None:
        """Give the client nothing more, and read no more of it, before it has read what it was given."""
        if not self.is_squeezed:
            self.is_squeezed = True
            self.pause_reading()
            if self.session is not None:
                self.session.pause()

    def unsqueeze(self) -> None:
        if self.is_squeezed:
            self.is_squeezed = False
            self.resume_reading()
            if not self.writing_paused and self.session is not None and self.session.gate is None:
                self.session.resume()
                self.switchboard.plan_flush()

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
                self.switchboard.outgoing.hold(self, size)
            if self.writing_paused and not self.unread and self.transport.get_write_buffer_size() > UNREAD_MAX:
                self.unread = True
                self.pause_reading()
            takes_more = not self.writing_paused and not self.is_squeezed and not self.half_closed
            if full and takes_more and session.gate is None:
                # The outbox was the limit, not the socket: nobody else will say that there is room again.
                self.refills = True
                self.switchboard.turns.add(self)
        if session.closing and not session.unconfirmed and not session.outbox_size:
            self.transport.close()

    def succeed(self, session: Session, successor: Session) -> Session:
        """Another session takes over this connection: its protocol has become known."""
        connections = self.switchboard.connections
        del connections[session]
        connections[successor] = self
        self.session = successor
        return successor


def holds_work(session: Session) -> bool:
    """Whether the client has deliveries to settle: to hear it is what makes room."""
    return any(subscription.in_flight for subscription in session.subscriptions())


def certificate_names(transport: asyncio.BaseTransport) -> list[str]:
    """What the client's certificate calls it; nothing where it has shown none that was verified."""
    try:
        tls = transport.get_extra_info("ssl_object")
        certificate = None if tls is None else tls.getpeercert()
    except (ValueError, ssl.SSLError):
        return []  # a name in it is no text, which a CA may have signed all the same: it calls nobody by any name
    return names_of(certificate, tls.getpeercert(True)) if certificate else []


def limit_of(hub: Hub, user: User) -> str:
    """Which limit keeps a connection of a user out; empty when none does."""
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
