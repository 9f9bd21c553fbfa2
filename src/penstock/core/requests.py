"""Requests whose reply somebody waits for. They stay in memory until they are answered, so their bytes are limited."""

from penstock.core.places import GREED_OF_BYTES, Places
from penstock.errors import OVER_LIMIT, Refused
from penstock.message import Message


class Requests:
    def __init__(self, bytes_max: int) -> None:
        self.waiting: dict[bytes, Message] = {}  # by message id
        self._bytes = Places(bytes_max, GREED_OF_BYTES)
        self._holders: dict[bytes, str] = {}  # the user or address charged for a request, by message id

    def check(self, message: Message, holder: str) -> None:
        """Check that the request fits; raises Refused. One request is always accepted, however large."""
        if self._bytes.taken and not self._bytes.has_room(holder, message.size):
            why = self._bytes.why_full(holder, "bytes for requests without a reply")
            raise Refused(OVER_LIMIT, f"{why}: the limit is a quarter of memory_bytes_max")

    def add(self, message: Message, holder: str) -> None:
        self.waiting[message.id] = message
        self._holders[message.id] = holder
        self._bytes.enter(holder, message.size)

    def take(self, id: bytes) -> Message | None:
        """Remove and return a request; None if nobody waits for its reply."""
        message = self.waiting.pop(id, None)
        if message is not None:
            self._bytes.leave(self._holders.pop(id), message.size)
        return message
