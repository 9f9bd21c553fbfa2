"""Group commit: one thread writes and syncs what the broker has accepted, and moves the durable mark.

    loop                                          thread
    close_block ─► submit ──────────────────────► write all there is ─► fdatasync
    release receipts ◄── call_soon_threadsafe ◄── durable mark

The first request is synced at once; what piles up meanwhile is the next batch. So batching needs no timer, and a
batch is as large as the disk is slow. A write or a sync that fails ends the process: what was confirmed is on the
disk, what was not is lost with the memory of a machine that cannot store it, and nobody was told otherwise.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from penstock.log.durable import Pending
from penstock.log.files import sync_directory

# Blocks that wait for the disk, in bytes: above it publishers wait as well.
BEHIND_MAX = 64 << 20

SYNC_INTERVAL_SECONDS = 1.0

EXIT_DISK_FAILED = 74  # EX_IOERR of sysexits


class Flusher:
    def __init__(
        self,
        directory: Path,
        sync: str,
        on_durable: Callable[[int], None],
        on_failure: Callable[[str], None],
    ) -> None:
        self.directory = directory
        self.sync = sync
        self.on_durable = on_durable  # called on the thread
        self.on_failure = on_failure  # called on the thread; is not expected to come back
        self.behind = 0  # bytes submitted and not written yet
        self.syncs = 0
        self._pending: list[Pending] = []
        self._work = threading.Condition()
        self._stopping = False
        self._segment = ""
        self._file = -1
        self._synced = True
        self._synced_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="flusher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, blocks: list[Pending]) -> None:
        with self._work:
            self._pending += blocks
            self.behind += sum(len(block.data) for block in blocks)
            self._work.notify()

    def stop(self) -> None:
        """Write and sync what is left, and end the thread."""
        with self._work:
            self._stopping = True
            self._work.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._write(batch)
                self.on_durable(batch[-1].position)
            self._close_file()
        except OSError as error:
            self.on_failure(f"{error.strerror} ({self.directory / self._segment})")

    def _next_batch(self) -> list[Pending]:
        while True:
            if self.sync == "interval" and time.monotonic() - self._synced_at >= SYNC_INTERVAL_SECONDS:
                self._sync()
            with self._work:
                if not self._pending and not self._stopping:
                    self._work.wait(None if self._synced or self.sync == "off" else SYNC_INTERVAL_SECONDS)
                if self._pending or self._stopping:
                    batch = self._pending
                    self._pending = []
                    return batch

    def _write(self, batch: list[Pending]) -> None:
        start = 0
        while start < len(batch):
            segment = batch[start].segment
            end = start
            while end < len(batch) and batch[end].segment == segment:
                end += 1
            if segment != self._segment:
                self._open(segment)
            self._write_all(b"".join(block.data for block in batch[start:end]))
            start = end
        self._synced = False
        if self.sync == "always":
            self._sync()
        written = sum(len(block.data) for block in batch)
        with self._work:
            self.behind -= written

    def _sync(self) -> None:
        if not self._synced:
            os.fdatasync(self._file)
            self._synced = True
            self._synced_at = time.monotonic()
            self.syncs += 1

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]

    def _open(self, segment: str) -> None:
        """Begin a segment: the one before is whole on the disk first, and so is the new one's name."""
        self._close_file()
        path = self.directory / segment
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._segment = segment
        if self.sync != "off":
            sync_directory(self.directory)

    def _close_file(self) -> None:
        if self._file >= 0:
            if self.sync != "off":
                os.fdatasync(self._file)
            os.close(self._file)
            self._file = -1
