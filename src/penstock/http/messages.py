"""The messages of a queue: looked at without touching them, moved, copied, dropped, sent back to where they died."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.core.backlog import Place
from penstock.core.deadletters import origin_of
from penstock.core.queue import Queue
from penstock.core.walk import Walk
from penstock.http.bodies import read_json
from penstock.http.inside import Inside
from penstock.http.needs import DecidedRoute
from penstock.http.problems import conflict, invalid, malformed
from penstock.http.queues import QueueShape, queue_of
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import name_of, text_of, time_of
from penstock.message import INTERNAL_PREFIX, Message

SCAN_MAX = 20_000  # messages one request looks at
SLICE = 200  # of them, before others get their turn
CHANGED_AT_ONCE = 500  # messages that are moved, copied or dropped before others get their turn
MOVED_MAX = 100_000
BODY_SHOWN = 4096
ANSWER_BYTES_MAX = 16 << 20  # of bodies in one answer

READY, UNACKED, DELAYED = "ready", "unacked", "delayed"

QueueName = Annotated[str, Path(description="The queue's name, percent-encoded.", examples=["orders"], max_length=4096)]


class MessageShape(BaseModel):
    offset: int
    id: str
    event: str
    queue: str
    state: str = Field(description="ready, unacked or delayed")
    retries: int
    due_at: str | None = Field(description="Of a delayed one: when it will be ready.")
    published_at: str
    age_seconds: float
    protocol: str
    headers: dict[str, str]
    size: int
    body: str | None = Field(description="Where it is text.")
    body_base64: str | None = Field(description="Where it is not.")
    truncated: bool


class MessagePage(BaseModel):
    queue: str
    messages: list[MessageShape]
    next: str | None = Field(description="Hand it back as `after` for more; null is the end.")


class Wanted(BaseModel):
    """Which ready messages, and where to."""

    model_config = ConfigDict(extra="forbid", strict=True)

    to: str = Field(
        description="The queue they go to, which comes to be if it was not there.", examples=["orders.slow"]
    )
    limit: int = Field(100, ge=1, le=MOVED_MAX)
    event: str | None = Field(None, description="Only of this event.")
    id: str | None = Field(None, description="Only with this id.")
    search: str | None = Field(None, description="Only with this in the body.")
    dry_run: bool = Field(False, description="Only count.")


class Redrive(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    to: str | None = Field(None, description="This queue, in place of the one each message died in.")
    limit: int = Field(10_000, ge=1, le=MOVED_MAX)
    dry_run: bool = False


class Moved(BaseModel):
    moved: int
    dry_run: bool


class Copied(BaseModel):
    copied: int
    dry_run: bool


class Redriven(BaseModel):
    redriven: int
    targets: dict[str, int] = Field(description="How many to which queue.")
    dry_run: bool


class Purged(BaseModel):
    purged: int


class Filter:
    """Which messages somebody wants to see."""

    def __init__(self, event: str | None, id: str | None, search: str | None) -> None:
        self.event = None if event is None else event.encode()
        self.id = None if id is None else id.encode()
        self.search = b"" if search is None else search.encode()

    def wants(self, message: Message) -> bool:
        if self.event is not None and message.event != self.event:
            return False
        if self.id is not None and message.id != self.id:
            return False
        return not self.search or self.search in message.body


class Seen:
    """A message of a queue, and where it stands."""

    def __init__(self, message: Message, state: str, retries: int, mark: str, due_at: int = 0) -> None:
        self.message = message
        self.state = state
        self.retries = retries
        self.mark = mark  # goes on behind it
        self.due_at = due_at


def message_of(seen: Seen, queue: Queue, now: int, body_max: int) -> dict[str, object]:
    message = seen.message
    shown = message.body[:body_max]
    text: str | None
    try:
        text = shown.decode()
    except UnicodeDecodeError as error:
        # A cut in the middle of a character does not make it less of a text.
        whole = len(shown) < len(message.body) and error.start >= len(shown) - 3
        text = shown[: error.start].decode() if whole else None
    headers = message.headers or {}
    return {
        "offset": message.offset,
        "id": text_of(message.id),
        "event": text_of(message.event),
        "queue": text_of(queue.name),
        "state": seen.state,
        "retries": seen.retries,
        "due_at": time_of(seen.due_at) if seen.due_at else None,
        "published_at": time_of(message.published_at),
        "age_seconds": max(0, now - message.published_at) / 1_000_000,
        "protocol": message.protocol,
        "headers": {text_of(k): text_of(v) for k, v in headers.items() if not k.startswith(INTERNAL_PREFIX)},
        "size": len(message.body),
        "body": text,
        "body_base64": None if text is not None else base64.b64encode(shown).decode(),
        "truncated": len(shown) < len(message.body),
    }


async def ready_of(queue: Queue, after: Place | None) -> AsyncIterator[Seen | None]:
    """The ready messages behind a place, in order; None for each that cannot be read. Others get their turns."""
    walk = Walk(queue.backlog, after)
    while True:
        found = walk.step(SLICE)
        for place, known in found:
            message = known if known is not None else queue.backlog.message(place[2])
            mark = f"{READY}:{place[0]}:{place[1]}:{place[2]}:{place[3]}"
            yield None if message is None else Seen(message, READY, place[3], mark)
        if walk.over:
            return
        await asyncio.sleep(0)


async def unacked_of(queue: Queue, skip: int) -> AsyncIterator[Seen | None]:
    """What consumers hold, consumer by consumer, the oldest of each first."""
    place = 0
    for subscription in list(queue.subscriptions):
        delivery = subscription.oldest
        while delivery is not None:
            place += 1
            if place > skip:
                message = queue.message_out(delivery)
                mark = f"{UNACKED}:{place}"
                yield None if message is None else Seen(message, UNACKED, delivery.retry, mark)
            if place % SLICE == 0:
                await asyncio.sleep(0)
                if not delivery.open:
                    return  # settled meanwhile: what followed it is not to be found from here
            delivery = delivery.newer


async def delayed_of(queue: Queue, skip: int) -> AsyncIterator[Seen | None]:
    """What is not due yet, the earliest first."""
    for place, entry in enumerate(queue.delayed.entries()[skip:], skip + 1):
        message = entry.message if entry.message is not None else queue.log.fetch(entry.offset)
        if place % SLICE == 0:
            await asyncio.sleep(0)
        mark = f"{DELAYED}:{place}"
        yield None if message is None else Seen(message, DELAYED, entry.retry, mark, entry.due_at)


def place_in(after: str, state: str) -> list[int]:
    """What a `next` of ours says; empty for the beginning."""
    kind, _, numbers = after.partition(":")
    if kind != state:
        return []
    try:
        found = [int(number) for number in numbers.split(":")]
    except ValueError:
        found = []
    if len(found) != (4 if state == READY else 1) or max(map(abs, found)) >= 1 << 63:
        raise malformed("query.after is not the `next` of an earlier answer")
    return found


async def seen_in(queue: Queue, states: list[str], after: str) -> AsyncIterator[Seen | None]:
    for state in states:
        numbers = place_in(after, state)
        if state == READY:
            found = ready_of(queue, None if not numbers else (numbers[0], numbers[1], numbers[2], numbers[3]))
        elif state == UNACKED:
            found = unacked_of(queue, numbers[0] if numbers else 0)
        else:
            found = delayed_of(queue, numbers[0] if numbers else 0)
        async for seen in found:
            yield seen


async def page_of(
    queue: Queue, states: list[str], wanted: Filter, after: str, limit: int, body_max: int
) -> tuple[list[Seen], str | None]:
    """The messages of one answer, and where to go on."""
    if after:
        kind = after.partition(":")[0]
        if kind not in states:
            raise malformed("query.after is not the `next` of an earlier answer with this state")
        states = states[states.index(kind) :]
    found: list[Seen] = []
    scanned = size = 0
    mark = after
    async for seen in seen_in(queue, states, after):
        if len(found) >= limit or scanned >= SCAN_MAX or size >= ANSWER_BYTES_MAX:
            return found, mark
        scanned += 1
        if seen is None:
            continue
        mark = seen.mark
        if wanted.wants(seen.message):
            found.append(seen)
            size += min(len(seen.message.body), body_max)
    return found, None


async def matching(queue: Queue, wanted: Filter, limit: int) -> list[Message]:
    """The first ready messages that are wanted."""
    found: list[Message] = []
    async for seen in ready_of(queue, None):
        if len(found) >= limit:
            break
        if seen is not None and wanted.wants(seen.message):
            found.append(seen.message)
    return found


def routes(inside: Inside) -> APIRouter:
    router = APIRouter(route_class=DecidedRoute, prefix="/v1/queues/{name}", tags=["messages"])
    broker = inside.broker

    @router.get("/messages", response_model=MessagePage, responses=problems(400, 404), summary="Look at messages")
    async def browse(
        name: QueueName,
        state: Annotated[
            Literal["ready", "unacked", "delayed"] | None, Query(description="Only in this state.")
        ] = None,
        search: Annotated[str | None, Query(description="Only with this in the body.", max_length=1024)] = None,
        event: Annotated[str | None, Query(description="Only of this event.")] = None,
        id: Annotated[str | None, Query(description="Only with this id.")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        after: Annotated[str, Query(description="The `next` of an earlier answer.", max_length=100)] = "",
        body_max: Annotated[int, Query(ge=0, le=1 << 24, description="Bytes of a body to show.")] = BODY_SHOWN,
    ) -> Response:
        queue = inside.queue(name_of(name))
        states: list[str] = [READY, UNACKED, DELAYED] if state is None else [state]
        found, mark = await page_of(queue, states, Filter(event, id, search), after, limit, body_max)
        now = inside.now()
        rows = [message_of(seen, queue, now, body_max) for seen in found]
        return answer({"queue": text_of(queue.name), "messages": rows, "next": mark})

    @router.post(
        "/pause", response_model=QueueShape, responses=problems(404), tags=["queues"], summary="Give nothing out"
    )
    async def pause(name: QueueName) -> Response:
        return await set_paused(name_of(name), True)

    @router.post(
        "/resume", response_model=QueueShape, responses=problems(404), tags=["queues"], summary="Give out again"
    )
    async def resume(name: QueueName) -> Response:
        return await set_paused(name_of(name), False)

    async def set_paused(name: bytes, paused: bool) -> Response:
        queue = inside.queue(name)
        inside.now()
        broker.pause(name, paused)
        await inside.kept()
        return answer(queue_of(inside, queue))

    @router.post(
        "/purge", response_model=Purged, responses=problems(404), tags=["queues"], summary="Drop what is ready"
    )
    async def purge(name: QueueName) -> Response:
        queue = inside.queue(name_of(name))
        bound = broker.log.next_offset
        purged = 0
        while broker.queues.get(queue.name) is queue:
            count = broker.purge(queue.name, bound, CHANGED_AT_ONCE)
            purged += count
            if count < CHANGED_AT_ONCE:
                break
            inside.board.plan_flush()
            await asyncio.sleep(0)
        await inside.kept()
        return answer({"purged": purged})

    def charge(count: int, messages: list[Message]) -> None:
        """What is put into a queue counts as published, whichever way it came there."""
        inside.caller.charge(count, sum(len(message.body) for message in messages[:count]), inside.clock.now())

    async def read_wanted(name: bytes, request: Request) -> tuple[Queue, Wanted, list[Message]]:
        inside.caller.check_rate(inside.clock.now())
        wanted = await read_json(request, Wanted)
        inside.check_names(wanted.to.encode())
        queue = inside.queue(name)
        if not wanted.to:
            raise invalid("body.to", "is empty")
        if wanted.to.encode() == name:
            raise conflict("they are in that queue already")
        inside.caller.check_put(wanted.to.encode(), broker)
        return queue, wanted, await matching(queue, Filter(wanted.event, wanted.id, wanted.search), wanted.limit)

    example = {"to": "orders.slow", "limit": 100, "event": "order.created"}

    @router.post(
        "/move",
        response_model=Moved,
        responses=problems(400, 404, 409, 413, 415, 429, 503),
        openapi_extra=takes(Wanted, example),
        summary="Move ready messages to another queue",
    )
    async def move(name: QueueName, request: Request) -> Response:
        queue, wanted, messages = await read_wanted(name_of(name), request)
        moved = 0
        if wanted.dry_run:
            return answer({"moved": len(messages), "dry_run": True})
        for first in range(0, len(messages), CHANGED_AT_ONCE):
            if broker.queues.get(queue.name) is not queue:
                break
            some = messages[first : first + CHANGED_AT_ONCE]
            offsets = {message.offset for message in some}
            count = len(offsets)
            done = broker.move(queue.name, offsets, wanted.to.encode(), inside.now())
            charge(done, some)
            moved += done
            inside.board.plan_flush()
            await asyncio.sleep(0)
            if done < count:
                break
        await inside.kept()
        return answer({"moved": moved, "dry_run": False})

    @router.post(
        "/copy",
        response_model=Copied,
        responses=problems(400, 404, 409, 413, 415, 429, 503),
        openapi_extra=takes(Wanted, example),
        summary="Copy ready messages to another queue",
    )
    async def copy(name: QueueName, request: Request) -> Response:
        _, wanted, messages = await read_wanted(name_of(name), request)
        if wanted.dry_run:
            return answer({"copied": len(messages), "dry_run": True})
        copied = 0
        for first in range(0, len(messages), CHANGED_AT_ONCE):
            some = messages[first : first + CHANGED_AT_ONCE]
            done = broker.copy(some, wanted.to.encode(), inside.now())
            charge(done, some)
            copied += done
            inside.board.plan_flush()
            await asyncio.sleep(0)
            if done < len(some):
                break
        await inside.kept()
        return answer({"copied": copied, "dry_run": False})

    @router.post(
        "/redrive",
        response_model=Redriven,
        responses=problems(400, 404, 413, 415, 429, 503),
        openapi_extra=takes(Redrive, {"dry_run": True}, required=False),
        summary="Send dead letters back to where they died",
    )
    async def redrive(name: QueueName, request: Request) -> Response:
        who = inside.caller
        who.check_rate(inside.clock.now())
        wanted = await read_json(request, Redrive)
        to = b"" if wanted.to is None else wanted.to.encode()
        inside.check_names(to)
        queue = inside.queue(name_of(name))
        if to:
            who.check_put(to, broker)
        targets: dict[bytes, int] = {}
        leaving: list[Message] = []
        for message in await matching(queue, Filter(None, None, None), wanted.limit):
            target = to or origin_of(message)
            if target and target != queue.name:
                targets[target] = targets.get(target, 0) + 1
                leaving.append(message)
        for target in targets:
            who.check_put(target, broker)
        redriven = sum(targets.values())
        if not wanted.dry_run:
            redriven = 0
            may_go = None if who.user is None else lambda target: who.may_put(target, broker)
            while redriven < wanted.limit and broker.queues.get(queue.name) is queue:
                at_once = min(CHANGED_AT_ONCE, wanted.limit - redriven)
                count = broker.redrive(queue.name, at_once, to, inside.now(), may_go)
                charge(count, leaving[redriven:])
                redriven += count
                inside.board.plan_flush()
                await asyncio.sleep(0)
                if count < at_once:
                    break
            await inside.kept()
        shown = {text_of(target): count for target, count in targets.items()}
        return answer({"redriven": redriven, "targets": shown, "dry_run": wanted.dry_run})

    return router
