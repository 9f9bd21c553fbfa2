"""Can one client push the broker over its memory limit? `python -m bench.memory`

A broker with `memory_bytes_max` of 128 MiB has a backlog of 2 GB: small bodies and large ones, some with headers, dead
letters, delayed messages. Each attack of `memory_attacks.py` gets a broker of its own, started on that backlog, and
some seconds; it is a process of its own with a handful of connections. Meanwhile a well-behaved client sends a ping and
a confirmed publish, one after the other, and times them.

The figure is the broker's peak (VmHWM, which misses no spike), its start included. The bar is twice
`memory_bytes_max`. A process that the broker starts to read the log is shown beside it. Exit code 1 when an attack
exceeded the bar.

    python -m bench.memory --only lease,browse     attacks whose names contain one of these words
    python -m bench.memory --list                  list their names
    python -m bench.memory --keep DIR              build the backlog there once, and reuse it
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import select
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.attacking import Target, field_of, wait_for_http
from bench.machine import process_tree
from bench.memory_attacks import ATTACKS
from bench.memory_backlog import CONFIG, fill
from penstock.testing import BrokerProcess

MIB = 1 << 20
LIMIT = 128 * MIB
BACKLOG_BYTES = 2_000_000_000
BAR = 2.0  # times `memory_bytes_max`
SECONDS = 12.0
AFTER_SECONDS = 2.0  # how long the broker is watched after the attack
SAMPLE_SECONDS = 0.02
LINKED_BYTES = 1 << 20
PING_SECONDS = 60.0  # a client that waits longer counts as not served


@dataclass(frozen=True)
class Outcome:
    """What one attack did to the broker."""

    name: str
    idle: int  # bytes, before the attack
    peak: int  # bytes, the maximum
    beside: int  # bytes, the largest sample over the processes that the broker started
    after: int  # bytes, some seconds after the attack
    ping_ms: float  # the longest
    confirm_ms: float  # the longest
    note: str  # the attack's own summary

    def is_over(self, limit: int) -> bool:
        return self.peak > BAR * limit


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--backlog", type=int, default=BACKLOG_BYTES, metavar="BYTES")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="BYTES", help="memory_bytes_max of the broker.")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="Of one attack, at most.")
    parser.add_argument("--only", default="", metavar="WORDS", help="Attacks with one of these in their names.")
    parser.add_argument("--keep", type=Path, default=None, metavar="DIR", help="Where the backlog is, or will be.")
    parser.add_argument("--list", action="store_true", help="The names of the attacks.")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="Write the outcomes there as well.")
    said = parser.parse_args(arguments)
    words = [word for word in said.only.split(",") if word]
    names = [name for name in ATTACKS if not words or any(word in name for word in words)]
    if said.list:
        print("\n".join(names))
        return 0
    outcomes: list[Outcome] = []
    with _backlog(said.keep, said.backlog, said.limit) as built:
        print(HEADER, flush=True)
        for name in names:
            outcome = measure(built, name, said.limit, said.seconds)
            outcomes.append(outcome)
            print(row_of(outcome, said.limit), flush=True)
    if said.json is not None:
        said.json.write_text(json.dumps([vars(outcome) for outcome in outcomes], indent=1))
    over = [outcome.name for outcome in outcomes if outcome.is_over(said.limit)]
    print(f"{len(over)} of {len(outcomes)} above {BAR * said.limit / MIB:.0f} MiB" + "".join(f"\n  {n}" for n in over))
    return 1 if over else 0


HEADER = (
    f"{'attack':46} {'idle':>6} {'peak':>6} {'after':>6} {'beside':>6}  MiB {'ping':>8} {'confirm':>8}  ms, the longest"
)


def row_of(outcome: Outcome, limit: int) -> str:
    sizes = (outcome.idle, outcome.peak, outcome.after, outcome.beside)
    figures = " ".join(f"{size / MIB:6.0f}" for size in sizes)
    mark = "OVER" if outcome.is_over(limit) else "    "
    times = f"{outcome.ping_ms:8.1f} {outcome.confirm_ms:8.1f}"
    return f"{outcome.name:46} {figures} {mark} {times}  {outcome.note}"


def measure(built: Path, name: str, limit: int, seconds: float) -> Outcome:
    """Runs one attack on a broker of its own that has the backlog."""
    with tempfile.TemporaryDirectory(dir=built.parent) as workdir:
        data = Path(workdir) / "data"
        shutil.copytree(built, data, copy_function=_link_or_copy)
        broker = broker_on(data, limit)
        broker.start()
        try:
            return _attacked(broker, name, seconds)
        finally:
            broker.kill()


def _link_or_copy(source: str, target: str) -> None:
    """A restarted broker only writes new log files, so large files are shared as hard links; the rest is copied."""
    if Path(source).stat().st_size > LINKED_BYTES:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


def broker_on(data: Path, limit: int) -> BrokerProcess:
    config = data.parent / "penstock.toml"
    config.write_text(CONFIG)
    return BrokerProcess(data=data, config=config, memory_bytes_max=limit, segment_bytes_max=16 * MIB)


def _attacked(broker: BrokerProcess, name: str, seconds: float) -> Outcome:
    assert broker.process is not None
    pid = broker.process.pid
    wait_for_http(broker.ports["http"])
    worker = Worker(broker.ports["mqks"])
    idle = field_of(pid, "VmRSS")
    context = multiprocessing.get_context("spawn")
    notes = context.SimpleQueue()
    attacker = context.Process(target=_attack, args=(name, broker.ports, seconds, notes), daemon=True)
    attacker.start()
    beside = 0
    note = ""
    ended_at = 0.0
    deadline = time.monotonic() + seconds + 60
    while time.monotonic() < deadline and (not ended_at or time.monotonic() < ended_at + AFTER_SECONDS):
        time.sleep(SAMPLE_SECONDS)
        if not worker.turn() or broker.process.poll() is not None:
            note = f"THE BROKER DOES NOT ANSWER (exit code {broker.process.poll()}); "
            break
        beside = max(beside, sum(field_of(child, "VmRSS") for child in process_tree(pid)[1:]))
        if not ended_at and not attacker.is_alive():
            ended_at = time.monotonic()
    attacker.terminate()
    attacker.join(10)
    note += str(notes.get()) if not notes.empty() else f"the attack ended with {attacker.exitcode}"
    peak, after = field_of(pid, "VmHWM"), field_of(pid, "VmRSS")
    worker.close()
    return Outcome(name, idle, peak, beside, after, worker.ping_ms, worker.confirm_ms, note)


def _attack(name: str, ports: dict[str, int], seconds: float, notes: "multiprocessing.queues.SimpleQueue[str]") -> None:
    """Runs in a process of its own; the time starts once it is running."""
    try:
        notes.put(ATTACKS[name](Target(ports, time.time() + seconds)))
    except (OSError, EOFError) as error:
        notes.put(f"ended by {error!r}")


class Worker:
    """A well-behaved client: a ping, then a confirmed publish to a queue of its own, waiting for each."""

    def __init__(self, port: int) -> None:
        self._pings = _connected(port)
        self._publishes = _connected(port)
        self._published_at = 0.0  # send time of the publish that is not confirmed yet
        self._number = 0
        self.ping_ms = 0.0
        self.confirm_ms = 0.0

    def turn(self) -> bool:
        """Returns False when the broker does not answer a ping. A publish may wait for memory; that is reported."""
        self._number += 1
        try:
            begun = time.perf_counter()
            self._pings.sendall(b"p%d ping x\n" % self._number)
            while not self._pings.recv(65536).endswith(b"\n"):
                pass
            self.ping_ms = max(self.ping_ms, (time.perf_counter() - begun) * 1000)
            self._publish()
        except OSError:
            return False
        return True

    def _publish(self) -> None:
        if self._published_at:
            waited = (time.perf_counter() - self._published_at) * 1000
            self.confirm_ms = max(self.confirm_ms, waited)
            if select.select([self._publishes], [], [], 0)[0] and self._publishes.recv(65536).endswith(b"\n"):
                self._published_at = 0.0
        if not self._published_at:
            self._published_at = time.perf_counter()
            self._publishes.sendall(b"m%d publish --confirm nobody.listens x\n" % self._number)

    def close(self) -> None:
        self._pings.close()
        self._publishes.close()


def _connected(port: int) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=PING_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


@contextlib.contextmanager
def _backlog(keep: Path | None, size: int, limit: int) -> Iterator[Path]:
    """The data directory that every broker starts with."""
    with contextlib.ExitStack() as stack:
        directory = keep
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        built = directory / "backlog"
        if not built.exists():
            build(built, size, limit)
        yield built


def build(built: Path, size: int, limit: int) -> None:
    """Fills a broker and stops it."""
    begun = time.monotonic()
    partial = built.with_name("backlog.partial")
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir(parents=True)
    broker = broker_on(partial, limit)
    broker.start()
    assert broker.process is not None
    note = fill(broker.ports, size)
    peak = field_of(broker.process.pid, "VmHWM")
    broker.stop()
    partial.rename(built)
    print(f"backlog: {note} in {time.monotonic() - begun:.0f} s; the broker's peak {peak / MIB:.0f} MiB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
