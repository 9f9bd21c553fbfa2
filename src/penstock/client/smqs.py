"""SMQS: queues of JSON values, pushed to their consumers, acknowledged by count.

    async with await smqs.connect() as client:
        users = await client.consume("users")
        await client.publish("users", {"id": 1, "name": "Vagner"}, confirm=True)
        message = await users.get(timeout=1)
        await users.done(1)

SMQS answers only statistics requests. A confirmed publish sends one after the message: requests are processed in order,
so the answer means that the message was accepted, but not that it is on disk. An unconfirmed message is sent again
after a reconnect and may then be in the queue twice. Messages do not name their queue, so each consumer has its own
connection.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

from penstock.client._auth import Auth, AuthAnswer
from penstock.client._client import AsyncClientBase
from penstock.client._consumer import AsyncConsumerBase, ConsumerBase, handle_on_thread
from penstock.client._lines import LineSplitter
from penstock.client._link import log
from penstock.client._options import Address, AddressLike, Options
from penstock.client._requests import Pending, RequestsInOrder
from penstock.client._sync import SyncClient, blocking, blocking_self
from penstock.client.errors import BadReply, ClientError, Closed, Denied, ServerError

DEFAULT_PORT = 2201
UNKNOWN = b"UNKNOWN_TYPE"
STATS = b"S::\n"


class _Auth(Auth):
    """A valid token gets no answer, so a statistics request follows it."""

    def encode_token(self, token: bytes) -> bytes:
        return b"A:%b\n%b" % (token, STATS)

    def encode_probe(self) -> bytes:
        return STATS

    def parse_answer(self, heard: bytes) -> AuthAnswer | None:
        line, end, rest = heard.partition(b"\n")
        return AuthAnswer(line.rstrip() != UNKNOWN, rest, line.decode("utf-8", "replace")) if end else None


AUTH = _Auth()


class Message:
    """A message delivered to a consumer."""

    __slots__ = ("data", "generation")

    def __init__(self, data: bytes, generation: int) -> None:
        self.data = data
        self.generation = generation

    @property
    def value(self) -> Any:
        """The JSON value. Raises ValueError if the body is not valid JSON."""
        return orjson.loads(self.data)

    def __repr__(self) -> str:
        return f"<Message {self.data[:60]!r}>"


def name_of(queue: str | bytes) -> bytes:
    name = queue.encode("utf-8", "surrogateescape") if isinstance(queue, str) else queue
    if b":" in name or b"\n" in name:
        raise ValueError(f"queue {queue!r}: SMQS names must not contain a colon or a line feed")
    return name


class _Batch(Pending):
    """Messages confirmed by one answer."""

    __slots__ = ("lines", "queue", "waiting")

    future: "asyncio.Future[bytes]"

    def __init__(self, future: "asyncio.Future[bytes]", queue: bytes) -> None:
        super().__init__(b"", future)
        self.queue = queue
        self.lines: list[bytes] = []
        self.waiting = 0


class _Producer(RequestsInOrder):
    """Sends messages, with a statistics request after those that need confirmation.

    To a client that sent a token, Penstock answers UNKNOWN_TYPE for a message it may not publish. To tell which message
    was denied, each statistics request then covers one queue only, and an extra request precedes it if unconfirmed
    messages were sent before.
    """

    def __init__(self, addresses: Sequence[Address], options: Options) -> None:
        super().__init__(addresses, options, AUTH)
        self._lines = LineSplitter()
        self._batches: dict[bytes, _Batch] = {}
        self.has_loose = False  # messages were sent with no statistics request after them

    async def confirmed(self, queue: bytes, line: bytes, timeout: float | None) -> None:
        """Send a line and wait until it was processed. Lines of one event loop iteration share one request."""
        self.link.check()
        about = queue if self.link.has_credentials else b""
        batch = self._batches.get(about)
        if batch is None:
            loop = asyncio.get_running_loop()
            batch = self._batches[about] = _Batch(loop.create_future(), about)
            if len(self._batches) == 1:
                loop.call_soon(self._send_batches)
        batch.lines.append(line)
        batch.waiting += 1
        try:
            await self.link.wait_for(asyncio.shield(batch.future), "publish: no answer", timeout)
        finally:
            batch.waiting -= 1
            if not batch.waiting:
                batch.future.cancel()  # do not send it again

    def _send_batches(self) -> None:
        batches, self._batches = self._batches, {}
        for batch in batches.values():
            try:
                self.link.check()
            except ClientError as error:
                batch.fail(error)
                continue
            if self.has_loose and self.link.has_credentials and self.link.is_up:
                self.link.write(self.ask_in_passing(STATS))
            self.has_loose = False
            batch.data = b"".join(batch.lines) + STATS
            self.send(batch)

    def answers_in(self, data: bytes) -> list[bytes]:
        lines = self._lines.split(data)
        if UNKNOWN not in lines:
            return lines
        answers = []
        for line in lines:
            if line != UNKNOWN:
                answers.append(line)
                continue
            log.warning("%s rejected a request: unknown or not allowed", self.link.address)
            if len(answers) < len(self.pending):
                self.pending[len(answers)].is_denied = True
        return answers

    def settle(self, request: Pending, answer: bytes) -> None:
        if request.is_denied and isinstance(request, _Batch):
            request.fail(self._denial(request))
        else:
            super().settle(request, answer)

    def _denial(self, request: Pending) -> Denied:
        queue = request.queue.decode("utf-8", "replace") if isinstance(request, _Batch) else ""
        what = f"publish into {queue!r}" if queue else "publish" if isinstance(request, _Batch) else "stats"
        return Denied(what, UNKNOWN.decode(), self.link.hint)

    def lost(self) -> None:
        self._lines.clear()
        for request in self.pending:
            if request.is_denied:
                request.fail(self._denial(request))  # the server denied it and then closed the connection
        super().lost()

    def ping(self) -> bytes:
        return self.ask_in_passing(STATS)


class AsyncConsumer(AsyncConsumerBase[Message]):
    """A consumer of one queue, with its own connection: iterate over it or call `get`, then `done`."""

    def __init__(self, addresses: Sequence[Address], options: Options, queue: bytes) -> None:
        super().__init__(addresses, options, AUTH)
        self._queue = queue
        self._undone: deque[list[int]] = deque()  # generation, and how many of its messages are not done yet

    async def take(self, count_max: int, timeout: float | None = None) -> list[Message]:
        messages = await super().take(count_max, timeout)
        for message in messages:
            if self._undone and self._undone[-1][0] == message.generation:
                self._undone[-1][1] += 1
            else:
                self._undone.append([message.generation, 1])
        return messages

    async def __anext__(self) -> Message:
        try:
            return await self.get()
        except Closed:
            raise StopAsyncIteration from None

    async def done(self, count: int = 1) -> None:
        """Acknowledge the oldest `count` messages that were received."""
        self.done_now(count)

    def done_now(self, count: int) -> None:
        if count < 0:
            raise ValueError(f"count of {count}: give 0 or more")
        told = 0
        while count and self._undone:
            oldest = self._undone[0]
            some = min(count, oldest[1])
            oldest[1] -= some
            count -= some
            if oldest[0] == self.link.generation:  # the server redelivers those of an earlier connection
                told += some
            if not oldest[1]:
                self._undone.popleft()
        if told and self.link.is_up:
            self.link.write(b"D:%b:%d\n" % (self._queue, told))

    def refusal(self, code: str) -> ServerError:
        name = self._queue.decode("utf-8", "replace")
        return (Denied if self.link.has_credentials else ServerError)(f"consume {name!r}", code, self.link.hint)

    def is_stale(self, message: Message) -> bool:
        return False  # `done` counts messages, so every one must be handed out

    def greeting(self) -> bytes:
        self.begun()
        return b"C:%b:\n" % self._queue

    def lost(self) -> None:
        super().lost()
        self._inbox.clear()

    def feed(self, data: bytes) -> None:
        lines = self._lines.split(data)
        if UNKNOWN in lines:
            lines = [line for line in lines if line != UNKNOWN]
            self.refused(UNKNOWN.decode())
        generation = self.link.generation
        self._inbox.put([Message(line, generation) for line in lines])


class AsyncClient(AsyncClientBase[_Producer, AsyncConsumer]):
    """A client for the running event loop."""

    _default_port = DEFAULT_PORT

    def _make_requests(self) -> _Producer:
        return _Producer(self._addresses, self.options)

    async def publish(
        self, queue: str | bytes, value: object, *, confirm: bool = False, timeout: float | None = None
    ) -> None:
        """Publish a JSON value to a queue. `confirm` waits until the server has accepted it."""
        await self.publish_raw(queue, orjson.dumps(value), confirm=confirm, timeout=timeout)

    async def publish_raw(
        self, queue: str | bytes, data: bytes, *, confirm: bool = False, timeout: float | None = None
    ) -> None:
        """Publish bytes to a queue as they are. Raises ValueError if they contain a line feed."""
        if b"\n" in data:
            raise ValueError("a line feed in a body cannot be sent over SMQS: encode it, or use a binary protocol")
        name = name_of(queue)
        line = b"M:%b:%b\n" % (name, data)
        link = self._requests.link
        if confirm:
            await self._requests.confirmed(name, line, timeout)
        else:
            link.write(line)
            self._requests.has_loose = True
            if link.is_crowded:
                await link.room(timeout)

    async def consume(
        self,
        queue: str | bytes,
        on_message: Callable[[Message], object] | None = None,
        *,
        on_disconnect: Callable[[], object] | None = None,
        timeout: float | None = None,
    ) -> AsyncConsumer:
        """Consume a queue, with the callback or by iterating over the consumer."""
        name = name_of(queue)
        if name in self._consumers:
            raise ValueError(f"queue {queue!r} is already consumed by this client")
        consumer = AsyncConsumer(self._addresses, self.options, name)
        consumer.on_disconnect = on_disconnect
        return await self._start(name, consumer, on_message, timeout)

    async def done(self, queue: str | bytes, count: int = 1) -> None:
        """Acknowledge the oldest `count` messages received from a queue that this client consumes."""
        consumer = self._consumers.get(name_of(queue))
        if consumer is None:
            raise ValueError(f"queue {queue!r} is not consumed by this client")
        await consumer.done(count)

    async def stats(self, *, timeout: float | None = None) -> dict[str, int]:
        """Return the number of messages in each queue, unacknowledged ones included."""
        answer = await self._requests.ask(STATS, "stats", timeout)
        try:
            return dict(orjson.loads(answer))
        except (ValueError, TypeError) as error:
            raise BadReply(f"cannot parse the statistics: {error}") from error


async def connect(address: AddressLike | Sequence[AddressLike] = "", *, options: Options | None = None) -> AsyncClient:
    """Return a connected client. Use it with `async with`."""
    return await AsyncClient(options).connect(address)


class Consumer(ConsumerBase[AsyncConsumer, Message]):
    """A consumer of one queue: iterate over it or call `get`, then `done`."""

    def get(self, timeout: float | None = None) -> Message:
        """Return the next message. Raises Timeout if none arrives in time, Closed after `close`."""
        return self.next_item(timeout)

    def __iter__(self) -> Iterator[Message]:
        """Yield messages until the consumer is closed."""
        return self.items()

    done = blocking(AsyncConsumer.done)


class Client(SyncClient[AsyncClient]):
    """The same methods for programs without an event loop."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(AsyncClient(options))

    connect = blocking_self(AsyncClient.connect)
    publish = blocking(AsyncClient.publish)
    publish_raw = blocking(AsyncClient.publish_raw)
    done = blocking(AsyncClient.done)
    stats = blocking(AsyncClient.stats)

    def consume(
        self,
        queue: str | bytes,
        on_message: Callable[[Message], object] | None = None,
        *,
        on_disconnect: Callable[[], object] | None = None,
        timeout: float | None = None,
    ) -> Consumer:
        """Consume a queue. `on_message` runs on its own thread."""
        started = self._async.consume(queue, on_disconnect=on_disconnect, timeout=timeout)
        consumer = Consumer(self._thread, self._thread.run(started))
        if on_message is not None:
            handle_on_thread(iter(consumer), on_message, lambda message: None)
        return consumer
