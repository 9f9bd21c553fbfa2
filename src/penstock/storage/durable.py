"""The log on disk, as the core sees it: entries are collected and closed into one block per event loop iteration.

`storage/flusher.py` handles the closed blocks: its own thread writes and syncs them in order, then advances `durable`.
Segments are files of a bounded size, named by the position of their first entry.
"""

from penstock.log.block_writer import BlockWriter
from penstock.log.header import sealed, whole
from penstock.log.interface import AckRun, Change, Log
from penstock.log.tuning import Tuning
from penstock.message import ACCEPT, DUE, GOING_BACK, OUT, REJECT, Message
from penstock.storage.pager import Pager
from penstock.storage.segments import segment_name


class Pending:
    """A closed block on its way to the disk."""

    def __init__(self, segment: str, pieces: list[bytes], position: int, next_offset: int) -> None:
        self.segment = segment
        self.size = sum([len(piece) for piece in pieces])
        self._pieces = pieces
        self.position = position  # becomes `durable` once the block is synced ...
        self.next_offset = next_offset  # ... and this becomes `readable`

    def pieces(self) -> list[bytes]:
        """The pieces to write, in order. Takes milliseconds for a block of megabytes."""
        return self._pieces if len(self._pieces) == 1 else sealed(self._pieces)

    def data(self) -> bytes:
        """The same in one piece."""
        return whole(self._pieces)


class DurableLog(Log):
    def __init__(self, segment_bytes_max: int, tuning: Tuning | None = None) -> None:
        super().__init__(tuning)
        self.is_instant = False
        self.segment_bytes_max = segment_bytes_max
        self.segment = ""
        self.segment_size = 0
        self.bytes_closed = 0  # of all blocks since the start
        self.closed: list[Pending] = []  # blocks not taken by the flusher yet
        self._writer = BlockWriter(self.tuning.block_joined_max)
        self._block_bytes_max = self.tuning.block_bytes_max
        self._open_runs: list[AckRun] = []
        self._is_whole = False  # do not close the block, however large it becomes
        self._behind_changes = False  # the block has messages or settlements, so a change must start a new block
        self._now = 0
        self.pager: Pager | None = None

    def resume(self, next_offset: int, position: int, now: int) -> None:
        """Continue counting from the end of the log that recovery found. The next block starts a new segment."""
        self.next_offset = next_offset
        self.position = position
        self.durable = position
        self.readable = next_offset if self.pager is not None else 0
        self.segment = ""
        self._now = now
        self._begin_block()

    def append(self, message: Message) -> None:
        if message.size > self._block_bytes_max and not self._is_whole:
            self.close_block(self._now)  # a large message gets a new block, which has room for it
        writer = self._writer
        writer.add_message(message)
        message.offset = self.next_offset
        self.next_offset += 1
        self.position += 1
        self._behind_changes = True
        if writer.size() > self._block_bytes_max and not self._is_whole:
            self.close_block(self._now)

    def fetch(self, offset: int) -> Message | None:
        pager = self.pager
        if pager is None:
            return None
        message = pager.fetch(offset, self.readable)
        self.read_bytes = pager.read_bytes
        if message is None:
            self.is_stalled = pager.is_stalled
        return message

    def written(self, position: int, next_offset: int) -> None:
        """Blocks up to this position are on disk."""
        if position > self.durable:
            self.durable = position
            if self.pager is not None:
                self.readable = next_offset

    def end_segment(self) -> None:
        """Start a new segment with the next block: a snapshot can be taken there. Call it after a block was closed."""
        self.segment = ""
        self._begin_block()

    def append_settlement(self, ack_run: AckRun, offset: int, how: int, due_at: int = 0) -> None:
        self.position += 1
        self._behind_changes = True
        if how == ACCEPT:
            ack_run.ended += 1
            if ack_run.run_next == offset:
                ack_run.run_next = offset + 1
                return
            if ack_run.run_first >= 0:
                self._end_run(ack_run)
            else:
                self._open_runs.append(ack_run)
            ack_run.run_first = offset
            ack_run.run_next = offset + 1
        else:
            if how not in GOING_BACK:
                ack_run.ended += 1
            after_offset = self.next_offset - 1 if how in (REJECT, DUE) else 0
            self._writer.add_run(ack_run.queue, how, offset, 1, after_offset, due_at)

    def append_mark(self, ack_run: AckRun, offset: int) -> None:
        self.position += 1
        self._behind_changes = True
        self._writer.add_run(ack_run.queue, OUT, offset, 1, self.next_offset - 1)

    def begin_whole(self) -> None:
        """Start a block that only `end_whole` closes: after a crash, a block is there completely or not at all."""
        self.close_block(self._now)
        self._is_whole = True

    def end_whole(self) -> None:
        self._is_whole = False
        self.close_block(self._now)

    def append_change(self, change: Change) -> None:
        if self._behind_changes and self._is_whole:
            # A newly declared queue is unaffected by earlier entries in the block, so its change may come first.
            assert change.kind == Change.DECLARED
        elif self._behind_changes:
            self.close_block(self._now)
        self.position += 1
        self._writer.changes.append(change)

    def close_block(self, now: int) -> None:
        """Close the current block and append it to `closed`; does nothing if the block is empty."""
        self._now = now
        for ack_run in self._open_runs:
            self._end_run(ack_run)
            ack_run.run_first = -1
            ack_run.run_next = -1
        self._open_runs.clear()
        writer = self._writer
        if writer.is_empty():
            return
        if not self.segment or self.segment_size >= self.segment_bytes_max:
            self._begin_segment()
        block = Pending(self.segment, writer.close(now), self.position, self.next_offset)
        self.segment_size += block.size
        self.bytes_closed += block.size
        self.closed.append(block)
        self._begin_block()

    def take_closed(self) -> list[Pending]:
        """Take the blocks to write, in order."""
        closed = self.closed
        self.closed = []
        return closed

    def _end_run(self, ack_run: AckRun) -> None:
        self._writer.add_run(ack_run.queue, ACCEPT, ack_run.run_first, ack_run.run_next - ack_run.run_first, 0)

    def _begin_segment(self) -> None:
        self.segment = segment_name(self._writer.first_position)
        self.segment_size = 0

    def _begin_block(self) -> None:
        writer = self._writer
        if not self.segment or self.segment_size >= self.segment_bytes_max:
            writer.start_segment()
        writer.first_offset = self.next_offset
        writer.first_position = self.position
        self._behind_changes = False


class WatchedLog(DurableLog):
    """A DurableLog that also collects what it writes in `entries`, until the caller clears it: to check replays."""

    def __init__(self, segment_bytes_max: int, tuning: Tuning | None = None) -> None:
        super().__init__(segment_bytes_max, tuning)
        self.entries: list[Message | Change] = []

    def append(self, message: Message) -> None:
        super().append(message)
        self.entries.append(message)

    def append_settlement(self, ack_run: AckRun, offset: int, how: int, due_at: int = 0) -> None:
        super().append_settlement(ack_run, offset, how, due_at)
        self.entries.append(Change(Change.SETTLED, ack_run.queue, offset, how, due_at=due_at))

    def append_mark(self, ack_run: AckRun, offset: int) -> None:
        super().append_mark(ack_run, offset)
        self.entries.append(Change(Change.SETTLED, ack_run.queue, offset, OUT))

    def append_change(self, change: Change) -> None:
        super().append_change(change)
        self.entries.append(change)
