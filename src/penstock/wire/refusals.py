"""How much of what one client was refused is told to people who read the log: bad requests come by the million too.

The first few of a second are told in full. Of the rest, those whose client was given an error id are told by that id
and their reason, many in one line: whoever has an id finds it. Those that got none are counted, and so are those with
an id when a second had more of them than anybody will look for.
"""

from typing import Final

SECOND: Final = 1_000_000  # microseconds
IN_FULL_PER_SECOND: Final = 10
TEXT_SIZE_MAX: Final = 200  # of a reason or a request: both may quote as much as a client likes

# A line of the log stays readable, and what waits for it is small.
IDS_PER_LINE: Final = 500
REASONS_PER_LINE: Final = 20
IDS_PER_SECOND: Final = 1000


class Refusals:
    """Decides for one session; the session does the telling."""

    def __init__(self) -> None:
        self.counted = 0  # told by number only, and not told yet
        self.ids: dict[str, list[str]] = {}  # by reason, not told yet
        self._ids_count = 0
        self._since = -SECOND
        self._in_full = 0
        self._ids_told = 0  # in this second

    def enter(self, now: int) -> bool:
        """True where another second begins, as it does when the clock was set back."""
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
        """Keep an id that a client was given; True when they fill a line."""
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
