"""Logs on disk for Spark to read."""

from pathlib import Path

from tests.storage.histories import write_out

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.subscription import Inbox
from penstock.message import Message
from penstock.storage.durable import DurableLog

NOON = 1_763_208_000_000_000  # 2025-11-15 12:00:00 UTC, in microseconds


class WrittenLog:
    """A broker that writes to a directory when told so; no process, no sockets."""

    def __init__(self, directory: Path, segment_bytes_max: int = 1 << 16) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.log = DurableLog(segment_bytes_max)
        self.broker = Broker(self.log, Limits())
        self.count = 0
        self.now = NOON  # the broker's clock: a second goes by with each message

    def publish(self, event: str, *bodies: bytes, headers: dict[bytes, bytes] | None = None) -> None:
        """One block; each message a second after the one before."""
        for body in bodies:
            self.broker.publish(self._message(event, body, headers))
        write_out(self.log, self.directory, self.now)

    def put(self, queue: str, *bodies: bytes) -> None:
        for body in bodies:
            self.broker.put(queue.encode(), self._message(queue, body, None))
        write_out(self.log, self.directory, self.now)

    def accept(self, queue: str, count: int) -> None:
        inbox = Inbox(manual=True, credit=count)
        self.broker.subscribe(queue.encode(), inbox, None, 0)
        for delivery in inbox.deliveries[:count]:
            self.broker.accept(delivery)
        self.broker.cancel(inbox, 0)
        write_out(self.log, self.directory, self.now)

    def _message(self, event: str, body: bytes, headers: dict[bytes, bytes] | None) -> Message:
        number = self.count
        self.count += 1
        message = Message(b"m%d" % number, event.encode(), body, self.now, "mqks", headers)
        self.now += 1_000_000
        return message
