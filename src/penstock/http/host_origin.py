"""Wraps the application: decides which requests are accepted, and how a path is decoded.

**Requests.** Any web page can send requests to a broker on the user's loopback interface, and by DNS rebinding it can
even read the responses. Both carry that page's name: `Host` has the name the browser believes it is talking to,
`Origin` the requesting page. So Host has to be one of ours, and Origin, if present, has to be the page this broker
serves. Health and metrics are available under any name: they are read by machines and reveal nothing about messages.
With authentication on, the authenticator then identifies the user.

**Paths.** A name may contain any byte, even a slash. So the path is matched as it was sent, with its percent-encoding,
and the handler decodes the segment that is a name.
"""

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from penstock.auth.rights import ADMIN
from penstock.http.authenticator import HttpAuthenticator, peer_of
from penstock.http.caller import Caller, enter
from penstock.http.permissions import HEALTH_PATHS, PROBE_PATHS
from penstock.http.problems import Problem, problem_response
from penstock.http.steps import Steps

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

# For every response: it must not be cached, and its content type must not be guessed.
RESPONSE_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^][:@/?#\\\s]+))(?::[0-9]{0,5})?")
CLOSED = (b"connection", b"close")
HSTS = ((b"strict-transport-security", b"max-age=31536000"),)


class HostOriginMiddleware:
    """The outermost application."""

    def __init__(self, app: Application, hosts: frozenset[str], authenticator: HttpAuthenticator) -> None:
        self.app = app
        self.hosts = hosts
        self.authenticator = authenticator
        self.steps = Steps()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        hsts = HSTS if scope["scheme"] == "https" and is_public(name_of_host(host)) else ()

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            """Add these headers to every response; the console's files set their own."""
            if message["type"] == "http.response.start":
                for name, _ in message["headers"]:
                    if name == b"cache-control":
                        message["headers"] = [*message["headers"], *hsts]
                        break
                else:
                    message["headers"] = [*message["headers"], *RESPONSE_HEADERS, *hsts]
                connection = scope["state"]["connection"]
                if connection.is_unauthenticated or connection.is_extra():  # it is closed after its response
                    message["headers"] = [*message["headers"], CLOSED]
            await send(message)

        try:
            self._check(scope, headers, host)
            scope["path"] = scope["raw_path"].decode("ascii", "replace")
            caller = await self.authenticator.authenticate(scope, headers)
            if caller.identity is not None:
                scope["state"]["connection"].leave_unauthenticated()
            self._take_place(scope, caller)
            caller.request = f"{peer_of(scope)} {scope['method']} {scope['path']}"
            enter(caller)
        except Problem as problem:
            await problem_response(problem)(scope, receive, send_with_headers)
            return
        if scope["path"] not in HEALTH_PATHS:
            await self.steps.begin(caller.holder)
        await self.app(scope, receive, send_with_headers)

    def _take_place(self, scope: Scope, caller: Caller) -> None:
        """Raises Problem if all slots are taken. Health, metrics and administrators are always served."""
        is_served = scope["path"].startswith(PROBE_PATHS) or (caller.user is not None and caller.user.has(ADMIN))
        if not scope["state"]["connection"].take_place(caller.user, is_served):
            raise Problem(
                503,
                "no-place",
                "all connections are in use: http_connections_max is reached",
                "try again in a second",
                {"retry-after": "1"},
            )

    def _check(self, scope: Scope, headers: dict[bytes, bytes], host: str) -> None:
        """Raises Problem if this request is rejected, whoever the caller is."""
        path: str = scope["path"]
        if path.startswith(PROBE_PATHS):
            return
        if not is_ours(name_of_host(host), self.hosts):
            raise Problem(
                403,
                "wrong-host",
                f"the host name {host!r} is not accepted",
                "use the broker's IP address, or start it with --http-hosts NAME",
            )
        if scope["method"] not in SAFE_METHODS:
            origin = headers.get(b"origin")
            if origin is not None and origin.decode("latin-1") != f"{scope['scheme']}://{host}":
                origin_text = origin.decode("latin-1")
                raise Problem(403, "cross-origin", f"pages of {origin_text!r} may not change anything on this broker")
            if origin is None and headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
                raise Problem(403, "cross-origin", "pages of other origins may not change anything on this broker")


def name_of_host(host: str) -> str:
    """The Host header without its port; empty, which matches no broker, if it is not valid (RFC 9110, 7.2)."""
    found = HOST.fullmatch(host)
    return "" if found is None else found[1] or found[2]


def is_ours(name: str, hosts: frozenset[str]) -> bool:
    name = name.lower().rstrip(".")
    return name in hosts or name.endswith(".localhost") or is_address(name)


def is_public(name: str) -> bool:
    """Whether a browser should use only TLS for this name from now on. Not for localhost: other services run there."""
    name = name.lower().rstrip(".")
    return not (name == "localhost" or name.endswith(".localhost") or is_address(name))


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def hosts_of(host: str, more: str) -> frozenset[str]:
    """The names this broker answers to, besides IP addresses."""
    names = {"localhost", host, socket.gethostname(), *more.split(",")}
    return frozenset(name.strip().lower() for name in names if name.strip())
