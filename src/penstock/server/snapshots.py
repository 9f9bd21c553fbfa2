"""Snapshots of a running broker, and what they make possible: a quick start, and history that does not grow for ever.

    loop      once a segment is full: capture ──► wait until the log is durable that far ──┐
    thread                                              write the file, trim the log ◄───┘

What goes wrong here is reported and tried again with the next segment. Nothing depends on it but time and room.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.errors import LogError
from penstock.log.disk import Disk
from penstock.log.durable import DurableLog
from penstock.log.retention import Retention
from penstock.log.segments import position_of, segments_of
from penstock.log.snapshot import Snapshot, pieces_of, snapshot_name, write_snapshot
from penstock.server.cursors import Cursors

Report = Callable[[str, str, dict[str, object]], None]

LET_GO_SECONDS = 0.0002


class Snapshots:
    def __init__(self, disk: Disk, log: DurableLog, retention: Retention, report: Report) -> None:
        self.disk = disk
        self.log = log
        self.retention = retention
        self.report = report
        self.taken_at_position = -1  # of the last one
        self.size = 0  # of the last one
        self._waiting: tuple[Snapshot, list[tuple[int, int]]] | None = None
        self._bytes_at = 0  # `log.bytes_closed` when the last one was taken
        self._thread = ThreadPoolExecutor(1, "snapshots")
        self.cursors = Cursors(None)
        self.gone: deque[str] = deque()  # segments that were let go of; whoever has them open closes them

    def is_due(self) -> bool:
        """A snapshot should not be more to write than the log it saves from being read."""
        log = self.log
        return self._waiting is None and log.bytes_closed - self._bytes_at >= max(log.segment_bytes_max, self.size)

    def take(self, broker: Broker, now: int) -> None:
        """Note the state between two turns, and begin a segment; it is written when the log is durable up to it."""
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
        """A last one, so that the next start has nothing to read. The log is durable to its end by now."""
        self._thread.shutdown(wait=True)
        if broker.log.position > self.taken_at_position or self._waiting is not None:
            self.take(broker, now)
            assert self._waiting is not None
            self.write(*self._waiting)
            self._waiting = None  # the last word of the flusher may come only now

    def _write(self, snapshot: Snapshot, owed: list[tuple[int, int]]) -> None:
        """On the thread, where nobody would hear of an error."""
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
        """Cursors that came since the snapshot was taken are asked once more, and those that come now are told."""
        due = self.cursors.let_go(self.retention.due(owed, now), now)
        try:
            return self.retention.remove(due)
        finally:
            self.cursors.went()


def _let_go() -> None:
    """Have the loop go on. Compiled code does not let go of the interpreter by itself."""
    time.sleep(LET_GO_SECONDS)
