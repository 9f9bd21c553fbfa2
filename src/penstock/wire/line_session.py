"""The base of line protocols: a read is split into lines, which are executed in slices.

A line may take more than one slice, if it settles everything a consumer holds. The settlement then continues in the
next slices, and the following lines wait.
"""

from typing import Final

from mypy_extensions import i64

from penstock.wire.lines import LineBuffer
from penstock.wire.preauth import TurnedAway
from penstock.wire.session import NO_SLICES, Hub, Session

SETTLED_AT_ONCE: Final = 1000  # deliveries
LARGE_LINE: Final = 1 << 20
LINE_OVERHEAD: Final = 64  # bytes of memory for a short line


class LineSession(Session):
    def __init__(self, hub: Hub, peer: str) -> None:
        super().__init__(hub, peer)
        self.lines = LineBuffer(hub.limits.line_size_max)
        self.unsettled = False  # a settlement takes more than one slice, see `settle_on`
        self._todo: list[bytes] = []  # lines of a read that did not fit in one slice ...
        self._done: i64 = 0  # ... and how many of them are executed
        self.slice_end: i64 = 0  # the value of `context.work` at which the slice ends

    def pending(self) -> int:
        return self.lines.pending()

    def run_on(self) -> None:
        lines = self._todo
        start = self._done
        self._todo = []
        self._done = 0
        self.work_off(lines, start)

    def begin_lines(self, lines: list[bytes]) -> None:
        """Execute the lines of a read. A large line takes a while, so other sessions go first."""
        if lines and len(lines[0]) > LARGE_LINE and self.hub.slice_work != NO_SLICES:
            self._todo = lines
            self._done = 0
            self.be_busy()
        else:
            self.work_off(lines, 0)

    def work_off(self, lines: list[bytes], start: i64) -> None:
        """Execute the lines of a read from `start` on; the rest waits for the next slice."""
        context = self.broker.context
        self.begin_slice()
        while True:
            if not self.unsettled or self._settle_in_slice():
                try:
                    start = self.run_lines(lines, start)
                except TurnedAway:
                    return
            if (self.unsettled and not self._settle_in_slice()) or start < len(lines):
                if context.work < self.slice_end:
                    continue  # a settlement interrupted the lines, and is done
                self._todo = lines
                self._done = start
                self.be_busy()
                return
            if not self.lines.uncut():
                self.end_read()
                return
            if context.work >= self.slice_end:
                self.be_busy()
                return
            lines = self.lines.more()
            start = 0

    def _settle_in_slice(self) -> bool:
        """Continue an unfinished settlement as long as the slice lasts; returns whether it is finished.

        A slice settles as many messages as it publishes: otherwise a client that acks in large counts falls behind one
        that publishes, and the queue fills up with messages that were processed long ago.
        """
        while self.unsettled and self.broker.context.work < self.slice_end:
            self.settle_on()
        return not self.unsettled

    def unworked(self) -> int:
        size = super().unworked() + self.lines.uncut() + (len(self._todo) - self._done) * LINE_OVERHEAD
        if self._done == 0 and self._todo and len(self._todo[0]) > LARGE_LINE:
            size += len(self._todo[0])
        return size

    def begin_slice(self) -> None:
        self.slice_end = self.broker.context.work + self.hub.slice_work

    def run_lines(self, lines: list[bytes], start: i64) -> i64:
        """Execute lines from `start` until the slice ends or one is `unsettled`; return how many are executed."""
        raise NotImplementedError

    def settle_on(self) -> None:
        """Continue the unfinished settlement."""
        raise NotImplementedError

    def end_read(self) -> None:
        """Called when all lines of a read are executed."""
