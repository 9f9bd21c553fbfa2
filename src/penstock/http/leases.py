"""Leases: messages taken from a queue by a program that speaks HTTP only, and settled together.

Whoever takes a lease is a consumer of the queue while it lasts: its messages are given to nobody else. Accepting the
lease settles all of them; giving it back, or letting its time pass, returns them to their places, each tried once more.
So does the end of the right it was taken by. A lease is gone with the broker, and its messages are in the queue again.
"""

import asyncio
import importlib.util
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from penstock.access.rights import ADMIN, CONSUME, QUEUE
from penstock.core.subscription import Inbox
from penstock.http.bodies import read_json
from penstock.http.caller import Caller
from penstock.http.inside import Inside
from penstock.http.needs import DecidedRoute
from penstock.http.problems import needs_arrow, not_found, over_limit
from penstock.http.replies import ARROW, answer, problems, takes
from penstock.http.texts import name_of, text_of
from penstock.message import Message
from penstock.wire.ids import random_id

if TYPE_CHECKING:
    pass

LEASES_MAX = 1000
MESSAGES_MAX = 100_000
SECONDS_MAX = 86400
SLICE = 1000
LOOK_SECONDS = 2.0  # how long a lease may outlive the right it was taken by


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
        self, id: str, queue: bytes, owner: str, who: Caller, inbox: Inbox, ends_at: float, timer: asyncio.TimerHandle
    ) -> None:
        self.id = id
        self.queue = queue
        self.owner = owner
        self.who = who
        self.user = who.name  # whose it is, where users have names
        self.ends_at = ends_at  # by the loop's clock
        self.inbox = inbox
        self.timer = timer


class Leases:
    """All that are out."""

    def __init__(self, inside: Inside) -> None:
        self.inside = inside
        self.by_id: dict[str, Lease] = {}

    def take(self, queue: bytes, asked: NewLease, who: Caller) -> Lease:
        inside = self.inside
        inbox = Inbox(asked.owner.encode(), manual=True, credit=self._credit(asked.limit, who))
        inside.broker.subscribe(queue, inbox, None, inside.clock.now())
        inside.broker.suspend(inbox)  # what it has is what it gets: accepting must not bring more
        id = text_of(random_id(24))
        loop = inside.board.loop
        ends_at = loop.time() + asked.seconds
        timer = loop.call_at(self._next_look(ends_at), self._look, id)
        lease = self.by_id[id] = Lease(id, queue, asked.owner, who, inbox, ends_at, timer)
        inside.board.plan_flush()
        return lease

    def _credit(self, wanted: int, who: Caller) -> int:
        """How many messages: not more than its user may have un-acked by leases. Raises Refused when it has them."""
        if who.user is None or who.user.quotas.unacked == 0:
            return wanted
        most = who.user.quotas.unacked
        held = sum(lease.inbox.in_flight for lease in self.by_id.values() if lease.user == who.name)
        if held >= most:
            raise who.user.over_quota("unacked", most)
        return min(wanted, most - held)

    def holds(self, lease: Lease) -> bool:
        """Whether whoever took it may still have it."""
        return self.inside.still_welcome(lease.who) and lease.who.may(CONSUME, QUEUE, lease.queue)

    def _next_look(self, ends_at: float) -> float:
        return min(ends_at, self.inside.board.loop.time() + LOOK_SECONDS)

    def _look(self, id: str) -> None:
        """It goes back when its time is over, or the right that it was taken by."""
        lease = self.by_id[id]
        loop = self.inside.board.loop
        if loop.time() >= lease.ends_at or not self.holds(lease):
            self.give_back(id)
        else:
            lease.timer = loop.call_at(self._next_look(lease.ends_at), self._look, id)

    def give_back(self, id: str) -> int:
        """What was taken goes back to its places; how many there were."""
        lease = self.by_id.pop(id)
        lease.timer.cancel()
        count = lease.inbox.in_flight
        self.inside.broker.cancel(lease.inbox, self.inside.clock.now())
        self.inside.board.plan_flush()
        return count

    def close(self, lease: Lease) -> None:
        del self.by_id[lease.id]
        lease.timer.cancel()
        self.inside.broker.cancel(lease.inbox, self.inside.clock.now())


def no_lease(id: str) -> Exception:
    return not_found(f"there is no lease {id!r}", "its time is over, or it was settled: take another")


def stream_of(received: list[tuple[Message, int]]) -> bytes:
    """Messages as an Arrow stream with the columns of the log."""
    import pyarrow as pa

    from penstock.log.arrow import schema
    from penstock.message import BY_EVENT

    wanted: pa.Schema = schema()
    messages = [message for message, _ in received]
    names = [text_of(message.event) for message in messages]
    columns = [
        [message.offset for message in messages],
        names,
        [None if m.route == BY_EVENT else name for m, name in zip(messages, names, strict=True)],
        [text_of(message.id) for message in messages],
        [message.body for message in messages],
        [_headers(message) for message in messages],
        [message.protocol for message in messages],
        [message.published_at for message in messages],
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, wanted, strict=True)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, wanted) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=wanted))
    return bytes(sink.getvalue())


def _headers(message: Message) -> list[tuple[str, str]] | None:
    found = [(text_of(k), text_of(v)) for k, v in (message.headers or {}).items() if not k.startswith(b".")]
    return found or None


def routes(inside: Inside) -> APIRouter:
    router = APIRouter(route_class=DecidedRoute, prefix="/v1", tags=["leases"])
    leases = Leases(inside)

    def is_theirs(lease: Lease) -> bool:
        return lease.user == inside.caller.name or inside.caller.has(ADMIN)

    def lease_of(id: str) -> Lease:
        lease = leases.by_id.get(id)
        if lease is None or not is_theirs(lease):
            raise no_lease(id)
        if not leases.holds(lease):
            leases.give_back(id)
            raise no_lease(id)
        return lease

    @router.post(
        "/queues/{name}/leases",
        response_class=Response,
        responses={
            200: {
                "description": "The messages; none when the queue has none.",
                "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}},
                "headers": {
                    "penstock-lease": {"description": "Settles them.", "schema": {"type": "string"}},
                },
            },
            **problems(400, 404, 413, 415, 429, 501),
        },
        openapi_extra=takes(NewLease, {"limit": 1000, "seconds": 300, "owner": "loader"}, required=False),
        summary="Take messages for a while",
    )
    async def take(
        name: Annotated[str, Path(description="The queue's name, percent-encoded.", max_length=4096)], request: Request
    ) -> Response:
        asked = await read_json(request, NewLease)
        if importlib.util.find_spec("pyarrow") is None:
            raise needs_arrow()
        queue = inside.queue(name_of(name))
        if len(leases.by_id) >= LEASES_MAX:
            raise over_limit(f"{LEASES_MAX} leases are out already", "settle some")
        lease = leases.take(queue.name, asked, inside.caller)
        if not lease.inbox.received:
            leases.close(lease)
            return Response(await asyncio.to_thread(stream_of, []), media_type=ARROW)
        data = await asyncio.to_thread(stream_of, lease.inbox.received)
        lease.inbox.received.clear()
        return Response(data, media_type=ARROW, headers={"penstock-lease": lease.id})

    @router.post(
        "/leases/{id}/accept", response_model=Accepted, responses=problems(404), summary="All of them are done"
    )
    async def accept(id: Annotated[str, Path(max_length=100)]) -> Response:
        lease = lease_of(id)
        inside.caller.check(CONSUME, QUEUE, lease.queue)
        count = 0
        lease.timer.cancel()
        while lease.inbox.oldest is not None:
            for delivery in lease.inbox.held()[:SLICE]:
                inside.broker.accept(delivery)
                count += 1
            inside.board.plan_flush()
            await asyncio.sleep(0)
        if leases.by_id.get(id) is lease:
            leases.close(lease)
        await inside.kept()
        return answer({"accepted": count})

    @router.delete("/leases/{id}", response_model=GivenBack, responses=problems(404), summary="Give them back")
    async def give_back(id: Annotated[str, Path(max_length=100)]) -> Response:
        lease_of(id)
        return answer({"leases": 1, "messages": leases.give_back(id)})

    @router.delete(
        "/leases", response_model=GivenBack, responses=problems(), summary="Give back all leases of an owner"
    )
    async def give_back_all(
        owner: Annotated[str, Query(min_length=1, max_length=1000, description="Whose leases.")],
    ) -> Response:
        found = [lease.id for lease in leases.by_id.values() if lease.owner == owner and is_theirs(lease)]
        return answer({"leases": len(found), "messages": sum(leases.give_back(id) for id in found)})

    return router
