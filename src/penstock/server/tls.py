"""TLS over a transport of the event loop: decrypts what is read for the protocol, and encrypts what it writes.

The loop has such a layer of its own. This one exists because a broker needs more: a client that has closed its sending
side is still answered (a close_notify closes one direction, as EOF does on a plain stream), the size of unsent data is
exact, and the context is chosen when a ClientHello arrives (`handshakes.py`). The cryptography is OpenSSL's, used
through `ssl.SSLObject`.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

RECORD_SIZE_MAX = 16 << 10  # of a TLS record: the most that one read of the SSLObject returns
PLAIN_SIZE = 320 << 10  # one read of the loop, 256 KiB, plus what was left of the one before
OWN_SIZE_MAX = 64 << 10  # of TLS's own output, such as key updates, to a peer that does not read

NO_PROTOCOL = asyncio.Protocol()

Reading = Callable[[int, memoryview], int]


class TlsTransport(asyncio.Transport, asyncio.Protocol):
    """The transport of the protocol above, and the protocol of the transport below."""

    def __init__(
        self,
        transport: asyncio.Transport,
        secure: ssl.SSLObject,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        plain: memoryview,
    ) -> None:
        """`plain` is the buffer to decrypt into; all connections of a loop share it."""
        super().__init__()
        self._transport = transport
        self._secure = secure
        self._incoming = incoming
        self._outgoing = outgoing
        self._plain = plain
        self._protocol = NO_PROTOCOL
        self._closing = False
        self._ended = False
        self._own_size = 0  # of TLS's own output since the write buffer was last empty

    def begin(self, protocol: asyncio.Protocol) -> None:
        """Attach the protocol after the handshake, and pass on data that arrived with its last bytes."""
        self._protocol = protocol
        self._transport.set_protocol(self)
        protocol.connection_made(self)
        self._read()

    # -- called by the transport below ------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        self._read()

    def eof_received(self) -> bool:
        """EOF counts even without a close_notify: a request that was cut off is incomplete and not executed."""
        self._end()
        return not self._closing

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        # Break reference cycles and drop large objects now: the garbage collector runs rarely.
        protocol = self._protocol
        self._protocol = NO_PROTOCOL
        protocol.connection_lost(exc)
        del self._secure, self._incoming, self._outgoing

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def _read(self) -> None:
        """Decrypt everything received, and pass it on in one piece if it fits the buffer."""
        if self._closing:
            return
        plain = self._plain
        read: Reading = self._secure.read  # type: ignore[assignment]  # with a buffer it returns a count
        filled = 0
        ended = False
        failed = False
        try:
            while count := read(RECORD_SIZE_MAX, plain[filled:]):
                filled += count
                if filled > PLAIN_SIZE - RECORD_SIZE_MAX:
                    self._protocol.data_received(bytes(plain[:filled]))
                    filled = 0
            ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            ended = True
        except ssl.SSLError:
            failed = True
        if self._outgoing.pending:
            self._own_size += self._outgoing.pending
            self._flush()
            if not self._transport.get_write_buffer_size():
                self._own_size = 0
            elif self._own_size > OWN_SIZE_MAX:
                failed = True  # the peer provokes TLS output and does not read it
        if filled and not self._closing:
            self._protocol.data_received(bytes(plain[:filled]))
        if failed:
            self.abort()  # nothing can be written any more; later writes are ignored
        elif ended:
            self._end()

    def _end(self) -> None:
        """The peer has closed its sending side; the protocol decides whether to keep the connection open."""
        if not self._ended and not self._closing:
            self._ended = True
            if not self._protocol.eof_received():
                self.close()

    def _flush(self) -> None:
        if self._outgoing.pending:
            data = self._outgoing.read()
            if not self._transport.is_closing():
                self._transport.write(data)

    # -- called by the protocol above -------------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or not data:
            return
        try:
            written = self._secure.write(data)
            while written < len(data):
                written += self._secure.write(memoryview(data)[written:])
        except ssl.SSLError:
            self.abort()  # no exception: the caller writes to many connections
            return
        self._flush()

    def close(self) -> None:
        """Flush, send a close_notify, and close without waiting for the peer's."""
        if self._closing:
            return
        self._closing = True
        try:
            self._secure.unwrap()
        except ssl.SSLError:
            pass
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._closing = True
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._closing or self._transport.is_closing()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def is_reading(self) -> bool:
        return self._transport.is_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high=high, low=low)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._transport.get_write_buffer_limits()

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def can_write_eof(self) -> bool:
        return False

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As for any TLS transport. `peercert` is empty unless the client's certificate was verified."""
        secure: ssl.SSLObject | None = getattr(self, "_secure", None)
        if secure is not None and name in ("sslcontext", "ssl_object", "peercert"):
            return {"sslcontext": secure.context, "ssl_object": secure, "peercert": secure.getpeercert()}[name]
        return self._transport.get_extra_info(name, default)
