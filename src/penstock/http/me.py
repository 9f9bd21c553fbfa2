"""The caller's identity, permissions and usage."""

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from penstock.auth.rights import ADMIN, ROLES
from penstock.auth.user import User
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.replies import answer, problems
from penstock.http.texts import time_of


class Use(BaseModel):
    """Usage by one user, since the broker started."""

    connections: int
    queues: int = Field(
        description="Existing queues the user created. Counted only if the user has a quota for queues."
    )
    published: int
    received_bytes: int
    denied: int = Field(description="Requests denied because the user lacked the permission.")
    paused: int = Field(description="Times a connection was paused by a quota.")


class Role(BaseModel):
    """A grant that stands for several rights."""

    role: str = Field(examples=["writer"])
    grant: str = Field(examples=["writer orders.*"])
    rights: list[str] = Field(examples=[["publish", "declare"]])


class Me(BaseModel):
    authentication: bool
    user: str | None
    by: str | None = Field(description="`token`, `certificate`, `password` or `oidc`.", examples=["token"])
    which: str | None = Field(
        description="The token's id, the certificate's name, or the identity provider's name for its token."
    )
    admin: bool
    grants: list[str] = Field(examples=[["publish orders.*", "browse *"]])
    roles: list[Role] = Field(description="The grants that are roles.")
    quotas: dict[str, int]
    use: Use | None
    expires_at: str | None = Field(description="When the token used to authenticate expires.")


def roles_of(user: User) -> list[dict[str, object]]:
    """The grants that are roles, with the rights they stand for."""
    return [
        {"role": grant.right, "grant": grant.text, "rights": list(grant.rights)}
        for grant in user.grants
        if grant.right in ROLES
    ]


def use_of(user: User) -> dict[str, object]:
    return {
        "connections": user.connections,
        "queues": len(user.made),
        "published": user.published,
        "received_bytes": user.received_bytes,
        "denied": user.denied,
        "paused": user.paused,
    }


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/me", tags=["access"])

    @router.get("", response_model=Me, responses=problems(), summary="Get the caller's identity, permissions and usage")
    async def me() -> Response:
        identity = context.caller.identity
        if identity is None:
            nobody = {"user": None, "by": None, "which": None, "use": None, "expires_at": None}
            return answer(
                {"authentication": False, "admin": True, "grants": [ADMIN], "roles": [], "quotas": {}, **nobody}
            )
        user = identity.user
        token = user.tokens.get(identity.which) if identity.how == "token" else None
        ends = identity.expires_at or (token.expires_at if token else 0)
        return answer(
            {
                "authentication": True,
                "user": user.name,
                "by": identity.how,
                "which": None if identity.how == "password" else identity.which,
                "admin": user.has(ADMIN),
                "grants": [grant.text for grant in user.grants],
                "roles": roles_of(user),
                "quotas": user.quotas.said(),
                "use": use_of(user),
                "expires_at": time_of(round(ends * 1_000_000)) if ends else None,
            }
        )

    return router
