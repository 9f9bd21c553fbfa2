"""All consumers of one node: which queues it consumes, and when they may get deliveries.

A consumer is suspended while its node may get nothing (`RqSession.may_deliver`), or while a queue that the node asked
for earlier is still parked behind an exclusive consumer: the original client aborts if a later queue delivers before
that. Only `review` decides.
"""

from typing import TYPE_CHECKING

from penstock.core.subscription import Subscription
from penstock.errors import Refused
from penstock.wire.rq.codec import Fields, encode_consuming, encode_denied
from penstock.wire.rq.consumer import Consumer
from penstock.wire.rq.states import ACTIVE, PARKED, RETIRING, STARTING

if TYPE_CHECKING:
    from penstock.wire.rq.session import RqSession


class Consumers:
    def __init__(self, session: "RqSession") -> None:
        self.session = session
        self.broker = session.broker
        self.by_queue: dict[bytes, Consumer] = {}  # in the order they were requested
        self.retiring: dict[bytes, Consumer] = {}
        self.known_ids: set[bytes] = set()  # queues whose QUEUEID the node was told
        self._deleted: list[Consumer] = []  # consumers whose queue was deleted
        self._parked = 0  # number of parked consumers
        self._unacked_max = session.hub.limits.unacked_max  # of each consumer
        self._are_named = False  # requests have QUEUE: the original client crashes on QUEUEID if it consumes two queues

    def consume(self, queue: bytes, fields: Fields) -> None:
        """Answered with CONSUMING, once, when the consumer is active. The protocol has no refusal; DENIED is ours."""
        session = self.session
        consumer = self.by_queue.get(queue)
        if consumer is not None:
            consumer.allow(fields)
            self._readmit(consumer)
            return
        consumer = self.retiring.pop(queue, None)
        if consumer is not None:
            consumer.state = ACTIVE
            consumer.allow(fields)
            self.by_queue[queue] = consumer
            session.send(encode_consuming(consumer.queue_id, queue))
            self._readmit(consumer)
            return
        try:
            if session.puttable is not None:
                session.check_consumer(queue)
            self.broker.declare(queue)
        except Refused as refusal:
            # A client that guesses QUEUEIDs must not learn which queues exist.
            if session.sent_token and (fields.queue or queue in self.known_ids):
                session.send(encode_denied(queue))
            session.complain(str(refusal), queue)  # no QUEUEID was assigned: refused names must not pile up
            return
        consumer = Consumer(session, queue, self._queue_id(queue), fields.exclusive)
        consumer.allow(fields)
        if self.by_queue and not self._are_named:
            self._are_named = True
            for other in [*self.by_queue.values(), *self.retiring.values()]:
                other.name_queue()
        if self._are_named:
            consumer.name_queue()
        self._start(consumer)

    def _queue_id(self, queue: bytes) -> int:
        queue_ids = self.session.dialect.queue_ids
        id = queue_ids.take(queue)
        if queue in self.known_ids:
            queue_ids.release(queue)
        self.known_ids.add(queue)
        return id

    def _start(self, consumer: Consumer) -> None:
        session = self.session
        queue = consumer.queue_name
        self.by_queue[queue] = consumer
        consumer.state = STARTING
        consumer.suspended = True  # until it is decided whether it may get deliveries
        try:
            if session.puttable is not None:
                session.authorizer.check_consume(queue)  # also if the queue was deleted and would be created again
            self.broker.subscribe(queue, consumer, None, session.now)
        except Refused as refusal:
            del self.by_queue[queue]
            session.complain(str(refusal), queue)
            return
        if not consumer.active:
            consumer.state = PARKED
            self._parked += 1
        consumer.limit(self._unacked_max)
        session.share()
        if self._parked == 0 and session.may_deliver():
            self.broker.resume(consumer)

    def _readmit(self, consumer: Consumer) -> None:
        """Apply a consumer's new MAX and PRIORITY to its place in the queue's order."""
        consumer.limit(self._unacked_max)
        self.broker.suspend(consumer)
        self.review()

    def limit(self, unacked_max: int) -> None:
        self._unacked_max = unacked_max
        for consumer in self.by_queue.values():
            consumer.limit(unacked_max)
            self.broker.allow(consumer, consumer.credit)

    def retire(self, consumer: Consumer) -> None:
        """Stop deliveries from a queue; open requests may still be answered."""
        del self.by_queue[consumer.queue_name]
        self._unpark(consumer)
        if consumer.in_flight:
            consumer.state = RETIRING
            self.retiring[consumer.queue_name] = consumer
            self.broker.suspend(consumer)
        else:
            self.broker.cancel(consumer, self.session.now)

    def end_retired(self, consumer: Subscription | None) -> None:
        """End a retiring consumer if its last open request was answered."""
        if isinstance(consumer, Consumer) and consumer.state == RETIRING and consumer.in_flight == 0:
            self.retiring.pop(consumer.queue_name, None)
            self.broker.cancel(consumer, self.session.now)

    def activated(self, consumer: Consumer) -> None:
        """Called by the broker in the middle of an operation."""
        session = self.session
        if not consumer.announced:
            consumer.announced = True
            session.send(encode_consuming(consumer.queue_id, consumer.queue_name))
        if self._unpark(consumer):
            session.hub.awake.append(session)
        consumer.state = ACTIVE

    def ended(self, consumer: Consumer) -> None:
        """Called by the broker in the middle of an operation."""
        self._unpark(consumer)
        self._deleted.append(consumer)
        self.session.hub.awake.append(self.session)

    def _unpark(self, consumer: Consumer) -> bool:
        """Whether it was parked."""
        if consumer.state != PARKED:
            return False
        consumer.state = STARTING
        self._parked -= 1
        return True

    def wake(self) -> None:
        """After a promotion, later queues may be consumed as well.

        A deleted queue is consumed again: the protocol cannot tell a node that its consumer ended.
        """
        deleted = self._deleted
        self._deleted = []
        for consumer in deleted:
            if self.by_queue.get(consumer.queue_name) is consumer:
                self._start(consumer)
            elif self.retiring.get(consumer.queue_name) is consumer:
                del self.retiring[consumer.queue_name]
        self.review()

    def review(self) -> None:
        """Suspend or resume each consumer according to the current conditions."""
        answered = True  # whether all queues requested before this one are active
        for consumer in list(self.by_queue.values()):
            answered = answered and consumer.active
            if answered and self.session.may_deliver():
                self.broker.resume(consumer)
            else:
                self.broker.suspend(consumer)

    def clear(self) -> None:
        for queue in self.known_ids:
            self.session.dialect.queue_ids.release(queue)
        self.known_ids.clear()
        self.by_queue.clear()
        self.retiring.clear()
