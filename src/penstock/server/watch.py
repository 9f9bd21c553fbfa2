"""Files that may change while the broker runs: polled four times a second, and reloaded at once on SIGHUP."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.report import Report

POLL_SECONDS = 0.25

# Identifies a version of a file: modification time, size and inode. None if the file does not exist.
Mark = tuple[int, int, int] | None


class Watch:
    """Some files, and what to do when one of them has changed."""

    def __init__(self, paths: Sequence[Path], changed: Callable[[], None]) -> None:
        self.paths = list(paths)
        self.changed = changed
        self.marks = [mark_of(path) for path in self.paths]

    def look(self) -> bool:
        """Whether a file has changed since the last check."""
        marks = [mark_of(path) for path in self.paths]
        changed = marks != self.marks
        self.marks = marks
        return changed


class Watcher:
    def __init__(self, report: Report, poll_seconds: float = POLL_SECONDS) -> None:
        self._report = report
        self._poll_seconds = poll_seconds
        self._watches: list[Watch] = []
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, paths: Sequence[Path], changed: Callable[[], None]) -> None:
        """Call `changed` when one of the files changes, appears or disappears from now on.

        It runs on the event loop, so it must be quick. Its exceptions are only reported.
        """
        self._watches.append(Watch(paths, changed))

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arm()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._loop = None

    def poke(self) -> None:
        """Treat all files as changed."""
        for watch in self._watches:
            watch.look()
            self._call(watch)

    def _arm(self) -> None:
        if self._loop is not None and self._watches:
            self._timer = self._loop.call_later(self._poll_seconds, self._poll)

    def _poll(self) -> None:
        for watch in self._watches:
            if watch.look():
                self._call(watch)
        self._arm()

    def _call(self, watch: Watch) -> None:
        try:
            watch.changed()
        except Exception as error:
            paths = ", ".join(map(str, watch.paths))
            self._report("error", "file.not_reloaded", {"files": paths, "error": f"{type(error).__name__}: {error}"})


def mark_of(path: Path) -> Mark:
    try:
        found = os.stat(path)  # noqa: PTH116 a few times a second: the plain call is the cheapest
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
