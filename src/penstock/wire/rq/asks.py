"""A requester's open requests."""

from typing import TYPE_CHECKING

from penstock.message import Message, Requester
from penstock.wire.rq.codec import encode_delivered, encode_undelivered
from penstock.wire.timer import SessionTimer

if TYPE_CHECKING:
    from penstock.wire.rq.session import RqSession


class Ask(Requester):
    """An open request. Its client gets DELIVERED once, then REPLY or UNDELIVERED once.

    A silent one sends nothing: it exists only for its timeout.
    """

    def __init__(self, session: "RqSession", id: int, message: Message, silent: bool) -> None:
        self.session = session
        self.id = id
        # None once it is over: the message refers to its request, and only the garbage collector frees such a cycle. It
        # counts objects, not bytes.
        self.message: Message | None = message
        self.silent = silent
        self.told = False
        self.over = False
        self.timeout: Timeout | None = None

    def delivered(self, message: Message) -> None:
        if self.silent:
            self.session.broker.forget_request(message, False)
            self.close()
        elif not self.told:
            self.told = True
            self.session.send(encode_delivered(self.id))

    def replied(self, message: Message, body: bytes) -> None:
        if not self.silent:
            self.session.send_reply(self.id, body)
        self.close()

    def undelivered(self, message: Message, reason: str) -> None:
        self.give_up(False)

    def failed(self, error: Exception) -> None:
        self.session.broke(error)

    def give_up(self, revoke: bool) -> None:
        """End the request without a reply; with `revoke` it is not delivered any more either."""
        if not self.over:
            if self.message is not None:
                self.session.broker.forget_request(self.message, revoke)
            if not self.silent:
                self.session.send(encode_undelivered(self.id))
            self.close()

    def close(self) -> None:
        if not self.over:
            self.over = True
            self.message = None
            session = self.session
            if self.timeout is not None:
                session.broker.deadlines.cancel(self.timeout)
                self.timeout = None
            session.asks.pop(self, None)
            if session.parting:
                session.part_when_done()


class Timeout(SessionTimer):
    """The timeout of a request."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask.session)
        self.ask = ask

    def fire(self, now: int) -> None:
        self.ask.give_up(True)
