"""Queues: list them sorted by any column, show, declare and delete one."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.auth.authorizer import Authorizer
from penstock.core.broker import Broker
from penstock.core.patterns import canonical_text
from penstock.core.queue import NEVER, Queue
from penstock.core.queue_store import NO_MESSAGE
from penstock.core.queue_totals import SORT_KEYS, Ranking
from penstock.http.bodies import read_json
from penstock.http.caller import Caller
from penstock.http.consumers import ConsumerShape, consumers_of
from penstock.http.context import AppContext
from penstock.http.parameters import Limit, Offset, Page, QueueName
from penstock.http.permissions import AuthorizedRoute
from penstock.http.policies import PolicyShape, policy_of
from penstock.http.problems import conflict, invalid
from penstock.http.replies import answer, problems, takes
from penstock.http.steps import pass_on
from penstock.http.texts import href_of, name_of, text_of

SLICE = 1024  # queues ranked before yielding to the event loop
ROWS = 100  # rows built before yielding to the event loop
CONSUMERS_SHOWN = 100
BINDINGS_IN_A_STEP = 100


class QueueRow(BaseModel):
    name: str = Field(examples=["orders"])
    href: str = Field(examples=["/v1/queues/orders"])
    ready: int
    unacked: int
    delayed: int
    bytes: int
    consumers: int
    oldest_age_seconds: float | None
    paused: bool
    full: bool
    queued: int
    delivered: int
    retried: int
    dropped: int
    expired: int
    dead_lettered: int
    events: int = Field(description="Number of bound events.")
    patterns: int
    expires_after_seconds: float | None = Field(
        description="Deleted this many seconds after its last consumer left; null for never."
    )


class QueueNamed(BaseModel):
    """A queue that the caller may not browse."""

    name: str
    href: str


class QueuePage(Page):
    total: int = Field(description="Number of queues that match.")
    queues: list[QueueRow]


class Bindings(BaseModel):
    events: list[str]
    patterns: list[dict[str, Any]]


class QueueShape(QueueRow):
    bindings: Bindings
    consumers_list: list[ConsumerShape]
    policy: PolicyShape


class Declaration(BaseModel):
    """Settings of a queue. Omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid", strict=True)

    events: list[str] | None = Field(None, description="Events to bind. Replaces the current ones.")
    patterns: list[dict[str, Any]] | None = Field(None, description="JSON patterns to bind. Replaces the current ones.")
    expires_after_seconds: float | None = Field(
        None,
        ge=0,
        le=10**9,
        description="Delete the queue this many seconds after its last consumer left; null keeps it.",
    )


class Deleted(BaseModel):
    deleted: bool
    messages: int = Field(description="Messages deleted with the queue.")


def oldest_of(queue: Queue) -> int:
    """When its oldest message was published, which may have to be read from the log."""
    if not queue.knows_oldest():
        queue.find_oldest()
    return queue.oldest_at()


def row_of(queue: Queue, now: int) -> dict[str, object]:
    oldest = oldest_of(queue)
    return {
        "name": text_of(queue.name),
        "href": href_of("queues", queue.name),
        "ready": queue.ready,
        "unacked": queue.unacked,
        "delayed": len(queue.delayed),
        "bytes": queue.size(),
        "consumers": queue.consumer_count(),
        "oldest_age_seconds": None if oldest == NO_MESSAGE else max(0, now - oldest) / 1_000_000,
        "paused": queue.consumers.paused,
        "full": queue.full,
        "queued": queue.queued,
        "delivered": queue.delivered,
        "retried": queue.retried,
        "dropped": queue.dropped,
        "expired": queue.expired,
        "dead_lettered": queue.dead_lettered,
        "events": len(queue.events),
        "patterns": len(queue.patterns),
        "expires_after_seconds": None if queue.expires_after == NEVER else queue.expires_after / 1_000_000,
    }


def queue_of(context: AppContext, queue: Queue) -> dict[str, object]:
    return {
        **row_of(queue, context.clock.now()),
        "bindings": {
            "events": [text_of(event) for event in queue.events],
            "patterns": [orjson.loads(pattern) for pattern in queue.patterns],
        },
        "consumers_list": consumers_of(context, queue, CONSUMERS_SHOWN),
        "policy": policy_of(queue.policy, context.caller),
    }


async def page_of(
    broker: Broker, who: Caller, search: bytes, key: str, descending: bool, offset: int, limit: int
) -> tuple[int, list[Queue]]:
    """How many queues match, and those of one page. Yields to the event loop between slices."""
    ranking = Ranking(key, descending, search, offset + limit)
    queues = who.seen(broker.queues.values())
    for first in range(0, len(queues), SLICE):
        if first:
            await pass_on()
        ranking.take(queues, first, min(first + SLICE, len(queues)))
    found = [broker.queues.get(name) for _, name in ranking.best[offset:]]
    return ranking.total, [queue for queue in found if queue is not None]


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/queues", tags=["queues"])
    broker = context.broker

    @router.get("", response_model=QueuePage, responses=problems(), summary="List queues")
    async def list_queues(
        search: Annotated[str, Query(description="Only queues whose name contains this text.", max_length=1024)] = "",
        sort: Annotated[
            str,
            Query(
                description="Sort key; prefix it with `-` for descending order.",
                pattern=f"^-?({'|'.join(SORT_KEYS)})$",
                examples=["-ready"],
            ),
        ] = "name",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        key = sort.removeprefix("-")
        total, queues = await page_of(broker, context.caller, search.encode(), key, sort.startswith("-"), offset, limit)
        now = context.clock.now()
        rows = []
        for number, queue in enumerate(queues, 1):
            rows.append(row_of(queue, now))
            if number % ROWS == 0:
                await pass_on()
        return answer({"total": total, "offset": offset, "limit": limit, "queues": rows})

    @router.get("/{name}", response_model=QueueShape, responses=problems(404), summary="Get a queue")
    async def show_queue(name: QueueName) -> Response:
        return answer(queue_of(context, context.queue(name_of(name))))

    @router.put(
        "/{name}",
        response_model=QueueShape | QueueNamed,
        responses={
            201: {"model": QueueShape | QueueNamed, "description": "The queue was created."},
            **problems(400, 413, 415, 429),
        },
        openapi_extra=takes(
            Declaration, {"events": ["order.created"], "patterns": [{"type": "order"}]}, required=False
        ),
        summary="Create or update a queue, its bindings and its expiry",
    )
    async def declare_queue(name: QueueName, request: Request) -> Response:
        declaration = await read_json(request, Declaration)
        if len(declaration.events or ()) + len(declaration.patterns or ()) > BINDINGS_IN_A_STEP:
            await pass_on()  # parsing it took a step of its own
        queue_name = name_of(name)
        existed = queue_name in broker.queues
        context.check_names(queue_name, *[event.encode() for event in declaration.events or ()])
        check_declaration(context.authorizer, broker, queue_name, declaration)
        context.now()  # sets the broker's time: expiry counts from now
        declare(broker, queue_name, declaration)
        await context.when_durable()
        queue = broker.queues.get(queue_name)
        if queue is None:
            raise conflict("the queue was deleted concurrently")
        status = 200 if existed else 201
        if not context.caller.sees(queue_name):
            return answer({"name": text_of(queue_name), "href": href_of("queues", queue_name)}, status)
        return answer(queue_of(context, queue), status)

    @router.delete("/{name}", response_model=Deleted, responses=problems(404, 409), summary="Delete a queue")
    async def delete_queue(
        name: QueueName,
        if_empty: Annotated[bool, Query(description="Delete it only if it has no messages.")] = False,
        if_unused: Annotated[bool, Query(description="Delete it only if it has no consumers.")] = False,
    ) -> Response:
        queue = context.queue(name_of(name))
        held = queue.ready + queue.unacked
        if if_empty and held:
            raise conflict(f"the queue holds {held} messages")
        if if_unused and queue.consumer_count():
            raise conflict(f"the queue has {queue.consumer_count()} consumers")
        broker.delete(queue.name)
        await context.when_durable()
        return answer({"deleted": True, "messages": held})

    return router


def check_declaration(authorizer: Authorizer, broker: Broker, name: bytes, declaration: Declaration) -> None:
    """Check that the caller, who may declare the queue, may bind these and set its expiry. Raises Refused."""
    authorizer.check_bind([event.encode() for event in declaration.events or ()], declaration.patterns or ())
    queue = broker.queues.get(name)
    if queue is not None:
        authorizer.check_rebind(name, *bindings_of(queue, declaration))
    if "expires_after_seconds" in declaration.model_fields_set:
        authorizer.check_expiry(name, expiry_of(declaration))
    authorizer.check_declare(name)


def expiry_of(declaration: Declaration) -> int:
    seconds = declaration.expires_after_seconds
    return NEVER if seconds is None else int(seconds * 1_000_000)


def bindings_of(queue: Queue | None, declaration: Declaration) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The events and patterns the queue would be bound to: omitted fields stay as they are. Raises Refused."""
    events = queue.events if queue is not None else ()
    patterns = queue.patterns if queue is not None else ()
    if declaration.events is not None:
        events = tuple(event.encode() for event in declaration.events)
    if declaration.patterns is not None:
        patterns = tuple(canonical_text(pattern) for pattern in declaration.patterns)
    return events, patterns


def declare(broker: Broker, name: bytes, declaration: Declaration) -> None:
    """Apply the declaration. Whatever is refused is refused before anything has changed."""
    given = declaration.model_fields_set
    if not name:
        raise invalid("path.name", "is empty")
    queue = broker.queues.get(name)
    if declaration.events is not None or declaration.patterns is not None:
        events, patterns = bindings_of(queue, declaration)
        broker.bind(name, events, patterns)
    else:
        broker.declare(name)
    if "expires_after_seconds" in given:
        broker.expire(name, expiry_of(declaration))
