"""SEVX: JSON events, delivered to every receiver whose pattern they match.

    from penstock.client.sevx import on, send, send_prefix

    send_prefix({"src": "service1"})

    @on({"obj": "user", "act": "updated"})
    def on_event(event):
        print(event.id, event.dt, event.content.data.name)

    send({"obj": "user", "act": "updated", "data": {"id": 42, "name": "Kate"}})

The functions of this module share one client, created on first use; `connect` sets its address. A separate `Client` has
the same functions as methods. SEVX answers every request, so an event is sent again after a reconnect until it is
answered, whether or not the caller waits. Each receiver has its own connection.
"""

import atexit
import functools
import hashlib
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self, Unpack

import orjson

from penstock.client._auth import AuthById
from penstock.client._client import AsyncClientBase
from penstock.client._consumer import AsyncConsumerById, ConsumerBase, handle_on_thread
from penstock.client._delivery_options import DeliveryOptions, flags_of, seconds_of
from penstock.client._ids import dtid, time_of_dtid
from penstock.client._options import Address, AddressLike, Options
from penstock.client._requests import Pending, RequestsById
from penstock.client._sync import LoopThread, SyncClient, blocking, blocking_self
from penstock.client.errors import BadReply, ClientError

DEFAULT_PORT = 54322
QUEUE_SIZE_MAX = 1000  # a longer default name is cut and ends in a hash
CLOSE_SECONDS = 5.0

Json = Mapping[str, Any]


class _Auth(AuthById):
    def encode_token(self, token: bytes) -> bytes:
        return encode(dtid(), "auth", {"token": token.decode()})

    def encode_probe(self) -> bytes:
        return _encode_ping()


AUTH = _Auth()


class Content:
    """A JSON object with attribute access: `content.data.name`. Use `content["data"]` for other names."""

    __slots__ = ("_members",)

    def __init__(self, members: dict[str, Any]) -> None:
        self._members = members

    def __getattr__(self, name: str) -> Any:
        try:
            return _content(self._members[name])
        except KeyError:
            raise AttributeError(f"the event has no {name!r}, only {', '.join(self._members) or 'nothing'}") from None

    def __getitem__(self, name: str) -> Any:
        return _content(self._members[name])

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        return self._members == (other._members if isinstance(other, Content) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Content({self._members!r})"


def _content(value: Any) -> Any:
    if isinstance(value, dict):
        return Content(value)
    return [_content(item) for item in value] if isinstance(value, list) else value


class Event:
    """An event delivered to a receiver."""

    __slots__ = ("_members", "_receiver", "generation", "id", "json", "thread")

    def __init__(self, receiver: "AsyncReceiver", id: str, json: str, members: dict[str, Any]) -> None:
        self._receiver = receiver
        self._members = members
        self.generation = receiver.link.generation
        self.id = id
        self.json = json
        self.thread: LoopThread | None = None

    @property
    def dt(self) -> datetime | None:
        """When it was sent (UTC, without tzinfo), taken from its id; None if the id is not in SEVX's format."""
        return time_of_dtid(self.id)

    @property
    def content(self) -> Content:
        return Content(self._members)

    @property
    def value(self) -> dict[str, Any]:
        """The content as plain dicts and lists."""
        return self._members

    @property
    def retry(self) -> int:
        """Number of earlier deliveries."""
        count = self._members.get("retry", 0)
        return count if isinstance(count, int) else 0

    def ack(self, *, wait: bool = False) -> None:
        """Acknowledge the event. Thread-safe. Only events of the sync client support `wait`."""
        self._settle("ack", {"event_id": self.id}, wait)

    def ack_all(self, *, wait: bool = False) -> None:
        """Acknowledge every event delivered to this receiver."""
        self._settle("ack", {"all": True}, wait)

    def reject(self, *, delay: float | None = None, dead: bool = False, wait: bool = False) -> None:
        """Return the event to its queue and increment its retry counter.

        Penstock only: `delay` requeues it after that many seconds, `dead` makes it a dead letter.
        """
        how = {} if delay is None else {"delay": seconds_of("delay", delay)}
        if not self._receiver.is_stale(self):
            self._settle("reject", {"event_id": self.id, **how, **({"dead": True} if dead else {})}, wait)

    def reject_all(self, *, wait: bool = False) -> None:
        """Return all unacknowledged events of this receiver to the queue."""
        self._settle("reject", {"all": True}, wait)

    def _settle(self, action: str, which: Json, wait: bool) -> None:
        if not wait:
            self._receiver.settle_soon(action, which)
        elif self.thread is None:
            raise ValueError("wait=True works only with the sync client: use `await receiver.settle(...)`")
        else:
            self.thread.run(self._receiver.settle(action, which))

    def __repr__(self) -> str:
        return f"<Event {self.id} {self.json[:80]}>"


class AsyncReceiver(AsyncConsumerById[Event]):
    """A receiver with its own connection: iterate over it, or call `get`."""

    def __init__(
        self, requests: RequestsById, addresses: Sequence[Address], options: Options, arguments: dict[str, Any]
    ) -> None:
        super().__init__(addresses, options, AUTH, dtid(), bool(arguments.get("manual_ack")))
        self._requests = requests
        self.queue: str = arguments["queue"]
        self._line = b"%b recv %b\n" % (self._id, orjson.dumps(arguments))

    def greeting(self) -> bytes:
        return self._line

    def ping(self) -> bytes:
        return _encode_ping()

    def message_of(self, rest: bytes) -> Event:
        id, _, body = (b"", b"", rest) if rest.startswith(b"{") else rest.partition(b" ")
        try:
            members = orjson.loads(body)
            if not isinstance(members, dict):
                raise ValueError("not an object")
            text = body.decode()
        except ValueError as error:
            raise BadReply(f"expected an event id and a JSON object, got {rest[:80]!r}: {error}") from None
        # Version 0.1.1 of the spec has the id inside the object.
        return Event(self, id.decode("utf-8", "replace") or str(members.get("id", "")), text, members)

    def is_stale(self, event: Event) -> bool:
        return self.manual_ack and event.generation != self.link.generation

    async def failed(self, event: Event) -> None:
        if self.manual_ack:
            event.reject()

    def settle_soon(self, action: str, which: Json) -> None:
        """Settle without waiting, over the receiver's own connection: if that is lost, the events are redelivered."""
        if self.link.is_up:
            self.link.post(encode(dtid(), action, {"receiver_id": self.id, **which}))

    async def settle(self, action: str, which: Json, *, timeout: float | None = None) -> None:
        """Settle with confirmation: `settle("ack", {"event_id": ...})`, `settle("reject", {"all": True})`."""
        await ask(self._requests, action, {"receiver_id": self.id, **which}, timeout)

    async def delete_queue(self, *, timeout: float | None = None) -> None:
        """Delete the queue and its events on the server. It receives no more events."""
        await ask(self._requests, "delete_queue", {"queue": self.queue}, timeout)

    async def delete(self, *, timeout: float | None = None) -> None:
        """Delete the receiver on the server. Unacknowledged events return to the queue."""
        await self.link.close()
        try:
            await ask(self._requests, "delete_receiver", {"receiver_id": self.id}, timeout)
        finally:
            await self.close()


def encode(id: bytes, action: str, data: Json) -> bytes:
    return b"%b %b %b\n" % (id, action.encode(), orjson.dumps(data))


async def ask(requests: RequestsById, action: str, data: Json, timeout: float | None, once: bool = False) -> bytes:
    id = dtid()
    return await requests.ask(id, encode(id, action, data), action, timeout, once)


def default_queue(function: Callable[..., object], pattern: Json) -> str:
    """The function's full path and the sorted pattern: opt.service2.events.test.on_event.act=updated.obj=user."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    file = Path(code.co_filename).resolve().with_suffix("") if code is not None else Path(type(function).__module__)
    name = getattr(function, "__qualname__", type(function).__qualname__).replace("<locals>.", "")
    place = ".".join(part for part in file.parts if part != file.anchor)
    queue = ".".join([place, name, *sorted(_leaves(pattern, ""))])
    if len(queue.encode()) > QUEUE_SIZE_MAX:
        queue = f"{queue[: QUEUE_SIZE_MAX // 4]}.{hashlib.sha256(queue.encode()).hexdigest()}"
    return queue


def _leaves(pattern: Json, path: str) -> Iterator[str]:
    for key, value in pattern.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}={value if isinstance(value, str) else orjson.dumps(value).decode()}"


def recv_arguments(
    pattern: Json, queue: str, delete_queue_when_unused: bool | float | None, manual_ack: bool
) -> dict[str, Any]:
    arguments: dict[str, Any] = {"pattern": dict(pattern), "queue": queue}
    if delete_queue_when_unused is not None:
        arguments["delete_queue_when_unused"] = delete_queue_when_unused
    if manual_ack:
        arguments["manual_ack"] = True
    return arguments


class AsyncClient(AsyncClientBase[RequestsById, AsyncReceiver]):
    """A client for the running event loop."""

    _default_port = DEFAULT_PORT

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options)
        self.prefix: dict[str, Any] = {}

    def _make_requests(self) -> RequestsById:
        return RequestsById(self._addresses, self.options, AUTH, _encode_ping)

    async def start(self, address: AddressLike | Sequence[AddressLike] = "") -> Self:
        """Connect in the background. Events sent meanwhile are buffered."""
        self._prepare(address).start()
        return self

    def send_prefix(self, prefix: Json) -> None:
        """Set members that are added to every event this client sends."""
        self.prefix = dict(prefix)

    async def send(
        self, event: Json, *, wait: bool = False, timeout: float | None = None, **terms: Unpack[DeliveryOptions]
    ) -> str:
        """Send an event. Returns its id. `wait` waits until the server has accepted it; ServerError if it refuses."""
        id = dtid()
        line = b"%b send %b%b\n" % (id, flags_of(terms), orjson.dumps({**self.prefix, **event}))
        if wait:
            await self._requests.ask(id, line, "send", timeout)
        else:
            self._requests.send(Pending(line, None, what="send", id=id))
            if self._requests.is_crowded:
                await self._requests.room(timeout)
        return id.decode()

    async def receive(
        self,
        pattern: Json,
        handler: Callable[[Event], object] | None = None,
        *,
        queue: str | None = None,
        delete_queue_when_unused: bool | float | None = None,
        manual_ack: bool = False,
        wait: bool = True,
        timeout: float | None = None,
    ) -> AsyncReceiver:
        """Receive events that match the pattern, with the handler or by iterating over the receiver.

        Args:
            queue: receivers of one queue share its events. By default it is named after the handler and the pattern.
            delete_queue_when_unused: False keeps the queue; a number deletes it after that many seconds without a
                receiver. By default it is deleted at once.
            manual_ack: events must be acknowledged; the server redelivers those that are not.
            wait: wait for the server's answer.
        """
        if queue is None:
            if handler is None:
                raise ValueError("a receiver without a handler needs a queue")
            queue = default_queue(handler, pattern)
        arguments = recv_arguments(pattern, queue, delete_queue_when_unused, manual_ack)
        receiver = AsyncReceiver(self._requests, self._addresses, self.options, arguments)
        return await self._start(receiver.id, receiver, handler, timeout, wait=wait)

    async def delete_queue(self, queue: str, *, timeout: float | None = None) -> None:
        await ask(self._requests, "delete_queue", {"queue": queue}, timeout)

    async def redrive(
        self, queue: str, *, limit: int | None = None, to: str | None = None, timeout: float | None = None
    ) -> int:
        """Move dead letters back to the queues they died in, or to `to`. Returns how many were moved. Penstock only."""
        arguments: dict[str, Any] = {"queue": queue}
        if limit is not None:
            arguments["limit"] = limit
        if to is not None:
            arguments["to"] = to
        return int(_member(await ask(self._requests, "redrive", arguments, timeout), "moved"))

    async def ping(self, data: str = "penstock", *, timeout: float | None = None) -> str:
        """Send data that the server echoes. Returns the echo."""
        return str(_member(await ask(self._requests, "_ping", {"data": data}, timeout), "data"))

    async def unrouted(self, *, timeout: float | None = None) -> int:
        """Count the events of this connection that no queue accepted. Penstock only; others answer with an error."""
        return int(_member(await ask(self._requests, "unrouted", {}, timeout, once=True), "unrouted"))

    async def eval(self, code: str, *, timeout: float | None = None) -> Any:
        """Evaluate an expression over the server's `state`. Returns the value."""
        return _member(await ask(self._requests, "_eval", {"code": code}, timeout), "result")

    async def close(self) -> None:
        """Wait up to 5 seconds for outstanding answers, then close all connections."""
        await self._close_consumers()
        if self._addresses:
            await self._requests.drain(min(CLOSE_SECONDS, self.options.timeout))
        await super().close()


def _encode_ping() -> bytes:
    return encode(dtid(), "_ping", {"data": "penstock"})


def _member(answer: bytes, name: str) -> Any:
    try:
        return orjson.loads(answer)[name]
    except (ValueError, KeyError, TypeError) as error:
        raise BadReply(f"expected an object with {name!r}, got {answer[:80]!r}") from error


async def connect_async(
    address: AddressLike | Sequence[AddressLike] = "", *, options: Options | None = None
) -> AsyncClient:
    """Return a connected client. Use it with `async with`."""
    return await AsyncClient(options).connect(address)


# -- sync client, as the spec shows it --------------------------------------------------------------------------------


class Receiver(ConsumerBase[AsyncReceiver, Event]):
    """A function decorated with `on`: still callable, with methods to stop receiving."""

    def __init__(self, thread: LoopThread, receiver: AsyncReceiver, function: Callable[[Event], object]) -> None:
        super().__init__(thread, receiver)
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, event: Event) -> object:
        return self._function(event)

    @property
    def queue(self) -> str:
        return self._async.queue

    @property
    def id(self) -> str:
        return self._async.id

    delete_queue = blocking(AsyncReceiver.delete_queue)
    delete = blocking(AsyncReceiver.delete)

    def _events(self) -> Iterator[Event]:
        for event in self.items():
            event.thread = self._thread
            yield event

    def _start(self) -> None:
        manual = self._async.manual_ack
        handle_on_thread(self._events(), self._function, lambda event: event.reject() if manual else None)


class Client(SyncClient[AsyncClient]):
    """The same methods for programs without an event loop. Each receiver runs its handler on its own thread."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(AsyncClient(options))

    connect = blocking_self(AsyncClient.connect)
    start = blocking_self(AsyncClient.start)
    send = blocking(AsyncClient.send)
    delete_queue = blocking(AsyncClient.delete_queue)
    redrive = blocking(AsyncClient.redrive)
    unrouted = blocking(AsyncClient.unrouted)
    _ping = blocking(AsyncClient.ping)
    _eval = blocking(AsyncClient.eval)

    def send_prefix(self, prefix: Json) -> None:
        """Set members that are added to every event this client sends."""
        self._async.send_prefix(prefix)

    def on(
        self,
        pattern: Json,
        *,
        delete_queue_when_unused: bool | float | None = None,
        manual_ack: bool = False,
        wait: bool = False,
        queue: str | None = None,
        timeout: float | None = None,
    ) -> Callable[[Callable[[Event], object]], Receiver]:
        """Call the decorated function with every event that matches the pattern."""

        def decorate(function: Callable[[Event], object]) -> Receiver:
            started = self._async.receive(
                pattern,
                queue=queue or default_queue(function, pattern),
                delete_queue_when_unused=delete_queue_when_unused,
                manual_ack=manual_ack,
                wait=wait,
                timeout=timeout,
            )
            receiver = Receiver(self._thread, self._thread.run(started), function)
            receiver._start()
            return receiver

        return decorate


# -- the shared client of the process ---------------------------------------------------------------------------------

_shared: Client | None = None
_shared_lock = threading.Lock()


def connect(address: AddressLike | Sequence[AddressLike] = "", *, options: Options | None = None) -> Client:
    """Connect the client that the functions of this module share. Raises ConnectFailed if no server answers."""
    client = Client(options)
    try:
        client.connect(address)
    except BaseException:
        client.close()
        raise
    _share(client)
    return client


def disconnect() -> None:
    """Close the client that the functions of this module share."""
    _share(None)


def shared() -> Client:
    """Return the client that the functions of this module share. The first call starts one on the default port."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Client().start()
        return _shared


def _share(client: Client | None) -> None:
    global _shared
    with _shared_lock:
        old, _shared = _shared, client
    if old is not None:
        old.close()


@atexit.register
def _close_shared() -> None:
    try:
        _share(None)
    except ClientError:
        pass  # in a forked process: the client belongs to the parent


def send(event: Json, *, wait: bool = False, timeout: float | None = None, **terms: Unpack[DeliveryOptions]) -> str:
    """Send an event with the shared client. Returns its id."""
    return shared().send(event, wait=wait, timeout=timeout, **terms)


def send_prefix(prefix: Json) -> None:
    """Set members that are added to every event the shared client sends."""
    shared().send_prefix(prefix)


def on(
    pattern: Json,
    *,
    delete_queue_when_unused: bool | float | None = None,
    manual_ack: bool = False,
    wait: bool = False,
    queue: str | None = None,
) -> Callable[[Callable[[Event], object]], Receiver]:
    """Call the decorated function with every event that matches the pattern, using the shared client."""
    return shared().on(
        pattern,
        delete_queue_when_unused=delete_queue_when_unused,
        manual_ack=manual_ack,
        wait=wait,
        queue=queue,
    )


def _ping(data: str = "penstock") -> str:
    return shared()._ping(data)


def _eval(code: str) -> Any:
    return shared()._eval(code)
