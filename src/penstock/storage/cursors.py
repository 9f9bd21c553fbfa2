"""Cursors: named readers of the log.

A cursor records where its reader began, which never changes, and how far it has got. History that a cursor still needs
is retained as long as its reader was active within `HOLD_SECONDS`: a reader that never returns must not fill the disk.
With a data directory the cursors are in its file `cursors.json`, which is replaced as a whole.

Another thread deletes history, some time after the decision what to delete. So it asks again right before (`let_go`),
and cursors created meanwhile are respected. After that, a new cursor that starts in what is being deleted is refused.
"""

import threading
from pathlib import Path

import orjson

from penstock.errors import LogError
from penstock.files import replace_file
from penstock.storage.retention import Due

FILE = "cursors.json"
HOLD_SECONDS = 7 * 86400
CURSORS_MAX = 10_000


class Going(LogError):
    """The history that a reader wants to start with is being deleted."""


class Cursor:
    def __init__(self, start: int, reached: int, heard_at: int) -> None:
        self.start = start  # where its reader began
        self.reached = reached  # everything before was processed
        self.heard_at = heard_at  # microseconds since 1970


class Cursors:
    def __init__(self, directory: Path | None) -> None:
        self._path = None if directory is None else directory / FILE
        self.by_name: dict[str, Cursor] = {}
        self._lock = threading.Lock()
        self._going_to = 0  # offsets before this one are being deleted
        if self._path is not None:
            self._read(self._path)

    def begin(self, name: str, start: int, now: int) -> Cursor:
        """The cursor of that name, created with this start if it does not exist. Raises Going."""
        with self._lock:
            cursor = self.by_name.get(name)
            if cursor is None:
                if start < self._going_to:
                    raise Going(f"history before offset {self._going_to} is being deleted")
                cursor = self.by_name[name] = Cursor(start, start, now)
            cursor.heard_at = now
            return cursor

    def reach(self, name: str, offset: int, now: int) -> Cursor:
        cursor = self.begin(name, offset, now)
        cursor.reached = max(cursor.reached, offset)
        return cursor

    def forget(self, name: str) -> bool:
        with self._lock:
            return self.by_name.pop(name, None) is not None

    def held(self, now: int, end: int) -> list[tuple[int, int]]:
        """The offsets that active cursors need, as (smallest, largest) of ranges."""
        return [(cursor.reached, end) for cursor in self._heard_of(now)]

    def let_go(self, due: list[Due], now: int) -> list[Due]:
        """The segments of `due` that no cursor needs; call `went` once they are deleted. Thread-safe."""
        with self._lock:
            needed = min((cursor.reached for cursor in self._heard_of(now)), default=None)
            going = [one for one in due if needed is None or one.end <= needed]
            self._going_to = max((one.end for one in going), default=0)
            return going

    def went(self) -> None:
        with self._lock:
            self._going_to = 0

    def _heard_of(self, now: int) -> list[Cursor]:
        since = now - HOLD_SECONDS * 1_000_000
        return [cursor for cursor in self.by_name.values() if cursor.heard_at >= since]

    def encode(self) -> bytes:
        rows = {
            name: {"start": cursor.start, "reached": cursor.reached, "heard_at": cursor.heard_at}
            for name, cursor in self.by_name.items()
        }
        return orjson.dumps(rows, option=orjson.OPT_INDENT_2)

    def write(self, data: bytes) -> None:
        """Replace the file atomically. Blocks, so call it outside the event loop."""
        if self._path is None:
            return
        replace_file(self._path, data)

    def _read(self, path: Path) -> None:
        try:
            rows = orjson.loads(path.read_bytes())
            self.by_name = {
                str(name): Cursor(int(row["start"]), int(row["reached"]), int(row["heard_at"]))
                for name, row in rows.items()
            }
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LogError(
                f"cannot read {path}: {error}; without it, history that readers still need may be deleted"
            ) from error
