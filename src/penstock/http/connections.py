"""Connections: list them, and close one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from penstock.http.context import AppContext
from penstock.http.parameters import Limit, Offset, Page
from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import not_found
from penstock.http.replies import answer, problems
from penstock.http.texts import href_of, name_of
from penstock.server.connection import Connection
from penstock.wire.session import Session


class ConnectionShape(BaseModel):
    id: str
    href: str
    protocol: str
    user: str | None = Field(description="The authenticated user; null if there is none.")
    consumers: int
    unacked: int
    outbox_bytes: int
    memory_bytes: int = Field(description="Memory held for it: unprocessed input, unsent output and unacked messages.")
    errors: int
    publishing_paused: bool


class ConnectionPage(Page):
    connections: list[ConnectionShape]


class Closed(BaseModel):
    closed: bool


def connection_of(session: Session, connection: Connection) -> dict[str, object]:
    subscriptions = session.subscriptions()
    return {
        "id": session.peer,
        "href": href_of("connections", session.peer.encode()),
        "protocol": session.protocol or "any",
        "user": None if session.user is None else session.user.name,
        "consumers": len(subscriptions),
        "unacked": sum(subscription.in_flight for subscription in subscriptions),
        "outbox_bytes": connection.unsent(),
        "memory_bytes": connection.reactor.account.of_connection(session, connection),
        "errors": session.errors,
        "publishing_paused": connection.reading_pauses > 0,
    }


def routes(context: AppContext) -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, prefix="/v1/connections", tags=["connections"])
    connections = context.reactor.connections

    @router.get("", response_model=ConnectionPage, responses=problems(), summary="List connections")
    async def list_connections(
        protocol: Annotated[str | None, Query(description="Only connections with this protocol.")] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        found = [s for s in connections if protocol is None or (s.protocol or "any") == protocol]
        if not context.caller.sees_all():
            found = [session for session in found if session.user is context.caller.user]
        page = [connection_of(session, connections[session]) for session in found[offset : offset + limit]]
        return answer({"total": len(found), "offset": offset, "limit": limit, "connections": page})

    @router.delete("/{id}", response_model=Closed, responses=problems(404), summary="Close a connection")
    async def close_connection(
        id: Annotated[str, Path(description="The connection's `id`, percent-encoded.", max_length=200)],
    ) -> Response:
        peer = name_of(id).decode("utf-8", "replace")
        for session, connection in list(connections.items()):
            if session.peer == peer:
                context.hub.report(
                    "info",
                    "connection.closed",
                    {"peer": peer, "protocol": session.protocol, "by": context.caller.name or "http"},
                )
                connection.transport.abort()
                return answer({"closed": True})
        raise not_found(f"there is no connection {peer!r}", "GET /v1/connections lists them")

    return router
