"""Request bodies: read up to a limit, parsed, validated.

Handlers read bodies here, not as FastAPI body parameters. FastAPI would read a body of any size and at any speed, and
parse it before the handler can check rates and memory. Here a body has a size limit and a deadline, all bodies together
have a share of the memory, JSON has a maximum number of values, and a large message is parsed in steps.
"""

import asyncio
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from penstock.core.documents import VALUES_MAX, TooMuch, loads
from penstock.http.problems import Problem, from_fields, malformed, over_limit, too_large

JSON_SIZE_MAX = 1 << 20  # of a request without messages
IDLE_SECONDS = 30.0  # a body that stalls for this long is rejected

Model = TypeVar("Model", bound=BaseModel)


class Intake:
    """Bytes read of incomplete request bodies."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes = 0
        self.bytes_max = bytes_max  # for all bodies being read at one time

    def let_hold(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max


async def read_body(request: Request, size_max: int, limit: str) -> bytes:
    """The whole body, rejected as soon as it is known to be too long."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > size_max:
        raise too_large(f"body of {length} bytes: {limit} is {size_max}")
    intake: Intake = request.app.state.intake
    pieces: list[bytes] = []
    size = 0
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(IDLE_SECONDS) as patience:
            async for piece in request.stream():
                patience.reschedule(loop.time() + IDLE_SECONDS)
                size += len(piece)
                intake.bytes += len(piece)
                if size > size_max:
                    raise too_large(f"body of more than {size_max} bytes: {limit} is {size_max}")
                if intake.bytes > intake.bytes_max:
                    raise over_limit("too many request bodies are being received", "try again in a second")
                pieces.append(piece)
    except TimeoutError:
        raise malformed(f"no more of the body arrived within {IDLE_SECONDS:.0f} seconds") from None
    except ClientDisconnect:
        raise malformed("the body ended early") from None
    finally:
        intake.bytes -= size
    return b"".join(pieces)


def media_type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def parsed(data: bytes, shape: type[Model], values_max: int = VALUES_MAX) -> Model:
    """Parse a JSON text and validate it against a model."""
    try:
        value = loads(data, values_max, len(data))  # its size was limited when it was read
    except TooMuch as error:
        raise too_large(f"the JSON body is too large: {error}") from error
    except ValueError as error:
        raise malformed(f"the body is not valid JSON: {error}") from error
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise from_fields(error.errors(include_url=False, include_input=False), "body") from error


async def read_json(request: Request, shape: type[Model], size_max: int = JSON_SIZE_MAX) -> Model:
    """The JSON body of a request; no body counts as an empty object."""
    data = await read_body(request, size_max, "the limit")
    if data and media_type_of(request) not in ("application/json", ""):
        raise wrong_media_type(media_type_of(request), "application/json")
    return parsed(data or b"{}", shape)


def wrong_media_type(given: str, *taken: str) -> Problem:
    return Problem(415, "media-type", f"content type {given!r} is not supported", f"send {' or '.join(taken)}")
