"""Several clients of one port come in within a turn of the loop.

The loop accepts one for each socket that listens. Where turns are long and somebody connects again and again, others
would wait behind that for seconds. So a port is listened on several times: by one socket, and by copies of it, which
share its line of those who wait.
"""

import asyncio
import os
import socket
from collections.abc import Callable

BACKLOG = 4096
SOCKETS = 4  # so many clients of a port come in within a turn


async def accept_more(
    loop: asyncio.AbstractEventLoop, make: Callable[[], asyncio.Protocol], server: asyncio.Server
) -> list[asyncio.Server]:
    """That server, and copies of it."""
    copies = [
        await loop.create_server(make, sock=socket.socket(fileno=os.dup(listening.fileno())), backlog=BACKLOG)
        for listening in server.sockets
        for _ in range(SOCKETS - 1)
    ]
    return [server, *copies]
