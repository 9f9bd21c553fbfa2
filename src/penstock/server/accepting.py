"""Several clients of one port come in within a turn of the loop.

The loop accepts one for each socket that listens. Where turns are long and somebody connects again and again, others
would wait behind that for seconds. So a port is listened on several times: by one socket, and by copies of it, which
share its line of those who wait.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence

BACKLOG = 4096
SOCKETS = 4


async def accept_more(
    loop: asyncio.AbstractEventLoop, make: Callable[[], asyncio.Protocol], servers: Sequence[asyncio.Server]
) -> list[asyncio.Server]:
    """Those servers, and copies of them."""
    copies = [
        await loop.create_server(make, sock=socket.socket(fileno=os.dup(listening.fileno())), backlog=BACKLOG)
        for server in servers
        for listening in server.sockets
        for _ in range(SOCKETS - 1)
    ]
    return [*servers, *copies]
