"""One process at a time may change a data directory."""

import fcntl
import os
from pathlib import Path
from typing import Final

from penstock.errors import LogError

LOCK_NAME: Final = "lock"


class DirectoryLocked(LogError):
    """Another process has the data directory."""


def lock_directory(directory: Path) -> int:
    """The lock, as a file descriptor: it is held until that is closed, or the process ends.

    Raises DirectoryLocked when somebody else has it, OSError when the directory cannot be used at all.
    """
    lock = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise DirectoryLocked(f"another process uses data directory {directory}") from error
    return lock
