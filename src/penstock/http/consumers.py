"""Consumers: which client consumes which queue, over which connection."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from penstock.core.queue import Queue
from penstock.core.subscription import Subscription
from penstock.http.context import AppContext
from penstock.http.parameters import Limit, Offset, Page, QueueName
from penstock.http.permissions import AuthorizedRoute
from penstock.http.replies import answer, problems
from penstock.http.steps import pass_on
from penstock.http.texts import name_of, text_of
from penstock.wire.session import Session

SLICE = 2000  # connections examined before yielding to the event loop


class ConsumerShape(BaseModel):
    name: str
    queue: str
    protocol: str
    connection: str | None
    manual: bool
    unacked: int
    credit: int
    priority: int
    exclusive: bool
    active: bool
    suspended: bool


class ConsumerPage(Page):
    consumers: list[ConsumerShape]


def consumer_of(subscription: Subscription, session: Session | None) -> dict[str, object]:
    queue = subscription.queue
    return {
        "name": text_of(subscription.name),
        "queue": "" if queue is None else text_of(queue.name),
        "protocol": "" if session is None else session.protocol,
        "connection": None if session is None else session.peer,
        "manual": subscription.manual,
        "unacked": subscription.in_flight,
        "credit": subscription.credit,
        "priority": subscription.priority,
        "exclusive": subscription.exclusive,
        "active": subscription.active,
        "suspended": subscription.suspended,
    }


def consumers_of(context: AppContext, queue: Queue, limit: int) -> list[dict[str, object]]:
    """The consumers of one queue, active ones first."""
    wanted = [one for one in [*queue.consumers.active, *queue.consumers.parked] if one.queue is queue][:limit]
    if not wanted:
        return []
    owners = {id(s): session for session in context.hub.sessions for s in session.subscriptions() if s.queue is queue}
    return [consumer_of(subscription, owners.get(id(subscription))) for subscription in wanted]


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["consumers"])

    @router.get("/consumers", response_model=ConsumerPage, responses=problems(), summary="List all consumers")
    async def list_consumers(
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        found: list[dict[str, object]] = []
        total = 0
        who = context.caller
        sees_all = who.sees_all()
        for place, session in enumerate(list(context.hub.sessions)):
            if place % SLICE == SLICE - 1:
                await pass_on()
            for subscription in session.subscriptions():
                queue = subscription.queue
                if not sees_all and (queue is None or not who.sees(queue.name)):
                    continue
                if offset <= total < offset + limit:
                    found.append(consumer_of(subscription, session))
                total += 1
        return answer({"total": total, "offset": offset, "limit": limit, "consumers": found})

    @router.get(
        "/queues/{name}/consumers",
        response_model=ConsumerPage,
        responses=problems(404),
        summary="List the consumers of a queue",
    )
    async def queue_consumers(
        name: QueueName,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        queue = context.queue(name_of(name))
        found = consumers_of(context, queue, offset + limit)[offset:]
        return answer({"total": queue.consumer_count(), "offset": offset, "limit": limit, "consumers": found})

    return router
