"""Latency at a fixed rate: how long after its due time does a message arrive?

Open loop: message i is due at start + i / rate, and carries that time. A delayed publisher sends the due messages as
soon as it can, and they keep their intended times. So a server that stalls is charged for every message it delayed,
and cannot hide behind a publisher that waited for it.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.frames import STAMPED, age_ns, number, stamped_body
from bench.load import PREPARE_SECONDS
from bench.peers.base import Peer
from bench.wire import connect
from bench.workers import Worker, WorkerFailed
from penstock.cli.load import READ_BUFFER, receive, talk

LEAD_NS = 200_000_000
"""From the end of the encoding to the first send: time for both processes to come to rest."""

PR_SET_TIMERSLACK = 29


@dataclass(frozen=True)
class Pace:
    """A rate and the schedule that follows from it."""

    rate: int
    seconds: float
    size: int

    @property
    def count(self) -> int:
        return int(self.rate * self.seconds)

    def offset_ns(self, index: int) -> int:
        """When message `index` is due after the start. Computed from the index, so that rounding does not add up."""
        return index * 1_000_000_000 // self.rate

    def due(self, elapsed_ns: int) -> int:
        """How many messages are due after `elapsed_ns`."""
        return min(self.count, elapsed_ns * self.rate // 1_000_000_000 + 1) if elapsed_ns >= 0 else 0


@dataclass(frozen=True)
class Latency:
    """Microseconds. `lag_p99` is how late the generator itself sent; it is part of the others, not the peer's fault."""

    p50: float = 0.0
    p99: float = 0.0
    highest: float = 0.0
    lag_p99: float = 0.0
    failure: str = ""


def percentile(ordered: Sequence[int], share: float) -> int:
    """Nearest rank: the smallest value that at least `share` of all values do not exceed. Takes sorted values."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def run_latency(peer: Peer, pace: Pace) -> Latency:
    """Sends at the given pace and times every message; fails unless all arrive."""
    timeout_seconds = pace.seconds + PREPARE_SECONDS
    try:
        with Worker(consume_timed, peer, pace) as consumer:
            consumer.report(PREPARE_SECONDS)
            with Worker(publish_paced, peer, pace) as publisher:
                lags = sorted(publisher.report(timeout_seconds))
                ages = sorted(consumer.report(timeout_seconds))
                publisher.tell("done")
    except WorkerFailed as failure:
        return Latency(failure=str(failure))
    p50, p99 = percentile(ages, 0.50) / 1000, percentile(ages, 0.99) / 1000
    return Latency(p50, p99, ages[-1] / 1000, percentile(lags, 0.99) / 1000)


def publish_paced(parent: Connection, peer: Peer, pace: Pace) -> None:
    """Worker: sends each message when it is due. The times are known ahead, so the frames are encoded ahead too."""
    _sleep_exactly()
    sock = connect(peer.port)
    talk(sock, peer.publisher_hello())
    start_ns = time.monotonic_ns() + _encoding_ns(peer, pace) + LEAD_NS
    frames = [_frame(peer, pace, start_ns, index) for index in range(pace.count)]
    lags: list[int] = []
    sent = 0
    while sent < pace.count:
        now_ns = time.monotonic_ns()
        due = pace.due(now_ns - start_ns)
        if due > sent:
            sock.sendall(b"".join(frames[sent:due]))
            lags.extend(now_ns - start_ns - pace.offset_ns(index) for index in range(sent, due))
            sent = due
        wait_ns = start_ns + pace.offset_ns(sent) - time.monotonic_ns()
        if wait_ns > 0:
            time.sleep(wait_ns / 1e9)
    parent.send(lags)
    parent.recv()


def consume_timed(parent: Connection, peer: Peer, pace: Pace) -> None:
    """Worker: records the age of each message on arrival."""
    view = memoryview(bytearray(READ_BUFFER))
    sock = connect(peer.port)
    talk(sock, peer.consumer_hello())
    parent.send("ready")
    ages: list[int] = []
    rest = b""
    while len(ages) < pace.count:
        size = receive(sock, view)
        now_ns = time.monotonic_ns()
        data = rest + view[:size]
        end = 0
        for found in STAMPED.finditer(data):
            ages.append(age_ns(found[1], now_ns))
            end = found.end()
        rest = data[end:]
    parent.send(ages)


def _frame(peer: Peer, pace: Pace, start_ns: int, index: int) -> bytes:
    return peer.publish(number(index), stamped_body(start_ns + pace.offset_ns(index), pace.size))


def _encoding_ns(peer: Peer, pace: Pace) -> int:
    """An upper bound for the time to encode the whole round, extrapolated from its first hundredth."""
    started_ns = time.monotonic_ns()
    for index in range(pace.count // 100):
        _frame(peer, pace, 0, index)
    return (time.monotonic_ns() - started_ns) * 200


def _sleep_exactly() -> None:
    """Asks Linux for exact sleeps; by default it may add 50 microseconds to each."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
