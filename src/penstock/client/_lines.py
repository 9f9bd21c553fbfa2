"""Reads to lines: a line that comes in many reads is put together once."""

from penstock.client.errors import BadReply

LINE_SIZE_MAX = 256 << 20  # no server of ours sends more; what does is not worth the memory


class LineSplitter:
    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_size = 0

    def split(self, data: bytes) -> list[bytes]:
        """The lines that are complete now, without their ends."""
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
