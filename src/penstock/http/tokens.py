"""Token administration. A token is shown once, when it is created; its id is not secret."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.auth.tokens import Token, id_of
from penstock.auth.user import User
from penstock.auth.users import NOTE_SIZE_MAX, Users
from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.parameters import Limit, Offset, Page
from penstock.http.permissions import AuthorizedRoute
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import href_of, name_of, text_of, time_of
from penstock.http.users import change, known_user

BODY_SIZE_MAX = 8192
SECONDS_MAX = 10**9
SECOND = 1_000_000


class TokenShape(BaseModel):
    id: str
    href: str
    user: str
    created_at: str
    expires_at: str | None
    expired: bool
    note: str


class TokenPage(Page):
    tokens: list[TokenShape]


class NewToken(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    user: str = Field(max_length=200, examples=["ada"])
    expires_seconds: int | None = Field(
        None, ge=1, le=SECONDS_MAX, description="Expires this many seconds from now; never if omitted."
    )
    note: str = Field(default="", max_length=NOTE_SIZE_MAX)


class MadeToken(TokenShape):
    token: str = Field(description="The token. It is not shown again.")


class Revoked(BaseModel):
    revoked: bool
    user: str = Field(description="The user it belonged to.")


def token_of(user: User, token: Token, now: int) -> dict[str, object]:
    return {
        "id": token.id,
        "href": href_of("tokens", token.id.encode()),
        "user": user.name,
        "created_at": time_of(token.created_at * SECOND),
        "expires_at": time_of(token.expires_at * SECOND) if token.expires_at else None,
        "expired": token.is_over(now / SECOND),
        "note": token.note,
    }


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/tokens", tags=["access"])

    @router.get("", response_model=TokenPage, responses=problems(404), summary="List tokens")
    async def list_tokens(
        user: Annotated[str | None, Query(description="Only tokens of this user.", max_length=200)] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        access = context.hub.access
        if user is not None:
            owners = [known_user(context, user)]
        else:
            owners = [] if access is None else [owner for _, owner in sorted(access.users.items())]
        found = [(owner, token) for owner in owners for token in owner.tokens.values()]
        now = context.clock.now()
        rows = [token_of(owner, token, now) for owner, token in found[offset : offset + limit]]
        return answer({"total": len(found), "offset": offset, "limit": limit, "tokens": rows})

    @router.post(
        "",
        status_code=201,
        response_model=MadeToken,
        responses=problems(400, 404, 409, 413, 415),
        openapi_extra=takes(NewToken, {"user": "ada", "expires_seconds": 86400, "note": "laptop"}),
        summary="Create a token, which is shown once",
    )
    async def create(request: Request) -> Response:
        new = await read_json(request, NewToken, BODY_SIZE_MAX)
        now = context.clock.now()
        seconds = now // SECOND
        expires_at = 0 if new.expires_seconds is None else seconds + new.expires_seconds

        def make(users: Users) -> tuple[User, Token, str]:
            text = users.create_token(new.user, seconds, expires_at, new.note)
            owner = users.user(new.user)
            return owner, owner.tokens[id_of(text.encode())], text

        # Taken from what was written: a concurrent edit of the file may have removed the user again.
        owner, token, text = await change(context, "token created", make, user=new.user, note=new.note)
        return answer({**token_of(owner, token, now), "token": text}, 201)

    @router.delete("/{id}", response_model=Revoked, responses=problems(404, 409), summary="Revoke a token")
    async def revoke(id: Annotated[str, Path(description="The token's id.", max_length=100)]) -> Response:
        token = text_of(name_of(id))
        owner = await change(context, "token revoked", lambda users: users.revoke_token(token)[0].name, token=token)
        return answer({"revoked": True, "user": owner})

    return router
