"""A consumer's un-acked deliveries, by the ids its client uses."""

from collections import deque

from penstock.core.delivery import Delivery


class Unacked:
    """Open deliveries by message id. Publishers choose the ids, so two messages may share one: oldest first then."""

    def __init__(self) -> None:
        self._first: dict[bytes, Delivery] = {}
        self._others: dict[bytes, deque[Delivery]] = {}

    def add(self, id: bytes, delivery: Delivery) -> None:
        if id in self._first:
            others = self._others.get(id)
            if others is None:
                others = self._others[id] = deque()
            others.append(delivery)
        else:
            self._first[id] = delivery

    def take(self, id: bytes) -> Delivery | None:
        """Remove and return the oldest delivery of that id."""
        delivery = self._first.pop(id, None)
        if delivery is not None and self._others:
            others = self._others.get(id)
            if others:
                self._first[id] = others.popleft()
                if not others:
                    del self._others[id]
        return delivery

    def clear(self) -> None:
        self._first.clear()
        self._others.clear()
