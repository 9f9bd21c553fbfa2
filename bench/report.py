"""The report: plain text for humans, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.bars import OURS, OURS_DURABLE, Bar
from bench.clients import SIZE as CLIENT_SIZE
from bench.clients import Raw
from bench.confirmed import CLIENTS, WINDOW
from bench.peers import PEERS, TLS, Mode
from bench.peers.base import Course
from bench.plan import PROTOCOL_SIZE
from bench.results import Cell, Results, ratio
from bench.tables import CEILING

DASH = "-"
LARGE = 100
"""A figure held against this or more needs no decimals."""


def text_report(results: Results, bars: Sequence[Bar]) -> str:
    parts = [_header(results)]
    for mode in Mode:
        for size in sorted({cell.size for cell in results.cells if cell.mode is mode}):
            parts.append(_throughput(results, mode, size))
    parts += [_tls(results, size) for size in sorted({cell.size for cell in results.tls})]
    parts += [_protocols(results), _clients(results), _latency(results), _memory(results)]
    for course in (Course.PUT, Course.THROUGH):
        for size in sorted({cell.size for cell in results.durable if cell.course is course}):
            parts.append(_durable(results, course, size))
    parts += [_confirmed(results), _backlog(results), _tables(results), _bars(bars), _notes(results)]
    return "\n\n".join(part for part in parts if part)


def write_json(path: Path, results: Results, bars: Sequence[Bar]) -> None:
    document = results.as_json() | {"bars": [vars(bar) for bar in bars]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A title and aligned columns: names to the left, figures to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [title]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  " + "  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())
    return "\n".join(lines)


def _header(results: Results) -> str:
    machine = results.machine
    load = f"load average {machine.load_1min:.2f} before, {results.load_1min_after:.2f} after"
    lines = [
        f"{machine.cores} cores, {machine.cpu}, {machine.memory_mb:,} MB, {machine.kernel}, {machine.python}",
        f"{load}; took {results.seconds:.0f} s, {results.rounds} rounds each",
    ]
    lines += [f"{name}: {version}" for name, version in results.versions.items()]
    lines += [f"{name}: {reason}" for name, reason in results.missing.items()]
    return "\n".join(lines)


def _throughput(results: Results, mode: Mode, size: int) -> str:
    ours = results.cell(OURS, mode, size)
    names = [peer.name for peer in PEERS if peer.name in results.versions]
    rows = [_throughput_row(name, results.cell(name, mode, size), ours) for name in names]
    return table(f"{mode.value}, {size}-byte bodies, one publisher to one consumer", HEAD, rows)


HEAD = ("", "msg/s", "best", "MB/s", "ours / this", "server us/msg", "rounds")


def _throughput_row(name: str, cell: Cell | None, ours: Cell | None) -> list[str]:
    if cell is None:
        return [name, *[DASH] * 5, "no such mode"]
    megabytes = None if cell.rate is None else cell.rate * cell.size / 1e6
    against = None if cell is ours else ratio(ours, cell)
    return [
        name,
        _figure(cell.rate),
        _figure(cell.best),
        _figure(megabytes),
        _figure(against, 2),
        _figure(cell.cpu_us, 2),
        _rounds(cell),
    ]


def _tls(results: Results, size: int) -> str:
    cells = [cell for cell in results.tls if cell.size == size]
    ours = next((cell for cell in cells if cell.peer == TLS[0].name), None)
    rows = [_throughput_row(cell.peer, cell, ours) for cell in cells]
    return table(f"over TLS, {size}-byte bodies, auto-ack, one publisher to one consumer", HEAD, rows)


def _protocols(results: Results) -> str:
    reference = results.protocol(OURS)
    rows = [
        [
            cell.peer,
            _figure(cell.rate),
            _figure(cell.best),
            _figure(None if cell.peer == OURS else ratio(cell, reference), 2),
            _figure(cell.cpu_us, 2),
            _rounds(cell),
        ]
        for cell in results.protocols
    ]
    head = ("", "msg/s", "best", "this / mqks", "server us/msg", "rounds")
    title = f"protocols, {PROTOCOL_SIZE}-byte bodies, auto-ack; rq: round trips; all on one server"
    return table(title, head, rows) if rows else ""


def _clients(results: Results) -> str:
    raw = results.client(Raw.name)
    rows = [
        [
            cell.peer,
            _figure(cell.rate),
            _figure(cell.best),
            _figure(None if cell is raw else ratio(cell, raw), 2),
            _figure(cell.client_us, 2),
            _figure(cell.cpu_us, 2),
            _rounds(cell),
        ]
        for cell in results.clients
    ]
    head = ("", "msg/s", "best", "this / raw", "client us/msg", "server us/msg", "rounds")
    return table(f"clients, mqks, {CLIENT_SIZE}-byte bodies, one process", head, rows) if rows else ""


def _durable(results: Results, course: Course, size: int) -> str:
    ours = results.stored(OURS_DURABLE, course, size)
    cells = [cell for cell in results.durable if (cell.course, cell.size) == (course, size)]
    what = "ingest" if course is Course.PUT else "publish to consume with acks"
    title = f"on disk, {what}, {size}-byte bodies, {_count(cells)} messages each"
    return table(title, HEAD, [_throughput_row(cell.peer, cell, ours) for cell in cells])


def _confirmed(results: Results) -> str:
    if not results.confirmed:
        return ""
    ours = results.confirms(OURS_DURABLE)
    rows = [_throughput_row(cell.peer, cell, ours) for cell in results.confirmed]
    sync = f"one sync of 4 KiB takes {_figure(results.sync_ms, 2)} ms"
    size = results.confirmed[0].size
    clients = f"{CLIENTS} publishers with {WINDOW} publishes under way each"
    title = f"confirmed, {clients}, {size}-byte bodies, {_count(results.confirmed)} messages; {sync}"
    return table(title, ("", "confirms/s", *HEAD[2:]), rows)


def _count(cells: Sequence[Cell]) -> str:
    return f"{max((each.count for cell in cells for each in cell.rounds), default=0):,}"


def _backlog(results: Results) -> str:
    if not results.backlogs:
        return ""
    rows = [
        [
            each.peer,
            _figure(each.fill_rate),
            _figure(each.rss),
            _figure(each.peak),
            _figure(each.after_kill, 2),
            _figure(each.after_stop, 2),
            _figure(each.rss_after),
            _figure(each.read_rate),
        ]
        for each in results.backlogs
    ]
    first = results.backlogs[0]
    what = f"{first.count:,} messages of {first.size} bytes in one queue"
    title = f"backlog, {what}; memory in MB, seconds until ready again"
    head = ("", "filled at msg/s", "memory", "peak", "after kill -9", "after a stop", "memory then", "read at msg/s")
    return table(title, head, rows)


def _tables(results: Results) -> str:
    found = results.tables
    if found is None or not found.feeds:
        return ""
    rows = [
        [
            name,
            _figure(found.rate(name)),
            _figure(max(rates)),
            _figure(None if name == CEILING else found.ratio(name, CEILING), 2),
            str(len(rates)),
        ]
        for name, rates in found.feeds.items()
    ]
    title = f"spark, from each feed to Parquet, {found.rows:,} rows, {found.size}-byte bodies"
    return table(title, ("", "rows/s", "best", "this / ceiling", "rounds"), rows)


def _rounds(cell: Cell) -> str:
    return f"{len(cell.good)} of {len(cell.rounds)}" if cell.failures else str(len(cell.rounds))


def _latency(results: Results) -> str:
    rows = []
    for name in results.latencies:
        good = results.good_latencies(name)
        if not good:
            rows.append([name, *[DASH] * 6])
            continue
        p50s, p99s = [each.p50 for each in good], [each.p99 for each in good]
        highest, lags = max(each.highest for each in good), [each.lag_p99 for each in good]
        figures = (median(p50s), median(p99s), min(p99s), highest, median(lags))
        rows.append([name, *(_figure(value) for value in figures), str(len(good))])
    pace = results.pace
    title = f"latency in us at {pace.rate:,} msg/s for {pace.seconds:g} s, {pace.size}-byte bodies, auto-ack, open loop"
    return table(title, ("", "p50", "p99", "best p99", "max", "sender late p99", "rounds"), rows) if rows else ""


def _memory(results: Results) -> str:
    rows = [[name, _figure(m.idle), _figure(m.after), _figure(m.peak)] for name, m in results.memory.items()]
    return table("resident memory of the server, MB", ("", "idle", "after rounds", "peak"), rows) if rows else ""


def _bars(bars: Sequence[Bar]) -> str:
    words = {True: "met", False: "NOT met", None: "not judged"}
    rows = [
        [bar.text, _figure(bar.measured, 0 if bar.limit >= LARGE else 2), words[bar.met] + _doubt(bar)] for bar in bars
    ]
    return table("bars", ("", "measured", ""), rows)


def _doubt(bar: Bar) -> str:
    if not bar.doubt:
        return ""
    return f": {bar.doubt}" if bar.met is None else f", but {bar.doubt}"


def _notes(results: Results) -> str:
    """Lists every failure by name: a round that lost a message has no figure, and is not silently dropped."""
    lines = _busy(results)
    lines += [
        f"failed: {cell.peer}, {_what(cell)}, {cell.size} B: {reason}"
        for cell in results.all_cells()
        for reason in cell.failures
    ]
    lines += [
        f"failed: {name}, latency: {each.failure}"
        for name, latencies in results.latencies.items()
        for each in latencies
        if each.failure
    ]
    lines += [f"failed: {each.peer}, backlog: {each.failure}" for each in results.backlogs if each.failure]
    if results.tables is not None and results.tables.failure:
        lines.append(f"failed: spark: {results.tables.failure}")
    return "\n".join(lines)


def _what(cell: Cell) -> str:
    named = {Course.PUT: "ingest", Course.CONFIRMED: "confirmed"}
    return named.get(cell.course, cell.mode.value)


def _busy(results: Results) -> list[str]:
    """Reports when other processes used the machine; absolute figures are then low, and tails long."""
    lines = []
    if results.machine.load_1min > results.machine.cores / 2:
        lines.append(f"busy: the load average was {results.machine.load_1min:.2f} before the run began")
    late = [name for name in results.latencies if results.disturbed(name)]
    return lines + [f"busy: over half of {name}'s p99 is the sender being late" for name in late]


def _figure(value: float | None, decimals: int = 0) -> str:
    return DASH if value is None else f"{value:,.{decimals}f}"
