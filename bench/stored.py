"""Rounds on disk: the same message count for every peer, and new servers with empty directories for each table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench.confirmed import CLIENTS
from bench.frames import BLOCK
from bench.load import Job, Round, run_round
from bench.machine import sync_ms
from bench.peers import Mode, Peer
from bench.peers.base import Course
from bench.peers.durable import Consumed, Mqks
from bench.results import Cell, Results
from bench.turns import directory, latest, rotated, running, say

CHECK_COUNT = CLIENTS * BLOCK // 8
"""Whole blocks, and shared out evenly among many clients."""

WARM_PART = 4
"""The round before the first that counts has this part of its messages."""

CONFIRMED_SIZE = 100


def run_durable(
    rows: Sequence[type[Peer]], sizes: Sequence[int], count: int, rounds: int, results: Results, topics: Iterator[bytes]
) -> None:
    """Ingest, then publish to consume with acks, for each size. The mode of ingest is how it is emptied afterwards.

    The ingest table has two rows of ours: the second one also consumes what the others only store.
    """
    for course, mode in ((Course.PUT, Mode.AUTO), (Course.THROUGH, Mode.MANUAL)):
        ours: list[type[Peer]] = [Consumed] if course is Course.PUT and Mqks in rows else []
        for size in sizes:
            with running([*rows, *ours], results) as peers:
                results.durable += _table(peers, Cell("", mode, size, course=course), count, rounds, topics)


def run_confirmed(
    rows: Sequence[type[Peer]], per_client: int, rounds: int, results: Results, topics: Iterator[bytes]
) -> None:
    """Many publishers, each with a window of publishes. Also measures one sync on the disk the servers write to."""
    with running(rows, results) as peers:
        with directory() as beside:
            results.sync_ms = sync_ms(beside)
        like = Cell("", Mode.MANUAL, CONFIRMED_SIZE, course=Course.CONFIRMED)
        results.confirmed = _table(peers, like, per_client * CLIENTS, rounds, topics)


def _table(peers: list[Peer], like: Cell, count: int, rounds: int, topics: Iterator[bytes]) -> list[Cell]:
    """The cells of one table: a small round that checks every message, a warm-up, then the peers in turn."""
    cells = {peer.name: replace(like, peer=peer.name, rounds=[]) for peer in peers}
    title = f"on disk, {like.course.name.lower()}, {like.size} B"

    def play(peer: Peer, messages: int, check: bool = False) -> Round:
        return run_round(Job(peer.for_round(like.mode, next(topics), like.course), like.size, messages, check))

    able = []
    for peer in peers:
        trial = play(peer, CHECK_COUNT, check=True)
        if not trial.failure:
            trial = play(peer, max(count // WARM_PART // CHECK_COUNT, 1) * CHECK_COUNT)
        if trial.failure:
            cells[peer.name].rounds.append(trial)
            say(f"{title}: {peer.name} failed: {trial.failure}")
        else:
            able.append(peer)
    for turn in range(rounds):
        for peer in rotated(able, turn):
            cells[peer.name].rounds.append(play(peer, min(count, peer.count_max)))
        say(f"{title}, round {turn + 1} of {rounds}: {latest(cells.values())}")
    return list(cells.values())
