"""Which publishers fill memory, when it is short and the log cannot free any: without a log, or faster than it is
written.

A queued message has no owner. But a queue knows who published its last message, and that is mostly who published the
others. A publisher that has filled more than its fair part waits until there is room. Others continue, into a reserve
of memory kept for that. When the reserve is used up too, all publishers wait.

This is checked up to five times a second while memory is that short; there is no accounting per message.
"""

import asyncio

from penstock.core.context import BrokerContext

LOOK_SECONDS = 0.2
NOTABLE_PART = 32  # publishers that have filled 1/32 of the memory or more count when it is divided into fair parts


class Filling:
    def __init__(self, loop: asyncio.AbstractEventLoop, context: BrokerContext) -> None:
        self._context = context
        self._loop = loop
        self._look_at = 0.0
        self._filled: dict[str, int] = {}
        self._share = 0

    def is_over(self, holder: str) -> bool:
        """Whether a user or address has filled its fair part of the memory."""
        now = self._loop.time()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            self._look()
        return self._filled.get(holder, 0) >= self._share

    def _look(self) -> None:
        context = self._context
        self._filled = {}
        for queue in context.warm:
            size = queue.bytes_in_memory() - queue.unacked_bytes + queue.unkept
            if size:
                self._filled[queue.filled_by] = self._filled.get(queue.filled_by, 0) + size
        notable = sum(1 for size in self._filled.values() if size * NOTABLE_PART >= context.bytes_max)
        self._share = context.bytes_max // (2 * max(1, notable))
