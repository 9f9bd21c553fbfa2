"""Where a query's rows come from: a broker over HTTP, or the files of a data directory.

Both present one log with one offset per message, as Arrow batches with the log's columns. Files are read directly, so
`path` needs no running broker. If `servers` is set too, the broker's durable mark is the end of the log, and its
cursors remember where a query began.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from penstock.spark.client import BrokerClient, Patience, TryAgain, name_in_path
from penstock.spark.options import SourceOptions
from penstock.spark.ranges import Range
from penstock.storage.lifecycle import lifecycle_batches
from penstock.storage.offset_gaps import offset_gaps_of
from penstock.storage.reader import LogReader
from penstock.storage.time_index import offset_at


class Bounds(NamedTuple):
    """The log holds the offsets from `first` up to, but not including, `end`."""

    first: int
    end: int


class Log(Protocol):
    def bounds(self) -> Bounds: ...

    def offset_gaps(self) -> list[Range]:
        """The ranges that retention has deleted inside the log, in order."""

    def offset_at(self, time_us: int) -> int:
        """The offset of the first message published then or later; the end of the log if there is none."""

    def offset_after(self, start: int, size: int, end: int) -> int:
        """The end of a range of about `size` bytes from `start`; the range has at least one message."""

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The messages of a range, in order."""

    def lifecycle(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The settlements in the blocks that begin within a range."""

    def cursor_start(self, name: str, offset: int) -> int:
        """Where the cursor began. A new cursor begins at `offset`, which never changes."""

    def cursor_reached(self, name: str, offset: int) -> None:
        """Report that the cursor's owner has processed everything below the offset."""


def open_log(options: SourceOptions) -> Log:
    if options.path:
        return DirectoryLog(options)
    return BrokerLog(options)


class BrokerLog:
    """Reads the log from a broker over HTTP."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.client = BrokerClient(options)

    def bounds(self) -> Bounds:
        found = self.client.get("/v1/log/offsets")
        return Bounds(found["first_offset"], found["durable_offset"])

    def offset_gaps(self) -> list[Range]:
        found = self.client.get("/v1/log/holes")["holes"]
        return [Range(gap["first_offset"], gap["end_offset"]) for gap in found]

    def offset_at(self, time_us: int) -> int:
        found = self.client.get("/v1/log/offsets", at=iso_time(time_us))
        return min(int(found["offset"]), int(found["durable_offset"]))

    def offset_after(self, start: int, size: int, end: int) -> int:
        found = self.client.get("/v1/log/offsets", **{"from": start, "bytes": size})
        return max(min(int(found["offset"]), end), min(start + 1, end))

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        place = start
        patience = Patience(self.options)
        while place < end:
            try:
                for batch in self.client.open_arrow("/v1/log", from_=place, to=end):
                    if batch.num_rows:
                        yield batch
                        place = batch.column("offset")[-1].as_py() + 1
                        patience.relax()
                return
            except TryAgain as error:
                self.client.close()
                patience.wait(error)

    def lifecycle(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        patience = Patience(self.options)
        found: list[pa.RecordBatch] | None = None
        while found is None:
            try:
                # Read it completely first: rows carry no position from which a broken stream could resume.
                found = list(self.client.open_arrow("/v1/log/lifecycle", from_=start, to=end))
            except TryAgain as error:
                self.client.close()
                patience.wait(error)
        yield from found

    def cursor_start(self, name: str, offset: int) -> int:
        found = self.client.put(f"/v1/cursors/{name_in_path(name)}", {"start": offset})
        return int(found["start"])

    def cursor_reached(self, name: str, offset: int) -> None:
        self.client.post(f"/v1/cursors/{name_in_path(name)}/reached", {"offset": offset})


class DirectoryLog:
    """Reads the log from files."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.reader = LogReader(Path(options.path))
        self.broker = BrokerLog(options) if options.servers else None

    def bounds(self) -> Bounds:
        if self.broker is not None:
            return self.broker.bounds()
        return Bounds(self._first(), self.reader.end()[0])

    def offset_gaps(self) -> list[Range]:
        return [Range(*gap) for gap in offset_gaps_of(self.reader)]

    def offset_at(self, time_us: int) -> int:
        end = self.bounds().end
        found = offset_at(self.reader, time_us, end)
        return found if found >= 0 else end

    def offset_after(self, start: int, size: int, end: int) -> int:
        blocks = self.reader.blocks(start, end)
        reached = start
        try:
            for block in blocks:
                size -= len(block.data)
                if size < 0 and reached > start:
                    break
                reached = block.end_offset
                if size < 0:
                    break
        finally:
            blocks.close()  # type: ignore[attr-defined]
        return max(min(reached, end), min(start + 1, end))

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        return self.reader.batches(start, end)

    def lifecycle(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        return lifecycle_batches(self.reader, start, end)

    def cursor_start(self, name: str, offset: int) -> int:
        assert self.broker is not None
        return self.broker.cursor_start(name, offset)

    def cursor_reached(self, name: str, offset: int) -> None:
        if self.broker is not None:
            self.broker.cursor_reached(name, offset)

    def _first(self) -> int:
        cursor = self.reader.cursor()
        try:
            block = cursor.next_block()
        finally:
            cursor.close()
        return 0 if block is None else block.first_offset


def iso_time(time_us: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)).isoformat().replace("+00:00", "Z")
