"""`format("penstock")`: the broker's log as a table, for batch and streaming queries; docs/spark.md lists all options.

An offset is a position in the log, {"log": 1234}: the first message not read yet. A batch is the range between two
offsets and always returns the same rows, so Spark can safely repeat it.

Retention may delete ranges in the middle of the log, because a message still owed to a queue keeps its segment. Ranges
deleted before a query begins are skipped; ranges deleted later are data loss. So an offset also lists the gaps ahead
that were known when the query began, {"log": 1234, "holes": "2000-3000"}: only the checkpoint is shared by all runs of
a query.

Spark asks for the initial offset more than once, and again when another process retries the first batch. The answer
must not change: `earliest`, a number and the first message of a time stay the same, `latest` does not. So the broker
stores the answer under the name of a cursor, and `latest` requires one.

Method and parameter names are Spark's: it passes arguments by keyword.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from fnmatch import translate
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from penstock.errors import Error
from penstock.spark.client import BrokerRefused
from penstock.spark.logs import Bounds, Log, open_log
from penstock.spark.options import EARLIEST, LATEST, LOG_KEY, OFFSET_GAPS_KEY, OptionError, SinkOptions, SourceOptions
from penstock.spark.ranges import Admission, Range, split, within, without
from penstock.spark.schema import Shape, schema_of

logger = logging.getLogger("penstock.spark")

ROWS_PER_BATCH = 16_384  # small blocks are merged up to this size: each batch costs a round trip to the JVM
BYTES_PER_BATCH = 8 << 20

Offset = dict[str, int | str]


class DataLoss(Error):
    """Rows that a query should read have been deleted."""


class PenstockDataSource(DataSource):
    """The data source. Needs no registration: Spark finds it through the package `pyspark_penstock`."""

    @classmethod
    def name(cls) -> str:
        return "penstock"

    def schema(self) -> StructType:
        return schema_of(SourceOptions.of(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        options = SourceOptions.of(self.options)
        if options.mode == "queue":
            raise OptionError("mode", "queue", "removes messages: only readStream can acknowledge them")
        return FilteringLogReader(options, schema) if options.pushdown else LogBatchReader(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        options = SourceOptions.of(self.options)
        if options.mode == "queue":
            from penstock.spark.queues import QueueStreamReader

            return QueueStreamReader(options, schema)
        return LogStreamReader(options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        from penstock.spark.sink import BatchWriter

        if overwrite:
            raise OptionError("mode", "overwrite", "the log is append-only: use mode('append')")
        return BatchWriter(SinkOptions.of(self.options), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:  # noqa: N802
        from penstock.spark.sink import StreamWriter

        if overwrite:
            raise OptionError("outputMode", "complete", "the log is append-only: use outputMode append or update")
        return StreamWriter(SinkOptions.of(self.options), schema)


class RangePartition(InputPartition):
    """The range that one task reads."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(None)
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"RangePartition({self.start}, {self.end})"


class LogTable:
    """Base of the batch and stream readers: opens the log, resolves positions in it, reads a range."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self.options = options
        self.shape = Shape(schema, options)
        self._log: Log | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_log": None}  # an executor opens the log itself

    @property
    def log(self) -> Log:
        if self._log is None:
            self._log = open_log(self.options)
        return self._log

    def starting_offset(self, bounds: Bounds) -> int:
        """Where a new query begins."""
        if self.options.starting_timestamp is not None:
            return self._offset_at(self.options.starting_timestamp, bounds)
        return self._resolved("startingOffsets", self.options.starting_offsets, bounds)

    def ending_offset(self, bounds: Bounds) -> int:
        if self.options.ending_timestamp is not None:
            return min(self.log.offset_at(self.options.ending_timestamp), bounds.end)
        return self._resolved("endingOffsets", self.options.ending_offsets, bounds)

    def offset_gaps_ahead(self, start: int) -> list[Range]:
        """The gaps that are no loss for a query that begins at `start` now. A gap right at `start` is a loss."""
        return [gap for gap in self.log.offset_gaps() if gap.start > start]

    def tasks(self, whole: Range, known: Sequence[Range], *, misses_front: bool = True) -> list[RangePartition]:
        """Split the range into tasks. Deleted offsets that are not in the known gaps are data loss.

        A query that reads from `earliest` does not lose what was just deleted at the front (`misses_front=False`).
        """
        offset_gaps = self.log.offset_gaps()
        bounds = self.log.bounds()  # read after the gaps: the log may meanwhile begin after the first of them
        front = Range(0, bounds.first)
        gone = [front, *(Range(max(gap.start, front.end), gap.end) for gap in offset_gaps if gap.end > front.end)]
        wanted = without(whole, known if misses_front else [front, *known])
        lost = [part for piece in wanted for part in within(piece, gone)]
        if lost:
            self.lose(
                f"offsets {told(lost)} are no longer in the log, which now begins at {bounds.first}: "
                "retention deleted them before this query read them"
            )
        there = [part for piece in wanted for part in without(piece, gone)]
        if self.options.table == "lifecycle":
            there = without(whole, [front])  # a settlement just before a gap may have the offset after it
        parts = [split(part, self.options.min_partitions, self.options.max_records_per_partition) for part in there]
        return [RangePartition(part.start, part.end) for pieces in parts for part in pieces]

    def rows(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the range with the query's columns and filters, in batches of a useful size."""
        if self.options.table == "lifecycle":
            for batch in self.log.lifecycle(start, end):
                yield self.shape.of(self._wanted(batch))
            return
        columns = self.shape.columns()
        for batch in gathered(self._whole(start, end)):
            wanted = self._wanted(batch)
            if wanted.num_rows:
                yield self.shape.of(wanted.select(columns) if columns else wanted)

    def rows_of(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task. If there is nothing to read, Spark creates a partition of its own type."""
        return self.rows(partition.start, partition.end) if isinstance(partition, RangePartition) else iter(())

    def lose(self, what: str) -> None:
        if self.options.fail_on_data_loss:
            raise DataLoss(f"{what} (failOnDataLoss=false continues without them)")
        logger.warning("%s", what)

    def _whole(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield every message of the range, and report gaps."""
        place = start
        try:
            for batch in self.log.batches(start, end):
                first = batch.column("offset")[0].as_py()
                self._notice(place, first)
                place = first + batch.num_rows
                yield batch
            self._notice(place, end)
        except BrokerRefused as refusal:
            if refusal.kind != "trimmed":
                raise
            # The range was trimmed after this task was planned.
            first = min(max(self.log.bounds().first, place + 1), end)
            self._notice(place, first)
            yield from self._whole(first, end)

    def _notice(self, place: int, first: int) -> None:
        if first > place:
            self.lose(
                f"offsets {told([Range(place, first)])} are missing from the log: retention deleted them before "
                "this query read them, or a file was removed"
            )

    def _wanted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Keep the rows that the options select."""
        options = self.options
        masks = []
        if options.events:
            masks.append(pc.is_in(batch.column("event"), pa.array(options.events, pa.string())))
        if options.pattern:
            names = batch.column("event").dictionary_encode()
            fitting = pc.match_substring_regex(names.dictionary, re2_of_glob(options.pattern))
            masks.append(fitting.take(names.indices))
        if options.queues:
            masks.append(pc.is_in(batch.column("queue"), pa.array(options.queues, pa.string())))
        for mask in masks[1:]:
            masks[0] = pc.and_(masks[0], mask)
        return batch.filter(masks[0]) if masks else batch

    def _offset_at(self, time_us: int, bounds: Bounds) -> int:
        offset = self.log.offset_at(time_us)
        if offset >= bounds.end and self.options.starting_offsets_by_timestamp_strategy == "error":
            raise OptionError(
                "startingTimestamp",
                time_us // 1000,
                "no message at or after this time; startingOffsetsByTimestampStrategy=latest starts at the end",
            )
        return min(offset, bounds.end)

    def _resolved(self, name: str, place: str | int, bounds: Bounds) -> int:
        if place == EARLIEST:
            return bounds.first
        if place == LATEST:
            return bounds.end
        offset = cast(int, place)
        if offset > bounds.end:
            raise OptionError(name, offset, f"is after the end of the log, {bounds.end}")
        return offset


def told(ranges: Sequence[Range]) -> str:
    """Format ranges for a message; of many, only the first three."""
    words = [f"{part.start} to {part.end - 1}" for part in ranges[:3]]
    more = f" and {len(ranges) - 3} more ranges" if len(ranges) > 3 else ""
    return ", ".join(words) + more


def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge small batches; pass large ones through."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if held and (rows + batch.num_rows > ROWS_PER_BATCH or size + batch.nbytes > BYTES_PER_BATCH):
            yield _together(held)
            held, rows, size = [], 0, 0
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
    if held:
        yield _together(held)


def _together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def re2_of_glob(pattern: str) -> str:
    """Convert a glob to Arrow's regular expression syntax (RE2)."""
    inner = translate(pattern)  # (?s:...)\Z
    return "^" + inner.removesuffix(r"\Z").removesuffix(r"\z") + "$"


class LogBatchReader(LogTable, DataSourceReader):
    """`spark.read`."""

    def partitions(self) -> Sequence[InputPartition]:
        bounds = self.log.bounds()
        start, end = self.starting_offset(bounds), self.ending_offset(bounds)
        if start > end:
            raise OptionError("endingOffsets", end, f"is before the start, {start}")
        by_number = isinstance(self.options.starting_offsets, int)
        return self.tasks(self.narrowed(Range(start, end)), self.offset_gaps_ahead(start), misses_front=by_number)

    def narrowed(self, whole: Range) -> Range:
        return whole

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.rows_of(partition)


class FilteringLogReader(LogBatchReader):
    """`spark.read` with pushdown=true: conditions on offset, event and queue skip parts of the log.

    Needs spark.sql.python.filterPushdown.enabled=true; otherwise Spark refuses the read, which is why this is optional.
    All other conditions, also those on published_at, are left to Spark.
    """

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        self.low = 0
        self.high = 1 << 62
        self.chosen: dict[str, set[str]] = {}

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802
        for condition in filters:
            if not self._take(condition):
                yield condition

    def narrowed(self, whole: Range) -> Range:
        low = max(whole.start, min(self.low, whole.end))
        return Range(low, max(low, min(whole.end, self.high)))

    def _wanted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = super()._wanted(batch)
        for name, values in self.chosen.items():
            batch = batch.filter(pc.is_in(batch.column(name), pa.array(sorted(values), pa.string())))
        return batch

    def _take(self, condition: Filter) -> bool:
        """Return True if the condition is fully handled here."""
        name = getattr(condition, "attribute", ())
        value = getattr(condition, "value", None)
        if name == ("offset",) and isinstance(value, int):
            return self._take_offset(condition, value)
        if name in (("event",), ("queue",)) and isinstance(condition, EqualTo | In):
            values = {condition.value} if isinstance(condition, EqualTo) else set(condition.value)
            values.discard(None)
            self.chosen[name[0]] = self.chosen.get(name[0], values) & values
            return True
        return False

    def _take_offset(self, condition: Filter, value: int) -> bool:
        if isinstance(condition, EqualTo | GreaterThanOrEqual):
            self.low = max(self.low, value)
        if isinstance(condition, GreaterThan):
            self.low = max(self.low, value + 1)
        if isinstance(condition, EqualTo | LessThanOrEqual):
            self.high = min(self.high, value + 1)
        if isinstance(condition, LessThan):
            self.high = min(self.high, value)
        return isinstance(condition, EqualTo | GreaterThan | GreaterThanOrEqual | LessThan | LessThanOrEqual)


class LogStreamReader(LogTable, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """`spark.readStream`. One instance, in a driver process, plans the offsets; others, on the executors, read."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        if options.begins_at_a_moving_place():
            name = "startingOffsets" if options.starting_timestamp is None else "startingOffsetsByTimestampStrategy"
            if not options.cursor:
                raise OptionError(
                    name,
                    LATEST,
                    "needs cursor=NAME: the broker stores the start of the query under that name: Spark asks twice",
                )
            if not options.servers:
                raise OptionError("cursor", options.cursor, "is stored by a broker: set servers=http://HOST:PORT")
        self._admission = Admission(options.min_offsets_per_trigger, options.max_trigger_delay, time.monotonic)
        self._target: int | None = None  # where AvailableNow ends
        self._done = 0  # last offset reported to the broker

    def initialOffset(self) -> Offset:  # noqa: N802
        offset = self.starting_offset(self.log.bounds())
        if self.options.cursor and self.options.servers and not isinstance(self.options.starting_offsets, int):
            offset = self.log.cursor_start(self.options.cursor, offset)
        return offset_at(offset, self.offset_gaps_ahead(offset))

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self.log.bounds().end

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self.options.max_offsets_per_trigger is not None:
            return ReadMaxRows(self.options.max_offsets_per_trigger)
        if self.options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(self.options.max_bytes_per_trigger)
        return ReadAllAvailable()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        begin, offset_gaps = place_in(start), offset_gaps_in(start)
        self._report_done(begin)
        bounds = self.log.bounds()
        available = bounds.end if self._target is None else min(self._target, bounds.end)
        if begin > bounds.end:
            self.lose(
                f"the checkpoint is at offset {begin}, but the log ends at {bounds.end}: "
                "is this another broker, or one restored from an older backup?"
            )
        offsets_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        end = self._admission.end(begin, available, offsets_max, may_wait=self._target is None, offset_gaps=offset_gaps)
        size = self.options.max_bytes_per_trigger
        if size is not None and end > begin and not isinstance(limit, ReadAllAvailable):
            end = self.log.offset_after(begin, size, end)
        return offset_at(max(end, begin), offset_gaps)

    def reportLatestOffset(self) -> Offset:  # noqa: N802
        """The current end of the log. In a query's progress, `latestOffset` minus `endOffset` is its lag."""
        return {LOG_KEY: self.log.bounds().end}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        begin, stop = place_in(start), place_in(end)
        bounds = self.log.bounds()
        if begin > stop:
            self.lose(f"the batch begins at offset {begin} and ends at {stop}: the start of this query has moved")
            return []
        if stop > bounds.end:
            self.lose(
                f"the checkpoint is at offset {stop}, but the log ends at {bounds.end}: "
                "is this another broker, or one restored from an older backup?"
            )
            stop = max(begin, bounds.end)
        return self.tasks(Range(begin, stop), offset_gaps_in(start))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.rows_of(partition)

    def commit(self, end: Offset) -> None:
        self._report_done(place_in(end))

    def stop(self) -> None:
        self._log = None

    def _report_done(self, offset: int) -> None:
        """Tell the broker that this query no longer needs anything before the offset.

        Spark asks for the end of a batch only when all earlier batches are done. It calls `commit` later than that, and
        never for the last batch.
        """
        if self.options.cursor and self.options.servers and offset > self._done:
            self.log.cursor_reached(self.options.cursor, offset)
            self._done = offset


def offset_at(place: int, offset_gaps: Sequence[Range]) -> Offset:
    """Build an offset for Spark. The same position always gives the same text, because Spark compares it."""
    ahead = ",".join(f"{gap.start}-{gap.end}" for gap in offset_gaps if gap.end > place)
    return {LOG_KEY: place, OFFSET_GAPS_KEY: ahead} if ahead else {LOG_KEY: place}


def offset_gaps_in(offset: Offset) -> list[Range]:
    text = offset.get(OFFSET_GAPS_KEY, "")
    try:
        pairs = [part.split("-") for part in str(text).split(",") if part]
        return [Range(int(start), int(end)) for start, end in pairs]
    except ValueError:
        raise Error(f"the checkpoint is from another source: its holes are {text!r}") from None


def place_in(offset: Offset) -> int:
    place = offset.get(LOG_KEY)
    if not isinstance(place, int):
        raise Error(f'the checkpoint is from another source: its offset is {offset!r}, not {{"{LOG_KEY}": number}}')
    return place
