"""One connection that is kept: made, watched, and made again when it was lost.

    start ──► connecting ──► up ──► lost ──┐
                  ▲   │ no address answers  │
                  └───┴──── pause ◄─────────┘          close ──► the end, from anywhere

A `Talk` says what goes over it. It is asked for a greeting on every new connection (consumers to start again, requests
that were not answered), fed what comes, and told when the connection is gone. Everything here runs on one event loop,
except `post`.

Pauses between attempts double up to `reconnect_max` and are cut short by up to a half at random, so that the clients
of a server that comes back do not all knock at once.
"""

import asyncio
import logging
import os
import random
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

from penstock.client._options import Address, Options
from penstock.client.errors import BadReply, ClientError, Closed, ConnectFailed, Timeout

log = logging.getLogger("penstock.client")

# Its own, so that a program that seeds `random` gets the same numbers with a client and without.
JITTER = random.Random()

STABLE_SECONDS = 5.0  # a connection that lasted this long was a good one: the next attempts begin without a pause
FLAPPING_ATTEMPTS = 3  # pauses grow no further than this while the server does answer
WRITE_HIGH = 1 << 18
CLOSE_SECONDS = 5.0  # how long a closing link waits for its last bytes to be taken

# Where silence is legal in a protocol and a ping is not, the system notices a vanished peer within about a minute.
KEEPALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 60_000))


class Talk:
    """What a protocol says on a link, and how it takes what comes back."""

    def greeting(self) -> bytes:
        """The first bytes on every connection."""
        return b""

    def feed(self, data: bytes) -> None:
        """A read, cut anywhere. Raises BadReply when the connection is of no use any more."""
        raise NotImplementedError

    def lost(self) -> None:
        """The connection is gone."""

    def ping(self) -> bytes:
        """Something the server answers; nothing where the protocol has no such thing."""
        return b""


class Link:
    """One connection, for as long as it is wanted."""

    def __init__(self, addresses: Sequence[Address], options: Options, talk: Talk) -> None:
        self.addresses = deque(addresses)  # the next one to try is in front
        self.options = options
        self.talk = talk
        self.generation = 0  # how many connections there have been
        self.closed = False
        self.outbox: list[bytes] = []  # what has not been handed to the socket; kept while there is none
        self.outbox_bytes = 0
        self.trouble = "no attempt was made yet"
        self._loop: asyncio.AbstractEventLoop
        self._task: asyncio.Task[None] | None = None
        self._wire: _Wire | None = None
        self._newest: _Wire | None = None  # perhaps not in use yet
        self._first: asyncio.Future[None] | None = None
        self._flush_planned = False
        self._posted: deque[bytes] = deque()
        self._post_planned = False
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._waiting_to_be_up: list[asyncio.Future[None]] = []
        self.is_last = False  # not to be made again when it is lost
        self.on_silence: Callable[[], bool] | None = None  # True when it was taken care of
        self._reading = True

    # -- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Connect in the background, as often as it takes."""
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._keep())
        self._task.add_done_callback(_complain)

    async def open(self) -> None:
        """Start, and come back with the first connection. Raises ConnectFailed when no address answers."""
        self.start()
        self._first = self._loop.create_future()
        try:
            await self._first
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Write out what waits, if there is a connection, and end it."""
        if self.closed:
            return
        self.closed = True
        if self._task is None:
            return
        self._take_posted()
        self._task.cancel()
        wire = self._wire
        if wire is None:
            if self.outbox:
                log.warning("closed with %d bytes unsent: %s", self.outbox_bytes, self.trouble)
        else:
            wire.transport.write(b"".join(self.outbox))
            wire.transport.resume_reading()  # a paused socket would not see its end
            wire.transport.close()
            await asyncio.wait([wire.gone], timeout=CLOSE_SECONDS)
            wire.transport.abort()
            self._wire = None
        if self._newest is not None:
            self._newest.transport.abort()
        for waiting in [*self._waiting_for_room, *self._waiting_to_be_up]:
            if not waiting.done():
                waiting.set_exception(Closed("the client was closed"))

    async def until_up(self, seconds: float) -> None:
        """Come back with a connection. Raises Timeout."""
        while not self.is_up:
            if self.closed:
                raise Closed("the client was closed")
            waiting = self._loop.create_future()
            self._waiting_to_be_up.append(waiting)
            try:
                async with asyncio.timeout(seconds):
                    await waiting
            except TimeoutError:
                raise self.timed_out("no connection", seconds) from None

    @property
    def is_up(self) -> bool:
        return self._wire is not None

    @property
    def address(self) -> Address:
        """The server in use, or the next one to try."""
        return self.addresses[0]

    def give_up(self, reason: str) -> None:
        """End this connection, go to the back of the line with this address, and try the next."""
        self.trouble = f"{self.address}: {reason}"
        if self._wire is not None:
            self._wire.refused = True
            self._wire.transport.abort()

    async def _keep(self) -> None:
        attempt = 0
        while True:
            wire = await self._connect()
            if wire is None:
                attempt += 1
            else:
                began = self._loop.time()
                self._greet(wire)
                heard = await self._watch(wire)
                self._lose(wire)
                if self.is_last:
                    return
                if self._loop.time() - began >= STABLE_SECONDS:
                    attempt = 0
                elif heard and not wire.refused:
                    attempt = min(attempt + 1, FLAPPING_ATTEMPTS)
                else:
                    attempt += 1
            if attempt:
                longest = min(self.options.reconnect_max, self.options.reconnect_min * 2 ** min(attempt - 1, 30))
                await asyncio.sleep(JITTER.uniform(0.5, 1.0) * longest)

    async def _connect(self) -> "_Wire | None":
        """Try every address once."""
        for _ in range(len(self.addresses)):
            address = self.addresses[0]
            try:
                async with asyncio.timeout(self.options.connect_timeout):
                    _, wire = await self._loop.create_connection(lambda: _Wire(self), address.host, address.port)
                return wire
            except TimeoutError:
                self.trouble = f"{address}: no connection within {self.options.connect_timeout:g} s"
            except OSError as error:
                # asyncio has words of its own in strerror, and a name that is not found no errno that means anything.
                number = error.errno or 0
                self.trouble = f"{address}: {os.strerror(number) if number > 0 else error.strerror or error}"
            self.addresses.rotate(-1)
        if self._first is not None and not self._first.done():
            others = ", ".join(map(str, list(self.addresses)[:-1]))  # the last one tried is in the trouble
            places = f"{others} or {self.trouble}" if others else self.trouble
            self._first.set_exception(ConnectFailed(f"cannot connect to {places}"))
        return None

    def _greet(self, wire: "_Wire") -> None:
        self.generation += 1
        self._wire = wire
        wire.transport.write(self.talk.greeting() + b"".join(self.outbox))
        self._sent()
        if not self._reading:
            wire.transport.pause_reading()
        if self._first is not None and not self._first.done():
            self._first.set_result(None)
        for waiting in self._waiting_to_be_up:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting_to_be_up.clear()

    async def _watch(self, wire: "_Wire") -> bool:
        """Come back when the connection has ended; whether anything was ever heard on it."""
        silent = 0
        ping = b""
        heard_at_all = False
        while not wire.gone.done():
            wire.heard = False
            await asyncio.wait([wire.gone], timeout=self.options.ping_seconds)
            heard_at_all = heard_at_all or wire.heard
            if wire.heard or not self._reading:
                silent = 0
                continue
            silent += 1
            if wire.gone.done():
                break
            if silent == 1:
                ping = self.talk.ping()
                self.write(ping)
            elif silent == 2 and self.on_silence is not None and self.on_silence():
                continue
            elif ping and not self.is_last:
                self.give_up(f"silent for {2 * self.options.ping_seconds:g} s")
        return heard_at_all

    def _lose(self, wire: "_Wire") -> None:
        self._wire = None
        if not wire.refused:
            self.trouble = f"{self.address}: {wire.gone.result() or 'closed by the server'}"
        log.info("connection lost: %s", self.trouble)
        self.addresses.rotate(-1)
        self.talk.lost()
        self.outbox_bytes = sum(map(len, self.outbox))

    # -- bytes out --------------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send with the next turn of the loop, or with the next connection."""
        self.outbox.append(data)
        self.outbox_bytes += len(data)
        if not self._flush_planned and self._wire is not None:
            self._flush_planned = True
            self._loop.call_soon(self._flush)

    def post(self, data: bytes) -> None:
        """The same, from any thread."""
        self._posted.append(data)
        if not self._post_planned:
            self._post_planned = True
            self._loop.call_soon_threadsafe(self._take_posted)

    @property
    def is_crowded(self) -> bool:
        """Whether a publisher should wait; may be asked from any thread."""
        return self.outbox_bytes >= self.options.outbox_bytes_max or len(self._posted) >= self.options.inbox_length_max

    async def room(self, timeout: float | None = None) -> None:
        """Come back when more may be written."""
        deadline = self.options.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(deadline):
                await asyncio.sleep(0)
                self._take_posted()
                while self.is_crowded:
                    if self.closed:
                        raise Closed("the client was closed")
                    waiting = self._loop.create_future()
                    self._waiting_for_room.append(waiting)
                    await waiting
        except TimeoutError:
            raise self.timed_out("no room to send", deadline) from None

    def timed_out(self, what: str, seconds: float) -> Timeout:
        """The error to raise, with what is known of the reason."""
        where = f"connected to {self.address}" if self.is_up else f"not connected: {self.trouble}"
        return Timeout(f"{what} within {seconds:g} s ({where})")

    def _take_posted(self) -> None:
        self._post_planned = False
        posted = self._posted
        while posted:
            self.write(posted.popleft())

    def _flush(self) -> None:
        self._flush_planned = False
        wire = self._wire
        if wire is not None and not wire.is_full and self.outbox:
            wire.transport.write(b"".join(self.outbox))
            self._sent()

    def _sent(self) -> None:
        self.outbox.clear()
        self.outbox_bytes = 0
        for waiting in self._waiting_for_room:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting_for_room.clear()

    # -- bytes in ---------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Read no more, so that the server keeps what it has."""
        self._reading = False
        if self._wire is not None:
            self._wire.transport.pause_reading()

    def resume(self) -> None:
        self._reading = True
        if self._wire is not None:
            self._wire.transport.resume_reading()

    def made(self, wire: "_Wire") -> None:
        self._newest = wire
        if self.closed:
            wire.transport.abort()

    def received(self, wire: "_Wire", data: bytes) -> None:
        if wire is not self._wire:
            return
        try:
            self.talk.feed(data)
        except BadReply as error:
            log.warning("%s: %s", self.address, error)
            self.give_up(str(error))

    def taken(self, wire: "_Wire") -> None:
        """The socket takes bytes again."""
        if wire is self._wire:
            self._flush()


def _complain(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("a connection is not kept any longer", exc_info=task.exception())


class Unconnected:
    """Stands where a connection will be."""

    def __getattr__(self, name: str) -> object:
        raise ClientError("not connected: call connect first")


class _Wire(asyncio.Protocol):
    """One socket of a link."""

    transport: asyncio.Transport

    def __init__(self, link: Link) -> None:
        self.link = link
        self.heard = False
        self.is_full = False
        self.refused = False
        self.gone: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent
        self.transport.set_write_buffer_limits(high=WRITE_HIGH)
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE:
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self.link.made(self)

    def data_received(self, data: bytes) -> None:
        self.heard = True
        self.link.received(self, data)

    def pause_writing(self) -> None:
        self.is_full = True

    def resume_writing(self) -> None:
        self.is_full = False
        self.link.taken(self)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(error)


class Deadline:
    """What is left of a time that several steps share."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())
