"""One message in five protocols: the exact bytes each would send, split into named parts, and what was preserved.

Nothing here knows how a protocol encodes. For each protocol a broker with one queue is created, a real session consumes
that queue, the message is published to it, and the session's output is captured. The bytes are then parsed as a client
would parse them and compared with the message: `same`, `coded` (other bytes, but the value can be recovered), `changed`
(it cannot), or `lost`.
"""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import orjson

from penstock import risp
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.message import Message
from penstock.wire.dialects import DIALECTS
from penstock.wire.mqks.codec import encode_event, encode_word
from penstock.wire.mqmq import codec as mqmq
from penstock.wire.session import Dialect, Hub, ProtocolOptions, Session
from penstock.wire.sevx.codec import encode_id

SAME: Final = "same"
CODED: Final = "coded"
CHANGED: Final = "changed"
LOST: Final = "lost"

RETRY_MAX: Final = 1_000  # each retry is actually performed
CONSUMER: Final = b"c1"
ESCAPED: Final = b",escaped=event"


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the bytes: `role` names the member of the message, or is `frame` for what only the protocol needs."""

    role: str
    data: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fate:
    """What happened to one member of the message."""

    outcome: str
    note: str = ""


@dataclass(slots=True)
class Rendering:
    """One protocol's view of the message. The `parts` joined are the bytes; there are none if `refusal` is set."""

    protocol: str
    consume: bytes  # what a client sends to receive it
    parts: list[Part] = field(default_factory=list)
    fates: dict[str, Fate] = field(default_factory=dict)
    refusal: str = ""

    @property
    def data(self) -> bytes:
        return b"".join(part.data for part in self.parts)


def why_not_sent(protocol: str, body: bytes) -> str:
    """Why a client of that protocol cannot send this body; empty if it can."""
    if protocol in ("mqks", "smqs") and b"\n" in body:
        return "a line ends at its first LF"
    if protocol == "mqks" and (not body or body != body.rstrip()):
        return "white space at the end of a line is no part of the message, and there has to be one"
    if protocol == "sevx" and (not _is_object(body) or body != body.strip()):
        return "it takes a JSON object, without white space around it"
    if protocol == "rq" and not body:
        return "a request without a body is UNDELIVERED"
    return ""


def render(queue: bytes, message: Message, retry: int, limits: Limits, options: ProtocolOptions) -> list[Rendering]:
    """The message as each protocol delivers it to a consumer of the queue on its `retry`-th redelivery."""
    return [_render(make, queue, message, min(retry, RETRY_MAX), limits, options) for make in DIALECTS]


def _render(
    make: type[Dialect], queue: bytes, message: Message, retry: int, limits: Limits, options: ProtocolOptions
) -> Rendering:
    refusals: list[str] = []

    def report(level: str, event: str, details: dict[str, object]) -> None:
        refusals.append(str(details.get("reason", event)))

    log = MemoryLog()
    log.next_offset = max(message.offset, 0)  # a message without an id gets one derived from its offset
    broker = Broker(log, limits)
    broker.declare(queue)
    hub = Hub(broker, report, options, id_prefix=b"rosetta.")
    dialect = make(hub)
    protocol = dialect.name
    consume = CONSUMES[protocol](queue)
    rendering = Rendering(protocol, consume)
    session = dialect.open("rosetta", message.published_at)
    session.feed(consume, message.published_at)
    if broker.queues[queue].consumer_count() != 1:
        rendering.refusal = refusals[0] if refusals else "a client of this protocol cannot name this queue"
        return rendering
    session.drain()
    broker.bind(queue, (message.event,))
    sent = _copy(message)
    _hand_over(broker, queue, session, sent, retry)
    for _, error in hub.broken:
        raise error  # it would have closed a connection; here the request fails
    delivered = session.drain()
    rendering.parts, rendering.fates = READERS[protocol](delivered, sent, retry)
    if not message.headers:
        del rendering.fates["headers"]
    assert rendering.data == delivered
    return rendering


def _copy(message: Message) -> Message:
    """A separate message, since a log modifies the one it is given."""
    headers = None if message.headers is None else dict(message.headers)
    return Message(message.id, message.event, message.body, message.published_at, message.protocol, headers)


def _hand_over(broker: Broker, queue: bytes, session: Session, message: Message, retry: int) -> None:
    """Publish the message, reject it `retry` times, then let the session receive it."""
    if retry == 0:
        broker.publish(message)
        return
    consumers = session.subscriptions()
    for consumer in consumers:
        broker.suspend(consumer)
    rejecting = Inbox(manual=True)
    broker.subscribe(queue, rejecting, None, message.published_at)
    broker.publish(message)
    for _ in range(retry):
        broker.reject(rejecting.deliveries.pop())
    broker.suspend(rejecting)
    broker.release(rejecting.deliveries.pop())
    for consumer in consumers:
        broker.resume(consumer)


# -- how a client of each protocol consumes the queue -----------------------------------------------------------------


def _consume_rq(queue: bytes) -> bytes:
    name = bytes([risp.QUEUE, min(len(queue), 255)]) + queue[:255]
    return bytes([risp.CLEAR]) + name + bytes([risp.CONSUME]) if len(queue) <= 255 else bytes([risp.CLEAR])


CONSUMES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "mqks": lambda queue: b"%s consume %s event\n" % (CONSUMER, queue),
    "smqs": lambda queue: b"C:%s\n" % queue,
    "sevx": lambda queue: (
        b'%s recv {"queue": %s, "pattern": {"event": ""}}\n'
        % (CONSUMER, orjson.dumps(queue.decode("utf-8", "replace")))
    ),
    "mqmq": lambda queue: mqmq.encode(mqmq.GET, queue, b"1000"),
    "rq": _consume_rq,
}


# -- how a client of each protocol parses a delivery ------------------------------------------------------------------


def _fate(sent: bytes, was: bytes, how: str) -> Fate:
    return Fate(SAME) if sent == was else Fate(CODED, how)


def _not_carried(**more: Fate) -> dict[str, Fate]:
    """The members that most protocols do not carry."""
    nowhere = Fate(LOST)
    return {"id": nowhere, "event": nowhere, "retry": nowhere, "headers": nowhere, **more}


def _read_mqks(line: bytes, message: Message, retry: int) -> tuple[list[Part], dict[str, Fate]]:
    id = encode_word(message.id)
    event = encode_event(message.event)
    parts = [
        Part("consumer", CONSUMER, "the id its client consumes by"),
        Part("frame", b" ok "),
        Part("id", id),
        Part("frame", b" event="),
        Part("event", event),
    ]
    rest = line[sum(len(part.data) for part in parts) :]
    flags, _, body = rest.partition(b" ")
    escaped = flags.endswith(ESCAPED)
    base64 = flags.removesuffix(ESCAPED).endswith(b",encoding=base64")
    if retry:
        parts += [Part("frame", b",retry="), Part("retry", b"%d" % retry)]
    if base64:
        parts.append(Part("marker", b",encoding=base64", "says how to read the body"))
    if escaped:
        parts.append(Part("marker", ESCAPED, "says how to read the event"))
    body = body[:-1]
    parts += [Part("frame", b" "), Part("body", body), Part("frame", b"\n")]
    read = b64decode(body) if base64 else body
    return parts, _not_carried(
        id=_fate(id, message.id, "white space as %XX"),
        event=_fate(event, message.event, "white space and commas as %XX, and the line says so"),
        retry=Fate(SAME),
        body=_body_fate(read == message.body, base64, "base64, and the line says so"),
    )


def _read_smqs(line: bytes, message: Message, retry: int) -> tuple[list[Part], dict[str, Fate]]:
    body = line[:-1]
    if body == message.body:
        return [Part("body", body), Part("frame", b"\n")], _not_carried(body=Fate(SAME))
    head, tail = b'{"base64": "', b'"}'
    coded = body[len(head) : -len(tail)]
    parts = [Part("marker", head, "says how to read the body"), Part("body", coded), Part("marker", tail)]
    fate = _body_fate(b64decode(coded) == message.body, True, "base64 in an object that says so")
    return [*parts, Part("frame", b"\n")], _not_carried(body=fate)


def _read_sevx(line: bytes, message: Message, retry: int) -> tuple[list[Part], dict[str, Fate]]:
    id = encode_id(message)
    parts = [Part("consumer", CONSUMER, "the id its client receives by"), Part("frame", b" ok ")]
    rest = line[len(CONSUMER) + 4 : -1]
    fates: dict[str, Fate] = {}
    context = b'{"id": ' + orjson.dumps(id.decode())
    if rest.startswith(context):
        read: dict[str, object] = orjson.loads(rest)
        parts += [Part("frame", b'{"id": '), Part("id", context[len(b'{"id": ') :])]
        rest = rest[len(context) :]
    else:
        parts += [Part("id", id), Part("frame", b" ")]
        rest = rest[len(id) + 1 :]
        read = orjson.loads(rest)
    if retry:
        opening = b", " if rest.startswith(b", ") else b"{"
        counter = b"%d" % retry
        parts += [Part("frame", opening + b'"retry": '), Part("retry", counter)]
        rest = rest[len(opening) + len(b'"retry": ') + len(counter) :]
    parts += _body_parts_sevx(rest, message)
    parts.append(Part("frame", b"\n"))
    fates["id"] = _fate(id, message.id, "no id becomes one of its time" if not message.id else "other bytes as %XX")
    fates["retry"] = Fate(SAME)
    fates["body"] = _body_fate_sevx(read, rest, message, retry)
    said = read.get("event")
    if isinstance(said, str) and said.encode() == message.event:
        fates["event"] = Fate(SAME, "the body says it")
    else:
        fates["event"] = Fate(LOST, "shown only if the JSON says it")
    return parts, _not_carried(**fates)


def _body_parts_sevx(rest: bytes, message: Message) -> list[Part]:
    """The rest of a JSON object as marker and body, if the body was wrapped in a member of it."""
    head = b'{"data": '
    if message.protocol == "sevx" or _is_object(message.body):
        return [Part("body", rest)]
    lead = head if rest.startswith(head) else b', "data": '
    tail = b', "encoding": "base64"}' if rest.endswith(b', "encoding": "base64"}') else b"}"
    return [
        Part("marker", lead, "the body is no JSON object"),
        Part("body", rest[len(lead) : -len(tail)]),
        Part("marker", tail, "says how to read the body" if len(tail) > 1 else ""),
    ]


def _body_fate_sevx(read: dict[str, object], rest: bytes, message: Message, retry: int) -> Fate:
    body = message.body
    if message.protocol == "sevx" or _is_object(body):
        own = orjson.loads(body)
        given_way = [name for name in ("id", "retry") if name in own and own[name] != read.get(name)]
        if given_way:
            return Fate(CHANGED, f"its own {' and '.join(given_way)} gave way to the broker's")
        if rest == body or (rest.startswith(b", ") and body.endswith(rest[2:])):
            return Fate(SAME)
        return Fate(CHANGED, "the same JSON: white space around its tokens is not kept")
    value = read.get("data")
    if read.get("encoding") == "base64" and isinstance(value, str):
        return _body_fate(b64decode(value) == body, True, "base64 in a member of a JSON object that says so")
    if isinstance(value, str) and value.encode() != body:
        return Fate(CHANGED, "a JSON string: its quotes cannot be told from none")
    return Fate(CODED, "a member of a JSON object")


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(orjson.loads(body), dict)
    except ValueError:
        return False


def _read_mqmq(frame: bytes, message: Message, retry: int) -> tuple[list[Part], dict[str, Fate]]:
    body = frame[14:]
    parts = [
        Part("frame", frame[:4], "length of the frame"),
        Part("frame", frame[4:8], "length of the value"),
        Part("frame", frame[8:10], "OK"),
        Part("frame", frame[10:14], "length of the body"),
        Part("body", body),
    ]
    return parts, _not_carried(body=_body_fate(body == message.body, False, ""))


def _read_rq(commands: bytes, message: Message, retry: int) -> tuple[list[Part], dict[str, Fate]]:
    parts: list[Part] = []
    body = b""
    at = 0
    while at < len(commands):
        code = commands[at]
        size = risp.HEADER_SIZES[code >> 5]
        if code >= risp.FIRST_STRING:
            length = int.from_bytes(commands[at + 1 : at + size], "big")
            parts.append(Part("frame", commands[at : at + size], f"{RQ_NAMES.get(code, '')} of {length} bytes"))
            value = commands[at + size : at + size + length]
            if code == risp.PAYLOAD:
                body = value
            parts.append(Part("body" if code == risp.PAYLOAD else "queue", value))
            at += size + length
        else:
            number = f" {int.from_bytes(commands[at + 1 : at + size], 'big')}" if size > 1 else ""
            parts.append(Part("frame", commands[at : at + size], f"{RQ_NAMES.get(code, '')}{number}"))
            at += size
    if body == message.body:
        fate = Fate(SAME)
    else:
        fate = Fate(CHANGED, "an empty body comes as one NUL byte")
    note = "the ID in here only numbers the requests of one connection"
    return parts, _not_carried(id=Fate(LOST, note), body=fate)


RQ_NAMES: Final = {
    risp.CLEAR: "CLEAR",
    risp.QUEUEID: "QUEUEID",
    risp.QUEUE: "QUEUE",
    risp.PAYLOAD: "PAYLOAD",
    risp.NOREPLY: "NOREPLY",
    risp.ID: "ID",
    risp.REQUEST: "REQUEST",
}


def _body_fate(regained: bool, coded: bool, how: str) -> Fate:
    if not regained:
        return Fate(CHANGED, "other bytes arrive")
    return Fate(CODED, how) if coded else Fate(SAME)


Reader = Callable[[bytes, Message, int], tuple[list[Part], dict[str, Fate]]]
READERS: Final[dict[str, Reader]] = {
    "mqks": _read_mqks,
    "smqs": _read_smqs,
    "sevx": _read_sevx,
    "mqmq": _read_mqmq,
    "rq": _read_rq,
}
