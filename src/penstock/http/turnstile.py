"""Requests over HTTP begin one after the other, one in each turn of the loop.

Twenty that were read in one turn would all be worked on in the next, which messages wait for to its end: together they
take as long as twenty turns. Who comes first goes first. Health is asked for by those who want to know how long it
takes, and costs next to nothing: it does not wait.
"""

import asyncio
from collections import deque


class Turnstile:
    def __init__(self) -> None:
        self._line: deque[asyncio.Future[None]] = deque()
        self._taken = False  # somebody has begun in this turn

    def __len__(self) -> int:
        """How many wait."""
        return len(self._line)

    async def go_through(self) -> None:
        """Comes back when it is this request's turn, which is at once where no other one has begun."""
        loop = asyncio.get_running_loop()
        if self._taken:
            waiter = loop.create_future()
            self._line.append(waiter)
            await waiter
        else:
            self._taken = True
            loop.call_soon(self._turn, loop)

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._line:
            waiter = self._line.popleft()
            if not waiter.done():  # it may have been given up
                waiter.set_result(None)
                loop.call_soon(self._turn, loop)
                return
        self._taken = False
