"""The messages of a queue: browse them without consuming, move, copy, purge and redrive them.

Every operation walks the queue in short slices and yields to the event loop in between. A message that is not in memory
is read from the log and released again: only its row of the response, or its place, is kept.
"""

import asyncio
import base64
import heapq
import time
from bisect import bisect_right
from collections.abc import AsyncIterator
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.core.queue import Queue
from penstock.core.spans import SortKey
from penstock.core.walk import Walk
from penstock.errors import Refused
from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.parameters import Limit, QueueName
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import conflict, invalid, malformed
from penstock.http.queues import QueueShape, queue_of
from penstock.http.replies import JSON, answer, problems, takes
from penstock.http.steps import pass_on
from penstock.http.texts import name_of, text_of, time_of
from penstock.message import INTERNAL_PREFIX, Message, payload_size

SCAN_MAX = 20_000  # messages one request examines
TURN_SECONDS = 0.001  # of work before yielding to the event loop
SLICE = 64  # places fetched at a time
CHANGED_AT_ONCE = 250  # messages moved, copied or purged before yielding ...
CHANGED_BYTES = 1 << 20  # ... or this many bytes, whichever comes first
WAIT_SECONDS = 0.02  # between two checks while memory is short or the disk is behind ...
WAITS_MAX = 500  # ... and the number of checks before the operation stops with what it has done so far
MOVED_MAX = 100_000
BODY_SHOWN = 4096
ANSWER_BYTES_MAX = 16 << 20  # per response
ROW_BYTES = 1024  # approximate size of a row without the body

SORTED_AT_ONCE = 1000  # delayed messages per sorted run; the queue keeps them unsorted
ORDER_SECONDS = 60  # how long a sorted order is reused

READY, UNACKED, DELAYED = "ready", "unacked", "delayed"
PLACE_LENGTHS = {READY: 4, UNACKED: 1, DELAYED: 2}  # how many numbers a `next` mark has


class MessageShape(BaseModel):
    offset: int
    id: str
    event: str
    queue: str
    state: str = Field(description="`ready`, `unacked` or `delayed`.")
    retries: int
    due_at: str | None = Field(description="When a delayed message becomes ready.")
    published_at: str
    age_seconds: float
    protocol: str
    headers: dict[str, str]
    size: int
    body: str | None = Field(description="The body, if it is valid UTF-8.")
    body_base64: str | None = Field(description="The body in base64, if it is not valid UTF-8.")
    truncated: bool


class MessagePage(BaseModel):
    queue: str
    messages: list[MessageShape]
    next: str | None = Field(description="Pass it as `after` to get the next page; null at the end.")


class Wanted(BaseModel):
    """Which ready messages to move or copy, and where to."""

    model_config = ConfigDict(extra="forbid", strict=True)

    to: str = Field(description="The target queue; created if it does not exist.", examples=["orders.slow"])
    limit: int = Field(100, ge=1, le=MOVED_MAX)
    event: str | None = Field(None, description="Only messages with this event.")
    id: str | None = Field(None, description="Only messages with this id.")
    search: str | None = Field(None, description="Only messages whose body contains this text.")
    dry_run: bool = Field(False, description="Count the messages, but change nothing.")


class Redrive(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    to: str | None = Field(None, description="The target queue, instead of the queue each message came from.")
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
    targets: dict[str, int] = Field(description="Number of messages by target queue.")
    dry_run: bool


class Purged(BaseModel):
    purged: int


class Filter:
    """Selects messages by event, id and body."""

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
    """A message of a queue, with its state and place."""

    def __init__(self, message: Message, state: str, retries: int, place: tuple[int, ...], due_at: int = 0) -> None:
        self.message = message
        self.state = state
        self.retries = retries
        self.place = place
        self.due_at = due_at

    def mark(self) -> str:
        """The `next` mark that continues after this message."""
        return ":".join([self.state, *map(str, self.place)])


class Turn:
    """A time slice on the event loop."""

    def __init__(self) -> None:
        self._ends_at = time.perf_counter() + TURN_SECONDS

    def is_over(self) -> bool:
        return time.perf_counter() >= self._ends_at

    async def pass_on(self) -> None:
        """Yield to others, then start a new slice."""
        await pass_on()
        self._ends_at = time.perf_counter() + TURN_SECONDS


def message_of(seen: Seen, queue: Queue, now: int, body_max: int) -> dict[str, object]:
    message = seen.message
    shown = message.body[:body_max]
    text: str | None
    try:
        text = shown.decode()
    except UnicodeDecodeError as error:
        # A body cut in the middle of a character is still text.
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


async def ready_of(queue: Queue, after: SortKey | None, turn: Turn) -> AsyncIterator[Seen | None]:
    """The ready messages after a place, in order; None for each that cannot be read."""
    walk = Walk(queue.backlog, after)
    while not walk.over:
        for found in walk.step(SLICE):
            message = walk.message(found)
            yield None if message is None else Seen(message, READY, found[0][3], found[0])
            if turn.is_over():
                walk.go_on_behind(found[0])  # the messages that follow may be removed meanwhile
                await turn.pass_on()
                break


async def unacked_of(queue: Queue, skip: int, turn: Turn) -> AsyncIterator[Seen | None]:
    """The un-acked messages, consumer by consumer, the oldest of each first.

    If a consumer settles messages faster than they are examined, the rest of its messages is left out.
    """
    place = 0
    for subscription in list(queue.consumers.active):
        delivery = subscription.oldest
        while delivery is not None and delivery.open:
            place += 1
            if place > skip:
                message = queue.message_out(delivery)
                yield None if message is None else Seen(message, UNACKED, delivery.retry, (place,))
            if turn.is_over():
                await turn.pass_on()
            if delivery.open:
                delivery = delivery.newer


class DelayedOrder:
    """The delayed messages of a queue in order, sorted when browsing begins and reused for the following pages."""

    def __init__(self) -> None:
        self._queue: Queue | None = None
        self._order: list[tuple[int, int]] = []
        self._made_at = 0.0

    async def of(self, queue: Queue, begins: bool, turn: Turn) -> list[tuple[int, int]]:
        """(due_at, offset) of each delayed message, the earliest first."""
        now = time.monotonic()
        if begins or self._queue is not queue or now - self._made_at > ORDER_SECONDS:
            order = await sorted_in_turns(queue.delayed.unsorted(), turn)
            self._queue, self._order, self._made_at = queue, order, now
            return order
        return self._order


async def sorted_in_turns(entries: list[tuple[int, int]], turn: Turn) -> list[tuple[int, int]]:
    runs: list[list[tuple[int, int]]] = []
    for first in range(0, len(entries), SORTED_AT_ONCE):
        runs.append(sorted(entries[first : first + SORTED_AT_ONCE]))
        if turn.is_over():
            await turn.pass_on()
    found: list[tuple[int, int]] = []
    for entry in heapq.merge(*runs):
        found.append(entry)
        if len(found) % SLICE == 0 and turn.is_over():
            await turn.pass_on()
    return found


async def delayed_of(
    queue: Queue, after: tuple[int, int] | None, orders: DelayedOrder, turn: Turn
) -> AsyncIterator[Seen | None]:
    """The delayed messages, the earliest due first."""
    order = await orders.of(queue, after is None, turn)
    for index in range(0 if after is None else bisect_right(order, after), len(order)):
        due_at, offset = order[index]
        entry = queue.delayed.get(offset)
        if entry is not None and entry.due_at == due_at:
            message = entry.message if entry.message is not None else queue.log.fetch(offset)
            yield None if message is None else Seen(message, DELAYED, entry.retry, (due_at, offset), due_at)
        if turn.is_over():
            await turn.pass_on()


def place_in(after: str, state: str) -> list[int]:
    """Parse a `next` mark; empty, which means from the beginning, if it is for another state."""
    kind, _, numbers = after.partition(":")
    if kind != state:
        return []
    try:
        found = [int(number) for number in numbers.split(":")]
    except ValueError:
        found = []
    if len(found) != PLACE_LENGTHS[state] or max(map(abs, found)) >= 1 << 63:
        raise malformed("query.after is not the `next` of an earlier response")
    return found


async def seen_in(
    queue: Queue, states: list[str], after: str, orders: DelayedOrder, turn: Turn
) -> AsyncIterator[Seen | None]:
    for state in states:
        numbers = place_in(after, state)
        if state == READY:
            found = ready_of(queue, None if not numbers else (numbers[0], numbers[1], numbers[2], numbers[3]), turn)
        elif state == UNACKED:
            found = unacked_of(queue, numbers[0] if numbers else 0, turn)
        else:
            found = delayed_of(queue, (numbers[0], numbers[1]) if numbers else None, orders, turn)
        async for seen in found:
            yield seen


async def page_of(
    queue: Queue,
    states: list[str],
    wanted: Filter,
    after: str,
    limit: int,
    body_max: int,
    now: int,
    bytes_max: int,
    orders: DelayedOrder,
) -> tuple[list[bytes], str | None]:
    """The rows of one response, as JSON, and the mark to continue from."""
    if after:
        kind = after.partition(":")[0]
        if kind not in states:
            raise malformed("query.after is not the `next` of an earlier response with this state")
        states = states[states.index(kind) :]
    rows: list[bytes] = []
    scanned = size = 0
    last: Seen | None = None
    async for seen in seen_in(queue, states, after, orders, Turn()):
        if len(rows) >= limit or scanned >= SCAN_MAX or size >= bytes_max:
            return rows, after if last is None else last.mark()
        scanned += 1
        if seen is None:
            continue
        last = seen
        if wanted.wants(seen.message):
            row = orjson.dumps(message_of(seen, queue, now, body_max))
            rows.append(row)
            size += len(row)
    return rows, None


class Batch:
    """Some of the selected messages, their places in order, and their total size."""

    def __init__(self) -> None:
        self.places: list[SortKey] = []
        self.messages: list[Message] = []
        self.bytes = 0  # bodies and headers

    def add(self, place: SortKey, message: Message) -> None:
        self.places.append(place)
        self.messages.append(message)
        self.bytes += payload_size(message)

    def is_full(self) -> bool:
        return len(self.places) >= CHANGED_AT_ONCE or self.bytes >= CHANGED_BYTES


async def matching(queue: Queue, wanted: Filter, limit: int, bound: int) -> AsyncIterator[Batch]:
    """The first `limit` matching ready messages below the offset `bound`, in batches."""
    batch = Batch()
    turn = Turn()
    async for seen in ready_of(queue, None, turn):
        if limit == 0 or (seen is not None and seen.place[0] >= bound):
            break
        if seen is not None and wanted.wants(seen.message):
            place = seen.place
            batch.add((place[0], place[1], place[2], place[3]), seen.message)
            limit -= 1
            if batch.is_full():
                yield batch
                batch = Batch()
                await turn.pass_on()
    if batch.places:
        yield batch


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/queues/{name}", tags=["messages"])
    broker = context.broker
    orders = DelayedOrder()

    @router.get(
        "/messages",
        response_model=MessagePage,
        responses=problems(400, 404),
        summary="Browse messages without consuming them",
    )
    async def browse(
        name: QueueName,
        state: Annotated[
            Literal["ready", "unacked", "delayed"] | None, Query(description="Only messages in this state.")
        ] = None,
        search: Annotated[
            str | None, Query(description="Only messages whose body contains this text.", max_length=1024)
        ] = None,
        event: Annotated[str | None, Query(description="Only messages with this event.")] = None,
        id: Annotated[str | None, Query(description="Only messages with this id.")] = None,
        limit: Limit = 50,
        after: Annotated[str, Query(description="The `next` of an earlier response.", max_length=100)] = "",
        body_max: Annotated[
            int, Query(ge=0, le=1 << 24, description="How many bytes of each body to show.")
        ] = BODY_SHOWN,
    ) -> Response:
        queue = context.queue(name_of(name))
        states: list[str] = [READY, UNACKED, DELAYED] if state is None else [state]
        bytes_max = min(ANSWER_BYTES_MAX, context.shares.answer)
        async with context.answers.room(context.caller, min(bytes_max, limit * (ROW_BYTES + 2 * body_max))):
            rows, mark = await page_of(
                queue, states, Filter(event, id, search), after, limit, body_max, context.now(), bytes_max, orders
            )
            parts = [b'{"queue":', orjson.dumps(text_of(queue.name)), b',"messages":[']
            for row in rows:
                parts += (row, b",")
            if rows:
                parts.pop()
            parts += (b'],"next":', orjson.dumps(mark), b"}")
            content = b"".join(parts)  # copied once: it may be many megabytes
        return Response(content, media_type=JSON)

    @router.post("/pause", response_model=QueueShape, responses=problems(404), tags=["queues"], summary="Pause a queue")
    async def pause(name: QueueName) -> Response:
        return await set_paused(name_of(name), True)

    @router.post(
        "/resume", response_model=QueueShape, responses=problems(404), tags=["queues"], summary="Resume a queue"
    )
    async def resume(name: QueueName) -> Response:
        return await set_paused(name_of(name), False)

    async def set_paused(name: bytes, paused: bool) -> Response:
        queue = context.queue(name)
        context.now()
        broker.pause(name, paused)
        await context.when_durable()
        return answer(queue_of(context, queue))

    @router.post(
        "/purge",
        response_model=Purged,
        responses=problems(404),
        tags=["queues"],
        summary="Delete all ready messages of a queue",
    )
    async def purge(name: QueueName) -> Response:
        queue = context.queue(name_of(name))
        bound = broker.log.next_offset
        purged = 0
        while broker.queues.get(queue.name) is queue:
            count = broker.purge(queue.name, bound, CHANGED_AT_ONCE)
            purged += count
            if count < CHANGED_AT_ONCE:
                break
            context.reactor.plan_flush()
            await pass_on()
        await context.when_durable()
        return answer({"purged": purged})

    def charge(count: int, size: int) -> None:
        """Charge messages put into a queue as published, however they got there."""
        context.caller.charge(count, size, context.clock.now())

    async def has_room() -> bool:
        """Wait as long as publishers have to wait. False if that takes too long."""
        for _ in range(WAITS_MAX):
            if not context.reactor.must_wait(context.caller.holder):
                return True
            context.reactor.plan_flush()
            await asyncio.sleep(WAIT_SECONDS)
        return False

    async def transfer(name: bytes, request: Request, is_move: bool) -> tuple[int, bool]:
        """Move or copy the messages a request asks for; returns how many, and whether it was a dry run."""
        context.caller.check_rate(context.clock.now())
        wanted = await read_json(request, Wanted)
        to = wanted.to.encode()
        context.check_names(to)
        queue = context.queue(name)
        if not to:
            raise invalid("body.to", "is empty")
        if to == name:
            raise conflict("the messages are already in this queue")
        context.authorizer.check_targets([to])
        which = Filter(wanted.event, wanted.id, wanted.search)
        count = 0
        async for batch in matching(queue, which, wanted.limit, broker.log.next_offset):
            if wanted.dry_run:
                count += len(batch.places)
                continue
            if not await has_room() or (is_move and broker.queues.get(queue.name) is not queue):
                break
            try:
                if is_move:
                    done = broker.move_places(queue.name, batch.places, to, context.now())
                else:
                    done = broker.copy(batch.messages, to, context.now())
            except Refused:
                if count == 0:
                    raise
                break  # the earlier batches have filled the target
            charge(done, sum(payload_size(message) for message in batch.messages[:done]))
            count += done
            context.reactor.plan_flush()
            if not is_move and done < len(batch.messages):
                break
        if not wanted.dry_run:
            await context.when_durable()
        return count, wanted.dry_run

    example = {"to": "orders.slow", "limit": 100, "event": "order.created"}

    @router.post(
        "/move",
        response_model=Moved,
        responses=problems(400, 404, 409, 413, 415, 429, 503),
        openapi_extra=takes(Wanted, example),
        summary="Move ready messages to another queue",
    )
    async def move(name: QueueName, request: Request) -> Response:
        moved, dry_run = await transfer(name_of(name), request, is_move=True)
        return answer({"moved": moved, "dry_run": dry_run})

    @router.post(
        "/copy",
        response_model=Copied,
        responses=problems(400, 404, 409, 413, 415, 429, 503),
        openapi_extra=takes(Wanted, example),
        summary="Copy ready messages to another queue",
    )
    async def copy(name: QueueName, request: Request) -> Response:
        copied, dry_run = await transfer(name_of(name), request, is_move=False)
        return answer({"copied": copied, "dry_run": dry_run})

    @router.post(
        "/redrive",
        response_model=Redriven,
        responses=problems(400, 404, 413, 415, 429, 503),
        openapi_extra=takes(Redrive, {"dry_run": True}, required=False),
        summary="Send dead letters back to the queues they came from",
    )
    async def redrive(name: QueueName, request: Request) -> Response:
        who, authorizer = context.caller, context.authorizer
        who.check_rate(context.clock.now())
        wanted = await read_json(request, Redrive)
        to = b"" if wanted.to is None else wanted.to.encode()
        context.check_names(to)
        queue = context.queue(name_of(name))
        if to:
            authorizer.check_targets([to])
        bounded = wanted.dry_run or who.user is not None
        redrive = broker.start_redrive(queue.name, wanted.limit, to, context.now(), dry_run=bounded)
        if bounded:
            turn = Turn()
            while not broker.step_redrive(redrive, context.now()):
                await turn.pass_on()
            authorizer.check_targets(redrive.targets)
        if not wanted.dry_run:
            may_put = None if who.user is None else authorizer.may_put
            redrive = broker.start_redrive(queue.name, wanted.limit, to, context.now(), may_put)
            while not redrive.over and await has_room():
                moved, size = redrive.moved, redrive.moved_bytes
                broker.step_redrive(redrive, context.now())
                charge(redrive.moved - moved, redrive.moved_bytes - size)
                context.reactor.plan_flush()
                await pass_on()
            await context.when_durable()
        shown = {text_of(target): count for target, count in redrive.targets.items()}
        return answer({"redriven": redrive.moved, "targets": shown, "dry_run": wanted.dry_run})

    return router
