"""Splits bytes into lines, a whole read at once or in portions, so that other sessions get a slice in between."""

from io import BytesIO
from typing import Final

_HTTP_METHODS: Final = tuple(
    [method + b" " for method in b"GET POST PUT HEAD DELETE OPTIONS PATCH CONNECT TRACE PRI".split()]
)

HEAD: Final = 4096  # bytes kept of a line that will be refused
PORTION: Final = 16 << 10  # bytes split at one time: short lines take many times their size in memory


class LineBuffer:
    """Splits reads at LF and keeps the unfinished end for the next read, up to a hard cap."""

    def __init__(self, size_max: int, portion: int = PORTION, kept_max: int = 0) -> None:
        self.size_max = size_max
        self.portion = portion
        self.kept_max = kept_max or size_max  # only the start is kept of a longer line that takes several reads
        self.beginning: bytes | None = None  # the last line that was cut like this ...
        self.whole_size = 0  # ... and its full length
        self._dropped = 0  # bytes of the unfinished line that were not kept
        self.fault = ""  # why nothing more is read: a line exceeded the cap
        self._tail = b""
        self._growing: BytesIO | None = None  # a tail that takes several reads; its value becomes the line uncopied
        self._grown = 0  # bytes in it
        self._uncut = b""  # a read that is only partly split ...
        self._at = 0  # ... up to here

    def begin(self, data: bytes) -> list[bytes]:
        """The first portion of the complete lines, as from `split`; `more` returns the others."""
        if len(data) <= self.portion:
            return self.split(data)
        self._uncut = data
        self._at = 0
        return self.more()

    def more(self) -> list[bytes]:
        """The next portion of lines of the current read."""
        data = self._uncut
        at = self._at
        bound = at + self.portion
        size = len(data)
        end = size
        if bound < size:
            end = data.rfind(b"\n", at, bound) + 1 or data.find(b"\n", bound) + 1 or size
        if end < size:
            self._at = end
        else:
            self._uncut = b""
            self._at = 0
        return self.split(data[at:end])

    def uncut(self) -> int:
        """The number of bytes of the current read that are not split yet."""
        return len(self._uncut) - self._at

    def split(self, data: bytes) -> list[bytes]:
        """The lines that are complete now, without their LF.

        A line longer than the cap, finished or not, ends the input, wherever the reads were cut: the lines before it
        are returned, the rest is dropped, and `fault` is set.
        """
        if b"\n" not in data:
            self._hold(data)
            return []
        if self._growing is not None:
            return self._finish(self._growing, data)
        if self._tail:
            data = self._tail + data
        lines = data.split(b"\n")
        self._tail = lines.pop()
        if len(data) > self.size_max:
            return self._up_to_overlong(lines)
        return lines

    def _finish(self, growing: BytesIO, data: bytes) -> list[bytes]:
        """The same for a line that took several reads: it may be large."""
        self._growing = None
        end = data.index(b"\n")
        if not self._dropped:
            growing.write(data[:end])
        line = growing.getvalue()
        lines = data[end + 1 :].split(b"\n")
        self._tail = lines.pop()
        lines.insert(0, line)
        if self._dropped:
            self.beginning = line
            self.whole_size = len(line) + self._dropped + end
            self._dropped = 0
            if self.whole_size > self.size_max:
                self._give_up(self.whole_size)
                return []
        return self._up_to_overlong(lines) if len(line) + len(data) > self.size_max else lines

    def _up_to_overlong(self, lines: list[bytes]) -> list[bytes]:
        for place, line in enumerate(lines):
            if len(line) > self.size_max:
                self._give_up(len(line))
                return lines[:place]
        if len(self._tail) > self.size_max:
            self._give_up(len(self._tail))
        return lines

    def _give_up(self, size: int) -> None:
        self._tail = b""
        self._growing = None
        self._dropped = 0
        self._uncut = b""
        self._at = 0
        self.fault = f"line of {size} bytes: line_size_max is {self.size_max}"

    def pending(self) -> int:
        """The number of bytes kept of an unfinished line."""
        return len(self._tail) if self._growing is None else self._grown

    def first_byte(self) -> int:
        """The first byte of an unfinished line; -1 if there is none."""
        growing = self._growing
        if growing is None:
            return self._tail[0] if self._tail else -1
        return growing.getbuffer()[0] if self._grown else -1

    def take_rest(self) -> bytes:
        """Remove and return the unfinished line."""
        rest = self._tail if self._growing is None else self._growing.getvalue()
        self._tail = b""
        self._growing = None
        self._dropped = 0
        return rest

    def _hold(self, data: bytes) -> None:
        growing = self._growing
        if growing is None:
            growing = BytesIO()
            self._growing = growing
            self._grown = growing.write(self._tail)
            self._tail = b""
        if self._dropped:
            self._dropped += len(data)
        else:
            self._grown += growing.write(data)
        if self._grown + self._dropped > self.size_max:
            self._give_up(self._grown + self._dropped)
        elif self._grown > self.kept_max:
            self._dropped = self._grown - HEAD
            growing.truncate(HEAD)
            self._grown = HEAD


def may_begin_text(head: bytes) -> bool:
    """False if no line of UTF-8 text starts with this byte."""
    return not head or 32 <= head[0] < 128 or 194 <= head[0] <= 244


def looks_like_http(first_line: bytes) -> bool:
    """True for the first line of an HTTP request, which a web page may have made a browser send here."""
    return first_line.startswith(_HTTP_METHODS) and b" HTTP/" in first_line[-12:]
