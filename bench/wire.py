"""Sockets, the same for every peer: buffer sizes, no Nagle, a timeout on everything."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

from penstock.cli.load import TIMEOUT

HOST = "127.0.0.1"
SOCKET_BUFFER = 1 << 20
STALL_SECONDS = 10.0
"""A socket that moves nothing for this long has failed its round."""


def connect(port: int, stall_seconds: float = STALL_SECONDS, ca: Path | None = None) -> socket.socket:
    """A blocking connection to a server on this machine; with a CA, over TLS.

    Timeouts are set in the kernel (SO_RCVTIMEO), since Python's own would cost a poll() before every read.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    timeout = TIMEOUT.pack(int(stall_seconds), 0)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
    try:
        sock.connect((HOST, port))
        return sock if ca is None else ssl.create_default_context(cafile=ca).wrap_socket(sock, server_hostname=HOST)
    except OSError:
        sock.close()
        raise


def free_port() -> int:
    """A port that is free at the moment, for servers that cannot pick one themselves."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        port: int = sock.getsockname()[1]
        return port
