"""The broker's statistics over time: one sample per second, kept for five minutes and streamed to watchers.

A sample holds counters and totals only: its size does not depend on the number of queues. It is taken once for all
watchers. Rates are differences between two samples.
"""

import asyncio
import os
import resource
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from penstock.core.queue_store import NO_MESSAGE
from penstock.core.queue_totals import QueueTotals
from penstock.errors import LogError
from penstock.http.texts import time_of
from penstock.server.reactor import Reactor
from penstock.storage.reader import UNKNOWN, LogReader
from penstock.storage.storage import Storage
from penstock.storage.timings import Timings

SAMPLE_SECONDS = 1.0
SAMPLES_KEPT = 300
LAG_SECONDS = 0.1  # interval of the event loop lag measurement
LIVE_MAX = 200  # live streams at once; one user may have at most half of them

# Above this many queues, a request does not walk over all of them. They are counted once per second while statistics
# were requested recently, and every UNWATCHED_SECONDS otherwise.
QUEUES_SMALL = 2_000
LOOKED_SECONDS = 30.0
UNWATCHED_SECONDS = 10.0
SLICE = 256  # queues counted before yielding to the event loop

RATES = ("published", "queued", "delivered", "retried")

Sample = dict[str, object]


class Statistics:
    """Samples of one broker. Costs nothing per message, and one walk over the queues per second."""

    def __init__(self, reactor: Reactor) -> None:
        self.reactor = reactor
        self.started_at = reactor.clock.now()
        self.lag = Timings()
        self.samples: deque[Sample] = deque(maxlen=SAMPLES_KEPT)
        self.queue_totals = QueueTotals(reactor.hub.broker.gone)
        self.watchers: set[asyncio.Event] = set()
        self.rates: dict[str, float] = dict.fromkeys(RATES, 0.0)
        self.process: dict[str, float | int] = {}
        self.memory: dict[str, object] = self._memory()
        self._counted: dict[str, int] = {}
        self._counted_at = 0.0
        self._totals_at = 0.0
        self._asked_at = 0.0
        self._reader: LogReader | None = None
        self._first_segment = ""
        self._first_offset = 0
        self._sampling: asyncio.Task[None] | None = None
        self._lag_timer: asyncio.TimerHandle | None = None
        self._lag_due = 0.0
        self._before = (0, 0.0, 0, 0.0)

    def start(self) -> None:
        self.fresh_totals()
        self._sample()
        self._sampling = self.reactor.loop.create_task(self._sample_again())
        self._ask_loop()

    def stop(self) -> None:
        if self._sampling is not None:
            self._sampling.cancel()
        if self._lag_timer is not None:
            self._lag_timer.cancel()
        for watcher in self.watchers:
            watcher.set()

    def fresh_totals(self) -> QueueTotals:
        """Current totals, or those of the last sample if there are very many queues."""
        self._asked_at = time.monotonic()
        broker = self.reactor.hub.broker
        if len(broker.queues) <= QUEUES_SMALL:
            queues = list(broker.queues.values())
            self.queue_totals = QueueTotals(broker.gone)
            self.queue_totals.take(queues, 0, len(queues))
        return self.queue_totals

    async def _take_totals(self) -> None:
        """Walk over all queues, yielding to the event loop between slices."""
        broker = self.reactor.hub.broker
        queue_totals = QueueTotals(broker.gone)
        queues = list(broker.queues.values())
        for first in range(0, len(queues), SLICE):
            if first:
                await asyncio.sleep(0)
            queue_totals.take(queues, first, min(first + SLICE, len(queues)))
        self.queue_totals = queue_totals

    def _are_totals_due(self, now: float) -> bool:
        """Each second; less often if there are many queues and nobody is watching."""
        if len(self.reactor.hub.broker.queues) <= QUEUES_SMALL or self.watchers:
            return True
        return now - self._asked_at < LOOKED_SECONDS or now - self._totals_at >= UNWATCHED_SECONDS

    # -- the parts of a sample, shared with the overview -----------------------------------------------------------

    def parts(self, queue_totals: QueueTotals) -> dict[str, object]:
        return {
            "totals": self.totals(queue_totals),
            "counters": self.counters(queue_totals),
            "rates": self.rates,
            "connections": self.connections(),
            "log": self.log(),
            "process": self.process,
            "memory": self.memory,
        }

    def totals(self, queue_totals: QueueTotals) -> dict[str, object]:
        reactor = self.reactor
        oldest_at = queue_totals.oldest_at
        age = None if oldest_at == NO_MESSAGE else max(0, reactor.clock.now() - oldest_at) / 1_000_000
        return {
            "queues": queue_totals.queues,
            "ready": queue_totals.ready,
            "unacked": queue_totals.unacked,
            "delayed": queue_totals.delayed,
            "bytes": queue_totals.bytes,
            "consumers": queue_totals.consumers,
            "oldest_age_seconds": age,
            "paused_queues": queue_totals.paused,
            "full_queues": queue_totals.full,
            "paused_publishers": len(reactor.paused),
            "connections": len(reactor.connections),
        }

    def counters(self, queue_totals: QueueTotals) -> dict[str, int]:
        broker = self.reactor.hub.broker
        return {
            "published": broker.published,
            "unrouted": broker.unrouted,
            "refused": broker.refused,
            "queued": queue_totals.counts.queued,
            "delivered": queue_totals.counts.delivered,
            "retried": queue_totals.counts.retried,
            "dropped": queue_totals.counts.dropped,
            "expired": queue_totals.counts.expired,
            "dead_lettered": queue_totals.counts.dead_lettered,
            "deduplicated": broker.deduplicated,
        }

    def connections(self) -> dict[str, int]:
        """The number of connections by protocol; `any` if the protocol is not detected yet."""
        found: dict[str, int] = {}
        for session in self.reactor.connections:
            protocol = session.protocol or "any"
            found[protocol] = found.get(protocol, 0) + 1
        return found

    def log(self) -> dict[str, int]:
        storage = self.reactor.storage
        log = self.reactor.hub.broker.log
        return {
            "first_offset": log.next_offset if storage is None else self.first_offset(storage),
            "next_offset": log.next_offset,
            "durable_offset": log.next_offset if storage is None else log.readable,
            "position": log.position,
            "behind_bytes": 0 if storage is None else storage.behind_bytes(),
        }

    def first_offset(self, storage: Storage) -> int:
        """The first offset of the oldest segment. Looked up again when that segment is deleted."""
        reader = self._reader
        if reader is None:
            reader = self._reader = LogReader(storage.directory)
        if not self._first_segment or not (storage.directory / self._first_segment).exists():
            with suppress(OSError, LogError):  # it cannot be read now; the known value may still be right
                for segment in reader.segments():
                    first = reader.first_offset(segment)
                    if first != UNKNOWN:  # otherwise it was deleted meanwhile
                        self._first_segment, self._first_offset = segment, first
                        break
        return min(self._first_offset, self.reactor.hub.broker.log.next_offset)

    def _process(self) -> dict[str, float | int]:
        """Memory and CPU time of this process, and event loop lag and sync times over the last second."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        storage = self.reactor.storage
        syncs = Timings() if storage is None else storage.syncs()
        lag = self.lag
        lag_count, lag_sum, sync_count, sync_sum = self._before
        self._before = (lag.count, lag.sum, syncs.count, syncs.sum)
        return {
            "memory_bytes": memory_bytes(),
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "loop_lag_seconds": (lag.sum - lag_sum) / max(1, lag.count - lag_count),
            "loop_lag_max_seconds": lag.take_worst(),
            "sync_seconds": (syncs.sum - sync_sum) / max(1, syncs.count - sync_count),
            "sync_max_seconds": syncs.take_worst(),
            "syncs": syncs.count,
        }

    def _memory(self) -> dict[str, object]:
        """Memory accounted to clients and queues, by kind."""
        account = self.reactor.account
        account.held = self.queue_totals.held
        kinds = account.kinds()
        return {"limit": account.limit, "used": sum(kinds.values()), "kinds": kinds}

    # -- once each second -------------------------------------------------------------------------------------------

    async def _sample_again(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_SECONDS)
            now = time.monotonic()
            try:
                if self._are_totals_due(now):
                    self._totals_at = now
                    await self._take_totals()
                self._sample()
            except Exception as error:  # a bug costs one sample, not all that follow
                self.reactor.hub.report("error", "statistics.failed", {"error": repr(error)})

    def _sample(self) -> None:
        queue_totals = self.queue_totals
        counters = self.counters(queue_totals)
        now = time.monotonic()
        if self._counted:
            passed = max(now - self._counted_at, 0.001)
            self.rates = {name: max(0, counters[name] - self._counted[name]) / passed for name in RATES}
        self._counted = counters
        self._counted_at = now
        self.process = self._process()
        self.memory = self._memory()
        at = self.reactor.clock.now()
        self.samples.append({"at": time_of(at), "time": at / 1_000_000, **self.parts(queue_totals)})
        for watcher in self.watchers:
            watcher.set()

    def _ask_loop(self) -> None:
        """Measure event loop lag: how late this timer fires."""
        now = time.monotonic()
        if self._lag_due:
            self.lag.add(max(0.0, now - self._lag_due))
        self._lag_due = now + LAG_SECONDS
        self._lag_timer = self.reactor.loop.call_later(LAG_SECONDS, self._ask_loop)


_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


def memory_bytes() -> int:
    """Resident memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_SIZE
