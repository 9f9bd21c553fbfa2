"""The connection to NATS: made, watched, and made again until it is closed.

    subscribe, send ─► commands, in order ─► one task ─► nats-py ─► a server
                                              nats-py ─► take(Arrival)

nats-py reconnects by itself, to any server of the NATS cluster. After some errors of a server, such as an account that
has expired, it gives up for good. Then a new client takes its place, with the same subscriptions.

Nothing is kept while there is no connection: what cannot be sent now fails at once, and whoever sent it decides.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from penstock.errors import ClusterError
from penstock.report import Report

try:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription
    from nats.aio.transport import TcpTransport
except ImportError as error:
    raise ClusterError("a cluster needs nats-py, which is not installed: pip install 'penstock-mq[cluster]'") from error

CONNECT_SECONDS: Final = 2.0  # for one server
RECONNECT_SECONDS: Final = 0.25  # between two tries of the same server
REPLACE_SECONDS: Final = 20.0  # until it is reported that a new client cannot connect either

# A server that does not answer this many pings in a row is left for another one.
PING_SECONDS: Final = 1
PINGS_UNANSWERED_MAX: Final = 3

CLOSE_SECONDS: Final = 2.0

PORT: Final = 4222

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NatsOptions:
    """Where NATS is, how to authenticate there, and how many servers keep the stream. Files are read
    each time a connection is made.

    A CA, a certificate or a server with `tls://` demands TLS: nothing is sent to a server that does not offer it.
    """

    servers: tuple[str, ...]
    user: str = ""
    password_file: Path | None = None
    token_file: Path | None = None
    nkey_file: Path | None = None  # a seed
    creds_file: Path | None = None  # a JWT and a seed
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None  # unless it is in the certificate's file
    replicas: int = 3

    @property
    def has_tls(self) -> bool:
        return bool(self.ca_file or self.cert_file or any(server.startswith("tls://") for server in self.servers))

    @property
    def places(self) -> str:
        """The servers for people, without passwords."""
        return ", ".join(f"{parts.hostname}:{parts.port}" for parts in map(urlsplit, self.servers))


def parse_servers(text: str) -> tuple[str, ...]:
    """The servers in `nats://h1:4222,h2:4222`. One without a scheme has that of the one before. Raises ClusterError."""
    found: list[str] = []
    scheme = "nats"
    for server in filter(None, (part.strip() for part in text.split(","))):
        parts = urlsplit(server if "://" in server else f"{scheme}://{server}")
        scheme = parts.scheme
        try:
            port = parts.port or PORT
        except ValueError:
            port = 0
        if scheme not in ("nats", "tls") or not parts.hostname or not port or parts.path.strip("/") or parts.query:
            raise ClusterError(f"{server!r} is not a NATS server: use nats://HOST:PORT or tls://HOST:PORT")
        place = parts.netloc if parts.port else f"{parts.netloc.rstrip(':')}:{PORT}"
        found.append(f"{scheme}://{place}")
    if not found:
        raise ClusterError("no NATS server is named: use nats://HOST:PORT,HOST:PORT")
    return tuple(found)


class Arrival(NamedTuple):
    """A message that arrived."""

    subject: str
    reply: str
    headers: Mapping[str, str]
    data: bytes

    @property
    def status(self) -> str:
        """Of a message that the server has made, such as 503: nobody listens. Otherwise empty."""
        return "" if self.data else self.headers.get("Status", "")


Take = Callable[[Arrival], None]


class Connection:
    """Open it with `open`. Everything is called on the loop it was opened on."""

    def __init__(self, options: NatsOptions, label: str, report: Report) -> None:
        self.options = options
        self.on_down: list[Callable[[], None]] = []  # called when the connection is lost
        self.on_up: list[Callable[[], None]] = []  # called when there is one again
        self._label = label
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._client = Client()
        self._takers: dict[str, Take] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._commands: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._was_down = False

    def __repr__(self) -> str:
        return f"<Connection to {self.options.places}, {'up' if self.is_up else 'down'}>"

    @classmethod
    async def open(cls, options: NatsOptions, label: str, report: Report, seconds: float) -> Connection:
        """Connect within this time. Raises ClusterError."""
        connection = cls(options, label, report)
        connection._client = await connection._connect(seconds)
        connection.run(connection._write())
        return connection

    async def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._end(self._client)
        self._down()

    @property
    def is_up(self) -> bool:
        return not self._closed and bool(self._client.is_connected)

    @property
    def payload_max(self) -> int:
        """The largest message of the server we are connected to, headers included."""
        return int(self._client.max_payload)

    def run(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run a task that ends with the connection at the latest."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- sending ----------------------------------------------------------------------------------------------------

    def send(
        self,
        subject: str,
        data: bytes,
        reply: str = "",
        headers: dict[str, str] | None = None,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Send a message behind those that were sent before. `failed` is called, later, if that is not possible now."""
        if self._closed:
            if failed is not None:
                self._loop.call_soon(failed, "the connection to NATS was closed")
            return

        async def command() -> None:
            try:
                if not self.is_up:
                    raise ConnectionError("not connected to NATS")
                await self._client.publish(subject, data, reply=reply, headers=headers)
            except Exception as error:  # of nats-py or the system: all mean that it was not sent
                if failed is not None:
                    failed(str(error))

        self._commands.put_nowait(command)

    def subscribe(self, subject: str, take: Take) -> Callable[[], None]:
        """Have messages on a subject handed out, also those of later connections. Returns what ends it."""
        self._takers[subject] = take
        self._commands.put_nowait(lambda: self._subscribe(subject))

        def unsubscribe() -> None:
            self._takers.pop(subject, None)
            self._commands.put_nowait(lambda: self._unsubscribe(subject))

        return unsubscribe

    async def _write(self) -> None:
        while True:
            command = await self._commands.get()
            await command()

    async def _subscribe(self, subject: str) -> None:
        take = self._takers.get(subject)
        if take is None or self._client.is_closed:
            return

        async def arrived(message: Msg) -> None:
            if subject not in self._takers:
                return
            try:
                take(Arrival(message.subject, message.reply, message.headers or {}, message.data))
            except Exception as error:
                # nats-py would go on as if the message had been taken.
                self._loop.call_exception_handler({"message": f"{subject} was not taken", "exception": error})

        # No limit of what waits for its callback: readers ask for as much as they can take.
        self._subscriptions[subject] = await self._client.subscribe(subject, cb=arrived, pending_bytes_limit=0)

    async def _unsubscribe(self, subject: str) -> None:
        subscription = self._subscriptions.pop(subject, None)
        if subscription is not None:
            with suppress(Exception):  # it is gone with its client
                await subscription.unsubscribe()

    # -- connecting -------------------------------------------------------------------------------------------------

    async def _connect(self, seconds: float) -> Client:
        """A connected client. Raises ClusterError if there is none within this time, or no server wants us."""
        attempt = _Attempt(self.options)
        client = Client()
        # Set before connecting: nats-py makes one of its own only if it has none.
        client._transport = _Transport(self.options.has_tls)

        async def on_error(error: Exception) -> None:
            attempt.note(error)

        async def on_down() -> None:
            if client is self._client:
                self._down()

        async def on_up() -> None:
            if client is self._client:
                self._up()

        async def on_closed() -> None:
            if client is self._client and not self._closed:
                self.run(self._replace(str(client.last_error or "it closed the connection")))

        connecting = asyncio.ensure_future(
            client.connect(
                servers=list(self.options.servers),
                error_cb=on_error,
                disconnected_cb=on_down,
                reconnected_cb=on_up,
                closed_cb=on_closed,
                name=self._label,
                connect_timeout=CONNECT_SECONDS,
                reconnect_time_wait=RECONNECT_SECONDS,
                max_reconnect_attempts=-1,
                ping_interval=PING_SECONDS,
                max_outstanding_pings=PINGS_UNANSWERED_MAX,
                pending_size=0,  # nothing is kept while there is no connection
                **_credentials(self.options),
            )
        )
        try:
            await asyncio.wait({connecting, attempt.hopeless}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if connecting.done():
                connecting.result()
                return client
            raise ClusterError(attempt.summary)
        except BaseException as error:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            await self._end(client)
            if isinstance(error, ClusterError) or not isinstance(error, Exception):
                raise
            raise ClusterError(f"cannot connect to NATS at {self.options.places}: {_words(error)}") from error
        finally:
            attempt.hopeless.cancel()

    async def _replace(self, reason: str) -> None:
        """nats-py has given up: begin again with a new client."""
        self._report("error", "cluster.nats_gave_up", {"servers": self.options.places, "reason": reason})
        self._down()
        client = None
        while client is None:
            try:
                client = await self._connect(REPLACE_SECONDS)
            except ClusterError as error:
                self._report("error", "cluster.nats_unreachable", {"reason": str(error)})
                await asyncio.sleep(CONNECT_SECONDS)
        self._client = client
        self._subscriptions.clear()
        for subject in list(self._takers):
            await self._subscribe(subject)
        self._up()

    async def _end(self, client: Client) -> None:
        """Close a client. A server that does not take what is left to send gets no more time than others."""
        with suppress(Exception):  # it is gone, one way or the other
            await asyncio.wait_for(client.close(), CLOSE_SECONDS)
        # One that was given up while connecting counts as closed already.
        client._transport.close()
        await client._transport.wait_closed()

    def _down(self) -> None:
        if not self._was_down:
            self._was_down = True
            if not self._closed:
                self._report("warning", "cluster.nats_disconnected", {"servers": self.options.places})
            for callback in list(self.on_down):
                callback()

    def _up(self) -> None:
        if self._was_down and not self._closed:
            self._was_down = False
            self._report("info", "cluster.nats_connected", {"server": self._server()})
            for callback in list(self.on_up):
                callback()

    def _server(self) -> str:
        url = self._client.connected_url
        return "" if url is None else f"{url.hostname}:{url.port}"


class _Transport(TcpTransport):
    """A TCP connection that is closed at once, and that a server without TLS does not get to see a password on."""

    def __init__(self, needs_tls: bool) -> None:
        super().__init__()
        self._needs_tls = needs_tls

    def __bool__(self) -> bool:
        return True

    async def connect(self, *arguments: Any, **options: Any) -> None:
        self.close()  # a server that did not get as far as a connection is left open otherwise
        await super().connect(*arguments, **options)

    async def readline(self) -> bytes:
        """The next line. A server's first one says whether it offers TLS; nats-py would go on without."""
        line: bytes = await super().readline()
        if self._needs_tls and line.startswith(b"INFO ") and not json.loads(line[5:]).get("tls_required"):
            raise ConnectionError("the server does not offer TLS")
        return line

    def close(self) -> None:
        """Close at once. To wait until the server has taken everything is to wait for ever if it is stopped."""
        if self._io_writer is not None:
            self._io_writer.transport.abort()

    async def wait_closed(self) -> None:
        """An abort takes effect in the next turn of the loop. To wait for it fails if somebody else gave up waiting."""
        await asyncio.sleep(0)


class _Attempt:
    """What went wrong while connecting for the first time."""

    def __init__(self, options: NatsOptions) -> None:
        self.hopeless: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._options = options
        self._refusals = 0
        self._refusal = ""
        self._trouble = ""

    def note(self, error: Exception) -> None:
        reason = _words(error)
        if isinstance(error, ssl.SSLError) or "TLS" in reason:
            self._refuse(f"no TLS connection to NATS at {self._options.places}: {reason}")
        elif "authorization violation" in reason.lower():
            self._refuse(f"NATS at {self._options.places} does not accept the credentials")
        else:
            self._trouble = reason

    def _refuse(self, reason: str) -> None:
        """Once as many servers as were named do not want us, more tries do not help."""
        self._refusal = reason
        self._refusals += 1
        if self._refusals >= len(self._options.servers) and not self.hopeless.done():
            self.hopeless.set_result(None)

    @property
    def summary(self) -> str:
        trouble = f": {self._trouble}" if self._trouble else ""
        return self._refusal or f"no NATS server can be reached at {self._options.places}{trouble}"


def _words(error: BaseException) -> str:
    """An error in a few words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return str(error.reason or error).replace("_", " ").lower()
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return str(error).removeprefix("nats: ") or type(error).__name__


def _credentials(options: NatsOptions) -> dict[str, object]:
    """The arguments of nats-py that say who we are. Raises ClusterError."""
    found: dict[str, object] = {}
    if options.user:
        found["user"] = options.user
        found["password"] = _current(options.password_file) if options.password_file else ""
    if options.token_file:
        found["token"] = _current(options.token_file)
    if options.nkey_file:
        _secret(options.nkey_file)
        found["nkeys_seed"] = str(options.nkey_file)
    if options.creds_file:
        _secret(options.creds_file)
        found["user_credentials"] = str(options.creds_file)
    if options.has_tls:
        found["tls"] = _context(options)
    return found


def _current(path: Path) -> Callable[[], str]:
    """A function for what a file holds each time we connect. It must not fail: nats-py would never try again."""
    last = _secret(path)

    def read() -> str:
        nonlocal last
        with suppress(ClusterError):
            last = _secret(path)
        return last

    return read


def _secret(path: Path) -> str:
    """What a file holds. Raises ClusterError."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ClusterError(f"cannot read {path}: {_words(error)}") from error


def _context(options: NatsOptions) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
    except OSError as error:
        raise ClusterError(f"cannot use CA file {options.ca_file}: {_words(error)}") from error
    if options.cert_file is not None:
        try:
            context.load_cert_chain(options.cert_file, options.key_file)
        except OSError as error:
            raise ClusterError(f"cannot use certificate {options.cert_file}: {_words(error)}") from error
    return context
