"""The Message, one object shared by every queue it went to.

Names, ids and bodies are bytes: protocols may put anything into them, and nothing is decoded on the way through.
"""

from typing import Final

from mypy_extensions import mypyc_attr

# How a message is routed.
BY_EVENT: Final = 0  # a copy to every queue bound to the event or matching by pattern
TO_QUEUE: Final = 1  # to one queue by name; `event` is that name, unless `DeliveryOptions.target` is another
TO_CONSUMERS: Final = 2  # to the consumers of that queue at that moment; no queue keeps it

# How a delivery ends.
ACCEPT: Final = 0  # acked, forget it
REJECT: Final = 1  # to the back of the queue, retry + 1
RETURN: Final = 2  # back to its old place, retry + 1: the consumer went away without settling it
DROP: Final = 3  # given up by the queue, and not dead-lettered
RELEASE: Final = 4  # back to its old place as if never delivered: the consumer never saw it
DUE: Final = 5  # a delayed message is due: to the back of the queue, no try counted
DEAD: Final = 6  # went to the dead-letter queue
EXPIRE: Final = 7  # its time to live was over before it was consumed
MOVE: Final = 8  # redriven or moved to another queue

GOING_BACK: Final = (REJECT, RETURN, DUE)  # after these the message is still owed

OUT: Final = 9  # settles nothing: all that the queue owes before this message's place is unacked

SETTLEMENT_NAMES: Final = ("accept", "reject", "return", "drop", "release", "due", "dead", "expire", "move", "out")

# Memory per message beyond its bytes: the object, its id and event, its place in a queue. Measured, rounded up.
MESSAGE_OVERHEAD: Final = 256

# The same for each header: two strings, and their entry in a dict.
HEADER_OVERHEAD: Final = 128

# Instead of a number of queues: the message went to at most one, so its bytes are not shared.
UNSHARED: Final = -1

# A header whose name starts with this belongs to the protocol it came from, and is not shown to clients.
INTERNAL_PREFIX: Final = b"."

# Whether a message fits into one line of text; computed once, by the first line protocol that needs it.
LINE_UNKNOWN: Final = 0
LINE_SAFE: Final = 1
LINE_UNSAFE: Final = 2


class Requester:
    """Waits for the outcome of a request: told once that it was delivered, then once of its reply or failure."""

    def delivered(self, message: "Message") -> None:
        raise NotImplementedError

    def replied(self, message: "Message", body: bytes) -> None:
        raise NotImplementedError

    def undelivered(self, message: "Message", reason: str) -> None:
        raise NotImplementedError

    def failed(self, error: Exception) -> None:
        """One of the above raised this. It is told nothing more; if a client is to blame, do not re-raise it."""
        raise error


# A reply is published to this prefix followed by the request's message id. Anyone who received the request may reply.
REPLY_PREFIX: Final = b"reply/"


class DeliveryOptions:
    """Options beyond plain delivery; most messages have none. Times are microseconds since 1970."""

    def __init__(
        self,
        due_at: int = 0,
        expires_at: int = 0,
        deliveries_max: int = 0,
        dedup_seconds: int = 0,
        target: bytes = b"",
        owner: bytes = b"",
    ) -> None:
        self.due_at = due_at  # earliest delivery; 0 = at once
        self.expires_at = expires_at  # not delivered from then on; 0 = never expires
        self.deliveries_max = deliveries_max  # how often it may be tried; 0 = unlimited
        self.dedup_seconds = dedup_seconds  # how long a message with the same id counts as a duplicate; 0 = never
        self.target = target  # the queue it goes to, if its name is not the event
        self.owner = owner  # the user who published it, for deduplication; empty if users have no names

    def __repr__(self) -> str:
        return (
            f"<DeliveryOptions due_at={self.due_at} expires_at={self.expires_at} deliveries_max={self.deliveries_max} "
            f"dedup_seconds={self.dedup_seconds} target={self.target!r} owner={self.owner!r}>"
        )


@mypyc_attr(free_list_len=1)
class Message:
    """One accepted message. Id, body, headers and publish time never change; the rest is set as it is processed."""

    def __init__(
        self,
        id: bytes,
        event: bytes,
        body: bytes,
        published_at: int,
        protocol: str,
        headers: dict[bytes, bytes] | None = None,
    ) -> None:
        self.id = id
        self.event = event
        self.body = body
        self.published_at = published_at  # microseconds since 1970
        self.protocol = protocol  # the protocol it was published over
        self.headers = headers
        self.size = len(body) + MESSAGE_OVERHEAD  # its size in memory, headers included
        if headers is not None:
            self.size += size_of_headers(headers)
        self.holders = UNSHARED  # if it went to several queues: how many have it in memory; `core.context` counts
        self.route = BY_EVENT
        self.offset = -1  # assigned by the log
        self.options: DeliveryOptions | None = None
        self.requester: Requester | None = None  # not logged: a reply goes only to an open connection
        self.revoked = False  # given up by its requester; queues drop it when they reach it
        self.line_fit = LINE_UNKNOWN
        # What patterns match against; set while the message is routed, by a session that has parsed the body already.
        self.document: dict[str, object] | None = None

    def __repr__(self) -> str:
        return f"<Message {self.id!r} event={self.event!r} {len(self.body)} bytes offset={self.offset}>"


def size_of_headers(headers: dict[bytes, bytes]) -> int:
    """Memory taken by headers."""
    size = 0
    for name, value in headers.items():
        size += len(name) + len(value) + HEADER_OVERHEAD
    return size


def payload_size(message: Message) -> int:
    """Bytes that the client sent with it: the body and the headers."""
    size = len(message.body)
    if message.headers is not None:
        for name, value in message.headers.items():
            size += len(name) + len(value)
    return size


def queue_of(message: Message) -> bytes:
    """The queue that a TO_QUEUE message goes to."""
    options = message.options
    return options.target if options is not None and options.target else message.event


def is_delayed(message: Message) -> bool:
    """True when the message was published with a delay, whether or not it is due by now."""
    options = message.options
    return options is not None and options.due_at > message.published_at


def fits_one_line(message: Message) -> bool:
    """True when id, event and body can be put on one line, separated by spaces, and be read back unchanged.

    Peers strip the end of a line, so a body must not end in white space; NUL is refused because some of them are
    written in C. The event is part of a property list, so it must not contain a comma.
    """
    if message.line_fit == LINE_UNKNOWN:
        body = message.body
        event = message.event
        safe = is_word(message.id) and is_word(event) and not (body and body[-1] <= 32)
        # Bytes are searched by number: searching for a one-byte string is ten times as slow.
        if safe and 10 not in body and 13 not in body and 0 not in body and 44 not in event:
            message.line_fit = LINE_SAFE
        else:
            message.line_fit = LINE_UNSAFE
    return message.line_fit == LINE_SAFE


def is_word(name: bytes) -> bool:
    """True when the name is not empty and holds neither white space nor NUL."""
    return len(name.split()) == 1 and name.strip() == name and 0 not in name


def tell_delivered(message: Message) -> None:
    """Tell the requester, if there is one; its errors do not reach the caller unless it re-raises them."""
    requester = message.requester
    if requester is not None:
        try:
            requester.delivered(message)
        except Exception as error:
            message.requester = None
            requester.failed(error)


def tell_undelivered(message: Message, reason: str) -> None:
    requester = message.requester
    if requester is not None:
        try:
            requester.undelivered(message, reason)
        except Exception as error:
            message.requester = None
            requester.failed(error)
