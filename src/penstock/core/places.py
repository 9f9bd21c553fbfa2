"""What everybody shares, places or bytes: nobody has more of it than is left for others.

A holder is a user or, where nobody is known, an address. It gets more while it has less than is free. So one holder has
half of all at most, two have a third each, and so on: whoever comes next finds some. Where there is mostly one holder
alone that is little: `greed` is how many times what is free one may have.
"""

from typing import Final

GREED_OF_ONE: Final = 9  # one holder may have nine tenths
GREED_OF_BYTES: Final = 3  # one holder may have three quarters
NOBODY: Final = ""  # what was there before anybody came, and is limited by what is free alone


class Places:
    """So many places, or bytes."""

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
        return held == 0 or holder == NOBODY or held + amount <= self.greed * (free - amount + 1)

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
        """Why a holder gets none, for whoever asks."""
        free = self.most - self.taken
        if free <= 0:
            return f"there are {self.taken} {what}, which is the most there can be"
        if holder == NOBODY or not self.held.get(holder):
            return f"there are {self.taken} {what} of {self.most} that there can be"
        return f"{holder} has {self.held[holder]} of {self.most} {what}: {free} are left for others"
