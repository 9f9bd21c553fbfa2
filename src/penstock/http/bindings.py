"""Bindings: which queue receives which events."""

from collections.abc import Iterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from penstock.auth.rights import BROWSE, QUEUE
from penstock.core.queue import Queue
from penstock.http.context import AppContext
from penstock.http.parameters import Limit, Offset, Page
from penstock.http.permissions import AuthorizedRoute
from penstock.http.replies import answer, problems
from penstock.http.steps import pass_on
from penstock.http.texts import text_of

SLICE = 2000


class Binding(BaseModel):
    queue: str
    event: str | None
    pattern: dict[str, Any] | None


class BindingPage(Page):
    bindings: list[Binding]


def bindings_of(queue: Queue, event: bytes | None) -> Iterator[tuple[bytes | None, bytes | None]]:
    for bound in queue.events:
        if event is None or bound == event:
            yield bound, None
    if event is None:
        for pattern in queue.patterns:
            yield None, pattern


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["bindings"])
    broker = context.broker

    @router.get("/bindings", response_model=BindingPage, responses=problems(404), summary="List bindings")
    async def list_bindings(
        event: Annotated[str | None, Query(description="Only bindings of this event.")] = None,
        queue: Annotated[str | None, Query(description="Only bindings of this queue.")] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        wanted = None if event is None else event.encode()
        if queue is not None:
            context.caller.check(BROWSE, QUEUE, queue.encode())
            queues = [context.queue(queue.encode())]
        elif wanted is not None:
            queues = context.caller.seen(broker.routing.by_event.get(wanted, ()))
        else:
            queues = context.caller.seen(broker.queues.values())
        total = 0
        found = []
        for place, each in enumerate(queues):
            if place % SLICE == SLICE - 1:
                await pass_on()
            for bound, pattern in bindings_of(each, wanted):
                if offset <= total < offset + limit:
                    found.append(
                        {
                            "queue": text_of(each.name),
                            "event": None if bound is None else text_of(bound),
                            "pattern": None if pattern is None else orjson.loads(pattern),
                        }
                    )
                total += 1
        return answer({"total": total, "offset": offset, "limit": limit, "bindings": found})

    return router
