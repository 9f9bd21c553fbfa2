"""Where a broker writes down what it accepts, and the broker that comes of reading it again."""

from typing import Final

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.replay import Replay, replay
from penstock.log.block import Block, block_length, is_intact
from penstock.log.durable import DurableLog, Pending
from penstock.log.memory import MemoryLog
from penstock.log.port import Log

SEGMENT_BYTES_MAX: Final = 2000  # small, so that there are several


class History:
    log: Log

    def end_turn(self, now: int) -> None:
        """The broker has done what there was to do for now."""

    def replay(self, limits: Limits) -> Broker:
        raise NotImplementedError


class Memory(History):
    """Everything is safe at once."""

    def __init__(self) -> None:
        self.log = self._log = MemoryLog(keep=True)

    def replay(self, limits: Limits) -> Broker:
        return replay(self._log.entries, MemoryLog(), limits)


class Disk(History):
    """The log as it goes to the disk, a block for each turn."""

    def __init__(self) -> None:
        self.log = self._log = DurableLog(SEGMENT_BYTES_MAX)
        self._log.resume(0, 0, 0)
        self._blocks: list[Pending] = []

    def end_turn(self, now: int) -> None:
        self._log.close_block(now)
        self._blocks += self._log.take_closed()

    def replay(self, limits: Limits) -> Broker:
        """What a crash in the middle leaves must at least be readable; what is there at the end counts."""
        self._replay(self._blocks[: len(self._blocks) // 2], limits)
        return self._replay(self._blocks, limits)

    def _replay(self, blocks: list[Pending], limits: Limits) -> Broker:
        rebuilt = Replay(DurableLog(SEGMENT_BYTES_MAX), limits)
        segment = ""
        names: list[bytes] = []
        for pending in blocks:
            if pending.segment != segment:
                segment = pending.segment
                names = []
            assert block_length(pending.data) == len(pending.data)
            assert is_intact(pending.data)
            rebuilt.apply_block(Block(pending.data, names))
        return rebuilt.finish()
