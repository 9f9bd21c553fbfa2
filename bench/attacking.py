"""Building blocks for attacks: connections with a deadline, and helpers that send or read as much as they can."""

import json
import os
import resource
import select
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from penstock.cli.load_protocols import frame

READ = 1 << 20
HOST = "127.0.0.1"


def hello(protocol: str, token: str) -> bytes:
    """The request that authenticates a client of this protocol."""
    said = token.encode()
    if protocol == "smqs":
        return b"A:%s\n" % said
    if protocol == "sevx":
        return b"a auth %s\n" % json.dumps({"token": token}).encode()
    if protocol == "mqmq":
        return frame(b"Auth", said)
    if protocol == "rq":
        return b"\x01\xb0" + struct.pack(">B", len(said)) + said
    return b"a auth %s\n" % said


@dataclass
class Target:
    """A broker to attack, and the end of the attack."""

    ports: dict[str, int]
    until: float = 0.0  # wall-clock time
    opened: list[socket.socket] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)  # by user name

    def goes_on(self) -> bool:
        return time.time() < self.until

    def left(self) -> float:
        return max(0.05, self.until - time.time())

    def connect(self, protocol: str, buffer: int = 0, user: str = "", source: str = "") -> socket.socket:
        """Connects from the local address `source`; authenticates when `user` is set."""
        sock = socket.socket()
        self.opened.append(sock)
        if buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        if source:
            sock.bind((source, 0))
        sock.settimeout(max(self.left(), 5.0) if user else self.left())
        sock.connect((HOST, self.ports[protocol]))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if user and protocol != "http":
            sock.sendall(hello(protocol, self.tokens[user]))
            if protocol != "smqs":
                sock.recv(100)
        return sock

    def close(self) -> None:
        for sock in self.opened:
            sock.close()


def waited_for(event: int, socks: Iterable[socket.socket]) -> list[socket.socket]:
    """The sockets with this event of `select.poll`, of which there may be thousands, within a fifth of a second."""
    poll = select.poll()
    by_handle = {sock.fileno(): sock for sock in socks}
    for handle in by_handle:
        poll.register(handle, event)
    return [by_handle[handle] for handle, _ in poll.poll(200)]


def swallow(target: Target, *socks: socket.socket) -> int:
    """Reads and discards everything until the deadline. Returns the number of bytes."""
    size = 0
    open_ones = list(socks)
    while target.goes_on() and open_ones:
        for sock in waited_for(select.POLLIN, open_ones):
            try:
                data = sock.recv(READ)
            except OSError:
                data = b""
            if not data:
                open_ones.remove(sock)
            size += len(data)
    return size


def shove(target: Target, sock: socket.socket, data: bytes) -> int:
    """Sends as much as the broker accepts until the deadline. Returns the number of bytes."""
    sent = 0
    view = memoryview(data)
    sock.setblocking(False)
    while sent < len(data) and target.goes_on():
        if waited_for(select.POLLOUT, [sock]):
            try:
                sent += sock.send(view[sent : sent + READ])
            except BlockingIOError:
                continue
            except OSError:
                break
    return sent


def shove_on(target: Target, sock: socket.socket, data: bytes) -> int:
    """Sends the same bytes again and again. Returns how many bytes the broker accepted."""
    sent = 0
    while target.goes_on():
        more = shove(target, sock, data)
        sent += more
        if more < len(data):
            break
    return sent


def shove_and_swallow(target: Target, sock: socket.socket, data: bytes, seconds: float, *socks: socket.socket) -> int:
    """Sends the same bytes again and again, and reads `socks` in between. Returns how often that was possible."""
    rounds = 0
    while target.goes_on() and shove(target, sock, data) == len(data):
        swallow(Target(target.ports, min(target.until, time.time() + seconds)), *socks)
        rounds += 1
    return rounds


def shove_all(target: Target, socks: list[socket.socket], data: bytes) -> int:
    """Sends the same bytes to all sockets at once."""
    sent = dict.fromkeys(socks, 0)
    for sock in socks:
        sock.setblocking(False)
    while target.goes_on():
        unfinished = [sock for sock in sent if sent[sock] < len(data)]
        if not unfinished:
            break
        for sock in waited_for(select.POLLOUT, unfinished):
            try:
                sent[sock] += sock.send(memoryview(data)[sent[sock] : sent[sock] + READ])
            except BlockingIOError:
                continue
            except OSError:
                del sent[sock]
    return sum(sent.values())


def stay(target: Target) -> None:
    """Does nothing until the deadline."""
    time.sleep(target.left())


def mib(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


def request_of(
    method: str, path: str, body: bytes = b"", media_type: str = "application/json", token: str = ""
) -> bytes:
    """A complete HTTP request."""
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n"
    if token:
        head += f"authorization: Bearer {token}\r\n"
    return f"{head}content-type: {media_type}\r\n\r\n".encode() + body


def wait_for_http(port: int) -> None:
    """HTTP is loaded on the first request; do that now, so that no attack is charged for it."""
    with socket.create_connection((HOST, port), timeout=30) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        while sock.recv(65536):
            pass


def field_of(pid: int, key: str) -> int:
    """A field of /proc/PID/status, in bytes; 0 when the process has exited."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), 0)


def be_humble() -> None:
    """Lowers the priority: a remote attacker would not use the broker's cores, so a local one gets only spare ones."""
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
