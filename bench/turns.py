"""Shared by all sections of a run: servers that stop with it, rotation of the peers, a topic for each round."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from bench.peers import Missing, Peer
from bench.results import Cell, Results
from bench.servers import StartFailed

P = TypeVar("P", bound=Peer)
T = TypeVar("T")


@contextmanager
def running(candidates: Sequence[type[P]], results: Results) -> Iterator[list[P]]:
    """Starts the available servers and stops them again, whatever happens in between; missing ones are recorded."""
    with ExitStack() as stack:
        peers = []
        for candidate in candidates:
            peer = candidate()
            workdir = stack.enter_context(directory())
            stack.callback(peer.stop)
            try:
                peer.start(workdir)
            except (Missing, StartFailed) as reason:
                results.missing[peer.name] = str(reason)
                say(f"{peer.name}: {reason}")
                continue
            results.versions[peer.name] = peer.version()
            peers.append(peer)
        yield peers


@contextmanager
def directory() -> Iterator[Path]:
    """A fresh directory, deleted afterwards; TMPDIR selects the disk."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def rotated(peers: list[T], turn: int) -> list[T]:
    """Another peer goes first each time, since a run affects caches and clock speed for the next."""
    cut = turn % len(peers) if peers else 0
    return peers[cut:] + peers[:cut]


def fresh_topics() -> Iterator[bytes]:
    """A fresh topic for each round, all of the same length, so that frames keep their size."""
    return (b"t%04d" % index for index in range(10_000))


def latest(cells: Iterable[Cell]) -> str:
    rounds = ((cell.peer, cell.rounds[-1]) for cell in cells if cell.rounds)
    return ", ".join(f"{peer} {'failed' if last.failure else f'{last.rate:,.0f}'}" for peer, last in rounds)


def say(text: str) -> None:
    """Progress goes to stderr; stdout is for the report."""
    print(text, file=sys.stderr, flush=True)
