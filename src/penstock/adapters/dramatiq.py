"""A dramatiq broker on Penstock.

    import dramatiq
    from penstock.adapters.dramatiq import PenstockBroker

    dramatiq.set_broker(PenstockBroker("127.0.0.1:7700"))

Set credentials with `options=Options(token_file=..., ca_file=...)` or in the environment. A `tls://` address uses TLS.

Enqueued messages are confirmed by the broker, and delivered to workers with credit (their prefetch). The un-acked
messages of a worker that dies go to another. Delayed messages wait in `{queue}.DQ`, dead ones in `{queue}.XQ`.
"""

import threading
import time
from collections.abc import Iterable
from typing import Any

from dramatiq.broker import Broker, Consumer, MessageProxy
from dramatiq.common import current_millis, dq_name, q_name, xq_name
from dramatiq.errors import ConnectionClosed, DecodeError, QueueJoinTimeout
from dramatiq.logging import get_logger
from dramatiq.message import Message
from dramatiq.middleware import Middleware

from penstock.adapters._broker import DEFAULT_PORT, BrokerClients
from penstock.client import rq
from penstock.client._options import AddressLike, Options, address_of
from penstock.client.errors import AuthFailed, ClientError, Denied, Timeout, TlsFailed

FINAL = (AuthFailed, TlsFailed, Denied)  # not turned into ConnectionClosed, which would be retried


class PenstockBroker(Broker):
    """A dramatiq broker. `address` is the broker's port for all protocols; it connects on first use."""

    def __init__(
        self, address: AddressLike = "", *, options: Options | None = None, middleware: list[Middleware] | None = None
    ) -> None:
        super().__init__(middleware=middleware)
        self.clients = BrokerClients(address_of(address, DEFAULT_PORT), options)
        self.queues: dict[str, None] = {}
        self._queues_lock = threading.Lock()

    def close(self) -> None:
        self.clients.close()

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        """A consumer with its own connection."""
        try:
            return _Consumer(self.clients, queue_name, prefetch, timeout)
        except FINAL:
            raise
        except ClientError as error:
            raise ConnectionClosed(error) from error

    def declare_queue(self, queue_name: str) -> None:
        """Tell the middleware, and so the worker, of a queue. Penstock creates queues on first use."""
        name = q_name(queue_name)
        with self._queues_lock:
            if name in self.queues:
                return
            self.queues[name] = None
        self.emit_before("declare_queue", name)
        self.emit_after("declare_queue", name)
        delayed = dq_name(name)
        self.delay_queues.add(delayed)
        self.emit_after("declare_delay_queue", delayed)

    def enqueue(self, message: "Message[Any]", *, delay: int | None = None) -> "Message[Any]":
        """Returns once the broker has confirmed the message. Raises ConnectionClosed if it does not in time."""
        queue = message.queue_name
        self.declare_queue(queue)
        if delay is not None:
            queue = dq_name(queue)
            message = message.copy(queue_name=queue, options={"eta": current_millis() + delay})
        self.emit_before("enqueue", message, delay)
        try:
            self.clients.put(queue, message.encode())
        except FINAL:
            raise
        except ClientError as error:
            raise ConnectionClosed(error) from error
        self.emit_after("enqueue", message, delay)
        return message

    def get_declared_queues(self) -> set[str]:
        return set(self.queues)

    def get_queue_message_counts(self, queue_name: str) -> tuple[int, int, int]:
        """Messages in a queue, its delay queue and its dead-letter queue, including un-acked ones."""
        counts = self.clients.counts()
        name = q_name(queue_name)
        return counts.get(name, 0), counts.get(dq_name(name), 0), counts.get(xq_name(name), 0)

    def flush(self, queue_name: str) -> None:
        name = q_name(queue_name)
        for each in (name, dq_name(name), xq_name(name)):
            self.clients.purge(each)

    def flush_all(self) -> None:
        for name in list(self.queues):
            self.flush(name)

    def join(self, queue_name: str, *, idle_time: int = 20, timeout: int | None = None) -> None:
        """Wait until a queue and its delay queue are empty. Raises QueueJoinTimeout after `timeout` milliseconds."""
        deadline = None if timeout is None else time.monotonic() + timeout / 1000
        while any(self.get_queue_message_counts(queue_name)[:2]):
            if deadline is not None and time.monotonic() >= deadline:
                raise QueueJoinTimeout(queue_name)
            time.sleep(idle_time / 1000)


class _Message(MessageProxy):
    def __init__(self, request: rq.Request, message: "Message[Any]") -> None:
        super().__init__(message)
        self.request = request


class _Consumer(Consumer):
    def __init__(self, clients: BrokerClients, queue: str, prefetch: int, timeout: int) -> None:
        self._clients = clients
        self._queue = queue
        self._timeout = timeout / 1000
        self._client = clients.new_worker()
        self._logger = get_logger(__name__, type(self))
        try:
            self._consumer = self._client.consume(queue, max=prefetch)
        except BaseException:
            self._client.close()
            raise

    def __next__(self) -> MessageProxy | None:
        try:
            request = self._consumer.get(self._timeout)
        except Timeout:
            return None
        except FINAL:
            raise
        except ClientError as error:
            raise ConnectionClosed(error) from error
        try:
            return _Message(request, Message.decode(request.payload))
        except DecodeError:
            self._logger.exception("A message that cannot be decoded goes to the dead letters.")
            self._bury(request)
            return None

    def ack(self, message: MessageProxy) -> None:
        assert isinstance(message, _Message)
        message.request.done()

    def nack(self, message: MessageProxy) -> None:
        """Put the message into the dead-letter queue, then ack it."""
        assert isinstance(message, _Message)
        self._bury(message.request)

    def _bury(self, request: rq.Request) -> None:
        try:
            self._clients.put(xq_name(q_name(self._queue)), request.payload)
        except ClientError as error:
            raise ConnectionClosed(error) from error
        request.done()

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Nothing to do: the connection is about to close, and the broker then requeues what is un-acked."""

    def close(self) -> None:
        self._client.close()
