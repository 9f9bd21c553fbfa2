"""Policies: the configured rules for queues by name, and the resulting policy of one queue."""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from penstock.config import PolicyTable
from penstock.core.policy import Policy
from penstock.http.caller import Caller
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.replies import answer, problems
from penstock.http.texts import text_of


class PolicyShape(BaseModel):
    """The settings in force for a queue; null if a setting is not set."""

    length_max: int
    bytes_max: int
    full: str = Field(description="What a full queue does: `refuse`, `drop-oldest` or `dead-letter`.")
    alarm: float = Field(description="The fraction of a limit at which an alarm is raised.")
    ttl_seconds: float | None
    deliveries_max: int | None
    retry_delay_seconds: float | None
    retry_backoff: float
    retry_delay_max_seconds: float
    dead_letter: str | None
    dedup_seconds: float | None


class Rules(BaseModel):
    policies: list[dict[str, Any]] = Field(
        description="The configured policies, in order; later ones override earlier ones."
    )
    default: PolicyShape


def policy_of(policy: Policy, who: Caller | None = None) -> dict[str, object]:
    """A policy in force. Its dead-letter queue is hidden from callers who may not browse that queue."""
    dead_letter = policy.dead_letter if who is None or who.sees(policy.dead_letter) else b""
    return {
        "length_max": policy.length_max,
        "bytes_max": policy.bytes_max,
        "full": policy.full,
        "alarm": policy.alarm,
        "ttl_seconds": policy.ttl / 1_000_000 or None,
        "deliveries_max": policy.deliveries_max or None,
        "retry_delay_seconds": policy.retry_delay / 1_000_000 or None,
        "retry_backoff": policy.retry_backoff,
        "retry_delay_max_seconds": policy.retry_delay_max / 1_000_000,
        "dead_letter": text_of(dead_letter) or None,
        "dedup_seconds": policy.dedup_seconds or None,
    }


def seen_of(table: PolicyTable, who: Caller) -> dict[str, object] | None:
    """A policy as the caller may see it: without names they may not browse; None if none is left.

    A pattern counts as a name: a caller who may browse `orders.*` sees a policy for `orders.*`, but not one for `*`.
    """
    seen: dict[str, object] = table.model_dump(mode="json", exclude_none=True)
    queues = [glob for glob in table.queues if who.sees(glob.encode())]
    if not queues:
        return None
    seen["queues"] = queues
    if table.dead_letter is not None and not who.sees(table.dead_letter.encode()):
        del seen["dead_letter"]
    return seen


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["queues"])

    @router.get("/policies", response_model=Rules, responses=problems(), summary="List policies")
    async def policies() -> Response:
        tables = [seen for table in context.config.policy if (seen := seen_of(table, context.caller)) is not None]
        return answer({"policies": tables, "default": policy_of(Policy(context.hub.limits))})

    return router
