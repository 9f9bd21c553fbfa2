"""Fills an empty directory from a stream whose beginning was trimmed.

What is left of the stream is enough: a SNAPSHOT, all segments behind its position, and of the older ones those with
messages that queues still owe. Between older segments there are gaps, where others were. All of them are written down
as they come. With the snapshot the directory is what a broker that has been running since the beginning would have.
"""

from __future__ import annotations

from penstock.cluster.files import CopyFiles, NotACopy
from penstock.cluster.history import Mark
from penstock.cluster.replica import blocks_in
from penstock.cluster.stream import BLOCKS, SNAPSHOT, TRIM, StreamMessage, names_in
from penstock.log.header import Header
from penstock.storage.recovery import PositionGap


class Joining:
    def __init__(self, files: CopyFiles) -> None:
        self._files = files
        self._position = 0
        self._gaps: list[PositionGap] = []
        files.begin_joining()

    def take(self, message: StreamMessage, begun: Mark) -> bool:
        """Write down a message that counts. True once the directory is complete, up to this message."""
        if message.kind == BLOCKS:
            self._take_blocks(message, begun)
        elif message.kind == SNAPSHOT and message.position >= self._gap_end():
            self._files.write_snapshot(message.position, message.data)
            self._files.end_joining(self._gaps)
            return True
        elif message.kind == TRIM:
            self._files.trim(names_in(message))
        return False

    def _take_blocks(self, message: StreamMessage, begun: Mark) -> None:
        files = self._files
        files.find_place(message, begun)
        if message.place != files.size:
            raise NotACopy(f"{message.segment} goes on at byte {message.place}, and has {files.size}")
        if message.position > self._position:
            self._gaps.append(PositionGap(self._position, message.position, trimmed=True))
        for _, data in blocks_in(message):
            self._position = Header(data).end_position
        files.write(message.data)

    def _gap_end(self) -> int:
        return self._gaps[-1].end if self._gaps else 0
