"""A receive buffer for protocols with length-prefixed frames.

       position
          ▼
    ┌─────┬──────────────────┐ ┌─────────┐    Frames are taken from `data`. Reads that arrive before it is used up are
    │ ... │ data             │ │ _late   │    collected in `_late`, and joined to it only when a frame needs them.
    └─────┴──────────────────┘ └─────────┘

So a read of whole frames is never copied, and a frame that arrives in pieces is joined once. Call `have(n)` with the
full length as soon as it is known: asking for one byte more at each read would copy everything again.
"""

from io import BytesIO

from penstock.errors import ProtocolError


class ReceiveBuffer:
    """For each read: `append` it, take what `have` says is complete, and call `hold` to check the size of the rest."""

    def __init__(self, size_max: int) -> None:
        self.size_max = size_max
        self.data = b""  # valid from `position` on; every method but `size` may replace it
        self.position = 0
        self._late = BytesIO()  # its value becomes `data` uncopied
        self._late_size = 0

    def append(self, read: bytes) -> None:
        if self.position == len(self.data) and self._late_size == 0:
            self.data = read
            self.position = 0
        else:
            self._late_size += self._late.write(read)

    def size(self) -> int:
        """The number of buffered bytes."""
        return len(self.data) - self.position + self._late_size

    def have(self, count: int) -> bool:
        """Whether that many bytes are buffered; if so, they are contiguous in `data` from `position` on."""
        there = len(self.data) - self.position
        if there >= count:
            return True
        if there + self._late_size < count:
            return False
        late = self._late.getvalue()
        self.data = self.data[self.position :] + late if there else late
        self.position = 0
        self._late = BytesIO()
        self._late_size = 0
        return True

    def take(self, count: int) -> bytes:
        """Consume the next bytes; `have(count)` must have returned True."""
        start = self.position
        taken = self.data[start : start + count]
        self.skip(count)
        return taken

    def skip(self, count: int) -> None:
        """Consume bytes of `data`; its memory is freed with the last one."""
        position = self.position + count
        size = len(self.data)
        assert position <= size
        if position == size:
            self.data = b""
            self.position = 0
        else:
            self.position = position

    def hold(self) -> None:
        """Keep the rest for the next read. Raises ProtocolError, and keeps nothing, if it exceeds the cap."""
        size = self.size()
        if size > self.size_max:
            self.clear()
            raise ProtocolError(f"unfinished request of {size} bytes: line_size_max is {self.size_max}")

    def clear(self) -> None:
        self.data = b""
        self.position = 0
        self._late = BytesIO()
        self._late_size = 0
