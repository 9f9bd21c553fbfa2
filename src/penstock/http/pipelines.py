"""Pipelines: the status of jobs that read this broker's log, as reported by them after each batch."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import not_found
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import name_of, text_of, time_of

PIPELINES_MAX = 1000
NAME_MAX = 1000
NUMBER_MAX = 1 << 53  # every JSON parser reads integers up to this exactly

PipelineName = Annotated[str, Path(description="The pipeline's name, percent-encoded.", max_length=NAME_MAX)]


class PipelineReport(BaseModel):
    """The report of one batch."""

    batch: int = Field(ge=0, le=NUMBER_MAX)
    rows: int = Field(ge=0, le=NUMBER_MAX)
    rows_per_second: float = Field(default=0, ge=0, le=NUMBER_MAX, allow_inf_nan=False)
    seconds: float = Field(default=0, ge=0, le=NUMBER_MAX, allow_inf_nan=False)
    offset: int | None = Field(default=None, ge=-1, le=NUMBER_MAX)
    end: int | None = Field(default=None, ge=-1, le=NUMBER_MAX)
    lag: int | None = Field(default=None, ge=0, le=NUMBER_MAX)
    state: str = Field(default="running", pattern="^(running|done|failed)$")


class Pipeline(PipelineReport):
    name: str
    batches: int
    rows_total: int
    reported_at: str


class Pipelines(BaseModel):
    pipelines: list[Pipeline]


class Forgotten(BaseModel):
    forgotten: bool


EXAMPLE = {
    "batch": 7,
    "rows": 1000,
    "rows_per_second": 50000.0,
    "seconds": 0.2,
    "offset": 8000,
    "end": 8100,
    "lag": 100,
}


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/pipelines", tags=["pipelines"])
    known = context.pipelines

    @router.get("", response_model=Pipelines, responses=problems(), summary="List pipelines and their latest reports")
    async def show_all() -> Response:
        return answer({"pipelines": [known[name] for name in sorted(known)]})

    @router.put(
        "/{name}",
        response_model=Pipeline,
        responses=problems(400, 413, 415),
        openapi_extra=takes(PipelineReport, EXAMPLE),
        summary="Report a batch",
    )
    async def report(name: PipelineName, request: Request) -> Response:
        batch = await read_json(request, PipelineReport)
        pipeline = text_of(name_of(name))
        before = known.pop(pipeline, {})
        rows = {
            "name": pipeline,
            **batch.model_dump(),
            "batches": int(str(before.get("batches", 0))) + (batch.state == "running" and batch.rows > 0),
            "rows_total": min(int(str(before.get("rows_total", 0))) + batch.rows, NUMBER_MAX),
            "reported_at": time_of(context.clock.now()),
        }
        known[pipeline] = rows
        while len(known) > PIPELINES_MAX:
            del known[next(iter(known))]  # the one that has not reported for longest
        return answer(rows)

    @router.delete("/{name}", response_model=Forgotten, responses=problems(404), summary="Delete a pipeline")
    async def forget(name: PipelineName) -> Response:
        pipeline = text_of(name_of(name))
        if known.pop(pipeline, None) is None:
            raise not_found(f"there is no pipeline {pipeline!r}")
        return answer({"forgotten": True})

    return router
