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
    400: "The body is not what its content type says.",
    401: "The broker has to know who asks: no token, or a wrong one.",
    403: "The user has no right to; or the Host is not one this broker answers to, or the Origin is another page.",
    404: "No such thing.",
    409: "It cannot be done in the present state.",
    410: "It was there, and is let go of.",
    413: "A name or a body is over its limit.",
    415: "The content type is not one this resource takes.",
    422: "A parameter or a field is wrong.",
    429: "A queue, a count, a total or a quota is over its limit, or logins failed too often.",
    501: "The extra `penstock-mq[spark]` is not installed.",
    503: "No messages are taken in at present, or the log cannot be read.",
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
