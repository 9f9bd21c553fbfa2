"""Group commit: one thread writes and syncs what the broker has accepted, and moves the durable mark.

    loop                                          thread
    close_block ─► submit ──────────────────────► write all pending ─► fdatasync
    confirm ◄── call_soon_threadsafe ◄── durable mark

The first block is written and synced at once; what piles up meanwhile is the next batch. So batching needs no timer,
and the slower the disk, the larger the batch.

Errors:

    no room for a write (ENOSPC, EDQUOT, EFBIG)   the file is truncated to its old length, the batch is kept and
                                                  retried until it fits; meanwhile `on_full` has publishes refused
    no file descriptor for a new segment          the same: nothing was written, and it is retried
    any other error of a write or a new file,     the process exits: what was confirmed is on the disk, and what is
    any error of a sync                           lost was never confirmed

A sync is never retried. The system may have dropped what it could not write and report success the second time.
"""

import errno
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from penstock.log.header import marked
from penstock.storage.disk import Disk
from penstock.storage.durable import Pending
from penstock.storage.timings import Timings

SYNC_INTERVAL_SECONDS = 1.0

# How long to wait on a full disk before the next try.
RETRY_SECONDS = 0.5

# Pieces of at least this many bytes are written by themselves.
WRITTEN_ALONE = 64 << 10

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_HANDLES = (errno.EMFILE, errno.ENFILE)

EXIT_DISK_FAILED = 74  # EX_IOERR of sysexits


class NoRoom(Exception):
    """The disk is full for now. Nothing that was on it has changed."""


class Flusher:
    """`start` runs a thread that calls `step` for each batch. A test may call `step` itself instead."""

    def __init__(
        self,
        disk: Disk,
        sync: str,
        on_durable: Callable[[int, int], None],
        on_full: Callable[[str], None],
        on_failure: Callable[[str], None],
    ) -> None:
        self.disk = disk
        self.sync = sync
        self.on_durable = on_durable  # with position and next offset; all three are called on the thread
        self.on_full = on_full  # with the reason, and with "" once there is room again
        self.on_failure = on_failure  # not expected to return
        self.behind = 0  # bytes submitted and not written yet
        self.syncs = Timings()
        self.full = False
        self._pending: list[Pending] = []
        self._work = threading.Condition()
        self._stopping = False
        self._segment = ""
        self._file = -1
        self._length = 0  # of the file, without the remains of a failed write
        self._synced = True
        self._synced_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="flusher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, blocks: list[Pending]) -> None:
        with self._work:
            self._pending += blocks
            self.behind += sum(block.size for block in blocks)
            self._work.notify()

    def stop(self) -> None:
        """Write and sync what is left, and end the thread."""
        with self._work:
            self._stopping = True
            self._work.notify()
        if self._thread.is_alive():
            self._thread.join()

    def step(self) -> bool:
        """Write the pending blocks of one segment, sync, and report it. False if the disk is full.

        Raises OSError if the error is permanent.
        """
        batch = self._first_batch()
        if not batch:
            return True
        try:
            if batch[0].segment != self._segment:
                self._begin(batch[0].segment)
            self._write(batch)
        except NoRoom as refusal:
            self.full = True
            self.on_full(str(refusal))
            return False
        if self.sync == "always":
            self._sync()
        with self._work:
            del self._pending[: len(batch)]
            self.behind -= sum(block.size for block in batch)
        self.on_durable(batch[-1].position, batch[-1].next_offset)
        if self.full:
            self.full = False
            self.on_full("")
        return True

    # -- the thread -------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._wait_for_work():
                if not self.step() and not self._wait_for_room():
                    raise NoRoom(f"no disk space for {self.behind} bytes that were accepted but not confirmed")
            self._close()
        except Exception as error:
            # Any error is fatal: without this thread nothing would ever be confirmed again.
            reason = error.strerror if isinstance(error, OSError) else error
            self.on_failure(f"{reason} ({self.disk.directory / self._segment})")

    def _wait_for_work(self) -> bool:
        """Wait for blocks to write. False when stopping and none are left."""
        while True:
            if self.sync == "interval" and time.monotonic() - self._synced_at >= SYNC_INTERVAL_SECONDS:
                self._sync()
            with self._work:
                if not self._pending and not self._stopping:
                    self._work.wait(None if self._synced or self.sync == "off" else SYNC_INTERVAL_SECONDS)
                if self._pending or self._stopping:
                    return bool(self._pending)

    def _wait_for_room(self) -> bool:
        """Wait before the next try. False when stopping."""
        with self._work:
            if self._stopping:
                return False
            self._work.wait_for(lambda: self._stopping, RETRY_SECONDS)
        return True

    # -- the disk ---------------------------------------------------------------------------------------------------

    def _first_batch(self) -> list[Pending]:
        """The pending blocks of the first segment. They stay pending until written."""
        with self._work:
            pending = self._pending
            end = 0
            while end < len(pending) and pending[end].segment == pending[0].segment:
                end += 1
            return pending[:end]

    def _begin(self, segment: str) -> None:
        """Begin a segment. First the previous one is synced, then the new one's directory entry."""
        self._close()
        try:
            self._file = self.disk.open(segment)
        except OSError as error:
            _check(error, NO_ROOM + NO_HANDLES)
            raise
        try:
            self._length = self.disk.size(self._file)
            self.disk.sync_directory()
        except OSError as error:
            # Out of file descriptors, the directory was not opened, so no sync has failed.
            self.disk.close(self._file)
            self._file = -1
            _check(error, NO_HANDLES)
            raise
        self._segment = segment

    def _write(self, batch: list[Pending]) -> None:
        written = [piece for block in batch for piece in block.pieces()]
        pieces = [*marked(written[0]), *written[1:]] if self._synced else written
        synced, self._synced = self._synced, False
        try:
            for data in _gathered(pieces):
                view = memoryview(data)
                while view:
                    view = view[self.disk.write(self._file, view) :]
        except OSError as error:
            if error.errno in NO_ROOM:
                self.disk.truncate(self._file, self._length)
                self._synced = synced
            _check(error, NO_ROOM)
            raise
        self._length += sum(len(piece) for piece in pieces)

    def _sync(self) -> None:
        if not self._synced:
            begun = time.monotonic()
            self.disk.sync(self._file)
            self._synced = True
            self._synced_at = time.monotonic()
            self.syncs.add(self._synced_at - begun)

    def _close(self) -> None:
        """Sync and close the file, even with `sync` off: only the last segment may have a torn end."""
        if self._file >= 0:
            self._sync()
            self.disk.close(self._file)
            self._file = -1
            self._segment = ""


def _gathered(pieces: Sequence[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """The same bytes: small pieces joined, large ones as they are, because copying them takes long."""
    small: list[bytes | memoryview] = []
    for piece in pieces:
        if len(piece) < WRITTEN_ALONE:
            small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small = []
        yield piece
    if small:
        yield b"".join(small)


def _check(error: OSError, passing: tuple[int, ...]) -> None:
    """Raise NoRoom if the error is one of these, which pass once there is room."""
    if error.errno in passing:
        raise NoRoom(error.strerror) from error
