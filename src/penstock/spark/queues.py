"""mode=queue: takes messages from a queue, and acknowledges them when their batch is done.

The driver takes a lease for each batch: while it lasts, the broker gives its messages to no other consumer. When Spark
asks where the next batch ends, all earlier batches are done, and their leases are accepted. (Spark also calls `commit`,
but never for the last batch.) If a driver dies, its messages return to the queue when the lease expires, or at once
when a query with the same `cursor` begins. So every message is processed at least once; deduplicate by id if needed.

An offset counts batches: {"batch": 7}. The rows of a batch are sent with its tasks.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import cast
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from penstock.errors import Error
from penstock.spark.client import BrokerClient, name_in_path
from penstock.spark.options import SourceOptions
from penstock.spark.schema import Shape

BATCH_KEY = "batch"
MESSAGES_MAX = 10_000  # default limit of a batch: its messages pass through the driver


class Lease:
    """The leased messages of one batch."""

    def __init__(self, id: str, rows: pa.Table) -> None:
        self.id = id
        self.rows = rows


class RowsPartition(InputPartition):
    """The rows of one task."""

    def __init__(self, data: bytes) -> None:
        super().__init__(None)
        self.data = data


class QueueStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Leases messages, passes them to tasks, and acknowledges them."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self.options = options
        self.shape = Shape(schema, options)
        self.queue = options.queues[0]
        self.owner = options.cursor or f"spark-{uuid4().hex}"
        self._leases: dict[int, Lease] = {}  # keyed by batch number
        self._left: int | None = None  # how many messages AvailableNow still takes; None: unlimited
        self._client: BrokerClient | None = None

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_client": None, "_leases": {}}

    @property
    def client(self) -> BrokerClient:
        if self._client is None:
            self._client = BrokerClient(self.options)
            # Release the leases of an earlier query of this name that died.
            self._client.delete(f"/v1/leases?owner={name_in_path(self.owner)}")
        return self._client

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {BATCH_KEY: 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        found = self.client.get(f"/v1/queues/{name_in_path(self.queue)}")
        self._left = int(found["ready"])

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self.options.max_offsets_per_trigger or MESSAGES_MAX)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        number = start[BATCH_KEY]
        self._accept(number)
        if number + 1 not in self._leases:
            count = limit.max_rows if isinstance(limit, ReadMaxRows) else MESSAGES_MAX
            if isinstance(limit, ReadAllAvailable) and self._left is None:
                count = MESSAGES_MAX
            lease = self._take(count if self._left is None else min(count, self._left))
            if lease is None:
                return start
            self._leases[number + 1] = lease
        return {BATCH_KEY: number + 1}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Split a batch into tasks. A batch that died with another driver is empty: its rows return in a later one."""
        found: list[InputPartition] = []
        for number in range(start[BATCH_KEY] + 1, end[BATCH_KEY] + 1):
            lease = self._leases.get(number)
            if lease is not None:
                parts = max(self.options.min_partitions, 1)
                size = -(-lease.rows.num_rows // parts)
                found += [
                    RowsPartition(_packed(lease.rows.slice(first, size)))
                    for first in range(0, lease.rows.num_rows, size)
                ]
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        for batch in pa.ipc.open_stream(cast(RowsPartition, partition).data):
            yield self.shape.of(batch)

    def commit(self, end: dict[str, int]) -> None:
        self._accept(end[BATCH_KEY])

    def stop(self) -> None:
        for lease in self._leases.values():
            self.client.delete(f"/v1/leases/{lease.id}")
        self._leases = {}

    def _take(self, count: int) -> Lease | None:
        if count <= 0:
            return None
        asked = {"limit": count, "seconds": self.options.lease, "owner": self.owner}
        client = self.client
        rows, headers = client.patiently(
            lambda: client.take_arrow(f"/v1/queues/{name_in_path(self.queue)}/leases", asked)
        )
        if self._left is not None:
            self._left -= rows.num_rows
        if not rows.num_rows:
            self._left = None if self._left is None else 0
            return None
        id = {key.lower(): value for key, value in headers.items()}.get("penstock-lease")
        if id is None:
            raise Error("the broker sent messages without a lease")
        return Lease(id, rows)

    def _accept(self, number: int) -> None:
        for batch in [batch for batch in self._leases if batch <= number]:
            self.client.post(f"/v1/leases/{self._leases[batch].id}/accept")
            del self._leases[batch]


def _packed(rows: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue()
