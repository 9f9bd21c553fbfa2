"""What stands before the application: who may ask, how much may be sent, and how a path is read.

**Who.** A web page elsewhere may send requests to a broker on somebody's loopback, and by giving its own name a new
address it may even read the answers. Both carry that page's name: in `Host` the name the browser believes it is talking
to, in `Origin` the page that asks. So a Host has to be one of ours, and an Origin, where there is one, has to be the
page this very broker serves. Health and metrics are read by machines under any name, and tell nothing of messages.

**How a path is read.** A name may hold any byte, a slash as well, so the path is matched as it was sent, with its
percent-encoding, and a handler decodes the segment that is a name.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from penstock.http.problems import MEDIA_TYPE, problem_content

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS = ("/healthz", "/readyz", "/metrics")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Guard:
    """The outermost application."""

    def __init__(self, app: Application, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(scope)
            if refusal is not None:
                await _send_problem(send, 403, *refusal)
                return
            scope["path"] = scope["raw_path"].decode("ascii", "replace")
        await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[str, str, str] | None:
        """Why this request is not answered, if so: type, detail, hint."""
        path: str = scope["path"]
        if path.startswith(OPEN_PATHS):
            return None
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not is_ours(name_of_host(host), self.hosts):
            return (
                "wrong-host",
                f"this broker does not answer to the name {host!r}",
                "use its address, or start it with --http-hosts NAME",
            )
        if scope["method"] not in SAFE_METHODS:
            origin = headers.get(b"origin")
            if origin is not None and origin != f"{scope['scheme']}://{host}":
                return "cross-origin", f"a page of {origin!r} may not change anything here", ""
            if origin is None and headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
                return "cross-origin", "a page from elsewhere may not change anything here", ""
        return None


def name_of_host(host: str) -> str:
    """The Host header without its port."""
    if host.startswith("["):
        return host[1 : host.find("]")]
    return host.rpartition(":")[0] if ":" in host else host


def is_ours(name: str, hosts: frozenset[str]) -> bool:
    name = name.lower().rstrip(".")
    if name in hosts or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def hosts_of(host: str, more: str) -> frozenset[str]:
    """The names this broker answers to, besides addresses."""
    names = {"localhost", host, socket.gethostname(), *more.split(",")}
    return frozenset(name.strip().lower() for name in names if name.strip())


async def _send_problem(send: Send, status: int, kind: str, detail: str, hint: str) -> None:
    content = problem_content(status, kind, detail, hint)
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
