"""One socket: feeds what it reads to a session and writes the session's output once per event loop iteration.

A turn is one such iteration, see `turns.py`.
"""

import asyncio
import socket
import ssl
from typing import cast

from penstock.auth.certificates import names_of
from penstock.auth.throttle import address_of
from penstock.auth.user import User
from penstock.server.reactor import Reactor, holds_work
from penstock.server.turns import BYTES_PER_WORK, FULL_READ, READ_WORK, SMALL_READ
from penstock.wire.session import LEFT_AT_ONCE, Dialect, Hub, Session

# A session gets no more deliveries while the transport has more than this many bytes buffered.
WRITE_HIGH = 1 << 20
WRITE_LOW = 1 << 18
# Deliveries stop at WRITE_HIGH, so above this it is replies that pile up. A client that does not read them is not read.
UNREAD_MAX = 4 << 20


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
        reactor = self.reactor
        peer = peer_name(transport)
        access = reactor.hub.access
        limit = "draining" if reactor.draining else reactor.make_room(peer)
        if limit:
            reactor.report_crowded("connection.refused", peer, self.dialect.name, limit)
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
                reactor.make_room_for_unauthenticated(access, address_of(peer))
            limit = "" if identity is None else limit_of(reactor.hub, identity.user)
            if limit:
                reactor.report_crowded("connection.refused", peer, self.dialect.name, limit)
                transport.close()
                return
        now = reactor.clock.now()
        self.session = self.dialect.open(peer, now)
        if access is not None:
            self.session.enter(identity, now)
        reactor.connections[self.session] = self
        if access is None:
            self.place = f"address {address_of(peer)}"
            reactor.places.enter(self.place)
        reactor.plan_flush()

    def data_received(self, data: bytes) -> None:
        session = self.session
        if session is None:
            return
        reactor = self.reactor
        size = len(data)
        turns = reactor.turns
        reactor.hub.broker.context.work += READ_WORK + size // BYTES_PER_WORK
        self.says_much = size > SMALL_READ
        self.was_full = size >= FULL_READ
        if self.says_much:
            has_to_wait = turns.is_over()
        else:
            has_to_wait = turns.hear(session.holder)
        if session.busy or session.unfed or has_to_wait:
            if not self.says_much and not session.busy:
                turns.add_soon(self)
            session.unfed.append(data)
            self.wait_in_line()
            reactor.waiting_reads.hold(self, session.holder, session.unworked())
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
        reactor = self.reactor
        hub = reactor.hub
        context = hub.broker.context
        before, work = hub.broker.published, context.work
        log = hub.broker.log
        entries = log.position + len(log.confirmations)
        now = reactor.clock.now()
        failure: Exception | None = None
        is_refused = hub.broker.context.bytes >= reactor.refuse_at and reactor.is_short() and holds_work(session)
        if is_refused:
            hub.broker.hold_memory(True)
        try:
            reactor.feeding = self
            hub.broker.context.publisher = session.holder
            if data is None:
                session.go_on(now)
            else:
                reactor.fed = data
                session.feed(data, now)
        except Exception as error:
            failure = error
        if is_refused:
            hub.broker.hold_memory(False)
        reactor.feeding = None
        if session.successor is not None:
            session = self.succeed(session, session.successor)
        if failure is not None:
            # The core is intact, or the process would have exited. Only this client is disconnected.
            reactor.report_failed(session, failure)
            session.hang_up()
        reactor.plan_flush()
        reactor.turns.charge(session.holder, context.work - work)
        if context.congested is not None:
            reactor.slow_down(self, context.congested)
            context.congested = None
        pending = session.pending()
        if pending or self.kept_in:
            reactor.incoming.hold(self, session.holder, pending)
        if session.busy or self.waiting_in:
            reactor.waiting_reads.hold(self, session.holder, session.unworked())
        if (
            reactor.is_short()  # called first in any case: it frees memory
            and hub.broker.published != before
            and not holds_work(session)
            and reactor.must_wait(session.holder)
        ):
            reactor.pause_publisher(self)
        elif reactor.is_far_behind() and log.position + len(log.confirmations) != entries:
            reactor.behind.append(self)
            self.pause_reading()
        if session.preauth is not None and session.preauth.failing and not self.deaf:
            self.deaf = True  # never reset: the refusal is sent after a delay, then the connection closes
            self.pause_reading()
        user = session.user
        if user is not None:
            wait = user.charge(hub.broker.published - before, 0 if data is None else len(data), now)
            if wait > 0:
                self.pause_reading()
                reactor.loop.call_later(wait, self.resume_reading)
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
            reactor = self.reactor
            reactor.connections.pop(session, None)
            if self.place:
                reactor.places.leave(self.place)
                self.place = ""
            reactor.incoming.leave(self)
            reactor.waiting_reads.hold(self, session.holder, 0)
            reactor.outgoing.leave(self)
            reactor.holdings.restrained.pop(session, None)
            now = reactor.clock.now()
            try:
                session.end(now)
            except Exception as error:
                reactor.report_failed(session, error)
                Session.end(session, now)  # its consumers end even if its own code failed
            reactor.plan_flush()

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
        size = session.outbox_size
        if size:
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
        return f"user {user.name!r} has reached its quota: connections is {user.quotas.connections}"
    if not hub.has_place(user):
        return f"user {user.name!r} has {user.connections} connections: connections_max is {hub.connections_max}"
    return ""


def peer_name(transport: asyncio.BaseTransport) -> str:
    address = transport.get_extra_info("peername")
    if isinstance(address, tuple):
        return f"{address[0]}:{address[1]}"
    return str(address or "local")
