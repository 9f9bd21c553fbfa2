"""The results of a run, and the arithmetic on them. Ratios pair rounds that ran within seconds of each other."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from bench.latency import Latency, Pace
from bench.load import Round
from bench.machine import Machine
from bench.peers.base import Course, Mode


@dataclass(frozen=True)
class Memory:
    """Resident megabytes of a server: before any load, after all rounds, and at its highest."""

    idle: float
    after: float
    peak: float


@dataclass
class Cell:
    """One peer, one mode, one body size."""

    peer: str
    mode: Mode
    size: int
    rounds: list[Round] = field(default_factory=list)
    course: Course = Course.THROUGH

    @property
    def good(self) -> list[Round]:
        return [each for each in self.rounds if not each.failure]

    @property
    def failures(self) -> list[str]:
        return [each.failure for each in self.rounds if each.failure]

    @property
    def rate(self) -> float | None:
        """Messages per second, the median of the rounds."""
        return median(each.rate for each in self.good) if self.good else None

    @property
    def best(self) -> float | None:
        return max((each.rate for each in self.good), default=None)

    @property
    def cpu_us(self) -> float | None:
        """Processor time the server spent per message, in microseconds; steadier than a rate on a busy machine."""
        return median(each.server.cpu / each.count for each in self.good) * 1e6 if self.good else None

    @property
    def client_us(self) -> float | None:
        """Processor time the client spent per message, in microseconds; None where it was not measured."""
        spent = [each.client_cpu / each.count for each in self.good if each.client_cpu]
        return median(spent) * 1e6 if spent else None

    @property
    def waited(self) -> float:
        """The share of the time in which the server was runnable, but something else had the core."""
        return median(each.server.waited / each.seconds for each in self.good) if self.good else 0.0


@dataclass(frozen=True)
class Backlog:
    """A server with a long queue: the cost of filling it, holding it, restarting with it and reading it.

    Megabytes and seconds; None where it was not measured, and `failure` says why.
    """

    peer: str
    count: int
    size: int
    fill_rate: float | None = None
    rss: float | None = None
    peak: float | None = None
    after_kill: float | None = None
    """Seconds from the start of the program until it was ready and said that it has every message."""
    after_stop: float | None = None
    rss_after: float | None = None
    read_rate: float | None = None
    failure: str = ""


@dataclass(frozen=True)
class Tables:
    """Rows per second from each feed to Parquet, round by round; `failure` says why there are none."""

    rows: int
    size: int = 0  # of a body
    feeds: dict[str, list[float]] = field(default_factory=dict)
    failure: str = ""

    def rate(self, feed: str) -> float | None:
        return median(self.feeds[feed]) if self.feeds.get(feed) else None

    def ratio(self, feed: str, other: str) -> float | None:
        """The median of the ratios within a round."""
        pairs = [mine / its for mine, its in zip(self.feeds.get(feed, []), self.feeds.get(other, []), strict=False)]
        return median(pairs) if pairs else None


@dataclass
class Results:
    machine: Machine
    pace: Pace
    rounds: int
    sections: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    protocols: list[Cell] = field(default_factory=list)
    clients: list[Cell] = field(default_factory=list)
    tls: list[Cell] = field(default_factory=list)
    durable: list[Cell] = field(default_factory=list)
    confirmed: list[Cell] = field(default_factory=list)
    sync_ms: float | None = None
    backlogs: list[Backlog] = field(default_factory=list)
    tables: Tables | None = None
    latencies: dict[str, list[Latency]] = field(default_factory=dict)
    memory: dict[str, Memory] = field(default_factory=dict)
    load_1min_after: float = 0.0
    seconds: float = 0.0

    def cell(self, peer: str, mode: Mode, size: int) -> Cell | None:
        wanted = (peer, mode, size)
        return next((cell for cell in self.cells if (cell.peer, cell.mode, cell.size) == wanted), None)

    def protocol(self, peer: str) -> Cell | None:
        return next((cell for cell in self.protocols if cell.peer == peer), None)

    def client(self, row: str) -> Cell | None:
        return next((cell for cell in self.clients if cell.peer == row), None)

    def encrypted(self, peer: str, size: int) -> Cell | None:
        return next((cell for cell in self.tls if (cell.peer, cell.size) == (peer, size)), None)

    def stored(self, peer: str, course: Course, size: int) -> Cell | None:
        wanted = (peer, course, size)
        return next((cell for cell in self.durable if (cell.peer, cell.course, cell.size) == wanted), None)

    def confirms(self, peer: str) -> Cell | None:
        return next((cell for cell in self.confirmed if cell.peer == peer), None)

    def backlog(self, peer: str) -> Backlog | None:
        return next((each for each in self.backlogs if each.peer == peer), None)

    def all_cells(self) -> list[Cell]:
        return self.cells + self.protocols + self.clients + self.tls + self.durable + self.confirmed

    def good_latencies(self, peer: str) -> list[Latency]:
        return [each for each in self.latencies.get(peer, []) if not each.failure]

    def disturbed(self, peer: str) -> bool:
        """Whether most of a peer's p99 is the sender's own lag; it then describes the machine, not the peer."""
        good = self.good_latencies(peer)
        return bool(good) and median(each.lag_p99 / each.p99 for each in good) > 0.5

    def as_json(self) -> dict[str, Any]:
        plain = asdict(self)
        sections = ("cells", "protocols", "clients", "tls", "durable", "confirmed")
        entries = [entry for section in sections for entry in plain[section]]
        for cell, entry in zip(self.all_cells(), entries, strict=True):
            entry["mode"] = cell.mode.value
            entry["course"] = cell.course.name.lower()
            entry["msg_per_s"] = {"median": cell.rate, "best": cell.best}
            entry["server_cpu_us_per_msg"] = cell.cpu_us
            entry["client_cpu_us_per_msg"] = cell.client_us
            for each, fields in zip(cell.rounds, entry["rounds"], strict=True):
                fields["msg_per_s"] = each.rate
        return plain


def ratio(ours: Cell | None, theirs: Cell | None) -> float | None:
    """How many times faster ours is: the median over rounds of the ratio within the round; None without a pair."""
    if ours is None or theirs is None:
        return None
    pairs = [
        mine.rate / other.rate
        for mine, other in zip(ours.rounds, theirs.rounds, strict=False)
        if not mine.failure and not other.failure
    ]
    return median(pairs) if pairs else None


def p99_ratio(ours: list[Latency], theirs: list[Latency]) -> float | None:
    """Our median p99 over theirs."""
    if not ours or not theirs:
        return None
    return median(each.p99 for each in ours) / median(each.p99 for each in theirs)
