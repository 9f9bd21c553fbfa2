"""Writers that commit batches, and the last batch of each.

A writer is remembered for as long as it may retry a batch that was committed already: until it has not committed for a
configured time, or says that it is done. No writer is forgotten to make room for another: when there are too many, the
new one is refused. Commit times are logged, and so is the forgetting of a writer.
"""

from penstock.core.limits import Limits
from penstock.errors import OVER_LIMIT, Refused


def owner_of(writer: bytes) -> bytes:
    """The user that a writer belongs to, whose name is before a NUL; empty if users have no names."""
    user, separator, _ = writer.partition(b"\0")
    return user if separator else b""


class Writers:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.batches: dict[bytes, int] = {}  # the last batch number by writer, the most recent writer last
        self.times: dict[bytes, int] = {}  # when that was, in the same order
        self._counts: dict[bytes, int] = {}  # number of writers by owner

    def remember(self, writer: bytes, batch: int, at: int) -> None:
        if writer in self.batches:
            del self.batches[writer]
            del self.times[writer]
        else:
            owner = owner_of(writer)
            self._counts[owner] = self._counts.get(owner, 0) + 1
        self.batches[writer] = batch
        self.times[writer] = at

    def forget(self, writer: bytes) -> bool:
        """Remove a writer; False when it was not known."""
        if self.batches.pop(writer, None) is None:
            return False
        del self.times[writer]
        owner = owner_of(writer)
        left = self._counts[owner] - 1
        if left:
            self._counts[owner] = left
        else:
            del self._counts[owner]
        return True

    def idle(self, now: int) -> list[bytes]:
        """Up to 1000 writers that have not committed for too long, the oldest first."""
        before = now - self.limits.writer_seconds * 1_000_000
        found: list[bytes] = []
        for writer, at in self.times.items():
            if at > before or len(found) >= 1000:
                break
            found.append(writer)
        return found

    def check_new(self, writer: bytes) -> None:
        """Check that one more writer fits. Raises Refused."""
        limits = self.limits
        if writer in self.batches:
            return
        if len(self.batches) >= limits.writers_max:
            raise Refused(OVER_LIMIT, f"there are {len(self.batches)} writers: writers_max is {limits.writers_max}")
        owner = owner_of(writer)
        count = self._counts.get(owner, 0)
        if count >= limits.writers_per_user_max:
            who = f"user {owner.decode('utf-8', 'backslashreplace')!r} has" if owner else "there are"
            raise Refused(
                OVER_LIMIT,
                f"{who} {count} writers: writers_per_user_max is {limits.writers_per_user_max}; "
                "forget those that are done",
            )

    def restore(self, batches: dict[bytes, int], times: dict[bytes, int]) -> None:
        for writer, batch in batches.items():
            self.remember(writer, batch, times[writer])
