"""A disk that refuses to be read when it is told to."""

import errno
import io
import os
from pathlib import Path
from typing import BinaryIO

from penstock.storage.disk import Disk

CODES = [errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.ENOENT]


class FaultyFile(io.FileIO):
    """A file that can be opened; the disk says whether it can be read."""

    def __init__(self, path: Path, disk: "FaultyDisk") -> None:
        super().__init__(path)
        self.disk = disk

    def readinto(self, buffer: object) -> int:
        self.disk.check("read")
        return super().readinto(buffer)  # type: ignore[arg-type]

    def close(self) -> None:
        if not self.closed:
            self.disk.open_files -= 1
        super().close()


class FaultyDisk(Disk):
    """`where` is the operation that fails: "open" a file, "read" from it, or "list" the directory; `code` how."""

    def __init__(self, directory: Path, handles_max: int = 1000) -> None:
        super().__init__(directory)
        self.where = ""
        self.code = 0
        self.countdown = 0  # so many operations of the kind go well first
        self.asked = 0  # how often something was asked that failed
        self.open_files = 0
        self.handles_max = handles_max

    def fail(self, where: str, code: int, countdown: int = 0) -> None:
        self.where, self.code, self.countdown = where, code, countdown

    def heal(self) -> None:
        self.where = ""

    def check(self, operation: str) -> None:
        if operation == self.where:
            if self.countdown > 0:
                self.countdown -= 1
                return
            self.asked += 1
            raise OSError(self.code, os.strerror(self.code))

    def read(self, name: str) -> BinaryIO:
        self.check("open")
        if self.open_files >= self.handles_max:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        file = FaultyFile(self.directory / name, self)
        self.open_files += 1
        return io.BufferedReader(file)

    def names(self) -> list[str]:
        self.check("list")
        if self.open_files >= self.handles_max:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().names()
