"""Small files and directories, durable on disk when the call returns.

A replaced file is always complete, either the old or the new one, even if the machine crashes: the new content is
synced under a temporary name before it is renamed, and then the directory, which holds the names, is synced.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

# For directories in which someone may have placed a symbolic link of that name: its target is never written to.
WRITE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(path: Path, data: bytes, prepare: Callable[[int, Path], None] | None = None) -> None:
    """Replace the content of a file, readable only by its owner.

    `prepare` is called with the new file's descriptor and path while it is still empty.
    """
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)  # left over from an interrupted run
    with os.fdopen(os.open(new, NEW, 0o600), "wb") as file:
        if prepare is not None:
            prepare(file.fileno(), new)
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    put_in_place(new, path)


def put_in_place(new: Path, path: Path) -> None:
    """Rename a synced file over `path`, in the same directory, and sync the directory."""
    new.replace(path)
    sync_directory(path.parent)


def write_synced(path: Path, data: bytes) -> None:
    """Write and sync a file. Its name is durable only once the directory is synced."""
    with open_private(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def open_private(path: Path) -> BinaryIO:
    """Open an empty file for writing, readable only by its owner, truncating an existing one. Links are not followed.

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
    """Make created, renamed and removed names in a directory durable."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
