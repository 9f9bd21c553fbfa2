"""Places that everybody shares: nobody holds more of them than are left for others.

A holder is a user or, where nobody is known, an address. It gets another place while it holds fewer than are free.
So one holder has half of the places at most, two have a third each, and so on: whoever comes next finds one.
"""

from typing import Final

GREED_OF_CONNECTIONS: Final = 9  # one holder may have nine tenths of them


class Places:
    """So many places. `greed` is how many times what is free one may hold."""

    def __init__(self, most: int, greed: int = 1) -> None:
        self.most = most
        self.greed = greed
        self.taken = 0
        self.held: dict[str, int] = {}

    def has_room(self, holder: str) -> bool:
        free = self.most - self.taken
        held = self.held.get(holder, 0)
        return free > 0 and (held == 0 or held < self.greed * free)

    def enter(self, holder: str) -> None:
        self.taken += 1
        self.held[holder] = self.held.get(holder, 0) + 1

    def leave(self, holder: str) -> None:
        self.taken -= 1
        left = self.held[holder] - 1
        if left:
            self.held[holder] = left
        else:
            del self.held[holder]

    def why_full(self, holder: str, what: str) -> str:
        """Why a holder gets none, for whoever asks."""
        if self.taken >= self.most:
            return f"there are {self.taken} {what}, which is the most there can be"
        free = self.most - self.taken
        return f"{holder} has {self.held.get(holder, 0)} of {self.most} {what}: {free} are left for others"
