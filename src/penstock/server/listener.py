"""A listener: one address, and the protocol it accepts."""

import asyncio
import os
from collections.abc import Callable

from penstock.errors import Error
from penstock.server.accepting import BACKLOG, accept_more
from penstock.server.connection import Connection
from penstock.server.handshakes import HandshakeLimiter
from penstock.server.reactor import Reactor
from penstock.wire.session import Dialect


class ListenError(Error):
    """The broker cannot listen on an address."""


class Listener:
    def __init__(
        self,
        reactor: Reactor,
        dialect: Dialect,
        host: str,
        port: int,
        handshakes: HandshakeLimiter | None = None,
        plain_too: bool = False,
    ) -> None:
        """with TLS clients must use TLS; with `plain_too` they may."""
        self.reactor = reactor
        self.dialect = dialect
        self.host = host
        self.port = port
        self._make: Callable[[], asyncio.Protocol] = self._connection
        if handshakes is not None:
            self._make = handshakes.wrap(dialect.name, self._connection, plain=plain_too)
        self._servers: list[asyncio.Server] = []

    async def start(self) -> None:
        """Accept connections. With port 0 the system chooses one, and `port` is set to it."""
        loop = self.reactor.loop
        try:
            server = await loop.create_server(self._make, self.host, self.port, backlog=BACKLOG, reuse_address=True)
        except OSError as error:
            # The message of the event loop repeats the address; the system's is enough.
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise ListenError(f"cannot listen for {self.dialect.name} on {self.host}:{self.port}: {reason}") from error
        self.port = server.sockets[0].getsockname()[1]
        self._servers = await accept_more(loop, self._make, server)

    def stop(self) -> None:
        """Stop accepting. Existing connections stay open."""
        for server in self._servers:
            server.close()
        self._servers = []

    def _connection(self) -> Connection:
        return Connection(self.reactor, self.dialect)
