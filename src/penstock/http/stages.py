"""Exactly once: messages are staged, then committed under a writer's name and an increasing batch number.

With authentication, writer names are scoped to the user: nobody can use or see another user's writers.

A stage holds messages in memory that no consumer sees. It ends by commit, abort, expiry or when the process stops. A
commit is one log entry with all of its messages: it is atomic, and repeating it changes nothing.
"""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.core.broker import Broker
from penstock.core.commits import size_in_log
from penstock.core.places import GREED_OF_BYTES, Places
from penstock.http.bodies import read_json
from penstock.http.caller import Caller
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import invalid, not_found, over_limit, too_large
from penstock.http.publish import EXAMPLE, NewMessage, check_all, check_some, ends_of, messages_of, set_owner
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import name_of, text_of, time_of
from penstock.message import MESSAGE_OVERHEAD, Message
from penstock.wire.ids import random_id

STAGES_MAX = 2000  # one user may have at most half of them
COMMIT_STAGES_MAX = 1000
COMMIT_MESSAGES_MAX = 100_000  # they are published in one event loop iteration
EXPIRES_SECONDS = 600
EXPIRES_SECONDS_MAX = 3600
BATCH_MAX = (1 << 62) - 1

WriterName = Annotated[str, Path(description="The writer's name, percent-encoded.", max_length=4096)]


class Staged(BaseModel):
    stage: str
    messages: int
    bytes: int
    expires_at: str


class Aborted(BaseModel):
    aborted: bool


class Commit(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    writer: str = Field(description="Name of the writer.", min_length=1, max_length=1024, examples=["daily-report"])
    batch: int = Field(description="Batch number; increases with each commit.", ge=0, le=BATCH_MAX)
    stages: list[str] = Field(
        description="Ids of the stages, in the order to publish them.", max_length=COMMIT_STAGES_MAX
    )


class Committed(BaseModel):
    writer: str
    batch: int
    committed: bool
    duplicate: bool = Field(description="The batch was committed before, and nothing was done.")
    messages: int = Field(description="Messages published by this commit.")
    deduplicated: int = Field(description="Messages left out because their ids were published before.")
    first_offset: int | None = Field(description="Null if this commit published nothing.")
    next_offset: int | None


class Forgotten(BaseModel):
    forgotten: bool


class LastCommit(BaseModel):
    writer: str
    batch: int | None = Field(description="The last committed batch; null if there is none.")


class Stage:
    def __init__(self, messages: list[Message], who: Caller) -> None:
        self.messages = messages
        self.bytes = sum(max(size_in_log(message) + MESSAGE_OVERHEAD, message.size) for message in messages)
        self.timer: asyncio.TimerHandle | None = None
        self.user = who.name  # its owner; empty without authentication
        self.holder = who.holder


class Stages:
    """All open stages."""

    def __init__(self, bytes_max: int) -> None:
        self.by_id: dict[str, Stage] = {}
        self.memory = Places(bytes_max, GREED_OF_BYTES)  # bytes by holder
        self.places = Places(STAGES_MAX)

    def let_hold(self, bytes_max: int) -> None:
        """Set the size of its share of memory."""
        self.memory.most = bytes_max

    def add(self, stage: Stage, seconds: int) -> str:
        """Keep a stage for this long; returns its id."""
        id = random_id(24).decode()
        self.by_id[id] = stage
        stage.timer = asyncio.get_running_loop().call_later(seconds, self.remove, id)
        self.places.enter(stage.holder)
        self.memory.enter(stage.holder, stage.bytes)
        return id

    def remove(self, id: str) -> bool:
        stage = self.by_id.pop(id, None)
        if stage is None:
            return False
        if stage.timer is not None:
            stage.timer.cancel()
        self.places.leave(stage.holder)
        self.memory.leave(stage.holder, stage.bytes)
        return True


class NewWriters:
    """Without authentication: which address created which writers, so that no address uses up the limit.

    Only writers created since the start are tracked. Older ones count towards the limit, but for no address.
    """

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self._places = Places(0)
        self._holders: dict[bytes, str] = {}

    def check(self, writer: bytes, holder: str) -> None:
        """Raises Problem if this address may not create another writer."""
        committed = self.broker.committed
        if writer in committed:
            return
        places = self._places
        places.most = self.broker.limits.writers_per_user_max - len(committed) + places.taken
        if not places.has_room(holder):
            for gone in [known for known in self._holders if known not in committed]:
                self.forget(gone)
            if not places.has_room(holder):
                limit = f"writers_per_user_max is {self.broker.limits.writers_per_user_max}"
                raise over_limit(f"{places.why_full(holder, 'writers')}: {limit}", "forget writers that are finished")

    def add(self, writer: bytes, holder: str) -> None:
        if writer not in self._holders:
            self._holders[writer] = holder
            self._places.enter(holder)

    def forget(self, writer: bytes) -> None:
        holder = self._holders.pop(writer, None)
        if holder is not None:
            self._places.leave(holder)


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["transactions"])
    broker = context.broker
    # A message of the maximum size can always be committed.
    largest = context.hub.limits.body_size_max + MESSAGE_OVERHEAD
    stages = Stages(max(context.shares.staged, largest))
    context.reactor.account.add("staged", lambda: stages.memory.taken)
    context.reactor.account.add_share(stages.memory.most, largest, stages.let_hold)
    writers = NewWriters(broker)
    commit_bytes_max = max(context.shares.commit, largest)  # a commit is one block of the log

    @router.post(
        "/stages",
        status_code=201,
        response_model=Staged,
        responses=problems(400, 413, 415, 429, 501, 503),
        openapi_extra=takes(NewMessage, EXAMPLE, arrow=True),
        summary="Stage messages, which are invisible until committed",
    )
    async def stage(
        request: Request,
        expires_seconds: Annotated[
            int, Query(ge=1, le=EXPIRES_SECONDS_MAX, description="Abort the stage after this many seconds.")
        ] = EXPIRES_SECONDS,
    ) -> Response:
        context.check_publish()
        holder = context.caller.holder
        if not stages.places.has_room(holder):
            raise over_limit(stages.places.why_full(holder, "stages"), "commit or abort some stages")
        messages = await messages_of(request, context)
        await check_all(messages, context)
        size_max = context.hub.limits.body_size_max
        for message in messages:
            if len(message.body) > size_max:
                raise too_large(f"body of {len(message.body)} bytes: body_size_max is {size_max}")
        made = Stage(messages, context.caller)
        if not stages.memory.has_room(holder, made.bytes):
            why = stages.memory.why_full(holder, "staged bytes")
            raise over_limit(f"{made.bytes} more bytes cannot be staged: {why}", "commit or abort some stages")
        expires_at = context.now() + expires_seconds * 1_000_000
        content = {"stage": stages.add(made, expires_seconds), "messages": len(messages), "bytes": made.bytes}
        return answer({**content, "expires_at": time_of(expires_at)}, 201)

    @router.delete("/stages/{id}", response_model=Aborted, responses=problems(404), summary="Abort a stage")
    async def abort(id: Annotated[str, Path(description="The stage's id.", max_length=100)]) -> Response:
        stage_of(id)
        stages.remove(id)
        return answer({"aborted": True})

    @router.post(
        "/commits",
        response_model=Committed,
        responses={
            201: {"model": Committed, "description": "Committed. The status is 200 if the batch was committed before."},
            **problems(400, 404, 413, 415, 429, 503),
        },
        openapi_extra=takes(Commit, {"writer": "daily-report", "batch": 7, "stages": ["9vXk2mQ8"]}),
        summary="Commit stages atomically and exactly once",
    )
    async def commit(request: Request) -> Response:
        wanted = await read_json(request, Commit)
        if len(set(wanted.stages)) < len(wanted.stages):
            raise invalid("body.stages", "contains a stage twice")
        writer = wanted.writer.encode()
        if b"\0" in writer:
            raise invalid("body.writer", "contains a NUL byte")
        if len(writer) > context.hub.limits.name_size_max:
            raise context.name_too_large("writer", writer)
        who = context.caller
        if who.user is not None and not wanted.stages:
            raise invalid("body.stages", "is empty: there is nothing to commit")
        result: dict[str, object] = {
            "writer": wanted.writer,
            "batch": wanted.batch,
            "committed": True,
            "duplicate": True,
            "messages": 0,
            "deduplicated": 0,
            "first_offset": None,
            "next_offset": None,
        }
        messages: list[Message] = []
        if wanted.batch > last_of(writer):
            messages = staged_messages(wanted.stages)
            if not messages:  # an empty commit takes up a writer too
                who.check_rate(context.clock.now())
                who.charge(1, 0, context.clock.now())
            if who.user is not None:  # permissions may have changed since staging
                check_some(messages, set(), context.authorizer, broker)
            now = context.now()
            for message in messages:
                message.published_at = now
            set_owner(messages, context)
            is_new = writer not in broker.committed
            if who.user is None:
                writers.check(writer, who.holder)
            broker.commit(key_of(writer), wanted.batch, messages)
            if who.user is None and is_new:
                writers.add(writer, who.holder)
            count = sum(message.offset >= 0 for message in messages)
            result |= {"duplicate": False, "messages": count, "deduplicated": len(messages) - count}
            result |= ends_of(messages)
        for id in wanted.stages:
            staged = stages.by_id.get(id)
            if staged is not None and staged.user == who.name:
                stages.remove(id)
        # Also for a duplicate: the first commit may have been a moment ago and not be durable yet.
        await context.when_durable()
        return answer(result, 200 if result["duplicate"] else 201)

    def key_of(writer: bytes) -> bytes:
        """The key of a writer, scoped to its user. User names contain no NUL."""
        who = context.caller
        return writer if who.user is None else who.name.encode() + b"\0" + writer

    def last_of(writer: bytes) -> int:
        """The last batch; includes commits from before authentication was on, which would be repeated otherwise."""
        committed = broker.committed
        return committed.get(key_of(writer), committed.get(writer, -1))

    def stage_of(id: str) -> Stage:
        stage = stages.by_id.get(id)
        if stage is None or stage.user != context.caller.name:
            raise no_stage(id)
        return stage

    def staged_messages(ids: list[str]) -> list[Message]:
        messages: list[Message] = []
        size = 0
        for id in ids:
            stage = stage_of(id)
            messages += stage.messages
            size += stage.bytes
        if size > commit_bytes_max or len(messages) > COMMIT_MESSAGES_MAX:
            raise too_large(
                f"commit of {len(messages)} messages, {size} bytes: at most {COMMIT_MESSAGES_MAX} messages and "
                f"{commit_bytes_max} bytes",
                "split it into several commits, each with its own writer",
            )
        return messages

    @router.get(
        "/commits/{writer}", response_model=LastCommit, responses=problems(), summary="Get a writer's last commit"
    )
    async def last_commit(writer: WriterName) -> Response:
        name = writer_of(writer)
        last = last_of(name)
        return answer({"writer": text_of(name), "batch": None if last < 0 else last})

    @router.delete(
        "/commits/{writer}",
        response_model=Forgotten,
        responses=problems(404),
        summary="Forget a writer that is finished",
    )
    async def forget(writer: WriterName) -> Response:
        name = writer_of(writer)
        context.now()
        if not broker.forget_writer(key_of(name)):
            raise not_found(f"there is no writer {text_of(name)!r}", "it has not committed yet, or was forgotten")
        writers.forget(key_of(name))
        await context.when_durable()
        return answer({"forgotten": True})

    return router


def writer_of(text: str) -> bytes:
    """The writer's name in a path. NUL is not allowed: it separates user and writer in a key."""
    name = name_of(text)
    if b"\0" in name:
        raise invalid("path.writer", "contains a NUL byte")
    return name


def no_stage(id: str) -> Exception:
    return not_found(f"there is no stage {id!r}: it was committed or aborted, or has expired", "stage again")
