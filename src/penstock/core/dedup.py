"""Recently published ids: a second message with one of them is a duplicate.

The window is built from times that messages carry, so it can be rebuilt from a log without reading a clock. It is
bounded by time, by count and by size, because clients choose their ids and how long they are. When it is full, the user
with the most bytes loses its oldest ids first.

Ids are kept per user: what one user has published does not affect what another publishes under the same id
(`key_of`), and does not evict it. If users have no names, there is one window of ids for all.

    lane   page ─► page ─► page      expiry times never decrease along a lane
    lane   page ─► page

Messages that are remembered equally long arrive in order of their expiry, so there are about as many lanes as there are
different durations. Expired ids are therefore at the front of a lane, however long others last, and are dropped when
the next id is added. Pages only grow, and a snapshot takes them as they are (`log.ids`).
"""

from bisect import bisect_right
from collections import deque
from typing import Final

from penstock.log.ids import IdPage, IdPart

NEVER: Final = 1 << 62
ID_OVERHEAD: Final = 150  # approximate memory per id besides its bytes


def key_of(id: bytes, owner: bytes) -> bytes:
    """The key an id is stored under. User names contain no NUL, so ids of different users cannot collide."""
    if owner:
        return owner + b"\0" + id
    return b"\0" + id if 0 in id else id


def owner_of(key: bytes) -> bytes:
    """The owner of the id with this key; empty if users have no names."""
    end = key.find(b"\0")
    return key[:end] if end > 0 else b""


class _Lane:
    """Ids in order of arrival, which is also the order in which they expire."""

    def __init__(self) -> None:
        self.pages: deque[IdPage] = deque()
        self.start = 0  # index of the first remaining id on the first page

    def append(self, id: bytes, until: int, serial: int, page_length: int) -> None:
        if not self.pages or len(self.pages[-1].ids) >= page_length:
            self.pages.append(IdPage())
        page = self.pages[-1]
        page.untils.append(until)
        page.serials.append(serial)
        page.ids.append(id)

    def drop_first(self) -> None:
        self.start += 1
        if self.start == len(self.pages[0].ids):
            self.pages.popleft()
            self.start = 0

    def parts(self) -> list[IdPart]:
        parts = [IdPart(page, 0, len(page.ids)) for page in self.pages]
        if parts:
            parts[0].start = self.start
        return parts


class _Window:
    """The ids of one user."""

    def __init__(self, page_length: int) -> None:
        self.bytes = 0  # of the ids, overhead included
        self.until: dict[bytes, int] = {}
        self.next_end = NEVER  # the earliest expiry time of all
        self._page_length = page_length
        self._lanes: list[_Lane] = []
        self._ends: list[int] = []  # by lane, the expiry time of its last id; ascending
        self._entries = 0  # in all lanes, including superseded ones

    def remember(self, id: bytes, until: int, serial: int) -> None:
        if id not in self.until:
            self.bytes += len(id) + ID_OVERHEAD
        self.until[id] = until
        self._add(id, until, serial)
        if self._entries > 2 * len(self.until) + self._page_length:
            self.fill(self.entries())

    def parts(self) -> list[IdPart]:
        """The current contents as page ranges. An id may occur twice; the later entry counts."""
        return [part for lane in self._lanes for part in lane.parts()]

    def entries(self) -> list[tuple[int, bytes, int]]:
        """The current contents in order of arrival: serial, id, expiry time."""
        found: list[tuple[int, bytes, int]] = []
        for part in self.parts():
            page = part.page
            for index in range(part.start, part.end):
                if self.until.get(page.ids[index], 0) == page.untils[index]:
                    found.append((page.serials[index], page.ids[index], page.untils[index]))
        found.sort()
        return found

    def fill(self, entries: list[tuple[int, bytes, int]]) -> None:
        """Rebuild the lanes from these entries, without superseded ones, which may be the majority."""
        self._lanes = []
        self._ends = []
        self.next_end = NEVER
        self._entries = 0
        for serial, id, until in entries:
            if self.until.get(id, 0) == until:
                self._add(id, until, serial)

    def _add(self, id: bytes, until: int, serial: int) -> None:
        """Append to the lane with the latest last expiry time that is not later; so the lanes stay sorted."""
        number = bisect_right(self._ends, until) - 1
        if number < 0:
            number = 0
            self._lanes.insert(0, _Lane())
            self._ends.insert(0, until)
        self._lanes[number].append(id, until, serial, self._page_length)
        self._ends[number] = until
        self.next_end = min(self.next_end, until)
        self._entries += 1

    def forget_ended(self, now: int) -> None:
        """Drop expired ids, which are at the front of the lanes."""
        next_end = NEVER
        for lane in self._lanes:
            while lane.pages:
                first = lane.pages[0].untils[lane.start]
                if first > now:
                    next_end = min(next_end, first)
                    break
                self._forget_first(lane)
        self.next_end = next_end
        self._drop_empty()

    def forget_oldest(self) -> None:
        oldest = self._lanes[0]
        for lane in self._lanes:
            if lane.pages[0].serials[lane.start] < oldest.pages[0].serials[oldest.start]:
                oldest = lane
        self._forget_first(oldest)
        if not oldest.pages:
            self._drop_empty()

    def _forget_first(self, lane: _Lane) -> None:
        page = lane.pages[0]
        id = page.ids[lane.start]
        if self.until.get(id, 0) == page.untils[lane.start]:
            del self.until[id]
            self.bytes -= len(id) + ID_OVERHEAD
        lane.drop_first()
        self._entries -= 1

    def _drop_empty(self) -> None:
        kept = [number for number, lane in enumerate(self._lanes) if lane.pages]
        if len(kept) < len(self._lanes):
            self._ends = [self._ends[number] for number in kept]
            self._lanes = [self._lanes[number] for number in kept]


class Dedup:
    def __init__(self, ids_max: int, page_length: int, bytes_max: int = NEVER) -> None:
        self.size = 0  # memory taken by the ids
        self._count = 0
        self._ids_max = ids_max
        self._bytes_max = bytes_max
        self._page_length = page_length
        self._windows: dict[bytes, _Window] = {}  # by user
        self._serial = 0

    def __len__(self) -> int:
        return self._count

    def is_known(self, id: bytes, now: int) -> bool:
        """Whether a message with that id was accepted and is still remembered."""
        window = self._windows.get(owner_of(id))
        return window is not None and window.until.get(id, 0) > now

    def remember(self, id: bytes, until: int, now: int) -> None:
        """Remember the id of an accepted message."""
        owner = owner_of(id)
        window = self._windows.get(owner)
        if window is None:
            window = _Window(self._page_length)
        elif window.next_end <= now:
            self._forget_ended(window, now)
        if window.until.get(id, 0) >= until:
            return
        if id not in window.until:
            self._make_room(len(id) + ID_OVERHEAD, now)
        self._windows[owner] = window  # a new window, or one that was dropped as empty
        self._uncount(window)
        window.remember(id, until, self._serial)
        self._recount(window)
        self._serial += 1

    def _make_room(self, cost: int, now: int) -> None:
        """Drop expired ids first, then the oldest of the user with the most bytes: a replay does the same."""
        if not self._is_full(cost):
            return
        for owner in list(self._windows):
            window = self._windows[owner]
            if window.next_end <= now:
                self._forget_ended(window, now)
                if not window.until:
                    del self._windows[owner]
        while self._windows and self._is_full(cost):
            most = b""
            size = -1
            for owner, window in self._windows.items():
                if window.bytes > size or (window.bytes == size and owner < most):
                    most = owner
                    size = window.bytes
            window = self._windows[most]
            self._uncount(window)
            window.forget_oldest()
            self._recount(window)
            if not window.until:
                del self._windows[most]

    def _is_full(self, cost: int) -> bool:
        return self._count >= self._ids_max or self.size + cost > self._bytes_max

    def _forget_ended(self, window: _Window, now: int) -> None:
        self._uncount(window)
        window.forget_ended(now)
        self._recount(window)

    def _uncount(self, window: _Window) -> None:
        self._count -= len(window.until)
        self.size -= window.bytes

    def _recount(self, window: _Window) -> None:
        self._count += len(window.until)
        self.size += window.bytes

    def restore(self, parts: list[IdPart]) -> None:
        """Restore what `parts` returned."""
        by_owner: dict[bytes, list[tuple[int, bytes, int]]] = {}
        for part in parts:
            page = part.page
            for index in range(part.start, part.end):
                id = page.ids[index]
                by_owner.setdefault(owner_of(id), []).append((page.serials[index], id, page.untils[index]))
        self._windows = {}
        self._count = 0
        self.size = 0
        for owner, entries in by_owner.items():
            entries.sort()
            window = self._windows[owner] = _Window(self._page_length)
            for serial, id, until in entries:
                if window.until.get(id, 0) < until:
                    window.until[id] = until
                self._serial = max(self._serial, serial + 1)
            window.bytes = sum([len(id) + ID_OVERHEAD for id in window.until])
            window.fill(entries)
            self._recount(window)

    def parts(self) -> list[IdPart]:
        """The current contents as page ranges. An id may occur twice; the later entry counts."""
        return [part for window in self._windows.values() for part in window.parts()]

    def contents(self) -> dict[bytes, int]:
        """All ids with their expiry times, in order of arrival."""
        entries = [entry for window in self._windows.values() for entry in window.entries()]
        entries.sort()
        return {id: until for _, id, until in entries}
