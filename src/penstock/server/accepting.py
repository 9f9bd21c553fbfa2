"""Accept several connections per port in one event loop iteration.

The loop accepts one connection per listening socket and iteration. If iterations are long and a client reconnects
continually, others would wait for seconds. So each port is listened on by several sockets: one, and duplicates of it
that share its backlog.
"""

import asyncio
import os
import socket
from collections.abc import Callable

BACKLOG = 4096
SOCKETS = 4  # connections accepted per port and iteration


async def accept_more(
    loop: asyncio.AbstractEventLoop, make: Callable[[], asyncio.Protocol], server: asyncio.Server
) -> list[asyncio.Server]:
    """The server, and servers on duplicates of its sockets."""
    copies = [
        await loop.create_server(make, sock=socket.socket(fileno=os.dup(listening.fileno())), backlog=BACKLOG)
        for listening in server.sockets
        for _ in range(SOCKETS - 1)
    ]
    return [server, *copies]
