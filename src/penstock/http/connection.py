"""One HTTP client: uvicorn's connection, with limits on what a client may hold without sending a request.

An unauthenticated client counts towards a limit per address and is closed after `auth_seconds`. These clients are
counted separately from those of the message ports.

Input is parsed in pieces, and other clients get their turn in between: a read may hold a thousand requests, or a body
in chunks of one byte. While a request waits for the one before it, nothing more is parsed.

The socket can be lent to another process, which writes a long response to it directly.
"""

import asyncio
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from penstock.auth.pending import PendingConnections
from penstock.auth.throttle import address_of
from penstock.auth.user import User
from penstock.http.places import (
    ANSWERING,
    GRACE_SECONDS,
    IDLE,
    RECEIVING,
    UNREAD,
    UNREAD_SECONDS,
    UNREAD_SECONDS_CROWDED,
    HttpPlaces,
)
from penstock.server.connection import certificate_names, peer_name
from penstock.wire.session import Hub

HEAD_SIZE_MAX = 64 << 10  # request line and headers
HEAD_SECONDS = 20.0  # for a request head to arrive
HEAD_SECONDS_CROWDED = 5.0  # the same while all connection slots are taken
ANSWER_SECONDS = 20.0  # more, to answer an unauthenticated client; failure responses are delayed
SECOND = 1_000_000
LENGTH_DIGITS = 16  # a Content-Length of this many digits or more is ignored
FULL_READ = 128 << 10  # after a read of this size there may be more, read in the same event loop iteration: pause ...
READ_PAUSE_SECONDS = 0.001  # ... for this long if the request is answered already: copying costs CPU time
PIECE_BYTES = 4 << 10  # parsed per event loop iteration, except for a body with a Content-Length


class Flow(FlowControl):
    """Parses the input already read before reading more."""

    def __init__(self, transport: asyncio.Transport, go_on: Callable[[], None]) -> None:
        super().__init__(transport)
        self._go_on = go_on

    def resume_reading(self) -> None:
        if self.read_paused:
            self.read_paused = False
            self._go_on()


class HttpConnection(HttpToolsProtocol):
    """One client. Closed if a request head grows too large or does not arrive in time."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        hub: Hub | None = None,
        unauthenticated: "PendingConnections[HttpConnection] | None" = None,
        places: HttpPlaces | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._places = places
        self.holder = ""  # the user or address its slot counts for
        self.since = 0.0  # when its current activity began
        self._received = 0  # body bytes of the current request
        self._unsent = 0  # response bytes waiting for the socket, at the last check
        self._unsent_since = 0.0
        self._hub = hub
        self._unauthenticated = unauthenticated
        self.is_unauthenticated = False  # it has to authenticate and has not yet
        self._auth_timer: asyncio.TimerHandle | None = None
        self._address = ""
        self._head_size = 0
        self._in_head = True
        self._head_timer: asyncio.TimerHandle | None = None
        self._lent = False
        self._unparsed = b""  # input read but not parsed yet
        self._parsing: asyncio.Handle | None = None  # the scheduled continuation
        self._holds_reading = False  # reading is paused meanwhile
        self._body_left = 0  # of the current request, if it has a Content-Length
        self._answering: RequestResponseCycle | None = None  # the request started last; pipelined ones wait for it
        self.certificate_names: list[str] = []  # from the client certificate
        self.peer = ""  # its socket address, whatever the headers claim

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = Flow(transport, self._go_on)
        self.certificate_names = certificate_names(transport)
        self.peer = peer_name(transport)
        self.holder = f"address {address_of(self.peer)}"
        self.since = self.loop.time()
        seconds = HEAD_SECONDS
        if self._places is not None:
            if not self._places.enter(self):
                transport.abort()
                return
            if self._places.is_extra(self):
                seconds = HEAD_SECONDS_CROWDED
        self._head_timer = self.loop.call_later(seconds, transport.abort)
        self._enter_unauthenticated()

    def is_gone(self) -> bool:
        """Whether the client disconnected before its response was sent: sending to it raises nothing."""
        cycle: Any = self.cycle
        return bool(cycle.disconnected)

    def _enter_unauthenticated(self) -> None:
        """Count it as an unauthenticated client of its address; the oldest is closed if there are too many."""
        access = None if self._hub is None else self._hub.access
        if access is None or self._unauthenticated is None:
            return
        self._address = address_of(self.peer)
        self.is_unauthenticated = True
        self._auth_timer = self.loop.call_later(access.auth_time / SECOND, self._close_unauthenticated)
        self._unauthenticated.add(self._address, self)
        if self._unauthenticated.count(self._address) <= access.throttle.per_address_max:
            return
        oldest = self._unauthenticated.first_of(self._address)
        if oldest is not None:
            oldest.leave_unauthenticated()
            oldest.transport.abort()

    def _close_unauthenticated(self) -> None:
        """Its time is up. A complete request may still be answered: the response closes the connection."""
        cycle: Any = self.cycle  # None before the first request
        if cycle is not None and not cycle.more_body and not cycle.response_complete:
            self._auth_timer = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)
        else:
            self.transport.abort()

    def leave_unauthenticated(self) -> None:
        """Stop counting it as unauthenticated."""
        if self.is_unauthenticated and self._unauthenticated is not None:
            self.is_unauthenticated = False
            self._unauthenticated.remove(self._address, self)
        if self._auth_timer is not None:
            self._auth_timer.cancel()
            self._auth_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.leave_unauthenticated()
        if self._places is not None:
            self._places.leave(self)
        self._unparsed = b""
        if self._parsing is not None:
            self._parsing.cancel()
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True  # `cycle` is the last pipelined request, not this one
            self._answering.message_event.set()
        super().connection_lost(exc)
        gone: Any = self
        gone.scope = gone.cycle = gone.flow = self._answering = None  # break reference cycles

    # -- input --------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._unparsed = self._unparsed + data if self._unparsed else data
        if self._parsing is None:
            self._parse()
        if len(data) >= FULL_READ and not self._holds_reading and not self.transport.is_closing():
            self._holds_reading = True
            self.transport.pause_reading()
            is_answered = self._answering is not None and self._answering.response_complete
            self.loop.call_later(READ_PAUSE_SECONDS if is_answered else 0, self._read_on)

    def _read_on(self) -> None:
        """Runs in a later event loop iteration, after a full read."""
        if self._holds_reading and not self.transport.is_closing() and not self.flow.read_paused:
            self._go_on()

    def _parse(self) -> None:
        """Parse the next piece, and the body that follows it. While unparsed input is left, nothing is read."""
        self._parsing = None
        while True:
            data = self._unparsed
            size = max(PIECE_BYTES, self._body_left)
            self._unparsed = data[size:]
            if self._unparsed and not self._holds_reading:
                self._holds_reading = True
                self.transport.pause_reading()
            self._parse_piece(data[:size])
            if self._body_left <= PIECE_BYTES or not self._unparsed or self.flow.read_paused:
                break
        if self.transport.is_closing():
            self._unparsed = b""
        elif self._holds_reading and not self.flow.read_paused:
            self._go_on()

    def _go_on(self) -> None:
        """Continue with unparsed input, or else resume reading."""
        if self._unparsed:
            if self._parsing is None:
                self._parsing = self.loop.call_soon(self._parse)
        elif not self._lent:
            self._holds_reading = False
            self.transport.resume_reading()

    def _parse_piece(self, data: bytes) -> None:
        if self._in_head:
            self._head_size += len(data)
        super().data_received(data)
        if self._in_head and self._head_size > HEAD_SIZE_MAX and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_begin(self) -> None:
        self._in_head = True
        self.since = self.loop.time()
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self.scope["state"]["connection"] = self
        self._in_head = False
        self._head_size = 0
        self.since = self.loop.time()
        self._received = 0
        self._stop_timer()
        length = next((value for name, value in self.headers if name == b"content-length"), b"")
        self._body_left = int(length) if length.isdigit() and len(length) < LENGTH_DIGITS else 0
        super().on_headers_complete()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        self._body_left = max(0, self._body_left - len(body))
        super().on_body(body)

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()

    # -- connection slot ----------------------------------------------------------------------------------------------

    def take_place(self, user: User | None, is_served: bool) -> bool:
        """Whether to answer a request. One that is always served (`is_served`) needs no slot of its own."""
        places = self._places
        if places is None:
            return True
        if user is not None:
            places.belong(self, f"user {user.name!r}")
        return not places.is_extra(self) or is_served or places.take(self)

    def is_extra(self) -> bool:
        return self._places is not None and self._places.is_extra(self)

    def doing(self) -> int:
        cycle: Any = self.cycle  # None before the first request
        if self._lent:
            return ANSWERING
        if self.transport.get_write_buffer_size():
            is_stale = self._unsent and self.loop.time() - self._unsent_since > UNREAD_SECONDS_CROWDED
            return UNREAD if is_stale else ANSWERING
        if cycle is None or cycle.response_complete:
            return RECEIVING if self._in_head and self._head_size else IDLE
        return RECEIVING if cycle.more_body and not cycle.response_started else ANSWERING

    def is_too_slow(self, now: float) -> bool:
        """Whether its request stalls or its response is not read. Called once a second."""
        waiting = 0 if self._lent else self.transport.get_write_buffer_size()
        if waiting == 0 or self._unsent == 0 or waiting < self._unsent:
            self._unsent_since = now
        self._unsent = waiting
        if waiting and now - self._unsent_since > UNREAD_SECONDS:
            return True
        if self._in_head or self._places is None or self.doing() != RECEIVING:
            return False
        if self.flow.read_paused or self._unparsed:
            self.since = now  # the delay is ours
            self._received = 0
        return self._received < self._places.rate_min * (now - self.since - GRACE_SECONDS)

    def end_early(self, status: int, why: bytes) -> None:
        """Close it, with an error response if it was sending a request."""
        transport = self.transport
        if self.doing() == RECEIVING and not transport.get_write_buffer_size():
            reason = HTTPStatus(status).phrase.encode()
            head = b"HTTP/1.1 %d %s\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
            transport.write(head % (status, reason, len(why) + 1) + why + b"\n")
            transport.close()
        elif transport.get_write_buffer_size():
            transport.abort()
        else:
            transport.close()

    # -- lent to another process ------------------------------------------------------------------------------------

    def lend(self) -> socket.socket | None:
        """The socket, for another process to answer the current request on; None if that is not possible.

        Call `end` afterwards, or `take_back` if nothing was written.
        """
        transport = self.transport
        if transport.is_closing() or transport.get_write_buffer_size() or self.pipeline or self._unparsed:
            return None
        if self.scheme != "http":
            return None  # TLS: the response has to be encrypted here
        transport.pause_reading()
        self._lent = True
        found: socket.socket | None = transport.get_extra_info("socket")
        return found

    def take_back(self) -> None:
        """Nothing was written: answer the request here."""
        self._lent = False
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def end(self, whole: bool) -> None:
        """The response was written. If it is incomplete, abort, so that the client notices."""
        if self._lent:
            if self.cycle is not None:
                self.cycle.disconnected = True  # nothing more is sent to it
            if whole:
                self.transport.close()
            else:
                self.transport.abort()
