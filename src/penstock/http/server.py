"""uvicorn on the broker's event loop, started and stopped by the node."""

import asyncio
import logging
import socket

import uvicorn

from penstock.http.app import make_app
from penstock.http.connection import HttpConnection
from penstock.http.context import AppContext
from penstock.server.accepting import BACKLOG, accept_more

KEEP_ALIVE_SECONDS = 30
TICK_SECONDS = 1.0  # how old the Date header of a response may be
STOP_POLL_SECONDS = 0.01


class HttpServer:
    """Serves one listening socket. The node owns signals and the event loop."""

    def __init__(self, context: AppContext) -> None:
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        self.context = context
        proxies = context.config.http_proxies
        self._config = uvicorn.Config(
            make_app(context),
            http=HttpConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=proxies or [],  # otherwise uvicorn reads the environment
        )
        self._config.load()
        self._uvicorn = uvicorn.Server(self._config)
        self._servers: list[asyncio.Server] = []
        self._ticking: asyncio.Task[None] | None = None

    async def start(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        state = self._uvicorn.server_state
        context = self.context
        context.answers.connections = state.connections
        await self._uvicorn.on_tick(0)
        self._ticking = loop.create_task(self._tick())

        def make() -> asyncio.Protocol:
            return HttpConnection(self._config, state, {}, context.hub, context.unauthenticated, context.places)

        if context.handshakes is not None:
            make = context.handshakes.wrap("http", make)
        server = await loop.create_server(make, sock=listening, backlog=BACKLOG)
        self._servers = await accept_more(loop, make, server)

    async def stop(self, seconds: float) -> None:
        """Stop accepting; requests in progress get this long to finish."""
        for server in self._servers:
            server.close()
        if self._ticking is not None:
            self._ticking.cancel()
        state = self._uvicorn.server_state
        for connection in list(state.connections):
            connection.shutdown()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while state.tasks and loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(STOP_POLL_SECONDS)
        for task in list(state.tasks):
            task.cancel()
        for connection in list(state.connections):
            connection.transport.close()
        if self.context.readers is not None:
            await self.context.readers.stop()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._uvicorn.on_tick(0)
            self.context.places.look(asyncio.get_running_loop().time())
