"""The ids that were published lately: a second message with one of them is the same message again.

The window is made of times that messages carry, so it can be rebuilt from a log: no clock is looked at. It is bounded
twice, by time and by count; where there are too many ids the oldest are forgotten first.
"""

from collections import deque


class Dedup:
    def __init__(self, ids_max: int) -> None:
        self._ids_max = ids_max
        self._until: dict[bytes, int] = {}
        self._order: deque[tuple[int, bytes]] = deque()  # in order of coming

    def __len__(self) -> int:
        return len(self._until)

    def is_known(self, id: bytes, now: int) -> bool:
        """Whether a message of that id was taken, and its time is not over."""
        return self._until.get(id, 0) > now

    def remember(self, id: bytes, until: int, now: int) -> None:
        """A message of that id was taken in."""
        order = self._order
        known = self._until
        while order and (order[0][0] <= now or len(known) >= self._ids_max):
            when, oldest = order.popleft()
            if known.get(oldest) == when:
                del known[oldest]
        known.pop(id, None)  # so that it stands behind those before it
        known[id] = until
        order.append((until, id))

    def restore(self, contents: dict[bytes, int]) -> None:
        """Remember what `contents` said."""
        self._until = dict(contents)
        self._order = deque([(until, id) for id, until in contents.items()])

    def contents(self) -> dict[bytes, int]:
        """What is remembered, and until when, in order of coming."""
        return dict(self._until)
