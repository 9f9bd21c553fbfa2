"""Any message as the exact bytes that each of the five protocols would send."""

from base64 import b64encode
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.core.delivery import message_of as backlog_message
from penstock.core.delivery import retry_of
from penstock.core.queue import Queue
from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.parameters import QueueName
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import invalid, not_found, too_large
from penstock.http.publish import body_of
from penstock.http.renderings import RETRY_MAX, Part, Rendering, render, why_not_sent
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import name_of, text_of
from penstock.log.span import Span
from penstock.message import Message

BODY_SHOWN = 4096  # bytes of each part; longer ones are cut for display only
SIZE_MAX = 1 << 17  # of a body: five protocols encode it while messages wait

Protocol = Literal["mqks", "smqs", "sevx", "mqmq", "rq", "http"]


class Translation(BaseModel):
    """A message to encode. It is not published."""

    model_config = ConfigDict(extra="forbid", strict=True)

    queue: str = Field(default="orders", max_length=1024)
    event: str = Field(default="orders", max_length=1024)
    id: str = Field(default="m1", max_length=1024)
    body: str | None = None
    body_base64: str | None = None
    retries: int = Field(default=0, ge=0, le=RETRY_MAX, description="Number of earlier deliveries.")
    protocol: Protocol = Field(default="http", description="The protocol it was published with.")


class PartShape(BaseModel):
    role: str = Field(
        description="`body`, `id`, `event`, `retry`, `queue` or `consumer`; `marker` for how the body is encoded; "
        "`frame` for bytes that only the protocol needs."
    )
    base64: str
    size: int = Field(description="Size of the whole part; `base64` is cut after 4096 bytes.")
    note: str


class FateShape(BaseModel):
    outcome: Literal["same", "coded", "changed", "lost"]
    note: str


class RenderingShape(BaseModel):
    protocol: str
    refusal: str | None = Field(description="Why this protocol cannot deliver the message; null if it can.")
    consume: str = Field(description="What a client sends to receive it, in base64.")
    size: int
    parts: list[PartShape] = Field(description="Joined, they are the exact bytes.")
    fates: dict[str, FateShape] = Field(description="What happened to `body`, `id`, `event`, `retry` and `headers`.")


class RosettaShape(BaseModel):
    queue: str
    event: str
    id: str
    renderings: list[RenderingShape]


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["rosetta"])

    @router.post(
        "/rosetta",
        response_model=RosettaShape,
        responses=problems(400, 413, 415),
        openapi_extra=takes(Translation, {"queue": "orders", "event": "order.paid", "body": "hello"}, required=False),
        summary="Show any message as each protocol would send it",
    )
    async def translate(request: Request) -> Response:
        given = await read_json(request, Translation, 2 * SIZE_MAX)
        message = message_of(given, context.clock.now())
        return answer(rosetta_of(context, given.queue.encode(), message, given.retries))

    @router.get(
        "/queues/{name}/messages/{offset}/rosetta",
        response_model=RosettaShape,
        responses=problems(404, 413),
        summary="Show a queued message as each protocol would send it",
    )
    async def translate_queued(
        name: QueueName,
        offset: Annotated[int, Path(description="The message's offset.", ge=0, le=1 << 62)],
    ) -> Response:
        queue = context.queue(name_of(name))
        found = find(queue, offset)
        if found is None:
            raise not_found(f"the queue has no message with offset {offset}", "it may have been settled meanwhile")
        return answer(rosetta_of(context, queue.name, *found))

    return router


def find(queue: Queue, offset: int) -> tuple[Message, int] | None:
    """The message of that offset in the queue, with its retry counter."""
    for subscription in queue.consumers.active:
        for delivery in subscription.held():
            if delivery.offset == offset:
                return _fetched(queue.message_out(delivery), delivery.retry)
    backlog = queue.backlog
    for item in (*backlog.head, *backlog.tail):
        if backlog_message(item).offset == offset:
            return backlog_message(item), retry_of(item)
    for entry in queue.delayed.entries():
        if entry.offset == offset:
            return _fetched(entry.message or queue.log.fetch(offset), entry.retry)
    for span in backlog.spans:
        index = place_in(span, offset)
        if index >= 0:
            return _fetched(backlog.message(offset), span.retry(index))
    return None


def place_in(span: Span, offset: int) -> int:
    """The index of the message in the span; -1 if it is not there. Only a short span has to be searched."""
    places = range(span.start, span.count) if span.places else (span.index_of(offset),)
    for index in places:
        if index < span.count and span.offset(index) == offset and not span.is_dead(index):
            return index
    return -1


def _fetched(message: Message | None, retry: int) -> tuple[Message, int] | None:
    return None if message is None else (message, retry)


def message_of(given: Translation, now: int) -> Message:
    body = body_of(given.body, given.body_base64)
    reason = why_not_sent(given.protocol, body)
    if reason:
        raise invalid("body.protocol", f"{given.protocol.upper()} cannot send this body: {reason}")
    if not given.queue:
        raise invalid("body.queue", "is empty")
    return Message(given.id.encode(), given.event.encode(), body, now, given.protocol)


def rosetta_of(context: AppContext, queue: bytes, message: Message, retries: int) -> dict[str, Any]:
    if len(message.body) > SIZE_MAX:
        raise too_large(f"body of {len(message.body)} bytes: the limit for this view is {SIZE_MAX}")
    renderings = render(queue, message, retries, context.hub.limits, context.hub.options)
    return {
        "queue": text_of(queue),
        "event": text_of(message.event),
        "id": text_of(message.id),
        "renderings": [rendering_of(rendering) for rendering in renderings],
    }


def rendering_of(rendering: Rendering) -> dict[str, Any]:
    return {
        "protocol": rendering.protocol,
        "refusal": rendering.refusal or None,
        "consume": b64encode(rendering.consume).decode(),
        "size": sum(len(part.data) for part in rendering.parts),
        "parts": [part_of(part) for part in rendering.parts],
        "fates": {name: {"outcome": fate.outcome, "note": fate.note} for name, fate in rendering.fates.items()},
    }


def part_of(part: Part) -> dict[str, Any]:
    shown = b64encode(part.data[:BODY_SHOWN]).decode()
    return {"role": part.role, "base64": shown, "size": len(part.data), "note": part.note}
