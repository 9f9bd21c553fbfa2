"""The files of one directory, as the log needs them: few verbs, so that a test can hand in a disk that fails.

Handles are numbers. Nothing here waits, retries or decides: what the system refuses comes out as the OSError it is.
"""

import os
from pathlib import Path
from typing import BinaryIO, Final

from mypy_extensions import mypyc_attr

from penstock.files import sync_directory

# What a link of that name points to is somebody else's file: it is refused, not written to.
APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


@mypyc_attr(allow_interpreted_subclasses=True)
class Disk:
    """The real one."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    # -- files ------------------------------------------------------------------------------------------------------

    def open(self, name: str) -> int:
        """A handle that writes to the end of the file, which comes to be if it was not there. Never through a link."""
        return os.open(self.directory / name, APPEND, 0o600)

    def size(self, handle: int) -> int:
        return os.fstat(handle).st_size

    def write(self, handle: int, data: memoryview) -> int:
        """How many of the bytes were taken; may be fewer than there are."""
        return os.write(handle, data)

    def sync(self, handle: int) -> None:
        """What is in the file is on the disk when this comes back."""
        os.fdatasync(handle)

    def truncate(self, handle: int, size: int) -> None:
        """Forget everything behind the first `size` bytes."""
        os.ftruncate(handle, size)

    def close(self, handle: int) -> None:
        os.close(handle)

    def read(self, name: str) -> BinaryIO:
        """The file from its beginning."""
        return (self.directory / name).open("rb")

    # -- the directory ----------------------------------------------------------------------------------------------

    def make(self) -> None:
        """The directory is there, and so are its parents, also after a crash."""
        missing = [path for path in (self.directory, *self.directory.parents) if not path.exists()]
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in missing:
            sync_directory(path.parent)

    def names(self) -> list[str]:
        return os.listdir(self.directory)  # noqa: PTH208 - names are what is asked for

    def remove(self, name: str) -> None:
        (self.directory / name).unlink()

    def rename(self, name: str, new_name: str) -> None:
        """Give a file another name, in place of the file that had it; for good once the directory is synced."""
        (self.directory / name).replace(self.directory / new_name)

    def file_size(self, name: str) -> int:
        return (self.directory / name).stat().st_size

    def sync_directory(self) -> None:
        """Files that came to be or were removed are so after a crash as well."""
        sync_directory(self.directory)


def write_whole(disk: Disk, name: str, pieces: list[bytes]) -> None:
    """A file of this name with this content is on the disk when the call is back; its name is, once the directory is.

    A file of that name that was there is gone.
    """
    if name in disk.names():
        disk.remove(name)
    handle = disk.open(name)
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                written = disk.write(handle, view)  # by itself: compiled, the bounds of a slice are worked out twice
                view = view[written:]
        disk.sync(handle)
    finally:
        disk.close(handle)
