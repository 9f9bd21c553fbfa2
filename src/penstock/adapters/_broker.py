"""What an adapter needs of a broker, by one address: work with credit, counts, and a way to delete a queue.

The address is that of the port which tells the protocol by itself: RQ gives work with credit and takes it back when a
worker dies, SMQS counts queues with what is out, MQMQ puts and takes single messages, MQKS deletes queues.
"""

import threading

from penstock.client import mqks, mqmq, rq, smqs
from penstock.client._options import Options, Place

DEFAULT_PORT = 7700


class BrokerClients:
    """Clients that are connected when they are first needed. May be shared by threads."""

    def __init__(self, address: Place, options: Options | None = None) -> None:
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
        """One more, with a connection of its own: when it is closed, its unfinished work goes back."""
        client = rq.Client(self._options)
        try:
            return client.connect(self._address)
        except BaseException:
            client.close()
            raise

    def put(self, queue: str, body: str | bytes) -> None:
        """Put a message into a queue, once, though it may have to be sent again."""
        self._singles().put(queue, body, dedup=True)

    def counts(self) -> dict[str, int]:
        """How many messages each queue holds or has out."""
        with self._lock:
            if self._smqs is None:
                self._smqs = smqs.Client(self._options).connect(self._address)
        return self._smqs.stats()

    def ready(self) -> dict[str, int]:
        """How many messages each queue holds."""
        return self._singles().info().queues

    def take(self, queue: str) -> bytes:
        """The next message of a queue, which is gone from it. Raises Timeout when there is none."""
        return self._singles().get(queue)

    def purge(self, queue: str) -> int:
        """Take all that is there; how many they were."""
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
                self._mqks = mqks.Client(self._options).connect(self._address)
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
                self._mqmq = mqmq.Client(self._options).connect(self._address)
            return self._mqmq
