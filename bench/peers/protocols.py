"""The other protocols of Penstock, written from their specs. MQKS and the base class of a row are in `penstock.py`.

Each takes part in a round in its own way: SMQS acks by count, SEVX answers each event, MQMQ needs a request per
message, and RQ carries replies. Bodies have the same size as for MQKS; in SEVX that is the whole JSON text.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import ClassVar

from bench import frames
from bench.echo import Echo
from bench.peers.base import Course, Mode
from bench.peers.penstock import Penstock
from bench.wire import Exchange

DONE_COUNT = 1000
"""How many messages an SMQS consumer settles at once."""

CROWD = 10_000
STORED_MAX = 500_000
"""The most messages to put into one queue: with 100-byte bodies, two thirds of what a queue takes by default."""


class Smqs(Penstock):
    name = "penstock smqs"
    listener = "smqs"
    modes = frozenset({Mode.AUTO})

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(b"C:%s:\nS\n" % self.topic, b"}\n")]

    def publisher_hello(self) -> list[Exchange]:
        return [Exchange(b"S\n", b"}\n")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"M:%s:%s\n" % (self.topic, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return body + b"\n"

    def feedback(self, index: int) -> bytes:
        return b"" if (index + 1) % DONE_COUNT else b"D:%s:%d\n" % (self.topic, DONE_COUNT)

    def barrier(self, count: int) -> Exchange | None:
        return Exchange(b"S\n", b'"%s":0' % self.topic)


class Sevx(Penstock):
    """Events of one object and kind; the receiver selects that kind of that object, the crowd other kinds of it."""

    name = "penstock sevx"
    listener = "sevx"
    modes = frozenset({Mode.AUTO})
    answer_mark = b"k"
    crowd_size: ClassVar[int] = 0

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(self._recv(b"c", CROWD), b"c ok \n")]

    def publisher_hello(self) -> list[Exchange]:
        return [Exchange(b'p _ping {"data":"x"}\n', b'p ok {"data":"x"}\n')]

    def crowd(self) -> list[Exchange]:
        return self._each(self._recv)

    def crowd_leaves(self) -> list[Exchange]:
        return self._each(lambda receiver, kind: b'%s delete_queue {"queue":"%s%d"}\n' % (receiver, self.topic, kind))

    def body(self, index: int, size: int) -> bytes:
        head, tail = b'{"obj":"%s","n":%d,"data":"' % (self.topic, CROWD), b'"}'
        return head + frames.body(index, size - len(head) - len(tail)) + tail

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"%s send %s\n" % (number, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return b"c ok %s %s\n" % (number, body)

    def _recv(self, receiver: bytes, kind: int) -> bytes:
        words = (receiver, self.topic, kind, self.topic, kind)
        return b'%s recv {"pattern":{"obj":"%s","n":%d},"queue":"%s%d"}\n' % words

    def _each(self, request: Callable[[bytes, int], bytes]) -> list[Exchange]:
        """One exchange for the whole crowd: its requests, and the answer to the last."""
        if not self.crowd_size:
            return []
        requests = (request(b"r%d" % kind, kind) for kind in range(self.crowd_size))
        return [Exchange(b"".join(requests), b"r%d ok \n" % (self.crowd_size - 1))]


class SevxCrowd(Sevx):
    """The same with ten thousand other receivers, each with a queue and a pattern of its own."""

    name = f"penstock sevx, {CROWD:,} patterns"
    crowd_size = CROWD


class MqmqPut(Penstock):
    """Puts sent without waiting, each of them answered."""

    name = "penstock mqmq put"
    listener = "mqmq"
    modes = frozenset({Mode.AUTO})
    course = Course.PUT
    count_max = STORED_MAX
    window = 1000
    answer_mark = b"K"

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(_frame(b"Get", b"hello", b"1"), b"Timeout")]

    def publisher_hello(self) -> list[Exchange]:
        return self.consumer_hello()

    def publish(self, number: bytes, body: bytes) -> bytes:
        return _frame(b"Put", self.topic, body)

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return _frame(b"OK", body)

    def feedback(self, index: int) -> bytes:
        return _frame(b"Get", self.topic, b"5000")


class MqmqGet(MqmqPut):
    """Gets from a queue that was filled beforehand, a window of them in flight."""

    name = "penstock mqmq get"
    course = Course.GET


class Rq(Penstock):
    """Round trips: REQUEST, DELIVERED and REPLY, with a bounded number of requests open.

        to the consumer    01  60 qqqq      e0 ssssssss body  80 iiiiiiii  0a
        its answers        01  80 iiiiiiii  0d
                           01  80 iiiiiiii  e0 ssssssss body  0b

    The consumer's ids are assigned by the broker. The answer copies the id and the number; the rest is constant.
    """

    name = "penstock rq"
    listener = "rq"
    modes = frozenset({Mode.AUTO})
    course = Course.ECHO
    window = 1000

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(b"\x05", b"\x06")]

    def publisher_hello(self) -> list[Exchange]:
        queue = _queue(self.topic)
        return [Exchange(b"\x01%s\x14" % queue, queue + b"\x18")]

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"\x01%s%s%s\x0a" % (_id(int(number)), _queue(self.topic), _payload(body))

    def delivery(self, number: bytes, body: bytes) -> bytes:
        id = _id(int(number))
        return b"\x01%s\x0d\x01%s%s\x0b" % (id, id, _payload(body))

    def echo(self, size: int) -> Echo:
        body = self.body(0, size)
        question = b"\x01\x60\0\0%s%s\x0a" % (_payload(body), _id(0))
        id_at = len(question) - 5
        moves = ((id_at, 2, 4), (id_at, 9, 4), (9, 18, frames.DIGITS))
        return Echo(question, self.delivery(b"0", body), moves)


def _frame(*values: bytes) -> bytes:
    """An MQMQ frame: a length, then length-prefixed values."""
    data = b"".join(struct.pack(">I", len(value)) + value for value in values)
    return struct.pack(">I", len(data)) + data


def _id(id: int) -> bytes:
    return struct.pack(">BI", 0x80, id)


def _queue(name: bytes) -> bytes:
    return b"\xa0%c%s" % (len(name), name)


def _payload(body: bytes) -> bytes:
    return struct.pack(">BI", 0xE0, len(body)) + body
