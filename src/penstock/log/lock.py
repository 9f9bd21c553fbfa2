"""One process at a time may change a data directory.

The lock is on the directory itself, which nobody can take away from under a broker as it could a file: while the
directory has the name, whoever comes by that name comes to the same lock. The file `lock` is locked as well, for a
Penstock that knows of nothing else, and for file systems that lock no directories (some of the network): there it is
looked at once more whether the file that was locked is the one that has the name.
"""

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

from penstock.errors import LogError

LOCK_NAME: Final = "lock"
TAKEN: Final = (errno.EWOULDBLOCK, errno.EACCES)
TRIES: Final = 10  # to lock a file that somebody keeps removing


class DirectoryLocked(LogError):
    """Another process has the data directory."""


class DirectoryLock:
    """Held until it is closed, or the process ends."""

    def __init__(self, handles: list[int]) -> None:
        self._handles = handles

    def close(self) -> None:
        while self._handles:
            os.close(self._handles.pop())


def lock_directory(directory: Path) -> DirectoryLock:
    """Raises DirectoryLocked when somebody else has it, OSError when the directory cannot be used at all."""
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
        # A file system that cannot: the file has to do.


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
    return DirectoryLocked(f"another process uses data directory {directory}")
