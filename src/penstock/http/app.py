"""The application: one router per resource, problem responses for errors, and the OpenAPI document."""

from typing import Any

from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from penstock import __version__
from penstock.http import (
    bindings,
    connections,
    consumers,
    cursors,
    health,
    leases,
    logs,
    me,
    messages,
    metrics,
    overview,
    page,
    pipelines,
    policies,
    publish,
    queues,
    rosetta,
    session,
    stages,
    tokens,
    users,
)
from penstock.http.bodies import Intake
from penstock.http.context import AppContext
from penstock.http.host_origin import Application, HostOriginMiddleware, hosts_of
from penstock.http.problems import ProblemShape, catch_problems
from penstock.http.replies import BODY_SHAPES, JSON, answer

DESCRIPTION = """Monitor and manage the broker, publish and lease messages, and read the log.
Errors are returned as problem+json (RFC 9457). The general rules are in docs/http.md."""

# With authentication on. Clients may also authenticate with a certificate, which is not listed here.
SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "Create one with `penstock token create USER`."},
    "console": {
        "type": "apiKey",
        "in": "cookie",
        "name": "penstock-7780",
        "description": "Set by `POST /v1/session`, named by the port. Changes need the header `x-penstock-console`.",
    },
}

RESOURCES = (
    health,
    metrics,
    overview,
    queues,
    messages,
    publish,
    consumers,
    connections,
    bindings,
    logs,
    policies,
    stages,
    rosetta,
    cursors,
    leases,
    pipelines,
    session,
    me,
    users,
    tokens,
)


def make_app(context: AppContext) -> Application:
    """The whole HTTP application, behind its middleware."""
    app = FastAPI(
        title="Penstock",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # it loads scripts from other hosts
        redoc_url=None,
        openapi_url=None,  # see below: encoded once, not per request
        redirect_slashes=False,
    )
    largest = context.hub.limits.line_size_max
    intake = Intake(max(context.shares.intake, largest))
    app.state.intake = intake
    account = context.reactor.account
    account.add("in", lambda: intake.bytes)
    account.add_share(intake.bytes_max, largest, intake.let_hold)
    catch_problems(app, context.hub.report)
    for resource in RESOURCES:
        app.include_router(resource.routes(context))
    app.openapi = lambda: document_of(app)  # type: ignore[method-assign]
    document = answer(app.openapi()).body  # at load time, off the event loop
    pages = page.routes()

    @pages.get("/openapi.json")
    async def describe() -> Response:
        return Response(document, media_type=JSON)

    app.include_router(pages)
    return HostOriginMiddleware(app, hosts_of(context.config.host, context.config.http_hosts), context.authenticator)


_documents: list[dict[str, Any]] = []


def document_of(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with the models of bodies that handlers read themselves.

    Built once: it is the same for every broker in the process.
    """
    if not _documents:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
        )
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        described: set[type[BaseModel]] = {ProblemShape, *BODY_SHAPES.values(), *publish.BODY_ONLY}
        for shape in sorted(described, key=lambda shape: shape.__name__):
            found = shape.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(found.pop("$defs", {}))
            schemas[shape.__name__] = found
        document["components"]["securitySchemes"] = SECURITY
        _documents.append(document)
    return _documents[0]
