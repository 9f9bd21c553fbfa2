"""RQ: request and reply over queues, with credit, priorities, exclusive consumers, broadcasts and several controllers.

    async with await rq.connect(["10.0.0.1:13700", "10.0.0.2:13700"]) as client:
        await client.consume("sums", lambda request: str(eval_sum(request.payload)), max=10)
        await client.request("sums", b"2+2", timeout=5)

The client keeps a list of controllers. One that cannot be reached, sends SERVER_FULL or closes the connection moves to
the end of the list, and the next is tried. If a controller does not answer a PING, or sends CLOSING, the client
switches to the next; it keeps the old connection if it has consumers, and closes it otherwise.

A request without a reply is sent again when its connection is lost, so it may be processed twice; with `once=True` it
raises ConnectionLost instead.
"""

import asyncio
import concurrent.futures
import inspect
import queue as queues
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self, cast

from penstock import risp
from penstock.client import _risp
from penstock.client._auth import Auth, AuthAnswer
from penstock.client._closing import AsyncClosing
from penstock.client._delivery_options import milliseconds_of
from penstock.client._inbox import Inbox
from penstock.client._link import Link, LinkProtocol, Unconnected, log
from penstock.client._options import Address, AddressLike, Options, addresses_of
from penstock.client._requests import TRIES_MAX, Pending
from penstock.client._sync import Blocking, LoopThread, SyncClient, blocking, blocking_self, until_closed
from penstock.client.errors import ClientError, Closed, ConnectionLost, Denied, ServerError

DEFAULT_PORT = 13700
IDS = 0x8000  # the original server keeps ids in a signed 16-bit integer
QUEUE_SIZE_MAX = 255
FAILURE_SECONDS = 0.2  # delay before a request is rejected after its handler failed

# Priority bands.
NONE = 0  # broadcasts only
LOW = 10
NORMAL = 20
HIGH = 30

Reply = bytes | str | None


class _Auth(Auth):
    def encode_token(self, token: bytes) -> bytes:
        code = risp.TOKEN if len(token) <= _risp.SHORT_SIZE_MAX else risp.LONG_TOKEN
        return bytes((risp.CLEAR,)) + _risp.field(code, token)

    def encode_probe(self) -> bytes:
        return bytes((risp.PING,))

    def parse_answer(self, heard: bytes) -> AuthAnswer | None:
        for group in _risp.Decoder().groups_in(heard):
            if group.action in (risp.WELCOME, risp.PONG):
                return AuthAnswer(True)
            if group.action == risp.DENIED:
                return AuthAnswer(False, reason="DENIED")
        return None


AUTH = _Auth()


class Undelivered(ServerError):
    """No consumer completed the request: it was refused, ran out of retries or expired."""


def name_of(queue: str | bytes) -> bytes:
    name = queue.encode("utf-8", "surrogateescape") if isinstance(queue, str) else queue
    if not 0 < len(name) <= QUEUE_SIZE_MAX:
        raise ValueError(f"queue name of {len(name)} bytes: RQ allows 1 to {QUEUE_SIZE_MAX}")
    return name


def payload_of(data: str | bytes) -> bytes:
    payload = data.encode() if isinstance(data, str) else data
    if not payload:
        raise ValueError("an empty payload cannot be sent over RQ")
    return payload


def fields_of(
    retries: int | None, expire_seconds: int | None, delay: float | None, ttl: float | None
) -> dict[int, int]:
    """Return the optional fields of a request, keyed by command code. Raises ValueError."""
    fields: dict[int, int] = {}
    if retries is not None:
        if not 0 <= retries <= 255:
            raise ValueError(f"{retries} retries: RQ allows 0 to 255")
        fields[risp.RETRIES] = retries
    if expire_seconds is not None:
        if not 0 <= expire_seconds <= 65535:
            raise ValueError(f"expire_seconds of {expire_seconds}: RQ allows 0 to 65535")
        fields[risp.TIMEOUT] = expire_seconds
    if delay is not None:
        fields[risp.DELAY] = milliseconds_of("delay", delay)
    if ttl is not None:
        fields[risp.TTL] = milliseconds_of("ttl", ttl)
    return fields


class Request:
    """A request delivered to a consumer. End it with `reply`, `done` or `reject`; a handler does so by returning."""

    __slots__ = ("_generation", "_id", "_is_answered", "_session", "is_broadcast", "payload", "queue", "wants_reply")

    def __init__(self, session: "_Session", queue: bytes, group: _risp.Group) -> None:
        self._session = session
        self._generation = session.link.generation
        self._id = group.id
        self._is_answered = False
        self.queue = queue.decode("utf-8", "surrogateescape")
        self.payload = group.payload or b""
        self.is_broadcast = group.action == risp.BROADCAST
        self.wants_reply = not group.noreply and not self.is_broadcast

    @property
    def is_stale(self) -> bool:
        """Whether its connection was lost, so that the controller redelivers it."""
        return self._generation != self._session.link.generation or not self._session.link.is_up

    def reply(self, data: Reply = b"") -> None:
        """Complete the request, with a reply if the requester wants one. Thread-safe."""
        payload = data.encode() if isinstance(data, str) else data or b""
        if self.wants_reply:
            self._answer(risp.REPLY, payload)
        else:
            self._answer(risp.DELIVERED, None)

    def done(self) -> None:
        """Complete the request with an empty reply. Thread-safe."""
        self.reply()

    def reject(self) -> None:
        """Give the request back, so that another consumer may try. Thread-safe."""
        self._answer(risp.UNDELIVERED, None)

    def _answer(self, action: int, payload: bytes | None) -> None:
        if self._id is None or self.is_broadcast or self._is_answered:
            return
        self._is_answered = True
        if not self.is_stale:
            self._session.link.post(_risp.encode_answer(action, self._id, payload))

    def __repr__(self) -> str:
        return f"<Request {self.queue} {self.payload[:60]!r}>"


class AsyncConsumer:
    """A consumer of one queue: use a handler, iterate over it, or call `get`."""

    def __init__(self, client: "AsyncClient", queue: bytes, max: int, priority: int | None, exclusive: bool) -> None:
        self._client = client
        self.queue = queue
        self.max = max
        self.priority = priority
        self.exclusive = exclusive
        self.consuming = asyncio.Event()  # set once a controller has sent CONSUMING, or the consumer has ended
        self.error: ClientError | None = None  # why it has ended
        self._inbox: Inbox[Request] = Inbox(1 << 30, _nothing, _nothing)  # bounded by MAX
        self._handler: Callable[[Request], object] | None = None
        self._into: queues.SimpleQueue[Request] | None = None
        self._working: set[asyncio.Task[None]] = set()

    def handle(self, handler: Callable[[Request], object]) -> None:
        """Call the handler with every request, up to `max` at a time. Its return value is the reply."""
        self._handler = handler
        while (request := self._inbox.take_now()) is not None:
            self.give(request)

    def pass_on(self, into: "queues.SimpleQueue[Request]") -> None:
        """Put every request into this queue. Several consumers may share it, and other threads read from it."""
        self._into = into
        while (request := self._inbox.take_now()) is not None:
            into.put(request)

    def give(self, request: Request) -> None:
        if self._into is not None:
            self._into.put(request)
            return
        if self._handler is None:
            self._inbox.put([request])
            return
        task = asyncio.get_running_loop().create_task(self._work(self._handler, request))
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _work(self, handler: Callable[[Request], object], request: Request) -> None:
        try:
            outcome = handler(request)
            if inspect.isawaitable(outcome):
                outcome = await outcome
            if not (outcome is None or isinstance(outcome, bytes | str)):
                raise TypeError(f"a handler must return bytes, str or None, not {type(outcome).__name__}")
            request.reply(outcome)
        except Exception:
            log.exception("handler failed for %r", request)
            await asyncio.sleep(FAILURE_SECONDS)
            request.reject()

    async def get(self, timeout: float | None = None) -> Request:
        """Return the next request. Raises Timeout if none arrives in time, Closed after `cancel`."""
        return (await self.take(1, timeout))[0]

    async def take(self, count_max: int, timeout: float | None = None) -> list[Request]:
        return await self._inbox.take(count_max, timeout)

    def allow(self, max: int) -> None:
        """Change how many requests may be unfinished at a time."""
        self.max = max
        self._client.say(self.encode())

    def encode(self) -> bytes:
        return _risp.encode_consume(self.queue, self.max, self.priority, self.exclusive)

    def forget(self, session: "_Session") -> None:
        """Drop requests of a lost connection that were not taken yet: they are redelivered."""
        kept = []
        while (request := self._inbox.take_now()) is not None:
            if request._session is not session:
                kept.append(request)
        self._inbox.put(kept)

    async def cancel(self) -> None:
        """Stop consuming. Requests already taken may still be answered."""
        if self._client.drop(self):
            self._client.say(_risp.group(risp.CANCEL_QUEUE, _risp.field(risp.QUEUE, self.queue)))
        while (request := self._inbox.take_now()) is not None:
            request.reject()
        self.end(Closed("the consumer was cancelled"))

    def end(self, error: ClientError) -> None:
        self.error = error
        self.consuming.set()
        self._inbox.end(error)

    def stop_working(self) -> None:
        for task in self._working:
            task.cancel()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Request:
        try:
            return await self.get()
        except Closed:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cancel()


def _nothing() -> None:
    """MAX limits a consumer. Reading is never paused, because replies arrive on the same connection."""


class _Ask(Pending):
    """A request of this client that has no reply yet."""

    __slots__ = ("noreply", "sent")

    def __init__(self, data: bytes, future: "asyncio.Future[bytes]", noreply: bool, once: bool) -> None:
        super().__init__(data, future, once)
        self.noreply = noreply
        self.sent = False


class _Session(LinkProtocol):
    """One controller: its connection, and the queue ids it has assigned."""

    def __init__(self, client: "AsyncClient", addresses: Sequence[Address]) -> None:
        self._client = client
        self.link = Link(addresses, client.options, self, AUTH)
        self.link.on_silence = self._on_silence
        self.is_parting = False  # it sent CLOSING
        self._decoder = _risp.Decoder()
        self._names: dict[int, bytes] = {}

    def greeting(self) -> bytes:
        self.is_parting = False
        return self._client.greeting(self)

    def lost(self) -> None:
        self._decoder.clear()
        self._names.clear()
        self.link.outbox.clear()
        self._client.lost(self)

    def ended(self, error: ClientError) -> None:
        self._client.ended(self, error)

    def ping(self) -> bytes:
        return bytes((risp.PING,))

    def _on_silence(self) -> bool:
        return self._client.move_on(self)

    def feed(self, data: bytes) -> None:
        for group in self._decoder.groups_in(data):
            handler = HANDLERS.get(group.action)
            if handler is not None:
                handler(self, group)

    def on_ping(self, group: _risp.Group) -> None:
        self.link.write(bytes((risp.PONG,)))

    def on_consuming(self, group: _risp.Group) -> None:
        if group.queue_id is not None:
            self._names[group.queue_id] = group.queue
        consumer = self._client.consumers.get(group.queue)
        if consumer is not None:
            consumer.consuming.set()

    def on_request(self, group: _risp.Group) -> None:
        queue = group.queue or self._names.get(group.queue_id if group.queue_id is not None else -1, b"")
        request = Request(self, queue, group)
        consumer = self._client.consumers.get(queue)
        if consumer is None:
            request.reject()
            return
        if request.wants_reply and group.id is not None:
            self.link.write(_risp.encode_answer(risp.DELIVERED, group.id))
        consumer.give(request)

    def on_delivered(self, group: _risp.Group) -> None:
        ask = self._client.asks.get(group.id if group.id is not None else -1)
        if ask is not None and ask.noreply:
            self._client.answered(group.id, b"")

    def on_reply(self, group: _risp.Group) -> None:
        self._client.answered(group.id, group.payload or b"")

    def on_undelivered(self, group: _risp.Group) -> None:
        if self.is_parting:
            return  # the request is sent to the next controller
        self._client.undelivered(group.id)

    def on_denied(self, group: _risp.Group) -> None:
        """A CONSUME was denied. Without a queue the token was: the connection ends, and the next one reports why."""
        if group.queue:
            self._client.denied(group.queue)

    def on_closing(self, group: _risp.Group) -> None:
        self.is_parting = True
        self._client.move_on(self)

    def on_server_full(self, group: _risp.Group) -> None:
        self.link.give_up("SERVER_FULL")


HANDLERS: dict[int, Callable[[_Session, _risp.Group], None]] = {
    risp.PING: _Session.on_ping,
    risp.CONSUMING: _Session.on_consuming,
    risp.REQUEST: _Session.on_request,
    risp.BROADCAST: _Session.on_request,
    risp.DELIVERED: _Session.on_delivered,
    risp.REPLY: _Session.on_reply,
    risp.UNDELIVERED: _Session.on_undelivered,
    risp.DENIED: _Session.on_denied,
    risp.CLOSING: _Session.on_closing,
    risp.SERVER_FULL: _Session.on_server_full,
}


class AsyncClient(AsyncClosing):
    """A client for the running event loop."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.consumers: dict[bytes, AsyncConsumer] = {}
        self.asks: dict[int, _Ask] = {}
        self._next_id = 0
        self._session = cast(_Session, Unconnected())
        self._old: set[_Session] = set()  # replaced, but kept for their consumers
        self._closed = False
        self._moving: asyncio.Task[None] | None = None

    async def connect(self, controllers: AddressLike | Sequence[AddressLike] = "") -> Self:
        """Connect to the first controller that answers. Raises ConnectFailed when none does."""
        self._session = _Session(self, addresses_of(controllers, DEFAULT_PORT))
        await self._session.link.open()
        return self

    @property
    def controller(self) -> str:
        """The controller in use, or the next one to try."""
        return str(self._session.link.address)

    # -- requests ---------------------------------------------------------------------------------------------------

    async def request(
        self,
        queue: str | bytes,
        payload: str | bytes,
        *,
        timeout: float | None = None,
        once: bool = False,
        retries: int | None = None,
        expire_seconds: int | None = None,
        delay: float | None = None,
        ttl: float | None = None,
    ) -> bytes:
        """Send a request and return the reply.

        Args:
            once: do not send it again if the connection is lost before the reply; raise ConnectionLost instead.
            retries: how many more consumers may try after one fails; unlimited by default.
            expire_seconds: seconds after which the controller gives up on the request.
            delay, ttl: seconds before it is delivered, and after which it expires. Penstock only.

        Raises:
            Undelivered: no consumer completed the request.
            Timeout: there was no reply in time. The request may have been processed, or may still be.
        """
        fields = fields_of(retries, expire_seconds, delay, ttl)
        return await self._ask(queue, payload, False, timeout, once, fields)

    async def send(
        self,
        queue: str | bytes,
        payload: str | bytes,
        *,
        timeout: float | None = None,
        retries: int | None = None,
        expire_seconds: int | None = None,
        delay: float | None = None,
        ttl: float | None = None,
    ) -> None:
        """Send a request without a reply. Returns once the controller has accepted it."""
        await self._ask(queue, payload, True, timeout, False, fields_of(retries, expire_seconds, delay, ttl))

    async def broadcast(self, queue: str | bytes, payload: str | bytes, *, timeout: float | None = None) -> None:
        """Send a payload to all current consumers of the queue, without confirmation."""
        parts = _risp.field(risp.PAYLOAD, payload_of(payload)), _risp.field(risp.QUEUE, name_of(queue))
        link = self._session.link
        await link.until_up(timeout)
        link.write(_risp.group(risp.BROADCAST, *parts))
        if link.is_crowded:
            await link.room(timeout)

    async def _ask(
        self,
        queue: str | bytes,
        payload: str | bytes,
        noreply: bool,
        timeout: float | None,
        once: bool,
        fields: Mapping[int, int],
    ) -> bytes:
        if self._closed:
            raise Closed("the client was closed")
        self._session.link.check()
        if self._session.link.is_crowded:
            await self._session.link.room(timeout)
        id = self._take_id()
        data = _risp.encode_request(id, name_of(queue), payload_of(payload), noreply, fields)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        ask = _Ask(data, future, noreply, once)
        self.asks[id] = ask
        session = self._session
        if session.link.is_up and not session.is_parting:
            ask.sent = True
            session.link.write(data)
        try:
            return await session.link.wait_for(future, f"request to {queue!r}: no reply", timeout)
        finally:
            self.asks.pop(id, None)

    def _take_id(self) -> int:
        """Return the next free id, in rotation, so that a late reply does not match a new request."""
        id = self._next_id
        limit = IDS if len(self.asks) < IDS // 2 else 1 << 31
        while id in self.asks:
            id = (id + 1) % limit
        self._next_id = (id + 1) % IDS
        return id

    def answered(self, id: int | None, payload: bytes) -> None:
        ask = self.asks.get(-1 if id is None else id)
        if ask is not None:
            ask.answer(payload)

    def undelivered(self, id: int | None) -> None:
        ask = self.asks.get(-1 if id is None else id)
        if ask is not None:
            ask.fail(Undelivered("request", "UNDELIVERED"))

    # -- consumers --------------------------------------------------------------------------------------------------

    async def consume(
        self,
        queue: str | bytes,
        handler: Callable[[Request], object] | None = None,
        *,
        max: int = 10,
        priority: int | None = None,
        exclusive: bool = False,
        wait: bool | None = None,
        timeout: float | None = None,
    ) -> AsyncConsumer:
        """Consume the requests of a queue.

        Args:
            handler: called with each Request, and awaited if it is a coroutine. Its return value is the reply; if it
                raises, another consumer may try. Without it, iterate over the consumer or call its `get`.
            max: how many requests may be unfinished at a time; 0 means no limit.
            priority: HIGH, NORMAL, LOW, or NONE for broadcasts only.
            exclusive: be the queue's only consumer, once it is this consumer's turn.
            wait: wait for the controller's CONSUMING. The default is True, but False with `exclusive`, where it may
                never come.
        """
        name = name_of(queue)
        if name in self.consumers:
            raise ValueError(f"queue {queue!r} is already consumed by this client")
        self._session.link.check()
        consumer = AsyncConsumer(self, name, max, priority, exclusive)
        self.consumers[name] = consumer
        if handler is not None:
            consumer.handle(handler)
        self.say(consumer.encode())
        if not exclusive if wait is None else wait:
            seconds = self.options.timeout if timeout is None else timeout
            try:
                async with asyncio.timeout(seconds):
                    await consumer.consuming.wait()
                if consumer.error is not None:
                    raise consumer.error
            except BaseException as error:
                await consumer.cancel()
                if isinstance(error, TimeoutError):
                    raise self._session.link.timed_out(f"consume {queue!r}: no answer", seconds) from None
                raise
        return consumer

    def say(self, data: bytes) -> None:
        """Send to the controller if connected. A new connection sends everything anyway."""
        if self._session.link.is_up:
            self._session.link.write(data)

    def drop(self, consumer: AsyncConsumer) -> bool:
        """Forget a consumer. Returns whether it was known."""
        return self.consumers.pop(consumer.queue, None) is not None

    # -- connecting and switching controllers -----------------------------------------------------------------------

    def greeting(self, session: _Session) -> bytes:
        """The first bytes of a new connection: consumers, and requests without a reply."""
        parts = [consumer.encode() for consumer in self.consumers.values()]
        if session is self._session:
            parts += [ask.data for ask in self.asks.values()]
            for ask in self.asks.values():
                ask.sent = True
        return b"".join(parts)

    def lost(self, session: _Session) -> None:
        for consumer in self.consumers.values():
            consumer.forget(session)
        if session is not self._session:
            self._old.discard(session)
            return
        for ask in self.asks.values():
            ask.tries += 1
            if (ask.once and ask.sent) or ask.tries > TRIES_MAX:
                ask.fail(ConnectionLost(f"no reply before the connection ended: {session.link.trouble}"))

    def denied(self, queue: bytes) -> None:
        """End the consumer of a queue that this client may not consume."""
        consumer = self.consumers.pop(queue, None)
        if consumer is not None:
            error = Denied(f"consume {queue.decode('utf-8', 'replace')!r}", "DENIED")
            if consumer.consuming.is_set():
                log.error("a consumer has ended: %s", error)
            consumer.end(error)

    def ended(self, session: _Session, error: ClientError) -> None:
        """The session will not reconnect: fail everything that waits for it."""
        if session is not self._session:
            self._old.discard(session)
            return
        for ask in self.asks.values():
            ask.fail(error)
        for consumer in self.consumers.values():
            consumer.end(error)
        self.consumers.clear()

    def move_on(self, session: _Session) -> bool:
        """Switch to the next controller, if there is one. Returns whether another one takes over."""
        others = list(session.link.addresses)[1:]
        if session is not self._session or not others or self._closed:
            return session is not self._session
        if self._moving is None or self._moving.done():
            self._moving = asyncio.get_running_loop().create_task(self._move(session, others))
        return True

    async def _move(self, old: _Session, others: list[Address]) -> None:
        log.warning("%s is silent or closing: trying the next controller", old.link.address)
        new = _Session(self, [*others, old.link.address])
        self._session = new
        self._old.add(old)
        old.link.is_last = True
        new.link.start()
        try:
            await new.link.until_up(self.options.timeout)
        except ClientError:
            return  # the new link keeps trying, or has reported its end; closing the old one would gain nothing
        if not self.consumers:
            await old.link.close()
            self._old.discard(old)

    async def close(self) -> None:
        """Close all connections at once. Unfinished requests of consumers are redelivered to others."""
        self._closed = True
        if self._moving is not None:
            self._moving.cancel()
        for consumer in self.consumers.values():
            consumer.stop_working()
            consumer.end(Closed("the client was closed"))
        for session in [*self._old, self._session]:
            if isinstance(session, _Session):
                await session.link.close()
        for ask in self.asks.values():
            ask.fail(Closed("the client was closed"))
        self.consumers.clear()


async def connect(
    controllers: AddressLike | Sequence[AddressLike] = "", *, options: Options | None = None
) -> AsyncClient:
    """Return a connected client. Use it with `async with`."""
    return await AsyncClient(options).connect(controllers)


class Consumer(Blocking[AsyncConsumer]):
    """A consumer of one queue: use a handler, iterate over it, or call `get`."""

    def __init__(
        self, thread: LoopThread, consumer: AsyncConsumer, pool: concurrent.futures.ThreadPoolExecutor | None
    ) -> None:
        super().__init__(thread, consumer)
        self._pool = pool

    get = blocking(AsyncConsumer.get)

    def __iter__(self) -> Iterator[Request]:
        """Yield requests until the consumer is cancelled."""
        return until_closed(self.get)

    def allow(self, max: int) -> None:
        """Change how many requests may be unfinished at a time."""
        self._thread.loop.call_soon_threadsafe(self._async.allow, max)

    def cancel(self) -> None:
        """Stop consuming. Requests already taken may still be answered."""
        self._thread.run(self._async.cancel())
        if self._pool is not None:
            self._pool.shutdown(wait=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class Client(SyncClient[AsyncClient]):
    """The same methods for programs without an event loop."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(AsyncClient(options))

    connect = blocking_self(AsyncClient.connect)
    request = blocking(AsyncClient.request)
    send = blocking(AsyncClient.send)
    broadcast = blocking(AsyncClient.broadcast)

    @property
    def controller(self) -> str:
        """The controller in use, or the next one to try."""
        return self._async.controller

    def consume(
        self,
        queue: str | bytes,
        handler: Callable[[Request], Reply] | None = None,
        *,
        into: "queues.SimpleQueue[Request] | None" = None,
        max: int = 10,
        priority: int | None = None,
        exclusive: bool = False,
        wait: bool | None = None,
        timeout: float | None = None,
    ) -> Consumer:
        """Consume the requests of a queue. The handler runs on up to `max` threads. See AsyncClient.consume.

        Args:
            into: put requests into this queue instead, for a program that waits for several queues at once.
        """
        pool = None
        on_loop: Callable[[Request], object] | None = None
        if handler is not None:
            pool = concurrent.futures.ThreadPoolExecutor(max or 32, "penstock-handler")
            work = handler

            def on_loop(request: Request) -> object:
                return asyncio.get_running_loop().run_in_executor(pool, work, request)

        started = self._async.consume(
            queue, on_loop, max=max, priority=priority, exclusive=exclusive, wait=wait, timeout=timeout
        )
        consumer = self._thread.run(started)
        if into is not None:
            self._thread.loop.call_soon_threadsafe(consumer.pass_on, into)
        return Consumer(self._thread, consumer, pool)
