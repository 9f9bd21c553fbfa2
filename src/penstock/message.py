"""What is carried: one Message, shared by every queue it went to.

Names, ids and bodies are bytes: the protocols may put anything into them, and nothing is decoded on the way through.
"""

from typing import Final

from mypy_extensions import mypyc_attr

# How a message found its queues.
BY_EVENT: Final = 0  # a copy for every queue bound to the event or matching by pattern
TO_QUEUE: Final = 1  # to one queue by name; `event` is that name
TO_CONSUMERS: Final = 2  # to whoever consumed that queue at that moment; no queue keeps it

# How a delivery ends.
ACCEPT: Final = 0  # done, forget it
REJECT: Final = 1  # to the back of the queue, retry + 1
RETURN: Final = 2  # back to its old place, retry + 1: the consumer went away without an answer
DROP: Final = 3  # the queue's limit gave it up
RELEASE: Final = 4  # back to its old place as if never delivered: the consumer never saw it

SETTLEMENT_NAMES: Final = ("accept", "reject", "return", "drop", "release")

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
        self.route = BY_EVENT
        self.offset = -1  # given by the log
        self.deliveries_max = 0  # how often it may be tried before it is given up; 0 = as often as it takes
        self.requester: Requester | None = None  # not logged: a reply is owed to a living connection only
        self.revoked = False  # given up by its requester; queues drop it when they meet it
        self.line_fit = LINE_UNKNOWN
        # What patterns look at; set while the message is routed, by whoever has parsed its body already.
        self.document: dict[str, object] | None = None

    def __repr__(self) -> str:
        return f"<Message {self.id!r} event={self.event!r} {len(self.body)} bytes offset={self.offset}>"


def fits_one_line(message: Message) -> bool:
    """True when id, event and body can stand in one line, separated by spaces, and be read back unchanged.

    Peers strip the end of a line, so a body must not end in white space; NUL is refused because some of them are C.
    """
    if message.line_fit == LINE_UNKNOWN:
        body = message.body
        safe = is_word(message.id) and is_word(message.event) and not (body and body[-1] <= 32)
        # Bytes are asked for by number: a search for a one-byte text is ten times as slow.
        if safe and 10 not in body and 13 not in body and 0 not in body:
            message.line_fit = LINE_SAFE
        else:
            message.line_fit = LINE_UNSAFE
    return message.line_fit == LINE_SAFE


def is_word(name: bytes) -> bool:
    """True when the name is not empty and holds no white space."""
    return len(name.split()) == 1 and name.strip() == name
