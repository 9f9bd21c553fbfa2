"""Memory of the process: how `memory_bytes_max` is divided, and how much free memory the C library keeps.

Queued messages are not all that takes memory: requests being read, replies being written, blocks waiting for the disk
and blocks read back come on top. Each has a share, so that together with the interpreter a broker stays below twice its
limit.

By default the C library returns large allocations to the system at once and gets them back zeroed, page by page. That
was a third of the system time spent on messages that go to disk. So some free memory is kept, as much as the limit
allows.
"""

import contextlib
import ctypes
import gc
import os
from pathlib import Path
from typing import Final

# Parameters of mallopt(3).
from penstock.core.memory_shares import Shares

M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3
M_ARENA_MAX: Final = -8

QUEUE_BYTES: Final = 6 << 10  # approximate memory of an empty queue
STATM: Final = Path("/proc/self/statm")
PAGE_SIZE: Final = os.sysconf("SC_PAGE_SIZE")
COLLECT_WORK: Final = 2048  # units of work between two collections of new objects: a millisecond or two if all survive
NEW_OBJECTS: Final = 20_000  # threshold for objects that were not created by counted work: a few milliseconds
NEVER: Final = 1_000_000_000
LOOK_SECONDS: Final = 0.5  # between two checks of the memory of the process
QUIET_LOOKS: Final = 20  # after so many checks without any work, the broker is idle
SWEEP_WORK: Final = 100_000  # after so much work a full collection may be worth it


def keep_memory(shares: Shares) -> None:
    """Tune malloc. Does nothing with a C library other than glibc."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, shares.own_mapping)
        mallopt(M_TRIM_THRESHOLD, shares.kept)
        mallopt(M_ARENA_MAX, 1)


def collect_seldom() -> None:
    """Messages are freed by reference count; the collector only has to find rare cycles among new objects.

    A full collection takes a third of a second while consumers hold 200,000 messages: `Sweeper` does it when the broker
    is idle.
    """
    gc.set_threshold(NEW_OBJECTS, NEVER, NEVER)
    gc.freeze()


class Collector:
    """Collects new objects at the end of a turn, once enough work was done.

    By itself the collector runs when enough more objects were created than freed, and a freed old object counts like a
    new one. If a message leaves for each that arrives, it does not run for a long time, and then scans 300,000 new
    objects in 60 ms. Objects that survive a collection here are scanned again only by `Sweeper`.
    """

    def __init__(self) -> None:
        self.due_at = COLLECT_WORK  # the total of work units at which to call `collect`

    def collect(self, work: int) -> None:
        """`work` is the total of work units done so far."""
        self.due_at = work + COLLECT_WORK
        gc.collect(1)


class Sweeper:
    """Runs a full collection when the broker is idle after much work."""

    def __init__(self) -> None:
        self._work = 0  # at the last check
        self._swept = 0  # at the last full collection
        self._quiet = 0  # checks in a row without work in between

    def look(self, work: int) -> None:
        """`work` is the total of work units done so far."""
        self._quiet = self._quiet + 1 if work == self._work else 0
        self._work = work
        if self._quiet >= QUIET_LOOKS and work - self._swept >= SWEEP_WORK:
            self._swept = work
            gc.collect()


class Trimmer:
    """Returns free memory between used blocks to the system, once there may be much of it."""

    def __init__(self, shares: Shares) -> None:
        self._step = shares.kept
        self._least = 0  # smallest size of the process since the last trim
        self._trim: ctypes._NamedFuncPointer | None = None
        with contextlib.suppress(OSError, AttributeError):
            self._trim = ctypes.CDLL(None).malloc_trim

    def look(self) -> None:
        """Trim if the process has grown by more than the share of kept memory."""
        size = resident_bytes()
        if self._trim is None or not size:
            return
        self._least = min(self._least, size) if self._least else size
        if size > self._least + self._step:
            self._trim(0)
            self._least = resident_bytes()


def resident_bytes() -> int:
    """Resident memory of the process; 0 if the system does not report it."""
    try:
        return int(STATM.read_bytes().split()[1]) * PAGE_SIZE
    except (OSError, IndexError, ValueError):
        return 0
