"""What adapters need from a broker, at one address: work with credit, message counts, and deleting queues.

The address is that of the port for all protocols. RQ delivers work with credit and requeues it when a worker dies, SMQS
counts messages including un-acked ones, MQMQ puts and takes single messages, MQKS deletes queues.
"""

import threading
from typing import Protocol, TypeVar

from penstock.client import mqks, mqmq, rq, smqs
from penstock.client._options import AddressLike, Options

DEFAULT_PORT = 7700


class Connecting(Protocol):
    def connect(self, address: AddressLike, /) -> object: ...
    def close(self) -> None: ...


ClientType = TypeVar("ClientType", bound=Connecting)


class BrokerClients:
    """Clients that connect on first use. Thread-safe."""

    def __init__(self, address: AddressLike, options: Options | None = None) -> None:
        self._address = address
        self._options = options or Options()
        self._lock = threading.Lock()
        self._rq: rq.Client | None = None
        self._smqs: smqs.Client | None = None
        self._mqmq: mqmq.Client | None = None
        self._mqks: mqks.Client | None = None

    @property
    def work(self) -> rq.Client:
        with self._lock:
            if self._rq is None:
                self._rq = self.new_worker()
            return self._rq

    def new_worker(self) -> rq.Client:
        """A new client with its own connection: closing it returns its unfinished work."""
        return self._connected(rq.Client(self._options))

    def put(self, queue: str, body: str | bytes) -> None:
        """Put a message into a queue. Deduplicated, so that a retry does not put it twice."""
        self._singles().put(queue, body, dedup=True)

    def counts(self) -> dict[str, int]:
        """Messages in each queue, including un-acked ones."""
        with self._lock:
            if self._smqs is None:
                self._smqs = self._connected(smqs.Client(self._options))
        return self._smqs.stats()

    def ready(self) -> dict[str, int]:
        """Ready messages in each queue."""
        return self._singles().info().queues

    def take(self, queue: str) -> bytes:
        """Remove and return the next message of a queue. Raises Timeout if there is none."""
        return self._singles().get(queue)

    def purge(self, queue: str) -> int:
        """Remove all ready messages. Returns how many there were."""
        count = 0
        while True:
            try:
                self.take(queue)
            except mqmq.Timeout:
                return count
            count += 1

    def delete(self, queue: str) -> None:
        with self._lock:
            if self._mqks is None:
                self._mqks = self._connected(mqks.Client(self._options))
        self._mqks.delete_queue(queue)

    def close(self) -> None:
        with self._lock:
            clients = [self._rq, self._smqs, self._mqmq, self._mqks]
            self._rq = self._smqs = self._mqmq = self._mqks = None
        for client in clients:
            if client is not None:
                client.close()

    def _singles(self) -> mqmq.Client:
        with self._lock:
            if self._mqmq is None:
                self._mqmq = self._connected(mqmq.Client(self._options))
            return self._mqmq

    def _connected(self, client: ClientType) -> ClientType:
        try:
            client.connect(self._address)
        except BaseException:
            client.close()  # it has a thread
            raise
        return client
