"""A queue of millions of messages without a consumer: its memory, and how long a server takes to restart with it.

Every server gets the same messages and is restarted twice, after a kill and after a clean stop. The clock runs from
process start until the server is ready and reports every message. One server at a time, in a fresh directory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from bench.load import Job, consume, go, publish
from bench.machine import peak_rss_mb, rss_mb
from bench.peers import Missing, Mode, Peer
from bench.peers.base import Course
from bench.results import Backlog, Results
from bench.servers import POLL_SECONDS, START_SECONDS, StartFailed
from bench.turns import directory, say
from bench.workers import Worker, WorkerFailed
from penstock.cli.load import Stalled

SIZE = 100
FILL_SECONDS = 600.0
READ_SECONDS = 300.0
STOP_SECONDS = 120.0
STALL_SECONDS = 120.0
"""A server may stand still to put away what it has: RabbitMQ does, for longer than a round would wait."""


def run_backlog(rows: Sequence[type[Peer]], count: int, results: Results, topics: Iterator[bytes]) -> None:
    """Fills and restarts each server. Ours (the first) is then read to the end; the others only report their count."""
    for row in rows:
        peer = row().for_round(Mode.AUTO, next(topics), Course.PUT)
        with directory() as workdir:
            try:
                peer.start(workdir)
                results.versions[peer.name] = peer.version()
                results.backlogs.append(measure(peer, count, read_back=row is rows[0]))
            except (Missing, StartFailed) as reason:
                results.missing[peer.name] = str(reason)
                say(f"{peer.name}: {reason}")
            finally:
                peer.stop()


def measure(peer: Peer, count: int, read_back: bool) -> Backlog:
    """Measures one running, empty server. A failure ends the measurement; the figures found so far are kept."""
    found = Backlog(peer.name, count, SIZE)
    job = Job(peer, SIZE, count, stall_seconds=STALL_SECONDS)
    try:
        found = _filled(found, job)
        say(f"backlog: {peer.name} has its messages, {found.rss:,.0f} MB")
        found = replace(found, after_kill=_restarted(job, _kill))
        say(f"backlog: {peer.name} is back {found.after_kill:.2f} s after kill -9")
        found = replace(found, after_stop=_restarted(job, _stop), rss_after=rss_mb(peer.pid))
        say(f"backlog: {peer.name} is back {found.after_stop:.2f} s after a stop")
        return replace(found, read_rate=_read_back(job)) if read_back else found
    except (WorkerFailed, Stalled, StartFailed) as failure:
        say(f"backlog: {peer.name} failed: {failure}")
        return replace(found, failure=str(failure))


def _filled(found: Backlog, job: Job) -> Backlog:
    with Worker(publish, job) as publisher:
        filled = go(publisher, job, FILL_SECONDS)
        publisher.tell("done")
    _wait_for_stock(job)
    return replace(found, fill_rate=filled.rate, rss=rss_mb(job.peer.pid), peak=peak_rss_mb(job.peer.pid))


def _restarted(job: Job, end: Callable[[Peer], None]) -> float:
    end(job.peer)
    started = time.monotonic()
    job.peer.launch()
    _wait_for_stock(job)
    return time.monotonic() - started


def _kill(peer: Peer) -> None:
    assert peer.server is not None
    peer.server.kill()


def _stop(peer: Peer) -> None:
    assert peer.server is not None
    if not peer.server.stop(STOP_SECONDS):
        raise Stalled(f"it did not stop within {STOP_SECONDS:.0f} s")


def _wait_for_stock(job: Job) -> None:
    """Returns when the server reports that it has all messages.

    Raises:
        Stalled: it did not in time.
    """
    deadline = time.monotonic() + START_SECONDS
    said: object = "nothing"
    while said != job.count:
        if time.monotonic() > deadline:
            raise Stalled(f"asked for its {job.count} messages, it said {said}")
        time.sleep(POLL_SECONDS)
        try:
            said = job.peer.stock()
        except (OSError, Stalled) as silence:
            said = silence


def _read_back(job: Job) -> float:
    with Worker(consume, job) as consumer:
        return go(consumer, job, READ_SECONDS).rate
