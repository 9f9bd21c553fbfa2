"""One throughput round: a publisher process, a counting reader process, and a clock as defined by the peer's `Course`.

Both processes are the same for every peer; only the bytes differ. What they do with their connection is in
`penstock.cli.load`, which `penstock bench` uses too.
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
from bench.counting import CheckingCounter
from bench.frames import BLOCK, MARK, NUMBERED, Block, Feedback, number
from bench.machine import NO_USAGE, BrokerContext, usage
from bench.peers.base import Course, Peer
from bench.wire import STALL_SECONDS, connect
from bench.workers import Worker, WorkerFailed
from penstock.cli.load import Consumer, Counter, EchoCounter, MarkCounter, Publisher, SizeCounter, Stalled, talk

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
    publisher = RoundPublisher(sock, peer.answers(), job)
    receipt = peer.receipt(job.count)
    parent.send("ready")
    parent.recv()
    started_ns = time.monotonic_ns()
    for block_index in range(job.count // BLOCK):
        publisher.send(block.at(block_index))
    publisher.read_rest()
    if receipt:
        talk(sock, [receipt])
    parent.send((started_ns, time.monotonic_ns() if receipt or peer.answers() else 0))
    parent.recv()  # Some servers drop a publisher's messages when it disconnects; stay until all are delivered.


class RoundPublisher(Publisher):
    """The publisher of a round. Where there are no answers to count it only sends."""

    def __init__(self, sock: socket.socket, counter: Counter | None, job: Job) -> None:
        super().__init__(sock, counter or MarkCounter(MARK))
        self._expected = job.count if counter else 0
        self._stall_seconds = job.stall_seconds
        self._poll = _both_ways(sock)

    def send(self, data: memoryview) -> None:
        if not self._expected:
            self._sock.sendall(data)
            return
        self.unsent = data
        while self.unsent:
            self.step(_wait(self._poll, self._stall_seconds))

    def read_rest(self) -> None:
        while self.answered < self._expected:
            self.step(select.POLLIN)
        if self.answered > self._expected:
            raise Stalled(f"{self.answered - self._expected} answers more than messages")


def consume(parent: Connection, job: Job) -> None:
    """Worker: subscribes, counts deliveries, sends feedback for them, and reports when the last one has arrived."""
    sock = connect(job.peer.port, job.stall_seconds, job.peer.ca)
    talk(sock, job.peer.consumer_hello())
    consumer = RoundConsumer(sock, job)
    parent.send("ready")
    parent.recv()
    started_ns = time.monotonic_ns()
    consumer.read_all()
    if consumer.owes and (barrier := job.peer.barrier(job.count)):
        talk(sock, [barrier])
    finished_ns = time.monotonic_ns()
    check_no_extra(sock, job.count)
    talk(sock, job.peer.goodbye())
    parent.send((started_ns, finished_ns))


def respond(parent: Connection, job: Job) -> None:
    """Worker: answers every request of the round. The requests in flight fit into the socket buffers, both ways."""
    requests = EchoCounter(job.peer.echo(job.size))
    sock = connect(job.peer.port)
    talk(sock, job.peer.publisher_hello())
    parent.send("ready")
    left = job.count
    while left:
        left -= requests.read(sock)
        sock.sendall(requests.take_answers())
    parent.recv()


class RoundConsumer(Consumer):
    """The consumer of a round, which expects each of its messages once."""

    def __init__(self, sock: socket.socket, job: Job) -> None:
        feedback = Feedback((_owed(job, index) for index in range(job.count)), job.peer.feedback_tail())
        between = feedback.between if feedback else None
        super().__init__(sock, _counter(job), between, job.count, job.peer.window)
        self.owes = between is not None
        self._poll = _both_ways(sock)

    def read_all(self) -> None:
        self.settle()  # The first requests of a consumer with a window; nothing for others.
        while self.seen < self._count:
            # Only a consumer with unsent data needs to poll for which of the two is possible.
            if not self.unsent or _wait(self._poll) & select.POLLIN:
                self.read()
            if self.owes:
                self.settle()
        while not self.is_settled:
            _wait(self._poll)
            self.settle()

    def read(self) -> None:
        try:
            super().read()
        except Stalled as stalled:
            raise Stalled(f"{stalled}, after {self.seen} of {self._count} deliveries") from None
        if self.seen > self._count:
            raise Stalled(f"{self.seen} deliveries of {self._count} messages")


def check_no_extra(sock: socket.socket, count: int) -> None:
    """Fails the round if another message arrives after the last."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    if poll.poll(EXTRA_SECONDS * 1000) and NUMBERED.search(sock.recv(1 << 16)):
        raise Stalled(f"more than {count} deliveries of {count} messages")


def _counter(job: Job) -> Counter:
    peer = job.peer
    if peer.course is Course.CONFIRMED:
        return MarkCounter(MARK)  # With many publishers, any message may be the last.
    if job.check:
        return CheckingCounter()
    if delivery := peer.delivery(number(0), peer.body(0, job.size)):
        return SizeCounter(len(delivery), peer.body(job.count - 1, job.size), job.count, peer.noise)
    return MarkCounter(MARK)


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
