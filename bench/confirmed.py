"""Many publishers in one process, each with a limited number of unconfirmed publishes in flight.

This is the load of clients that must not lose anything: none sends ahead without limit, and each confirm makes room
for the next publish. Messages are encoded before the clock starts, so a turn is one read and one send.
"""

from __future__ import annotations

import select
import time
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from bench.frames import number
from bench.wire import STALL_SECONDS, connect
from penstock.cli.load import Stalled, talk

if TYPE_CHECKING:
    from bench.load import Job
    from bench.peers import Peer

CLIENTS = 64
WINDOW = 32
"""Publishes that one client has under way."""


def publish_confirmed(parent: Connection, job: Job) -> None:
    """Worker: every client publishes its share. Done when the last publish of the last client is confirmed."""
    share = job.count // CLIENTS
    clients = [Client(job.peer.for_client(index), job.size, index * share, share) for index in range(CLIENTS)]
    poll = select.epoll()
    for client in clients:
        poll.register(client.sock, select.EPOLLIN)
    by_file = {client.sock.fileno(): client for client in clients}
    parent.send("ready")
    parent.recv()
    started_ns = time.monotonic_ns()
    for client in clients:
        client.fill_window()
    open_count = len(clients)
    while open_count:
        ready = poll.poll(STALL_SECONDS)
        if not ready:
            raise Stalled(f"no confirm for {STALL_SECONDS:.0f} s")
        for file, _ in ready:
            open_count -= by_file[file].turn()
    parent.send((started_ns, time.monotonic_ns()))
    parent.recv()


class Client:
    """One publisher of `count` messages, numbered from `first`."""

    def __init__(self, peer: Peer, size: int, first: int, count: int) -> None:
        frames = [peer.publish(number(index), peer.body(index, size)) for index in range(first, first + count)]
        self._frame_size = len(frames[0])
        if any(len(frame) != self._frame_size for frame in frames):
            raise ValueError("frames that differ in size cannot be cut by their number")
        self._data = memoryview(b"".join(frames))
        counter = peer.answers()
        assert counter is not None, f"{peer.name} confirms nothing"
        self._counter = counter
        self._count = count
        self._sent = 0
        self._confirmed = 0
        self.sock = connect(peer.port)
        talk(self.sock, peer.publisher_hello())

    def turn(self) -> bool:
        """Reads confirms and sends as many new messages. Returns whether all messages of this client are confirmed."""
        self._confirmed += self._counter.read(self.sock)
        if self._confirmed > self._count:
            raise Stalled(f"{self._confirmed} confirms of {self._count} publishes")
        self.fill_window()
        return self._confirmed == self._count

    def fill_window(self) -> None:
        until = min(self._confirmed + WINDOW, self._count)
        if until > self._sent:
            self.sock.sendall(self._data[self._sent * self._frame_size : until * self._frame_size])
            self._sent = until
