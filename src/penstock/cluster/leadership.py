"""What a leader appends to the stream: its broker's blocks, several in a message, and what all nodes have to do.

    submit ─► waiting ─► a message, or parts of one ─► stored ─► written into the copy ─► durable

Few messages are under way at a time. What waits meanwhile comes in larger ones, so the slower the stream, the larger
they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.cluster.appender import UNDER_WAY_MAX, Appender
from penstock.cluster.history import History
from penstock.cluster.replica import Replica
from penstock.cluster.stream import BLOCKS, LEAVE, SNAPSHOT, TRIM, Stream, StreamMessage, names_in
from penstock.storage.durable import Pending


@dataclass(frozen=True, slots=True)
class Order:
    """Something that all nodes have to do."""

    kind: str
    position: int
    data: bytes = field(repr=False)


class Leadership:
    def __init__(
        self,
        stream: Stream,
        history: History,
        replica: Replica,
        durable: Callable[[int, int], None],
        given_up: Callable[[str], None],
        left: Callable[[], None],
    ) -> None:
        """`history` and `replica` are as they were at the LEAD."""
        self.position = replica.position  # everything before is in the stream and in the copy
        self._stream = stream
        self._history = history
        self._replica = replica
        self._durable = durable
        self._left = left
        self._appender = Appender(stream, history.sequence, given_up)
        self._waiting: deque[Pending | Order] = deque()
        self._is_leaving = False
        self._number = history.number
        self._sent_position = replica.position
        self._segment = ""
        self._place = 0

    @property
    def sequence(self) -> int:
        """The number of the last message known to be in the stream."""
        return self._appender.after

    @property
    def behind(self) -> int:
        """Bytes that were submitted and not sent."""
        return sum([one.size for one in self._waiting if isinstance(one, Pending)])

    def stop(self) -> None:
        """Nobody is called after this."""
        self._appender.stop()
        self._replica.close()
        self._waiting.clear()

    def retry(self) -> None:
        self._appender.retry()

    def submit(self, blocks: list[Pending]) -> None:
        self._wait(*blocks)

    def trim(self, position: int, snapshot: bytes, names: list[str]) -> None:
        """Give all nodes the snapshot; then they delete these segments."""
        self._wait(Order(SNAPSHOT, position, snapshot))
        if names:
            self._wait(Order(TRIM, position, "\n".join(names).encode()))

    def leave(self, to: str) -> None:
        self._wait(Order(LEAVE, self._sent_position, to.encode()))
        self._is_leaving = True

    def _wait(self, *what: Pending | Order) -> None:
        if not self._is_leaving:
            self._waiting += what
            self._send_waiting()

    def _send_waiting(self) -> None:
        while self._waiting and self._appender.count < UNDER_WAY_MAX:
            first = self._waiting.popleft()
            if isinstance(first, Order):
                self._send(first.kind, first.position, first.data, self._on_order)
            else:
                self._send_blocks(first)

    def _send_blocks(self, first: Pending) -> None:
        """Send a block, and those behind it that fit into the same message."""
        batch = [first]
        size = first.size
        while self._waiting:
            following = self._waiting[0]
            if not isinstance(following, Pending) or following.segment != first.segment:
                break
            size += following.size
            if size > self._stream.data_max:
                break
            batch.append(following)
            self._waiting.popleft()
        if first.segment != self._segment:
            self._segment = first.segment
            self._place = 0
        data = b"".join([pending.data() for pending in batch])
        place, position = self._place, self._sent_position
        self._place += len(data)
        self._sent_position, next_offset = batch[-1].position, batch[-1].next_offset

        def stored(message: StreamMessage) -> None:
            self._replica.append(message, self._history.begun)
            self.position = batch[-1].position
            self._durable(batch[-1].position, next_offset)

        self._send(BLOCKS, position, data, stored, first.segment, place)

    def _send(
        self,
        kind: str,
        position: int,
        data: bytes,
        stored: Callable[[StreamMessage], None],
        segment: str = "",
        place: int = 0,
    ) -> None:
        """Send a message, in parts if it is large. `stored` is called with the whole message."""
        size = self._stream.data_max
        pieces = [data[start : start + size] for start in range(0, len(data), size)] or [b""]
        for part, piece in enumerate(pieces):
            self._number += 1
            message = StreamMessage(
                kind,
                self._history.lead,
                self._history.term,
                self._number,
                position,
                segment,
                place,
                part,
                len(pieces),
                piece,
            )
            self._appender.send(message, self._when_stored(message, stored))

    def _when_stored(self, message: StreamMessage, stored: Callable[[StreamMessage], None]) -> Callable[[int], None]:
        def in_stream(sequence: int) -> None:
            whole = self._history.take(sequence, message)
            assert self._history.number == message.number, f"{message!r} does not follow {self._history!r}"
            if whole is not None:
                stored(whole)
                self._send_waiting()

        return in_stream

    def _on_order(self, message: StreamMessage) -> None:
        """Do what the others do when they read it; a leader also deletes what nobody needs from the stream."""
        files = self._replica.files
        if message.kind == SNAPSHOT:
            files.write_snapshot(message.position, message.data)
        elif message.kind == TRIM:
            for first, end in files.trim(names_in(message)):
                self._stream.delete(first, end)
        else:
            self._left()
