"""What a client has asked for and waits to hear about."""

from typing import TYPE_CHECKING

from penstock.message import Message, Requester
from penstock.wire.rq.codec import encode_delivered, encode_undelivered
from penstock.wire.timer import SessionTimer

if TYPE_CHECKING:
    from penstock.wire.rq.session import RqSession


class Ask(Requester):
    """A request of a client that is not over yet. Its client is told DELIVERED once, then REPLY or UNDELIVERED once.

    A silent one has nobody to tell: it is there for its time-out alone.
    """

    def __init__(self, session: "RqSession", id: int, message: Message, silent: bool) -> None:
        self.session = session
        self.id = id
        # Until it is over: the message knows its request as well, and what is tied together like that is freed by the
        # collector alone, which counts objects and no bytes.
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
        """There will be no reply; with `revoke` nobody is to work on it any more."""
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
    """Ends the wait for a reply."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask.session)
        self.ask = ask

    def fire(self, now: int) -> None:
        self.ask.give_up(True)
