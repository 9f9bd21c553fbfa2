"""How a running query is doing: told to the broker, which shows it, and to whoever else asks.

    spark.streams.addListener(PenstockListener("http://localhost:7780", "orders-to-lake"))

Each batch gives one report: rows, rows a second, how long it took, and how far the query is behind the end of the log.
The broker serves them at /v1/pipelines, in /metrics and on its console. A broker that is away loses a report, and never
ends a query.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from pyspark.sql.streaming.listener import StreamingQueryListener

from penstock.errors import Error
from penstock.spark.client import BrokerClient, name_in_path
from penstock.spark.options import LOG_KEY, Connection, parse

logger = logging.getLogger("penstock.spark")


class Report(NamedTuple):
    """One batch of one query."""

    name: str
    batch: int
    rows: int
    rows_per_second: float
    seconds: float
    offset: int | None  # where it is in the log
    end: int | None  # where the log ended then
    state: str  # running, done, failed
    late: int = 0  # rows that came too late to be counted

    @property
    def lag(self) -> int | None:
        return None if self.offset is None or self.end is None else max(self.end - self.offset, 0)

    def as_json(self) -> dict[str, object]:
        found = self._asdict() | {"lag": self.lag}
        del found["late"]
        return found


class PenstockListener(StreamingQueryListener):
    """Reports the queries of a session, by default to a broker. Options are the source's: tokenFile, caFile, ..."""

    def __init__(
        self, servers: str = "", name: str = "", tell: Callable[[Report], None] | None = None, **options: str
    ) -> None:
        self._client = None
        if servers:
            given = {"servers": servers, "retryFor": "0s", "timeout": "5s"} | options
            self._client = BrokerClient(parse(Connection, given))
        self._name = name
        self._tell = tell
        self._names: dict[str, str] = {}
        self._last: dict[str, Report] = {}
        self.ended = threading.Event()  # a query has ended, and everything before was told

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        name = self._names[str(event.id)] = self._name or event.name or str(event.id)
        self._report(
            Report(name, 0, 0, 0.0, 0.0, None, None, "running")
        )  # it may be long until the first batch is done

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        progress = event.progress
        id = str(progress.id)
        report = report_of(progress, self._names.get(id) or self._name or progress.name or id)
        self._last[id] = report
        self._send(report)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        last = self._last.pop(str(event.id), None)
        if last is not None:
            self._send(last._replace(state="failed" if event.exception else "done", rows=0, late=0))
        self.ended.set()

    def _send(self, report: Report) -> None:
        if self._tell is not None:
            self._tell(report)
        self._report(report)

    def _report(self, report: Report) -> None:
        if self._client is not None:
            try:
                self._client.put(f"/v1/pipelines/{name_in_path(report.name)}", report.as_json())
            except Error as error:
                logger.info("a report is lost: %s", error)


def report_of(progress: Any, name: str) -> Report:
    offset = end = None
    for source in progress.sources:
        offset = _place(source.endOffset) if offset is None else offset
        end = _place(source.latestOffset) if end is None else end
    seconds = progress.durationMs.get("triggerExecution", 0) / 1000
    rate = progress.processedRowsPerSecond
    rate = rate if rate == rate and rate not in (float("inf"), float("-inf")) else 0.0
    late = sum(operator.numRowsDroppedByWatermark for operator in progress.stateOperators)
    return Report(name, progress.batchId, progress.numInputRows, rate, seconds, offset, end, "running", late)


def _place(text: str | None) -> int | None:
    try:
        found = orjson.loads(text or "null")
    except orjson.JSONDecodeError:
        return None
    return found.get(LOG_KEY) if isinstance(found, dict) else None
