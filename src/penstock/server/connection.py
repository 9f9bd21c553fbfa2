"""One socket: what is read is fed to a session, what the session has to say is written once per turn of the loop."""

import asyncio
import socket
from typing import cast

from penstock.clock import Clock
from penstock.wire.session import Dialect, Hub, Session

# Above this many bytes the kernel and the loop have not taken yet, a session gets no more deliveries.
WRITE_HIGH = 1 << 20
WRITE_LOW = 1 << 18


class Switchboard:
    """Writes the outboxes of sessions that have something to say, and pauses publishers while memory is short."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hub: Hub, clock: Clock, connections_max: int) -> None:
        self.loop = loop
        self.hub = hub
        self.clock = clock
        self.connections_max = connections_max
        self.connections: dict[Session, Connection] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.timer_due = -1
        self.paused: list[Connection] = []
        self.flush_planned = False
        self.draining = False

    def plan_flush(self) -> None:
        if not self.flush_planned:
            self.flush_planned = True
            self.loop.call_soon(self.flush)

    def flush(self) -> None:
        """One write for each session that has something to say."""
        self.flush_planned = False
        hub = self.hub
        if hub.awake:
            hub.run_awake(self.clock.now())
        dirty = hub.dirty
        hub.dirty = []
        for session in dirty:
            connection = self.connections.get(session)
            if connection is not None:
                connection.write_outbox()
        if self.paused and hub.broker.usage.bytes < hub.limits.memory_bytes_max:
            self._resume_publishers()
        self._arm_timer()

    def pause_publisher(self, connection: "Connection") -> None:
        """Memory is short: read no more from a client that publishes until queues have emptied somewhat."""
        if not connection.reading_paused:
            connection.reading_paused = True
            connection.transport.pause_reading()
            if not self.paused:
                self.hub.report("warning", "publishers.paused", {"limit": "memory_bytes_max", "bytes": self.hub.broker.usage.bytes})
            self.paused.append(connection)

    def _resume_publishers(self) -> None:
        self.hub.report("info", "publishers.resumed", {"count": len(self.paused)})
        paused = self.paused
        self.paused = []
        for connection in paused:
            connection.reading_paused = False
            if not connection.transport.is_closing():
                connection.transport.resume_reading()

    def _arm_timer(self) -> None:
        due = self.hub.broker.deadlines.next_due()
        if due == self.timer_due:
            return
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        self.timer_due = due
        if due >= 0:
            delay = max(0, due - self.clock.now()) / 1_000_000
            self.timer = self.loop.call_later(delay, self._tick)

    def _tick(self) -> None:
        self.timer = None
        self.timer_due = -1
        self.hub.broker.tick(self.clock.now())
        self.flush()


class Connection(asyncio.Protocol):
    """The asyncio side of one client."""

    transport: asyncio.Transport

    def __init__(self, switchboard: Switchboard, dialect: Dialect) -> None:
        self.switchboard = switchboard
        self.dialect = dialect
        self.session: Session | None = None
        self.reading_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        board = self.switchboard
        peer = peer_name(transport)
        if len(board.connections) >= board.connections_max or board.draining:
            limit = "draining" if board.draining else f"connections_max is {board.connections_max}"
            board.hub.report("warning", "connection.refused", {"peer": peer, "protocol": self.dialect.name, "limit": limit})
            farewell = self.dialect.full()
            if farewell:
                transport.write(farewell)
            transport.close()
            return
        raw = transport.get_extra_info("socket")
        if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=WRITE_HIGH, low=WRITE_LOW)
        self.session = self.dialect.open(peer, board.clock.now())
        board.connections[self.session] = self
        board.plan_flush()

    def data_received(self, data: bytes) -> None:
        session = self.session
        if session is None:
            return
        board = self.switchboard
        hub = board.hub
        before = hub.broker.published
        try:
            session.feed(data, board.clock.now())
        except Exception as error:
            # A mistake of ours must not take the broker down, nor leave a client waiting for an answer.
            hub.report("error", "session.failed", {"peer": session.peer, "protocol": session.protocol, "error": repr(error)})
            session.hang_up()
        board.plan_flush()
        if hub.broker.usage.bytes >= hub.limits.memory_bytes_max and hub.broker.published != before:
            board.pause_publisher(self)

    def eof_received(self) -> bool:
        return False  # a half-closed connection counts as closed, in every protocol

    def connection_lost(self, exc: Exception | None) -> None:
        session = self.session
        if session is not None:
            self.session = None
            board = self.switchboard
            board.connections.pop(session, None)
            session.end(board.clock.now())
            board.plan_flush()

    def pause_writing(self) -> None:
        if self.session is not None:
            self.session.pause()

    def resume_writing(self) -> None:
        if self.session is not None:
            self.session.resume()
            self.switchboard.plan_flush()

    def write_outbox(self) -> None:
        session = self.session
        if session is None:
            return
        if session.outbox_size:
            full = session.outbox_size >= session.outbox_max
            self.transport.write(session.drain())
            if full and self.transport.get_write_buffer_size() < WRITE_HIGH:
                # The outbox was the limit, not the socket: nobody else will say that there is room again.
                session.resume()
                if session.outbox_size:
                    self.switchboard.plan_flush()
        if session.closing:
            self.transport.close()


def peer_name(transport: asyncio.BaseTransport) -> str:
    address = transport.get_extra_info("peername")
    if isinstance(address, tuple):
        return f"{address[0]}:{address[1]}"
    return str(address or "local")
