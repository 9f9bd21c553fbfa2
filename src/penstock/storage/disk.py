"""The file operations that the log needs, in one directory: few, so that a test can substitute a failing disk.

Handles are file descriptors. Nothing here waits or retries: errors of the operating system are raised as OSError.
"""

import os
from pathlib import Path
from typing import BinaryIO, Final

from mypy_extensions import mypyc_attr

from penstock.files import sync_directory

# A symbolic link may point to somebody else's file, so links are refused.
APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


@mypyc_attr(allow_interpreted_subclasses=True)
class Disk:
    """The real disk."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    # -- files ------------------------------------------------------------------------------------------------------

    def open(self, name: str) -> int:
        """A handle that appends to the file, which is created if missing. Does not follow symbolic links."""
        return os.open(self.directory / name, APPEND, 0o600)

    def size(self, handle: int) -> int:
        return os.fstat(handle).st_size

    def write(self, handle: int, data: memoryview) -> int:
        """Returns the number of bytes written, which may be fewer than given."""
        return os.write(handle, data)

    def sync(self, handle: int) -> None:
        """Returns once the file's contents are on disk."""
        os.fdatasync(handle)

    def truncate(self, handle: int, size: int) -> None:
        """Drop everything after the first `size` bytes."""
        os.ftruncate(handle, size)

    def close(self, handle: int) -> None:
        os.close(handle)

    def read(self, name: str) -> BinaryIO:
        """Open the file for reading, at its start."""
        return (self.directory / name).open("rb")

    # -- the directory ----------------------------------------------------------------------------------------------

    def make(self) -> None:
        """Create the directory and its parents, and sync them so that they survive a crash."""
        missing = [path for path in (self.directory, *self.directory.parents) if not path.exists()]
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in missing:
            sync_directory(path.parent)

    def names(self) -> list[str]:
        return os.listdir(self.directory)  # noqa: PTH208 - names are what is asked for

    def remove(self, name: str) -> None:
        (self.directory / name).unlink()

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file, replacing the one with the new name; durable once the directory is synced."""
        (self.directory / name).replace(self.directory / new_name)

    def file_size(self, name: str) -> int:
        return (self.directory / name).stat().st_size

    def sync_directory(self) -> None:
        """Make created, renamed and removed files survive a crash."""
        sync_directory(self.directory)


def write_whole(disk: Disk, name: str, pieces: list[bytes]) -> None:
    """Write and sync a file, replacing one of the same name. Its name is durable once the directory is synced."""
    if name in disk.names():
        disk.remove(name)
    handle = disk.open(name)
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                written = disk.write(handle, view)  # not inside the slice: mypyc evaluates slice bounds twice
                view = view[written:]
        disk.sync(handle)
    finally:
        disk.close(handle)
