"""One process at a time may change a data directory.

The lock is on the directory itself, which cannot be removed under a running broker as a file could: as long as the
directory keeps its name, everyone who opens it gets the same lock. The file `lock` is locked as well, for older
versions of Penstock that lock only the file, and for file systems that cannot lock directories (some network file
systems). After locking the file, we check that the name still refers to it.
"""

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

from penstock.errors import LogError

LOCK_NAME: Final = "lock"
TAKEN: Final = (errno.EWOULDBLOCK, errno.EACCES)
TRIES: Final = 10  # attempts to lock a file that somebody keeps removing


class DirectoryLocked(LogError):
    """Another process uses the data directory."""


class DirectoryLock:
    """Held until it is closed or the process exits."""

    def __init__(self, handles: list[int]) -> None:
        self._handles = handles

    def close(self) -> None:
        while self._handles:
            os.close(self._handles.pop())


def lock_directory(directory: Path) -> DirectoryLock:
    """Raises DirectoryLocked if another process holds the lock, OSError if the directory cannot be used at all."""
    lock = DirectoryLock([])
    try:
        _lock_itself(directory, lock._handles)
        _lock_file(directory, lock._handles)
    except BaseException:
        lock.close()
        raise
    return lock


def _lock_itself(directory: Path, handles: list[int]) -> None:
    handles.append(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    try:
        fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in TAKEN:
            raise taken(directory) from error
        # The file system cannot lock directories; rely on the file alone.


def _lock_file(directory: Path, handles: list[int]) -> None:
    path = directory / LOCK_NAME
    for _ in range(TRIES):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        handles.append(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise taken(directory) from error
        try:
            if os.path.samestat(os.fstat(handle), path.lstat()):
                return
        except FileNotFoundError:
            pass
    raise taken(directory)


def taken(directory: Path) -> DirectoryLocked:
    return DirectoryLocked(f"data directory {directory} is in use by another process")
