"""Reports the progress of running queries to the broker, and to a callback.

    spark.streams.addListener(PenstockListener("http://localhost:7780", "orders-to-lake"))

Each batch produces one report: rows, rows per second, duration, and how far the query lags behind the end of the log.
The broker serves the reports at /v1/pipelines, in /metrics and on its console. While the broker is unavailable, reports
are lost, but the query continues.
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
    offset: int | None  # the query's position in the log
    end: int | None  # the end of the log at that time
    state: str  # running, done, failed
    late: int = 0  # rows dropped by the watermark

    @property
    def lag(self) -> int | None:
        return None if self.offset is None or self.end is None else max(self.end - self.offset, 0)

    def as_json(self) -> dict[str, object]:
        found = self._asdict() | {"lag": self.lag}
        del found["late"]
        return found


class PenstockListener(StreamingQueryListener):
    """Reports the queries of a session to a broker and to `tell`. Options are the source's: tokenFile, caFile, ..."""

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
        self.ended = threading.Event()  # a query has ended and all its reports were sent

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        name = self._names[str(event.id)] = self._name or event.name or str(event.id)
        self._report(
            Report(name, 0, 0, 0.0, 0.0, None, None, "running")
        )  # shows the query before its first batch is done, which may take long

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
                logger.info("a progress report was lost: %s", error)


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
