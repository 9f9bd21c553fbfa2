"""Fills an empty directory from a stream whose beginning was trimmed.

What is left of the stream is enough: a SNAPSHOT, all segments behind its position, and of the older ones those with
messages that queues still owe. Between older segments there are gaps, where others were. All of them are written down
as they come. With the snapshot the directory is what a broker that has been running since the beginning would have.

There may be older snapshots, with gaps behind them. So everything is read that was there when the node came, and the
newest snapshot counts.
"""

from __future__ import annotations

from penstock.cluster.files import CopyFiles, NotACopy
from penstock.cluster.history import Mark
from penstock.cluster.replica import blocks_in
from penstock.cluster.stream import BLOCKS, SNAPSHOT, TRIM, StreamMessage, names_in
from penstock.log.header import Header
from penstock.storage.recovery import PositionGap


class Joining:
    def __init__(self, files: CopyFiles, last: int) -> None:
        """`last` is the number of the stream's last message now."""
        self._files = files
        self._last = last
        self._snapshot: StreamMessage | None = None  # with no gap behind its position
        self._position = 0
        self._gaps: list[PositionGap] = []
        files.begin_joining()

    def take(self, message: StreamMessage, begun: Mark) -> None:
        """Write down a message that counts."""
        if message.kind == BLOCKS:
            self._take_blocks(message, begun)
        elif message.kind == SNAPSHOT:
            self._snapshot = message
        elif message.kind == TRIM:
            self._files.trim(names_in(message))

    def is_over(self, sequence: int) -> bool:
        """Whether the directory can be completed, once the message with this number was taken."""
        return sequence >= self._last and self._snapshot is not None

    def finish(self) -> int:
        """Complete the directory; returns the position of the snapshot."""
        snapshot = self._snapshot
        assert snapshot is not None
        self._files.write_snapshot(snapshot.position, snapshot.data)
        self._files.end_joining(self._gaps)
        return snapshot.position

    def _take_blocks(self, message: StreamMessage, begun: Mark) -> None:
        files = self._files
        files.find_place(message, begun)
        if message.place != files.size:
            raise NotACopy(f"{message.segment} goes on at byte {message.place}, and has {files.size}")
        if message.position < self._position:
            raise NotACopy(f"the stream goes on at position {message.position}, behind {self._position}")
        if message.position > self._position:
            self._gaps.append(PositionGap(self._position, message.position, trimmed=True))
            self._snapshot = None
        for _, data in blocks_in(message):
            self._position = Header(data).end_position
        files.write(message.data)
