"""The audit log: events about users and permissions, one JSON object per line, in a file only its owner can read.

Events whose name begins with `audit.` are written here in addition to the normal log. They are rate-limited in the same
way, so that repeated logins cannot fill the disk.
"""

import errno
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import orjson

from penstock.errors import AccessError
from penstock.report import Report
from penstock.server.logs import Limited

PREFIX = "audit."
OPEN_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class Audit:
    def __init__(self, path: Path | None, report: Report) -> None:
        self._path = path
        self._inner = report
        self._limited = Limited(self._write)
        self._file = -1
        self.reopen()

    def reopen(self) -> None:
        """Open the file again, which may have been rotated. Raises AccessError if that fails."""
        if self._path is None:
            return
        try:
            file = os.open(self._path, OPEN_FLAGS, 0o600)
            try:
                if stat.S_ISREG(os.fstat(file).st_mode):
                    os.fchmod(file, 0o600)  # an existing file may have had wider permissions
            except OSError:
                os.close(file)
                raise
        except OSError as error:
            reason = "is a symbolic link, which is not followed" if error.errno == errno.ELOOP else error.strerror
            raise AccessError(f"audit file {self._path}: {reason}") from error
        self.close()
        self._file = file

    def report(self, level: str, event: str, details: dict[str, object]) -> None:
        self._inner(level, event, details)
        if self._file >= 0 and event.startswith(PREFIX):
            self._limited(level, event, details)

    def _write(self, level: str, event: str, details: dict[str, object]) -> None:
        if self._file >= 0:
            line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **details}
            try:
                os.write(self._file, orjson.dumps(line, default=str) + b"\n")
            except OSError as error:
                self._inner("error", "audit_log.failed", {"file": str(self._path), "error": error.strerror})

    def close(self) -> None:
        self._limited.close()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
