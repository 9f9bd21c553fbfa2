"""One throughput round: a publisher process, a counting reader process, and a clock as defined by the peer's `Course`.

Both processes are the same for every peer; only the bytes differ. Both use their connection in full duplex: a publisher
that did not read its responses, or a consumer that did not send acks while deliveries arrive, could deadlock with a
server that waits for it.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.confirmed import publish_confirmed
from bench.counting import CheckingCounter, Counter, MarkCounter, counter_for
from bench.frames import BLOCK, NUMBERED, Block, Feedback, number
from bench.machine import NO_USAGE, BrokerContext, usage
from bench.peers.base import Course, Peer
from bench.wire import READ_BUFFER, STALL_SECONDS, Stalled, connect, receive, talk
from bench.workers import Worker, WorkerFailed

ROUND_SECONDS = 60.0
PREPARE_SECONDS = 30.0
EXTRA_SECONDS = 0.02
"""How long a reader listens on after the last delivery, for messages that come twice."""


@dataclass(frozen=True)
class Job:
    """One round's work. `check` inspects every message that arrives, which is too slow to be timed.

    A server that makes no progress for `stall_seconds` has failed.
    """

    peer: Peer
    size: int
    count: int
    check: bool = False
    stall_seconds: float = STALL_SECONDS


@dataclass(frozen=True)
class Round:
    """The result of a round. A failed one has a reason and no figures."""

    count: int
    seconds: float = 0.0
    server: BrokerContext = NO_USAGE
    failure: str = ""
    client_cpu: float = 0.0
    """Processor time of the load process, in seconds, where that is what is measured."""

    @property
    def rate(self) -> float:
        """Messages per second."""
        return self.count / self.seconds if self.seconds else 0.0


def run_round(job: Job) -> Round:
    """Publishes and consumes `job.count` messages; fails unless all arrive."""
    try:
        with _crowd(job.peer):
            return _ROUNDS[job.peer.course](job)
    except (WorkerFailed, Stalled) as failure:
        return Round(job.count, failure=str(failure))


Task = Callable[[Connection, Job], None]


def run_through(job: Job, consume: Task, publish: Task) -> Round:
    """A round with other workers; they report when they started and ended, and optionally their processor time."""
    try:
        return _flow(job, consume, publish)
    except (WorkerFailed, Stalled) as failure:
        return Round(job.count, failure=str(failure))


def _through(job: Job) -> Round:
    return _flow(job, consume, publish)


def _flow(job: Job, consume: Task, publish: Task) -> Round:
    with Worker(consume, job) as consumer:
        consumer.report(PREPARE_SECONDS)  # Subscribed: what is published from now on must arrive.
        with Worker(publish, job) as publisher:
            publisher.report(PREPARE_SECONDS)
            before = usage(job.peer.pid)
            consumer.tell("go")
            publisher.tell("go")
            _, delivered_ns, *taking = consumer.report(ROUND_SECONDS)
            started_ns, answered_ns, *giving = publisher.report(ROUND_SECONDS)
            spent = usage(job.peer.pid).since(before)
            publisher.tell("done")
    seconds = (max(answered_ns, delivered_ns) - started_ns) / 1e9
    return Round(job.count, seconds, spent, client_cpu=sum(taking) + sum(giving))


def _stored(job: Job) -> Round:
    """Runs one worker after the other; both must complete, and one is measured."""
    fill = publish_confirmed if job.peer.course is Course.CONFIRMED else publish
    with Worker(fill, job) as publisher:
        filled = go(publisher, job)
        with Worker(consume, job) as consumer:
            emptied = go(consumer, job)
        publisher.tell("done")
    return emptied if job.peer.course is Course.GET else filled


def _echoed(job: Job) -> Round:
    with Worker(respond, job) as responder, Worker(consume, job) as consumer:
        responder.report(PREPARE_SECONDS)
        found = go(consumer, job)
        responder.tell("done")
    return found


_ROUNDS = {
    Course.THROUGH: _through,
    Course.PUT: _stored,
    Course.GET: _stored,
    Course.ECHO: _echoed,
    Course.CONFIRMED: _stored,
}


def go(worker: Worker, job: Job, seconds_max: float = ROUND_SECONDS) -> Round:
    """Starts a worker that is ready, and measures it."""
    worker.report(PREPARE_SECONDS)
    before = usage(job.peer.pid)
    worker.tell("go")
    started_ns, finished_ns = worker.report(seconds_max)
    return Round(job.count, (finished_ns - started_ns) / 1e9, usage(job.peer.pid).since(before))


@contextmanager
def _crowd(peer: Peer) -> Iterator[None]:
    """Keeps other clients connected during a round, for peers that define them, and removes them at the end."""
    if not (coming := peer.crowd()):
        yield
        return
    with connect(peer.port) as sock:
        talk(sock, coming)
        yield
        talk(sock, peer.crowd_leaves())


def publish(parent: Connection, job: Job) -> None:
    """Worker: sends every block of the round as fast as the server accepts it, and reads the responses meanwhile."""
    peer = job.peer
    block = Block(lambda index: peer.publish(number(index), peer.body(index, job.size)))
    sock = connect(peer.port, job.stall_seconds, peer.ca)
    talk(sock, peer.publisher_hello())
    outlet = Outlet(sock, peer.answers(), job)
    receipt = peer.receipt(job.count)
    parent.send("ready")
    parent.recv()
    started_ns = time.monotonic_ns()
    for block_index in range(job.count // BLOCK):
        outlet.send(block.at(block_index))
    outlet.read_rest()
    if receipt:
        talk(sock, [receipt])
    parent.send((started_ns, time.monotonic_ns() if receipt or peer.answers() else 0))
    parent.recv()  # Some servers drop a publisher's messages when it disconnects; stay until all are delivered.


class Outlet:
    """A publisher's connection, which counts responses while it sends. Where there are none to count it only sends."""

    def __init__(self, sock: socket.socket, counter: Counter | None, job: Job) -> None:
        self._sock = sock
        self._counter = counter
        self._stall_seconds = job.stall_seconds
        self._unanswered = job.count if counter else 0
        self._poll = _both_ways(sock)

    def send(self, data: memoryview) -> None:
        if self._counter is None:
            self._sock.sendall(data)
            return
        while data:
            ready = _wait(self._poll, self._stall_seconds)
            if ready & select.POLLIN:
                self._unanswered -= self._counter.read(self._sock)
            if ready & select.POLLOUT:
                data = data[self._sock.send(data, socket.MSG_DONTWAIT) :]

    def read_rest(self) -> None:
        while self._counter and self._unanswered > 0:
            self._unanswered -= self._counter.read(self._sock)
        if self._unanswered < 0:
            raise Stalled(f"{-self._unanswered} answers more than messages")


def consume(parent: Connection, job: Job) -> None:
    """Worker: subscribes, counts deliveries, sends feedback for them, and reports when the last one has arrived."""
    sock = connect(job.peer.port, job.stall_seconds, job.peer.ca)
    talk(sock, job.peer.consumer_hello())
    reader = Reader(sock, job)
    parent.send("ready")
    parent.recv()
    started_ns = time.monotonic_ns()
    reader.read_all()
    if reader.owes and (barrier := job.peer.barrier(job.count)):
        talk(sock, [barrier])
    finished_ns = time.monotonic_ns()
    check_no_extra(sock, job.count)
    talk(sock, job.peer.goodbye())
    parent.send((started_ns, finished_ns))


def respond(parent: Connection, job: Job) -> None:
    """Worker: answers every request of the round. The requests in flight fit into the socket buffers, both ways."""
    echo = job.peer.echo(job.size)
    sock = connect(job.peer.port)
    talk(sock, job.peer.publisher_hello())
    parent.send("ready")
    view = memoryview(bytearray(READ_BUFFER))
    left = job.count * len(echo.question)
    filled = 0
    while left:
        filled += receive(sock, view[filled:])
        whole = filled - filled % len(echo.question)
        sock.sendall(echo.answers(view[:whole]))
        view[: filled - whole] = view[whole:filled]
        filled -= whole
        left -= whole
    parent.recv()


class Reader:
    """A consumer's connection: `seen` deliveries have arrived, feedback for `settled` of them is sent or in `unsent`.

    With a window, feedback is sent ahead of the deliveries: it requests them.
    """

    def __init__(self, sock: socket.socket, job: Job) -> None:
        peer = job.peer
        self._sock = sock
        self._count = job.count
        self._counter = _counter(job)
        self._tail = peer.feedback_tail()
        self._window = peer.window
        self._feedback = Feedback(_owed(job, index) for index in range(job.count))
        self.owes = bool(self._tail or self._feedback.between(0, job.count))
        self._unsent = memoryview(b"")
        self._poll = _both_ways(sock)
        self._seen = 0
        self._settled = 0

    @property
    def _due(self) -> int:
        return min(self._seen + self._window, self._count)

    def read_all(self) -> None:
        self._settle()  # The first requests of a consumer with a window; nothing for others.
        while self._seen < self._count:
            # Only a reader with unsent data needs to poll for which of the two is possible.
            if not self._unsent or _wait(self._poll) & select.POLLIN:
                self._read()
            if self.owes:
                self._settle()
        while self.owes and (self._unsent or self._settled < self._due):
            _wait(self._poll)
            self._settle()

    def _read(self) -> None:
        try:
            self._seen += self._counter.read(self._sock)
        except Stalled as stalled:
            raise Stalled(f"{stalled}, after {self._seen} of {self._count} deliveries") from None
        if self._seen > self._count:
            raise Stalled(f"{self._seen} deliveries of {self._count} messages")

    def _settle(self) -> None:
        """Sends feedback for the deliveries seen, as much as the socket accepts without blocking."""
        due = self._due
        if not self._unsent and self._settled < due:
            self._unsent = self._feedback.between(self._settled, due)
            self._settled = due
            if self._tail and self._seen < self._count:
                self._unsent = memoryview(bytes(self._unsent) + self._tail)
        if self._unsent:
            try:
                self._unsent = self._unsent[self._sock.send(self._unsent, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                pass


def check_no_extra(sock: socket.socket, count: int) -> None:
    """Fails the round if another message arrives after the last."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    if poll.poll(EXTRA_SECONDS * 1000) and NUMBERED.search(sock.recv(1 << 16)):
        raise Stalled(f"more than {count} deliveries of {count} messages")


def _counter(job: Job) -> Counter:
    peer = job.peer
    if peer.course is Course.CONFIRMED:
        return MarkCounter()  # With many publishers, any message may be the last.
    if job.check:
        return CheckingCounter()
    delivery = peer.delivery(number(0), peer.body(0, job.size))
    return counter_for(len(delivery), peer.body(job.count - 1, job.size), job.count, peer.noise)


def _owed(job: Job, index: int) -> bytes:
    peer = job.peer
    if peer.course is Course.ECHO:
        return peer.publish(number(index), peer.body(index, job.size))
    return peer.feedback(index)


def _both_ways(sock: socket.socket) -> select.poll:
    poll = select.poll()
    poll.register(sock, select.POLLIN | select.POLLOUT)
    return poll


def _wait(poll: select.poll, seconds: float = STALL_SECONDS) -> int:
    ready = poll.poll(seconds * 1000)
    if not ready:
        raise Stalled("the server neither reads nor writes")
    return ready[0][1]
