"""The MQKS wire format: decodes lines to requests, encodes answers and deliveries as lines.

request   {request_id} {action} {data}
answer    {request_id} ok {data}           an empty `ok ` keeps its trailing space: clients need three parts
refusal   {request_id} error {error_id}
delivery  {consumer_id} ok {msg_id} event={event}[,retry={n}][,encoding=base64][,escaped=event] {data}

Our extensions: flags before the event of a publish (`wire/delivery_options.py`) and after the message of a reject,
`redrive` and `unrouted`.
"""

import re
from base64 import b64encode
from typing import Final

from penstock.message import Message, fits_one_line
from penstock.wire.delivery_options import (
    DELAY,
    FLAGS_MAX,
    REDRIVE_LIMIT,
    REDRIVE_LIMIT_MAX,
    check_flags,
    microseconds_in,
    number_in,
)

PROTOCOL: Final = "mqks"
CONFIRM: Final = b"--confirm "
DEAD: Final = b"--dead"
LIMIT: Final = b"--limit="
TO: Final = b"--to="
DRY_RUN: Final = b"--dry-run"
ID_SIZE_CAP: Final = 64 << 10  # no message id is longer, so flags are not searched for beyond it

NEVER: Final = -1
INFINITY: Final = float("inf")
SECONDS_MAX: Final = 1e9  # some 30 years; larger values are cut to it

COMMA: Final = 44
_NO_WORD: Final = re.compile(rb"[\0\t-\r ]")  # the same characters as in `message.is_word`
_NO_EVENT: Final = re.compile(rb"[\0\t-\r ,]")


class BadRequest(ValueError):
    """An invalid line: answered with an error, and the connection stays open."""


class Request:
    """One parsed line. `rest` is what follows the action, without a leading `--confirm `."""

    def __init__(self, id: bytes, action: bytes, rest: bytes, confirm: bool) -> None:
        self.id = id
        self.action = action
        self.rest = rest
        self.confirm = confirm


class RejectRequest:
    """The messages of a consumer to reject, and what to do with them."""

    def __init__(self, consumer: bytes, message: bytes) -> None:
        self.consumer = consumer
        self.message = message
        self.delay = -1  # microseconds; -1 if not given
        self.dead = False


class RedriveRequest:
    def __init__(self, queue: bytes) -> None:
        self.queue = queue
        self.limit = REDRIVE_LIMIT
        self.to = b""
        self.dry_run = False


class ConsumeRequest:
    def __init__(self, queue: bytes, events: tuple[bytes, ...], manual_ack: bool, expires_after: int | None) -> None:
        self.queue = queue
        self.events = events
        self.manual_ack = manual_ack
        self.expires_after = expires_after  # microseconds, or NEVER; None if not given


def decode(line: bytes) -> Request | None:
    """The request in a line without its line end; None if it has fewer than three parts."""
    parts = line.split(b" ", 2)
    if len(parts) < 3:
        return None
    rest = parts[2]
    # Only the very first argument can be the flag, and only if something follows it.
    if rest.startswith(CONFIRM):
        return Request(parts[0], parts[1], rest[len(CONFIRM) :], True)
    return Request(parts[0], parts[1], rest, False)


def decode_publish(rest: bytes) -> tuple[bytes, bytes]:
    """The event and the data."""
    event, _, data = rest.partition(b" ")
    if not data:
        raise BadRequest("publish needs an event and data")
    return event, data


def decode_pair(rest: bytes) -> tuple[bytes, bytes]:
    """The consumer and the message of ack and reject."""
    consumer, _, message = rest.partition(b" ")
    if not message:
        raise BadRequest("expected {consumer_id} {msg_id}|--all")
    return consumer, message


def decode_reject(rest: bytes) -> RejectRequest:
    """Flags may follow the message. A word that is not a flag is part of the message id, as in the original."""
    consumer, message = decode_pair(rest)
    request = RejectRequest(consumer, message)
    count = 0
    while True:
        before, space, word = message.rpartition(b" ")
        if not space or len(before) > ID_SIZE_CAP or not _take_reject_flag(request, word):
            return request
        count += 1
        check_flags(count)
        message = request.message = before


def _take_reject_flag(request: RejectRequest, word: bytes) -> bool:
    if word.startswith(DELAY):
        request.delay = microseconds_in(word, DELAY)
    elif word == DEAD:
        request.dead = True
    else:
        return False
    return True


def decode_redrive(rest: bytes) -> RedriveRequest:
    queue, *words = rest.split(b" ", FLAGS_MAX + 1)
    check_flags(len(words))
    if not queue or queue.startswith(b"--"):
        raise BadRequest("redrive needs a queue, then --limit=N, --to=QUEUE or --dry-run")
    request = RedriveRequest(queue)
    for word in words:
        if word.startswith(LIMIT):
            request.limit = number_in(word, LIMIT, REDRIVE_LIMIT_MAX)
        elif word.startswith(TO) and len(word) > len(TO):
            request.to = word[len(TO) :]
        elif word == DRY_RUN:
            request.dry_run = True
        else:
            raise BadRequest(f"unknown flag {word.decode('utf-8', 'backslashreplace')}")
    return request


def decode_consume(rest: bytes, events_max: int) -> ConsumeRequest:
    """Flags may be anywhere; the first other word is the queue, the rest are events."""
    if rest.count(b" ") > events_max + FLAGS_MAX:
        raise BadRequest(f"more than {events_max} events: events_per_queue_max is {events_max}")
    words: list[bytes] = []
    manual_ack = False
    expires_after: int | None = None
    for word in rest.split(b" "):
        if word == b"--manual-ack":
            manual_ack = True
        elif word == b"--delete-queue-when-unused":
            expires_after = 0
        elif word.startswith(b"--delete-queue-when-unused="):
            expires_after = _microseconds(word.partition(b"=")[2])
        elif word.startswith(b"--"):
            raise BadRequest(f"unknown flag {word.decode('utf-8', 'backslashreplace')}")
        else:
            words.append(word)
    if len(words) < 2:
        raise BadRequest("consume needs a queue and at least one event")
    return ConsumeRequest(words[0], tuple(words[1:]), manual_ack, expires_after)


def _microseconds(text: bytes) -> int:
    try:
        seconds = float(text)
    except ValueError:
        raise BadRequest("--delete-queue-when-unused must be a number of seconds") from None
    if seconds != seconds:
        raise BadRequest("--delete-queue-when-unused must be a number of seconds, not NaN")
    if seconds == INFINITY:
        return NEVER
    return round(min(seconds, SECONDS_MAX) * 1_000_000) if seconds > 0 else 0


def encode_ok(request_id: bytes, data: bytes = b"") -> bytes:
    return b"%s ok %s\n" % (request_id, data)


def encode_error(request_id: bytes, error_id: bytes) -> bytes:
    return b"%s error %s\n" % (request_id, error_id)


def encode_delivery(prefix: bytes, message: Message, retry: int) -> bytes:
    """The line for any message, including one from a protocol that allows more than a line can carry.

    A body that does not fit in a line is base64-coded, with `encoding=base64`; one from MQKS always fits. White space
    in an id or an event becomes `%XX`, since the line is split at spaces. So does a comma in an event, since the
    properties are split at commas. A changed event is marked `escaped=event`, and its own `%` becomes `%25`, so it can
    be decoded.
    """
    event = message.event
    properties = b"event=" + encode_event(event)
    escaped = len(properties) != len(event) + 6
    if retry:
        properties += b",retry=%d" % retry
    body = message.body
    if not fits_one_line(message) and message.protocol != PROTOCOL and not _is_plain(body):
        properties += b",encoding=base64"
        body = b64encode(body)
    if escaped:
        properties += b",escaped=event"
    return b"%s%s %s %s\n" % (prefix, encode_word(message.id), properties, body)


def _is_plain(body: bytes) -> bool:
    return not (b"\n" in body or b"\r" in body or b"\0" in body or (body and body[-1] <= 32))


def encode_word(name: bytes) -> bytes:
    """The name with white space and NUL written as `%XX`."""
    if _NO_WORD.search(name) is None:
        return name
    return b"".join([b"%%%02X" % byte if byte <= 32 else bytes([byte]) for byte in name])


def encode_event(name: bytes) -> bytes:
    """The same, also for commas, and for `%` itself if anything was escaped."""
    if _NO_EVENT.search(name) is None:
        return name
    return b"".join([b"%%%02X" % byte if byte <= 32 or byte in b",%" else bytes([byte]) for byte in name])
