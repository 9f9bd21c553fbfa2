"""A node's copy of the log, and a replay of it that is kept open.

A node that starts reads its segments, then the stream from where the newest of them begins. What it has already is
compared byte by byte; what follows is applied and written. A leader writes its own blocks in the same way, once the
stream has acknowledged them. So a copy never has anything that the stream does not have, and all copies have the same
bytes at the same place.
"""

from __future__ import annotations

from contextlib import closing

from penstock.cluster.files import CopyFiles, NotACopy
from penstock.cluster.history import Mark
from penstock.cluster.stream import StreamMessage
from penstock.core.capture import capture_replay
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.core.replay import Replay
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.header import HEADER_SIZE, Header, block_length, is_intact
from penstock.log.snapshot import encode
from penstock.log.tuning import Tuning
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager
from penstock.storage.recovery import find_start, misplaced, read_back
from penstock.storage.segments import segments_of


class Replica:
    """Opened from what the directory has. After `finish` it only takes what this node's own broker writes."""

    def __init__(self, files: CopyFiles, limits: Limits, segment_bytes_max: int, tuning: Tuning | None = None) -> None:
        """Raises NotACopy if the directory cannot be read: the stream has it all."""
        self.files = files
        self.log = DurableLog(segment_bytes_max, tuning)
        try:
            snapshot, _ = find_start(files.disk)
            self.replay = Replay(self.log, limits, snapshot)
            self.position = 0 if snapshot is None else snapshot.position
            self.next_offset = 0 if snapshot is None else snapshot.next_offset
            with closing(read_back(files.disk, snapshot)) as blocks:
                for block in blocks:
                    self._apply(block)
        except LogError as error:
            raise NotACopy(str(error)) from error
        self._segment = ""
        self._names: list[bytes] = []  # of the segment, as far as it was read
        self._segment_bytes_max = segment_bytes_max
        self._since_snapshot = 0  # bytes

    def take(self, message: StreamMessage, begun: Mark) -> None:
        """Apply and write the blocks of a message that counts. `begun`: the history before its first part.

        Raises NotACopy if the directory has something else in their place, LogError if they are damaged.
        """
        files = self.files
        if self._since_snapshot >= self._segment_bytes_max and message.segment != self._segment:
            self._take_snapshot(Header(message.data).closed_at)
        files.find_place(message, begun)
        known = files.compare(message)
        if message.segment != self._segment:
            self._segment = message.segment
            self._names = []
        for start, data in blocks_in(message):
            block = Block(data, self._names)
            if start < known < start + len(data):
                raise NotACopy(f"{files.disk.directory / message.segment} ends within a block")
            if start >= known:
                reason = misplaced(self.position, self.next_offset, block)
                if reason:
                    raise NotACopy(f"position {self.position}: {reason}")
                self._apply(block)
        files.write(message.data[known:])
        self._since_snapshot += len(message.data) - known

    def append(self, message: StreamMessage, begun: Mark) -> None:
        """Write blocks of this node's own broker that the stream has acknowledged."""
        self.files.find_place(message, begun)
        self.files.write(message.data)

    def finish(self, now: int) -> GuardedBroker:
        """The broker as the log left it, to go on with."""
        broker = self.replay.finish()
        self.log.pager = Pager(self.files.disk, self.log.tuning)
        self.log.resume(self.log.next_offset, self.log.position, now)
        broker.expect_consumers(now)
        return broker

    def close(self) -> None:
        self.files.close()

    def _take_snapshot(self, now: int) -> None:
        """Keep the state where a segment begins, so that a start need not read the log before it."""
        snapshot = capture_replay(self.replay, now)
        snapshot.segments = segments_of(self.files.disk)
        self.files.write_snapshot(snapshot.position, encode(snapshot))
        self._since_snapshot = 0

    def _apply(self, block: Block) -> None:
        self.replay.apply_block(block)
        self.position = block.end_position
        self.next_offset = block.end_offset


def blocks_in(message: StreamMessage) -> list[tuple[int, bytes]]:
    """The blocks of a message, with their places in it. Raises LogError if one of them is damaged."""
    found: list[tuple[int, bytes]] = []
    start = 0
    while start < len(message.data):
        length = block_length(message.data[start : start + HEADER_SIZE])
        data = message.data[start : start + length]
        if length == 0 or len(data) < length or not is_intact(data):
            raise LogError(f"the stream's message at position {message.position} has a damaged block")
        found.append((start, data))
        start += length
    return found
