"""Bytes that were read and not used yet, for protocols whose frames say how long they are.

       position
          ▼
    ┌─────┬──────────────────┐ ┌─────────┐    Frames are cut from `data`. What comes in before it is used up gathers
    │ ... │ data             │ │ _late   │    in `_late`, and is joined to it only when a frame needs that much.
    └─────┴──────────────────┘ └─────────┘

So a read that holds whole frames is never copied, and a frame that came in any number of pieces is joined once. Ask
`have(n)` with the full length as soon as it is known: asking for a byte more at each read would copy everything again.
"""

from penstock.errors import ProtocolError


class ReceiveBuffer:
    """Append a read, see what is there, take it, and at the end of the read let `hold` check what is left over."""

    def __init__(self, size_max: int) -> None:
        self.size_max = size_max
        self.data = b""  # to be looked at from `position` on; changed by every method that is not a question
        self.position = 0
        self._late = bytearray()
        self._late_size = 0

    def append(self, read: bytes) -> None:
        if self.position == len(self.data) and self._late_size == 0:
            self.data = read
            self.position = 0
        else:
            self._late += read
            self._late_size += len(read)

    def size(self) -> int:
        """How many bytes are there."""
        return len(self.data) - self.position + self._late_size

    def have(self, count: int) -> bool:
        """Whether that many bytes are there; they are in `data` from `position` on then, in one piece."""
        there = len(self.data) - self.position
        if there >= count:
            return True
        if there + self._late_size < count:
            return False
        self.data = b"".join((self.data[self.position :], self._late)) if there else bytes(self._late)
        self.position = 0
        self._late = bytearray()
        self._late_size = 0
        return True

    def take(self, count: int) -> bytes:
        """The next bytes, used up with this; `have(count)` must have said yes."""
        start = self.position
        taken = self.data[start : start + count]
        self.skip(count)
        return taken

    def skip(self, count: int) -> None:
        """Use up bytes of `data`; the last one lets go of its memory."""
        position = self.position + count
        size = len(self.data)
        assert position <= size
        if position == size:
            self.data = b""
            self.position = 0
        else:
            self.position = position

    def hold(self) -> None:
        """Keep what is left for the next read. Raises ProtocolError, and keeps nothing, when it is over the cap."""
        size = self.size()
        if size > self.size_max:
            self.clear()
            raise ProtocolError(f"{size} bytes wait to be used: line_size_max is {self.size_max}")

    def clear(self) -> None:
        self.data = b""
        self.position = 0
        self._late = bytearray()
        self._late_size = 0
