"""Health: whether the broker is alive, and whether it accepts messages."""

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.replies import answer


class Health(BaseModel):
    status: str = Field(examples=["ok"])


class Readiness(BaseModel):
    status: str = Field(examples=["ok"])
    reasons: list[str] = Field(examples=[[]])


def reasons_against(context: AppContext) -> list[str]:
    """Why messages are not accepted at present; empty while all is well."""
    reasons = []
    if context.reactor.draining:
        reasons.append("the broker is shutting down")
    if context.broker.refuse_reason:
        reasons.append(context.broker.refuse_reason)
    return reasons


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, tags=["health"])

    @router.get("/healthz", response_model=Health, summary="Check that the process responds")
    async def healthz() -> Response:
        return answer({"status": "ok"})

    @router.get(
        "/readyz",
        response_model=Readiness,
        responses={503: {"model": Readiness, "description": "The broker does not accept messages at the moment."}},
        summary="Check whether the broker accepts messages",
    )
    async def readyz() -> Response:
        reasons = reasons_against(context)
        return answer({"status": "unready" if reasons else "ok", "reasons": reasons}, 503 if reasons else 200)

    return router
