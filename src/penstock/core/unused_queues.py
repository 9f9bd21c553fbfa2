"""Deletes queues that had no consumer for as long as they may be unused."""

from collections.abc import Callable
from typing import Final

from penstock.core.deadlines import Deadlines, Timer
from penstock.core.queue import Queue

# The minimum time consumers have to reconnect after a restart, in microseconds.
RETURN_TIME: Final = 60_000_000


class UnusedQueues:
    def __init__(self, deadlines: Deadlines, delete: Callable[[bytes], bool]) -> None:
        self._deadlines = deadlines
        self._delete = delete
        self._timers: dict[bytes, Timer] = {}  # by queue

    def start(self, queue: Queue, now: int) -> None:
        """The queue has lost its last consumer."""
        if queue.expires_after <= 0:
            self._delete(queue.name)
        else:
            self._delete_at(queue, now + queue.expires_after)

    def stop(self, name: bytes) -> None:
        """The queue has a consumer, or is gone."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            self._deadlines.cancel(timer)

    def expect_consumer(self, queue: Queue, now: int) -> None:
        """After a restart: give its consumers time to reconnect.

        A queue that is deleted with its last consumer, and never had one, waits for its first.
        """
        if (queue.expires_after > 0 or queue.used) and queue.consumer_count() == 0:
            self._delete_at(queue, now + max(queue.expires_after, RETURN_TIME))

    def _delete_at(self, queue: Queue, when: int) -> None:
        def delete(now: int) -> None:
            if queue.consumer_count() == 0:
                self._delete(queue.name)

        timer = self._timers[queue.name] = Timer(delete)
        self._deadlines.set(timer, when)
