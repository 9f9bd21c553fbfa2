"""The performance targets ("bars") of Penstock, and whether a run met them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench.clients import ClientConsume, ClientPublish, Raw
from bench.peers import BACKLOG, DURABLE, TLS, Mode
from bench.peers.base import Course
from bench.peers.durable import Consumed
from bench.peers.penstock import Mqks, Penstock
from bench.peers.protocols import MqmqGet, MqmqPut, Rq, Sevx, SevxCrowd, Smqs
from bench.plan import Section
from bench.results import Backlog, Cell, Results, p99_ratio, ratio
from bench.tables import CEILING, HTTP

OURS = Mqks.name
OURS_DURABLE = DURABLE[0].name
BAR_SIZE = 16
DURABLE_SIZES = (16, 256)
CONFIRMS_MIN = 50_000
SYNC_MS = 0.2
"""How long a sync may take for that many confirms to be asked for."""

CLIENT_SHARE = 0.1
BACKLOG_COUNT = 5_000_000
BACKLOG_MB = 600
SLOW_DISK = f"a sync takes longer than {SYNC_MS} ms here"
SHORT_BACKLOG = f"it is about {BACKLOG_COUNT:,} messages"
BUSY = "the machine was busy"
WAITED_MAX = 0.15
"""The share of a round that a server of ours may wait for a core; the load needs little, so the rest is others."""


@dataclass(frozen=True)
class Bar:
    """One bar. `measured` is None when Penstock or the peer has no figure in this run; then there is no verdict."""

    text: str
    limit: float
    measured: float | None
    met: bool | None
    doubt: str = ""
    """Why the verdict should not be trusted."""


def judge(results: Results) -> list[Bar]:
    """The bars of the sections that ran."""
    bars = {
        Section.THROUGHPUT: [
            _faster(results, "nats core", 0.8, "at least"),
            _faster(results, "redis pub/sub", 1.0, "more than"),
            _faster(results, "rabbitmq transient", 10.0, "at least"),
        ],
        Section.LATENCY: [_prompt(results, "nats core", 2.0)],
        Section.PROTOCOLS: [
            _kept_up(results, Smqs, 0.5),
            _kept_up(results, Sevx, 0.5),
            _kept_up(results, SevxCrowd, 0.5, Sevx),
            _kept_up(results, MqmqPut, 0.3),
            _kept_up(results, MqmqGet, 0.3),
            _kept_up(results, Rq, 0.1),
        ],
        Section.CLIENTS: [_light(results, row.name) for row in (ClientPublish, ClientConsume)],
        Section.TLS: [_encrypted(results, 0.7)],
        Section.DURABLE: [
            _stored(results, peer, limit, size)
            for size in DURABLE_SIZES
            for peer, limit in (("nats jetstream file", 3.0), ("redis stream aof", 1.5), ("rabbitmq persistent", 10.0))
        ],
        Section.CONFIRMED: [_confirmed(results)],
        Section.BACKLOG: [_small(results), *(_back(results, how, row.name) for how in RESTARTS for row in BACKLOG[1:])],
        Section.SPARK: [_fed(results, 0.7)],
    }
    return [bar for section in Section if section.value in results.sections for bar in bars[section]]


def _faster(results: Results, peer: str, limit: float, how: str) -> Bar:
    text = f"{BAR_SIZE}-byte auto-ack msg/s {how} {limit:g} x {peer}"
    measured = ratio(results.cell(OURS, Mode.AUTO, BAR_SIZE), results.cell(peer, Mode.AUTO, BAR_SIZE))
    if measured is None:
        return Bar(text, limit, None, None)
    return Bar(text, limit, measured, measured > limit if how == "more than" else measured >= limit)


def _kept_up(results: Results, row: type[Penstock], limit: float, reference: type[Penstock] = Mqks) -> Bar:
    text = f"{row.name}: msg/s at least {limit:g} x {reference.name}"
    cells = results.protocol(row.name), results.protocol(reference.name)
    measured = ratio(*cells)
    if measured is None:
        return Bar(text, limit, None, None)
    return Bar(text, limit, measured, measured >= limit, _busy(*cells))


def _light(results: Results, row: str) -> Bar:
    """A share of what raw sockets reach in the same turn: 200,000 a second where they reach 2,000,000."""
    text = f"{row}: msg/s at least {CLIENT_SHARE:g} x {Raw.name}"
    cells = results.client(row), results.client(Raw.name)
    measured = ratio(*cells)
    if measured is None:
        return Bar(text, CLIENT_SHARE, None, None)
    return Bar(text, CLIENT_SHARE, measured, measured >= CLIENT_SHARE, _busy(*cells))


def _encrypted(results: Results, limit: float) -> Bar:
    ours, peer = (row.name for row in TLS)
    text = f"{BAR_SIZE}-byte msg/s over TLS at least {limit:g} x {peer}"
    cells = results.encrypted(ours, BAR_SIZE), results.encrypted(peer, BAR_SIZE)
    measured = ratio(*cells)
    if measured is None:
        return Bar(text, limit, None, None)
    return Bar(text, limit, measured, measured >= limit)


def _stored(results: Results, peer: str, limit: float, size: int) -> Bar:
    text = f"durable {size}-byte publish to consume msg/s at least {limit:g} x ingest of {peer}"
    cells = results.stored(Consumed.name, Course.PUT, size), results.stored(peer, Course.PUT, size)
    measured = ratio(*cells)
    if measured is None:
        return Bar(text, limit, None, None)
    return Bar(text, limit, measured, measured >= limit, _busy(*cells))


def _confirmed(results: Results) -> Bar:
    """Enough confirms meet the bar on any disk; too few are not judged where a sync takes longer."""
    text = f"confirms/s at least {CONFIRMS_MIN:,} where a sync takes {SYNC_MS} ms"
    cell = results.confirms(OURS_DURABLE)
    if cell is None or cell.rate is None:
        return Bar(text, CONFIRMS_MIN, None, None)
    met = cell.rate >= CONFIRMS_MIN
    if not met and results.sync_ms is not None and round(results.sync_ms, 1) > SYNC_MS:
        return Bar(text, CONFIRMS_MIN, cell.rate, None, SLOW_DISK)
    return Bar(text, CONFIRMS_MIN, cell.rate, met, _busy(cell))


RESTARTS = ("kill -9", "a stop")


def _small(results: Results) -> Bar:
    """Both after filling and after the restart."""
    text = f"{BACKLOG_COUNT:,} queued messages of 100 bytes in at most {BACKLOG_MB} MB"
    found = results.backlog(OURS_DURABLE)
    if found is None or found.rss is None or found.rss_after is None:
        return Bar(text, BACKLOG_MB, None, None)
    return _about_all(Bar(text, BACKLOG_MB, (mb := max(found.rss, found.rss_after)), mb <= BACKLOG_MB), found)


def _back(results: Results, how: str, peer: str) -> Bar:
    text = f"ready after {how} in less than 1 x the time of {peer}"
    ours, theirs = results.backlog(OURS_DURABLE), results.backlog(peer)
    if ours is None or theirs is None:
        return Bar(text, 1.0, None, None)
    seconds = (ours.after_kill, theirs.after_kill) if how == RESTARTS[0] else (ours.after_stop, theirs.after_stop)
    if seconds[0] is None or seconds[1] is None:
        return Bar(text, 1.0, None, None)
    return _about_all(Bar(text, 1.0, seconds[0] / seconds[1], seconds[0] < seconds[1]), ours)


def _fed(results: Results, limit: float) -> Bar:
    """Measures the cost of our source, not how fast Spark writes."""
    text = f"log to Parquet with Spark rows/s at least {limit:g} x {CEILING}"
    measured = None if results.tables is None else results.tables.ratio(HTTP, CEILING)
    return Bar(text, limit, measured, None if measured is None else measured >= limit)


def _about_all(bar: Bar, found: Backlog) -> Bar:
    """A bar about the whole backlog is not judged on a part of it."""
    return bar if found.count >= BACKLOG_COUNT else replace(bar, met=None, doubt=SHORT_BACKLOG)


def _busy(*cells: Cell | None) -> str:
    return BUSY if any(cell is not None and cell.waited > WAITED_MAX for cell in cells) else ""


def _prompt(results: Results, peer: str, limit: float) -> Bar:
    text = f"p99 latency at {results.pace.rate:,} msg/s at most {limit:g} x {peer}"
    measured = p99_ratio(results.good_latencies(OURS), results.good_latencies(peer))
    if measured is None:
        return Bar(text, limit, None, None)
    busy = results.disturbed(OURS) or results.disturbed(peer)
    return Bar(text, limit, measured, measured <= limit, BUSY if busy else "")
