"""The permission each operation requires. Every route must have an entry here: a missing one is an error.

A permission on the queue in the path is checked before the request body is read. If names are in the body, the handler
checks them, and only whether the user has the permission on any name is checked here. Handlers that list resources
leave out those the caller may not browse.

What is open to everybody is said here and nowhere else: the middleware asks `is_open` whether a request needs a user.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from penstock.auth.rights import ADMIN, BROWSE, CONSUME, DECLARE, DELETE, OPERATE, PUBLISH, QUEUE, READ_LOG
from penstock.http.caller import caller
from penstock.http.texts import name_of


class Permission(NamedTuple):
    text: str  # for the OpenAPI document
    rights: tuple[str, ...] = ()  # any one of them is enough
    on_queue: bool = False  # on the queue in the path
    on_all: bool = False  # on all names
    is_open: bool = False  # no authentication required
    is_probe: bool = False  # for monitoring: answered whatever the Host header, and when all slots are taken


def has(*rights: str, more: str = "") -> Permission:
    return Permission(" or ".join(rights) + (f"; {more}" if more else ""), rights)


def on(right: str, more: str = "") -> Permission:
    return Permission(f"{right} on the queue" + (f"; {more}" if more else ""), (right,), on_queue=True)


OPEN = Permission("no authentication", is_open=True)
HEALTH = OPEN._replace(is_probe=True)
KNOWN = Permission("any authenticated user")
ADMINS = has(ADMIN)
READERS = has(READ_LOG)
LISTED = has(BROWSE, more="lists only what the user may browse")

PERMISSIONS: dict[str, Permission] = {
    "GET /": OPEN,
    "GET /console/{name:path}": OPEN,  # the page itself, which reveals nothing about messages
    "GET /openapi.json": OPEN,
    "GET /healthz": HEALTH,
    "GET /readyz": HEALTH,
    "GET /metrics": Permission("browse on *, unless `metrics_open` is set", (BROWSE,), on_all=True, is_probe=True),
    "GET /metrics/detail": Permission("browse on each named queue", (BROWSE,), is_probe=True),
    "GET /v1/session": OPEN,
    "POST /v1/session": OPEN,
    "DELETE /v1/session": OPEN,
    "GET /v1/me": KNOWN,
    "PUT /v1/me/password": KNOWN,
    "GET /v1/overview": has(BROWSE, READ_LOG),
    "GET /v1/overview/history": has(BROWSE, READ_LOG),
    "GET /v1/live": has(BROWSE, READ_LOG, more="browse on the queue, if one is named"),
    "GET /v1/queues": LISTED,
    "GET /v1/queues/{name}": on(BROWSE),
    "PUT /v1/queues/{name}": on(
        DECLARE,
        "consume on events to bind; consume on events to unbind, or delete on the queue; delete on the queue, to "
        "change the expiry of an existing queue; browse on the queue, to get more than its name",
    ),
    "DELETE /v1/queues/{name}": on(DELETE),
    "GET /v1/queues/{name}/messages": on(BROWSE),
    "POST /v1/queues/{name}/messages": on(PUBLISH, "declare, if it does not exist"),
    "POST /v1/queues/{name}/pause": on(OPERATE),
    "POST /v1/queues/{name}/resume": on(OPERATE),
    "POST /v1/queues/{name}/purge": on(DELETE),
    "POST /v1/queues/{name}/move": on(CONSUME, "publish on the target queue"),
    "POST /v1/queues/{name}/copy": on(BROWSE, "publish on the target queue"),
    "POST /v1/queues/{name}/redrive": on(CONSUME, "publish on the target queues"),
    "POST /v1/queues/{name}/leases": on(CONSUME),
    "GET /v1/queues/{name}/messages/{offset}/rosetta": on(BROWSE),
    "GET /v1/queues/{name}/consumers": on(BROWSE),
    "POST /v1/leases/{id}/accept": has(CONSUME, more="the lease must belong to the user"),
    "DELETE /v1/leases/{id}": has(CONSUME, more="the lease must belong to the user"),
    "DELETE /v1/leases": has(CONSUME, more="applies to the user's own leases"),
    "POST /v1/publish": Permission("publish on each event or queue; declare on queues that do not exist", (PUBLISH,)),
    "POST /v1/route": LISTED,
    "POST /v1/stages": Permission("publish on each event or queue; declare on queues that do not exist", (PUBLISH,)),
    "DELETE /v1/stages/{id}": has(PUBLISH, more="the stage must belong to the user"),
    "POST /v1/commits": has(PUBLISH, more="the stages must belong to the user"),
    "GET /v1/commits/{writer}": has(PUBLISH),
    "DELETE /v1/commits/{writer}": has(PUBLISH, more="the writer must belong to the user"),
    "GET /v1/consumers": LISTED,
    "GET /v1/connections": has(BROWSE, more="lists the user's own connections, or all with browse on *"),
    "DELETE /v1/connections/{id}": Permission("operate on *", (OPERATE,), on_all=True),
    "GET /v1/bindings": LISTED,
    "GET /v1/policies": has(BROWSE),
    "POST /v1/rosetta": KNOWN,
    "GET /v1/log": READERS,
    "GET /v1/log/offsets": READERS,
    "GET /v1/log/segments": READERS,
    "GET /v1/log/holes": READERS,
    "GET /v1/log/lifecycle": READERS,
    "GET /v1/cursors": READERS,
    "PUT /v1/cursors/{name}": READERS,
    "POST /v1/cursors/{name}/reached": READERS,
    "DELETE /v1/cursors/{name}": READERS,
    "GET /v1/pipelines": has(BROWSE, READ_LOG),
    "PUT /v1/pipelines/{name}": READERS,
    "DELETE /v1/pipelines/{name}": READERS,
    "GET /v1/users": ADMINS,
    "POST /v1/users": ADMINS,
    "GET /v1/users/{name}": ADMINS,
    "DELETE /v1/users/{name}": ADMINS,
    "POST /v1/users/{name}/grants": ADMINS,
    "DELETE /v1/users/{name}/grants": ADMINS,
    "PUT /v1/users/{name}/quotas": ADMINS,
    "POST /v1/users/{name}/certificates": ADMINS,
    "DELETE /v1/users/{name}/certificates": ADMINS,
    "PUT /v1/users/{name}/password": ADMINS,
    "DELETE /v1/users/{name}/password": ADMINS,
    "GET /v1/tokens": ADMINS,
    "POST /v1/tokens": ADMINS,
    "DELETE /v1/tokens/{id}": ADMINS,
}


def paths_of(permissions: Iterable[str]) -> tuple[str, ...]:
    """The paths of operations, each up to its first parameter."""
    return tuple({operation.partition(" ")[2].partition("{")[0]: None for operation in permissions})


OPEN_PATHS = paths_of(operation for operation, needed in PERMISSIONS.items() if needed.is_open and "{" not in operation)
OPEN_FOLDERS = paths_of(operation for operation, needed in PERMISSIONS.items() if needed.is_open and "{" in operation)
PROBE_PATHS = paths_of(operation for operation, needed in PERMISSIONS.items() if needed.is_probe)
HEALTH_PATHS = paths_of(operation for operation, needed in PERMISSIONS.items() if needed == HEALTH)


def is_open(path: str, metrics_open: bool) -> bool:
    """Whether a request to this path needs no authentication."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS) or (metrics_open and path == "/metrics")


class AuthorizedRoute(APIRoute):
    """A route that checks the required permission before the handler runs, and documents it in OpenAPI."""

    def __init__(self, path: str, *given: Any, **named: Any) -> None:
        (method,) = named["methods"]
        self.permission = PERMISSIONS[f"{method} {path}"]
        extra = {**(named.get("openapi_extra") or {}), "x-penstock-needs": self.permission.text}
        if not self.permission.is_open:
            extra["security"] = [{"token": []}, {"console": []}]
        super().__init__(path, *given, **{**named, "openapi_extra": extra})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in (self.methods or ()):
            self.check(scope["path_params"])
        await super().handle(scope, receive, send)

    def check(self, parameters: dict[str, Any]) -> None:
        """Raises Refused if the caller lacks the permission."""
        permission = self.permission
        user = caller().user
        if user is None or not permission.rights:
            return
        if permission.on_queue:
            user.check(permission.rights[0], QUEUE, name_of(parameters["name"]))
        elif permission.on_all:
            user.check_all(permission.rights[0], QUEUE)
        elif not any(user.has(right) for right in permission.rights):
            raise user.refusal(" or ".join(permission.rights))
