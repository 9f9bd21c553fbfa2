"""The IDs of the requests that a node was given and has not answered.

The original client keeps IDs in 16 signed bits, so they stay below IDS_MAX. They go round, so that a late answer does
not meet a new request. Once all are open, they are exhausted until no more than IDS_ENOUGH are; requests already under
way at that moment get higher IDs.
"""

from typing import Final

from penstock.core.delivery import Delivery
from penstock.wire.rq.codec import ABSENT

IDS_MAX: Final = 32768
IDS_ENOUGH: Final = IDS_MAX - 1024


class DeliveryIds:
    """The open IDs of one node, each with its delivery; a broadcast that was sent as a request has none."""

    def __init__(self) -> None:
        self.open: dict[int, Delivery | None] = {}
        self.noreply: set[int] = set()  # those for which DELIVERED is the complete answer
        self.exhausted = False
        self.next_id = 0
        self._next_high_id = IDS_MAX
        self._broadcasts = 0

    def assign(self, delivery: Delivery | None, noreply: bool) -> int:
        """The next free ID."""
        open = self.open
        if len(open) < IDS_MAX:
            id = self.next_id
            while id in open:
                id = (id + 1) % IDS_MAX
            self.next_id = (id + 1) % IDS_MAX
        else:
            id = self._next_high_id
            while id in open:
                id += 1
            self._next_high_id = id + 1
        open[id] = delivery
        if noreply:
            self.noreply.add(id)
        if delivery is None:
            self._broadcasts += 1
        if len(open) >= IDS_MAX:
            self.exhausted = True
        return id

    def find(self, id: int) -> int:
        """The open ID that an answer means, or ABSENT. The original client sends 16-bit IDs sign-extended."""
        if id in self.open:
            return id
        low = id & 0xFFFF
        return low if id >> 16 == 0xFFFF and low in self.open else ABSENT

    def release(self, id: int) -> Delivery | None:
        """Close an open ID; returns its delivery."""
        delivery = self.open.pop(id)
        if delivery is None:
            self._broadcasts -= 1
        if self.noreply:
            self.noreply.discard(id)
        return delivery

    def recover(self) -> bool:
        """Whether enough exhausted IDs are free again."""
        if len(self.open) > IDS_ENOUGH:
            return False
        self.exhausted = False
        self._next_high_id = IDS_MAX
        return True

    def has_deliveries(self) -> bool:
        """Whether an open ID is more than a broadcast."""
        return len(self.open) > self._broadcasts

    def clear(self) -> None:
        self.open.clear()
        self.noreply.clear()
        self._broadcasts = 0
