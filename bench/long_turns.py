"""How long are a broker's loop iterations under attack? `python -m bench.long_turns`

A client delays another by making an event loop iteration ("turn") longer. Round trips (`bench.hostile`) show that, but
also how busy the machine is. This measures from inside: a callback that runs once per iteration records the processor
time its thread has used since the last one, which other processes on the machine do not affect.

    python -m bench.long_turns --only smqs,lease        attacks whose names contain one of these words
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import uvloop

from bench.hostile import LIMIT, PREPARE_SECONDS, attack_worker, make_users, settings_for
from bench.hostile_attacks import ATTACKS, Attack
from bench.workers import Worker, WorkerFailed
from penstock.config import LISTENERS, Config
from penstock.node import Node
from penstock.server.memory import collect_seldom

SECONDS = 3.0
SHOWN = 5
BAR_MS = 20.0
START_SECONDS = 30.0
LATE_SECONDS = 10.0


@dataclass(frozen=True)
class Turns:
    """The loop iterations of a broker while it was observed."""

    count: int
    longest_ms: tuple[float, ...]  # of the thread that runs the loop
    of_all_ms: float  # the longest of all threads together: a thread that holds the GIL keeps the loop waiting
    p99_ms: float
    busy_seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.long_turns", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORDS", help="Attacks with one of these in their names.")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="Of one attack.")
    said = parser.parse_args(arguments)
    words = [word for word in said.only.split(",") if word]
    print(f"{'attack':58} {'turns':>7} {'busy s':>6} {'p99':>7} {'all':>6}   the longest, ms", flush=True)
    long = 0
    for name, attack in ATTACKS.items():
        if words and not any(word in name for word in words):
            continue
        turns, note = measure(attack, said.seconds)
        long += turns.longest_ms[0] > BAR_MS
        longest = " ".join(f"{ms:6.1f}" for ms in turns.longest_ms)
        figures = f"{turns.count:7,} {turns.busy_seconds:6.2f} {turns.p99_ms:7.2f} {turns.of_all_ms:6.1f}"
        print(f"{name:58} {figures}   {longest}  {note}", flush=True)
    print(f"{long} with a turn above {BAR_MS:.0f} ms")
    return 0


def measure(attack: Attack, seconds: float) -> tuple[Turns, str]:
    with tempfile.TemporaryDirectory(prefix="turns-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        tokens = make_users(directory / "users.json")
        with Worker(_serve, settings_for(directory, LIMIT, attack.settings)) as broker:
            ports = broker.report(START_SECONDS)
            with Worker(attack_worker, attack, ports, tokens) as attacker:
                attacker.report(PREPARE_SECONDS)
                broker.tell("look")
                attacker.tell(time.time() + seconds)
                time.sleep(seconds)
                broker.tell("tell")
                turns: Turns = broker.report(LATE_SECONDS + seconds)
                try:
                    note = str(attacker.report(LATE_SECONDS))
                except WorkerFailed as failure:
                    note = str(failure)
        return turns, note


def _serve(parent: Connection, settings: dict[str, object]) -> None:
    """Worker: a broker whose loop iterations are measured on request."""
    collect_seldom()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_be_looked_at(parent, settings))


async def _be_looked_at(parent: Connection, settings: dict[str, object]) -> None:
    flags = {**dict.fromkeys(LISTENERS, 0), **settings}
    node = Node(Config.load(flags, {}, None), lambda level, event, details: None)
    parent.send(await node.start())
    loop = asyncio.get_running_loop()
    look = Look(loop)
    told = asyncio.Event()
    loop.add_reader(parent.fileno(), told.set)
    for begins in (True, False):
        await told.wait()
        told.clear()
        parent.recv()
        if begins:
            look.begin()
    parent.send(look.end())
    await asyncio.sleep(LATE_SECONDS)  # the parent ends this process earlier


class Look:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._used: list[float] = []
        self._last = 0.0
        self._last_of_all = 0.0
        self._longest_of_all = 0.0
        self._over = False

    def begin(self) -> None:
        self._last = time.thread_time()
        self._last_of_all = time.process_time()
        self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        now = time.thread_time()
        self._used.append(now - self._last)
        self._last = now
        of_all = time.process_time()
        self._longest_of_all = max(self._longest_of_all, of_all - self._last_of_all)
        self._last_of_all = of_all
        if not self._over:
            self._loop.call_soon(self._turn)

    def end(self) -> Turns:
        self._over = True
        used = sorted(self._used)
        longest = tuple(seconds * 1000 for seconds in used[::-1][:SHOWN])
        of_all = self._longest_of_all * 1000
        return Turns(len(used), longest, of_all, used[len(used) * 99 // 100] * 1000, sum(used))


if __name__ == "__main__":
    sys.exit(main())
