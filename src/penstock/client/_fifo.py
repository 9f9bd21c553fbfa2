"""Requests without ids, answered in the order they were sent: those of MQMQ, and SMQS statistics.

Unanswered requests are sent again on the next connection, in order, except those marked `once`.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

from penstock.client._entry import Entry
from penstock.client._link import Link, Talk, log
from penstock.client._options import Address, Options
from penstock.client.errors import BadReply, ClientError, Closed, ConnectionLost

TRIES_MAX = 100


class Turn:
    """A request that waits for its answer."""

    __slots__ = ("data", "future", "is_denied", "once", "tries")

    def __init__(self, data: bytes, future: "asyncio.Future[bytes]", once: bool) -> None:
        self.data = data
        self.future = future
        self.once = once
        self.tries = 1
        self.is_denied = False  # the server denied it; its answer may still arrive


class Fifo(Talk):
    """One connection for requests that are answered in order. Subclasses split the received bytes into answers."""

    def __init__(self, addresses: Sequence[Address], options: Options, entry: Entry) -> None:
        self.link = Link(addresses, options, self, entry)
        self._line: deque[Turn] = deque()

    async def ask(self, data: bytes, what: str, timeout: float | None, *, once: bool = False) -> bytes:
        """Send a request and return the answer. Raises Timeout, or ConnectionLost if it is marked `once`."""
        seconds = self.link.options.timeout if timeout is None else timeout
        turn = self.enter(data, once=once)
        try:
            async with asyncio.timeout(seconds):
                return await turn.future
        except TimeoutError:
            raise self.link.timed_out(f"{what}: no answer", seconds) from None

    def enter(self, data: bytes, *, once: bool = False) -> Turn:
        """Send a request and queue it for its answer. It stays queued if the caller stops waiting: the answer comes."""
        self.link.check()
        turn = Turn(data, asyncio.get_running_loop().create_future(), once)
        self.stand(turn)
        return turn

    def stand(self, turn: Turn) -> None:
        self._line.append(turn)
        if self.link.is_up:
            self.link.write(turn.data)

    def ask_in_passing(self, data: bytes) -> bytes:
        """Queue a request whose answer no one waits for. The caller still has to send it."""
        turn = Turn(data, asyncio.get_running_loop().create_future(), once=True)
        turn.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._line.append(turn)
        return data

    def answers_in(self, data: bytes) -> list[bytes]:
        """Return the answers that are now complete. Raises BadReply."""
        raise NotImplementedError

    async def close(self) -> None:
        await self.link.close()
        self._fail(list(self._line), Closed("the client was closed"))

    def ended(self, error: ClientError) -> None:
        self._fail(list(self._line), error)

    def _fail(self, turns: Sequence[Turn], error: ClientError) -> None:
        for turn in turns:
            self._line.remove(turn)
            if not turn.future.done():
                turn.future.set_exception(error)

    # -- called by the link -----------------------------------------------------------------------------------------

    def greeting(self) -> bytes:
        for turn in [turn for turn in self._line if turn.future.done()]:
            self._line.remove(turn)  # no one waits for it any more
        return b"".join([turn.data for turn in self._line])

    def lost(self) -> None:
        mine = {id(turn.data) for turn in self._line}
        self.link.outbox = [data for data in self.link.outbox if id(data) not in mine]
        given_up = []
        for turn in self._line:
            turn.tries += 1
            if turn.once or turn.tries > TRIES_MAX or turn.future.done():
                given_up.append(turn)
        self._fail(given_up, ConnectionLost(f"no answer before the connection ended: {self.link.trouble}"))

    def feed(self, data: bytes) -> None:
        for answer in self.answers_in(data):
            if not self._line:
                raise BadReply(f"an unexpected response: {answer[:80]!r}")
            turn = self._line.popleft()
            if turn.future.done():
                log.debug("a response arrived after its timeout")
            else:
                self.settle(turn, answer)

    def settle(self, turn: Turn, answer: bytes) -> None:
        turn.future.set_result(answer)
