"""Limits of the core. Every limit has a name, and a refusal states it."""

from typing import Final

from penstock.core.documents import SIZE_MAX, VALUES_MAX

REFUSE: Final = "refuse"
DROP_OLDEST: Final = "drop-oldest"
DEAD_LETTER: Final = "dead-letter"  # by policy: the oldest message goes to the dead-letter queue

# The largest possible body: a column of the log counts its bytes with 32 bits, and needs room for others beside it.
BODY_SIZE_CAP: Final = 1 << 30

# A message of this size is delivered only while the bytes that sockets have not taken yet are below their limit.
LARGE_BODY: Final = 1 << 20

# A message of this size is delivered to a consumer only while its connection has room for it, whatever that connection
# was given before. If it went to several queues, it is also throttled like a large one.
MIDDLING_BODY: Final = 4 << 10


class Limits:
    """The limits of one broker; the same names are keys of the configuration."""

    def __init__(
        self,
        body_size_max: int = 33 << 20,  # 32 MiB, plus the extra KiB that one protocol's frames allow
        line_size_max: int = 48 << 20,
        queues_max: int = 100_000,
        queue_length_max: int = 50_000_000,
        queue_bytes_max: int = 256 << 20,
        queue_full: str = REFUSE,
        events_per_queue_max: int = 2000,
        queues_per_event_max: int = 20_000,
        unacked_max: int = 1_000_000,
        unacked_bytes_max: int = 0,  # 0: a quarter of memory_bytes_max
        memory_bytes_max: int = 1 << 30,
        outbox_bytes_max: int = 1 << 20,
        name_size_max: int = 1024,
        headers_max: int = 1000,
        headers_bytes_max: int = 1 << 20,
        json_size_max: int = SIZE_MAX,
        json_values_max: int = VALUES_MAX,
        dedup_seconds: int = 600,
        dedup_ids_max: int = 1_000_000,
        consumers_max: int = 100_000,
        writers_max: int = 100_000,
        writers_per_user_max: int = 10_000,
        writer_seconds: int = 30 * 86_400,
    ) -> None:
        self.body_size_max = min(body_size_max, BODY_SIZE_CAP)
        self.line_size_max = line_size_max
        self.queues_max = queues_max
        self.queue_length_max = queue_length_max
        self.queue_bytes_max = queue_bytes_max
        self.queue_full = queue_full
        self.events_per_queue_max = events_per_queue_max
        self.queues_per_event_max = queues_per_event_max  # a publish adds a copy to each of them at once
        self.unacked_max = unacked_max
        self.unacked_bytes_max = unacked_bytes_max or max(1, memory_bytes_max // 4)
        self.memory_bytes_max = memory_bytes_max
        # All requests that wait for their reply, together. A quarter, as for the unacked messages of one consumer.
        self.requests_bytes_max = max(1, memory_bytes_max // 4)
        self.outbox_bytes_max = outbox_bytes_max
        self.name_size_max = name_size_max
        self.headers_max = headers_max
        self.headers_bytes_max = headers_bytes_max
        self.json_size_max = json_size_max
        self.json_values_max = json_values_max
        self.dedup_seconds = dedup_seconds
        self.dedup_ids_max = dedup_ids_max
        self.consumers_max = consumers_max
        self.writers_max = writers_max
        self.writers_per_user_max = writers_per_user_max
        self.writer_seconds = writer_seconds
