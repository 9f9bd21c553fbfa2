"""A requester's open requests."""

from typing import TYPE_CHECKING

from penstock.core.deadlines import Timer
from penstock.message import Message, Requester
from penstock.wire.rq.codec import encode_delivered, encode_undelivered
from penstock.wire.rq.states import LEAVING, OVER, SILENT, TAKEN, WAITING

if TYPE_CHECKING:
    from penstock.wire.rq.session import RqSession


class OpenRequest(Requester):
    """An open request. Its client gets DELIVERED once, then REPLY or UNDELIVERED once."""

    def __init__(self, session: "RqSession", id: int, message: Message, noreply: bool) -> None:
        self.session = session
        self.id = id
        # None once it is over: the message refers to its request, and only the garbage collector frees such a cycle. It
        # counts objects, not bytes.
        self.message: Message | None = message
        self.state = SILENT if noreply else WAITING
        self.timeout: Timer | None = None

    def delivered(self, message: Message) -> None:
        if self.state == WAITING:
            self.state = TAKEN
            self.session.send(encode_delivered(self.id))
        elif self.state == SILENT:
            self.session.broker.forget_request(message, False)
            self.close()

    def replied(self, message: Message, body: bytes) -> None:
        if self.state == TAKEN:
            self.session.send_reply(self.id, body)
        self.close()

    def undelivered(self, message: Message, reason: str) -> None:
        self.give_up(False)

    def failed(self, error: Exception) -> None:
        self.session.broke(error)

    def time_out(self, now: int) -> None:
        self.give_up(True)

    def give_up(self, revoke: bool) -> None:
        """End the request without a reply; with `revoke` it is not delivered any more either."""
        if self.state != OVER:
            if self.message is not None:
                self.session.broker.forget_request(self.message, revoke)
            if self.state != SILENT:
                self.session.send(encode_undelivered(self.id))
            self.close()

    def close(self) -> None:
        if self.state != OVER:
            self.state = OVER
            self.message = None
            session = self.session
            if self.timeout is not None:
                session.broker.deadlines.cancel(self.timeout)
                self.timeout = None
            session.requests.pop(self, None)
            if session.phase >= LEAVING:
                session.close_when_done()
