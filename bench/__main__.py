"""`python -m bench`: starts Penstock and its peers on this machine, puts the same load on each, prints the results."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from bench.bars import judge
from bench.frames import BLOCK, SIZE_MIN
from bench.latency import Pace
from bench.peers import BACKLOG, CONFIRMED, DURABLE, PEERS, PROTOCOLS, TLS, Mode, Peer
from bench.plan import Disk, Plan, Rows, Section, run
from bench.report import text_report, write_json

SECTIONS = [section.value for section in Section]
LONG = (Section.BACKLOG,)
"""Sections of minutes, which a quick look leaves out unless they are asked for."""

SIZES = [16, 256, 4096]
DURABLE_SIZES = [16, 256]
BACKLOG_COUNT = 5_000_000
TABLE_ROWS = 2_000_000
RESULTS = Path(__file__).parent / "results" / "latest.json"

P = TypeVar("P", bound=Peer)


def main() -> int:
    options = _parser().parse_args()
    rows = choose(options.only)
    if not any(vars(rows).values()):
        names = dict.fromkeys(peer.name for peer in (*PEERS, *PROTOCOLS, *TLS, *DURABLE))
        there = ", ".join([*names, Section.CLIENTS.value, Section.SPARK.value])
        print(f"no peer or protocol is called that; there are: {there}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Raises SystemExit, so that the servers are stopped too.
    try:
        results = run(_plan(options), rows)
    except KeyboardInterrupt:
        print("interrupted; the servers have ended, nothing was written", file=sys.stderr)
        return 130
    bars = judge(results)
    print(text_report(results, bars))
    write_json(options.json, results, bars)
    print(f"\nwritten to {options.json}", file=sys.stderr)
    return 1 if options.check and not all(bar.met for bar in bars) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short rounds: a look, not a result")
    parser.add_argument("--rounds", type=int, help="rounds per table (default 5, durable 3, quick 2)")
    parser.add_argument("--only", default="", metavar="PEER,PEER", help="rows whose name holds one of these words")
    parser.add_argument("--sections", type=_sections, metavar="S,S", help=", ".join(SECTIONS))
    parser.add_argument("--sizes", type=_sizes, metavar="N,N", help="body sizes in bytes")
    parser.add_argument("--modes", type=_modes, default=list(Mode), metavar="M,M", help="auto-ack, manual-ack or both")
    parser.add_argument("--latency-rounds", type=int, help="rounds for latency (default 5, quick 1; 0: none)")
    parser.add_argument("--rate", type=int, default=10_000, help="messages per second of the latency table")
    parser.add_argument("--backlog", type=_blocks, default=BACKLOG_COUNT, metavar="N", help="messages of the backlog")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE", help="where the figures are written")
    parser.add_argument("--check", action="store_true", help="exit with 1 unless every bar is met")
    return parser


def _plan(options: argparse.Namespace) -> Plan:
    quick = options.quick
    return Plan(
        sections=options.sections or [each for each in Section if not quick or each not in LONG],
        modes=options.modes,
        sizes=options.sizes or SIZES,
        rounds=_chosen(options.rounds, 2 if quick else 5),
        round_seconds=0.3 if quick else 1.2,
        pace=Pace(options.rate, 2.0 if quick else 4.0, size=16),
        latency_rounds=_chosen(options.latency_rounds, 1 if quick else 5),
        disk=Disk(
            sizes=options.sizes or DURABLE_SIZES,
            count=40_000 if quick else 500_000,
            rounds=_chosen(options.rounds, 2 if quick else 3),
            per_client=500 if quick else 3000,
            backlog=options.backlog,
        ),
        table_rows=TABLE_ROWS // 10 if quick else TABLE_ROWS,
    )


def _chosen(value: int | None, default: int) -> int:
    return default if value is None else value


def choose(only: str) -> Rows:
    """The rows whose names match the words in `only`. Tables after the first also keep their reference row."""
    words = [word for word in only.split(",") if word] or [""]

    def named(rows: Sequence[type[P]]) -> list[type[P]]:
        return [row for row in rows if any(word in row.name for word in words)]

    def beside_first(rows: Sequence[type[P]]) -> list[type[P]]:
        chosen = named(rows)
        return [row for row in rows if row in chosen or row is rows[0]] if chosen else []

    durable, confirmed, backlog = beside_first(DURABLE), beside_first(CONFIRMED), beside_first(BACKLOG)
    clients, spark = (any(word in each.value for word in words) for each in (Section.CLIENTS, Section.SPARK))
    tls = beside_first(TLS)
    return Rows(named(PEERS), beside_first(PROTOCOLS), durable, confirmed, backlog, clients, spark, tls)


def _sizes(text: str) -> list[int]:
    sizes = [int(word) for word in text.split(",")]
    if min(sizes) < SIZE_MIN:
        raise argparse.ArgumentTypeError(f"a body has at least {SIZE_MIN} bytes")
    return sizes


def _blocks(text: str) -> int:
    count = int(text)
    if count < BLOCK or count % BLOCK:
        raise argparse.ArgumentTypeError(f"messages come by the {BLOCK}")
    return count


def _sections(text: str) -> list[Section]:
    words = text.split(",")
    if unknown := [word for word in words if word not in SECTIONS]:
        raise argparse.ArgumentTypeError(f"no section is called {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
    return [Section(word) for word in words]


def _modes(text: str) -> list[Mode]:
    return [Mode(word) for word in text.split(",")]


if __name__ == "__main__":
    raise SystemExit(main())
