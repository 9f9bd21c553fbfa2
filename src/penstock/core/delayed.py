"""Messages of a queue that are not to be delivered yet, by the time they are due.

Whoever is due at the same time goes by offset. So their order says nothing of how they came here, and a replay, which
may see a message before a settlement that was made before it, has the same one.
"""

import heapq

from penstock.message import MESSAGE_OVERHEAD, UNSHARED, Message


class PutOff:
    """One message that waits. Without the message itself where the log can give it back."""

    def __init__(self, offset: int, retry: int, due_at: int, size: int, message: Message | None) -> None:
        self.offset = offset
        self.retry = retry
        self.due_at = due_at
        self.size = size  # what it costs in memory, or would
        self.message = message


class Delayed:
    def __init__(self) -> None:
        self.bytes = 0  # of all of them, in memory or not, overhead included
        self.cold = 0  # of those that are not
        self.still_held = 0  # as in `Backlog`
        self._by_offset: dict[int, PutOff] = {}
        self._heap: list[tuple[int, int]] = []  # (due_at, offset), the earliest first

    def __len__(self) -> int:
        return len(self._by_offset)

    def add(self, entry: PutOff) -> None:
        self._by_offset[entry.offset] = entry
        heapq.heappush(self._heap, (entry.due_at, entry.offset))
        self.bytes += entry.size
        if entry.message is None:
            self.cold += entry.size

    def next_due(self) -> int:
        """When the earliest is due; -1 when there is none."""
        return self._heap[0][0] if self._heap else -1

    def take_due(self, now: int) -> PutOff | None:
        """The earliest, if it is due by now."""
        if not self._heap or self._heap[0][0] > now:
            return None
        _, offset = heapq.heappop(self._heap)
        entry = self._by_offset.pop(offset)
        self.bytes -= entry.size
        if entry.message is None:
            self.cold -= entry.size
        return entry

    def free(self, readable: int) -> int:
        """Let go of the messages that the log can give back; how many bytes that frees."""
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

    def sweep_revoked(self) -> list[PutOff]:
        """Take out the messages that were given up by those who waited for them."""
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

    def entries(self) -> list[PutOff]:
        """All of them, in order."""
        return [self._by_offset[offset] for _, offset in sorted(self._heap)]

    def unsorted(self) -> list[tuple[int, int]]:
        """(due_at, offset) of all of them, in no order: for those who sort them in slices."""
        return self._heap.copy()

    def get(self, offset: int) -> PutOff | None:
        return self._by_offset.get(offset)

    def clear(self) -> None:
        self._by_offset.clear()
        self._heap.clear()
        self.bytes = 0
        self.cold = 0


def put_off(message: Message, retry: int, due_at: int) -> PutOff:
    return PutOff(message.offset, retry, due_at, message.size, message)
