"""One consumer of one queue, and what it holds.

A subscription is *waiting* when it may be given a message right now: it is active, its connection takes bytes, and it
has credit left. Only waiting subscriptions stand in their queue's line, so giving a message away never searches.
Credit counts messages and their bytes: whoever holds as much as it may of either is given no more. While memory is
short, a message that is not in memory is read for those only who hold none (`queue.Queue.pump`).

    parked ──promote──► active ──► waiting ◄──► full (no credit left), or held up (memory is short)
                           │           ▲
                           └─ suspend ─┴─ resume   (the connection's outbox is full, or the peer stopped answering)
"""

from typing import TYPE_CHECKING, Final

from penstock.message import Message, Requester, Terms

if TYPE_CHECKING:
    from penstock.core.queue import Queue

PRIORITY_NORMAL: Final = 20
BYTES_CREDIT_DEFAULT: Final = 1 << 62  # until the broker says how much it is


class Delivery:
    """A message in the hands of a consumer that still has to say how it ends.

    `bound` and `serial` are its place in the queue (see `queue.Redelivery`), kept so that it can go back there. Where
    memory is short, `message` is let go of once the consumer has its bytes and the log can give it back: whoever needs
    it asks the queue.
    """

    def __init__(self, message: Message, subscription: "Subscription", retry: int, bound: int, serial: int) -> None:
        self.message: Message | None = message
        self.offset = message.offset
        self.size = message.size  # what it costs in memory, or would
        self.subscription = subscription
        self.retry = retry
        self.bound = bound
        self.serial = serial
        self.open = True
        self.older: Delivery | None = None
        self.newer: Delivery | None = None
        # Of a message that was let go of:
        self.terms: Terms | None = None
        self.published_at = 0


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
        self.name = name  # the consumer's id in its own dialect, for people who look
        self.manual = manual  # deliveries must be settled; otherwise delivered is done
        self.credit = credit  # how many deliveries may be open at once; 0 = the broker's limit
        self.priority = priority
        self.exclusive = exclusive
        self.queue: Queue | None = None  # set while subscribed
        self.active = False
        self.suspended = False
        self.waiting = False
        self.in_flight = 0
        self.bytes = 0  # of what it holds, in memory or not, overhead included
        self.bytes_credit = BYTES_CREDIT_DEFAULT  # with so many of them it is given no more
        self.oldest: Delivery | None = None
        self.newest: Delivery | None = None
        self.holder = ""  # whose it is: a user or, where there are none, an address

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        """Take a message; False when the connection wants no more for now.

        Must not call back into the broker: the queue is in the middle of its work.
        """
        raise NotImplementedError

    def has_room(self) -> bool:
        """Whether its connection can take one more, which it may share with other consumers."""
        return True

    def broadcast(self, message: Message) -> bool:
        """Take a message that no queue keeps and nobody settles."""
        return self.deliver(message, 0, None)

    def activated(self) -> None:
        """A parked subscription became active; nothing has been delivered yet."""

    def ended(self) -> None:
        """The queue was deleted under it; nothing more will come."""

    def failed(self, error: Exception) -> None:
        """One of the above raised this. It is given nothing more, and should end as soon as the broker is done.

        Who has a client to blame for it does not pass it on.
        """
        raise error

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
        """All open deliveries end at once, as their queue does; which messages they have in memory."""
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
        """The open deliveries that came last, at most so many, newest first."""
        found: list[Delivery] = []
        delivery = self.newest
        while delivery is not None and len(found) < count:
            found.append(delivery)
            delivery = delivery.older
        return found


class Basket(Subscription):
    """Takes messages up to so many bytes, at least one, and remembers which: for answers of a bounded size."""

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

    def is_full(self) -> bool:
        """Whether the bytes were the limit."""
        return self.size >= self.bytes_max


class Inbox(Subscription):
    """A subscription that keeps what it is given in a list: for looking at deliveries from inside the process."""

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
        self.is_full = False  # it has no room
        self.over = False
        self.fails_with: Exception | None = None  # what it raises when it is given a message
        self.failure: Exception | None = None  # what it was taken off for

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
    """A requester that keeps what it is told in a list: for looking at requests from inside the process."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes]] = []  # delivered; replied and the body; undelivered and the reason

    def delivered(self, message: Message) -> None:
        self.told.append(("delivered", b""))

    def replied(self, message: Message, body: bytes) -> None:
        self.told.append(("replied", body))

    def undelivered(self, message: Message, reason: str) -> None:
        self.told.append(("undelivered", reason.encode()))
