"""The bars Penstock has set itself, in memory mode, and whether a run met them."""

from __future__ import annotations

from dataclasses import dataclass

from bench.peers import Mode
from bench.peers.penstock import Mqks, Penstock
from bench.peers.protocols import MqmqGet, MqmqPut, Rq, Sevx, SevxCrowd, Smqs
from bench.plan import Section
from bench.results import Results, p99_ratio, ratio

OURS = Mqks.name
BAR_SIZE = 16
BUSY = "the machine was busy"
WAITED_MAX = 0.15
"""The share of a round that a server of ours may wait for a core; the load needs little, so the rest is others."""


@dataclass(frozen=True)
class Bar:
    """One bar. `measured` is None when ours or the peer has no figure in this run; then there is no result."""

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
    busy = any(cell is not None and cell.waited > WAITED_MAX for cell in cells)
    return Bar(text, limit, measured, measured >= limit, BUSY if busy else "")


def _prompt(results: Results, peer: str, limit: float) -> Bar:
    text = f"p99 latency at {results.pace.rate:,} msg/s at most {limit:g} x {peer}"
    measured = p99_ratio(results.good_latencies(OURS), results.good_latencies(peer))
    if measured is None:
        return Bar(text, limit, None, None)
    busy = results.disturbed(OURS) or results.disturbed(peer)
    return Bar(text, limit, measured, measured <= limit, BUSY if busy else "")
