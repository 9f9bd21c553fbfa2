"""The five protocols as the load generator uses them: the bytes of one queue, one publisher and one consumer."""

import struct
from abc import ABC, abstractmethod
from typing import ClassVar

from penstock.cli.load import Echo, Exchange


class LoadProtocol(ABC):
    """What a publisher and a consumer of `topic` send and receive. Deliveries of one body size have one size."""

    answer_mark: ClassVar[bytes] = b""
    """A byte that occurs once in each answer to a publish; empty when there are no answers."""

    window: ClassVar[int] = 0
    """How many messages a consumer that must request each one requests ahead."""

    deletes_queue: ClassVar[bool] = False
    """Whether the broker deletes the queue once it has no consumer."""

    def __init__(self, topic: bytes = b"") -> None:
        self.topic = topic

    @abstractmethod
    def consumer_hello(self) -> list[Exchange]:
        """The consumer's handshake, up to the point where deliveries may arrive."""

    @abstractmethod
    def publish(self, number: bytes, body: bytes) -> bytes:
        """One message as the publisher sends it."""

    def delivery(self, number: bytes, body: bytes) -> bytes:
        """The same message as the consumer receives it."""
        return b""

    def wrap(self, text: bytes) -> bytes:
        """A body with this text in it, where plain text will not do."""
        return text

    def settle(self, count: int) -> bytes:
        """What a consumer sends for so many deliveries: acks, or requests for the next messages."""
        return b""

    def acks(self, body: bytes) -> Echo | None:
        """How deliveries are acked one by one, where an ack carries the id of its delivery."""
        return None


class Mqks(LoadProtocol):
    deletes_queue = True

    def consumer_hello(self) -> list[Exchange]:
        words = (self.topic, self.topic, self.consume_flags())
        return [Exchange(b"c consume --confirm %s %s --delete-queue-when-unused%s\n" % words, b"c ok \n")]

    def consume_flags(self) -> bytes:
        return b""

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"%s publish %s %s\n" % (number, self.topic, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return b"c ok %s event=%s %s\n" % (number, self.topic, body)


class Smqs(LoadProtocol):
    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(b"C:%s:\nS\n" % self.topic, b"}\n")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"M:%s:%s\n" % (self.topic, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return body + b"\n"

    def wrap(self, text: bytes) -> bytes:
        return b'"%s"' % text

    def settle(self, count: int) -> bytes:
        return b"D:%s:%d\n" % (self.topic, count)


class Sevx(LoadProtocol):
    answer_mark = b"k"
    deletes_queue = True

    def members(self) -> bytes:
        """The members of an event by which the consumer selects it."""
        return b'"bench":"%s"' % self.topic

    def consumer_hello(self) -> list[Exchange]:
        terms = b'"pattern":{%s},"queue":"%s","delete_queue_when_unused":true' % (self.members(), self.topic)
        return [Exchange(b"c recv {%s}\n" % terms, b"c ok \n")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"%s send %s\n" % (number, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return b"c ok %s %s\n" % (number, body)

    def wrap(self, text: bytes) -> bytes:
        return b'{%s,"data":"%s"}' % (self.members(), text)


class Mqmq(LoadProtocol):
    answer_mark = b"K"
    window = 500

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(frame(b"Get", self.topic, b"1"), b"Timeout")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return frame(b"Put", self.topic, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return frame(b"OK", body)

    def settle(self, count: int) -> bytes:
        return frame(b"Get", self.topic, b"60000") * count


def frame(*values: bytes) -> bytes:
    """An MQMQ frame: a length, then length-prefixed values."""
    data = b"".join(struct.pack(">I", len(value)) + value for value in values)
    return struct.pack(">I", len(data)) + data


class Rq(LoadProtocol):
    """One-way requests. The broker assigns the ids under which a consumer receives and acks them:

    to the consumer    01  60 qqqq      e0 ssssssss body  21  80 iiiiiiii  0a
    its ack            01  80 iiiiiiii  0d
    """

    answer_mark = b"\x0d"

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(b"\x01%s\x14" % self.queue(), self.queue() + b"\x18")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"\x01%s%s%s\x21\x0a" % (rq_id(int(number)), self.queue(), rq_payload(body))

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return b"\x01\x60\0\0%s\x21%s\x0a" % (rq_payload(body), rq_id(int(number)))

    def acks(self, body: bytes) -> Echo | None:
        request = self.delivery(b"0", body)
        return Echo(request, b"\x01%s\x0d" % rq_id(0), [(len(request) - 5, 2, 4)])

    def queue(self) -> bytes:
        return b"\xa0%c%s" % (len(self.topic), self.topic)


def rq_id(id: int) -> bytes:
    return struct.pack(">BI", 0x80, id)


def rq_payload(body: bytes) -> bytes:
    return struct.pack(">BI", 0xE0, len(body)) + body


LOAD_PROTOCOLS: dict[str, type[LoadProtocol]] = {"mqks": Mqks, "smqs": Smqs, "sevx": Sevx, "mqmq": Mqmq, "rq": Rq}
