"""Requests that are answered in the order they were sent in, without ids: MQMQ's, and SMQS's statistics.

What was not answered is sent again on the next connection, in order, unless it is asked for once.
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
    """A request in line for its answer."""

    __slots__ = ("data", "future", "is_denied", "once", "tries")

    def __init__(self, data: bytes, future: "asyncio.Future[bytes]", once: bool) -> None:
        self.data = data
        self.future = future
        self.once = once
        self.tries = 1
        self.is_denied = False  # the server will not have it; its answer may still come


class Fifo(Talk):
    """One connection for requests that are answered in order. Subclasses cut reads into answers."""

    def __init__(self, addresses: Sequence[Address], options: Options, entry: Entry) -> None:
        self.link = Link(addresses, options, self, entry)
        self._line: deque[Turn] = deque()

    async def ask(self, data: bytes, what: str, timeout: float | None, *, once: bool = False) -> bytes:
        """The answer. Raises Timeout, or ConnectionLost for what is asked once."""
        seconds = self.link.options.timeout if timeout is None else timeout
        turn = self.enter(data, once=once)
        try:
            async with asyncio.timeout(seconds):
                return await turn.future
        except TimeoutError:
            raise self.link.timed_out(f"{what}: no answer", seconds) from None

    def enter(self, data: bytes, *, once: bool = False) -> Turn:
        """Send it, and stand in line for its answer. Whoever stops waiting keeps its place: an answer comes anyway."""
        self.link.check()
        turn = Turn(data, asyncio.get_running_loop().create_future(), once)
        self.stand(turn)
        return turn

    def stand(self, turn: Turn) -> None:
        self._line.append(turn)
        if self.link.is_up:
            self.link.write(turn.data)

    def ask_in_passing(self, data: bytes) -> bytes:
        """Give an answer its place in line that nobody waits for; the request still has to be sent."""
        turn = Turn(data, asyncio.get_running_loop().create_future(), once=True)
        turn.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._line.append(turn)
        return data

    def answers_in(self, data: bytes) -> list[bytes]:
        """The answers that are complete now. Raises BadReply."""
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

    # -- as the link sees it ----------------------------------------------------------------------------------------

    def greeting(self) -> bytes:
        for turn in [turn for turn in self._line if turn.future.done()]:
            self._line.remove(turn)  # nobody waits for it any more
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
                raise BadReply(f"an answer to nothing: {answer[:80]!r}")
            turn = self._line.popleft()
            if turn.future.done():
                log.debug("an answer came too late")
            else:
                self.settle(turn, answer)

    def settle(self, turn: Turn, answer: bytes) -> None:
        turn.future.set_result(answer)
