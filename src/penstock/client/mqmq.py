"""MQMQ: put messages into a queue, get them with a deadline. Bodies are bytes; a delivered message is done.

    with mqmq.Client().connect() as client:
        client.put("jobs", b"dig")
        client.get("jobs", timeout=1)

A put is confirmed, and sent again if the connection is lost before the confirmation. MQMQ has no ids, so the message
may then be in the queue twice, unless it is put with `dedup=True` on Penstock. A get waits on its own connection. Its
message leaves the queue when the server sends it, so a message in transit is lost with the connection: consume over
another protocol if you cannot lose messages.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never, Unpack

from penstock.client._auth import Auth, AuthAnswer
from penstock.client._client import AsyncClientBase
from penstock.client._delivery_options import DeliveryOptions, options_of
from penstock.client._ids import IdSource
from penstock.client._link import AUTH_HINT, Deadline
from penstock.client._options import Address, AddressLike, Options
from penstock.client._requests import RequestsInOrder
from penstock.client._sync import SyncClient, blocking, blocking_self
from penstock.client.errors import BadReply, Closed, ConnectionLost, Denied, ServerError
from penstock.client.errors import Timeout as Timeout

DEFAULT_PORT = 47774
NAME_SIZE_MAX = 1024
GET_SECONDS_MAX = 3600.0
FRAME_SIZE_MAX = 256 << 20  # the broker's frames may be larger than those of the original server
IDLE_MAX = 8  # connections kept for the next get
DENIED = "REQUEST_DENIED"


@dataclass(frozen=True)
class ServerInfo:
    """Statistics of the server."""

    connections: int
    messages: int
    queues: dict[str, int]
    """Number of messages per queue."""


class _Auth(Auth):
    def encode_token(self, token: bytes) -> bytes:
        return encode(b"Auth", token)

    def encode_probe(self) -> bytes:
        return encode(b"Info")

    def parse_answer(self, heard: bytes) -> AuthAnswer | None:
        end = 4 + int.from_bytes(heard[:4], "big")
        if len(heard) < max(end, 4):
            return None
        values = decode(heard[4:end])
        word = values[1].decode("utf-8", "replace") if len(values) > 1 else ""
        return AuthAnswer(values[:1] == [b"OK"], heard[end:], word)


AUTH = _Auth()


class _Frames(RequestsInOrder):
    def __init__(self, addresses: Sequence[Address], options: Options) -> None:
        super().__init__(addresses, options, AUTH)
        self._rest = bytearray()

    def answers_in(self, data: bytes) -> list[bytes]:
        rest = self._rest
        rest += data
        answers = []
        at = 0
        while len(rest) - at >= 4:
            size = int.from_bytes(rest[at : at + 4], "big")
            if size > FRAME_SIZE_MAX:
                raise BadReply(f"a frame is too large: {size} bytes")
            if len(rest) - at - 4 < size:
                break
            answers.append(bytes(rest[at + 4 : at + 4 + size]))
            at += 4 + size
        del rest[:at]
        return answers

    def lost(self) -> None:
        self._rest.clear()
        super().lost()

    async def close(self) -> None:
        """Send Quit, as the spec asks, unless a request is still unanswered.

        An abandoned Get must end at once, or the server would give it the next message.
        """
        if self.link.is_up and not self.link.closed and not self.pending:
            self.link.write(encode(b"Quit"))
        await super().close()


class _Puts(_Frames):
    """All requests except gets, so answers always come soon."""

    def ping(self) -> bytes:
        return self.ask_in_passing(encode(b"Info"))


def encode(*values: bytes) -> bytes:
    body = b"".join([len(value).to_bytes(4, "big") + value for value in values])
    return len(body).to_bytes(4, "big") + body


def decode(body: bytes) -> list[bytes]:
    """Return the values of a frame. Raises BadReply if one extends past its end."""
    values = []
    at = 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if at + 4 > len(body) or end > len(body):
            raise BadReply("a value extends past the end of its frame")
        values.append(body[at + 4 : end])
        at = end
    return values


def name_of(queue: str | bytes) -> bytes:
    name = queue.encode("utf-8", "surrogateescape") if isinstance(queue, str) else queue
    if len(name) > NAME_SIZE_MAX:
        raise ValueError(f"queue name of {len(name)} bytes: MQMQ allows at most {NAME_SIZE_MAX}")
    return name


class AsyncClient(AsyncClientBase[_Puts, Never]):
    """A client for the running event loop."""

    _default_port = DEFAULT_PORT

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options)
        self._idle: list[_Frames] = []
        self._busy: set[_Frames] = set()
        self._closed = False
        self._ids = IdSource()

    def _make_requests(self) -> _Puts:
        return _Puts(self._addresses, self.options)

    async def put(
        self,
        queue: str | bytes,
        message: str | bytes,
        *,
        timeout: float | None = None,
        **terms: Unpack[DeliveryOptions],
    ) -> None:
        """Put a message into a queue and wait for the confirmation. Raises ServerError if the server refuses it."""
        body = message.encode() if isinstance(message, str) else message
        values = [b"Put", name_of(queue), body]
        if terms:
            values.append(options_of(terms, self._ids.next()))
        if self._requests.link.is_crowded:
            await self._requests.link.room(timeout)
        self._values(await self._requests.ask(encode(*values), "Put", timeout), "Put")

    async def get(self, queue: str | bytes, timeout: float = 0.0) -> bytes:
        """Return the next message of a queue, waiting up to `timeout` seconds. Raises Timeout if there is none."""
        if timeout > GET_SECONDS_MAX:
            raise ValueError(f"timeout of {timeout:g} seconds: a get waits at most {GET_SECONDS_MAX:g}")
        name = name_of(queue)
        deadline = Deadline(max(timeout, 0.0))
        frames = self._idle.pop() if self._idle else _Frames(self._addresses, self.options)
        self._busy.add(frames)
        done = False
        try:
            answer = await self._get(frames, name, deadline)
            done = True
        finally:
            self._busy.discard(frames)
            if done and len(self._idle) < IDLE_MAX and not self._closed:
                self._idle.append(frames)
            else:  # no one would take a message that arrives now: close, so that the server keeps it
                await frames.close()
        values = self._values(answer, "Get")
        if values[0] == b"Timeout":
            raise Timeout(f"no message in {queue!r} within {timeout:g} s")
        if len(values) < 2:
            raise BadReply("the server answered a Get with OK, but without a message")
        return values[1]

    async def _get(self, frames: _Frames, name: bytes, deadline: Deadline) -> bytes:
        if self._closed:
            raise Closed("the client was closed")
        link = frames.link
        if link.generation == 0:
            link.start()
        while True:
            await link.until_up(max(deadline.left(), self.options.connect_timeout))
            milliseconds = b"%d" % max(1, int(deadline.left() * 1000))
            # The server enforces the deadline; this longer one only guards against a server that does not.
            guard = deadline.left() + self.options.timeout
            try:
                return await frames.ask(encode(b"Get", name, milliseconds), "Get", guard, once=True)
            except ConnectionLost as error:
                if deadline.left() <= 0:
                    raise Timeout(f"no message within {deadline.seconds:g} s: {error}") from error

    async def info(self, *, timeout: float | None = None) -> ServerInfo:
        """Return the server's connections, queues and messages."""
        values = self._values(await self._requests.ask(encode(b"Info"), "Info", timeout), "Info")
        try:
            told = json.loads(values[1])
            queues = {name: queue["NumMessages"] for name, queue in told["Queues"].items()}
            return ServerInfo(told["NumConnections"], told["NumMessages"], queues)
        except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadReply(f"cannot parse the Info response: {error}") from error

    async def disconnect(self) -> None:
        """Close all connections. Waiting gets raise Closed."""
        self._closed = True
        for frames in [*self._idle, *self._busy]:
            await frames.close()
        self._idle.clear()
        await super().close()

    close = disconnect

    def _values(self, answer: bytes, what: str) -> list[bytes]:
        values = decode(answer)
        if values and values[0] == b"Error":
            code = values[1].decode("utf-8", "replace") if len(values) > 1 else "no reason"
            if code == DENIED:
                raise Denied(what, code, "" if self._requests.link.has_credentials else AUTH_HINT)
            raise ServerError(what, code)
        if not values or values[0] not in (b"OK", b"Timeout"):
            raise BadReply(f"expected OK, Timeout or Error, got {values[:1]!r}")
        return values


async def connect(address: AddressLike | Sequence[AddressLike] = "", *, options: Options | None = None) -> AsyncClient:
    """Return a connected client. Use it with `async with`."""
    return await AsyncClient(options).connect(address)


class Client(SyncClient[AsyncClient]):
    """The same methods for programs without an event loop."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(AsyncClient(options))

    connect = blocking_self(AsyncClient.connect)
    put = blocking(AsyncClient.put)
    get = blocking(AsyncClient.get)
    info = blocking(AsyncClient.info)

    def disconnect(self) -> None:
        """Close all connections. Waiting gets raise Closed."""
        self.close()
