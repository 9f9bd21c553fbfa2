"""A shared quota, in units or bytes: no holder can take so much that others get nothing.

A holder is a user or, without authentication, an address. It may take more while it has less than is free. So one
holder gets at most half of the total, two get a third each, and so on: there is always some left for the next one. If
there is mostly a single holder, that is little: `greed` sets how many times the free amount one may have.
"""

from typing import Final

GREED_OF_ONE: Final = 9  # one holder may have nine tenths
GREED_OF_BYTES: Final = 3  # one holder may have three quarters
NO_HOLDER: Final = ""  # no client: restored state and timers, limited only by what is free


class Places:
    """One quota, and how much of it each holder has."""

    def __init__(self, most: int, greed: int = 1) -> None:
        self.most = most
        self.greed = greed
        self.taken = 0
        self.held: dict[str, int] = {}

    def has_room(self, holder: str, amount: int = 1) -> bool:
        free = self.most - self.taken
        if amount > free:
            return False
        held = self.held.get(holder, 0)
        return held == 0 or holder == NO_HOLDER or held + amount <= self.greed * (free - amount + 1)

    def enter(self, holder: str, amount: int = 1) -> None:
        if amount:
            self.taken += amount
            self.held[holder] = self.held.get(holder, 0) + amount

    def leave(self, holder: str, amount: int = 1) -> None:
        if amount:
            self.taken -= amount
            left = self.held[holder] - amount
            if left:
                self.held[holder] = left
            else:
                del self.held[holder]

    def why_full(self, holder: str, what: str) -> str:
        """Why a holder gets no more, as text for an error message."""
        free = self.most - self.taken
        if free <= 0 or holder == NO_HOLDER or not self.held.get(holder):
            return f"{self.taken} of {self.most} {what} are in use"
        return f"{holder} has {self.held[holder]} of {self.most} {what} ({free} reserved for others)"
