"""Delayed messages of a queue, sorted by the time they are due.

Messages due at the same time are sorted by offset. So their order does not depend on how they got here, and a replay,
which may see a message before a settlement that was made earlier, ends up with the same one.
"""

import heapq

from penstock.core.delivery import Delivery
from penstock.message import MESSAGE_OVERHEAD, UNSHARED, Message


class Delayed:
    def __init__(self) -> None:
        self.bytes = 0  # of all messages, in memory or not, overhead included
        self.cold = 0  # of those not in memory
        self.still_held = 0  # as in `Backlog`
        self._by_offset: dict[int, Delivery] = {}
        self._heap: list[tuple[int, int]] = []  # (due_at, offset), the earliest first

    def __len__(self) -> int:
        return len(self._by_offset)

    def add(self, entry: Delivery) -> None:
        self._by_offset[entry.offset] = entry
        heapq.heappush(self._heap, (entry.due_at, entry.offset))
        self.bytes += entry.size
        if entry.message is None:
            self.cold += entry.size

    def next_due(self) -> int:
        """When the earliest message is due; -1 when there is none."""
        return self._heap[0][0] if self._heap else -1

    def take_due(self, now: int) -> Delivery | None:
        """Remove and return the earliest message, if it is due."""
        if not self._heap or self._heap[0][0] > now:
            return None
        _, offset = heapq.heappop(self._heap)
        entry = self._by_offset.pop(offset)
        self.bytes -= entry.size
        if entry.message is None:
            self.cold -= entry.size
        return entry

    def free(self, readable: int) -> int:
        """Release the messages that the log can give back; returns the bytes freed."""
        freed = 0
        for entry in self._by_offset.values():
            message = entry.message
            if message is not None and entry.offset < readable and message.requester is None and not message.revoked:
                entry.message = None
                freed += entry.size
                if message.holders != UNSHARED:
                    message.holders -= 1
                    if message.holders > 0:
                        self.still_held += entry.size - MESSAGE_OVERHEAD
        self.cold += freed
        return freed

    def sweep_revoked(self) -> list[Delivery]:
        """Remove the messages that were revoked by their requesters."""
        revoked = [entry for entry in self._by_offset.values() if entry.message is not None and entry.message.revoked]
        if revoked:
            for entry in revoked:
                del self._by_offset[entry.offset]
                self.bytes -= entry.size
            self._heap = [place for place in self._heap if place[1] in self._by_offset]
            heapq.heapify(self._heap)
        return revoked

    def in_memory(self) -> list[Message]:
        return [entry.message for entry in self._by_offset.values() if entry.message is not None]

    def entries(self) -> list[Delivery]:
        """All entries, in order."""
        return [self._by_offset[offset] for _, offset in sorted(self._heap)]

    def unsorted(self) -> list[tuple[int, int]]:
        """(due_at, offset) of all entries, unsorted: for callers that sort them in slices."""
        return self._heap.copy()

    def get(self, offset: int) -> Delivery | None:
        return self._by_offset.get(offset)

    def clear(self) -> None:
        self._by_offset.clear()
        self._heap.clear()
        self.bytes = 0
        self.cold = 0
