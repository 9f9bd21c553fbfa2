"""Totals of the counters that each queue has."""

from penstock.core.queue import Queue


class Counts:
    """Totals of the per-queue counters."""

    def __init__(self) -> None:
        self.queued = 0
        self.delivered = 0
        self.retried = 0
        self.dropped = 0
        self.expired = 0
        self.dead_lettered = 0

    def add(self, queue: Queue) -> None:
        self.queued += queue.queued
        self.delivered += queue.delivered
        self.retried += queue.retried
        self.dropped += queue.dropped
        self.expired += queue.expired
        self.dead_lettered += queue.dead_lettered

    def copy(self) -> "Counts":
        other = Counts()
        other.queued = self.queued
        other.delivered = self.delivered
        other.retried = self.retried
        other.dropped = self.dropped
        other.expired = self.expired
        other.dead_lettered = self.dead_lettered
        return other
