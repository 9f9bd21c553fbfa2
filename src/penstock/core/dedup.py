"""The ids that were published lately: a second message with one of them is the same message again.

The window is made of times that messages carry, so it can be rebuilt from a log: no clock is looked at. It is bounded
by time, by count and by size: clients choose their ids, and how long they are. Where there is too much, whoever has
most of it loses the oldest first.

A user's ids are its own: what one user has published says nothing of what another publishes under the same id
(`key_of`), and does not push it out. Where users have no names, there is one window of ids for all.

    lane   page ─► page ─► page      the times until which ids are remembered never go down along a lane
    lane   page ─► page

Messages that are remembered equally long come in order of their end, so there are about as many lanes as there are
different lengths of time. What is over is then at the front of a lane, however long others last, and is forgotten with
the next id that comes. Pages only grow, and a snapshot takes them as they are (`log.ids`).
"""

from bisect import bisect_right
from collections import deque
from typing import Final

from penstock.log.ids import IdPage, IdPart

NEVER: Final = 1 << 62
ID_OVERHEAD: Final = 150  # what an id takes in memory besides its bytes, about


def key_of(id: bytes, owner: bytes) -> bytes:
    """What an id is remembered by. No user's name has a NUL, so nobody's id can be taken for another's."""
    if owner:
        return owner + b"\0" + id
    return b"\0" + id if 0 in id else id


def owner_of(key: bytes) -> bytes:
    """Whose id is remembered by this; nobody's in particular where users have no names."""
    end = key.find(b"\0")
    return key[:end] if end > 0 else b""


class _Lane:
    """Ids in order of coming, which is the order in which they are forgotten."""

    def __init__(self) -> None:
        self.pages: deque[IdPage] = deque()
        self.start = 0  # of what is left on the first page

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
    """What is remembered of one user."""

    def __init__(self, page_length: int) -> None:
        self.bytes = 0  # of the ids, overhead included
        self.until: dict[bytes, int] = {}
        self.next_end = NEVER  # the earliest time of all
        self._page_length = page_length
        self._lanes: list[_Lane] = []
        self._ends: list[int] = []  # by lane, the time of its last id; they go up
        self._entries = 0  # in all lanes, with those whose id came again

    def remember(self, id: bytes, until: int, serial: int) -> None:
        if id not in self.until:
            self.bytes += len(id) + ID_OVERHEAD
        self.until[id] = until
        self._add(id, until, serial)
        if self._entries > 2 * len(self.until) + self._page_length:
            self.fill(self.entries())

    def parts(self) -> list[IdPart]:
        """What is remembered, as it is at this moment. An id may be there twice, and the later one counts then."""
        return [part for lane in self._lanes for part in lane.parts()]

    def entries(self) -> list[tuple[int, bytes, int]]:
        """The same in order of coming: serial, id, and until when."""
        found: list[tuple[int, bytes, int]] = []
        for part in self.parts():
            page = part.page
            for index in range(part.start, part.end):
                if self.until.get(page.ids[index], 0) == page.untils[index]:
                    found.append((page.serials[index], page.ids[index], page.untils[index]))
        found.sort()
        return found

    def fill(self, entries: list[tuple[int, bytes, int]]) -> None:
        """Take these for what there is, without those whose id came again: they may be the most."""
        self._lanes = []
        self._ends = []
        self.next_end = NEVER
        self._entries = 0
        for serial, id, until in entries:
            if self.until.get(id, 0) == until:
                self._add(id, until, serial)

    def _add(self, id: bytes, until: int, serial: int) -> None:
        """To the lane whose last time is the latest that is not later; so the times of lanes stay in order."""
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
        """Whatever is over by now is at the front of a lane."""
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
        self.size = 0  # what the ids take in memory
        self._count = 0
        self._ids_max = ids_max
        self._bytes_max = bytes_max
        self._page_length = page_length
        self._windows: dict[bytes, _Window] = {}  # by user
        self._serial = 0

    def __len__(self) -> int:
        return self._count

    def is_known(self, id: bytes, now: int) -> bool:
        """Whether a message of that id was taken, and its time is not over."""
        window = self._windows.get(owner_of(id))
        return window is not None and window.until.get(id, 0) > now

    def remember(self, id: bytes, until: int, now: int) -> None:
        """A message of that id was taken in."""
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
        self._windows[owner] = window  # it may have been empty, and is not
        self._uncount(window)
        window.remember(id, until, self._serial)
        self._recount(window)
        self._serial += 1

    def _make_room(self, cost: int, now: int) -> None:
        """What is over goes first, then the oldest of whoever has most: the same after a restart."""
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
        """Remember what `parts` said."""
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
        """What is remembered, as it is at this moment. An id may be there twice, and the later one counts then."""
        return [part for window in self._windows.values() for part in window.parts()]

    def contents(self) -> dict[bytes, int]:
        """What is remembered, and until when, in order of coming."""
        entries = [entry for window in self._windows.values() for entry in window.entries()]
        entries.sort()
        return {id: until for _, id, until in entries}
