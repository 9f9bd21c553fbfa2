"""HTTP requests run in steps, one step per event loop iteration.

Twenty requests read in one iteration would all run in the next, and messages would have to wait for all of them. So
each request waits in line before it starts, and again wherever it yields. A client with many requests in line gets one
step for each step of the others. Health checks do not wait: they are used to measure latency, and cost next to nothing.
"""

import asyncio
from contextvars import ContextVar

from penstock.server.line import Line


class Steps:
    def __init__(self) -> None:
        self._line: Line[asyncio.Future[None]] = Line()
        self._taken = False  # a step runs in this iteration

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self._line)

    async def begin(self, holder: str) -> None:
        """Returns when a request may run its first step: immediately, if no other step is running."""
        _present.set((self, holder))
        if self._taken:
            await self.go_on(holder)
        else:
            self._plan()

    async def go_on(self, holder: str) -> None:
        """Returns in a later iteration, when a request may run its next step."""
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
            if not waiter.done():  # it may have been cancelled
                waiter.set_result(None)
                self._plan()
                return
        self._taken = False


_present: ContextVar[tuple[Steps, str]] = ContextVar("steps")


async def pass_on() -> None:
    """Yield in the middle of a request: to messages first, then to other requests."""
    present = _present.get(None)
    if present is None:
        await asyncio.sleep(0)  # not part of a request
    else:
        steps, holder = present
        await steps.go_on(holder)
