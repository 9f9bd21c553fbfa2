"""Splits received bytes into lines. A line that spans many reads is joined only once."""

from penstock.client.errors import BadReply

LINE_SIZE_MAX = 256 << 20  # Penstock sends no longer lines; do not buffer more for another server


class LineSplitter:
    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_size = 0

    def split(self, data: bytes) -> list[bytes]:
        """Return the lines that are now complete, without line ends."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self._rest:
            self._rest.append(lines[0])
            lines[0] = b"".join(self._rest)
            self.clear()
        if rest:
            self._rest.append(rest)
            self._rest_size += len(rest)
            if self._rest_size > LINE_SIZE_MAX:
                raise BadReply(f"a line of more than {LINE_SIZE_MAX} bytes")
        return lines

    def clear(self) -> None:
        self._rest.clear()
        self._rest_size = 0
