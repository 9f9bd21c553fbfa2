"""The other protocols of Penstock. MQKS and the base class of a row are in `penstock.py`.

Each takes part in a round in its own way: SMQS acks by count, SEVX answers each event, MQMQ needs a request per
message, and RQ carries replies. Bodies have the same size as for MQKS; in SEVX that is the whole JSON text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from bench import frames
from bench.peers.base import Course, Mode
from bench.peers.penstock import Penstock
from penstock.cli import load_protocols
from penstock.cli.load import Echo, Exchange
from penstock.cli.load_protocols import frame, rq_id, rq_payload

DONE_COUNT = 1000
"""How many messages an SMQS consumer settles at once."""

CROWD = 10_000
STORED_MAX = 500_000
"""The most messages to put into one queue: with 100-byte bodies, two thirds of what a queue takes by default."""


class Smqs(load_protocols.Smqs, Penstock):
    name = "penstock smqs"
    listener = "smqs"
    modes = frozenset({Mode.AUTO})

    def publisher_hello(self) -> list[Exchange]:
        return [Exchange(b"S\n", b"}\n")]

    def feedback(self, index: int) -> bytes:
        return b"" if (index + 1) % DONE_COUNT else self.settle(DONE_COUNT)

    def barrier(self, count: int) -> Exchange | None:
        return Exchange(b"S\n", b'"%s":0' % self.topic)


class Sevx(load_protocols.Sevx, Penstock):
    """Events of one object and kind; the receiver selects that kind of that object, the crowd other kinds of it."""

    name = "penstock sevx"
    listener = "sevx"
    modes = frozenset({Mode.AUTO})
    crowd_size: ClassVar[int] = 0

    def members(self, kind: int = CROWD) -> bytes:
        return b'"obj":"%s","n":%d' % (self.topic, kind)

    def publisher_hello(self) -> list[Exchange]:
        return [Exchange(b'p _ping {"data":"x"}\n', b'p ok {"data":"x"}\n')]

    def crowd(self) -> list[Exchange]:
        return self._each(lambda kind: b'recv {"pattern":{%s},"queue":"%s%d"}' % (self.members(kind), self.topic, kind))

    def crowd_leaves(self) -> list[Exchange]:
        return self._each(lambda kind: b'delete_queue {"queue":"%s%d"}' % (self.topic, kind))

    def _each(self, request: Callable[[int], bytes]) -> list[Exchange]:
        """One exchange for the whole crowd: its requests, and the answer to the last."""
        if not self.crowd_size:
            return []
        requests = (b"r%d %s\n" % (kind, request(kind)) for kind in range(self.crowd_size))
        return [Exchange(b"".join(requests), b"r%d ok \n" % (self.crowd_size - 1))]


class SevxCrowd(Sevx):
    """The same with ten thousand other receivers, each with a queue and a pattern of its own."""

    name = f"penstock sevx, {CROWD:,} patterns"
    crowd_size = CROWD


class MqmqPut(load_protocols.Mqmq, Penstock):
    """Puts sent without waiting, each of them answered."""

    name = "penstock mqmq put"
    listener = "mqmq"
    modes = frozenset({Mode.AUTO})
    course = Course.PUT
    count_max = STORED_MAX
    window = 1000

    def consumer_hello(self) -> list[Exchange]:
        return [Exchange(frame(b"Get", b"hello", b"1"), b"Timeout")]  # not from the topic, which may be filled

    def publisher_hello(self) -> list[Exchange]:
        return self.consumer_hello()


class MqmqGet(MqmqPut):
    """Gets from a queue that was filled beforehand, a window of them in flight."""

    name = "penstock mqmq get"
    course = Course.GET


class Rq(load_protocols.Rq, Penstock):
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
        return super().consumer_hello()  # it answers requests, so it consumes

    def publish(self, number: bytes, body: bytes) -> bytes:
        return b"\x01%s%s%s\x0a" % (rq_id(int(number)), self.queue(), rq_payload(body))

    def delivery(self, number: bytes, body: bytes) -> bytes:
        id = rq_id(int(number))
        return b"\x01%s\x0d\x01%s%s\x0b" % (id, id, rq_payload(body))

    def echo(self, size: int) -> Echo:
        body = self.body(0, size)
        question = b"\x01\x60\0\0%s%s\x0a" % (rq_payload(body), rq_id(0))
        id_at = len(question) - 5
        fields = ((id_at, 2, 4), (id_at, 9, 4), (9, 18, frames.DIGITS))
        return Echo(question, self.delivery(b"0", body), fields)
