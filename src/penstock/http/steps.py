"""Requests over HTTP go on step by step, and one step is done in each turn of the loop.

Twenty requests that were read in one turn would all be worked on in the next, which messages wait for to its end:
together they take as long as twenty turns. So each stands in line before it begins, and again wherever it lets others
have their turn. Whoever has many requests in line has one step for each that others have. Health is asked for by those
who want to know how long it takes, and costs next to nothing: it does not wait.
"""

import asyncio
from contextvars import ContextVar

from penstock.server.line import Line


class Steps:
    def __init__(self) -> None:
        self._line: Line[asyncio.Future[None]] = Line()
        self._taken = False  # a step is done in this turn

    def __len__(self) -> int:
        """How many wait."""
        return len(self._line)

    async def begin(self, holder: str) -> None:
        """Comes back when a request may do its first step, which is at once where no other one does one."""
        _present.set((self, holder))
        if self._taken:
            await self.go_on(holder)
        else:
            self._plan()

    async def go_on(self, holder: str) -> None:
        """Comes back in a later turn, when a request may do its next step."""
        waiter = asyncio.get_running_loop().create_future()
        self._line.add(holder, waiter)
        if not self._taken:
            self._plan()
        await waiter

    def _plan(self) -> None:
        self._taken = True
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        while self._line:
            waiter = self._line.pop()
            if not waiter.done():  # it may have been given up
                waiter.set_result(None)
                self._plan()
                return
        self._taken = False


_present: ContextVar[tuple[Steps, str]] = ContextVar("steps")


async def pass_on() -> None:
    """Let others have their turn, in the middle of a request: messages first, then other requests."""
    present = _present.get(None)
    if present is None:
        await asyncio.sleep(0)  # nobody has asked for what is being done
    else:
        steps, holder = present
        await steps.go_on(holder)
