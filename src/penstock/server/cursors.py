"""Cursors: readers of the log that the broker knows by name.

A cursor remembers where its reader began, which never changes, and what its reader is done with. History that a cursor
is not done with is kept, as long as somebody was heard of it within `HOLD_SECONDS`: a reader that is gone for good must
not fill the disk. With a data directory the cursors are in its file `cursors.json`, replaced as a whole.

History is let go of by another thread, some time after it was decided what may go. So it asks again right before
(`let_go`): a cursor that began meanwhile is respected. One that wants to begin from then on, in what is going, is told.
"""

import threading
from pathlib import Path

import orjson

from penstock.errors import LogError
from penstock.files import replace_file
from penstock.log.retention import Due

FILE = "cursors.json"
HOLD_SECONDS = 7 * 86400
CURSORS_MAX = 10_000


class Going(LogError):
    """What a reader wants to begin with is being let go of."""


class Cursor:
    def __init__(self, start: int, reached: int, heard_at: int) -> None:
        self.start = start  # where its reader began
        self.reached = reached  # everything before is done with
        self.heard_at = heard_at  # microseconds since 1970


class Cursors:
    def __init__(self, directory: Path | None) -> None:
        self._path = None if directory is None else directory / FILE
        self.by_name: dict[str, Cursor] = {}
        self._lock = threading.Lock()
        self._going_to = 0  # offsets before this one are being let go of
        if self._path is not None:
            self._read(self._path)

    def begin(self, name: str, start: int, now: int) -> Cursor:
        """The cursor of that name; it comes to be with this start if it was not there."""
        with self._lock:
            cursor = self.by_name.get(name)
            if cursor is None:
                if start < self._going_to:
                    raise Going(f"history before offset {self._going_to} is being let go of")
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
        """The ranges of offsets that are to be kept, from the smallest to the largest."""
        return [(cursor.reached, end) for cursor in self._heard_of(now)]

    def let_go(self, due: list[Due], now: int) -> list[Due]:
        """Of segments that may go, those that no cursor needs; `went` must follow when they are gone. For a thread."""
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
        """On the disk, whole or not at all. For a thread beside the loop."""
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
                f"{path} cannot be read: {error}; without it, readers that are behind may lose history"
            ) from error
