"""The SEVX wire format: decodes lines to requests, encodes answers and deliveries as lines.

    request   {request_id} {action} {json object}
    answer    {request_id} ok {json object}      an empty `ok ` keeps its trailing space
    refusal   {request_id} error {error_id}
    delivery  {receiver_id} ok {event_id} {json object}
              {receiver_id} ok {json object with "id"}           with `sevx_id_inside`

Our extensions: flags before the JSON of a send (`wire/delivery_options.py`), `delay` and `dead` in a reject,
`redrive` and `unrouted`.

The JSON of an event is delivered as the bytes that were sent; added members go in front.
"""

from base64 import b64encode
from datetime import UTC, datetime
from typing import Final

import orjson

from penstock.core.documents import SHORT, SIZE_MAX, loads
from penstock.message import Message
from penstock.wire.delivery_options import REDRIVE_LIMIT, REDRIVE_LIMIT_MAX, count_of, seconds_of
from penstock.wire.expression import TEXT_MAX, render
from penstock.wire.ids import ALPHABET

PROTOCOL: Final = "sevx"
DTID_TAIL_LENGTH: Final = 4
EXPIRES_IMMEDIATELY: Final = 0
NEVER: Final = -1
SECONDS_MAX: Final = 1e9

QUOTE: Final = 34
BACKSLASH: Final = 92
COMMA: Final = 44
OPENING: Final = (91, 123)
CLOSING: Final = (93, 125)
CONTROLS: Final = bytes([code for code in range(32) if code not in b"\b\t\n\f\r"])  # `\u0000` in JSON

DEPTH_MAX: Final = 1024  # neither we nor most clients parse JSON that is nested deeper


class BadRequest(ValueError):
    """An invalid line: answered with an error, and the connection stays open."""


class Request:
    """One parsed line."""

    def __init__(self, id: bytes, action: bytes, text: bytes) -> None:
        self.id = id
        self.action = action
        self.text = text  # the JSON


class RecvRequest:
    def __init__(self, queue: bytes, pattern: object, manual_ack: bool, expires_after: int | None) -> None:
        self.queue = queue
        self.pattern = pattern
        self.manual_ack = manual_ack
        self.expires_after = expires_after  # microseconds; None if not given


class SettleRequest:
    """An ack or a reject."""

    def __init__(self, receiver_id: bytes, event_id: bytes | None) -> None:
        self.receiver_id = receiver_id
        self.event_id = event_id  # None for all events
        self.delay = -1  # of a reject, in microseconds; -1 if not given
        self.dead = False  # of a reject: do not redeliver


class RedriveRequest:
    def __init__(self, queue: bytes, limit: int, to: bytes, dry_run: bool) -> None:
        self.queue = queue
        self.limit = limit
        self.to = to
        self.dry_run = dry_run


# -- decoding ----------------------------------------------------------------------------------------------------------


def decode(line: bytes) -> Request:
    """Split a line into its request; missing parts are empty."""
    id, _, rest = line.partition(b" ")
    action, _, text = rest.partition(b" ")
    return Request(id, action, text)


def decode_object(text: bytes) -> dict[str, object]:
    try:
        value = loads(text)
    except ValueError as error:
        raise BadRequest(f"invalid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadRequest("expected a JSON object")
    return value


def decode_recv(text: bytes) -> RecvRequest:
    arguments = decode_object(text)
    queue = decode_text(arguments, "queue")
    if not queue:
        raise BadRequest("queue must not be empty")
    return RecvRequest(
        queue,
        _member(arguments, "pattern"),
        _flag(arguments, "manual_ack"),
        _expiry(arguments, "delete_queue_when_unused"),
    )


def decode_settle(text: bytes) -> SettleRequest:
    arguments = decode_object(text)
    receiver_id = decode_text(arguments, "receiver_id")
    if _flag(arguments, "all"):
        return SettleRequest(receiver_id, None)
    return SettleRequest(receiver_id, decode_text(arguments, "event_id"))


def decode_reject(text: bytes) -> SettleRequest:
    request = decode_settle(text)
    arguments = decode_object(text)
    if "delay" in arguments:
        request.delay = seconds_of("delay", arguments["delay"])
    request.dead = _flag(arguments, "dead")
    return request


def decode_redrive(text: bytes) -> RedriveRequest:
    arguments = decode_object(text)
    limit = REDRIVE_LIMIT
    if "limit" in arguments:
        limit = count_of("limit", arguments["limit"], REDRIVE_LIMIT_MAX)
    to = decode_text(arguments, "to") if "to" in arguments else b""
    return RedriveRequest(decode_text(arguments, "queue"), limit, to, _flag(arguments, "dry_run"))


def decode_text(arguments: dict[str, object], name: str) -> bytes:
    value = _member(arguments, name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string")
    return value.encode()


def decode_ping(text: bytes) -> bytes:
    """The answer to a ping: its object, unchanged."""
    _member(decode_object(text), "data")
    return text


def _member(arguments: dict[str, object], name: str) -> object:
    if name not in arguments:
        raise BadRequest(f"missing key {name}")
    return arguments[name]


def _flag(arguments: dict[str, object], name: str) -> bool:
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise BadRequest(f"{name} must be true or false")
    return value


def _expiry(arguments: dict[str, object], name: str) -> int | None:
    if name not in arguments:
        return None
    value = arguments[name]
    if isinstance(value, bool):
        return EXPIRES_IMMEDIATELY if value else NEVER
    if not isinstance(value, (int, float)):
        raise BadRequest(f"{name} must be true, false or a number of seconds")
    if value > SECONDS_MAX:
        raise BadRequest(f"{name} must be at most {SECONDS_MAX:.0f} seconds")
    return round(value * 1_000_000) if value > 0 else EXPIRES_IMMEDIATELY


def is_id(id: bytes) -> bool:
    """True if an id, which has no spaces, can be used both in a line and in a JSON string."""
    if id.isalnum():
        return True
    try:
        id.decode()
    except ValueError:
        return False
    return b"\r" not in id


def is_printable_word(name: bytes) -> bool:
    if name.isalnum():
        return True
    try:
        text = name.decode()
    except ValueError:
        return False
    return text.isprintable() and " " not in text and text != ""


# -- encoding ----------------------------------------------------------------------------------------------------------


def encode_ok(request_id: bytes, text: bytes = b"") -> bytes:
    return b"%s ok %s\n" % (request_id, text)


def encode_redriven(moved: int) -> bytes:
    return b'{"moved": %d}' % moved


def encode_targets(counts: dict[bytes, int]) -> bytes:
    """How many messages a redrive would send to each queue."""
    named = {name.decode("utf-8", "backslashreplace"): count for name, count in sorted(counts.items())}
    return b'{"targets": %s}' % orjson.dumps(named)


def encode_error(request_id: bytes, error_id: bytes) -> bytes:
    return b"%s error %s\n" % (request_id, error_id)


def encode_result(value: object) -> bytes:
    """The value as JSON if it has a JSON form of at most TEXT_MAX bytes, else as its printed text."""
    try:
        text = orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        text = b""
    if not text or len(text) > TEXT_MAX:
        text = orjson.dumps(render(value))
    return b'{"result": %s}' % text


def _plain(value: object) -> object:
    """The fallback of `dumps` for values without a JSON form."""
    if isinstance(value, set):
        return list(value)
    return render(value)


def encode_delivery(prefix: bytes, message: Message, retry: int, id_inside: bool) -> bytes:
    """The line for a message from any protocol."""
    text = encode_body(message)
    id = encode_id(message)
    if id_inside:
        members = b'"id": ' + orjson.dumps(id.decode())
        if retry:
            return b"%s%s\n" % (prefix, put_first(text, b'%s, "retry": %d' % (members, retry), ("id", "retry")))
        return b"%s%s\n" % (prefix, put_first(text, members, ("id",)))
    if retry:
        text = put_first(text, b'"retry": %d' % retry, ("retry",))
    return b"%s%s %s\n" % (prefix, id, text)


def encode_id(message: Message) -> bytes:
    """The message's id as a word a client can repeat in JSON: other bytes become `%XX`, an empty id a dtid."""
    id = message.id
    if is_printable_word(id):
        return id
    if not id:
        return dtid(message.published_at, tail_of(message.offset))
    characters = id.decode("utf-8", "surrogateescape")
    return b"".join([_coded(character) for character in characters])


def _coded(character: str) -> bytes:
    encoded = character.encode("utf-8", "surrogateescape")
    if character.isprintable() and character != " ":
        return encoded
    return b"".join([b"%%%02X" % byte for byte in encoded])


def encode_body(message: Message) -> bytes:
    """The body as a JSON object on one line. A body that is not an object becomes its `data`.

    This works for any body from any protocol.
    """
    text = message.body
    if message.protocol != PROTOCOL:
        text = _wrapped(text)
    # In valid JSON a raw line end is white space between two tokens: in a string it would be escaped.
    if b"\n" in text or b"\r" in text:
        text = text.replace(b"\n", b" ").replace(b"\r", b" ")
    return text


def _wrapped(body: bytes) -> bytes:
    """JSON with too many values to parse is treated as text. One too large or slow to escape becomes base64."""
    if len(body) > SHORT and (len(body) > SIZE_MAX or _has_many_controls(body)):
        return _coded_body(body)
    try:
        value = loads(body)
    except ValueError:
        try:
            return b'{"data": %s}' % orjson.dumps(body.decode())
        except ValueError:
            return _coded_body(body)
    if isinstance(value, dict):
        return body.strip()
    text = b'{"data": %s}' % body.strip()
    if isinstance(value, list) and text.count(b"[") + text.count(b"{") > DEPTH_MAX and not _is_readable(text):
        return _coded_body(body)  # the wrapping made it one level too deep
    return text


def _has_many_controls(body: bytes) -> bool:
    """Whether more than one byte in eight would be escaped as six bytes."""
    return len(body) - len(body.translate(None, CONTROLS)) > len(body) // 8


def _coded_body(body: bytes) -> bytes:
    return b'{"data": "%s", "encoding": "base64"}' % b64encode(body)


def _is_readable(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def put_first(text: bytes, members: bytes, names: tuple[str, ...]) -> bytes:
    """Put members in front of a JSON object's own, replacing members of the same names.

    The rest is kept byte for byte: numbers may exceed the range or precision of a parser. A text that does not parse as
    an object, though it did when it was published, is wrapped in one: the log may come from a more lenient parser.
    """
    try:
        value: object = orjson.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return put_first(_wrapped(text), members, ())
    own: dict[str, object] = value
    for name in names:
        if name in own:
            return b"{%s}" % b", ".join([members, *_members_but(text, names)])
    if own:
        return b"{%s, %s" % (members, text[1:].lstrip())
    return b"{%s}" % members


def _members_but(text: bytes, names: tuple[str, ...]) -> list[bytes]:
    """The source text of each member of a valid JSON object, except those in `names`."""
    kept: list[bytes] = []
    name = b""
    depth = 1
    start = place = 1
    while depth:
        byte = text[place]
        if byte == QUOTE:
            end = _end_of_string(text, place)
            if not name:
                name = text[place:end]
            place = end
            continue
        if byte in OPENING:
            depth += 1
        elif byte in CLOSING:
            depth -= 1
        if depth == 0 or (depth == 1 and byte == COMMA):
            if name and orjson.loads(name) not in names:
                kept.append(text[start:place].strip())
            start = place + 1
            name = b""
        place += 1
    return kept


def _end_of_string(text: bytes, start: int) -> int:
    """The position after the closing quote."""
    place = start + 1
    while text[place] != QUOTE:
        place += 2 if text[place] == BACKSLASH else 1
    return place + 1


# -- ids ---------------------------------------------------------------------------------------------------------------


def dtid(now: int, tail: bytes) -> bytes:
    """A date-time id: 20 digits of UTC time in microseconds, then 4 base62 characters for uniqueness."""
    assert len(tail) == DTID_TAIL_LENGTH
    seconds, microseconds = divmod(now, 1_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M%S")
    return b"%s%06d%s" % (moment.encode(), microseconds, tail)


def tail_of(number: int) -> bytes:
    """Four base62 characters derived from a number."""
    digits: list[int] = []
    for _ in range(DTID_TAIL_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(ALPHABET[digit])
    return bytes(reversed(digits))
