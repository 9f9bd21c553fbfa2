"""Snapshots of a running broker. They make starts quick, and allow the log to be trimmed.

    loop      once a segment is full: capture ──► wait until the log is durable that far ──┐
    thread                                              write the file, trim the log ◄───┘

Failures are reported, and the next segment triggers a new attempt. Only start-up time and disk space depend on them.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.errors import LogError
from penstock.log.snapshot import Snapshot, pieces_of, snapshot_name
from penstock.storage.cursors import Cursors
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.retention import Retention
from penstock.storage.segments import position_of, segments_of
from penstock.storage.snapshot_files import write_snapshot

Report = Callable[[str, str, dict[str, object]], None]

LET_GO_SECONDS = 0.0002


class Snapshots:
    def __init__(self, disk: Disk, log: DurableLog, retention: Retention, report: Report) -> None:
        self.disk = disk
        self.log = log
        self.retention = retention
        self.report = report
        self.taken_at_position = -1  # of the last snapshot
        self.size = 0  # of the last snapshot
        self._waiting: tuple[Snapshot, list[tuple[int, int]]] | None = None
        self._bytes_at = 0  # `log.bytes_closed` at the last snapshot
        self._thread = ThreadPoolExecutor(1, "snapshots")
        self.cursors = Cursors(None)
        self.gone: deque[str] = deque()  # deleted segments, for the pager to close

    def is_due(self) -> bool:
        """Due once the log has grown by a segment, and by at least the size of the last snapshot."""
        log = self.log
        return self._waiting is None and log.bytes_closed - self._bytes_at >= max(log.segment_bytes_max, self.size)

    def take(self, broker: Broker, now: int) -> None:
        """Capture the state between two turns and begin a segment. It is written once the log is durable up to it."""
        self.log.end_segment()
        owed = broker.owed_ranges() + self.cursors.held(now, broker.log.next_offset)
        self._waiting = (capture(broker, now), owed)
        self.taken_at_position = broker.log.position
        self._bytes_at = self.log.bytes_closed

    def on_durable(self) -> None:
        waiting = self._waiting
        if waiting is not None and self.log.durable >= waiting[0].position:
            self._waiting = None
            self._thread.submit(self._write, waiting[0], waiting[1])

    def stop(self, broker: Broker, now: int) -> None:
        """Write a last snapshot, so that the next start has no log to read. The log is durable to its end by now."""
        self._thread.shutdown(wait=True)
        if broker.log.position > self.taken_at_position or self._waiting is not None:
            self.take(broker, now)
            assert self._waiting is not None
            self.write(*self._waiting)
            self._waiting = None  # a late callback of the flusher must not write it again

    def _write(self, snapshot: Snapshot, owed: list[tuple[int, int]]) -> None:
        """Runs on the thread, where an exception would go unnoticed."""
        try:
            self.write(snapshot, owed)
        except Exception as error:
            self.report("error", "log.snapshot_failed", {"position": snapshot.position, "reason": repr(error)})

    def write(self, snapshot: Snapshot, owed: list[tuple[int, int]]) -> None:
        try:
            snapshot.segments = [s for s in segments_of(self.disk) if position_of(s) < snapshot.position]
            pieces = pieces_of(snapshot, _let_go)
            write_snapshot(self.disk, snapshot_name(snapshot.position), pieces)
            self.size = sum(map(len, pieces))
            gone = self._trim(owed, snapshot.taken_at)
        except (OSError, LogError) as error:
            self.report("warning", "log.snapshot_failed", {"position": snapshot.position, "reason": str(error)})
            return
        self.report("info", "log.snapshot", {"position": snapshot.position, "bytes": self.size})
        self.gone.extend(gone)
        if gone:
            self.report("info", "log.trimmed", {"segments": len(gone), "first": gone[0], "last": gone[-1]})

    def _trim(self, owed: list[tuple[int, int]], now: int) -> list[str]:
        """Delete segments that no cursor needs, including cursors created since the snapshot was taken."""
        due = self.cursors.let_go(self.retention.due(owed, now), now)
        try:
            return self.retention.remove(due)
        finally:
            self.cursors.went()


def _let_go() -> None:
    """Let the event loop run: compiled code does not release the GIL by itself."""
    time.sleep(LET_GO_SECONDS)
