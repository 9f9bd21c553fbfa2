"""Responses, and their documentation in OpenAPI."""

from typing import Any

import orjson
from fastapi import Response
from pydantic import BaseModel

from penstock.http.problems import MEDIA_TYPE, ProblemShape

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"

# Any request may get these: not authenticated; not permitted, or a foreign Host or Origin; invalid; over a limit.
ALWAYS = (401, 403, 422, 429)

WORDS = {
    400: "The request is malformed, for example because the body does not match its content type.",
    401: "Authentication is required, and the credentials are missing or invalid.",
    403: "The user lacks the permission, or the `Host` or `Origin` header is not accepted.",
    404: "Not found.",
    409: "The request conflicts with the current state.",
    410: "These messages are no longer in the log.",
    413: "A name or a body exceeds its limit.",
    415: "The content type is not supported.",
    422: "A parameter or a field is invalid.",
    429: "A queue is full, a limit or quota is exceeded, or too many logins have failed.",
    501: "The extra `penstock-mq[spark]` is not installed.",
    503: "The broker does not accept messages at the moment, or the log cannot be read.",
}


# The documented responses of an operation, by status.
Documented = dict[int | str, dict[str, Any]]


def answer(content: object, status: int = 200) -> Response:
    """A JSON response. The models only describe it; a test checks that they match."""
    return Response(orjson.dumps(content), status, media_type=JSON)


def problems(*statuses: int) -> Documented:
    """The documentation of errors: these, and those that any request may get."""
    return {
        status: {
            "description": WORDS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemShape"}}},
        }
        for status in sorted({*ALWAYS, *statuses})
    }


assert ProblemShape.__name__ == "ProblemShape"  # the reference above uses this name

# Models of request bodies, for the OpenAPI document: handlers read bodies themselves, to limit their size.
BODY_SHAPES: dict[str, type[BaseModel]] = {}


def takes(shape: type[BaseModel], example: object, required: bool = True, arrow: bool = False) -> dict[str, Any]:
    """The documentation of a request body of this model."""
    BODY_SHAPES[shape.__name__] = shape
    reference = {"$ref": f"#/components/schemas/{shape.__name__}"}
    content: dict[str, Any] = {JSON: {"schema": reference, "example": example}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    return {"requestBody": {"required": required, "content": content}}
