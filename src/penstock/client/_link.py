"""One persistent connection: opened, monitored, and reopened when it is lost.

    start ──► connecting ──► up ──► lost ──┐           close ──► ended, from any state
                  ▲   │ no address answers  │           authentication failed, or the server is
                  └───┴──── pause ◄─────────┘           not trusted ──► ended, with an error for all waiters

A `LinkProtocol` implements the protocol on it. The link asks it for a greeting on every new connection (consumers to
resume, unanswered requests), feeds it the received bytes, and tells it when the connection is lost. Everything here
runs on one event loop, except `post`.

Pauses between attempts double up to `reconnect_max` and are shortened at random by up to a half, so that the clients of
a restarted server do not all reconnect at once.
"""

import asyncio
import logging
import os
import random
import socket
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from penstock.client._auth import Auth, AuthAnswer
from penstock.client._credentials import Token, shows_certificate, tls_of, token_of, trouble_with_tls, warn_in_clear
from penstock.client._options import Address, Options
from penstock.client.errors import AuthFailed, BadReply, ClientError, Closed, ConnectFailed, Timeout, TlsFailed

Result = TypeVar("Result")

log = logging.getLogger("penstock.client")

# A separate generator, so that a program that seeds `random` gets the same numbers with or without a client.
JITTER = random.Random()

STABLE_SECONDS = 5.0  # after a connection that lasted this long, the first attempt to reconnect is immediate
FLAPPING_ATTEMPTS = 3  # pauses stop growing at this attempt while the server does answer
WRITE_HIGH = 1 << 18
CLOSE_SECONDS = 5.0  # how long a closing link waits for its last bytes to be sent
AUTH_HINT = "; the server may require authentication: give a token"
AUTH_SECONDS = 20.0  # a server may delay its answer to wrong credentials
AUTH_BYTES_MAX = 1 << 20
ENDED = 1 << 62  # outbox_bytes of a link that has ended: publishers then wait for room, which raises the error

# For protocols that allow silence but have no ping: the system notices a vanished peer within about a minute.
KEEPALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 60_000))


class LinkProtocol:
    """The protocol on a link: what it sends, and how it handles received bytes."""

    def greeting(self) -> bytes:
        """The first bytes on every connection."""
        return b""

    def feed(self, data: bytes) -> None:
        """Handle received bytes, split at any point. Raises BadReply if the connection cannot be used any more."""
        raise NotImplementedError

    def lost(self) -> None:
        """The connection was lost."""

    def ended(self, error: ClientError) -> None:
        """The link will not reconnect: fail everything that waits."""

    def ping(self) -> bytes:
        """A request that the server answers; empty if the protocol has none."""
        return b""


class Link:
    """One connection, reopened until the link is closed."""

    def __init__(self, addresses: Sequence[Address], options: Options, protocol: LinkProtocol, auth: Auth) -> None:
        self.addresses = deque(addresses)  # the next one to try is first
        self.options = options
        self.protocol = protocol
        self.auth = auth
        self.generation = 0  # how many connections there have been
        self.closed = False
        self.error: ClientError | None = None  # why it ended, unless it was closed
        self.has_credentials = False  # a token or a client certificate was sent
        self.has_answered = False  # the server has answered on this connection
        self.outbox: list[bytes] = []  # not handed to the socket yet; kept while there is no connection
        self.outbox_bytes = 0
        self.trouble = "no connection attempt yet"
        self._loop: asyncio.AbstractEventLoop
        self._task: asyncio.Task[None] | None = None
        self._connection: _Connection | None = None
        self._newest: _Connection | None = None  # may still be authenticating
        self._first: asyncio.Future[None] | None = None
        self._flush_planned = False
        self._posted: deque[bytes] = deque()
        self._post_planned = False
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._waiting_to_be_up: list[asyncio.Future[None]] = []
        self.is_last = False  # do not reconnect after this connection
        self.on_silence: Callable[[], bool] | None = None  # returns True if it handled the silence
        self._reading = True

    # -- lifecycle --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Connect in the background, and keep trying."""
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(_log_failure)

    async def open(self) -> None:
        """Start, and wait for the first connection. Raises ConnectFailed when no address answers."""
        self.start()
        self._first = self._loop.create_future()
        try:
            await self._first
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Send what is still buffered, if there is a connection, and close it."""
        if self.closed:
            return
        self.closed = True
        if self._task is None:
            return
        self._take_posted()
        self._task.cancel()
        connection = self._connection
        if connection is None:
            if self.outbox and self.error is None:
                log.warning("closed with %d bytes unsent: %s", self.outbox_bytes, self.trouble)
        else:
            connection.transport.write(b"".join(self.outbox))
            connection.transport.resume_reading()  # a paused socket would not notice the close
            connection.transport.close()
            await asyncio.wait([connection.gone], timeout=CLOSE_SECONDS)
            connection.abort()
            self._connection = None
        if self._newest is not None:
            self._newest.abort()
        fail([*self._waiting_for_room, *self._waiting_to_be_up], Closed("the client was closed"))

    async def until_up(self, timeout: float | None) -> None:
        """Wait for a connection. Raises Timeout."""
        while not self.is_up:
            self.check()
            waiting: asyncio.Future[None] = self._loop.create_future()
            self._waiting_to_be_up.append(waiting)
            await self.wait_for(waiting, "no connection", timeout)

    @property
    def is_up(self) -> bool:
        return self._connection is not None

    def check(self) -> None:
        """Raise Closed, or the error that ended this link, if it has ended."""
        if self.error is not None:
            raise type(self.error)(str(self.error))
        if self.closed:
            raise Closed("the client was closed")

    @property
    def hint(self) -> str:
        """A hint for refusals, when the reason may be that this client did not authenticate."""
        return "" if self.has_credentials or self.has_answered else AUTH_HINT

    @property
    def address(self) -> Address:
        """The server in use, or the next one to try."""
        return self.addresses[0]

    def give_up(self, reason: str) -> None:
        """Abort this connection, move its address to the end of the list, and try the next."""
        self.trouble = f"{self.address}: {reason}"
        if self._connection is not None:
            self._connection.refused = True
            self._connection.abort()

    async def _run(self) -> None:
        """Any error here ends the link: otherwise callers would wait for a connection that is never made."""
        try:
            await self._reconnect_forever()
        except (AuthFailed, ConnectFailed, TlsFailed) as error:
            self._end(error)
        except Exception as error:
            log.exception("connection failed with an unexpected error")
            self._connection = None
            if self._newest is not None:
                self._newest.abort()
            self._end(ConnectFailed(f"connection to {self.address} failed: {type(error).__name__}: {error}"))

    async def _reconnect_forever(self) -> None:
        attempt = 0
        while True:
            connection = await self._connect()
            if connection is None:
                attempt += 1
            else:
                began = self._loop.time()
                self._greet(connection)
                heard = await self._watch(connection)
                self._lose(connection, heard)
                if self.is_last or self.error is not None:
                    return
                if self._loop.time() - began >= STABLE_SECONDS:
                    attempt = 0
                elif heard and not connection.refused:
                    attempt = min(attempt + 1, FLAPPING_ATTEMPTS)
                else:
                    attempt += 1
            if attempt:
                longest = min(self.options.reconnect_max, self.options.reconnect_min * 2 ** min(attempt - 1, 30))
                await asyncio.sleep(JITTER.uniform(0.5, 1.0) * longest)

    async def _connect(self) -> "_Connection | None":
        """Try every address once. Raises AuthFailed, TlsFailed or ConnectFailed when a retry cannot help."""
        token = token_of(self.options)
        impossible = 0
        for _ in range(len(self.addresses)):
            address = self.addresses[0]
            try:
                connection = await self._open_connection(address)
                if await self._authenticate(connection, token):
                    return connection
            except TimeoutError:
                self.trouble = f"{address}: no connection within {self.options.connect_timeout:g} s"
            except ssl.SSLError as error:
                final = trouble_with_tls(address, error)
                if final is not None:
                    raise final from error
                self.trouble = f"{address}: {error.reason or error}"
            except OSError as error:
                # asyncio puts its own text into strerror, and the errno of a failed name lookup is meaningless.
                number = error.errno or 0
                reason = os.strerror(number) if number > 0 else error.strerror or str(error)
                self.trouble = f"{address}: {reason or 'closed during the handshake; the server may not use TLS'}"
            except ValueError as error:  # not a failed attempt, but an address that cannot be tried at all
                impossible += 1
                named = isinstance(error, UnicodeError)
                self.trouble = f"{address}: {f'invalid host name ({error})' if named else error}"
            self.addresses.rotate(-1)
        if impossible == len(self.addresses):
            raise ConnectFailed(f"cannot connect to {self._tried()}")
        if self._first is not None and not self._first.done():
            self._first.set_exception(ConnectFailed(f"cannot connect to {self._tried()}"))
        return None

    def _tried(self) -> str:
        others = ", ".join(map(str, list(self.addresses)[:-1]))  # `trouble` names the last one tried
        return f"{others} or {self.trouble}" if others else self.trouble

    async def _open_connection(self, address: Address) -> "_Connection":
        context = tls_of(self.options, address)
        async with asyncio.timeout(self.options.connect_timeout):
            name = None
            if context is not None:
                name = self.options.server_hostname or address.host
                _check_name(context, name)
            _, connection = await self._loop.create_connection(
                lambda: _Connection(self), address.host, address.port, ssl=context, server_hostname=name
            )
        return connection

    async def _authenticate(self, connection: "_Connection", token: Token | None) -> bool:
        """Authenticate, if there are credentials. Returns False if the connection was lost meanwhile.

        Raises:
            AuthFailed: the server rejected the credentials.
        """
        is_secure = connection.transport.get_extra_info("ssl_object") is not None
        is_certified = is_secure and (isinstance(self.options.tls, ssl.SSLContext) or shows_certificate(self.options))
        self.has_credentials = token is not None or is_certified
        if not self.has_credentials:
            return True
        if token is not None and not is_secure:
            warn_in_clear(token, self.address, connection.transport.get_extra_info("socket"))
        connection.auth = self.auth
        request = self.auth.encode_probe() if token is None else self.auth.encode_token(token.reveal())
        connection.transport.write(request)
        awaited: list[asyncio.Future[Any]] = [connection.gone, connection.answer]
        await asyncio.wait(awaited, timeout=AUTH_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if connection.answer.done():
            answer = connection.answer.result()
            if answer.is_accepted:
                return True
            connection.abort()
            why = "its certificate belongs to no user" if token is None else f"{token} is wrong, expired or revoked"
            reason = f" ({answer.reason})" if answer.reason else ""
            raise AuthFailed(f"{self.address} rejects this client: {why}{reason}")
        error = connection.gone.result() if connection.gone.done() else None
        connection.abort()
        self._check_tls(error)
        if connection.refused:
            return False
        reason = "no answer" if not connection.gone.done() else str(error or "closed by the server")
        advice = "" if is_secure else "; the server may require TLS"
        self.trouble = f"{self.address}: {reason} during authentication{advice}"
        return False

    def _check_tls(self, error: Exception | None) -> None:
        """Raise AuthFailed or TlsFailed if the connection ended with a TLS error that a retry cannot fix."""
        final = trouble_with_tls(self.address, error) if isinstance(error, ssl.SSLError) else None
        if final is not None:
            raise final from error

    def _end(self, error: ClientError) -> None:
        """End the link for good."""
        self.error = error
        self.trouble = str(error)
        is_awaited = self._first is not None and not self._first.done()
        log.log(logging.DEBUG if is_awaited else logging.ERROR, "connection failed, giving up: %s", error)
        self.outbox.clear()
        self.outbox_bytes = ENDED
        first = [] if self._first is None else [self._first]
        fail([*first, *self._waiting_for_room, *self._waiting_to_be_up], error)
        self.protocol.ended(error)

    def _greet(self, connection: "_Connection") -> None:
        self.generation += 1
        self.has_answered = False
        self._connection = connection
        connection.transport.write(self.protocol.greeting() + b"".join(self.outbox))
        self._sent()
        if not self._reading:
            connection.transport.pause_reading()
        if self._first is not None and not self._first.done():
            self._first.set_result(None)
        wake(self._waiting_to_be_up)
        if connection.auth is not None:
            connection.auth = None
            if connection.received_early:
                self.received(connection, connection.received_early)

    async def _watch(self, connection: "_Connection") -> bool:
        """Wait until the connection has ended. Returns whether anything was received on it."""
        silent = 0
        ping = b""
        heard_at_all = False
        while not connection.gone.done():
            connection.heard = False
            await asyncio.wait([connection.gone], timeout=self.options.ping_seconds)
            heard_at_all = heard_at_all or connection.heard
            if connection.heard or not self._reading:
                silent = 0
                continue
            silent += 1
            if connection.gone.done():
                break
            if silent == 1:
                ping = self.protocol.ping()
                self.write(ping)
            elif silent == 2 and self.on_silence is not None and self.on_silence():
                continue
            elif ping and not self.is_last:
                self.give_up(f"silent for {2 * self.options.ping_seconds:g} s")
        return heard_at_all

    def _lose(self, connection: "_Connection", heard: bool) -> None:
        self._connection = None
        error = connection.gone.result()
        if not connection.refused:
            self.trouble = f"{self.address}: {error or 'closed by the server'}"
            if error is None and not heard and not self.has_credentials:
                self.trouble += " without a response; the server may require a token or TLS, or speak another protocol"
        log.info("connection lost: %s", self.trouble)
        self.addresses.rotate(-1)
        self.protocol.lost()
        self.outbox_bytes = sum(map(len, self.outbox))
        try:
            self._check_tls(error)
        except (AuthFailed, TlsFailed) as final:
            self._end(final)

    # -- bytes out --------------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send in the next event loop iteration, or on the next connection."""
        self.outbox.append(data)
        self.outbox_bytes += len(data)
        if not self._flush_planned and self._connection is not None:
            self._flush_planned = True
            self._loop.call_soon(self._flush)

    def post(self, data: bytes) -> None:
        """Like `write`, from any thread."""
        self._posted.append(data)
        if not self._post_planned:
            self._post_planned = True
            self._loop.call_soon_threadsafe(self._take_posted)

    @property
    def is_crowded(self) -> bool:
        """Whether a publisher should wait. Thread-safe."""
        return self.outbox_bytes >= self.options.outbox_bytes_max or len(self._posted) >= self.options.inbox_length_max

    async def room(self, timeout: float | None = None) -> None:
        """Wait until more may be written."""
        await self.wait_for(self._until_room(), "no space in the send buffer", timeout)

    async def _until_room(self) -> None:
        await asyncio.sleep(0)
        self._take_posted()
        while self.is_crowded:
            if self.error is not None:
                self.outbox.clear()
            self.check()
            waiting: asyncio.Future[None] = self._loop.create_future()
            self._waiting_for_room.append(waiting)
            await waiting

    async def wait_for(self, awaited: Awaitable[Result], what: str, timeout: float | None) -> Result:
        """Wait for a result, by default as long as the options say. Raises Timeout."""
        seconds = self.options.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(seconds):
                return await awaited
        except TimeoutError:
            raise self.timed_out(what, seconds) from None

    def timed_out(self, what: str, seconds: float) -> Timeout:
        """Build the Timeout to raise, with the state of the connection."""
        where = f"connected to {self.address}" if self.is_up else f"not connected: {self.trouble}"
        return Timeout(f"{what} within {seconds:g} s ({where})")

    def _take_posted(self) -> None:
        self._post_planned = False
        posted = self._posted
        while posted:
            self.write(posted.popleft())

    def _flush(self) -> None:
        self._flush_planned = False
        connection = self._connection
        if connection is not None and not connection.is_full and self.outbox:
            connection.transport.write(b"".join(self.outbox))
            self._sent()

    def _sent(self) -> None:
        self.outbox.clear()
        self.outbox_bytes = 0
        wake(self._waiting_for_room)

    # -- bytes in ---------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Stop reading, so that the server keeps its messages."""
        self._reading = False
        if self._connection is not None:
            self._connection.transport.pause_reading()

    def resume(self) -> None:
        self._reading = True
        if self._connection is not None:
            self._connection.transport.resume_reading()

    def made(self, connection: "_Connection") -> None:
        self._newest = connection
        if self.closed:
            connection.abort()

    def received(self, connection: "_Connection", data: bytes) -> None:
        if connection is not self._connection:
            connection.receive_early(data)
            return
        try:
            self.protocol.feed(data)
        except BadReply as error:
            log.warning("%s: %s", self.address, error)
            self.give_up(str(error))

    def taken(self, connection: "_Connection") -> None:
        """The socket accepts bytes again."""
        if connection is self._connection:
            self._flush()


def fail(futures: Iterable["asyncio.Future[Any]"], error: Exception) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)


def wake(waiting: list["asyncio.Future[None]"]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)
    waiting.clear()


def _check_name(context: ssl.SSLContext, name: str) -> None:
    """Raise ValueError if no certificate can have this name, before a socket exists that would be left open."""
    try:
        context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname=name)
    except ValueError as error:
        raise ValueError(f"{name!r} is not a valid server name for TLS: {error}") from None


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("connection failed with an unexpected error", exc_info=task.exception())


class Unconnected:
    """Placeholder for a client's connection before `connect`."""

    def __getattr__(self, name: str) -> object:
        raise ClientError("not connected: call connect first")


class _Connection(asyncio.Protocol):
    """One socket of a link."""

    transport: asyncio.Transport

    def __init__(self, link: Link) -> None:
        self.link = link
        self.heard = False
        self.is_full = False
        self.refused = False
        self.gone: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.auth: Auth | None = None  # set while authentication is in progress
        self.answer: asyncio.Future[AuthAnswer] = asyncio.get_running_loop().create_future()
        self.received_early = b""  # received before the protocol was attached

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass
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

    def receive_early(self, data: bytes) -> None:
        """Handle bytes received before the connection is up."""
        if self.auth is None:
            return
        self.received_early += data
        if self.answer.done():
            return
        try:
            found = self.auth.parse_answer(self.received_early)
            if found is None and len(self.received_early) > AUTH_BYTES_MAX:
                raise BadReply("the response to the authentication request is too long")
        except BadReply as error:
            self.refused = True
            self.link.trouble = f"{self.link.address}: {error}"
            self.abort()
            return
        if found is not None:
            self.received_early = found.rest
            self.answer.set_result(found)

    def abort(self) -> None:
        """Close at once. Skipped if the connection is already lost: asyncio's TLS in Python 3.11.2 fails on that."""
        if not self.gone.done():
            self.transport.abort()

    def pause_writing(self) -> None:
        self.is_full = True

    def resume_writing(self) -> None:
        self.is_full = False
        self.link.taken(self)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(error)


class Deadline:
    """The time left for several steps that share one timeout."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())
