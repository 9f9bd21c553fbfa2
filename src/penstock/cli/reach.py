"""Where the broker is, and what to say when it is not there.

A command that speaks a protocol takes `--addr`, one that asks HTTP takes `--server`. Without them the broker is where
`penstock serve` with the same environment would be.
"""

import asyncio
import http.client
import os
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import Annotated, Any, Self, TypeVar
from urllib.parse import urlencode, urlsplit

import orjson
import typer

from penstock.cli.exits import EXIT_FAILED, EXIT_NOTHING, EXIT_UNREACHABLE, Failed, Misused
from penstock.client.errors import ClientError, ConnectFailed, ConnectionLost, Timeout

START = "start one with: penstock serve"
PORTS = {"mqks": 54321, "smqs": 2201, "sevx": 54322, "mqmq": 47774, "rq": 13700, "http": 7780}
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 where a broker listens is not where one connects to
HTTP_SECONDS = 10.0

Result = TypeVar("Result")

Addr = Annotated[str, typer.Option("--addr", metavar="HOST:PORT", help="Where the broker is.  [default: its own port]")]
Server = Annotated[
    str, typer.Option("--server", metavar="URL", help="The broker's HTTP.  [default: http://127.0.0.1:7780]")
]
Seconds = Annotated[float, typer.Option("--timeout", min=0.0, metavar="SECONDS", help="How long it may take.")]
Json = Annotated[bool, typer.Option("--json", help="For machines: one JSON object a line.")]


def place_of(protocol: str, env: Mapping[str, str] = os.environ) -> str:
    """The address of a protocol's port, by the settings that `penstock serve` would take from this environment."""
    host = env.get("PENSTOCK_HOST") or "127.0.0.1"
    host = EVERYWHERE.get(host, host)
    said = env.get(f"PENSTOCK_{protocol.upper()}", "").strip()
    port = int(said) if said.isascii() and said.isdigit() and 0 < int(said) < 65536 else PORTS[protocol]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """What the work gives, with the clients' errors as ours."""
    try:
        return asyncio.run(work)
    except ConnectFailed as error:
        raise Failed(f"{error}; {START}", EXIT_UNREACHABLE) from error
    except ConnectionLost as error:
        raise Failed(str(error), EXIT_UNREACHABLE) from error
    except Timeout as error:
        raise Failed(str(error), EXIT_NOTHING) from error
    except ClientError as error:
        raise Failed(str(error), EXIT_FAILED) from error
    except ValueError as error:  # what a protocol cannot carry, or no address
        raise Misused(str(error)) from error


class Api:
    """The broker's HTTP."""

    def __init__(self, server: str) -> None:
        self.url = server or f"http://{place_of('http')}"
        try:
            parts = urlsplit(self.url if "://" in self.url else f"http://{self.url}")
            scheme, host, port = parts.scheme, parts.hostname, parts.port
        except ValueError:
            scheme, host, port = "", None, None
        if scheme not in ("http", "https") or not host:
            raise Misused(f"--server {server}: give http://HOST:PORT")
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self._connection = kind(host, port, timeout=HTTP_SECONDS)

    def get(self, path: str, **query: object) -> Any:
        """What the broker answers, as JSON has it."""
        return orjson.loads(self.read(path, **query))

    def read(self, path: str, **query: object) -> bytes:
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def delete(self, path: str) -> None:
        self._ask("DELETE", path)

    def _ask(self, method: str, target: str) -> bytes:
        try:
            self._connection.request(method, target)
            response = self._connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Failed(f"cannot connect to {self.url}: {reason}; {START}", EXIT_UNREACHABLE) from error
        if response.status >= 400:
            raise Failed(f"{self.url}: {_problem(data) or response.reason}")
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def _problem(data: bytes) -> str:
    try:
        return str(orjson.loads(data)["detail"])
    except (ValueError, KeyError, TypeError):
        return ""
