"""The console's static files: no build step, no templates, nothing loaded from other hosts.

Chart.js, which draws the plots, is in `console/vendor/` with its licences. Every file is read and compressed once, off
the event loop, and not sent again to a browser that has it (ETag).
"""

import asyncio
import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from penstock.http.permissions import AuthorizedRoute
from penstock.http.problems import not_found

FOLDER = Path(__file__).parent / "console"
INDEX = "index.html"

MEDIA_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

# The page runs only this broker's own files, and no other page may embed it.
HEADERS = {
    "cache-control": "no-cache",
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "vary": "accept-encoding",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class File:
    media_type: str
    plain: bytes
    zipped: bytes
    tag: str


def names() -> frozenset[str]:
    """All files, by their path below `/console/`."""
    return frozenset(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)


@lru_cache(maxsize=64)
def load(name: str) -> File:
    content = (FOLDER / name).read_bytes()
    media_type = MEDIA_TYPES[Path(name).suffix]
    return File(media_type, content, gzip.compress(content, mtime=0), f'"{hashlib.sha256(content).hexdigest()[:20]}"')


def routes() -> APIRouter:
    router = APIRouter(route_class=AuthorizedRoute, include_in_schema=False)
    known = names()

    @router.get("/")
    async def index(request: Request) -> Response:
        return await serve(request, INDEX)

    @router.get("/console/{name:path}")
    async def part(request: Request, name: str) -> Response:
        if name not in known:
            raise not_found(f"the console has no file {name!r}", "the console is at /")
        return await serve(request, name)

    return router


async def serve(request: Request, name: str) -> Response:
    file = await asyncio.to_thread(load, name)
    headers = {**HEADERS, "etag": file.tag}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.zipped, headers={**headers, "content-encoding": "gzip"}, media_type=file.media_type)
    return Response(file.plain, headers=headers, media_type=file.media_type)
