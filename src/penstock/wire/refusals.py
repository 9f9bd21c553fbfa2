"""Limits how much of one client's refused requests is logged: bad requests may come by the million.

The first few in each second are logged in full. Of the rest, those with an error id are logged by id and reason, many
in one line, so that any id can be found in the log. Those without an id are only counted, and so are those with an id
beyond IDS_PER_SECOND.
"""

from typing import Final

SECOND: Final = 1_000_000  # microseconds
IN_FULL_PER_SECOND: Final = 10
TEXT_SIZE_MAX: Final = 200  # of a reason or a request: both may quote client input of any length

# These keep log lines readable and what is buffered for them small.
IDS_PER_LINE: Final = 500
REASONS_PER_LINE: Final = 20
IDS_PER_SECOND: Final = 1000


class Refusals:
    """Decides for one session, which does the logging."""

    def __init__(self) -> None:
        self.counted = 0  # refusals to be logged as a number
        self.ids: dict[str, list[str]] = {}  # error ids not logged yet, by reason
        self._ids_count = 0
        self._since = -SECOND
        self._in_full = 0
        self._ids_told = 0  # in this second

    def enter(self, now: int) -> bool:
        """True if a new second starts, also when the clock was set back."""
        if self._since <= now < self._since + SECOND:
            return False
        self._since = now
        self._in_full = 0
        self._ids_told = 0
        return True

    def may_tell_in_full(self) -> bool:
        self._in_full += 1
        return self._in_full <= IN_FULL_PER_SECOND

    def add_id(self, reason: str, error_id: str) -> bool:
        """Buffer an error id; True when there are enough for a line."""
        self._ids_told += 1
        if self._ids_told > IDS_PER_SECOND:
            self.counted += 1
            return False
        ids = self.ids.get(reason)
        if ids is None:
            ids = self.ids[reason] = []
        ids.append(error_id)
        self._ids_count += 1
        return self._ids_count >= IDS_PER_LINE or len(self.ids) >= REASONS_PER_LINE

    def take_ids(self) -> dict[str, list[str]]:
        ids = self.ids
        self.ids = {}
        self._ids_count = 0
        return ids

    def take_counted(self) -> int:
        counted = self.counted
        self.counted = 0
        return counted
