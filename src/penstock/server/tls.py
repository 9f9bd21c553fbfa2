"""TLS over a transport of the loop: what is read is decrypted into the protocol, what it writes is encrypted.

The loop has such a layer of its own. This one is here because a broker needs what that one does not have: a client
that has said all it had to say is still answered (a close_notify closes one direction, as the end of a plain stream
does), the size of what is not sent yet is exact, and the context is chosen when a hello arrives (`doorstep.py`). The
cryptography is OpenSSL's, by way of `ssl.SSLObject`.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

RECORD_SIZE_MAX = 16 << 10  # of TLS: what one read of the SSLObject gives at most
PLAIN_SIZE = 320 << 10  # a read of the loop, 256 KiB, and what was left over of the one before
OWN_SIZE_MAX = 64 << 10  # of what TLS itself has to say, such as new keys, to a peer that does not read

NOBODY = asyncio.Protocol()

Reading = Callable[[int, memoryview], int]


class TlsTransport(asyncio.Transport, asyncio.Protocol):
    """A transport for the protocol above, and the protocol of the transport below."""

    def __init__(
        self,
        transport: asyncio.Transport,
        secure: ssl.SSLObject,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        plain: memoryview,
    ) -> None:
        """`plain` is room for what is decrypted in one turn; all connections of a loop share it."""
        super().__init__()
        self._transport = transport
        self._secure = secure
        self._incoming = incoming
        self._outgoing = outgoing
        self._plain = plain
        self._protocol = NOBODY
        self._closing = False
        self._ended = False
        self._own_size = 0  # of what TLS itself has said since all was sent

    def begin(self, protocol: asyncio.Protocol) -> None:
        """The handshake is done: the protocol takes over, and gets what came along with its last bytes."""
        self._protocol = protocol
        self._transport.set_protocol(self)
        protocol.connection_made(self)
        self._read()

    # -- what the transport below says ------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        self._read()

    def eof_received(self) -> bool:
        """Also without a close_notify: whatever was cut off was no whole request, and is not taken for one."""
        self._end()
        return not self._closing

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        # What knows us is let go of, and what is large: neither should wait for a collector that looks seldom.
        protocol = self._protocol
        self._protocol = NOBODY
        protocol.connection_lost(exc)
        del self._secure, self._incoming, self._outgoing

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def _read(self) -> None:
        """Decrypt all there is, and hand it on at once."""
        if self._closing:
            return
        plain = self._plain
        read: Reading = self._secure.read  # type: ignore[assignment]  # into a buffer, it says how much
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
                failed = True  # the peer makes TLS talk, and does not listen
        if filled and not self._closing:
            self._protocol.data_received(bytes(plain[:filled]))
        if failed:
            self.abort()  # nothing can be written any more, and whoever tries is not to get an error for it
        elif ended:
            self._end()

    def _end(self) -> None:
        """The peer says no more; the protocol decides whether there is still something to say to it."""
        if not self._ended and not self._closing:
            self._ended = True
            if not self._protocol.eof_received():
                self.close()

    def _flush(self) -> None:
        if self._outgoing.pending:
            data = self._outgoing.read()
            if not self._transport.is_closing():
                self._transport.write(data)

    # -- what the protocol above asks for ---------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or not data:
            return
        try:
            written = self._secure.write(data)
            while written < len(data):
                written += self._secure.write(memoryview(data)[written:])
        except ssl.SSLError:
            self.abort()  # whoever writes for many is not to be held up by one
            return
        self._flush()

    def close(self) -> None:
        """Send what is owed and a close_notify. The peer's own is not waited for."""
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
        """As of any TLS transport: `peercert` is what a client has shown and a CA of ours has signed, or nothing."""
        secure: ssl.SSLObject | None = getattr(self, "_secure", None)
        if secure is not None and name in ("sslcontext", "ssl_object", "peercert"):
            return {"sslcontext": secure.context, "ssl_object": secure, "peercert": secure.getpeercert()}[name]
        return self._transport.get_extra_info(name, default)
