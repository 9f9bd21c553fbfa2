"""Requests that are answered by id: `{id} ok {data}` or `{id} error {error_id}`. MQKS and SEVX share this.

An unanswered request is sent again on the next connection, under the same id, so that a server which keeps ids can
recognize it. A request that stays unanswered over many connections is given up: it may be what ends them.
"""

import asyncio
from collections.abc import Callable, Sequence

from penstock.client._entry import NamedEntry
from penstock.client._lines import LineSplitter
from penstock.client._link import Link, Talk, log
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

    __slots__ = ("future", "line", "once", "tries", "what")

    def __init__(self, line: bytes, what: str, future: "asyncio.Future[bytes] | None", once: bool = False) -> None:
        self.line = line
        self.what = what
        self.future = future
        self.once = once  # only meaningful on the connection it was sent on: not sent again
        self.tries = 1


class Requests(Talk):
    """One connection for requests."""

    def __init__(
        self, addresses: Sequence[Address], options: Options, entry: NamedEntry, ping: Callable[[], bytes]
    ) -> None:
        self.link = Link(addresses, options, self, entry)
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
        seconds = self.link.options.timeout if timeout is None else timeout
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.track(id, Pending(line, what, future, once))
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            raise self.link.timed_out(f"{what}: no answer", seconds) from None
        finally:
            self.pending.pop(id, None)

    def track(self, id: bytes, pending: Pending) -> None:
        """Send a request, and again on every new connection until it is answered."""
        self.link.check()
        self.pending[id] = pending
        if self.link.is_up:
            self.link.write(pending.line)

    @property
    def is_crowded(self) -> bool:
        return len(self.pending) >= PENDING_MAX or self.link.is_crowded

    async def room(self, timeout: float | None) -> None:
        """Wait until at most half of PENDING_MAX requests are unanswered."""
        await self._until_pending(PENDING_MAX // 2, self.link.options.timeout if timeout is None else timeout)
        await self.link.room(timeout)

    async def _until_pending(self, count: int, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while len(self.pending) > count:
                    self.link.check()
                    waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiting_for_room.append(waiting)
                    await waiting
        except TimeoutError:
            raise self.link.timed_out("no space in the send buffer", seconds) from None

    async def drain(self, seconds: float) -> None:
        """Wait until everything is answered. Logs a timeout instead of raising it, because the client is closing."""
        try:
            if self.link.is_up:
                await self._until_pending(0, seconds)
        except Timeout:
            log.warning("closed with %d requests unanswered", len(self.pending))

    async def close(self) -> None:
        await self.link.close()
        self._give_up(list(self.pending), Closed("the client was closed"))

    def ended(self, error: ClientError) -> None:
        self._give_up(list(self.pending), error)
        for waiting in self._waiting_for_room:
            if not waiting.done():
                waiting.set_exception(error)

    def _give_up(self, ids: Sequence[bytes], error: Exception) -> None:
        for id in ids:
            future = self.pending.pop(id).future
            if future is not None and not future.done():
                future.set_exception(error)

    # -- called by the link -----------------------------------------------------------------------------------------

    def greeting(self) -> bytes:
        return b"".join([pending.line for pending in self.pending.values()])

    def lost(self) -> None:
        self._lines.clear()
        if self.link.outbox:
            again = {pending.line for pending in self.pending.values()}
            self.link.outbox = [line for line in self.link.outbox if line not in again]
        worn_out = []
        for id, pending in self.pending.items():
            pending.tries += 1
            if pending.once or pending.tries > TRIES_MAX:
                worn_out.append(id)
        self._give_up(worn_out, ConnectionLost(f"no answer before the connection ended: {self.link.trouble}"))

    def ping(self) -> bytes:
        return self._make_ping()

    def feed(self, data: bytes) -> None:
        for line in self._lines.split(data):
            parts = line.split(b" ", 2)
            if len(parts) < 2:
                raise BadReply(f"expected an answer, got {line[:80]!r}")
            pending = self.pending.pop(parts[0], None)
            rest = parts[2] if len(parts) == 3 else b""
            if parts[1] == b"ok":
                if pending is not None and pending.future is not None and not pending.future.done():
                    pending.future.set_result(rest)
            elif parts[1] == b"error":
                self._refused(pending, rest.decode("utf-8", "replace"))
            else:
                raise BadReply(f"expected ok or error, got {line[:80]!r}")
        self.link.heard_well = True
        if self._waiting_for_room:
            for waiting in self._waiting_for_room:
                if not waiting.done():
                    waiting.set_result(None)
            self._waiting_for_room.clear()

    def _refused(self, pending: Pending | None, code: str) -> None:
        if pending is not None and pending.future is not None:
            if not pending.future.done():
                pending.future.set_exception(refusal_of(pending.what, code, self.link.hint))
        else:
            what = "a request" if pending is None else pending.what
            log.warning("%s was refused by %s with error id %s", what, self.link.address, code)
