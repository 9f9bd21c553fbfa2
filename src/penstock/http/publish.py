"""Publishing: one message as JSON, or many as an Arrow stream."""

import asyncio
import base64
import binascii
import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.auth.authorizer import Authorizer
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.errors import Refused
from penstock.http.bodies import media_type_of, parsed, read_body, wrong_media_type
from penstock.http.context import AppContext
from penstock.http.parameters import QueueName
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import invalid, malformed, needs_arrow, too_large
from penstock.http.replies import ARROW, JSON, Documented, answer, problems, takes
from penstock.http.steps import pass_on
from penstock.http.texts import href_of, name_of, text_of
from penstock.message import INTERNAL_PREFIX, TO_QUEUE, DeliveryOptions, Message, payload_size
from penstock.wire.claims import check_claim
from penstock.wire.delivery_options import SECONDS_MAX, TRIES_MAX, RequestedOptions

if TYPE_CHECKING:
    import pyarrow as pa

PROTOCOL = "http"
BATCH_MESSAGES_MAX = 200_000
DEAD_LETTER_PREFIX = b"dead-"  # of headers that record how a message became a dead letter
LARGE = 1 << 20  # bytes of a message as JSON
SLICE = 500  # messages of a batch processed before yielding to the event loop

Seen = set[tuple[bool, bytes]]  # whether it is a queue, and its name

EXAMPLE = {"event": "order.created", "body": '{"order": 7}', "headers": {"trace": "1"}}


class NewMessage(BaseModel):
    """A message for all queues bound to its event, or for one queue by name."""

    model_config = ConfigDict(extra="forbid", strict=True)

    event: str | None = Field(None, description="Publish to every queue bound to this event.")
    queue: str | None = Field(None, description="Put into this queue, which is created if it does not exist.")
    body: str | None = Field(None, description="The body as text.")
    body_base64: str | None = Field(None, description="The body in base64, instead of `body`.")
    headers: dict[str, str] | None = None
    id: str | None = Field(None, description="Generated if omitted.")
    delay_seconds: float | None = Field(
        None, ge=0, le=SECONDS_MAX, description="Delivered after this many seconds at the earliest."
    )
    ttl_seconds: float | None = Field(None, ge=0, le=SECONDS_MAX, description="Expires after this many seconds.")
    max_deliveries: int | None = Field(None, ge=1, le=TRIES_MAX, description="Delivered at most this many times.")
    dedup: bool = Field(False, description="Deduplicate by `id`: the same id is not published twice.")


class Published(BaseModel):
    published: int = Field(description="1, or 0 if it was published before.")
    deduplicated: int = Field(
        description="1 if a message with this id was published before. It is then not published again."
    )
    id: str
    first_offset: int | None = Field(description="Its offset; null if it was published before.")
    next_offset: int | None
    queues: int = Field(description="Number of queues it was routed to.")


class PublishedBatch(BaseModel):
    published: int
    refused: int = Field(description="Messages refused because a queue was full.")
    deduplicated: int = Field(description="Messages whose ids were published before.")
    first_offset: int | None = Field(description="Offset of the first published message; null if none was published.")
    next_offset: int | None = Field(
        description="Offset after the last one. Other publishers' messages may be in between."
    )


class Reached(BaseModel):
    name: str
    href: str
    by: str = Field(description="What matched: `event`, `pattern` or `name`.")
    full: bool


class Reach(BaseModel):
    queues: list[Reached]


def message_from(new: NewMessage, context: AppContext, queue: bytes | None = None) -> Message:
    """Build the message a request describes, for the queue in the path if there is one. Errors name the field."""
    if queue is not None:
        if new.event is not None or new.queue is not None:
            raise invalid("body.event", "omit event and queue: the path names the queue")
    elif (new.event is None) == (new.queue is None):
        raise invalid("body.event", "give either event or queue")
    elif new.queue is not None:
        queue = new.queue.encode()
    body = body_of(new.body, new.body_base64)
    if new.dedup and not new.id:
        raise invalid("body.id", "is required for dedup")
    message = new_message(context, new.id, (new.event or "").encode(), queue, body, new.headers)
    message.options = options_of(new, message.published_at, int(context.config.dedup_seconds))
    return message


def body_of(text: str | None, encoded: str | None) -> bytes:
    """The body given as `body` or as `body_base64`."""
    if encoded is None:
        return (text or "").encode()
    if text is not None:
        raise invalid("body.body_base64", "give either body or body_base64")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid("body.body_base64", str(error)) from error


def set_owner(messages: list[Message], context: AppContext) -> None:
    """Message ids are scoped to the user who publishes."""
    owner = context.caller.name.encode()
    if owner:
        for message in messages:
            context.broker.own(message, owner)


def options_of(new: NewMessage, now: int, dedup_seconds: int) -> DeliveryOptions | None:
    """Delay, time to live, delivery limit and deduplication; None if none is requested."""
    if new.delay_seconds is None and new.ttl_seconds is None and new.max_deliveries is None and not new.dedup:
        return None
    requested = RequestedOptions()
    if new.delay_seconds is not None:
        requested.delay = int(new.delay_seconds * 1_000_000)
    if new.ttl_seconds is not None:
        requested.ttl = int(new.ttl_seconds * 1_000_000)
    requested.deliveries_max = new.max_deliveries or 0
    requested.dedup = new.dedup
    return requested.options(now, dedup_seconds)


def new_message(
    context: AppContext,
    id: str | None,
    event: bytes,
    queue: bytes | None,
    body: bytes,
    headers: dict[str, str] | None,
) -> Message:
    """A message for a queue, or for the queues bound to an event if `queue` is None."""
    limits = context.hub.limits
    name = event if queue is None else queue
    if not name:
        raise invalid("body.event" if queue is None else "body.queue", "is empty")
    if len(name) > limits.name_size_max:
        raise context.name_too_large("name", name)
    id_bytes = id.encode() if id else context.hub.ids.next()
    if len(id_bytes) > limits.name_size_max:
        raise context.name_too_large("id", id_bytes)
    coded = coded_headers(headers, limits) if headers else None
    if coded and context.caller.user is not None:
        coded = allowed_headers(coded)
    message = Message(id_bytes, name, body, context.clock.now(), PROTOCOL, coded)
    if queue is not None:
        message.route = TO_QUEUE
    return message


def coded_headers(headers: dict[str, str], limits: Limits) -> dict[bytes, bytes]:
    if len(headers) > limits.headers_max:
        raise too_large(f"{len(headers)} headers: headers_max is {limits.headers_max}")
    characters = sum(len(key) + len(value) for key, value in headers.items())
    if characters > limits.headers_bytes_max:
        raise too_large(f"headers of {characters} characters: headers_bytes_max is {limits.headers_bytes_max}")
    coded = {key.encode(): value.encode() for key, value in headers.items()}
    size = sum(len(key) + len(value) for key, value in coded.items())
    if size > limits.headers_bytes_max:
        raise too_large(f"headers of {size} bytes: headers_bytes_max is {limits.headers_bytes_max}")
    return coded


def allowed_headers(headers: dict[bytes, bytes]) -> dict[bytes, bytes] | None:
    """Reject or drop headers that only the broker may set; see docs/http.md."""
    for name in headers:
        if name.startswith(INTERNAL_PREFIX):
            raise invalid("body.headers", f"{text_of(name)!r}: names that begin with a dot are reserved")
    return {name: value for name, value in headers.items() if not name.startswith(DEAD_LETTER_PREFIX)} or None


def send(broker: Broker, message: Message) -> None:
    """Publish it, or put it into the queue it names."""
    if message.route == TO_QUEUE:
        broker.put(message.event, message)
    else:
        broker.publish(message)


def count_reached(broker: Broker, message: Message) -> int:
    if message.route == TO_QUEUE:
        return 1
    return len(broker.routing.route(message) or ())


async def messages_of(request: Request, context: AppContext) -> list[Message]:
    """The messages of a request: one as JSON, or an Arrow batch."""
    if media_type_of(request) == ARROW:
        data = await read_body(request, context.hub.limits.line_size_max, "line_size_max")
        return await messages_from_arrow(data, context)
    return [message_from(await read_message(request, context, ARROW), context)]


async def read_message(request: Request, context: AppContext, *other_types: str) -> NewMessage:
    """Read a message as JSON. If it is large, yield between the steps, since each copies it."""
    if media_type_of(request) not in (JSON, ""):
        raise wrong_media_type(media_type_of(request), JSON, *other_types)
    limits = context.hub.limits
    data = await read_body(request, limits.json_size_max, "json_size_max")
    is_large = len(data) > LARGE
    if is_large:
        await pass_on()
    new = parsed(data, NewMessage, limits.json_values_max)
    if is_large:
        await pass_on()
    return new


async def messages_from_arrow(data: bytes, context: AppContext) -> list[Message]:
    found: list[Message] = []
    for batch in await asyncio.to_thread(batches_of, data, context.hub.limits.headers_max):
        for first, last in parts_of(batch):
            rows = batch.slice(first, last - first).to_pylist()
            found.extend(_message_from_row(row, place, context) for place, row in enumerate(rows, first))
            await pass_on()
    return found


def parts_of(batch: "pa.RecordBatch") -> Iterator[tuple[int, int]]:
    """Ranges of rows to convert in one event loop iteration; a header counts as much as a row."""
    if "headers" not in batch.schema.names:
        for first in range(0, batch.num_rows, SLICE):
            yield first, min(first + SLICE, batch.num_rows)
        return
    ends = batch.column("headers").offsets.to_pylist()
    first = 0
    while first < batch.num_rows:
        last = first + 1
        while last < batch.num_rows and last + 1 - first + ends[last + 1] - ends[first] <= SLICE:
            last += 1
        yield first, last
        first = last


def batches_of(data: bytes, headers_max: int) -> "list[pa.RecordBatch]":
    """The record batches of an Arrow stream, cast to the columns and types of a message."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise needs_arrow() from error
    headers = pa.map_(pa.string(), pa.string())
    wanted = {"event": pa.string(), "queue": pa.string(), "id": pa.string(), "body": pa.binary(), "headers": headers}
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(data)):
            if is_compressed(message.metadata.to_pybytes()):
                raise malformed("compressed Arrow buffers are not supported", "write the stream without compression")
        reader = pa.ipc.open_stream(pa.py_buffer(data))
        names = reader.schema.names
        for name, field in zip(names, reader.schema, strict=True):
            if name not in wanted or names.count(name) > 1:
                raise invalid(f"body.{name}", f"is not one of the columns {', '.join(wanted)}, each at most once")
            if not is_plain(field.type, wanted[name]):
                raise invalid(f"body.{name}", f"has the type {field.type} instead of {wanted[name]}")
        if "event" not in names and "queue" not in names:
            raise invalid("body", "needs a column event or queue")
        table = reader.read_all()
        if table.num_rows > BATCH_MESSAGES_MAX:
            raise too_large(f"{table.num_rows} messages: at most {BATCH_MESSAGES_MAX} in one request")
        table.validate(full=True)  # untrusted input: offsets may point anywhere
        batches = list(table.cast(pa.schema([pa.field(name, wanted[name]) for name in names])).to_batches())
        if "headers" in names:
            check_header_counts([batch.column("headers") for batch in batches], headers_max)
        return batches
    except (pa.ArrowException, OSError, ValueError, TypeError, struct.error) as error:
        raise malformed(f"the body is not an Arrow stream of messages: {error}") from error


def check_header_counts(columns: "list[pa.Array]", headers_max: int) -> None:
    """Called before headers are converted: a row may have millions."""
    for column in columns:
        offsets = column.offsets.to_pylist()
        for first, last in pairwise(offsets):
            if last - first > headers_max:
                raise too_large(f"{last - first} headers: headers_max is {headers_max}")


def is_plain(given: "pa.DataType", wanted: "pa.DataType") -> bool:
    """Whether a column type is accepted. A type that only refers to its values may expand to more than was sent."""
    import pyarrow as pa

    if pa.types.is_map(wanted):
        return bool(pa.types.is_map(given)) and all(
            is_plain(kind, pa.string()) for kind in (given.key_type, given.item_type)
        )
    kinds = [pa.string(), pa.large_string()]
    if wanted == pa.binary():
        kinds += [pa.binary(), pa.large_binary()]
    return given in kinds


def is_compressed(metadata: bytes) -> bool:
    """Whether the buffers of an Arrow message are compressed, which would hide their real size.

    The metadata is a FlatBuffer: each table refers to a list of where its fields are (vtable). In `Message`, fields 1
    and 2 are the kind of header and the header; in `RecordBatch` (kind 3), field 3 is the compression; in
    `DictionaryBatch` (kind 2), field 1 is a record batch.
    """

    def field(table: int, index: int) -> int:
        """The position of a field of a table; 0 if it is absent."""
        fields = table - struct.unpack_from("<i", metadata, table)[0]
        if 4 + 2 * index >= struct.unpack_from("<H", metadata, fields)[0]:
            return 0
        offset: int = struct.unpack_from("<H", metadata, fields + 4 + 2 * index)[0]
        return table + offset if offset else 0

    def follow(place: int) -> int:
        return place + int(struct.unpack_from("<I", metadata, place)[0])

    message = follow(0)
    kind_at, header_at = field(message, 1), field(message, 2)
    if not kind_at or not header_at:
        return False
    kind, header = metadata[kind_at], follow(header_at)
    if kind == 2:
        batch_at = field(header, 1)
        return bool(batch_at) and bool(field(follow(batch_at), 3))
    return kind == 3 and bool(field(header, 3))


def _message_from_row(row: dict[str, Any], place: int, context: AppContext) -> Message:
    event, queue = row.get("event"), row.get("queue")
    if (event is None) == (queue is None):
        raise invalid(f"body.{place}.event", "give either event or queue")
    headers = dict(row["headers"]) if row.get("headers") else None
    if headers and None in headers.values():
        raise invalid(f"body.{place}.headers", "a header has no value")
    queue = None if queue is None else queue.encode()
    return new_message(context, row.get("id"), (event or "").encode(), queue, row.get("body") or b"", headers)


def slices(messages: list[Message]) -> Iterator[list[Message]]:
    for first in range(0, len(messages), SLICE):
        yield messages[first : first + SLICE]


def distinct(messages: list[Message], seen: Seen) -> Iterator[Message]:
    """One message for each event and each queue not seen before."""
    for message in messages:
        place = (message.route == TO_QUEUE, message.event)
        if place not in seen:
            seen.add(place)
            yield message


async def check_all(messages: list[Message], context: AppContext) -> None:
    """Check that the caller may publish every one of them: a single denied message stops all. Raises Refused."""
    who = context.caller
    if who.user is None:
        return
    seen: Seen = set()
    authorizer = context.authorizer
    size = 0
    for number, some in enumerate(slices(messages)):
        if number:
            await pass_on()
        check_some(some, seen, authorizer, context.broker)
        size += sum(payload_size(message) for message in some)
    who.charge(len(messages), size, context.clock.now())


def check_some(messages: list[Message], seen: Seen, authorizer: Authorizer, broker: Broker) -> None:
    """Check messages whose names are not in `seen`, and what their bodies claim. Raises Refused."""
    for message in distinct(messages, seen):
        check_message(message, authorizer, broker)
    if broker.routing.has_patterns:
        for message in messages:
            if message.route != TO_QUEUE:
                check_claim(authorizer, message.event, message.body)


def check_message(message: Message, authorizer: Authorizer, broker: Broker) -> None:
    """Publish the message, or put it into the queue it names."""
    if message.route == TO_QUEUE:
        authorizer.check_put(message.event, broker.would_make(message.event))
    else:
        authorizer.check_publish(message.event)


async def publish_all(messages: list[Message], context: AppContext) -> dict[str, object]:
    """Publish a batch. A full queue refuses its own message, not the ones that follow."""
    broker = context.broker
    refused = deduplicated = 0
    refusal: Refused | None = None
    for some in slices(messages):
        context.now()
        set_owner(some, context)
        for message in some:
            try:
                send(broker, message)
                deduplicated += message.offset < 0
            except Refused as error:
                refusal = error
                refused += 1
        context.reactor.plan_flush()
        await pass_on()
    if refusal is not None and refused == len(messages):
        raise refusal
    await context.when_durable()
    return {
        "published": len(messages) - refused - deduplicated,
        "refused": refused,
        "deduplicated": deduplicated,
        **ends_of(messages),
    }


def ends_of(messages: list[Message]) -> dict[str, object]:
    """The offset range of the messages. A duplicate, or a message refused by all its queues, has no offset."""
    offsets = [message.offset for message in messages if message.offset >= 0]
    return {
        "first_offset": min(offsets, default=None),
        "next_offset": max(offsets) + 1 if offsets else None,
    }


async def publish_one(message: Message, context: AppContext) -> Response:
    context.now()
    reached = count_reached(context.broker, message)
    set_owner([message], context)
    send(context.broker, message)
    is_new = message.offset >= 0
    # Also for a duplicate: the first one may have been published a moment ago and not be durable yet.
    await context.when_durable()
    result = {
        "published": int(is_new),
        "deduplicated": int(not is_new),
        "id": text_of(message.id),
        **ends_of([message]),
        "queues": reached if is_new else 0,
    }
    return answer(result, 201 if is_new else 200)


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["messages"])
    broker = context.broker
    documented = problems(400, 413, 415, 429, 501, 503)
    before: Documented = {200: {"model": Published, "description": "A message with this id was published before."}}
    either: Documented = {
        **before,
        201: {
            "description": "Published.",
            "content": {
                JSON: {
                    "schema": {
                        "anyOf": [
                            {"$ref": "#/components/schemas/Published"},
                            {"$ref": "#/components/schemas/PublishedBatch"},
                        ]
                    }
                }
            },
        },
    }

    @router.post(
        "/publish",
        status_code=201,
        response_class=Response,
        responses={**either, **documented},
        openapi_extra=takes(NewMessage, EXAMPLE, arrow=True),
        summary="Publish a message or a batch",
    )
    async def publish(request: Request) -> Response:
        context.check_publish()
        messages = await messages_of(request, context)
        await check_all(messages, context)
        if media_type_of(request) == ARROW:
            return answer(await publish_all(messages, context), 201)
        return await publish_one(messages[0], context)

    @router.post(
        "/queues/{name}/messages",
        status_code=201,
        response_model=Published,
        responses={**before, **problems(400, 413, 415, 429, 503)},
        openapi_extra=takes(NewMessage, {"body": "hello"}),
        summary="Put a message into a queue",
    )
    async def put(name: QueueName, request: Request) -> Response:
        context.check_publish()
        message = message_from(await read_message(request, context), context, name_of(name))
        await check_all([message], context)
        return await publish_one(message, context)

    @router.post(
        "/route",
        response_model=Reach,
        responses=problems(400, 413, 415),
        openapi_extra=takes(NewMessage, EXAMPLE),
        tags=["bindings"],
        summary="List the queues a message would reach",
    )
    async def route(request: Request) -> Response:
        message = message_from(await read_message(request, context), context)
        reached = []
        if message.route == TO_QUEUE:
            queue = broker.queues.get(message.event)
            if context.caller.sees(message.event):
                reached.append((message.event, "name", queue is not None and queue.full))
        else:
            for queue in context.caller.seen(broker.routing.route(message) or ()):
                by = "event" if message.event in queue.events else "pattern"
                reached.append((queue.name, by, queue.full))
        rows = [{"name": text_of(n), "href": href_of("queues", n), "by": by, "full": full} for n, by, full in reached]
        return answer({"queues": rows})

    return router


BODY_ONLY = (Published, PublishedBatch)  # referenced above by `$ref` only
