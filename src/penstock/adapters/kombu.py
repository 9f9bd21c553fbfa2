"""A kombu transport on Penstock, so that Celery runs on it.

    import penstock.adapters.kombu  # registers penstock://

    app = Celery("app", broker="penstock://127.0.0.1:7700//", backend="rpc://")

`penstock+tls://` uses TLS. Set credentials and CA in the environment (PENSTOCK_TOKEN_FILE and so on, see
penstock.client), or as files in `transport_options`. A password in the URL is refused, since URLs are logged:

    app.conf.broker_transport_options = {"token_file": "/run/secrets/token", "ca_file": "/etc/penstock/ca.pem"}

Queues are Penstock queues of the same name. The broker confirms each published message, delivers with credit (Celery's
prefetch), and redelivers a message to another worker if its worker dies before acknowledging it.

Penstock has no exchanges, so routing is done here. A message is put into each permanent queue that this process has
bound. Temporary queues, which are deleted with their consumer (replies, remote control, events), may be bound in other
processes. Messages for them are broadcast under the exchange's name, and each listener takes what its bindings match.
Remote control, events and `rpc://` results work that way.
"""

import queue as queues
import socket
from itertools import count as count_from
from time import monotonic
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual
from kombu.utils.json import dumps, loads

from penstock import __version__
from penstock.adapters._broker import DEFAULT_PORT, BrokerClients
from penstock.client import Options, rq
from penstock.client._options import Address, address_of
from penstock.client.errors import AuthFailed, ClientError, Closed, ConnectFailed, ConnectionLost, Timeout, TlsFailed

FILES = ("token_file", "ca_file", "cert_file", "key_file", "server_hostname")
BROADCASTS = "kombu."  # prefix of an exchange's name: the queue for its broadcasts


class QoS(virtual.QoS):
    """Sends acks and rejects to the broker."""

    def ack(self, delivery_tag: str) -> None:
        super().ack(delivery_tag)
        self.channel.settle(delivery_tag, done=True)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().ack(delivery_tag)
        self.channel.settle(delivery_tag, done=not requeue)


class Channel(virtual.Channel):
    QoS = QoS
    do_restore = False  # the broker redelivers un-acked messages
    supports_fanout = True

    def __init__(self, connection: "Transport", **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self._out: dict[str, rq.Request] = {}
        self._consuming: dict[str, rq.Consumer] = {}

    @property
    def clients(self) -> BrokerClients:
        clients: BrokerClients = self.connection.clients
        return clients

    # -- queues -----------------------------------------------------------------------------------------------------

    def queue_declare(self, queue: str | None = None, passive: bool = False, **kwargs: Any) -> Any:
        declared = super().queue_declare(queue, passive, **kwargs)
        if kwargs.get("auto_delete") or kwargs.get("exclusive"):
            self.connection.passing.add(declared.queue)
        return declared

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        self.clients.put(queue, dumps(message))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        try:
            return loads(self.clients.take(queue))
        except Timeout:
            raise queues.Empty from None

    def _size(self, queue: str) -> int:
        return self.clients.ready().get(queue, 0)

    def _has_queue(self, queue: str, **kwargs: Any) -> bool:
        return queue in self.clients.ready()

    def _purge(self, queue: str) -> int:
        return self.clients.purge(queue)

    def queue_delete(self, queue: str, if_unused: bool = False, if_empty: bool = False, **kwargs: Any) -> None:
        if if_empty and self._size(queue):
            return
        self.state.queue_bindings_delete(queue)
        self.connection.passing.discard(queue)
        self.clients.delete(queue)

    def _queue_bind(self, exchange: str, *binding: str) -> None:
        """Nothing to do: bindings exist only in this process's table."""

    # -- publishing -------------------------------------------------------------------------------------------------

    def basic_publish(self, message: dict[str, Any], exchange: str, routing_key: str, **kwargs: Any) -> None:
        self._inplace_augment_message(message, exchange, routing_key)
        if not exchange:
            self._put(routing_key, message)
            return
        lasting = [queue for queue in self.matching(exchange, routing_key) if queue not in self.connection.passing]
        for queue in lasting:
            self._put(queue, message)
        if not lasting or self.typeof(exchange).type != "direct":
            self.clients.work.broadcast(BROADCASTS + exchange, dumps(message))

    def matching(self, exchange: str, routing_key: str) -> list[str]:
        """The queues that this process has bound to the exchange and whose binding matches the key."""
        if exchange not in self.state.exchanges:
            return []
        found = self.typeof(exchange).lookup(self.get_table(exchange), exchange, routing_key, None)
        return sorted(queue for queue in found if queue)

    # -- consuming --------------------------------------------------------------------------------------------------

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **kwargs: Any) -> None:
        super().basic_consume(queue, no_ack, callback, consumer_tag, **kwargs)
        transport = self.connection
        transport.channel_of[queue] = self
        if no_ack:
            transport.unacknowledged.add(queue)
        if queue not in self._consuming:
            inbox = transport.inbox
            self._consuming[queue] = self.clients.work.consume(queue, into=inbox, max=self.qos.prefetch_count)
        if queue in transport.passing:
            for exchange, _, _ in self.state.queue_bindings(queue):
                transport.listen(exchange)

    def basic_cancel(self, consumer_tag: str) -> None:
        queue = self._tag_to_queue.get(consumer_tag)
        super().basic_cancel(consumer_tag)
        consumer = self._consuming.pop(queue, None) if queue not in self._active_queues else None
        if consumer is not None and queue is not None:
            self.connection.channel_of.pop(queue, None)
            consumer.cancel()
            if queue in self.connection.passing:
                self.queue_delete(queue)

    def basic_qos(self, prefetch_size: int = 0, prefetch_count: int = 0, apply_global: bool = False) -> None:
        super().basic_qos(prefetch_size, prefetch_count, apply_global)
        for consumer in self._consuming.values():
            consumer.allow(prefetch_count)

    def keep(self, tag: str, request: rq.Request) -> None:
        """Remember a delivery until it is acknowledged."""
        self._out[tag] = request

    def settle(self, tag: str, done: bool) -> None:
        request = self._out.pop(tag, None)
        if request is not None:
            if done:
                request.done()
            else:
                request.reject()

    def close(self) -> None:
        if not self.closed:
            try:
                super().close()
            finally:
                for request in self._out.values():
                    request.reject()
                self._out.clear()


class Transport(virtual.Transport):
    Channel = Channel
    default_port = DEFAULT_PORT
    driver_type = "penstock"
    driver_name = "penstock"
    connection_errors = (*virtual.Transport.connection_errors, ConnectFailed, ConnectionLost, Closed, Timeout)
    # Set so that kombu retries only these: a client without access or permission would fail again.
    recoverable_connection_errors = connection_errors
    channel_errors = (*virtual.Transport.channel_errors, ClientError)
    implements = virtual.Transport.implements.extend(
        asynchronous=False, exchange_type=frozenset(["direct", "topic", "fanout"]), heartbeats=False
    )

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.clients: BrokerClients
        self.inbox: queues.SimpleQueue[rq.Request] = queues.SimpleQueue()
        self.channel_of: dict[str, Channel] = {}
        self.passing: set[str] = set()  # temporary queues, deleted with their consumer
        self.unacknowledged: set[str] = set()
        self._listening: dict[str, rq.Consumer] = {}
        self._tags = count_from(1)

    def driver_version(self) -> str:
        return __version__

    def establish_connection(self) -> "Transport":
        self.clients = BrokerClients(place_of(self.client), options_of(self.client))
        try:
            _ = self.clients.work  # connects now, so that an unreachable broker is noticed here
        except (AuthFailed, TlsFailed):
            raise  # not turned into ConnectionError, which kombu would retry in vain
        except ClientError as error:
            raise ConnectionError(str(error)) from error
        return super().establish_connection()  # type: ignore[no-any-return]

    def close_connection(self, connection: "Transport") -> None:
        try:
            super().close_connection(connection)
        finally:
            self._listening.clear()
            self.clients.close()

    def listen(self, exchange: str) -> None:
        """Receive what is broadcast under the exchange's name, but no work."""
        if exchange not in self._listening:
            name = BROADCASTS + exchange
            self._listening[exchange] = self.clients.work.consume(name, into=self.inbox, max=0, priority=rq.NONE)

    def drain_events(self, connection: "Transport", timeout: float | None = None) -> None:
        """Deliver one message. Raises socket.timeout if none arrives in time."""
        deadline = None if timeout is None else monotonic() + timeout
        handed_out = 0
        while not handed_out:
            try:
                request = self.inbox.get(timeout=None if deadline is None else max(0.0, deadline - monotonic()))
            except queues.Empty:
                raise socket.timeout from None  # noqa: UP041 the name that kombu documents
            if request.is_broadcast:
                handed_out = self._deliver_broadcast(loads(request.payload))
            elif not request.is_stale:  # a stale one is redelivered by the broker
                handed_out = self._deliver_work(request, loads(request.payload))

    def _deliver_work(self, request: rq.Request, message: dict[str, Any]) -> int:
        channel = self.channel_of.get(request.queue)
        if channel is None:
            request.reject()
            return 0
        tag = message["properties"]["delivery_tag"] = str(next(self._tags))
        if request.queue in self.unacknowledged:
            request.done()
        else:
            channel.keep(tag, request)
        self._deliver(message, request.queue)
        return 1

    def _deliver_broadcast(self, message: dict[str, Any]) -> int:
        info = message["properties"]["delivery_info"]
        count = 0
        for queue, channel in list(self.channel_of.items()):
            if queue in self.passing and queue in channel.matching(info["exchange"], info["routing_key"]):
                message["properties"]["delivery_tag"] = str(next(self._tags))
                self._deliver(message, queue)
                count += 1
        return count


def place_of(info: Any) -> Address:
    """The broker address in a connection's URL. Raises ValueError if the URL contains credentials."""
    host = info.hostname or "127.0.0.1"
    if info.password or info.userid or "@" in host:
        raise ValueError("the URL contains credentials and would be logged: set token_file in transport_options")
    if "://" in host:  # kombu passes penstock+tls://host:port// on unparsed
        return address_of(host, DEFAULT_PORT)
    return Address(host, info.port or DEFAULT_PORT)


def options_of(info: Any) -> Options:
    """Client options from `transport_options`. Raises ValueError if they contain a token."""
    given = dict(info.transport_options or {})
    if "token" in given:
        raise ValueError("transport_options are logged: use token_file or PENSTOCK_TOKEN")
    return Options(**{name: given[name] for name in FILES if given.get(name)})


TRANSPORT_ALIASES["penstock"] = "penstock.adapters.kombu:Transport"
