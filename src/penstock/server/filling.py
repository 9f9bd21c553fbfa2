"""Who has filled the queues, where memory is short and the log can give nothing back: without one, or faster than it is
written.

A message that waits for a consumer is nobody's while it waits. But a queue knows who put its last message there, and
that is mostly who has put the others there. Whoever has filled more than a fair part waits until there is room; others
publish on, into the part of the memory that is kept for that. When even that is used up, all of them wait.

It is looked at while memory is that short, a few times a second: nothing is counted by the message.
"""

import asyncio

from penstock.core.usage import Usage

LOOK_SECONDS = 0.2
NOTABLE_PART = 32  # whoever has filled so much of the memory, one part in these, has to share it with the others


class Filling:
    def __init__(self, loop: asyncio.AbstractEventLoop, usage: Usage) -> None:
        self._usage = usage
        self._loop = loop
        self._look_at = 0.0
        self._filled: dict[str, int] = {}
        self._share = 0

    def is_over(self, holder: str) -> bool:
        """Whether one, a user or an address, has filled more than a fair part of the memory."""
        now = self._loop.time()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            self._look()
        return self._filled.get(holder, 0) >= self._share

    def _look(self) -> None:
        usage = self._usage
        self._filled = {}
        for queue in usage.warm:
            size = queue.bytes_in_memory() - queue.unacked_bytes + queue.unkept
            if size:
                self._filled[queue.filled_by] = self._filled.get(queue.filled_by, 0) + size
        notable = sum(1 for size in self._filled.values() if size * NOTABLE_PART >= usage.bytes_max)
        self._share = usage.bytes_max // (2 * max(1, notable))
