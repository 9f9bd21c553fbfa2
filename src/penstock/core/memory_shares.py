"""How the memory limit is divided among what takes memory."""

from typing import Final

MIB: Final = 1 << 20


class Shares:
    """How `memory_bytes_max` is divided. Above the fixed maxima more memory gains no speed."""

    def __init__(self, memory_bytes_max: int) -> None:
        whole = memory_bytes_max
        self.behind = _share(whole, 8, 64 * MIB)  # blocks waiting for the disk; above it publishers wait
        self.blocks = _share(whole, 16, 32 * MIB)  # cache of blocks read back
        self.block = _share(whole, 32, 8 * MIB)  # one block of the log
        self.head = _share(whole, 16, 8 * MIB)  # the first messages of one queue
        self.incoming = _share(whole, 8, 256 * MIB)  # incomplete requests of all connections
        self.outgoing = _share(whole, 8, 256 * MIB)  # unsent output of all connections
        self.held = _share(whole, 2, whole)  # un-acked messages in memory; above it their holders get no more
        self.intake = _share(whole, 4, 256 * MIB)  # HTTP request bodies being read
        self.answer = _share(whole, 16, 64 * MIB)  # messages in one HTTP response
        self.staged = _share(whole, 4, 256 * MIB)  # messages waiting for their commit
        self.commit = _share(whole, 8, 128 * MIB)  # one commit, which is one block
        self.kept = _share(whole, 8, 128 * MIB)  # free memory not returned to the system
        self.own_mapping = _share(whole, 64, 32 * MIB)  # allocations from this size on are mapped separately


def _share(whole: int, part: int, most: int) -> int:
    return max(1, min(whole // part, most))
