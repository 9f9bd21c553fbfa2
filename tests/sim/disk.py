"""A disk that can be crashed, filled and broken, and does exactly what its random numbers say.

A file has what the system shows of it (`data`) and what is known to be on the plates (`synced`); a directory has the
files it shows and those it had when it was synced last. A process that is killed loses nothing of `data`. A machine
that goes down loses, keeps or tears whatever was not synced, page by page and in any order, and may forget new names
and bring removed ones back. Every operation that changes something is a place where a crash can happen. Reads fail when
they are told to, once or for as long as nobody forgives them.
"""

import errno
import io
import os
import random
from pathlib import Path
from typing import BinaryIO

from penstock.storage.disk import Disk

NO_CRASH = -1
ALL_READS = {"read_open", "read", "names", "file_size"}


class Crash(Exception):
    """Everything stops here."""


class SimFile:
    def __init__(self) -> None:
        self.data = bytearray()
        self.synced = b""


class SimReader(io.BytesIO):
    """A file that is read while its disk may fail."""

    def __init__(self, disk: "SimDisk", data: bytearray) -> None:
        super().__init__(data)
        self.disk = disk

    def read(self, size: int | None = -1, /) -> bytes:
        self.disk.look("read")
        return super().read(size)


class SimDisk(Disk):
    def __init__(self, chance: random.Random) -> None:
        super().__init__(Path("sim"))
        self.chance = chance
        self.files: dict[str, SimFile] = {}
        self.kept: dict[str, SimFile] = {}  # what the directory held when it was synced last
        self.handles: dict[int, SimFile] = {}
        self.operations_to_crash = NO_CRASH
        self.fault = ("", 0)  # the next operation of this name fails with this code
        self.room = NO_CRASH  # bytes that can be written before the disk is full; negative: no limit
        self.short_writes = 0.0  # how often a write takes only a part
        self.operations = 0
        self.reads_failed = 0
        self._failing: set[str] = set()  # reads of these kinds fail ...
        self._reads_to_fail = 0  # ... after so many ...
        self._failures_left = 0  # ... so often ...
        self._read_code = 0  # ... with this code
        self._next_handle = 3

    # -- what the log calls -----------------------------------------------------------------------------------------

    def open(self, name: str) -> int:
        before = self._operation("open")
        if not before:
            if name not in self.files:
                self.files[name] = SimFile()
            self._next_handle += 1
            self.handles[self._next_handle] = self.files[name]
        self._crash_now(before)
        return self._next_handle

    def size(self, handle: int) -> int:
        return len(self.handles[handle].data)

    def write(self, handle: int, data: memoryview) -> int:
        file = self.handles[handle]
        size = len(data)
        if self._operation("write") or self.operations_to_crash == 0:
            file.data += data[: self.chance.randint(0, size)]
            raise Crash
        if self.chance.random() < self.short_writes:
            size = self.chance.randint(1, size)
        if self.room >= 0:
            if self.room == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            size = min(size, self.room)
            self.room -= size
        file.data += data[:size]
        return size

    def sync(self, handle: int) -> None:
        before = self._operation("sync")
        if not before:
            file = self.handles[handle]
            file.synced = bytes(file.data)
        self._crash_now(before)

    def truncate(self, handle: int, size: int) -> None:
        before = self._operation("truncate")
        if not before:
            del self.handles[handle].data[size:]
        self._crash_now(before)

    def close(self, handle: int) -> None:
        del self.handles[handle]

    def read(self, name: str) -> BinaryIO:
        self.look("read_open")
        if name not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return SimReader(self, self.files[name].data)

    def make(self) -> None:
        pass

    def names(self) -> list[str]:
        self.look("names")
        return list(self.files)

    def remove(self, name: str) -> None:
        before = self._operation("remove")
        if not before:
            del self.files[name]
        self._crash_now(before)

    def rename(self, name: str, new_name: str) -> None:
        before = self._operation("rename")
        if not before:
            self.files[new_name] = self.files.pop(name)
        self._crash_now(before)

    def file_size(self, name: str) -> int:
        self.look("file_size")
        return len(self.files[name].data)

    def sync_directory(self) -> None:
        before = self._operation("sync_directory")
        if not before:
            self.kept = dict(self.files)
        self._crash_now(before)

    # -- reads that fail --------------------------------------------------------------------------------------------

    def fail_reads(self, kinds: set[str], code: int, after: int, times: int) -> None:
        self._failing, self._read_code = kinds, code
        self._reads_to_fail, self._failures_left = after, times

    def forgive_reads(self) -> None:
        self._failures_left = 0

    def look(self, kind: str) -> None:
        """Raises the error that was planned for reads of this kind."""
        if self._failures_left and kind in self._failing:
            if self._reads_to_fail:
                self._reads_to_fail -= 1
            else:
                self._failures_left -= 1
                self.reads_failed += 1
                raise OSError(self._read_code, os.strerror(self._read_code))

    # -- what fate does ---------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """The process is gone; the system still has what was written."""
        self.handles.clear()
        self.operations_to_crash = NO_CRASH

    def power_off(self) -> None:
        """The machine is gone; what was not synced is lost, kept or torn."""
        self.kill()
        survivors: dict[str, SimFile] = {}
        for name in sorted({*self.files, *self.kept}):
            shown, kept = self.files.get(name), self.kept.get(name)
            file = shown if shown is kept else self.chance.choice([shown, kept])
            if file is not None:
                survivors[name] = file
                file.synced = self._torn(file)
                file.data = bytearray(file.synced)
        self.files = survivors
        self.kept = dict(survivors)

    def _torn(self, file: SimFile) -> bytes:
        data, synced = bytes(file.data), file.synced
        fate = self.chance.choice(["lost", "kept", "cut", "garbled"])
        if fate == "lost" or data == synced:
            return synced
        if fate == "kept" or not data.startswith(synced):
            return data
        end = self.chance.randint(len(synced), len(data))
        if fate == "cut":
            return data[:end]
        pages = [synced]
        place = len(synced)
        page_size = self.chance.choice([8, 64, 200])
        while place < len(data):
            page = data[place : place + page_size]
            what = self.chance.random()
            if what < 0.2:
                page = bytes(len(page))
            elif what < 0.3:
                page = self.chance.randbytes(len(page))
            pages.append(page)
            place += page_size
        return b"".join(pages)[: end if self.chance.random() < 0.5 else None]

    def _operation(self, name: str) -> bool:
        """Whether the crash is due, before this operation has done anything. Raises the fault that was planned."""
        self.operations += 1
        planned, code = self.fault
        if planned == name:
            self.fault = ("", 0)
            raise OSError(code, os.strerror(code))
        if self.operations_to_crash > 0:
            self.operations_to_crash -= 1
        return self.operations_to_crash == 0 and self.chance.random() < 0.5

    def _crash_now(self, before: bool) -> None:
        """The crash is due behind what an operation did, if not before it."""
        if before or self.operations_to_crash == 0:
            raise Crash
