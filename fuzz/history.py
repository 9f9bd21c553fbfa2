"""The log a broker writes to, and the broker rebuilt from it by replay."""

import io
from pathlib import Path
from typing import BinaryIO, Final

import penstock.storage.disk
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.replay import Replay, replay
from penstock.log.block import Block
from penstock.log.header import block_length, is_intact
from penstock.log.interface import Log
from penstock.log.memory import MemoryLog
from penstock.storage.durable import DurableLog, Pending
from penstock.storage.pager import Pager

SEGMENT_BYTES_MAX: Final = 2000  # small, so that there are several segments


class History:
    log: Log

    def end_turn(self, now: int) -> None:
        """Called when the broker has nothing left to do for now."""

    def replay(self, limits: Limits) -> Broker:
        raise NotImplementedError


class Memory(History):
    """Everything is durable at once."""

    def __init__(self) -> None:
        self.log = self._log = MemoryLog(keep=True)

    def replay(self, limits: Limits) -> Broker:
        return replay(self._log.entries, MemoryLog(), limits)


class Files(penstock.storage.disk.Disk):
    """A directory in memory."""

    def __init__(self) -> None:
        super().__init__(Path("files"))
        self._files: dict[str, bytes] = {}

    def append(self, name: str, data: bytes) -> None:
        self._files[name] = self._files.get(name, b"") + data

    def names(self) -> list[str]:
        return list(self._files)

    def read(self, name: str) -> BinaryIO:
        return io.BytesIO(self._files[name])


class Disk(History):
    """The log as it is written to disk, one block per turn."""

    def __init__(self) -> None:
        self.log = self._log = DurableLog(SEGMENT_BYTES_MAX)
        self._files = Files()
        self._log.pager = Pager(self._files)
        self._log.resume(0, 0, 0)
        self._blocks: list[Pending] = []

    def end_turn(self, now: int) -> None:
        self._log.close_block(now)
        for pending in self._log.take_closed():
            self._blocks.append(pending)
            self._files.append(pending.segment, pending.data())
            self._log.written(pending.position, pending.next_offset)

    def replay(self, limits: Limits) -> Broker:
        """The state after a crash halfway must at least be readable; the state at the end is compared."""
        self._replay(self._blocks[: len(self._blocks) // 2], limits)
        return self._replay(self._blocks, limits)

    def _replay(self, blocks: list[Pending], limits: Limits) -> Broker:
        log = DurableLog(SEGMENT_BYTES_MAX)
        log.pager = Pager(self._files)
        rebuilt = Replay(log, limits)
        segment = ""
        names: list[bytes] = []
        for pending in blocks:
            if pending.segment != segment:
                segment = pending.segment
                names = []
            data = pending.data()
            assert block_length(data) == len(data)
            assert is_intact(data)
            rebuilt.apply_block(Block(data, names))
        return rebuilt.finish()
