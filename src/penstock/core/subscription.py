"""One consumer of one queue, and its unacked messages.

A subscription is *waiting* when it can take a message right now: it is active, its connection accepts bytes, and it has
credit left. A queue's line contains only waiting subscriptions, so delivering a message never searches. Credit counts
messages and their bytes: a consumer at the limit of either gets no more. While memory is short, a message that is not
in memory is read only for consumers that hold none (`queue.Queue.pump`).

    parked ──promote──► active ──► waiting ◄──► full (no credit left), or held up (memory is short)
                           │           ▲
                           └─ suspend ─┴─ resume   (the connection's outbox is full, or the peer stopped answering)
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from penstock.core.delivery import Delivery
from penstock.message import Message, Requester

if TYPE_CHECKING:
    from penstock.core.queue import Queue

PRIORITY_NORMAL: Final = 20
BYTES_CREDIT_DEFAULT: Final = 1 << 62  # until the broker sets it


class Subscription:
    """Subclassed by each protocol's session: `deliver` turns a message into that protocol's bytes."""

    def __init__(
        self,
        name: bytes,
        manual: bool = False,
        credit: int = 0,
        priority: int = PRIORITY_NORMAL,
        exclusive: bool = False,
    ) -> None:
        self.name = name  # the consumer's id in its own protocol, for display
        self.manual = manual  # deliveries must be acked; otherwise a delivery counts as acked
        self.credit = credit  # how many unacked deliveries are allowed; 0 = the broker's limit
        self.priority = priority
        self.exclusive = exclusive
        self.queue: Queue | None = None  # set while subscribed
        self.active = False
        self.suspended = False
        self.waiting = False
        self.in_flight = 0
        self.bytes = 0  # of unacked messages, in memory or not, overhead included
        self.bytes_credit = BYTES_CREDIT_DEFAULT  # it gets no more messages once it holds this many bytes
        self.oldest: Delivery | None = None
        self.newest: Delivery | None = None
        self.holder = ""  # its user, or its address if there are no users

    @abstractmethod
    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        """Take a message; False when the connection wants no more for now.

        Must not call back into the broker: the queue is in the middle of its work.
        """
        raise NotImplementedError

    def has_room(self) -> bool:
        """Whether its connection, which it may share with other consumers, can take one more message."""
        return True

    def broadcast(self, message: Message) -> bool:
        """Take a message that no queue keeps and that is not acked."""
        return self.deliver(message, 0, None)

    def activated(self) -> None:
        """A parked subscription became active; nothing has been delivered yet."""

    def ended(self) -> None:
        """The queue was deleted; no more messages follow."""

    @abstractmethod
    def failed(self, error: Exception) -> None:
        """One of the above raised this. It gets nothing more, and should end as soon as the broker is done.

        A consumer whose client is to blame must not raise: what leaves this method ends the broker.
        """
        raise NotImplementedError

    def hold(self, delivery: Delivery) -> None:
        last = self.newest
        if last is None:
            self.oldest = delivery
        else:
            last.newer = delivery
            delivery.older = last
        self.newest = delivery
        self.in_flight += 1
        self.bytes += delivery.size

    def let_go(self, delivery: Delivery) -> None:
        older = delivery.older
        newer = delivery.newer
        if older is None:
            self.oldest = newer
        else:
            older.newer = newer
        if newer is None:
            self.newest = older
        else:
            newer.older = older
        delivery.older = None
        delivery.newer = None
        delivery.open = False
        self.in_flight -= 1
        self.bytes -= delivery.size

    def let_go_of_all(self) -> list[Message]:
        """Close all deliveries because the queue ends; returns the messages they have in memory."""
        found: list[Message] = []
        delivery = self.oldest
        while delivery is not None:
            if delivery.message is not None:
                found.append(delivery.message)
            newer = delivery.newer
            delivery.older = None
            delivery.newer = None
            delivery.open = False
            delivery = newer
        self.oldest = None
        self.newest = None
        self.in_flight = 0
        self.bytes = 0
        return found

    def held(self) -> list[Delivery]:
        """The open deliveries, oldest first."""
        found: list[Delivery] = []
        delivery = self.oldest
        while delivery is not None:
            found.append(delivery)
            delivery = delivery.newer
        return found

    def held_last(self, count: int) -> list[Delivery]:
        """Up to `count` open deliveries, newest first."""
        found: list[Delivery] = []
        delivery = self.newest
        while delivery is not None and len(found) < count:
            found.append(delivery)
            delivery = delivery.older
        return found


class Basket(Subscription):
    """Takes messages up to a number of bytes, at least one, and remembers them: for responses of bounded size."""

    def __init__(self, name: bytes, credit: int, bytes_max: int) -> None:
        super().__init__(name, manual=True, credit=credit)
        self.deliveries: list[Delivery] = []
        self.size = 0  # bytes, overhead and headers included
        self.bytes_max = bytes_max

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        if delivery is not None:
            self.deliveries.append(delivery)
        self.size += message.size
        return self.size < self.bytes_max

    def failed(self, error: Exception) -> None:
        raise error  # no client's doing

    def is_full(self) -> bool:
        """Whether the byte limit was reached."""
        return self.size >= self.bytes_max


class Inbox(Subscription):
    """A subscription that collects deliveries in a list, for use inside the process."""

    def __init__(
        self,
        name: bytes = b"",
        manual: bool = False,
        credit: int = 0,
        priority: int = PRIORITY_NORMAL,
        exclusive: bool = False,
    ) -> None:
        super().__init__(name, manual, credit, priority, exclusive)
        self.received: list[tuple[Message, int]] = []
        self.deliveries: list[Delivery] = []
        self.takes_more = True
        self.is_full = False  # makes `has_room` return False
        self.over = False
        self.fails_with: Exception | None = None  # raised when a message is delivered
        self.failure: Exception | None = None  # the error passed to `failed`

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        if self.fails_with is not None:
            raise self.fails_with
        self.received.append((message, retry))
        if delivery is not None:
            self.deliveries.append(delivery)
        return self.takes_more

    def has_room(self) -> bool:
        return not self.is_full

    def ended(self) -> None:
        self.over = True

    def failed(self, error: Exception) -> None:
        self.failure = error


class Waiter(Requester):
    """A requester that collects its notifications in a list, for use inside the process."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes]] = []  # delivered; replied and the body; undelivered and the reason

    def delivered(self, message: Message) -> None:
        self.told.append(("delivered", b""))

    def replied(self, message: Message, body: bytes) -> None:
        self.told.append(("replied", body))

    def undelivered(self, message: Message, reason: str) -> None:
        self.told.append(("undelivered", reason.encode()))
