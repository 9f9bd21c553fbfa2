"""One open door: an address, and the protocol spoken behind it."""

import asyncio
import os
from collections.abc import Callable

from penstock.errors import Error
from penstock.server.accepting import BACKLOG, accept_more
from penstock.server.connection import Connection, Switchboard
from penstock.server.doorstep import Doorstep
from penstock.wire.session import Dialect


class ListenError(Error):
    """An address cannot be listened on."""


class Listener:
    def __init__(
        self,
        switchboard: Switchboard,
        dialect: Dialect,
        host: str,
        port: int,
        doorstep: Doorstep | None = None,
        plain_too: bool = False,
    ) -> None:
        """With a doorstep clients speak TLS, or may if plain ones come in, too."""
        self.switchboard = switchboard
        self.dialect = dialect
        self.host = host
        self.port = port
        self._make: Callable[[], asyncio.Protocol] = self._connection
        if doorstep is not None:
            self._make = doorstep.door(dialect.name, self._connection, plain=plain_too)
        self._servers: list[asyncio.Server] = []

    async def start(self) -> None:
        """Accept connections; with port 0, `port` says afterwards which one it became."""
        loop = self.switchboard.loop
        try:
            server = await loop.create_server(self._make, self.host, self.port, backlog=BACKLOG, reuse_address=True)
        except OSError as error:
            # The loop's own text repeats the address; the system's is enough.
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise ListenError(f"cannot listen for {self.dialect.name} on {self.host}:{self.port}: {reason}") from error
        self.port = server.sockets[0].getsockname()[1]
        self._servers = await accept_more(loop, self._make, server)

    def stop(self) -> None:
        """Accept no more; connections that are there stay."""
        for server in self._servers:
            server.close()
        self._servers = []

    def _connection(self) -> Connection:
        return Connection(self.switchboard, self.dialect)
