"""User administration: permissions, quotas, certificates and passwords.

A change is written to the users file and is in force when the response is sent: connections that used a revoked
credential are closed by then. The first user is created with a command on the broker's machine, not here: until then
authentication is off and every client may do everything.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.auth.file import UsersFile
from penstock.auth.quotas import AMOUNT_MAX
from penstock.auth.rights import ADMIN
from penstock.auth.user import User
from penstock.auth.users import Users
from penstock.http.bodies import read_json
from penstock.http.context import AppContext
from penstock.http.me import Role, Use, roles_of, use_of
from penstock.http.parameters import Limit, Offset
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import conflict, not_found
from penstock.http.replies import answer, problems, takes
from penstock.http.texts import href_of, name_of, text_of
from penstock.server.user_reloader import UserReloader

BODY_SIZE_MAX = 64 << 10
Result = TypeVar("Result")

UserName = Annotated[str, Path(description="The user's name.", examples=["ada"], max_length=200)]
Amount = Annotated[int, Field(ge=0, le=AMOUNT_MAX)]


class UserShape(BaseModel):
    name: str
    href: str
    admin: bool
    grants: list[str]
    roles: list[Role] = Field(description="The grants that are roles.")
    quotas: dict[str, int]
    certificates: list[str]
    password: bool = Field(description="Whether a password is set.")
    tokens: int
    use: Use


class UserPage(BaseModel):
    authentication: bool
    total: int
    offset: int
    limit: int
    users: list[UserShape]


class QuotaAmounts(BaseModel):
    """Omitted quotas stay unchanged; 0 means no limit."""

    model_config = ConfigDict(extra="forbid", strict=True)

    connections: Amount | None = None
    queues: Amount | None = None
    messages: Amount | None = Field(None, description="Messages published per second.")
    bytes: Amount | None = Field(None, description="Bytes sent per second.")
    unacked: Amount | None = None

    def given(self) -> dict[str, int]:
        return self.model_dump(exclude_none=True)


class NewUser(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(max_length=200, examples=["ada"])
    grants: list[str] = Field(default=[], max_length=1000)
    quotas: QuotaAmounts = Field(default_factory=lambda: QuotaAmounts.model_validate({}))
    certificates: list[str] = Field(default=[], max_length=1000)
    password: str | None = Field(None, max_length=1024)


class NewGrant(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    grant: str = Field(max_length=2000, examples=["publish orders.*"])


class NewCertificate(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    certificate: str = Field(max_length=2000, examples=["CN:worker-1"])


class NewPassword(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    password: str = Field(max_length=1024)


class OwnPassword(NewPassword):
    current: str = Field(max_length=1024, description="The current password.")


class Removed(BaseModel):
    removed: bool


def user_of(user: User) -> dict[str, object]:
    """Contains no secrets."""
    return {
        "name": user.name,
        "href": href_of("users", user.name.encode()),
        "admin": user.has(ADMIN),
        "grants": [grant.text for grant in user.grants],
        "roles": roles_of(user),
        "quotas": user.quotas.said(),
        "certificates": list(user.certificates),
        "password": bool(user.password),
        "tokens": len(user.tokens),
        "use": use_of(user),
    }


def known_user(context: AppContext, name: str) -> User:
    access = context.hub.access
    user = None if access is None else access.users.get(name)
    if user is None:
        raise not_found(f"there is no user {name!r}", "GET /v1/users lists them")
    return user


def users_file_of(context: AppContext) -> tuple[UserReloader, UsersFile]:
    """Where users are stored. Raises Problem if authentication is off."""
    user_reloader = context.user_reloader
    if context.hub.access is None or user_reloader is None or user_reloader.file is None:
        raise conflict(
            "authentication is off",
            "`penstock user add NAME --grant admin` on the broker's machine creates the first user and turns it on",
        )
    return user_reloader, user_reloader.file


async def change(context: AppContext, what: str, edit: Callable[[Users], Result], **details: object) -> Result:
    """Change the users file and put the change in force. `details` go to the audit log: pass no secrets."""
    user_reloader, file = users_file_of(context)

    def run() -> Result:
        with file.edit() as users:
            had_admin = any(user.has(ADMIN) for user in users.by_name.values())
            result = edit(users)
            if had_admin and not any(user.has(ADMIN) for user in users.by_name.values()):
                raise conflict("no user would be left who can manage users", "grant admin to another user first")
            return result

    result = await asyncio.to_thread(run)
    user_reloader.reload()
    who = context.caller
    context.hub.report("info", "audit.changed", {"what": what, **details, "by": who.name, "peer": who.peer})
    return result


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1", tags=["access"])

    def shown(name: str, status: int = 200) -> Response:
        return answer(user_of(known_user(context, name)), status)

    async def hash_of(password: str) -> str:
        users_file_of(context)  # hashing is slow: check first that the hash can be stored
        return await context.authenticator.hash_password(password)

    async def change_user(name: str, what: str, edit: Callable[[Users, str], object], **details: object) -> Response:
        """Change the user in the path; the response is the user as it is then."""
        user = text_of(name_of(name))
        await change(context, what, lambda users: edit(users, user), user=user, **details)
        return shown(user)

    @router.get("/users", response_model=UserPage, responses=problems(), summary="List users")
    async def list_users(
        search: Annotated[str, Query(description="Only users whose name contains this text.", max_length=200)] = "",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        access = context.hub.access
        found = [] if access is None else [user for name, user in sorted(access.users.items()) if search in name]
        rows = [user_of(user) for user in found[offset : offset + limit]]
        page = {"authentication": access is not None, "total": len(found), "offset": offset, "limit": limit}
        return answer({**page, "users": rows})

    @router.get("/users/{name}", response_model=UserShape, responses=problems(404), summary="Get a user")
    async def show_user(name: UserName) -> Response:
        return shown(text_of(name_of(name)))

    @router.post(
        "/users",
        status_code=201,
        response_model=UserShape,
        responses=problems(400, 409, 413, 415),
        openapi_extra=takes(NewUser, {"name": "ada", "grants": ["publish orders.*", "browse *"]}),
        summary="Create a user",
    )
    async def add_user(request: Request) -> Response:
        new = await read_json(request, NewUser, BODY_SIZE_MAX)
        hashed = "" if new.password is None else await hash_of(new.password)

        def edit(users: Users) -> None:
            user = users.add(new.name)
            for grant in new.grants:
                users.grant(new.name, grant)
            for quota, amount in new.quotas.given().items():
                user.quotas.set(quota, amount)
            for certificate in new.certificates:
                users.add_certificate(new.name, certificate)
            users.set_password(new.name, hashed)

        await change(context, "user added", edit, user=new.name, grants=new.grants)
        return shown(new.name, 201)

    @router.delete("/users/{name}", response_model=Removed, responses=problems(404, 409), summary="Remove a user")
    async def remove_user(name: UserName) -> Response:
        user = text_of(name_of(name))
        await change(context, "user removed", lambda users: users.remove(user), user=user)
        return answer({"removed": True})

    @router.post(
        "/users/{name}/grants",
        response_model=UserShape,
        responses=problems(400, 404, 409, 413, 415),
        openapi_extra=takes(NewGrant, {"grant": "publish orders.*"}),
        summary="Grant a permission",
    )
    async def grant(name: UserName, request: Request) -> Response:
        new = (await read_json(request, NewGrant, BODY_SIZE_MAX)).grant
        return await change_user(name, "granted", lambda users, user: users.grant(user, new), grant=new)

    @router.delete(
        "/users/{name}/grants", response_model=UserShape, responses=problems(404, 409), summary="Revoke a permission"
    )
    async def revoke(
        name: UserName, grant: Annotated[str, Query(description="The permission, as it was granted.", max_length=2000)]
    ) -> Response:
        return await change_user(name, "revoked", lambda users, user: users.revoke(user, grant), grant=grant)

    @router.put(
        "/users/{name}/quotas",
        response_model=UserShape,
        responses=problems(400, 404, 409, 413, 415),
        openapi_extra=takes(QuotaAmounts, {"connections": 10, "messages": 1000}),
        summary="Set the quotas of a user",
    )
    async def set_quotas(name: UserName, request: Request) -> Response:
        amounts = (await read_json(request, QuotaAmounts, BODY_SIZE_MAX)).given()

        def edit(users: Users, user: str) -> None:
            quotas = users.user(user).quotas
            for quota, amount in amounts.items():
                quotas.set(quota, amount)

        return await change_user(name, "quotas set", edit, quotas=amounts)

    @router.post(
        "/users/{name}/certificates",
        response_model=UserShape,
        responses=problems(400, 404, 409, 413, 415),
        openapi_extra=takes(NewCertificate, {"certificate": "CN:worker-1"}),
        summary="Add a client certificate",
    )
    async def add_certificate(name: UserName, request: Request) -> Response:
        new = (await read_json(request, NewCertificate, BODY_SIZE_MAX)).certificate
        return await change_user(
            name, "certificate added", lambda users, user: users.add_certificate(user, new), certificate=new
        )

    @router.delete(
        "/users/{name}/certificates",
        response_model=UserShape,
        responses=problems(404, 409),
        summary="Remove a client certificate",
    )
    async def remove_certificate(
        name: UserName,
        certificate: Annotated[str, Query(description="The certificate, as it was added.", max_length=2000)],
    ) -> Response:
        return await change_user(
            name,
            "certificate removed",
            lambda users, user: users.remove_certificate(user, certificate),
            certificate=certificate,
        )

    @router.put(
        "/users/{name}/password",
        response_model=UserShape,
        responses=problems(400, 404, 409, 413, 415),
        openapi_extra=takes(NewPassword, {"password": "correct horse"}),
        summary="Set the console password",
    )
    async def set_password(name: UserName, request: Request) -> Response:
        hashed = await hash_of((await read_json(request, NewPassword, BODY_SIZE_MAX)).password)
        return await change_user(name, "password set", lambda users, user: users.set_password(user, hashed))

    @router.delete(
        "/users/{name}/password",
        response_model=UserShape,
        responses=problems(404, 409),
        summary="Remove the console password",
    )
    async def remove_password(name: UserName) -> Response:
        return await change_user(name, "password removed", lambda users, user: users.set_password(user, ""))

    @router.put(
        "/me/password",
        response_model=UserShape,
        responses=problems(400, 409, 413, 415),
        openapi_extra=takes(OwnPassword, {"current": "correct horse", "password": "battery staple"}),
        summary="Change your own password, which ends all logins made with it",
    )
    async def change_own_password(request: Request) -> Response:
        given = await read_json(request, OwnPassword, BODY_SIZE_MAX)
        users_file_of(context)
        who, access = context.caller, context.hub.access
        if access is None or who.user is None or not who.user.password:
            raise conflict("you have no password", "an admin can set one")
        await context.authenticator.by_password(access, who.name, given.current, who.peer)
        hashed = await hash_of(given.password)
        await change(context, "own password set", lambda users: users.set_password(who.name, hashed), user=who.name)
        return shown(who.name)

    return router
