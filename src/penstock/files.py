"""Small files and directories, on the disk when the call is back.

A file that is replaced is there whole, the old one or the new one, whenever the machine goes down: the new content is
synced under another name before it gets its own, and the directory, which holds names, is synced behind that.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

# Of files in a directory where somebody may have put a link of the name: what it points to is never written to.
WRITE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(path: Path, data: bytes, prepare: Callable[[int, Path], None] | None = None) -> None:
    """The file of that name has this content, and nobody else may read it.

    `prepare` is given the new file, open, and its name, before anything is in it.
    """
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)  # of somebody who was stopped half-way
    with os.fdopen(os.open(new, NEW, 0o600), "wb") as file:
        if prepare is not None:
            prepare(file.fileno(), new)
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    put_in_place(new, path)


def put_in_place(new: Path, path: Path) -> None:
    """A file that is synced gets its name, in the same directory, in place of the file that had it."""
    new.replace(path)
    sync_directory(path.parent)


def write_synced(path: Path, data: bytes) -> None:
    """A file with this content. Its name is on the disk once the directory is synced."""
    with open_private(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def open_private(path: Path) -> BinaryIO:
    """An empty file for writing that nobody else may read, also where one was there. A link is refused, not followed.

    Raises OSError.
    """
    handle = os.open(path, WRITE, 0o600)
    try:
        os.fchmod(handle, 0o600)
        os.ftruncate(handle, 0)
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "wb")


def sync_directory(directory: Path) -> None:
    """Names that were made, changed or removed in it are on the disk."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
