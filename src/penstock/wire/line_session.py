"""A client of a protocol of lines: a read is cut into lines, and carried out in slices.

A line may ask for more than a slice has time for: to settle all that a consumer holds. Then what is behind it waits,
and the settlement goes on first in the next slice.
"""

from typing import Final

from mypy_extensions import i64

from penstock.wire.lines import LineBuffer
from penstock.wire.session import NO_SLICES, Hub, Session, TurnedAway

SETTLED_AT_ONCE: Final = 1000  # deliveries
LARGE_LINE: Final = 1 << 20
LINE_OVERHEAD: Final = 64  # bytes that a line takes, where it is short


class LineSession(Session):
    def __init__(self, hub: Hub, peer: str) -> None:
        super().__init__(hub, peer)
        self.lines = LineBuffer(hub.limits.line_size_max)
        self.unsettled = False  # a line settles more than one slice was enough for: see `settle_on`
        self._todo: list[bytes] = []  # lines of a read that one slice was not enough for ...
        self._done: i64 = 0  # ... and how many of them are done
        self.slice_end: i64 = 0  # when so much work was done, by `usage.work`

    def pending(self) -> int:
        return self.lines.pending()

    def run_on(self) -> None:
        if self.unsettled:
            self.settle_on()
        if self.unsettled:
            self.be_busy()
            return
        lines = self._todo
        start = self._done
        self._todo = []
        self._done = 0
        self.work_off(lines, start)

    def begin_lines(self, lines: list[bytes]) -> None:
        """Carry out the lines of a read.

        A large one has just been put together, which takes as long as to carry it out: others have a turn in between.
        """
        if lines and len(lines[0]) > LARGE_LINE and self.hub.slice_work != NO_SLICES:
            self._todo = lines
            self._done = 0
            self.be_busy()
        else:
            self.work_off(lines, 0)

    def work_off(self, lines: list[bytes], start: i64) -> None:
        """Carry out the lines of a read from `start` on; what one slice is not enough for waits for the next."""
        usage = self.broker.usage
        self.begin_slice()
        while True:
            try:
                done = self.run_lines(lines, start)
            except TurnedAway:
                return
            if done < len(lines) or self.unsettled:
                self._todo = lines
                self._done = done
                self.be_busy()
                return
            if not self.lines.uncut():
                self.end_read()
                return
            if usage.work >= self.slice_end:
                self.be_busy()
                return
            lines = self.lines.more()
            start = 0

    def unworked(self) -> int:
        size = super().unworked() + self.lines.uncut() + (len(self._todo) - self._done) * LINE_OVERHEAD
        if self._done == 0 and self._todo and len(self._todo[0]) > LARGE_LINE:
            size += len(self._todo[0])
        return size

    def begin_slice(self) -> None:
        self.slice_end = self.broker.usage.work + self.hub.slice_work

    def run_lines(self, lines: list[bytes], start: i64) -> i64:
        """Carry out the lines from `start` on, to the end of the slice or of an `unsettled` one; how many are done."""
        raise NotImplementedError

    def settle_on(self) -> None:
        """Settle some more of what is unsettled."""
        raise NotImplementedError

    def end_read(self) -> None:
        """All lines of a read are done."""
