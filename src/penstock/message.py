"""What is carried: one Message, shared by every queue it went to.

Names, ids and bodies are bytes: the protocols may put anything into them, and nothing is decoded on the way through.
"""

from typing import Final

from mypy_extensions import mypyc_attr

# How a message found its queues.
BY_EVENT: Final = 0  # a copy for every queue bound to the event or matching by pattern
TO_QUEUE: Final = 1  # to one queue by name; `event` is that name, unless `Terms.target` is another
TO_CONSUMERS: Final = 2  # to whoever consumed that queue at that moment; no queue keeps it

# How a delivery ends.
ACCEPT: Final = 0  # done, forget it
REJECT: Final = 1  # to the back of the queue, retry + 1
RETURN: Final = 2  # back to its old place, retry + 1: the consumer went away without an answer
DROP: Final = 3  # the queue's limit gave it up
RELEASE: Final = 4  # back to its old place as if never delivered: the consumer never saw it
DUE: Final = 5  # the time it was put off to has come: to the back of the queue, no try counted
DEAD: Final = 6  # went to the dead-letter queue
EXPIRE: Final = 7  # its time was over before anybody took it
MOVE: Final = 8  # went on to another queue: it was redriven

GOING_BACK: Final = (REJECT, RETURN, DUE)  # after these the message is still owed

OUT: Final = 9  # ends nothing: all that the queue owes before this message's place is in the hands of consumers

SETTLEMENT_NAMES: Final = ("accept", "reject", "return", "drop", "release", "due", "dead", "expire", "move", "out")

# What a message costs beyond its bytes: the object, its id and event, its place in a queue. Measured, rounded up.
MESSAGE_OVERHEAD: Final = 256

# The same for each header: two texts, and their place in a table.
HEADER_OVERHEAD: Final = 128

# Instead of a number of queues: the message went to one at most, so nobody shares its bytes.
UNSHARED: Final = -1

# A header whose name begins so belongs to the protocol it came by, and is shown to nobody.
INTERNAL_PREFIX: Final = b"."

# Whether a message fits into one line of text; worked out once, by the first line protocol that needs to know.
LINE_UNKNOWN: Final = 0
LINE_SAFE: Final = 1
LINE_UNSAFE: Final = 2


class Requester:
    """Whoever waits for the fate of a request: told once that it was delivered, then once of its reply or failure."""

    def delivered(self, message: "Message") -> None:
        raise NotImplementedError

    def replied(self, message: "Message", body: bytes) -> None:
        raise NotImplementedError

    def undelivered(self, message: "Message", reason: str) -> None:
        raise NotImplementedError

    def failed(self, error: Exception) -> None:
        """One of the above raised this. It is told nothing more; if a client is to blame, do not pass it on."""
        raise error


class Terms:
    """What was asked for beyond plain delivery; most messages have none. Times are microseconds since 1970."""

    def __init__(
        self,
        due_at: int = 0,
        expires_at: int = 0,
        deliveries_max: int = 0,
        dedup_seconds: int = 0,
        target: bytes = b"",
        owner: bytes = b"",
    ) -> None:
        self.due_at = due_at  # not to be delivered before; 0 = at once
        self.expires_at = expires_at  # not to be delivered from then on; 0 = for ever
        self.deliveries_max = deliveries_max  # how often it may be tried; 0 = as often as it takes
        self.dedup_seconds = dedup_seconds  # how long another one with its id is taken for the same; 0 = not at all
        self.target = target  # the queue it goes to, where that is not called like its event
        self.owner = owner  # the user whose id it is, for deduplication; empty where users have no names

    def __repr__(self) -> str:
        return (
            f"<Terms due_at={self.due_at} expires_at={self.expires_at} deliveries_max={self.deliveries_max} "
            f"dedup_seconds={self.dedup_seconds} target={self.target!r} owner={self.owner!r}>"
        )


@mypyc_attr(free_list_len=1)
class Message:
    """One accepted message. Nothing but `offset` and the caches at the end changes after it was made."""

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
        self.protocol = protocol  # which door it came in by
        self.headers = headers
        self.size = len(body) + MESSAGE_OVERHEAD  # what it costs in memory, headers included
        if headers is not None:
            self.size += size_of_headers(headers)
        self.holders = UNSHARED  # of one that went to several queues: in how many it is in memory; `core.usage` counts
        self.route = BY_EVENT
        self.offset = -1  # given by the log
        self.terms: Terms | None = None
        self.requester: Requester | None = None  # not logged: a reply is owed to a living connection only
        self.revoked = False  # given up by its requester; queues drop it when they meet it
        self.line_fit = LINE_UNKNOWN
        # What patterns look at; set while the message is routed, by whoever has parsed its body already.
        self.document: dict[str, object] | None = None

    def __repr__(self) -> str:
        return f"<Message {self.id!r} event={self.event!r} {len(self.body)} bytes offset={self.offset}>"


def size_of_headers(headers: dict[bytes, bytes]) -> int:
    """What headers cost in memory."""
    size = 0
    for name, value in headers.items():
        size += len(name) + len(value) + HEADER_OVERHEAD
    return size


def payload_size(message: Message) -> int:
    """How many bytes a client has handed over with it: the body and the headers."""
    size = len(message.body)
    if message.headers is not None:
        for name, value in message.headers.items():
            size += len(name) + len(value)
    return size


def queue_of(message: Message) -> bytes:
    """The queue that a message TO_QUEUE goes to."""
    terms = message.terms
    return terms.target if terms is not None and terms.target else message.event


def is_delayed(message: Message) -> bool:
    """True when the message was put off when it was published. Says nothing of whether its time has come since."""
    terms = message.terms
    return terms is not None and terms.due_at > message.published_at


def fits_one_line(message: Message) -> bool:
    """True when id, event and body can stand in one line, separated by spaces, and be read back unchanged.

    Peers strip the end of a line, so a body must not end in white space; NUL is refused because some of them are C. The
    event stands in a list of properties, so it holds no comma.
    """
    if message.line_fit == LINE_UNKNOWN:
        body = message.body
        event = message.event
        safe = is_word(message.id) and is_word(event) and not (body and body[-1] <= 32)
        # Bytes are asked for by number: a search for a one-byte text is ten times as slow.
        if safe and 10 not in body and 13 not in body and 0 not in body and 44 not in event:
            message.line_fit = LINE_SAFE
        else:
            message.line_fit = LINE_UNSAFE
    return message.line_fit == LINE_SAFE


def is_word(name: bytes) -> bool:
    """True when the name is not empty and holds neither white space nor NUL."""
    return len(name.split()) == 1 and name.strip() == name and 0 not in name


def tell_delivered(message: Message) -> None:
    """Tell the requester, if there is one; what it does wrong is its own affair."""
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
