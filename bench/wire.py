"""Sockets, the same for every peer: buffer sizes, no Nagle, a timeout on everything."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
SOCKET_BUFFER = 1 << 20
READ_BUFFER = 1 << 20
STALL_SECONDS = 10.0
"""A socket that moves nothing for this long has failed its round."""

TIMEOUT = struct.Struct("ll")


@dataclass(frozen=True)
class Exchange:
    """One step of a handshake: send these bytes, then read until the answer contains `until` (empty: do not wait)."""

    send: bytes
    until: bytes = b""


class Stalled(Exception):
    """The other side went silent or closed the connection."""


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


def talk(sock: socket.socket, exchanges: Iterable[Exchange]) -> None:
    """Runs a scripted conversation.

    Raises:
        Stalled: an expected answer did not arrive; the message quotes what arrived instead.
    """
    view = memoryview(bytearray(1 << 16))
    for exchange in exchanges:
        sock.sendall(exchange.send)
        heard = b""
        while exchange.until not in heard:
            try:
                size = receive(sock, view)
            except Stalled as stalled:
                asked = f"sent {exchange.send[:80]!r}, waited for {exchange.until!r}, heard {heard[-300:]!r}"
                raise Stalled(f"{stalled}: {asked}") from None
            heard += view[:size]


def receive(sock: socket.socket, view: memoryview) -> int:
    """Reads once, blocking if necessary.

    Raises:
        Stalled: nothing arrived in time, or the server closed the connection.
    """
    try:
        size = sock.recv_into(view)
    except (BlockingIOError, ssl.SSLWantReadError):
        seconds, _ = TIMEOUT.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, TIMEOUT.size))
        raise Stalled(f"nothing came for {seconds} s") from None
    except (ConnectionResetError, ssl.SSLEOFError):
        size = 0
    if not size:
        raise Stalled("the server closed the connection")
    return size


def free_port() -> int:
    """A port that is free at the moment, for servers that cannot pick one themselves."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        port: int = sock.getsockname()[1]
        return port
