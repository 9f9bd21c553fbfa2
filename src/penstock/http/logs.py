"""The log: its first and last offset, lookup by time, its segments, and its messages as an Arrow stream."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from penstock.http.connection import HttpConnection
from penstock.http.context import AppContext
from penstock.http.log_worker_client import Readers
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import Problem, invalid
from penstock.http.replies import ARROW, Documented, answer, problems
from penstock.http.texts import microseconds_of, time_of

OFFSET_MAX = (1 << 62) - 1


class Offsets(BaseModel):
    first_offset: int
    next_offset: int
    durable_offset: int
    at: str | None
    offset: int | None


class Segment(BaseModel):
    name: str
    first_offset: int
    first_position: int
    begun_at: str
    bytes: int


class Segments(BaseModel):
    segments: list[Segment]
    bytes: int


class Hole(BaseModel):
    first_offset: int
    end_offset: int


class Holes(BaseModel):
    holes: list[Hole]


# The response head that the reading process writes to a client's socket before the stream.
HEAD = (
    "HTTP/1.1 200 OK\r\ncontent-type: {}\r\npenstock-next-offset: {}\r\n"
    "transfer-encoding: chunked\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n"
    "connection: close\r\n\r\n"
)


class ArrowStream(StreamingResponse):
    media_type = ARROW


class HandedOver(Response):
    """Another process has sent the response."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pass


From = Annotated[
    int | None, Query(alias="from", ge=0, le=OFFSET_MAX, description="First offset; by default the start of the log.")
]
To = Annotated[
    int | None, Query(ge=0, le=OFFSET_MAX, description="End offset, exclusive; by default the durable end of the log.")
]

STREAMED: Documented = {
    200: {
        "description": "The stream, which ends at the durable offset at the latest.",
        "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "penstock-next-offset": {
                "description": "Where the stream ends. Pass it as `from` in the next request.",
                "schema": {"type": "integer"},
            }
        },
    },
    **problems(404, 410, 429, 501, 503),
}


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/log", tags=["log"])
    readers = context.readers

    def log_readers() -> Readers:
        if readers is None:
            raise Problem(404, "no-log", "this broker has no log on disk", "start it with --data DIR")
        return readers

    @router.get(
        "/offsets",
        response_model=Offsets,
        responses=problems(404, 503),
        summary="Get the first, next and durable offsets, or find an offset",
    )
    async def offsets(
        at: Annotated[
            datetime | None, Query(description="Find the first message published at this time or later.")
        ] = None,
        start: Annotated[
            int, Query(alias="from", ge=0, le=OFFSET_MAX, description="Offset to count `bytes` from.")
        ] = 0,
        size: Annotated[
            int | None,
            Query(alias="bytes", ge=1, le=OFFSET_MAX, description="Find the end of this many bytes of the log."),
        ] = None,
    ) -> Response:
        if at is not None and size is not None:
            raise invalid("query.bytes", "cannot be combined with at")
        ends = context.statistics.log()
        found: dict[str, object] = {name: ends[name] for name in ("first_offset", "next_offset", "durable_offset")}
        found |= {"at": None, "offset": None}
        if at is not None:
            try:
                moment = microseconds_of(at)
                found["at"] = time_of(moment)
            except OverflowError as error:
                raise invalid("query.at", "must be between the years 1 and 9999 in UTC") from error
            answered = await log_readers().ask("offset_at", time=moment, to=ends["durable_offset"])
            offset = answered["offset"]
            found["offset"] = ends["durable_offset"] if offset is None else offset
        elif size is not None:
            end = ends["durable_offset"]
            found["offset"] = start
            if start < end:
                found["offset"] = (await log_readers().ask("offset_after", bytes=size, to=end, **{"from": start}))[
                    "offset"
                ]
        return answer(found)

    @router.get(
        "/segments", response_model=Segments, responses=problems(404, 503), summary="List the segments of the log"
    )
    async def segments() -> Response:
        rows = (await log_readers().ask("segments"))["segments"]
        for row in rows:
            row["begun_at"] = time_of(row["begun_at"])
        return answer({"segments": rows, "bytes": sum(row["bytes"] for row in rows)})

    @router.get(
        "/holes",
        response_model=Holes,
        responses=problems(404, 503),
        summary="List the offsets deleted from the middle of the log",
    )
    async def holes() -> Response:
        return answer({"holes": (await log_readers().ask("offset_gaps"))["offset_gaps"]})

    def range_of(wanted: int | None, to: int | None) -> tuple[int, int]:
        ends = context.statistics.log()
        first, durable = ends["first_offset"], ends["durable_offset"]
        start = first if wanted is None else wanted
        if start < first:
            raise Problem(410, "trimmed", f"messages before offset {first} are deleted", f"start with from={first}")
        if start > durable:
            raise invalid("query.from", f"is {start}, but the log ends at {durable}")
        end = durable if to is None else min(to, durable)
        if end < start:
            raise invalid("query.to", f"is {to}, which is before from ({start})")
        return start, end

    @router.get("", response_class=ArrowStream, responses=STREAMED, summary="Stream the log in the Arrow format")
    async def stream(request: Request, wanted: From = None, to: To = None) -> Response:
        log = log_readers()
        start, end = range_of(wanted, to)
        connection: HttpConnection = request.state.connection
        client = connection.lend()
        if client is None:
            pieces = await log.stream(start, end, context.caller.holder)
            return ArrowStream(pieces, headers={"penstock-next-offset": str(end)})
        whole = False
        try:
            whole = await log.answer(start, end, client, HEAD.format(ARROW, end), context.caller.holder)
        except Problem:
            connection.take_back()
            raise
        finally:
            connection.end(whole)
        return HandedOver()

    @router.get(
        "/lifecycle",
        response_class=ArrowStream,
        responses=STREAMED,
        summary="Stream what happened to each message, in the Arrow format",
    )
    async def lifecycle(wanted: From = None, to: To = None) -> Response:
        log = log_readers()
        start, end = range_of(wanted, to)
        pieces = await log.stream(start, end, context.caller.holder, "lifecycle")
        return ArrowStream(pieces, headers={"penstock-next-offset": str(end)})

    return router
