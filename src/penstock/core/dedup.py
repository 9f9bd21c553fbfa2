"""The ids that were published lately: a second message with one of them is the same message again.

The window is made of times that messages carry, so it can be rebuilt from a log: no clock is looked at. It is bounded
by time, by count and by size: clients choose their ids, and how long they are. Where there is too much the oldest are
forgotten first.

A user's ids are its own: what one user has published says nothing of what another publishes under the same id
(`key_of`). Where users have no names, there is one set of ids for all.

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


class Dedup:
    def __init__(self, ids_max: int, page_length: int, bytes_max: int = NEVER) -> None:
        self._ids_max = ids_max
        self._bytes_max = bytes_max
        self._bytes = 0  # of the ids, overhead included
        self._page_length = page_length
        self._until: dict[bytes, int] = {}
        self._lanes: list[_Lane] = []
        self._ends: list[int] = []  # by lane, the time of its last id; they go up
        self._next_end = NEVER  # the earliest time of all
        self._entries = 0  # in all lanes, with those whose id came again
        self._serial = 0

    def __len__(self) -> int:
        return len(self._until)

    @property
    def size(self) -> int:
        """What the ids take in memory."""
        return self._bytes

    def is_known(self, id: bytes, now: int) -> bool:
        """Whether a message of that id was taken, and its time is not over."""
        return self._until.get(id, 0) > now

    def remember(self, id: bytes, until: int, now: int) -> None:
        """A message of that id was taken in."""
        if self._next_end <= now:
            self._forget_ended(now)
        known = self._until
        if known.get(id, 0) >= until:
            return
        if id not in known:
            cost = len(id) + ID_OVERHEAD
            while self._lanes and (len(known) >= self._ids_max or self._bytes + cost > self._bytes_max):
                self._forget_oldest()
            self._bytes += cost
        known[id] = until
        self._add(id, until, self._serial)
        self._serial += 1
        if self._entries > 2 * len(known) + self._page_length:
            self._rewrite()

    def restore(self, parts: list[IdPart]) -> None:
        """Remember what `parts` said."""
        entries: list[tuple[int, bytes, int]] = []
        for part in parts:
            page = part.page
            for index in range(part.start, part.end):
                entries.append((page.serials[index], page.ids[index], page.untils[index]))
        entries.sort()
        self._until = {}
        for _, id, until in entries:
            if self._until.get(id, 0) < until:
                self._until[id] = until
        self._bytes = sum([len(id) + ID_OVERHEAD for id in self._until])
        self._fill(entries)

    def parts(self) -> list[IdPart]:
        """What is remembered, as it is at this moment. An id may be there twice, and the later one counts then."""
        return [part for lane in self._lanes for part in lane.parts()]

    def contents(self) -> dict[bytes, int]:
        """What is remembered, and until when, in order of coming."""
        return {id: until for _, id, until in self._entries_in_order()}

    def _entries_in_order(self) -> list[tuple[int, bytes, int]]:
        found: list[tuple[int, bytes, int]] = []
        for part in self.parts():
            page = part.page
            for index in range(part.start, part.end):
                if self._until.get(page.ids[index], 0) == page.untils[index]:
                    found.append((page.serials[index], page.ids[index], page.untils[index]))
        found.sort()
        return found

    def _rewrite(self) -> None:
        """Leave out those whose id came again: they are the most."""
        self._fill(self._entries_in_order())

    def _fill(self, entries: list[tuple[int, bytes, int]]) -> None:
        self._lanes = []
        self._ends = []
        self._next_end = NEVER
        self._entries = 0
        for serial, id, until in entries:
            if self._until.get(id, 0) == until:
                self._add(id, until, serial)
                self._serial = serial + 1

    def _add(self, id: bytes, until: int, serial: int) -> None:
        """To the lane whose last time is the latest that is not later; so the times of lanes stay in order."""
        number = bisect_right(self._ends, until) - 1
        if number < 0:
            number = 0
            self._lanes.insert(0, _Lane())
            self._ends.insert(0, until)
        self._lanes[number].append(id, until, serial, self._page_length)
        self._ends[number] = until
        self._next_end = min(self._next_end, until)
        self._entries += 1

    def _forget_ended(self, now: int) -> None:
        """Whatever is over by now is at the front of a lane."""
        next_end = NEVER
        for lane in self._lanes:
            while lane.pages:
                first = lane.pages[0].untils[lane.start]
                if first > now:
                    next_end = min(next_end, first)
                    break
                self._forget_first(lane)
        self._next_end = next_end
        self._drop_empty()

    def _forget_oldest(self) -> None:
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
        if self._until.get(id, 0) == page.untils[lane.start]:
            del self._until[id]
            self._bytes -= len(id) + ID_OVERHEAD
        lane.drop_first()
        self._entries -= 1

    def _drop_empty(self) -> None:
        kept = [number for number, lane in enumerate(self._lanes) if lane.pages]
        if len(kept) < len(self._lanes):
            self._ends = [self._ends[number] for number in kept]
            self._lanes = [self._lanes[number] for number in kept]
