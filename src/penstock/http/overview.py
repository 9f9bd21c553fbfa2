"""The overview, its samples of the last five minutes, and a live stream of one sample per second."""

import asyncio
from collections.abc import AsyncIterator

import orjson
from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from penstock import __version__
from penstock.auth.rights import ADMIN, BROWSE, QUEUE
from penstock.core import broker as core
from penstock.core.places import Places
from penstock.http.caller import Caller
from penstock.http.context import AppContext
from penstock.http.health import reasons_against
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import over_limit
from penstock.http.queues import row_of
from penstock.http.replies import answer, problems
from penstock.http.statistics import LIVE_MAX, Sample
from penstock.http.texts import time_of

COMPILED = str(core.__file__).endswith((".so", ".pyd"))


class Totals(BaseModel):
    queues: int
    ready: int
    unacked: int
    delayed: int
    bytes: int
    consumers: int
    oldest_age_seconds: float | None = Field(
        description="Age of the oldest message at the head of a queue or not acked yet."
    )
    paused_queues: int
    full_queues: int
    paused_publishers: int
    connections: int


class Counters(BaseModel):
    """Counted since the process started."""

    published: int
    unrouted: int = Field(description="Published but not routed to any queue.")
    refused: int
    queued: int = Field(description="Copies of messages put into queues.")
    delivered: int
    retried: int
    dropped: int
    expired: int
    dead_lettered: int
    deduplicated: int


class Rates(BaseModel):
    """Per second, over the last second."""

    published: float
    queued: float
    delivered: float
    retried: float


class LogEnds(BaseModel):
    first_offset: int
    next_offset: int
    durable_offset: int
    position: int
    behind_bytes: int


class Process(BaseModel):
    memory_bytes: int
    cpu_seconds: float
    loop_lag_seconds: float
    loop_lag_max_seconds: float
    sync_seconds: float
    sync_max_seconds: float
    syncs: int


class Memory(BaseModel):
    """Memory held for clients and queues."""

    limit: int = Field(description="The setting `memory_bytes_max`.")
    used: int = Field(description="The sum of all kinds.")
    kinds: dict[str, int] = Field(description="Bytes by kind.", examples=[{"ready": 1000, "held": 500}])


class Storage(BaseModel):
    durable: bool
    directory: str | None
    sync: str | None
    retain_seconds: float | None = Field(
        description="How long messages are kept that no queue needs any more; 0 means forever."
    )
    retain_bytes: int | None


class Sampled(BaseModel):
    totals: Totals
    counters: Counters
    rates: Rates
    connections: dict[str, int]
    log: LogEnds
    process: Process
    memory: Memory


class Overview(Sampled):
    version: str
    compiled: bool
    now: str
    started_at: str
    uptime_seconds: float
    status: str = Field(description="`ok` or `degraded`.", examples=["ok"])
    reasons: list[str]
    ports: dict[str, int]
    storage: Storage


class SampleShape(Sampled):
    at: str
    time: float


class History(BaseModel):
    samples: list[SampleShape]


def overview_of(context: AppContext) -> dict[str, object]:
    statistics = context.statistics
    queue_totals = statistics.fresh_totals()
    storage = context.storage
    now = context.clock.now()
    reasons = reasons_against(context)
    if context.reactor.paused:
        reasons.append("publishers are paused: memory is short, or the disk is behind")
    return {
        "version": __version__,
        "compiled": COMPILED,
        "now": time_of(now),
        "started_at": time_of(statistics.started_at),
        "uptime_seconds": (now - statistics.started_at) / 1_000_000,
        "status": "degraded" if reasons else "ok",
        "reasons": reasons,
        "ports": dict(context.ports),
        "storage": {
            "durable": storage is not None,
            "directory": None if storage is None or not context.caller.has(ADMIN) else str(storage.directory),
            "sync": None if storage is None else storage.sync,
            "retain_seconds": None if storage is None else context.config.retain_seconds,
            "retain_bytes": None if storage is None else context.config.retain_bytes,
        },
        **statistics.parts(queue_totals),
    }


class LiveResponse(StreamingResponse):
    media_type = "text/event-stream"


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["overview"])
    statistics = context.statistics
    places = Places(LIVE_MAX)

    @router.get("/overview", response_model=Overview, responses=problems(), summary="Get the state of the broker")
    async def overview() -> Response:
        return answer(overview_of(context))

    @router.get(
        "/overview/history",
        response_model=History,
        responses=problems(),
        summary="Get the samples of the last 5 minutes",
    )
    async def history() -> Response:
        return answer({"samples": list(statistics.samples)})

    @router.get(
        "/live",
        response_class=LiveResponse,
        responses={
            200: {
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
                "description": "A stream of samples.",
            },
            **problems(429),
        },
        summary="Stream one sample per second as server-sent events",
        openapi_extra={"x-endless": True},
    )
    async def live(queue: str | None = Query(None, description="Adds this queue's row to each sample.")) -> Response:
        if not places.has_room(context.caller.holder):
            reason = places.why_full(context.caller.holder, "live streams")
            raise over_limit(reason, "close consoles that are not in use")
        name = None if queue is None else queue.encode()
        if name is not None:
            context.caller.check(BROWSE, QUEUE, name)
        return LiveResponse(samples(name, context.caller))

    async def samples(name: bytes | None, who: Caller) -> AsyncIterator[bytes]:
        """The newest sample, then each new one, while the caller's credentials are valid.

        A slow client misses samples; none are buffered for it.
        """
        fresh = asyncio.Event()
        statistics.watchers.add(fresh)
        places.enter(who.holder)
        try:
            while not context.reactor.draining and context.is_still_authenticated(who):
                fresh.clear()
                yield event_of(with_queue(statistics.samples[-1], name))
                await fresh.wait()
            if not context.is_still_authenticated(who):
                yield b"event: over\ndata: {}\n\n"  # otherwise a browser would keep reconnecting
        finally:
            statistics.watchers.discard(fresh)
            places.leave(who.holder)

    def with_queue(sample: Sample, name: bytes | None) -> Sample:
        if name is None:
            return sample
        queue = context.broker.queues.get(name)
        return {**sample, "queue": None if queue is None else row_of(queue, context.clock.now())}

    return router


def event_of(sample: Sample) -> bytes:
    return b"event: sample\nid: %d\ndata: %s\n\n" % (int(float(str(sample["time"]))), orjson.dumps(sample))
