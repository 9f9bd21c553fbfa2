"""Shows rows per second, lag and batch time in the terminal. Without a terminal, prints one line at the end."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.listener import Report


class ProgressDisplay:
    """Receives a report for each batch, and redraws at most a few times a second."""

    def __init__(self, name: str, *, show: bool = True) -> None:
        self.name = name
        self.batches = 0
        self.rows = 0
        self.late = 0  # rows dropped by the watermark
        self.last: Report | None = None
        self._began = time.monotonic()
        self._live: Any = None
        self._show = show

    def __enter__(self) -> ProgressDisplay:
        if self._show and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(self._line(), console=Console(stderr=True), refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
        if self._show and error[0] is None:
            sys.stderr.write(self._line() + "\n")

    def update(self, report: Report) -> None:
        self.last = report
        self.late += report.late
        if report.rows:
            self.batches += 1
            self.rows += report.rows
        if self._live is not None:
            self._live.update(self._line())

    def _line(self) -> str:
        seconds = time.monotonic() - self._began
        batches = "1 batch" if self.batches == 1 else f"{self.batches} batches"
        parts = [f"{self.name}: {self.rows:,} rows in {batches}, {seconds:.0f} s"]
        if self.last is not None:
            parts.append(f"{self.last.rows_per_second:,.0f} rows/s")
            parts.append(f"last batch {self.last.seconds:.1f} s")
            if self.last.lag is not None:
                parts.append(f"lag {self.last.lag:,}")
        return "  ·  ".join(parts)
