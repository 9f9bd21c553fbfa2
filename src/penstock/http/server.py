"""uvicorn on the broker's loop: connections, with bounds on what a client may hold without asking anything."""

import asyncio
import logging
import socket
from collections.abc import Mapping
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from penstock.config import Config
from penstock.http.app import make_app
from penstock.http.inside import Inside
from penstock.http.statistics import Statistics
from penstock.server.connection import Switchboard

CONNECTIONS_MAX = 1000
HEAD_SIZE_MAX = 64 << 10  # of a request's first line and headers
HEAD_SECONDS = 20.0  # for a request's head to arrive
KEEP_ALIVE_SECONDS = 30
TICK_SECONDS = 1.0  # how old the Date of an answer may be
STOP_POLL_SECONDS = 0.01


class HttpConnection(HttpToolsProtocol):
    """One client: a head that grows without end, or does not come, ends it."""

    def __init__(self, config: uvicorn.Config, server_state: ServerState, app_state: dict[str, Any]) -> None:
        super().__init__(config, server_state, app_state)
        self._head_size = 0
        self._in_head = True
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS_MAX:
            transport.abort()
            return
        self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_size += len(data)
        super().data_received(data)
        if self._in_head and self._head_size > HEAD_SIZE_MAX and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def on_message_begin(self) -> None:
        self._in_head = True
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_size = 0
        self._stop_timer()
        super().on_headers_complete()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class HttpServer:
    """Serves one listening socket. Signals and the loop belong to the node."""

    def __init__(self, config: Config, board: Switchboard, ports: Mapping[str, int], statistics: Statistics) -> None:
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        self._inside = Inside(config, board, ports, statistics)
        app = make_app(self._inside)
        self._config = uvicorn.Config(
            app,
            http=HttpConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        self._config.load()
        self._uvicorn = uvicorn.Server(self._config)
        self._server: asyncio.Server | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def start(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        state = self._uvicorn.server_state
        await self._uvicorn.on_tick(0)
        self._ticking = loop.create_task(self._tick())
        self._server = await loop.create_server(lambda: HttpConnection(self._config, state, {}), sock=listening)

    async def stop(self, seconds: float) -> None:
        """Accept no more; what is being answered has some time to end."""
        if self._server is not None:
            self._server.close()
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
        if self._inside.readers is not None:
            await self._inside.readers.stop()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._uvicorn.on_tick(0)
