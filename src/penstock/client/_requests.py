"""Requests that wait for an answer, found by id (MQKS and SEVX) or by order (MQMQ, and SMQS statistics).

An unanswered request is sent again on the next connection, unless it is marked `once`. It keeps its id, so that a
server which keeps ids can recognize it. A request that stays unanswered over many connections is given up: it may be
what ends them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from penstock.client._auth import Auth, AuthById
from penstock.client._lines import LineSplitter
from penstock.client._link import Link, LinkProtocol, fail, log, wake
from penstock.client._options import Address, Options
from penstock.client.errors import BadReply, ClientError, Closed, ConnectionLost, Denied, ServerError, Timeout

TRIES_MAX = 100
PENDING_MAX = 20_000  # above this, callers that send without waiting have to wait
ERROR_ID_SIZE = 24
DENIED = "denied"  # prefix of Penstock's error ids for a missing permission


def refusal_of(what: str, code: str, hint: str = "") -> ServerError:
    """Build the exception for an error id."""
    is_denied = code.startswith(DENIED) and len(code) == ERROR_ID_SIZE
    return (Denied if is_denied else ServerError)(what, code, hint)


class Pending:
    """A request that has not been answered yet."""

    __slots__ = ("data", "future", "id", "is_denied", "once", "tries", "what")

    def __init__(
        self,
        data: bytes,
        future: "asyncio.Future[bytes] | None",
        once: bool = False,
        what: str = "a request",
        id: bytes = b"",
    ) -> None:
        self.data = data
        self.future = future  # None: no one waits for the answer
        self.once = once  # only meaningful on the connection it was sent on: not sent again
        self.what = what  # for errors
        self.id = id
        self.tries = 1
        self.is_denied = False  # SMQS: the server denied it, and its answer may still arrive

    @property
    def is_done(self) -> bool:
        """Whether it is answered, or no one waits for it any more."""
        return self.future is not None and self.future.done()

    def answer(self, data: bytes) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_result(data)

    def fail(self, error: ClientError) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_exception(error)


class Requests(LinkProtocol):
    """One connection for requests."""

    def __init__(self, addresses: Sequence[Address], options: Options, auth: Auth) -> None:
        self.link = Link(addresses, options, self, auth)

    def unanswered(self) -> Sequence[Pending]:
        """A copy of the pending requests, in the order they were sent."""
        raise NotImplementedError

    def forget(self, request: Pending) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        await self.link.close()
        self._give_up(self.unanswered(), Closed("the client was closed"))

    def _give_up(self, requests: Iterable[Pending], error: ClientError) -> None:
        for request in requests:
            self.forget(request)
            request.fail(error)

    # -- called by the link -----------------------------------------------------------------------------------------

    def ended(self, error: ClientError) -> None:
        self._give_up(self.unanswered(), error)

    def greeting(self) -> bytes:
        return b"".join([request.data for request in self.unanswered()])

    def lost(self) -> None:
        requests = self.unanswered()
        sent_again = {id(request.data) for request in requests}
        self.link.outbox = [data for data in self.link.outbox if id(data) not in sent_again]
        for request in requests:
            request.tries += 1
        given_up = [request for request in requests if request.once or request.tries > TRIES_MAX or request.is_done]
        self._give_up(given_up, ConnectionLost(f"no answer before the connection ended: {self.link.trouble}"))


class RequestsById(Requests):
    """Requests that are answered with `{id} ok {data}` or `{id} error {error_id}`."""

    def __init__(
        self, addresses: Sequence[Address], options: Options, auth: AuthById, ping: Callable[[], bytes]
    ) -> None:
        super().__init__(addresses, options, auth)
        self.pending: dict[bytes, Pending] = {}
        self._make_ping = ping
        self._lines = LineSplitter()
        self._waiting_for_room: list[asyncio.Future[None]] = []

    async def ask(self, id: bytes, line: bytes, what: str, timeout: float | None, once: bool = False) -> bytes:
        """Send a request and return the data of the answer.

        Raises:
            ServerError: the server refused; the error id is its `code`.
            ConnectionLost: the connection was lost, and the request is not sent again.
            Timeout: there was no answer in time. The request may have been processed, or may still be.
        """
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.send(Pending(line, future, once, what, id))
        try:
            return await self.link.wait_for(future, f"{what}: no answer", timeout)
        finally:
            self.pending.pop(id, None)

    def send(self, request: Pending) -> None:
        """Send a request, and again on every new connection until it is answered."""
        self.link.check()
        self.pending[request.id] = request
        if self.link.is_up:
            self.link.write(request.data)

    def unanswered(self) -> Sequence[Pending]:
        return list(self.pending.values())

    def forget(self, request: Pending) -> None:
        self.pending.pop(request.id, None)

    @property
    def is_crowded(self) -> bool:
        return len(self.pending) >= PENDING_MAX or self.link.is_crowded

    async def room(self, timeout: float | None) -> None:
        """Wait until at most half of PENDING_MAX requests are unanswered."""
        await self._wait_until_pending(PENDING_MAX // 2, timeout)
        await self.link.room(timeout)

    async def drain(self, seconds: float) -> None:
        """Wait until everything is answered. Logs a timeout instead of raising it, because the client is closing."""
        try:
            if self.link.is_up:
                await self._wait_until_pending(0, seconds)
        except Timeout:
            log.warning("closed with %d requests unanswered", len(self.pending))

    async def _wait_until_pending(self, count: int, timeout: float | None) -> None:
        await self.link.wait_for(self._until_pending(count), "no space in the send buffer", timeout)

    async def _until_pending(self, count: int) -> None:
        while len(self.pending) > count:
            self.link.check()
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting_for_room.append(waiting)
            await waiting

    # -- called by the link -----------------------------------------------------------------------------------------

    def ended(self, error: ClientError) -> None:
        super().ended(error)
        fail(self._waiting_for_room, error)

    def lost(self) -> None:
        self._lines.clear()
        super().lost()

    def ping(self) -> bytes:
        return self._make_ping()

    def feed(self, data: bytes) -> None:
        for line in self._lines.split(data):
            parts = line.split(b" ", 2)
            if len(parts) < 2:
                raise BadReply(f"expected an answer, got {line[:80]!r}")
            request = self.pending.pop(parts[0], None)
            rest = parts[2] if len(parts) == 3 else b""
            if parts[1] == b"ok":
                if request is not None:
                    request.answer(rest)
            elif parts[1] == b"error":
                self._refused(request, rest.decode("utf-8", "replace"))
            else:
                raise BadReply(f"expected ok or error, got {line[:80]!r}")
        self.link.has_answered = True
        wake(self._waiting_for_room)

    def _refused(self, request: Pending | None, code: str) -> None:
        if request is not None and request.future is not None:
            request.fail(refusal_of(request.what, code, self.link.hint))
        else:
            what = "a request" if request is None else request.what
            log.warning("%s was refused by %s with error id %s", what, self.link.address, code)


class RequestsInOrder(Requests):
    """Requests without ids, answered in the order they were sent. Subclasses split the received bytes into answers."""

    def __init__(self, addresses: Sequence[Address], options: Options, auth: Auth) -> None:
        super().__init__(addresses, options, auth)
        self.pending: deque[Pending] = deque()

    async def ask(self, data: bytes, what: str, timeout: float | None, *, once: bool = False) -> bytes:
        """Send a request and return the answer. Raises Timeout, or ConnectionLost if it is marked `once`."""
        self.link.check()
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.send(Pending(data, future, once))  # stays queued if the caller stops waiting: the answer comes
        return await self.link.wait_for(future, f"{what}: no answer", timeout)

    def send(self, request: Pending) -> None:
        self.pending.append(request)
        if self.link.is_up:
            self.link.write(request.data)

    def ask_in_passing(self, data: bytes) -> bytes:
        """Queue a request whose answer no one waits for. The caller still has to send it."""
        self.pending.append(Pending(data, None, once=True))
        return data

    def unanswered(self) -> Sequence[Pending]:
        return list(self.pending)

    def forget(self, request: Pending) -> None:
        self.pending.remove(request)

    def answers_in(self, data: bytes) -> list[bytes]:
        """Return the answers that are now complete. Raises BadReply."""
        raise NotImplementedError

    # -- called by the link -----------------------------------------------------------------------------------------

    def greeting(self) -> bytes:
        self.pending = deque([request for request in self.pending if not request.is_done])
        return super().greeting()

    def feed(self, data: bytes) -> None:
        for answer in self.answers_in(data):
            if not self.pending:
                raise BadReply(f"an unexpected response: {answer[:80]!r}")
            request = self.pending.popleft()
            if request.is_done:
                log.debug("a response arrived after its timeout")
            else:
                self.settle(request, answer)

    def settle(self, request: Pending, answer: bytes) -> None:
        request.answer(answer)
