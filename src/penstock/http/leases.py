"""Leases: messages taken from a queue by an HTTP client and settled together.

The holder of a lease is a consumer of the queue while it lasts: its messages are delivered to nobody else. Accepting
the lease settles all of them. Giving it back, letting it expire or losing the permission it was taken with returns them
to their places, each with one more retry. Leases do not survive a restart; their messages are ready again.

A lease has up to as many messages as requested and up to `lease_bytes_max` bytes, but at least one message. It is sent
in pieces, each built when the previous one was sent; a message that is not in memory is read for its piece.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from penstock.auth.rights import ADMIN, CONSUME, QUEUE
from penstock.core.delivery import Delivery
from penstock.core.places import Places
from penstock.core.queue import Queue
from penstock.core.subscription import Basket
from penstock.http import arrow_stream
from penstock.http.bodies import read_json
from penstock.http.caller import Caller
from penstock.http.connection import HttpConnection
from penstock.http.context import AppContext
from penstock.http.parameters import QueueName
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import not_found, over_limit
from penstock.http.replies import ARROW, answer, problems, takes
from penstock.http.steps import pass_on
from penstock.http.texts import name_of, text_of
from penstock.message import Message
from penstock.wire.ids import random_id

LEASES_MAX = 2000  # one user may have at most half of them
MESSAGES_MAX = 100_000
SECONDS_MAX = 86400
SLICE = 1000  # messages accepted or encoded before yielding to the event loop ...
SLICE_BYTES = 1 << 20  # ... or this many bytes, when encoding
PIECE_BYTES = 256 << 10  # of a response, sent before the next piece is written
LOOK_SECONDS = 2.0  # how long a lease may outlive the permission it was taken with

LeaseId = Annotated[str, Path(description="The lease's id.", max_length=100)]


class NewLease(BaseModel):
    limit: int = Field(default=1000, ge=1, le=MESSAGES_MAX)
    seconds: float = Field(default=300, gt=0, le=SECONDS_MAX)
    owner: str = Field(default="", max_length=1000)


class Accepted(BaseModel):
    accepted: int


class GivenBack(BaseModel):
    leases: int
    messages: int


class Lease:
    def __init__(
        self, id: str, queue: bytes, owner: str, who: Caller, inbox: Basket, ends_at: float, timer: asyncio.TimerHandle
    ) -> None:
        self.id = id
        self.queue = queue
        self.owner = owner
        self.who = who
        self.user = who.name  # its owner; empty without authentication
        self.ends_at = ends_at  # in event loop time
        self.inbox = inbox
        self.timer = timer


class Leases:
    """All open leases."""

    def __init__(self, context: AppContext) -> None:
        self.context = context
        self.by_id: dict[str, Lease] = {}
        self.places = Places(LEASES_MAX)
        self.bytes_max = context.config.lease_bytes_max or context.shares.answer
        context.reactor.account.add("leased", self.held)

    def held(self, user: str | None = None) -> int:
        """Bytes of memory that leases hold, of one user or all."""
        account = self.context.reactor.account
        return sum(
            account.of_consumer(lease.inbox) for lease in self.by_id.values() if user is None or lease.user == user
        )

    def check_memory(self, who: Caller) -> None:
        """While memory is short, leases may hold a quarter of it, and one user half of that. Raises Problem."""
        broker_context = self.context.broker.context
        most = broker_context.bytes_max // 4
        if broker_context.bytes > self.context.reactor.holdings.bytes_max and (
            self.held() >= most or self.held(who.name) >= most // 2
        ):
            raise over_limit(
                f"leases hold {self.held()} bytes of memory; while memory is short, {most} are allowed (a quarter "
                "of memory_bytes_max), and half of that for one user",
                "accept or return some leases",
            )

    def take(self, queue: bytes, asked: NewLease, who: Caller) -> Lease:
        context = self.context
        inbox = Basket(asked.owner.encode(), self._credit(asked.limit, who), self.bytes_max)
        inbox.holder = who.holder
        context.broker.subscribe(queue, inbox, None, context.clock.now())
        id = text_of(random_id(24))
        loop = context.reactor.loop
        ends_at = loop.time() + asked.seconds
        timer = loop.call_at(self._next_look(ends_at), self._look, id)
        lease = self.by_id[id] = Lease(id, queue, asked.owner, who, inbox, ends_at, timer)
        self.places.enter(who.holder)
        context.reactor.plan_flush()
        return lease

    async def fill(self, lease: Lease, queue: Queue) -> None:
        """Wait until it has all messages it may get, then suspend it: accepting some of them brings no more."""
        context = self.context
        try:
            while lease.inbox.queue is queue and (
                queue.consumers.leaving or (lease.inbox.waiting and queue.gives_later())
            ):
                context.reactor.plan_flush()
                await pass_on()
        except BaseException:  # the client has disconnected
            self.end(lease)
            raise
        context.broker.suspend(lease.inbox)
        if self.by_id.get(lease.id) is not lease:
            raise no_lease(lease.id)

    def _credit(self, wanted: int, who: Caller) -> int:
        """The number of messages, limited by the user's `unacked` quota. Raises Refused if that is used up."""
        if who.user is None or who.user.quotas.unacked == 0:
            return wanted
        most = who.user.quotas.unacked
        held = sum(lease.inbox.in_flight for lease in self.by_id.values() if lease.user == who.name)
        if held >= most:
            raise who.user.over_quota("unacked", most)
        return min(wanted, most - held)

    def holds(self, lease: Lease) -> bool:
        """Whether its user is still authenticated and permitted to consume."""
        return self.context.is_still_authenticated(lease.who) and lease.who.may(CONSUME, QUEUE, lease.queue)

    def _next_look(self, ends_at: float) -> float:
        return min(ends_at, self.context.reactor.loop.time() + LOOK_SECONDS)

    def _look(self, id: str) -> None:
        """Give it back if it has expired or the permission it was taken with is lost."""
        lease = self.by_id[id]
        loop = self.context.reactor.loop
        if loop.time() >= lease.ends_at or not self.holds(lease):
            self.end(lease)
        else:
            lease.timer = loop.call_at(self._next_look(lease.ends_at), self._look, id)

    def end(self, lease: Lease) -> int:
        """End a lease, if it has not ended yet. Messages not settled return to their places; returns how many."""
        if self.by_id.get(lease.id) is not lease:
            return 0
        del self.by_id[lease.id]
        self.places.leave(lease.who.holder)
        lease.timer.cancel()
        count = lease.inbox.in_flight
        self.context.broker.cancel(lease.inbox, self.context.clock.now())
        self.context.reactor.plan_flush()
        return count


def no_lease(id: str) -> Exception:
    return not_found(f"there is no lease {id!r}", "it has expired or was settled: take another one")


def slices_of(deliveries: list[Delivery], sizes: list[int]) -> Iterator[list[Delivery]]:
    """Slices limited by count and size."""
    some: list[Delivery] = []
    size = 0
    for delivery, cost in zip(deliveries, sizes, strict=True):
        if some and (len(some) >= SLICE or size + cost > SLICE_BYTES):
            yield some
            some = []
            size = 0
        some.append(delivery)
        size += cost
    if some:
        yield some


def messages_of(queue: Queue, deliveries: list[Delivery]) -> list[Message]:
    """The messages, read from the log if they are not in memory."""
    found: list[Message] = []
    for delivery in deliveries:
        message = queue.message_out(delivery)
        if message is None:
            raise ConnectionAbortedError("a message of the lease cannot be read at the moment")
        found.append(message)
    return found


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["leases"])
    leases = Leases(context)

    async def stream(lease: Lease | None, request: Request) -> AsyncIterator[bytes]:
        """The messages of a lease as a response body. If it is not sent completely, the lease is given back."""
        connection: HttpConnection = request.state.connection
        is_sent = False
        try:
            yield arrow_stream.schema()
            if lease is not None:
                deliveries = lease.inbox.deliveries
                lease.inbox.deliveries = []
                sizes = [delivery.size for delivery in deliveries]
                for some in slices_of(deliveries, sizes):
                    if connection.is_gone():
                        return
                    if leases.by_id.get(lease.id) is not lease:
                        raise ConnectionAbortedError("the lease ended before its messages were sent")
                    for piece in arrow_stream.batch(messages_of(context.queue(lease.queue), some)):
                        for first in range(0, len(piece), PIECE_BYTES):
                            yield piece[first : first + PIECE_BYTES]
                    await pass_on()
            yield arrow_stream.END
            is_sent = not connection.is_gone()
        finally:
            if not is_sent and lease is not None:
                leases.end(lease)

    def is_theirs(lease: Lease) -> bool:
        return lease.user == context.caller.name or context.caller.has(ADMIN)

    def lease_of(id: str) -> Lease:
        lease = leases.by_id.get(id)
        if lease is None or not is_theirs(lease):
            raise no_lease(id)
        if not leases.holds(lease):
            leases.end(lease)
            raise no_lease(id)
        return lease

    @router.post(
        "/queues/{name}/leases",
        response_class=Response,
        responses={
            200: {
                "description": "The messages; none if none are ready.",
                "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}},
                "headers": {
                    "penstock-lease": {
                        "description": "Id of the lease; absent if there are no messages.",
                        "schema": {"type": "string"},
                    },
                    "penstock-messages": {"description": "Number of messages.", "schema": {"type": "integer"}},
                    "penstock-limited-by": {
                        "description": "`lease_bytes_max`, if this limit is why there are fewer than requested.",
                        "schema": {"type": "string"},
                    },
                },
            },
            **problems(400, 404, 413, 415, 429),
        },
        openapi_extra=takes(NewLease, {"limit": 1000, "seconds": 300, "owner": "loader"}, required=False),
        summary="Lease messages of a queue",
    )
    async def take(name: QueueName, request: Request) -> Response:
        asked = await read_json(request, NewLease)
        queue = context.queue(name_of(name))
        if not leases.places.has_room(context.caller.holder):
            raise over_limit(leases.places.why_full(context.caller.holder, "leases"), "accept or return some leases")
        leases.check_memory(context.caller)
        lease = leases.take(queue.name, asked, context.caller)
        await leases.fill(lease, queue)
        if not lease.inbox.deliveries:
            leases.end(lease)
            return StreamingResponse(stream(None, request), media_type=ARROW, headers={"penstock-messages": "0"})
        headers = {"penstock-lease": lease.id, "penstock-messages": str(len(lease.inbox.deliveries))}
        if lease.inbox.is_full() and len(lease.inbox.deliveries) < asked.limit:
            headers["penstock-limited-by"] = "lease_bytes_max"
        return StreamingResponse(stream(lease, request), media_type=ARROW, headers=headers)

    @router.post(
        "/leases/{id}/accept",
        response_model=Accepted,
        responses=problems(404),
        summary="Acknowledge all messages of a lease",
    )
    async def accept(id: LeaseId) -> Response:
        lease = lease_of(id)
        context.caller.check(CONSUME, QUEUE, lease.queue)
        count = 0
        lease.timer.cancel()
        delivery = lease.inbox.oldest
        while delivery is not None:
            context.broker.accept(delivery)
            count += 1
            if count % SLICE == 0:
                context.reactor.plan_flush()
                await pass_on()
            delivery = lease.inbox.oldest
        leases.end(lease)
        await context.when_durable()
        return answer({"accepted": count})

    @router.delete(
        "/leases/{id}",
        response_model=GivenBack,
        responses=problems(404),
        summary="Return the messages of a lease to the queue",
    )
    async def give_back(id: LeaseId) -> Response:
        return answer({"leases": 1, "messages": leases.end(lease_of(id))})

    @router.delete(
        "/leases",
        response_model=GivenBack,
        responses=problems(),
        summary="Return the messages of all leases of an owner",
    )
    async def give_back_all(
        owner: Annotated[
            str, Query(min_length=1, max_length=1000, description="The `owner` given when the leases were taken.")
        ],
    ) -> Response:
        found = [lease for lease in leases.by_id.values() if lease.owner == owner and is_theirs(lease)]
        return answer({"leases": len(found), "messages": sum(map(leases.end, found))})

    return router
