"""The console's login: exchanges a password or a token for a cookie that scripts cannot read."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.http.authenticator import cookie_name
from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import Problem, conflict, invalid
from penstock.http.replies import answer, problems, takes

BODY_SIZE_MAX = 64 << 10  # tokens of identity providers may be long


class SessionShape(BaseModel):
    authentication: bool = Field(description="Whether authentication is on.")
    user: str | None = Field(description="The authenticated user; null if there is none.")


class Credentials(BaseModel):
    """A user and a password, or a token."""

    model_config = ConfigDict(extra="forbid", strict=True)

    user: str | None = Field(None, max_length=64)
    password: str | None = Field(None, max_length=1024)
    token: str | None = Field(None, max_length=32 << 10)


class Left(BaseModel):
    left: bool


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/session", tags=["access"])
    authenticator = context.authenticator

    def session_of() -> dict[str, object]:
        return {"authentication": context.hub.access is not None, "user": context.caller.name or None}

    @router.get("", response_model=SessionShape, responses=problems(), summary="Get the current session")
    async def show() -> Response:
        return answer(session_of())

    @router.post(
        "",
        response_model=SessionShape,
        responses=problems(400, 409, 413, 415),
        openapi_extra=takes(Credentials, {"user": "ada", "password": "correct horse"}),
        summary="Log in to the console",
    )
    async def log_in(request: Request) -> Response:
        given = await read_json(request, Credentials, BODY_SIZE_MAX)
        access = context.hub.access
        if access is None:
            raise conflict("authentication is off: there is no need to log in")
        peer = context.caller.peer
        if given.token is not None:
            if given.user is not None or given.password is not None:
                raise invalid("body.token", "cannot be combined with user and password")
            identity = await authenticator.by_pasted_token(access, given.token, peer)
        elif given.user is None or given.password is None:
            raise invalid("body.user", "give user and password, or a token")
        else:
            identity = await authenticator.by_password(access, given.user, given.password, peer)
        now = context.clock.now()
        if not access.still_holds(identity, now):  # it may have been revoked during the check
            raise Problem(401, "wrong-password", "user or password is wrong")
        context.logins.tidy(access, now)
        if context.caller.login:
            context.logins.end(context.caller.login)
        authenticator.succeeded(identity, peer)
        response = answer({"authentication": True, "user": identity.user.name})
        set_cookie(response, request, context.logins.begin(identity, now), int(context.logins.seconds))
        return response

    @router.delete("", response_model=Left, responses=problems(), summary="Log out")
    async def log_out(request: Request) -> Response:
        who = context.caller
        if who.login:
            context.logins.end(who.login)
            context.hub.report("info", "audit.left", {"user": who.name, "peer": who.peer, "protocol": "http"})
        response = answer({"left": bool(who.login)})
        set_cookie(response, request, "", 0)
        return response

    return router


def set_cookie(response: Response, request: Request, value: str, seconds: int) -> None:
    response.set_cookie(
        cookie_name(request.scope),
        value,
        max_age=seconds,
        path="/",
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="strict",
    )
