"""A directory of Parquet files, readable by any tool, to which whole batches are added exactly once.

    DIR/date=2026-11-15/event=order.placed/0000000000000000-0000000000000999.parquet     first and last offset
    DIR/.penstock/state.json       the last batch of each writer, the next offset, the lake's id
    DIR/.penstock/journal.json     exists only while files are moved into place
    DIR/.penstock/staging/         files being written; readers skip names that begin with a dot

A batch is first written to staging. Then the journal lists the files to move and to delete: once it is written, the
batch is committed. After a crash the moves are repeated until the journal is applied and deleted; without a journal,
files in staging are discarded. Compaction, which merges small files, works the same way.

The directory can be on any file system that pyarrow supports: a path, s3://, gs://, hdfs://.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from penstock.errors import Error

HIDDEN = ".penstock"
SMALL_BYTES = 32 << 20  # smaller files are worth merging
SMALL_COUNT = 8  # merge when a directory has this many small files
ROW_GROUP_ROWS = 128 << 10


class LakeError(Error):
    """The lake cannot be read or written."""


class Moves(NamedTuple):
    """The content of a journal: files to move into place, files to remove, and the state after that."""

    moves: list[tuple[str, str]]
    removes: list[str]
    state: dict[str, Any]


class Lake:
    """The directory. All paths are relative to it."""

    def __init__(self, address: str) -> None:
        self.address = absolute(address)
        try:
            self.files, self.root = fs.FileSystem.from_uri(self.address)
            self.files.create_dir(self._at(HIDDEN), recursive=True)
        except (OSError, pa.ArrowException) as error:
            raise LakeError(f"cannot use {address} as a lake: {error}") from None

    def __repr__(self) -> str:
        return f"<Lake {self.address}>"

    def open(self) -> None:
        """Complete or discard what a crashed process left behind."""
        journal = self._read(f"{HIDDEN}/journal.json")
        if journal is not None:
            self._apply(Moves([(a, b) for a, b in journal["moves"]], journal["removes"], journal["state"]))
        self._drop(f"{HIDDEN}/staging")
        if self._read(f"{HIDDEN}/state.json") is None:
            self._write(f"{HIDDEN}/state.json", {"id": uuid.uuid4().hex[:12], "writers": {}, "next_offset": None})

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self._read(f"{HIDDEN}/state.json")
        if found is None:
            raise LakeError(f"{self.address} is not open")
        return found

    def has(self, writer: str, batch: int) -> bool:
        return bool(self.state()["writers"].get(writer, -1) >= batch)

    def staging(self, batch: int) -> str:
        """Return the address where Spark writes a batch, after deleting the remains of earlier attempts."""
        self._drop(f"{HIDDEN}/staging/{batch}")
        return f"{self.address}/{HIDDEN}/staging/{batch}"

    def commit(self, writer: str, batch: int) -> list[str]:
        """Move the staged files of a batch into place. Returns the directories that received files."""
        staged = f"{HIDDEN}/staging/{batch}"
        state = self.state()
        moves = []
        for path in self._parquet(staged):
            first, last = self._offsets(path)
            if last >= 0:
                folder = path[len(staged) + 1 :].rpartition("/")[0]
                moves.append((path, f"{folder}/{first:016d}-{last:016d}.parquet".lstrip("/")))
                state["next_offset"] = max(state["next_offset"] or 0, last + 1)
        state["writers"][writer] = batch
        self._carry_out(Moves(moves, [], state))
        self._drop(staged)
        return sorted({target.rpartition("/")[0] for _, target in moves})

    def compact(self, folder: str, *, count: int = SMALL_COUNT, size: int = SMALL_BYTES) -> int:
        """Merge the small files of a directory if there are at least `count`. Returns how many were merged."""
        found = self._listed(folder)
        small = sorted(info.path for info in found if info.path.endswith(".parquet") and info.size < size)
        if len(small) < count:
            return 0
        paths = [self._relative(path) for path in small]
        merged = f"{HIDDEN}/staging/merged.parquet"
        self.files.create_dir(self._at(f"{HIDDEN}/staging"), recursive=True)
        first = pq.ParquetFile(self.files.open_input_file(small[0]))
        sink = self.files.open_output_stream(self._at(merged))
        with sink, pq.ParquetWriter(sink, first.schema_arrow, compression="zstd") as writer:
            for path in small:
                with self.files.open_input_file(path) as file:
                    for batch in pq.ParquetFile(file).iter_batches(batch_size=ROW_GROUP_ROWS):
                        writer.write_batch(batch.cast(first.schema_arrow))
        first.close()
        low, high = self._offsets(merged)
        target = f"{folder}/{low:016d}-{high:016d}.parquet"
        self._carry_out(Moves([(merged, target)], [path for path in paths if path != target], self.state()))
        return len(paths)

    def folders(self) -> list[str]:
        """The directories that contain files."""
        return sorted({path.rpartition("/")[0] for path in self._parquet("")})

    def paths(self) -> list[str]:
        return sorted(self._parquet(""))

    def _carry_out(self, moves: Moves) -> None:
        """Write the journal, which commits the moves, then apply it."""
        self._write(f"{HIDDEN}/journal.json", moves._asdict())
        self._apply(moves)

    def _apply(self, moves: Moves) -> None:
        for source, target in moves.moves:
            if self._exists(source):
                self.files.create_dir(self._at(target.rpartition("/")[0]), recursive=True)
                self.files.move(self._at(source), self._at(target))
        for path in moves.removes:
            if self._exists(path):
                self.files.delete_file(self._at(path))
        self._write(f"{HIDDEN}/state.json", moves.state)
        self.files.delete_file(self._at(f"{HIDDEN}/journal.json"))

    def _offsets(self, path: str) -> tuple[int, int]:
        """The first and last offset in a file, from its footer."""
        with self.files.open_input_file(self._at(path)) as file:
            found = pq.ParquetFile(file).metadata
            place = found.schema.to_arrow_schema().get_field_index("offset")
            groups = [found.row_group(number).column(place).statistics for number in range(found.num_row_groups)]
        return min((g.min for g in groups), default=-1), max((g.max for g in groups), default=-1)

    def _parquet(self, folder: str) -> Iterator[str]:
        for info in self._listed(folder, recursive=True):
            path = self._relative(info.path)
            hidden = any(part.startswith((".", "_")) for part in path[len(folder) :].split("/"))
            if path.endswith(".parquet") and not hidden:
                yield path

    def _listed(self, folder: str, *, recursive: bool = False) -> list[Any]:
        selector = fs.FileSelector(self._at(folder), recursive=recursive, allow_not_found=True)
        return [info for info in self.files.get_file_info(selector) if info.type == fs.FileType.File]

    def _read(self, path: str) -> Any:
        if not self._exists(path):
            return None
        with self.files.open_input_stream(self._at(path)) as file:
            return orjson.loads(file.read())

    def _write(self, path: str, value: object) -> None:
        """Write a file atomically."""
        with self.files.open_output_stream(self._at(path + ".new")) as file:
            file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2))
        self.files.move(self._at(path + ".new"), self._at(path))

    def _exists(self, path: str) -> bool:
        return bool(self.files.get_file_info(self._at(path)).type != fs.FileType.NotFound)

    def _drop(self, folder: str) -> None:
        if self._exists(folder):
            self.files.delete_dir(self._at(folder))

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}".rstrip("/")

    def _relative(self, path: str) -> str:
        return path[len(self.root) :].lstrip("/")


def absolute(address: str) -> str:
    """Make a path absolute; an address with a scheme is returned as it is."""
    return address.rstrip("/") if urlsplit(address).scheme else str(Path(address).expanduser().absolute())
