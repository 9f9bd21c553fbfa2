"""One client for each of the five protocols, all with the same verbs, so that one test can ask the same of each.

    put(queue, *bodies)          into the queue, by whatever the protocol has for it; returns when the broker has them
    consume(queue, manual)       take messages of the queue from now on
    receive() -> Delivery        the next one
    rest() -> [Delivery]         what was delivered by now and is not received yet
    ack, reject, ...             where the protocol has it: see `optional`
    close(), reset()             leave with FIN or RST

MQKS and SEVX publish events instead of putting into queues. Their drivers use the queue's name as event, and bind the
queue to it. So the bodies of these tests are JSON objects with an `event` member, as `job` makes them, which all five
can carry.

"By now" needs no waiting: every driver knows a request that is answered at once and changes nothing, its fence. The
broker handles a connection's requests in order, so whatever was to come before the answer has come. Only confirmations
may come later than that, when the disk has got what they confirm.
"""

import json
import re
import socket
import struct
from abc import ABC, abstractmethod
from base64 import b64decode
from collections import deque
from collections.abc import Callable
from typing import ClassVar, NamedTuple, TypeVar

import pytest

from ..server.conftest import Client, RunningBroker

Method = TypeVar("Method", bound=Callable[..., object])

OPTIONAL: list[str] = []
RECEIVE_BUFFER = 1 << 15  # bytes the kernel keeps for a client that does not read; small, so that the broker notices


def optional(method: Method) -> Method:
    """A verb that not every protocol has. A driver that has it overrides it; `LACKS` says why the others do not."""
    OPTIONAL.append(method.__name__)
    return method


def job(queue: bytes, number: int, size: int = 0) -> bytes:
    """A body that every protocol can carry: a JSON object which names its event, of about that many bytes."""
    padding = b', "padding": "%s"' % (b"x" * size) if size else b""
    return b'{"event": "%s", "number": %d%s}' % (queue, number, padding)


def jobs(queue: bytes, count: int, size: int = 0, first: int = 0) -> list[bytes]:
    return [job(queue, number, size) for number in range(first, first + count)]


def number_of(body: bytes) -> int:
    return int(json.loads(body)["number"])


class Delivery(NamedTuple):
    body: bytes  # as it stands on the wire, without what the protocol puts around it
    id: bytes  # what `ack` and `reject` call it; empty where there are no ids
    unit: bytes  # the whole line, frame or group of commands it came in

    @property
    def number(self) -> int:
        return number_of(self.body)


class Answer(NamedTuple):
    """What a broker said to something it need not accept."""

    units: list[bytes]
    stays: bool  # whether the connection goes on


class Driver(ABC):
    protocol: ClassVar[str]
    fence: ClassVar[bytes]  # a request that changes nothing
    fence_answer: ClassVar[bytes]  # the unit it is answered with

    def __init__(self, broker: RunningBroker, door: str = "") -> None:
        self.client: Client = broker.connect(door or self.protocol)
        self.waiting: deque[bytes] = deque()  # units that are read and not asked for yet
        self._last_id = 0

    def __repr__(self) -> str:
        return f"<{self.protocol} client>"

    # -- every protocol has these -----------------------------------------------------------------------------------

    @abstractmethod
    def encode_put(self, queue: bytes, body: bytes) -> bytes:
        """The bytes that put a body into a queue."""

    @abstractmethod
    def accepted(self, request: bytes) -> list[bytes]:
        """What such a request is answered with when all is well."""

    def declare(self, queue: bytes) -> None:
        """Have the queue there, and bound to what `put` publishes, before anybody consumes it."""
        return  # where messages are put, they make the queue they need

    def put(self, queue: bytes, *bodies: bytes) -> None:
        requests = [self.encode_put(queue, body) for body in bodies]
        self.client.send(b"".join([*requests, self.fence]))
        expected = deque([answer for request in requests for answer in self.accepted(request)])
        passed = False
        while expected or not passed:
            unit = self.read_unit()
            if expected and unit == expected[0]:
                expected.popleft()
            elif self.is_fence_answer(unit):
                passed = True
            else:
                self.decode_delivery(unit)  # of a client that consumes as well; anything else fails here
                self.waiting.append(unit)

    def attempt(self, request: bytes) -> Answer:
        """Send something that may be refused."""
        self.client.send(request + self.fence)
        return self.read_answer()

    def read_answer(self) -> Answer:
        """What comes up to the answer to a fence, or up to the end of the connection."""
        units: list[bytes] = []
        try:
            while not self.is_fence_answer(unit := self.read_unit()):
                units.append(unit)
        except (EOFError, ConnectionError):
            return Answer(units, False)
        return Answer(units, True)

    @abstractmethod
    def consume(self, queue: bytes, manual: bool = False) -> None:
        """Start consuming; with `manual`, what comes has to be acked. Protocols that know one mode only use that."""

    def want(self, count: int) -> None:
        """Be ready for that many messages."""
        return  # only where messages are fetched, there is something to do

    @abstractmethod
    def decode_delivery(self, unit: bytes) -> Delivery: ...

    @abstractmethod
    def decode_body(self, delivery: Delivery) -> tuple[bytes, str]:
        """The body as it was published, and the name of the coding, by the rule on the protocol's page."""

    def receive(self) -> Delivery:
        return self.decode_delivery(self.waiting.popleft() if self.waiting else self.read_unit())

    def receive_many(self, count: int) -> list[Delivery]:
        return [self.receive() for _ in range(count)]

    def rest(self) -> list[Delivery]:
        self.waiting.extend(self.pass_fence())
        units, self.waiting = self.waiting, deque()
        return [self.decode_delivery(unit) for unit in units]

    def pass_fence(self) -> list[bytes]:
        """The units that came before the answer to the fence."""
        answer = self.attempt(b"")
        assert answer.stays, f"closed by the broker after {answer.units}"
        return answer.units

    def is_fence_answer(self, unit: bytes) -> bool:
        return unit == self.fence_answer

    @abstractmethod
    def read_unit(self) -> bytes: ...

    # -- and some of these ------------------------------------------------------------------------------------------

    @optional
    def ack(self, delivery: Delivery) -> None:
        """The oldest delivery that is not acked is done."""
        raise NotImplementedError

    @optional
    def ack_any(self, delivery: Delivery) -> None:
        """Any delivery is done, whatever came before it."""
        raise NotImplementedError

    @optional
    def reject(self, delivery: Delivery) -> None:
        raise NotImplementedError

    @optional
    def retry_of(self, delivery: Delivery) -> int:
        """How often it was given to somebody before."""
        raise NotImplementedError

    @optional
    def consume_for_good(self, queue: bytes) -> None:
        """Consume so that delivered is done."""
        raise NotImplementedError

    @optional
    def consume_while_used(self, queue: bytes, seconds: float) -> None:
        """Consume a queue that goes away when it was without a consumer for that long."""
        raise NotImplementedError

    @optional
    def cancel(self) -> None:
        """Consume no longer, and stay."""
        raise NotImplementedError

    @optional
    def delete_queue(self, queue: bytes) -> None:
        raise NotImplementedError

    @optional
    def bind(self, queue: bytes, event: bytes) -> None:
        """Have the queue get a copy of whatever is published as that event."""
        raise NotImplementedError

    @optional
    def put_confirmed(self, queue: bytes, body: bytes) -> bytes:
        """Put, and give the unit that confirms it."""
        raise NotImplementedError

    @optional
    def encode_too_long(self, size: int) -> bytes:
        """The beginning of a line or frame of more than that many bytes."""
        raise NotImplementedError

    # -- leaving ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        self.client.close()

    def reset(self) -> None:
        """Close so that the other side sees a reset instead of an end."""
        self.client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.close()

    def read_slowly(self) -> None:
        """Have the kernel keep little of what comes and is not read."""
        self.client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id


class MqksDriver(Driver):
    protocol = "mqks"
    fence = b"~ ping ~\n"
    fence_answer = b"~ ok ~"

    def __init__(self, broker: RunningBroker, door: str = "") -> None:
        super().__init__(broker, door)
        # Ids of consumers are known to the whole broker.
        self.name = b"c%d" % self.client.sock.getsockname()[1]

    def encode_put(self, queue: bytes, body: bytes) -> bytes:
        return b"m%d publish %s %s\n" % (self.next_id(), queue, body)

    def accepted(self, request: bytes) -> list[bytes]:
        return []

    def declare(self, queue: bytes) -> None:
        self.bind(queue, queue)

    def bind(self, queue: bytes, event: bytes) -> None:
        """A consumer that comes and goes at once; the binding stays."""
        self.client.send(b"bind consume %s %s --manual-ack\nx delete_consumer bind\n" % (queue, event))
        self.pass_fence()

    def consume(self, queue: bytes, manual: bool = False) -> None:
        self._consume(queue, b" --manual-ack" if manual else b"")

    def consume_for_good(self, queue: bytes) -> None:
        self._consume(queue, b"")

    def consume_while_used(self, queue: bytes, seconds: float) -> None:
        self._consume(queue, b" --delete-queue-when-unused=%g" % seconds if seconds else b" --delete-queue-when-unused")

    def _consume(self, queue: bytes, flags: bytes) -> None:
        self.client.send(b"%s consume --confirm %s %s%s\n" % (self.name, queue, queue, flags))
        while (unit := self.read_unit()) != self.name + b" ok ":
            self.decode_delivery(unit)
            self.waiting.append(unit)

    def cancel(self) -> None:
        self.client.send(b"x delete_consumer %s\n" % self.name)

    def delete_queue(self, queue: bytes) -> None:
        self.client.send(b"x delete_queue --confirm %s\n" % queue)
        assert self.read_unit() == b"x ok "

    def put_confirmed(self, queue: bytes, body: bytes) -> bytes:
        self.client.send(b"p publish --confirm %s %s\n" % (queue, body))
        return self.read_unit()

    def encode_too_long(self, size: int) -> bytes:
        return b"x ping " + b"x" * size

    def decode_delivery(self, unit: bytes) -> Delivery:
        consumer, ok, id, _, body = unit.split(b" ", 4)
        assert (consumer, ok) == (self.name, b"ok"), unit
        return Delivery(body, id, unit)

    def decode_body(self, delivery: Delivery) -> tuple[bytes, str]:
        if b"encoding=base64" in self._properties(delivery):
            return b64decode(delivery.body, validate=True), "base64"
        return delivery.body, ""

    def retry_of(self, delivery: Delivery) -> int:
        for word in self._properties(delivery):
            if word.startswith(b"retry="):
                return int(word.removeprefix(b"retry="))
        return 0

    def _properties(self, delivery: Delivery) -> list[bytes]:
        return delivery.unit.split(b" ", 4)[3].split(b",")

    def ack(self, delivery: Delivery) -> None:
        self.client.send(b"x ack %s %s\n" % (self.name, delivery.id))

    def ack_any(self, delivery: Delivery) -> None:
        self.ack(delivery)

    def reject(self, delivery: Delivery) -> None:
        self.client.send(b"x reject %s %s\n" % (self.name, delivery.id))

    def read_unit(self) -> bytes:
        return self.client.line()


class SmqsDriver(Driver):
    protocol = "smqs"
    fence = b"S::\n"
    fence_answer = rb'\{("[^"]*":\d+,?)*\}'  # a pattern; no body of these tests looks like that

    def encode_put(self, queue: bytes, body: bytes) -> bytes:
        return b"M:%s:%s\n" % (queue, body)

    def accepted(self, request: bytes) -> list[bytes]:
        return []

    def consume(self, queue: bytes, manual: bool = False) -> None:
        self.queue = queue
        self.client.send(b"C:%s:\n" % queue)
        self.waiting.extend(self.pass_fence())

    def is_fence_answer(self, unit: bytes) -> bool:
        return re.fullmatch(self.fence_answer, unit) is not None

    def encode_too_long(self, size: int) -> bytes:
        return b"M:q:" + b"x" * size

    def decode_delivery(self, unit: bytes) -> Delivery:
        return Delivery(unit, b"", unit)

    def decode_body(self, delivery: Delivery) -> tuple[bytes, str]:
        coded = re.fullmatch(rb'\{"base64": "([A-Za-z0-9+/=]*)"\}', delivery.body)
        if coded:
            return b64decode(coded[1], validate=True), "base64"
        return delivery.body, ""

    def ack(self, delivery: Delivery) -> None:
        self.client.send(b"D:%s:1\n" % self.queue)

    def read_unit(self) -> bytes:
        return self.client.line()


class SevxDriver(Driver):
    protocol = "sevx"
    fence = b'~ _ping {"data": "~"}\n'
    fence_answer = b'~ ok {"data": "~"}'

    def __init__(self, broker: RunningBroker, door: str = "") -> None:
        super().__init__(broker, door)
        self.name = b"r%d" % self.client.sock.getsockname()[1]

    def encode_put(self, queue: bytes, body: bytes) -> bytes:
        """The body has to name the queue as its event: there is no other place for it."""
        return b"e%d send %s\n" % (self.next_id(), body)

    def accepted(self, request: bytes) -> list[bytes]:
        return [request.split(b" ", 1)[0] + b" ok "]

    def declare(self, queue: bytes) -> None:
        self.bind(queue, queue)

    def bind(self, queue: bytes, event: bytes) -> None:
        arguments = b'{"queue": "%s", "pattern": {"event": "%s"}, "delete_queue_when_unused": false}' % (queue, event)
        receiver_id = self._ask(b"recv", arguments)
        self._ask(b"delete_receiver", b'{"receiver_id": "%s"}' % receiver_id)

    def consume(self, queue: bytes, manual: bool = False) -> None:
        self._recv(queue, b', "manual_ack": %s, "delete_queue_when_unused": false' % (b"true" if manual else b"false"))

    def consume_for_good(self, queue: bytes) -> None:
        self.consume(queue)

    def consume_while_used(self, queue: bytes, seconds: float) -> None:
        self._recv(queue, b', "delete_queue_when_unused": %s' % (b"%g" % seconds if seconds else b"true"))

    def _recv(self, queue: bytes, options: bytes) -> None:
        arguments = b'{"queue": "%s", "pattern": {"event": "%s"}%s}' % (queue, queue, options)
        self.client.send(b"%s recv %s\n" % (self.name, arguments))
        while (unit := self.read_unit()) != self.name + b" ok ":
            self.decode_delivery(unit)
            self.waiting.append(unit)

    def cancel(self) -> None:
        self._ask(b"delete_receiver", b'{"receiver_id": "%s"}' % self.name)

    def delete_queue(self, queue: bytes) -> None:
        self._ask(b"delete_queue", b'{"queue": "%s"}' % queue)

    def put_confirmed(self, queue: bytes, body: bytes) -> bytes:
        self.client.send(b"p send %s\n" % body)
        return self.read_unit()

    def encode_too_long(self, size: int) -> bytes:
        return b'x _ping {"data": "' + b"x" * size

    def decode_delivery(self, unit: bytes) -> Delivery:
        receiver, ok, id, text = unit.split(b" ", 3)
        assert (receiver, ok) == (self.name, b"ok"), unit
        return Delivery(re.sub(rb'^\{"retry": \d+(, |(?=\}))', b"{", text), id, unit)

    def decode_body(self, delivery: Delivery) -> tuple[bytes, str]:
        document = json.loads(delivery.body)
        if document.keys() == {"data", "encoding"} and document["encoding"] == "base64":
            return b64decode(document["data"], validate=True), "data, base64"
        if document.keys() == {"data"}:
            data = document["data"]
            if isinstance(data, str):
                return data.encode(), "data"
            return delivery.body.removeprefix(b'{"data": ').removesuffix(b"}"), "data"
        return delivery.body, ""

    def retry_of(self, delivery: Delivery) -> int:
        return int(json.loads(delivery.unit.split(b" ", 3)[3]).get("retry", 0))

    def ack(self, delivery: Delivery) -> None:
        self._ask(b"ack", self._settlement(delivery))

    def ack_any(self, delivery: Delivery) -> None:
        self.ack(delivery)

    def reject(self, delivery: Delivery) -> None:
        self._ask(b"reject", self._settlement(delivery))

    def _settlement(self, delivery: Delivery) -> bytes:
        return json.dumps({"receiver_id": self.name.decode(), "event_id": delivery.id.decode()}).encode()

    def _ask(self, action: bytes, arguments: bytes) -> bytes:
        """Every request is answered; deliveries may come before that. Returns its id."""
        id = self.name + b"-%d" % self.next_id()
        self.client.send(b"%s %s %s\n" % (id, action, arguments))
        while (unit := self.read_unit()) != id + b" ok ":
            self.decode_delivery(unit)
            self.waiting.append(unit)
        return id

    def read_unit(self) -> bytes:
        return self.client.line()


def frame(*values: bytes) -> bytes:
    body = b"".join([len(value).to_bytes(4, "big") + value for value in values])
    return len(body).to_bytes(4, "big") + body


def frame_values(unit: bytes) -> list[bytes]:
    values = []
    place = 4
    while place < len(unit):
        size = int.from_bytes(unit[place : place + 4], "big")
        values.append(unit[place + 4 : place + 4 + size])
        place += 4 + size
    return values


class MqmqDriver(Driver):
    """Messages are fetched: `receive` sends a Get, unless `want` has sent some."""

    protocol = "mqmq"
    fence = frame(b"Put")
    fence_answer = frame(b"Error", b"REQUEST_BAD_PARAMS")

    queue = b""
    wanted = 0

    def encode_put(self, queue: bytes, body: bytes) -> bytes:
        return frame(b"Put", queue, body)

    def accepted(self, request: bytes) -> list[bytes]:
        return [frame(b"OK")]

    def consume(self, queue: bytes, manual: bool = False) -> None:
        self.queue = queue

    def consume_for_good(self, queue: bytes) -> None:
        self.consume(queue)

    def cancel(self) -> None:
        assert not self.wanted

    def put_confirmed(self, queue: bytes, body: bytes) -> bytes:
        self.client.send(frame(b"Put", queue, body))
        return self.read_unit()

    def encode_too_long(self, size: int) -> bytes:
        return (size + 1).to_bytes(4, "big") + frame(b"Put", b"q")

    def want(self, count: int) -> None:
        self.client.send(frame(b"Get", self.queue, b"10000") * count)
        self.wanted += count

    def receive(self) -> Delivery:
        if not self.wanted:
            self.want(1)
        self.wanted -= 1
        return super().receive()

    def rest(self) -> list[Delivery]:
        deliveries = [self.receive() for _ in range(self.wanted)]
        while True:
            self.client.send(frame(b"Get", self.queue, b"1"))
            unit = self.read_unit()
            if unit == frame(b"Timeout"):
                return deliveries
            deliveries.append(self.decode_delivery(unit))

    def decode_delivery(self, unit: bytes) -> Delivery:
        ok, body = frame_values(unit)
        assert ok == b"OK"
        return Delivery(body, b"", unit)

    def decode_body(self, delivery: Delivery) -> tuple[bytes, str]:
        return delivery.body, ""

    def read_unit(self) -> bytes:
        head = self.client.read(4)
        return head + self.client.read(int.from_bytes(head, "big"))


CLEAR, PONG, REQUEST, REPLY, DELIVERED, UNDELIVERED = b"\x01", b"\x06", b"\x0a", b"\x0b", b"\x0d", b"\x10"
BROADCAST, CONSUME, CONSUMING, CANCEL_QUEUE, SERVER_FULL = b"\x0e", b"\x14", b"\x18", b"\x15", b"\x17"
EXCLUSIVE, NOREPLY, PRIORITY = b"\x20", b"\x21", b"\x40"
QUEUEID, ID, QUEUE, PAYLOAD = b"\x60", b"\x80", b"\xa0", b"\xe0"
NUMBER_SIZES = {2: 1, 3: 2, 4: 4}  # by the top three bits of a code
LENGTH_SIZES = {5: 1, 6: 2, 7: 4}


def command(code: bytes, value: bytes = b"") -> bytes:
    length_size = LENGTH_SIZES.get(code[0] >> 5, 0)
    return code + (len(value).to_bytes(length_size, "big") if length_size else b"") + value


def request(id: int, queue: bytes, body: bytes, flags: bytes = b"") -> bytes:
    return CLEAR + command(ID, id.to_bytes(4, "big")) + command(QUEUE, queue) + command(PAYLOAD, body) + flags + REQUEST


def answer(id: bytes, action: bytes, body: bytes | None = None) -> bytes:
    payload = b"" if body is None else command(PAYLOAD, body)
    return CLEAR + command(ID, id) + payload + action


def fields_of(unit: bytes) -> dict[bytes, bytes]:
    """The commands of a group, by code; flags and the action are empty."""
    fields: dict[bytes, bytes] = {}
    place = 0
    while place < len(unit):
        code = unit[place : place + 1]
        shape = code[0] >> 5
        place += 1 + LENGTH_SIZES.get(shape, 0)
        size = NUMBER_SIZES.get(shape, 0)
        if shape in LENGTH_SIZES:
            size = int.from_bytes(unit[place - LENGTH_SIZES[shape] : place], "big")
        fields[code] = unit[place : place + size]
        place += size
    return fields


class RqDriver(Driver):
    """Puts are NOREPLY requests, which are confirmed on acceptance."""

    protocol = "rq"
    fence = b"\x05"
    fence_answer = PONG

    def encode_put(self, queue: bytes, body: bytes) -> bytes:
        return request(self.next_id(), queue, body, NOREPLY)

    def accepted(self, request: bytes) -> list[bytes]:
        return [answer(fields_of(request)[ID], DELIVERED)]

    def consume(self, queue: bytes, manual: bool = False, options: bytes = b"") -> None:
        self.queue = queue
        self.client.send(CLEAR + command(QUEUE, queue) + options + CONSUME)
        assert CONSUMING in fields_of(self.read_unit())

    def cancel(self) -> None:
        self.client.send(CLEAR + command(QUEUE, self.queue) + CANCEL_QUEUE)

    def put_confirmed(self, queue: bytes, body: bytes) -> bytes:
        self.client.send(self.encode_put(queue, body))
        return self.read_unit()

    def decode_delivery(self, unit: bytes) -> Delivery:
        fields = fields_of(unit)
        assert REQUEST in fields, unit
        return Delivery(fields[PAYLOAD], fields[ID], unit)

    def decode_body(self, delivery: Delivery) -> tuple[bytes, str]:
        return delivery.body, ""

    def ack(self, delivery: Delivery) -> None:
        if NOREPLY in fields_of(delivery.unit):
            self.client.send(answer(delivery.id, DELIVERED))
        else:
            self.client.send(answer(delivery.id, REPLY, b""))

    def ack_any(self, delivery: Delivery) -> None:
        self.ack(delivery)

    def reject(self, delivery: Delivery) -> None:
        self.client.send(answer(delivery.id, UNDELIVERED))

    def decode_reply(self, unit: bytes) -> tuple[bytes, int]:
        """The ID of a request and the number in its reply."""
        fields = fields_of(unit)
        assert REPLY in fields, unit
        return fields[ID], number_of(fields[PAYLOAD])

    def read_unit(self) -> bytes:
        """Commands up to an action; CLEAR and NOP are none."""
        client = self.client
        unit = b""
        while True:
            code = client.read(1)
            shape = code[0] >> 5
            unit += code
            if shape == 0 and code not in (CLEAR, b"\0"):
                return unit
            size = NUMBER_SIZES.get(shape, 0)
            if shape in LENGTH_SIZES:
                length = client.read(LENGTH_SIZES[shape])
                unit += length
                size = int.from_bytes(length, "big")
            unit += client.read(size)


DRIVERS: tuple[type[Driver], ...] = (MqksDriver, SmqsDriver, SevxDriver, MqmqDriver, RqDriver)

_DONE = "delivered is done: there is nothing to settle"
_NO_LIFETIME = "has no word for how long a queue lives"

# What a protocol lacks, and why. `test_lacks.py` checks that this is exact: whatever is not here, is tested.
LACKS: dict[str, dict[str, str]] = {
    "ack": {"mqmq": _DONE},
    "ack_any": {"smqs": "an acknowledgement is a number, and that many of the oldest are done", "mqmq": _DONE},
    "reject": {"smqs": "messages are done or not, and cannot be handed back", "mqmq": _DONE},
    "retry_of": {
        "smqs": "a delivery is the body and nothing else",
        "mqmq": "an answer is the body and nothing else; also, what was delivered does not come back",
        "rq": "a request has no field for it; RETRIES is what a requester allows, and consumers are not told",
    },
    "consume_for_good": {
        "smqs": "what is delivered counts until it is done",
        "rq": "every request is answered, be it with DELIVERED",
    },
    "consume_while_used": {"smqs": _NO_LIFETIME, "mqmq": _NO_LIFETIME, "rq": _NO_LIFETIME},
    "cancel": {"smqs": "a connection consumes a queue until it ends"},
    "delete_queue": {"smqs": _NO_LIFETIME, "mqmq": _NO_LIFETIME, "rq": _NO_LIFETIME},
    "bind": {
        "smqs": "messages are put into one queue by its name",
        "mqmq": "messages are put into one queue by its name",
        "rq": "requests are put into one queue by its name",
    },
    "put_confirmed": {"smqs": "a message is not answered"},
    "encode_too_long": {"rq": "knows neither lines nor frames; a PAYLOAD is limited as a body"},
}


def having(*verbs: str) -> list[type[Driver]]:
    """The drivers of the protocols that have all these."""
    return [driver for driver in DRIVERS if not any(driver.protocol in LACKS[verb] for verb in verbs)]


def needs(*verbs: str) -> pytest.MarkDecorator:
    """Run the test once for each protocol that has these verbs; without any, for all five."""
    drivers = having(*verbs)
    return pytest.mark.parametrize("driver", drivers, ids=[driver.protocol for driver in drivers])
