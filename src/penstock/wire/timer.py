"""Timers of sessions: an error in one ends that session and does not affect other timers."""

from typing import TYPE_CHECKING

from penstock.core.deadlines import Timer

if TYPE_CHECKING:
    from penstock.wire.session import Session


class SessionTimer(Timer):
    """Something a session has to do at a certain time; subclasses implement `fire`."""

    def __init__(self, owner: "Session") -> None:
        super().__init__(_nothing)
        self.owner = owner

    def failed(self, error: Exception) -> None:
        self.owner.broke(error)


def _nothing(now: int) -> None:
    pass
