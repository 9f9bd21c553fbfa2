"""How the process deals with its memory: what `memory_bytes_max` is divided into, and what the C library keeps.

Messages of queues are not all that takes memory: requests that are read, answers that are written, blocks on their way
to the disk and blocks read back come on top of them. Each has a share, so that together with what the interpreter takes
a broker stays below twice its limit.

By default the C library gives large pieces back to the system at once and gets them anew, cleared, page by page. That
was a third of the time the system spent on messages that go to disk. So some free memory is kept, as much as the limit
allows.
"""

import contextlib
import ctypes
import gc
import os
from pathlib import Path
from typing import Final

# Of mallopt(3).
M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3
M_ARENA_MAX: Final = -8

MIB: Final = 1 << 20
QUEUE_BYTES: Final = 6 << 10  # what a queue takes that has nothing in it, about
STATM: Final = Path("/proc/self/statm")
PAGE_SIZE: Final = os.sysconf("SC_PAGE_SIZE")
COLLECT_WORK: Final = 2048  # so much, and new objects are looked at: a millisecond or two, where all of them stay
NEW_OBJECTS: Final = 20_000  # that were not made by work: a few milliseconds
NEVER: Final = 1_000_000_000
LOOK_SECONDS: Final = 0.5  # between two looks at how much memory the process has
QUIET_LOOKS: Final = 20  # so many without any work done, and the broker has nothing to do
SWEEP_WORK: Final = 100_000  # so much work may have left something that only the collector finds


class Shares:
    """How `memory_bytes_max` is divided. The fixed figures are what more would not make faster."""

    def __init__(self, memory_bytes_max: int) -> None:
        whole = memory_bytes_max
        self.behind = _share(whole, 8, 64 * MIB)  # blocks that wait for the disk; above it publishers wait
        self.blocks = _share(whole, 16, 32 * MIB)  # blocks that were read back lately
        self.block = _share(whole, 32, 8 * MIB)  # one block of the log
        self.head = _share(whole, 16, 8 * MIB)  # the first messages of one queue
        self.incoming = _share(whole, 8, 256 * MIB)  # requests that are not whole yet, of all connections
        self.outgoing = _share(whole, 8, 256 * MIB)  # what sockets have not taken yet, of all connections
        self.held = _share(whole, 2, whole)  # un-acked messages that are in memory; above it their holders get no more
        self.intake = _share(whole, 4, 256 * MIB)  # the same for HTTP
        self.answer = _share(whole, 16, 64 * MIB)  # messages in one answer over HTTP
        self.staged = _share(whole, 4, 256 * MIB)  # messages that wait for their commit
        self.commit = _share(whole, 8, 128 * MIB)  # one commit, which is one block
        self.kept = _share(whole, 8, 128 * MIB)  # free memory that is not given back to the system
        self.own_mapping = _share(whole, 64, 32 * MIB)  # from here on a piece is got from the system by itself


def _share(whole: int, part: int, most: int) -> int:
    return max(1, min(whole // part, most))


def keep_memory(shares: Shares) -> None:
    """Where the C library is another one, nothing changes."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, shares.own_mapping)
        mallopt(M_TRIM_THRESHOLD, shares.kept)
        mallopt(M_ARENA_MAX, 1)


def collect_seldom() -> None:
    """Messages live and die by reference count; the collector only has to find rare cycles among new objects.

    To look at all there is takes a third of a second where consumers hold 200,000 messages: `Sweeper` does that when
    nothing else is to be done.
    """
    gc.set_threshold(NEW_OBJECTS, NEVER, NEVER)
    gc.freeze()


class Collector:
    """Lets the collector look at new objects at the end of a turn in which much was done.

    Left alone it looks once so many objects more were made than freed, and takes a freed old object for a new one that
    is gone: where a message leaves for each that comes in it does not look for a long time, and then at 300,000 new
    objects, for 60 ms. What is in use when it looks is left alone from then on.
    """

    def __init__(self) -> None:
        self._look_at = COLLECT_WORK

    def end_turn(self, work: int) -> None:
        """So much work was done so far."""
        if work >= self._look_at:
            self._look_at = work + COLLECT_WORK
            gc.collect(1)


class Sweeper:
    """Looks at all objects for cycles that nobody needs, after much was done, when the broker has nothing to do."""

    def __init__(self) -> None:
        self._work = 0  # that was done when it looked last
        self._swept = 0  # the same when it swept last
        self._quiet = 0  # looks in a row that found nothing done

    def look(self, work: int) -> None:
        """So much work was done so far."""
        self._quiet = self._quiet + 1 if work == self._work else 0
        self._work = work
        if self._quiet >= QUIET_LOOKS and work - self._swept >= SWEEP_WORK:
            self._swept = work
            gc.collect()


class Trimmer:
    """Gives memory back that is free and lies between pieces in use, once there may be much of it."""

    def __init__(self, shares: Shares) -> None:
        self._step = shares.kept
        self._least = 0  # of the process, since it was trimmed last
        self._trim: ctypes._NamedFuncPointer | None = None
        with contextlib.suppress(OSError, AttributeError):
            self._trim = ctypes.CDLL(None).malloc_trim

    def look(self) -> None:
        """Trim when the process has grown by as much as may be kept."""
        size = resident_bytes()
        if self._trim is None or not size:
            return
        self._least = min(self._least, size) if self._least else size
        if size > self._least + self._step:
            self._trim(0)
            self._least = resident_bytes()


def resident_bytes() -> int:
    """What the process has of the machine's memory; 0 where the system does not say."""
    try:
        return int(STATM.read_bytes().split()[1]) * PAGE_SIZE
    except (OSError, IndexError, ValueError):
        return 0
