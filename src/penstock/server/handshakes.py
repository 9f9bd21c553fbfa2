"""TLS handshakes, before a connection is handed to its protocol. The first byte tells TLS from plain text.

A client in its handshake costs work and has not authenticated. So handshakes are limited: to `tls_handshakes_max` in
total, a tenth of them per address, and `tls_handshake_seconds` each. Above the limit a new connection evicts the
oldest handshake: slow clients make room for quick ones and cannot lock anybody out. A handshake takes about a
millisecond of work; when many arrive at once, the loop does some of them, then serves established connections.
"""

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import Final, cast

from penstock.auth.pending import PendingConnections
from penstock.auth.throttle import address_of
from penstock.report import Report
from penstock.server.certificates import Certificates
from penstock.server.connection import peer_name
from penstock.server.tls import PLAIN_SIZE, TlsTransport
from penstock.wire.lines import looks_like_http

TLS_HANDSHAKE: Final = 0x16  # first byte of a ClientHello; none of our protocols starts with it
HELLO_SIZE_MAX: Final = 128 << 10  # bytes of one handshake; fits a long certificate chain many times
SLICE_SECONDS: Final = 0.002  # of handshakes per event loop iteration
REPORTS_MAX: Final = 10  # logged refusals per second; the metric counts all

RESULTS: Final = ("done", "failed", "timeout", "crowded")  # how a handshake ends

Factory = Callable[[], asyncio.Protocol]

USE_HTTPS: Final = b"This port speaks TLS: ask it by https://\n"
NOT_HTTPS: Final = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
    % (len(USE_HTTPS), USE_HTTPS)
)


class HandshakeLimiter:
    """The TLS handshakes in progress, of all listeners of one broker."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        certificates: Certificates,
        report: Report,
        *,
        seconds: float,
        count_max: int,
    ) -> None:
        self.loop = loop
        self.certificates = certificates
        self.report = report
        self.seconds = seconds
        self.count_max = count_max
        self.address_max = max(1, count_max // 10)
        self.counts = dict.fromkeys(RESULTS, 0)
        self.plain = memoryview(bytearray(PLAIN_SIZE))
        self._pending: PendingConnections[PendingHandshake] = PendingConnections()
        self._ready: deque[PendingHandshake] = deque()
        self._planned = False
        self._reports = 0
        self._reports_since = 0.0

    def __len__(self) -> int:
        return len(self._pending)

    def wrap(self, name: str, factory: Factory, *, plain: bool = False) -> Factory:
        """A protocol factory for a listener; `plain` accepts clients without TLS too."""
        return lambda: PendingHandshake(self, name, factory, plain)

    def add(self, arrival: "PendingHandshake") -> None:
        oldest: PendingHandshake | None = None
        limit = ""
        if self._pending.count(arrival.address) >= self.address_max:
            oldest = self._pending.first_of(arrival.address)
            limit = f"{self.address_max} handshakes from this address are in progress"
        elif len(self._pending) >= self.count_max:
            oldest = self._pending.first()
            limit = f"tls_handshakes_max is {self.count_max}"
        if oldest is not None:
            oldest.refuse("crowded", limit)
        self._pending.add(arrival.address, arrival)

    def remove(self, arrival: "PendingHandshake") -> None:
        self._pending.remove(arrival.address, arrival)

    def stop(self) -> None:
        """Abort all handshakes in progress."""
        for arrival in self._pending.all():
            arrival.leave()
            arrival.transport.abort()

    def plan(self, arrival: "PendingHandshake") -> None:
        """Schedule a handshake for which more bytes have arrived."""
        if not arrival.planned:
            arrival.planned = True
            self._ready.append(arrival)
            if not self._planned:
                self._planned = True
                self.loop.call_soon(self._work)

    def _work(self) -> None:
        deadline = time.monotonic() + SLICE_SECONDS  # not loop.time(), which is constant within an iteration
        try:
            while self._ready:
                arrival = self._ready.popleft()
                arrival.planned = False
                try:
                    arrival.shake()
                except Exception as error:
                    self._fail(arrival, error)
                if time.monotonic() > deadline:
                    break
        finally:  # the other handshakes must go on in any case
            self._planned = bool(self._ready)
            if self._planned:
                self.loop.call_soon(self._work)

    def _fail(self, arrival: "PendingHandshake", error: Exception) -> None:
        """An internal error ends only the connection it happened on."""
        self.report("error", "tls.failed", {"peer": arrival.peer, "door": arrival.listener, "error": repr(error)})
        arrival.leave()
        arrival.transport.abort()

    def refused(self, arrival: "PendingHandshake", result: str, reason: str) -> None:
        self.counts[result] += 1
        now = self.loop.time()
        if now - self._reports_since >= 1:
            self._reports_since, self._reports = now, 0
        self._reports += 1
        if self._reports <= REPORTS_MAX:
            details: dict[str, object] = {"peer": arrival.peer, "door": arrival.listener, "reason": reason}
            self.report("info", "tls.refused", details)


class PendingHandshake(asyncio.Protocol):
    """One connection in its TLS handshake."""

    transport: asyncio.Transport

    def __init__(self, handshakes: HandshakeLimiter, listener: str, factory: Factory, plain: bool) -> None:
        self.handshakes = handshakes
        self.listener = listener
        self.planned = False
        self.address = self.peer = ""
        self._factory = factory
        self._plain_too = plain
        self._secure: ssl.SSLObject | None = None
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.peer = peer_name(transport)
        self.address = address_of(self.peer)
        self._timer = self.handshakes.loop.call_later(self.handshakes.seconds, self._late)
        self.handshakes.add(self)

    def data_received(self, data: bytes) -> None:
        if self._gone:
            return
        if self._secure is None:
            if data[0] != TLS_HANDSHAKE:
                self._meet_plain(data)
                return
            context = self.handshakes.certificates.context
            self._secure = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._size += len(data)
        if self._size > HELLO_SIZE_MAX:
            self.refuse("failed", f"the handshake is larger than {HELLO_SIZE_MAX} bytes")
            return
        self._incoming.write(data)
        self.handshakes.plan(self)

    def eof_received(self) -> None:
        self.refuse("failed", "the client disconnected during the handshake")

    def connection_lost(self, exc: Exception | None) -> None:
        self.leave()

    def shake(self) -> None:
        """Advance the handshake as far as the bytes received allow."""
        if self._gone or self._secure is None:
            return
        try:
            self._secure.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
        except ssl.SSLError as error:
            self._flush()  # sends the alert, which gives the reason
            self.refuse("failed", reason_of(error))
        else:
            self._flush()
            self.leave()
            self.handshakes.counts["done"] += 1
            secured = TlsTransport(self.transport, self._secure, self._incoming, self._outgoing, self.handshakes.plain)
            secured.begin(self._factory())

    def refuse(self, result: str, reason: str) -> None:
        if not self._gone:
            self.leave()
            self.handshakes.refused(self, result, reason)
            self.transport.close()

    def _meet_plain(self, data: bytes) -> None:
        if self._plain_too:
            self._let_in_plain()
            self.transport.get_protocol().data_received(data)  # type: ignore[attr-defined]
            return
        if looks_like_http(data.partition(b"\n")[0].rstrip(b"\r")):
            self.transport.write(NOT_HTTPS)
        self.refuse("failed", "the client does not speak TLS")

    def _let_in_plain(self) -> None:
        self.leave()
        protocol = self._factory()
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)

    def _late(self) -> None:
        if self._plain_too and self._secure is None and not self._gone:
            self._let_in_plain()  # TLS clients send first, so a silent client is a plain one
            return
        self.refuse("timeout", f"no handshake within tls_handshake_seconds ({self.handshakes.seconds:g})")

    def leave(self) -> None:
        self._gone = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.handshakes.remove(self)

    def _flush(self) -> None:
        if self._outgoing.pending:
            self.transport.write(self._outgoing.read())


def reason_of(error: ssl.SSLError) -> str:
    """OpenSSL's error text without the location in its source."""
    text = str(getattr(error, "verify_message", "") or error.reason or error)
    return text.replace("_", " ").lower() if text.isupper() else text
