"""The data directory of a running broker: opened, recovered, written to at the end of each turn, closed."""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from penstock.core.broker import Broker
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.core.memory_shares import Shares
from penstock.core.replay import Replay
from penstock.errors import LogError
from penstock.log.interface import Confirmation
from penstock.log.snapshot import Snapshot
from penstock.log.tuning import Tuning
from penstock.report import Report
from penstock.storage.cursors import Cursors
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.flusher import EXIT_DISK_FAILED, Flusher
from penstock.storage.lock import DirectoryLock, lock_directory
from penstock.storage.pager import Pager
from penstock.storage.reader import UNKNOWN
from penstock.storage.recovery import find_start, read_back
from penstock.storage.retention import Retention
from penstock.storage.snapshots import Snapshots
from penstock.storage.timings import Timings

DEFAULT_MEMORY = 1 << 30

CONFIRMATION_BYTES = 200  # approximate memory of one pending confirmation


class Storage:
    """Owns the log on disk on behalf of a node."""

    def __init__(
        self,
        directory: Path,
        sync: str,
        segment_bytes_max: int,
        report: Report,
        disk: Disk | None = None,
        retain_seconds: float = 0,
        retain_bytes: int = UNKNOWN,
        shares: Shares | None = None,
    ) -> None:
        self.directory = directory
        self.disk = disk or Disk(directory)
        self.sync = sync
        self.report = report
        self._shares = shares or Shares(DEFAULT_MEMORY)
        self.log = DurableLog(segment_bytes_max, tuned(self._shares))
        self.snapshots = Snapshots(self.disk, self.log, Retention(self.disk, retain_seconds, retain_bytes), report)
        self._confirmations: deque[tuple[int, list[Confirmation]]] = deque()
        self._confirmation_count = 0  # in `_confirmations`
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._lock: DirectoryLock | None = None
        self._stalled = False  # it was reported that queues wait for an unreadable log
        self.cursors = Cursors(None)

    def open(self, limits: Limits, now: int) -> GuardedBroker:
        """Create the directory if needed, lock it, and recover the broker from it."""
        try:
            self.disk.make()
            self._lock = lock_directory(self.directory)
        except OSError as error:
            raise LogError(f"cannot use data directory {self.directory}: {error.strerror}") from error
        try:
            broker, recovery = recover(self.disk, self.log, limits, now)
            self.cursors = self.snapshots.cursors = Cursors(self.directory)
        except OSError as error:
            place = error.filename or self.directory
            raise LogError(f"cannot recover data directory {self.directory}: {error.strerror} ({place})") from error
        self.snapshots.taken_at_position = recovery.snapshot_position
        for problem in recovery.problems:
            self.report("warning", "log.snapshot_unusable", {"reason": problem})
        self.report(
            "info",
            "log.opened",
            {
                "directory": str(self.directory),
                "sync": self.sync,
                "snapshot": recovery.snapshot_position,
                "blocks": recovery.blocks,
                "next_offset": self.log.next_offset,
                "queues": len(broker.queues),
            },
        )
        return broker

    @property
    def pager(self) -> Pager:
        assert self.log.pager is not None
        return self.log.pager

    def start(self, loop: asyncio.AbstractEventLoop, broker: Broker, plan_flush: Callable[[], None]) -> None:
        self._loop = loop
        self._broker = broker
        self._plan_flush = plan_flush

        def durable(position: int, next_offset: int) -> None:
            loop.call_soon_threadsafe(self._on_durable, position, next_offset)

        def full(reason: str) -> None:
            loop.call_soon_threadsafe(self._on_full, reason)

        self._flusher = Flusher(self.disk, self.sync, durable, full, self._on_failure)
        self._flusher.start()

    def end_turn(self, now: int) -> None:
        """Hand what was accepted in this turn to the flusher, and keep the confirmations that wait for it."""
        log = self.log
        log.close_block(now)
        blocks = log.take_closed()
        if blocks:
            self._flusher.submit(blocks)
        if log.confirmations:
            self._confirmations.append((log.position, log.confirmations))
            self._confirmation_count += len(log.confirmations)
            log.confirmations = []
            if log.durable >= log.position:
                self._on_durable(log.durable, log.readable)
        if self.snapshots.is_due():
            self.snapshots.take(self._broker, now)
        if self.pager.faults:
            self._report_faults()
        while self.snapshots.gone:
            self.pager.let_go_of(self.snapshots.gone.popleft())
        stalled = self._broker.context.stalled
        if (stalled > 0) != self._stalled:
            self._report_stall(stalled)

    def _report_stall(self, stalled: int) -> None:
        """Report once that queues wait because the log cannot be read, and once that they no longer do."""
        self._stalled = stalled > 0
        if stalled:
            place = {"reason": self.pager.stall, "directory": str(self.directory)}
            self.report("error", "log.unreadable", {**place, "queues": stalled})
        else:
            self.report("warning", "log.readable", {"directory": str(self.directory)})

    def _report_faults(self) -> None:
        for fault in self.pager.faults:
            self.report(
                "error", "log.damaged", {"reason": fault, "directory": str(self.directory), "do": "penstock log verify"}
            )
        self.pager.faults.clear()

    def when_durable(self, position: int) -> "asyncio.Future[None]":
        """A future that is done once everything up to the position is as durable as `sync` promises."""
        future = self._loop.create_future()
        if self.log.durable >= position:
            future.set_result(None)
        else:
            self._waiting.append((position, future))
        return future

    def is_behind(self) -> bool:
        return self._flusher.behind > self._shares.behind

    def is_far_behind(self) -> bool:
        """Whether clients that do not publish must wait too: settlements and pending confirmations also take memory."""
        return self._flusher.behind + CONFIRMATION_BYTES * self._confirmation_count > 2 * self._shares.behind

    def behind_bytes(self) -> int:
        """Bytes accepted and not written yet."""
        return self._flusher.behind

    def syncs(self) -> Timings:
        return self._flusher.syncs

    def stop(self, now: int) -> None:
        """Write everything that was accepted, take a last snapshot, and unlock the directory."""
        self.log.close_block(now)
        self._flusher.submit(self.log.take_closed())
        self._flusher.stop()
        self.log.durable = self.log.position
        self.snapshots.stop(self._broker, now)
        self.pager.close()
        if self._lock is not None:
            self._lock.close()

    def _on_durable(self, position: int, next_offset: int) -> None:
        self.log.written(position, next_offset)
        self.snapshots.on_durable()
        waiting = self._waiting
        while waiting and waiting[0][0] <= position:
            future = waiting.popleft()[1]
            if not future.done():  # the waiter may have been cancelled
                future.set_result(None)
        confirmations = self._confirmations
        while confirmations and confirmations[0][0] <= position:
            confirmed = confirmations.popleft()[1]
            self._confirmation_count -= len(confirmed)
            for confirmation in confirmed:
                confirmation.confirm()
        self._plan_flush()

    def _on_full(self, reason: str) -> None:
        """Refuse messages while the disk is full. An empty reason means that there is room again."""
        broker = self._broker
        if reason and not broker.refuse_reason:
            self.report("error", "log.full", {"reason": reason, "directory": str(self.directory)})
            broker.shut(f"{reason}: data directory {self.directory}")
        elif not reason and broker.refuse_reason:
            self.report("warning", "log.room", {"directory": str(self.directory)})
            broker.reopen()

    def _on_failure(self, reason: str) -> None:
        self.report("error", "log.failed", {"reason": reason, "directory": str(self.directory)})
        os._exit(EXIT_DISK_FAILED)


def tuned(shares: Shares) -> Tuning:
    """Log sizes that fit the memory limit."""
    tuning = Tuning()
    tuning.head_bytes_max = shares.head
    tuning.block_bytes_max = shares.block
    tuning.blocks_bytes_max = shares.blocks
    return tuning


class Recovery:
    """How a broker was recovered."""

    def __init__(self, snapshot: Snapshot | None, problems: list[str]) -> None:
        self.snapshot_position = -1 if snapshot is None else snapshot.position
        self.problems = problems  # snapshots that could not be used, and why
        self.blocks = 0  # read from the log


def recover(disk: Disk, log: DurableLog, limits: Limits, now: int) -> tuple[GuardedBroker, Recovery]:
    """Rebuild the broker from the newest usable snapshot and the log behind it. `log` continues from there."""
    snapshot, problems = find_start(disk)
    recovery = Recovery(snapshot, problems)
    rebuilt = Replay(log, limits, snapshot)
    with closing(read_back(disk, snapshot)) as blocks:
        for block in blocks:
            rebuilt.apply_block(block)
            recovery.blocks += 1
    broker = rebuilt.finish()
    log.pager = Pager(disk, log.tuning)
    log.resume(log.next_offset, log.position, now)
    broker.expect_consumers(now)
    return broker, recovery
