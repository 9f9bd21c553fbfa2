"""Messages that were delivered to a consumer but not yet taken by the program.

Above `length_max` the client stops reading from the socket, and the server keeps the rest.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from penstock.client.errors import Timeout

Item = TypeVar("Item")


class Inbox(Generic[Item]):
    def __init__(self, length_max: int, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._length_max = length_max
        self._pause = pause
        self._resume = resume
        self._items: deque[Item] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused = False
        self._end: Exception | None = None

    def put(self, items: Sequence[Item]) -> None:
        self._items.extend(items)
        if len(self._items) > self._length_max and not self._paused:
            self._paused = True
            self._pause()
        self._wake(len(items))

    def clear(self) -> None:
        """Drop all items: the server will send them again."""
        self._items.clear()
        self._let_in()

    def end(self, error: Exception) -> None:
        """Accept no more items. Those that remain can still be taken; after them the error is raised."""
        if self._end is None:
            self._end = error
        self._wake(len(self._waiting))

    def take_now(self) -> Item | None:
        """Return the next item, or None if there is none."""
        if not self._items:
            return None
        item = self._items.popleft()
        if self._paused:
            self._let_in()
        return item

    async def take(self, count_max: int, timeout: float | None = None) -> list[Item]:
        """Wait for at least one item. Returns up to `count_max` of those available."""
        if not self._items:
            await self._arrival(timeout)
        items = self._items
        taken = [items.popleft() for _ in range(min(count_max, len(items)))]
        if self._paused:
            self._let_in()
        return taken

    def _let_in(self) -> None:
        if self._paused and len(self._items) <= self._length_max // 2:
            self._paused = False
            self._resume()

    def _wake(self, count: int) -> None:
        waiting = self._waiting
        while waiting and count > 0:
            future = waiting.popleft()
            if not future.done():
                future.set_result(None)
                count -= 1

    async def _arrival(self, timeout: float | None) -> None:
        try:
            async with asyncio.timeout(timeout):
                while not self._items:
                    if self._end is not None:
                        raise self._end
                    future = asyncio.get_running_loop().create_future()
                    self._waiting.append(future)
                    try:
                        await future
                    except BaseException:
                        if future.done() and not future.cancelled():
                            self._wake(1)  # pass the wake-up on to the next waiter
                        raise
        except TimeoutError as error:
            if isinstance(error, Timeout):
                raise
            raise Timeout(f"no message within {timeout:g} s") from None
