"""Files that may change while the broker runs: looked at a few times a second, and at once on SIGHUP."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.wire.session import Report

POLL_SECONDS = 0.25

# What tells that a file is another one, or has other content; None for a file that is not there.
Mark = tuple[int, int, int] | None


class Watch:
    """Some files, and what to do when one of them has changed."""

    def __init__(self, paths: Sequence[Path], changed: Callable[[], None]) -> None:
        self.paths = list(paths)
        self.changed = changed
        self.marks = [mark_of(path) for path in self.paths]

    def look(self) -> bool:
        """Whether something has changed since the last look."""
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
        """Call `changed` when one of the files has changed, come or gone; what it has by now counts as known.

        It is called on the loop, so it must be quick, and what it raises is reported and no more.
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
        """Take everything as changed: somebody says so."""
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
