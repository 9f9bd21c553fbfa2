"""The HTTP listener: opened at startup, loaded on the first connection.

The framework takes half a second to load, which should not delay the message ports. So the HTTP port is opened at
startup, and connections wait in the listen backlog while the rest is loaded in a thread, off the event loop. `load` may
be called before the first connection.
"""

import asyncio
import gc
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.config import Config
from penstock.errors import Error
from penstock.http.statistics import Statistics
from penstock.server.accepting import BACKLOG
from penstock.server.handshakes import HandshakeLimiter
from penstock.server.reactor import Reactor

if TYPE_CHECKING:
    from penstock.http.server import HttpServer
    from penstock.server.user_reloader import UserReloader


class HttpListenError(Error):
    """The HTTP address cannot be listened on."""


class HttpListener:
    """The HTTP listener as the node sees it: open, load, stop."""

    def __init__(self, config: Config, reactor: Reactor, port: int, handshakes: HandshakeLimiter | None = None) -> None:
        self.config = config
        self.reactor = reactor
        self.port = port
        self.handshakes = handshakes
        self.ports: Mapping[str, int] = {}
        self.user_reloader: UserReloader | None = None
        self.statistics = Statistics(reactor)
        self._socket: socket.socket | None = None
        self._server: HttpServer | None = None
        self._loading: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start listening, and take a first sample. With port 0, `port` is set to the one assigned."""
        try:
            self._socket = _listen(self.config.host, self.port)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise HttpListenError(f"cannot listen for http on {self.config.host}:{self.port}: {reason}") from error
        self.port = self._socket.getsockname()[1]
        self.statistics.start()
        self.reactor.loop.add_reader(self._socket.fileno(), self.load)

    def load(self) -> None:
        """Load the application and serve with it."""
        if self._loading is None and self._socket is not None:
            self.reactor.loop.remove_reader(self._socket.fileno())
            self._loading = self.reactor.loop.create_task(self._load())

    async def stop(self, seconds: float) -> None:
        """Stop accepting, give requests this long to finish, and close."""
        self.statistics.stop()
        if self._socket is None:
            return
        if self._loading is not None:
            await asyncio.wait([self._loading])
        else:
            self.reactor.loop.remove_reader(self._socket.fileno())
        if self._server is not None:
            await self._server.stop(seconds)
        self._socket.close()
        self._socket = None

    async def _load(self) -> None:
        assert self._socket is not None
        try:
            self._server = await asyncio.to_thread(self._make_server)
            gc.freeze()
            await self._server.start(self._socket)
        except Exception as error:
            self.reactor.hub.report("error", "http.failed", {"error": repr(error)})
            raise

    def _make_server(self) -> "HttpServer":
        from penstock.http.caller import describe_request
        from penstock.http.context import AppContext
        from penstock.http.server import HttpServer

        self.reactor.describe_request = describe_request
        context = AppContext(self.config, self.reactor, self.ports, self.statistics, self.handshakes)
        context.user_reloader = self.user_reloader
        return HttpServer(context)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket like those of the other listeners: on the first address of the host."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening
