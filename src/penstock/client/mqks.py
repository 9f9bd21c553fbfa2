"""MQKS: publish events, consume queues bound to events; with ack, reject and a retry counter.

    async with await mqks.connect() as client:
        async with await client.consume("orders", ["order.placed"], manual_ack=True) as orders:
            await client.publish("order.placed", "a turbine", confirm=True)
            async for message in orders:
                await message.ack()

Each consumer has its own connection: a slow consumer does not block others, and the server keeps the messages it has
not read. After a reconnect it resumes under its old id, and unacknowledged messages are delivered again; so be prepared
to receive a message twice.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Unpack
from urllib.parse import unquote_to_bytes

from penstock.client._auth import AuthById
from penstock.client._client import AsyncClientBase
from penstock.client._consumer import AsyncConsumerById, ConsumerBase, handle_on_thread
from penstock.client._delivery_options import DeliveryOptions, flags_of, text_of_seconds
from penstock.client._ids import IdSource
from penstock.client._options import Address, AddressLike, Options
from penstock.client._requests import RequestsById
from penstock.client._sync import Blocking, SyncClient, blocking, blocking_self, until_closed
from penstock.client.errors import BadReply

DEFAULT_PORT = 54321
EVENT = b"event="
BASE64 = b"encoding=base64"
RETRY = b"retry="
ESCAPED = b"escaped=event"

Text = str | bytes


class _Auth(AuthById):
    def encode_token(self, token: bytes) -> bytes:
        return b"who auth %b\n" % token

    def encode_probe(self) -> bytes:
        return b"who ping client\n"


AUTH = _Auth()


class Message:
    """A message delivered to a consumer."""

    __slots__ = ("_consumer", "_id", "data", "event", "generation", "retry")

    def __init__(self, consumer: "AsyncConsumer", id: bytes, event: str, retry: int, data: bytes) -> None:
        self._consumer = consumer
        self._id = id
        self.event = event
        self.retry = retry  # number of earlier deliveries
        self.data = data
        self.generation = consumer.link.generation

    @property
    def id(self) -> str:
        return self._id.decode("utf-8", "surrogateescape")

    @property
    def text(self) -> str:
        return self.data.decode()

    async def ack(self, *, confirm: bool = False, timeout: float | None = None) -> None:
        """Acknowledge the message. Without `confirm` this does not wait; if the ack is lost, it is redelivered."""
        await self._consumer.settle(b"ack", self._id, confirm, timeout)

    async def reject(
        self, *, delay: float | None = None, dead: bool = False, confirm: bool = False, timeout: float | None = None
    ) -> None:
        """Return the message to its queue and increment its retry counter.

        Penstock only: `delay` requeues it after that many seconds, `dead` makes it a dead letter.
        """
        if self.generation == self._consumer.link.generation:  # otherwise the server has already requeued it
            await self._consumer.settle(b"reject", self._id + reject_flags(delay, dead), confirm, timeout)

    def __repr__(self) -> str:
        return f"<Message {self.id} event={self.event} retry={self.retry} {self.data[:40]!r}>"


class AsyncConsumer(AsyncConsumerById[Message]):
    """A consumer with its own connection: iterate over it, or call `get`."""

    def __init__(
        self,
        requests: RequestsById,
        addresses: Sequence[Address],
        options: Options,
        ids: IdSource,
        arguments: bytes,
        manual: bool,
    ) -> None:
        super().__init__(addresses, options, AUTH, ids.next(), manual)
        self._requests = requests
        self._ids = ids
        self._line = b"%b consume --confirm %b\n" % (self._id, arguments)

    async def failed(self, message: Message) -> None:
        if self.manual_ack:
            await message.reject()

    def is_stale(self, message: Message) -> bool:
        return self.manual_ack and message.generation != self.link.generation

    # -- settling ---------------------------------------------------------------------------------------------------

    async def ack_all(self, *, confirm: bool = False, timeout: float | None = None) -> None:
        """Acknowledge every message delivered to this consumer."""
        await self.settle(b"ack", b"--all", confirm, timeout)

    async def reject_all(self, *, confirm: bool = False, timeout: float | None = None) -> None:
        """Return all unacknowledged messages of this consumer to the queue."""
        await self.settle(b"reject", b"--all", confirm, timeout)

    async def settle(self, verb: bytes, message_id: bytes, confirm: bool, timeout: float | None) -> None:
        if confirm:
            # Over the request connection: reading from this one may be paused because the program is behind.
            id = self._ids.next()
            line = b"%b %b --confirm %b %b\n" % (id, verb, self._id, message_id)
            await self._requests.ask(id, line, verb.decode(), timeout)
        elif self.link.is_up:
            # Over this connection: if it is lost, the message is redelivered, so no ack is lost unnoticed.
            self.link.write(b"%b %b %b %b\n" % (self._ids.next(), verb, self._id, message_id))

    def settle_soon(self, verb: bytes, message_id: bytes) -> None:
        """Settle without confirmation, from any thread."""
        if self.link.is_up:
            self.link.post(b"%b %b %b %b\n" % (self._ids.next(), verb, self._id, message_id))

    # -- deleting ---------------------------------------------------------------------------------------------------

    async def delete(self, *, timeout: float | None = None) -> None:
        """Delete the consumer on the server, with confirmation. Unacknowledged messages return to the queue."""
        id = self._ids.next()
        await self.link.close()
        line = b"%b delete_consumer --confirm %b\n" % (id, self._id)
        try:
            await self._requests.ask(id, line, "delete_consumer", timeout)
        finally:
            await self.close()

    # -- called by the link -----------------------------------------------------------------------------------------

    def greeting(self) -> bytes:
        return self._line

    def ping(self) -> bytes:
        return b"%b ping consumer\n" % self._ids.next()

    def message_of(self, rest: bytes) -> Message:
        parts = rest.split(b" ", 2)
        if len(parts) != 3 or not parts[1].startswith(EVENT):
            raise BadReply(f"expected {{msg_id}} event={{event}} {{data}}, got {rest[:80]!r}")
        id, properties, body = parts
        retry = 0
        is_escaped = False
        # From the last property backwards, stopping at an unknown one: other servers allow commas in an event name.
        while b"," in properties:
            head, _, last = properties.rpartition(b",")
            if last == BASE64:
                try:
                    body = base64.b64decode(body, validate=True)
                except binascii.Error as error:
                    raise BadReply(f"the body is not valid base64: {error}") from None
            elif last == ESCAPED:
                is_escaped = True
            elif last.startswith(RETRY) and last[len(RETRY) :].isdigit():
                retry = int(last[len(RETRY) :])
            else:
                break
            properties = head
        event = properties[len(EVENT) :]
        if is_escaped:
            event = unquote_to_bytes(event)
        return Message(self, id, event.decode("utf-8", "surrogateescape"), retry, body)


class AsyncClient(AsyncClientBase[RequestsById, AsyncConsumer]):
    """A client for the running event loop."""

    _default_port = DEFAULT_PORT

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options)
        self._ids = IdSource()

    def _make_requests(self) -> RequestsById:
        return RequestsById(self._addresses, self.options, AUTH, lambda: b"%b ping client\n" % self._ids.next())

    async def publish(
        self,
        event: Text,
        data: Text,
        *,
        confirm: bool = False,
        timeout: float | None = None,
        **terms: Unpack[DeliveryOptions],
    ) -> str:
        """Publish to every queue bound to the event. Returns the message id.

        Without `confirm` this only queues the message for sending; it may be lost with the connection. With `confirm`
        this returns once the server has accepted the message (durably, if it keeps a log). Until then the message is
        sent again after a reconnect; with `dedup=True` the server accepts it only once.
        """
        id = self._ids.next()
        if confirm:
            flags = b"--confirm " + flags_of(terms)
            line = b"%b publish %b%b %b\n" % (id, flags, word_of(event, "event"), body_of(data))
            await self._requests.ask(id, line, "publish", timeout)
        else:
            link = self._requests.link
            flags = flags_of(terms) if terms else b""
            link.write(b"%b publish %b%b %b\n" % (id, flags, word_of(event, "event"), body_of(data)))
            if link.is_crowded:
                await link.room(timeout)
        return id.decode()

    def publish_soon(self, event: Text, data: Text, **terms: Unpack[DeliveryOptions]) -> str:
        """Publish without confirmation, from any thread and without waiting."""
        id = self._ids.next()
        flags = flags_of(terms) if terms else b""
        self._requests.link.post(b"%b publish %b%b %b\n" % (id, flags, word_of(event, "event"), body_of(data)))
        return id.decode()

    async def flush(self, *, timeout: float | None = None) -> None:
        """Wait until the server has read everything published before. Raises ConnectionLost if that is uncertain."""
        await self._ask(b"ping", b"flush", timeout, what="flush", once=True)

    async def consume(
        self,
        queue: Text,
        events: Iterable[Text],
        on_message: Callable[[Message], object] | None = None,
        *,
        on_disconnect: Callable[[], object] | None = None,
        delete_queue_when_unused: bool | float = False,
        manual_ack: bool = False,
        timeout: float | None = None,
    ) -> AsyncConsumer:
        """Bind a queue to exactly these events and consume it.

        Args:
            on_message: called with one message at a time, and awaited if it is a coroutine. Without it, iterate over
                the consumer or call its `get`.
            on_disconnect: called when the consumer loses its connection.
            delete_queue_when_unused: True, or the number of seconds without a consumer before the queue is deleted.
            manual_ack: messages must be acknowledged; the server redelivers those that are not.
        """
        arguments = consume_arguments(queue, events, delete_queue_when_unused, manual_ack)
        consumer = AsyncConsumer(self._requests, self._addresses, self.options, self._ids, arguments, manual_ack)
        consumer.on_disconnect = on_disconnect
        return await self._start(consumer.id, consumer, on_message, timeout)

    async def ack(self, consumer: str, message: str, *, confirm: bool = False, timeout: float | None = None) -> None:
        """Acknowledge a message, given the ids of its consumer and of the message."""
        await self._settle(b"ack", consumer, message, confirm, timeout)

    async def ack_all(self, consumer: str, *, confirm: bool = False, timeout: float | None = None) -> None:
        await self._settle(b"ack", consumer, "--all", confirm, timeout)

    async def reject(self, consumer: str, message: str, *, confirm: bool = False, timeout: float | None = None) -> None:
        """Return a message to its queue, given the ids of its consumer and of the message."""
        await self._settle(b"reject", consumer, message, confirm, timeout)

    async def reject_all(self, consumer: str, *, confirm: bool = False, timeout: float | None = None) -> None:
        await self._settle(b"reject", consumer, "--all", confirm, timeout)

    async def delete_consumer(self, consumer: str, *, timeout: float | None = None) -> None:
        """Delete a consumer, with confirmation. One of this client is not resumed after a reconnect."""
        own = self._consumers.pop(consumer, None)
        if own is not None:
            await own.delete(timeout=timeout)
        else:
            await self._ask(b"delete_consumer --confirm", word_of(consumer, "consumer"), timeout)

    async def delete_queue(self, queue: Text, *, timeout: float | None = None) -> None:
        """Delete a queue and its messages, with confirmation. Its consumers receive nothing more."""
        await self._ask(b"delete_queue --confirm", word_of(queue, "queue"), timeout)

    async def redrive(
        self, queue: Text, *, limit: int | None = None, to: Text | None = None, timeout: float | None = None
    ) -> int:
        """Move dead letters back to the queues they died in, or to `to`. Returns how many were moved. Penstock only."""
        words = [word_of(queue, "queue")]
        if limit is not None:
            words.append(b"--limit=%d" % limit)
        if to is not None:
            words.append(b"--to=" + word_of(to, "queue"))
        return count_of(await self._ask(b"redrive", b" ".join(words), timeout))

    async def unrouted(self, *, timeout: float | None = None) -> int:
        """Count the confirmed messages of this connection that no queue accepted. Penstock only.

        Other servers answer with an error (ServerError). The count restarts after a reconnect.
        """
        return count_of(await self._ask(b"unrouted", b"messages", timeout, once=True))

    async def ping(self, data: Text = "penstock", *, timeout: float | None = None) -> str:
        """Send data that the server echoes. Returns the echo."""
        return (await self._ask(b"ping", body_of(data), timeout)).decode()

    async def eval(self, expression: str, *, timeout: float | None = None) -> str:
        """Evaluate an expression over the server's `state`. Returns the value as text."""
        return (await self._ask(b"_eval", body_of(expression), timeout)).decode("utf-8", "replace")

    async def _ask(
        self, verb: bytes, arguments: bytes, timeout: float | None, *, what: str = "", once: bool = False
    ) -> bytes:
        id = self._ids.next()
        line = b"%b %b %b\n" % (id, verb, arguments)
        return await self._requests.ask(id, line, what or verb.partition(b" ")[0].decode(), timeout, once)

    async def _settle(self, verb: bytes, consumer: str, message: str, confirm: bool, timeout: float | None) -> None:
        own = self._consumers.get(consumer)
        words = word_of(consumer, "consumer"), word_of(message, "message id", flag=message == "--all")
        if confirm:
            await self._ask(verb + b" --confirm", b"%b %b" % words, timeout)
        elif own is not None:
            await own.settle(verb, words[1], confirm, timeout)
        else:
            self._requests.link.write(b"%b %b %b %b\n" % (self._ids.next(), verb, *words))

    @property
    def is_crowded(self) -> bool:
        return self._requests.link.is_crowded

    async def room(self, timeout: float | None = None) -> None:
        """Wait until there is room for more unconfirmed messages."""
        await self._requests.link.room(timeout)


async def connect(address: AddressLike | Sequence[AddressLike] = "", *, options: Options | None = None) -> AsyncClient:
    """Return a connected client. Use it with `async with`."""
    return await AsyncClient(options).connect(address)


# -- encoding ---------------------------------------------------------------------------------------------------------


def word_of(text: Text, what: str, *, flag: bool = False) -> bytes:
    """Encode a name as one word of a line. Raises ValueError if it cannot be one."""
    word = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    if not word or b" " in word or b"\n" in word or b"\r" in word:
        raise ValueError(f"{what} {text!r}: MQKS requires a non-empty word without spaces or line breaks")
    if word.startswith(b"--") and not flag:
        raise ValueError(f"{what} {text!r}: MQKS would read it as a flag")
    return word


def body_of(data: Text) -> bytes:
    """Encode a body as the rest of a line. Raises ValueError if it cannot be one."""
    body = data.encode() if isinstance(data, str) else data
    if not body:
        raise ValueError("an empty body cannot be sent over MQKS")
    if b"\n" in body:
        raise ValueError("a line feed in a body cannot be sent over MQKS: encode it, or use a binary protocol")
    if body[-1] <= 32 and body[-1:].isspace():
        raise ValueError("MQKS strips whitespace at the end of a body: encode it, or use a binary protocol")
    return body


def count_of(answer: bytes) -> int:
    if not answer.isdigit():
        raise BadReply(f"expected a count, got {answer[:80]!r}")
    return int(answer)


def reject_flags(delay: float | None, dead: bool) -> bytes:
    return (b"" if delay is None else b" --delay=" + text_of_seconds("delay", delay)) + (b" --dead" if dead else b"")


def consume_arguments(queue: Text, events: Iterable[Text], delete_when_unused: bool | float, manual_ack: bool) -> bytes:
    if isinstance(events, str | bytes):
        raise ValueError(f"events {events!r}: give a list of events")
    words = [word_of(queue, "queue"), *(word_of(event, "event") for event in events)]
    if len(words) == 1:
        raise ValueError("consume needs at least one event")
    if delete_when_unused is True:
        words.append(b"--delete-queue-when-unused")
    elif delete_when_unused is not False:
        words.append(b"--delete-queue-when-unused=%s" % repr(float(delete_when_unused)).encode())
    if manual_ack:
        words.append(b"--manual-ack")
    return b" ".join(words)


# -- sync client ------------------------------------------------------------------------------------------------------


class ReceivedMessage(Blocking[Message]):
    """A message delivered to a sync consumer."""

    __slots__ = ()

    def __init__(self, consumer: "Consumer", message: Message) -> None:
        super().__init__(consumer._thread, message)

    @property
    def id(self) -> str:
        return self._async.id

    @property
    def event(self) -> str:
        return self._async.event

    @property
    def retry(self) -> int:
        return self._async.retry

    @property
    def data(self) -> bytes:
        return self._async.data

    @property
    def text(self) -> str:
        return self._async.text

    def ack(self, *, confirm: bool = False, timeout: float | None = None) -> None:
        """Acknowledge the message. Without `confirm` this does not wait; if the ack is lost, it is redelivered."""
        if confirm:
            self._thread.run(self._async.ack(confirm=True, timeout=timeout))
        else:
            self._async._consumer.settle_soon(b"ack", self._async._id)

    reject = blocking(Message.reject)

    def __repr__(self) -> str:
        return repr(self._async)


class Consumer(ConsumerBase[AsyncConsumer, Message]):
    """A consumer: iterate over it, or call `get`."""

    @property
    def id(self) -> str:
        return self._async.id

    def get(self, timeout: float | None = None) -> ReceivedMessage:
        """Return the next message. Raises Timeout if none arrives in time, Closed after `close`."""
        return ReceivedMessage(self, self.next_item(timeout))

    def __iter__(self) -> Iterator[ReceivedMessage]:
        """Yield messages until the consumer is closed."""
        return until_closed(self.get)

    ack_all = blocking(AsyncConsumer.ack_all)
    reject_all = blocking(AsyncConsumer.reject_all)
    delete = blocking(AsyncConsumer.delete)


class Client(SyncClient[AsyncClient]):
    """The same methods for programs without an event loop."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(AsyncClient(options))

    connect = blocking_self(AsyncClient.connect)
    flush = blocking(AsyncClient.flush)
    ack = blocking(AsyncClient.ack)
    ack_all = blocking(AsyncClient.ack_all)
    reject = blocking(AsyncClient.reject)
    reject_all = blocking(AsyncClient.reject_all)
    delete_consumer = blocking(AsyncClient.delete_consumer)
    delete_queue = blocking(AsyncClient.delete_queue)
    redrive = blocking(AsyncClient.redrive)
    unrouted = blocking(AsyncClient.unrouted)
    ping = blocking(AsyncClient.ping)
    eval = blocking(AsyncClient.eval)

    def publish(
        self,
        event: Text,
        data: Text,
        *,
        confirm: bool = False,
        timeout: float | None = None,
        **terms: Unpack[DeliveryOptions],
    ) -> str:
        """Publish to every queue bound to the event. Returns the message id. See AsyncClient.publish."""
        if confirm:
            return self._thread.run(self._async.publish(event, data, confirm=True, timeout=timeout, **terms))
        if self._async.is_crowded:
            self._thread.run(self._async.room(timeout))
        return self._async.publish_soon(event, data, **terms)

    def consume(
        self,
        queue: Text,
        events: Iterable[Text],
        on_message: Callable[[ReceivedMessage], object] | None = None,
        *,
        on_disconnect: Callable[[], object] | None = None,
        delete_queue_when_unused: bool | float = False,
        manual_ack: bool = False,
        timeout: float | None = None,
    ) -> Consumer:
        """Bind a queue to exactly these events and consume it. `on_message` runs on its own thread."""
        started = self._async.consume(
            queue,
            events,
            on_disconnect=on_disconnect,
            delete_queue_when_unused=delete_queue_when_unused,
            manual_ack=manual_ack,
            timeout=timeout,
        )
        consumer = Consumer(self._thread, self._thread.run(started))
        if on_message is not None:
            handle_on_thread(iter(consumer), on_message, lambda message: message.reject() if manual_ack else None)
        return consumer
