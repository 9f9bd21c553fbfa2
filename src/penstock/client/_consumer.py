"""Base classes of the consumers: each has its own connection, an inbox, and iteration or a handler on top."""

import asyncio
import contextlib
import inspect
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Self, TypeVar

from penstock.client._auth import Auth
from penstock.client._closing import AsyncClosing, Closing
from penstock.client._inbox import Inbox
from penstock.client._lines import LineSplitter
from penstock.client._link import Link, LinkProtocol, log
from penstock.client._options import Address, Options
from penstock.client._requests import refusal_of
from penstock.client._sync import Blocking, LoopThread, until_closed
from penstock.client.errors import ClientError, Closed, ServerError

Item = TypeVar("Item")
AsyncConsumer = TypeVar("AsyncConsumer", bound="AsyncConsumerBase[Any]")

FAILURE_SECONDS = 0.025
FAILURE_SECONDS_MAX = 2.0
BATCH = 1000  # messages that a sync consumer fetches from the event loop's thread at once


class AsyncConsumerBase(LinkProtocol, AsyncClosing, Generic[Item]):
    """A consumer with its own connection: iterate over it, or call `get`."""

    def __init__(self, addresses: Sequence[Address], options: Options, auth: Auth) -> None:
        self.link = Link(addresses, options, self, auth)
        self.on_disconnect: Callable[[], object] | None = None
        self._inbox: Inbox[Item] = Inbox(options.inbox_length_max, self.link.pause, self.link.resume)
        self._lines = LineSplitter()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._started.add_done_callback(_retrieve_exception)
        self._handling: asyncio.Task[None] | None = None

    async def start(self, timeout: float | None) -> None:
        """Connect, and wait until the server has confirmed the consumer."""
        self.link.start()
        try:
            await self.link.wait_for(self._started, "consume: no answer", timeout)
        except BaseException:
            await self.close()
            raise

    def begun(self) -> None:
        """The server has confirmed the consumer."""
        if not self._started.done():
            self._started.set_result(None)

    def refused(self, code: str) -> None:
        """The server has refused the consumer."""
        error = self.refusal(code)
        if self._started.done():
            log.error("a consumer has ended: %s", error)
        self.ended(error)

    def refusal(self, code: str) -> ServerError:
        return refusal_of("consume", code, self.link.hint)

    def ended(self, error: ClientError) -> None:
        if not self._started.done():
            self._started.set_exception(error)
        self._inbox.end(error)

    # -- messages ---------------------------------------------------------------------------------------------------

    def handle(self, handler: Callable[[Item], object]) -> None:
        """Call the handler with one message at a time, and await it if it is a coroutine."""
        self._handling = asyncio.get_running_loop().create_task(self._handle(handler))

    async def _handle(self, handler: Callable[[Item], object]) -> None:
        try:
            async for message in self:
                try:
                    outcome = handler(message)
                    if inspect.isawaitable(outcome):
                        await outcome
                except Exception:
                    log.exception("handler failed for %r", message)
                    await asyncio.sleep(failure_pause(message))
                    await self.failed(message)
        except ClientError as error:
            log.error("a consumer has ended: %s", error)

    async def failed(self, message: Item) -> None:
        """Called after the handler raised an exception."""

    async def get(self, timeout: float | None = None) -> Item:
        """Return the next message. Raises Timeout if none arrives in time, Closed after `close`."""
        return (await self.take(1, timeout))[0]

    async def take(self, count_max: int, timeout: float | None = None) -> list[Item]:
        """Wait for at least one message. Returns up to `count_max` of those available."""
        return await self._inbox.take(count_max, timeout)

    def is_stale(self, message: Item) -> bool:
        """Whether the server will redeliver the message, so that it can be skipped."""
        return False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        try:
            return self._inbox.take_now() or await self.get()
        except Closed:
            raise StopAsyncIteration from None

    # -- closing ----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close the connection. The server requeues unacknowledged messages."""
        await self.link.close()
        self._inbox.end(Closed("the consumer was closed"))
        if not self._started.done():
            self._started.set_exception(Closed("the consumer was closed"))
        if self._handling is not None and self._handling is not asyncio.current_task():
            self._handling.cancel()

    def lost(self) -> None:
        self._lines.clear()
        self.link.outbox.clear()  # it refers to messages of the lost connection
        if self.on_disconnect is not None:
            try:
                self.on_disconnect()
            except Exception:
                log.exception("on_disconnect failed")


class AsyncConsumerById(AsyncConsumerBase[Item]):
    """A consumer whose messages arrive as `{id} ok {rest}`, after an empty one that confirms the consumer."""

    def __init__(self, addresses: Sequence[Address], options: Options, auth: Auth, id: bytes, manual: bool) -> None:
        super().__init__(addresses, options, auth)
        self._id = id
        self._prefix = id + b" ok "
        self.manual_ack = manual

    @property
    def id(self) -> str:
        return self._id.decode()

    def message_of(self, rest: bytes) -> Item:
        raise NotImplementedError

    def lost(self) -> None:
        super().lost()
        if self.manual_ack:
            self._inbox.clear()  # the server redelivers them

    def feed(self, data: bytes) -> None:
        prefix = self._prefix
        size = len(prefix)
        messages = []
        for line in self._lines.split(data):
            if line.startswith(prefix) and len(line) > size:
                messages.append(self.message_of(line[size:]))
            elif line.startswith(prefix[:-1]):
                self.begun()
            elif line.startswith(self._id + b" error "):
                self.refused(line.rpartition(b" ")[2].decode("utf-8", "replace"))
        if messages:
            self._inbox.put(messages)


def failure_pause(message: object) -> float:
    """Seconds to wait before rejecting a message whose handler failed: longer each time, to avoid a busy loop."""
    retry: int = getattr(message, "retry", 0)
    return min(FAILURE_SECONDS_MAX, FAILURE_SECONDS * 2.0 ** min(retry, 20)) if retry else 0.0


def _retrieve_exception(future: "asyncio.Future[None]") -> None:
    """Retrieve the exception, so that asyncio does not log it as never retrieved."""
    if not future.cancelled():
        future.exception()


class ConsumerBase(Blocking[AsyncConsumer], Closing, Generic[AsyncConsumer, Item]):
    """A consumer for programs without an event loop. Fetches messages from the loop's thread in batches."""

    def __init__(self, thread: LoopThread, consumer: AsyncConsumer) -> None:
        super().__init__(thread, consumer)
        self._fetched: deque[Item] = deque()

    def next_item(self, timeout: float | None) -> Item:
        while True:
            with contextlib.suppress(IndexError):
                item = self._fetched.popleft()
                if self._async.is_stale(item):
                    continue
                return item
            self._fetched.extend(self._thread.run(self._async.take(BATCH, timeout)))

    def items(self) -> Iterator[Item]:
        """Yield messages until the consumer is closed."""
        return until_closed(lambda: self.next_item(None))

    def close(self) -> None:
        """Close the connection. The server requeues unacknowledged messages."""
        self._thread.run(self._async.close())


def handle_on_thread(
    messages: Iterator[Item], handler: Callable[[Item], object], failed: Callable[[Item], object]
) -> None:
    """Call the handler with one message at a time, on a new thread, until there are no more."""

    def work() -> None:
        try:
            for message in messages:
                try:
                    handler(message)
                except Exception:
                    log.exception("handler failed for %r", message)
                    time.sleep(failure_pause(message))
                    failed(message)
        except Closed:
            pass
        except ClientError as error:
            log.error("a consumer has ended: %s", error)

    threading.Thread(target=work, name="penstock-handler", daemon=True).start()
