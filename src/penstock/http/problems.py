"""Errors as problem+json (RFC 9457): whose fault it was, what exactly is wrong, and what to do about it."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from penstock.errors import (
    CONFLICT,
    DENIED,
    DISK_FULL,
    DRAINING,
    INVALID,
    NOT_FOUND,
    OVER_LIMIT,
    TOO_LARGE,
    AccessError,
    LogError,
    Refused,
)

MEDIA_TYPE = "application/problem+json"

# Status and problem type for each code of Refused and AccessError.
PROBLEMS = {
    NOT_FOUND: (404, "not-found"),
    TOO_LARGE: (413, "too-large"),
    OVER_LIMIT: (429, "over-limit"),
    DENIED: (403, "denied"),
    DRAINING: (503, "draining"),
    DISK_FULL: (503, "no-room"),
    INVALID: (422, "invalid"),
    CONFLICT: (409, "conflict"),
}

TITLES = {
    400: "Malformed request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    410: "Gone",
    413: "Too large",
    415: "Unsupported media type",
    422: "Invalid request",
    429: "Limit exceeded",
    500: "Internal error",
    501: "Not available",
    503: "Unavailable",
}


class FieldError(BaseModel):
    field: str = Field(examples=["query.limit"])
    reason: str = Field(examples=["Input should be less than or equal to 1000"])


class ProblemShape(BaseModel):
    """The body of every error response."""

    type: str = Field(examples=["/problems/not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no queue 'orders'"])
    hint: str | None = Field(default=None, examples=["create it with PUT /v1/queues/{name}"])
    errors: list[FieldError] | None = None


class Problem(Exception):
    """Ends a request with this error response."""

    def __init__(
        self, status: int, kind: str, detail: str, hint: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.hint = hint
        self.headers = headers or {}


def not_found(detail: str, hint: str | None = None) -> Problem:
    return Problem(404, "not-found", detail, hint)


def conflict(detail: str, hint: str | None = None) -> Problem:
    return Problem(409, "conflict", detail, hint)


def over_limit(detail: str, hint: str | None = None) -> Problem:
    return Problem(429, "over-limit", detail, hint)


def malformed(detail: str, hint: str | None = None) -> Problem:
    return Problem(400, "malformed", detail, hint)


def too_large(detail: str, hint: str | None = None) -> Problem:
    return Problem(413, "too-large", detail, hint)


def needs_arrow() -> Problem:
    return Problem(501, "needs-arrow", "pyarrow is required and not installed", "pip install 'penstock-mq[spark]'")


def invalid(field: str, reason: str) -> Problem:
    problem = Invalid(f"{field}: {reason}")
    problem.errors = [{"field": field, "reason": reason}]
    return problem


class Invalid(Problem):
    """One or more fields are wrong."""

    def __init__(self, detail: str) -> None:
        super().__init__(422, "invalid", detail)
        self.errors: list[dict[str, str]] = []


def problem_content(
    status: int, kind: str, detail: str, hint: str | None = None, errors: list[dict[str, str]] | None = None
) -> bytes:
    content: dict[str, object] = {
        "type": f"/problems/{kind}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if hint:
        content["hint"] = hint
    if errors:
        content["errors"] = errors
    return orjson.dumps(content)


def problem_response(problem: Problem) -> Response:
    errors = problem.errors if isinstance(problem, Invalid) else None
    headers = {"retry-after": "1"} if problem.status in (429, 503) else {}
    headers.update(problem.headers)
    content = problem_content(problem.status, problem.kind, problem.detail, problem.hint, errors)
    return Response(content, problem.status, headers, MEDIA_TYPE)


def field_errors(errors: Sequence[Mapping[str, Any]], place: str = "") -> list[dict[str, str]]:
    """The errors of a model, each with the path to its field."""
    found = []
    for error in errors:
        path = [str(part) for part in error["loc"]]
        found.append({"field": ".".join([place, *path] if place else path), "reason": str(error["msg"])})
    return found


def from_fields(errors: Sequence[Mapping[str, Any]], place: str = "") -> Problem:
    fields = field_errors(errors, place)
    problem = Invalid("; ".join(f"{error['field']}: {error['reason']}" for error in fields))
    problem.errors = fields
    return problem


def catch_problems(app: FastAPI, report: Any) -> None:
    """Turn every exception raised by a handler into a problem response."""

    async def on_problem(_: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return problem_response(error)

    async def on_refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refused | AccessError)
        status, kind = PROBLEMS[error.code]
        return problem_response(Problem(status, kind, error.detail if isinstance(error, Refused) else str(error)))

    async def on_invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem_response(from_fields(error.errors()))

    async def on_http(_: Request, error: Exception) -> Response:
        """Errors of the framework itself: an unknown path, a method not allowed, a body that is not JSON."""
        assert isinstance(error, HTTPException)
        kind = {400: "malformed", 404: "not-found", 405: "method", 413: "too-large"}.get(error.status_code, "http")
        hint = "GET /openapi.json lists all operations" if error.status_code in (404, 405) else None
        response = problem_response(Problem(error.status_code, kind, str(error.detail), hint))
        if error.headers:
            response.headers.update(error.headers)
        return response

    async def on_log(_: Request, error: Exception) -> Response:
        why = f"the log cannot be read: {error}"
        return problem_response(Problem(503, "log", why, "run `penstock log verify` for details"))

    async def on_bug(request: Request, error: Exception) -> Response:
        report("error", "http.failed", {"method": request.method, "path": request.url.path, "error": repr(error)})
        return problem_response(Problem(500, "internal", "internal error of the broker; see its log"))

    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(Refused, on_refused)
    app.add_exception_handler(AccessError, on_refused)
    app.add_exception_handler(LogError, on_log)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_bug)
