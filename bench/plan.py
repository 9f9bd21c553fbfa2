"""The run: every peer is started once, then rounds alternate, so that other load on the machine affects all alike."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from bench.backlog import run_backlog
from bench.clients import run_clients
from bench.frames import BLOCK, COUNT_MAX
from bench.latency import Pace, run_latency
from bench.load import Job, Round, run_round
from bench.machine import peak_rss_mb, rss_mb, this_machine
from bench.peers import BACKLOG, CONFIRMED, DURABLE, PEERS, PROTOCOLS, Mode, Peer
from bench.peers.penstock import Mqks, Penstock
from bench.results import Cell, Memory, Results
from bench.stored import run_confirmed, run_durable
from bench.tables import run_tables
from bench.turns import fresh_topics, latest, rotated, running, say

CHECK_COUNT = 5 * BLOCK
TRIAL_COUNT = 20 * BLOCK
TRIAL_SECONDS = 0.25
PROTOCOL_SIZE = 100
BYTES_MAX = 1 << 30
"""The most body bytes of one round: what a server without back-pressure may have to hold."""


class Section(Enum):
    THROUGHPUT = "throughput"
    LATENCY = "latency"
    PROTOCOLS = "protocols"
    CLIENTS = "clients"
    TLS = "tls"
    DURABLE = "durable"
    CONFIRMED = "confirmed"
    BACKLOG = "backlog"
    SPARK = "spark"


@dataclass(frozen=True)
class Rows:
    """The peers of each table."""

    peers: Sequence[type[Peer]] = PEERS
    protocols: Sequence[type[Penstock]] = PROTOCOLS
    durable: Sequence[type[Peer]] = DURABLE
    confirmed: Sequence[type[Peer]] = CONFIRMED
    backlog: Sequence[type[Peer]] = BACKLOG
    clients: bool = False
    spark: bool = False
    tls: Sequence[type[Peer]] = ()


@dataclass(frozen=True)
class Disk:
    """The size of the sections that write to disk. Message counts are the same for every peer."""

    sizes: Sequence[int]
    count: int
    rounds: int
    per_client: int
    backlog: int


@dataclass(frozen=True)
class Plan:
    """What to measure and for how long."""

    sections: Sequence[Section]
    modes: Sequence[Mode]
    sizes: Sequence[int]
    rounds: int
    round_seconds: float
    pace: Pace
    latency_rounds: int
    disk: Disk
    table_rows: int
    """What Spark reads and writes in a round."""


def run(plan: Plan, rows: Rows) -> Results:
    """Runs the whole plan. Every server it started has stopped when it returns or raises."""
    started = time.monotonic()
    results = Results(this_machine(), plan.pace, plan.rounds, [section.value for section in plan.sections])
    topics = fresh_topics()
    if Section.THROUGHPUT in plan.sections or Section.LATENCY in plan.sections:
        with running(rows.peers, results) as peers:
            if Section.THROUGHPUT in plan.sections:
                _beside_peers(plan, peers, results, topics)
            if Section.LATENCY in plan.sections:
                _latency(plan, [peer for peer in peers if peer.latency], results, topics)
    if Section.PROTOCOLS in plan.sections and rows.protocols:
        with running([Mqks], results) as servers:
            views = [protocol().share(server) for server in servers for protocol in rows.protocols]
            results.protocols = _throughput(plan, views, Mode.AUTO, PROTOCOL_SIZE, topics)
    if Section.CLIENTS in plan.sections and rows.clients:
        run_clients(plan.rounds, plan.round_seconds, results, topics)
    if Section.TLS in plan.sections and rows.tls:
        with running(rows.tls, results) as peers:
            for size in plan.sizes:
                results.tls += _throughput(plan, peers, Mode.AUTO, size, topics)
    disk = plan.disk
    if Section.DURABLE in plan.sections and rows.durable:
        run_durable(rows.durable, disk.sizes, disk.count, disk.rounds, results, topics)
    if Section.CONFIRMED in plan.sections and rows.confirmed:
        run_confirmed(rows.confirmed, disk.per_client, plan.rounds, results, topics)
    if Section.BACKLOG in plan.sections and rows.backlog:
        run_backlog(rows.backlog, disk.backlog, results, topics)
    if Section.SPARK in plan.sections and rows.spark:
        run_tables(plan.table_rows, plan.rounds, results)
    results.load_1min_after = os.getloadavg()[0]
    results.seconds = time.monotonic() - started
    return results


def _beside_peers(plan: Plan, peers: list[Peer], results: Results, topics: Iterator[bytes]) -> None:
    idle = {peer.name: rss_mb(peer.pid) for peer in peers}
    for mode in plan.modes:
        able = [peer for peer in peers if mode in peer.modes]
        for size in plan.sizes:
            results.cells += _throughput(plan, able, mode, size, topics)
    for peer in peers:
        results.memory[peer.name] = Memory(idle[peer.name], rss_mb(peer.pid), peak_rss_mb(peer.pid))


def _throughput(plan: Plan, peers: Sequence[Peer], mode: Mode, size: int, topics: Iterator[bytes]) -> list[Cell]:
    """The cells of one table: first the message count of each peer is calibrated, then the peers take turns."""
    cells = {peer.name: Cell(peer.name, mode, size) for peer in peers}
    counts = {}
    for peer in peers:
        found = _calibrate(peer, mode, size, plan.round_seconds, topics)
        if isinstance(found, Round):
            cells[peer.name].rounds.append(found)
            say(f"{mode.value} {size} B: {peer.name} failed: {found.failure}")
        else:
            counts[peer.name] = found
    able = [peer for peer in peers if peer.name in counts]
    for turn in range(plan.rounds):
        for peer in rotated(able, turn):
            job = Job(peer.for_round(mode, next(topics)), size, counts[peer.name])
            cells[peer.name].rounds.append(run_round(job))
        say(f"{mode.value} {size} B, round {turn + 1} of {plan.rounds}: {latest(cells.values())}")
    return list(cells.values())


def _calibrate(peer: Peer, mode: Mode, size: int, seconds: float, topics: Iterator[bytes]) -> int | Round:
    """The number of messages for a round of about `seconds`; or the failed round, when a trial fails.

    The first trial checks that every message arrives once and in order, the others only estimate the speed.
    """
    rate = 0.0
    for count, check in ((CHECK_COUNT, True), (TRIAL_COUNT, False), (0, False)):
        count = count or message_count(rate * TRIAL_SECONDS, size, peer.count_max)
        trial = run_round(Job(peer.for_round(mode, next(topics)), size, count, check))
        if trial.failure:
            return trial
        rate = trial.rate
    return message_count(rate * seconds, size, peer.count_max)


def message_count(wanted: float, size: int, count_max: int = COUNT_MAX) -> int:
    """A whole number of blocks near `wanted`, within the limits of message numbers and memory."""
    limit = min(count_max, BYTES_MAX // size)
    return max(5, min(int(wanted), limit) // BLOCK) * BLOCK


def _latency(plan: Plan, peers: list[Peer], results: Results, topics: Iterator[bytes]) -> None:
    for turn in range(plan.latency_rounds):
        for peer in rotated(peers, turn):
            found = run_latency(peer.for_round(Mode.AUTO, next(topics)), plan.pace)
            results.latencies.setdefault(peer.name, []).append(found)
            text = found.failure or f"p50 {found.p50:,.0f} us, p99 {found.p99:,.0f} us"
            say(f"latency, round {turn + 1} of {plan.latency_rounds}: {peer.name} {text}")
