"""Cursors: where readers of the log started, and how far they have read."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import conflict, not_found, over_limit
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import href_of, name_of, text_of, time_of
from penstock.storage.cursors import CURSORS_MAX, Cursor, Cursors, Going

OFFSET_MAX = (1 << 62) - 1
NAME_MAX = 1000


class CursorRow(BaseModel):
    name: str
    href: str
    start: int
    reached: int
    lag: int
    heard_at: str


class CursorRows(BaseModel):
    cursors: list[CursorRow]


class CursorStart(BaseModel):
    start: int = Field(ge=0, le=OFFSET_MAX)


class CursorReached(BaseModel):
    offset: int = Field(ge=0, le=OFFSET_MAX)


class Forgotten(BaseModel):
    forgotten: bool


Name = Annotated[str, Path(description="The cursor's name, percent-encoded.", max_length=NAME_MAX)]


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/cursors", tags=["log"])
    cursors: Cursors = context.cursors
    writing = asyncio.Lock()

    async def keep() -> None:
        """One write at a time: otherwise an older state could overwrite a newer one."""
        async with writing:
            await asyncio.to_thread(cursors.write, cursors.encode())

    def row(name: str, cursor: Cursor) -> dict[str, object]:
        end = context.statistics.log()["durable_offset"]
        return {
            "name": name,
            "href": href_of("cursors", name.encode()),
            "start": cursor.start,
            "reached": cursor.reached,
            "lag": max(end - cursor.reached, 0),
            "heard_at": time_of(cursor.heard_at),
        }

    async def noted(name: str, note: Callable[[str, int], Cursor]) -> Response:
        """Change a cursor, which is created if it does not exist, and store it."""
        cursor_name = text_of(name_of(name))
        if cursor_name not in cursors.by_name and len(cursors.by_name) >= CURSORS_MAX:
            raise over_limit(f"there are already {CURSORS_MAX} cursors", "DELETE /v1/cursors/{name} deletes one")
        try:
            cursor = note(cursor_name, context.clock.now())
        except Going as error:
            raise conflict(str(error), "start there or later: see GET /v1/log/segments") from error
        await keep()
        return answer(row(cursor_name, cursor))

    @router.get("", response_model=CursorRows, responses=problems(), summary="List cursors")
    async def show_all() -> Response:
        return answer({"cursors": [row(name, cursor) for name, cursor in sorted(cursors.by_name.items())]})

    @router.put(
        "/{name}",
        response_model=CursorRow,
        responses=problems(400, 409, 413, 415, 429),
        openapi_extra=takes(CursorStart, {"start": 0}),
        summary="Create a cursor, or get the existing one",
    )
    async def begin(name: Name, request: Request) -> Response:
        asked = await read_json(request, CursorStart)
        return await noted(name, lambda cursor_name, now: cursors.begin(cursor_name, asked.start, now))

    @router.post(
        "/{name}/reached",
        response_model=CursorRow,
        responses=problems(400, 409, 413, 415, 429),
        openapi_extra=takes(CursorReached, {"offset": 1000}),
        summary="Record that everything before an offset has been read",
    )
    async def reached(name: Name, request: Request) -> Response:
        asked = await read_json(request, CursorReached)
        return await noted(name, lambda cursor_name, now: cursors.reach(cursor_name, asked.offset, now))

    @router.delete("/{name}", response_model=Forgotten, responses=problems(404), summary="Delete a cursor")
    async def forget(name: Name) -> Response:
        cursor_name = text_of(name_of(name))
        if not cursors.forget(cursor_name):
            raise not_found(f"there is no cursor {cursor_name!r}")
        await keep()
        return answer({"forgotten": True})

    return router
