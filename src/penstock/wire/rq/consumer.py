"""A node's consumer of one queue: deliveries become commands."""

from typing import TYPE_CHECKING, Final

from penstock.core.delivery import Delivery
from penstock.core.subscription import Subscription
from penstock.message import INTERNAL_PREFIX, Message
from penstock.wire.rq.codec import (
    BROADCAST_END,
    NONE,
    Fields,
    encode_head_by_id,
    encode_head_by_name,
    encode_request_tail,
)
from penstock.wire.rq.delivery_ids import IDS_MAX
from penstock.wire.rq.queue_ids import NO_QUEUE_ID
from penstock.wire.rq.states import STARTING

if TYPE_CHECKING:
    from penstock.wire.rq.session import RqSession

PROTOCOL: Final = "rq"
NOREPLY_HEADER: Final = INTERNAL_PREFIX + b"rq-noreply"

# The original client crashes on an empty PAYLOAD in a request, and so would the next one to get the message. A body
# from another protocol may be empty; it is sent as a C string terminator.
EMPTY_BODY: Final = b"\0"


class Consumer(Subscription):
    """A node's consumer of one queue."""

    def __init__(self, session: "RqSession", queue: bytes, queue_id: int, exclusive: bool) -> None:
        super().__init__(b"%b/%b" % (session.peer.encode(), queue), manual=True, exclusive=exclusive)
        self.session = session
        self.holder = session.holder
        self.queue_name = queue
        self.queue_id = queue_id
        self.head = encode_head_by_name(queue) if queue_id == NO_QUEUE_ID else encode_head_by_id(queue_id)
        self.max = 0
        self.state = STARTING
        self.announced = False  # its CONSUMING was sent

    def name_queue(self) -> None:
        """Send its requests with QUEUE instead of QUEUEID."""
        self.head = encode_head_by_name(self.queue_name)

    def allow(self, fields: Fields) -> None:
        """Take MAX and PRIORITY from a CONSUME."""
        self.max = max(fields.max, 0)
        self.priority = fields.band()

    def limit(self, unacked_max: int) -> None:
        """Set its credit: 0 in band NONE, which gets broadcasts only."""
        if self.priority == NONE:
            self.credit = 0
        else:
            self.credit = min(self.max or IDS_MAX, IDS_MAX, unacked_max)

    def has_room(self) -> bool:
        return self.session.has_room()

    def deliver(self, message: Message, retry: int, delivery: Delivery | None) -> bool:
        assert delivery is not None
        session = self.session
        noreply = is_noreply(message)
        id = session.ids.assign(delivery, noreply)
        self._write(message.body or EMPTY_BODY, encode_request_tail(id, noreply))
        return session.has_room()

    def broadcast(self, message: Message) -> bool:
        session = self.session
        if session.hub.options.rq_broadcast_as_request:
            self._write(message.body, encode_request_tail(session.ids.assign(None, True), True))
        else:
            self._write(message.body, BROADCAST_END)
        return session.has_room()

    def _write(self, body: bytes, tail: bytes) -> None:
        session = self.session
        if len(session.outbox) == 0:
            session.hub.dirty.append(session)
        size = len(body)
        outbox = session.outbox
        outbox.write(self.head)
        outbox.write(size.to_bytes(4, "big"))
        outbox.write(body)
        outbox.write(tail)

    def activated(self) -> None:
        self.session.consumers.activated(self)

    def ended(self) -> None:
        self.session.consumers.ended(self)

    def failed(self, error: Exception) -> None:
        self.session.broke(error)


def is_noreply(message: Message) -> bool:
    """Whether the consumer should answer DELIVERED only: NOREPLY was set, or nobody waits for a reply."""
    if message.protocol == PROTOCOL:
        # Even if its requester has disconnected: a redelivery is the same as the first delivery.
        headers = message.headers
        return headers is not None and NOREPLY_HEADER in headers
    return message.requester is None
