"""Where the broker is, who comes, and what to say when it is not there or does not let one in.

A command that speaks a protocol takes `--addr`, one that asks HTTP takes `--server`. Without them the broker is where
`penstock serve` with the same environment would be. What says who comes is the same for all of them, so `reaching` adds
it to each: a command line runs in a process of its own, and what it says is kept here.
"""

import asyncio
import functools
import http.client
import inspect
import os
import ssl
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Annotated, Any, Self, TypeVar
from urllib.parse import urlencode, urlsplit

import orjson
import typer

from penstock.cli.exits import EXIT_DENIED, EXIT_FAILED, EXIT_NOTHING, EXIT_UNREACHABLE, Failed, Misused
from penstock.client import Options
from penstock.client._credentials import tls_of, token_of, trouble_with_tls, warn_in_clear
from penstock.client._options import Address
from penstock.client.errors import AuthFailed, ClientError, ConnectFailed, ConnectionLost, Denied, Timeout, TlsFailed

START = "start one with: penstock serve"
PORTS = {"mqks": 54321, "smqs": 2201, "sevx": 54322, "mqmq": 47774, "rq": 13700, "http": 7780}
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 where a broker listens is not where one connects to
HTTP_SECONDS = 10.0

Result = TypeVar("Result")

Addr = Annotated[
    str,
    typer.Option("--addr", metavar="HOST:PORT", help="Broker address.  [default: the protocol's port]"),
]
Server = Annotated[
    str, typer.Option("--server", metavar="URL", help="HTTP address of the broker.  [default: http://127.0.0.1:7780]")
]
Seconds = Annotated[float, typer.Option("--timeout", min=0.0, metavar="SECONDS", help="Timeout.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


TokenFile = Annotated[
    str,
    typer.Option("--token-file", metavar="FILE", envvar="PENSTOCK_TOKEN_FILE", help="File with the access token."),
]
Tls = Annotated[
    bool, typer.Option("--tls", envvar="PENSTOCK_TLS", help="Use TLS; implied by --ca-file, --cert-file or tls://.")
]
CaFile = Annotated[
    str,
    typer.Option("--ca-file", "--tls-ca", metavar="FILE", envvar="PENSTOCK_CA_FILE", help="CA to trust, in PEM."),
]
CertFile = Annotated[
    str,
    typer.Option(
        "--cert-file",
        "--tls-cert",
        metavar="FILE",
        envvar="PENSTOCK_CERT_FILE",
        help="Client certificate, in PEM.",
    ),
]
KeyFile = Annotated[
    str,
    typer.Option(
        "--key-file",
        "--tls-key",
        metavar="FILE",
        envvar="PENSTOCK_KEY_FILE",
        help="Private key, if not in --cert-file.",
    ),
]
WHO: dict[str, tuple[Any, object]] = {
    "token_file": (TokenFile, ""),
    "tls": (Tls, False),
    "ca_file": (CaFile, ""),
    "cert_file": (CertFile, ""),
    "key_file": (KeyFile, ""),
}
_said: dict[str, Any] = {}  # by the command line that is run


def reaching(command: Callable[..., None]) -> Callable[..., None]:
    """A command that connects to a broker, with the options that say who comes, and before --json as everywhere."""
    own = inspect.signature(command)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in WHO.items()
    ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own.parameters.values()]
    last = [each for each in parameters if each.name == "json"]

    @functools.wraps(command)
    def known(**given: Any) -> None:
        say_who({name: given.pop(name) for name in WHO})
        command(**given)

    ordered = [*(each for each in parameters if each.name != "json"), *added, *last]
    known.__signature__ = own.replace(parameters=ordered)  # type: ignore[attr-defined]
    known.__annotations__ = {each.name: each.annotation for each in ordered}
    return known


def say_who(said: Mapping[str, Any]) -> None:
    """What the command line says of who comes."""
    _said.clear()
    _said.update(said)


def options_for(**behaviour: Any) -> Options:
    """How a client behaves, and who it is by the command line that is run."""
    said = {name: value for name, value in _said.items() if value}
    return Options(**said, **behaviour)


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
    except (AuthFailed, Denied) as error:
        raise Failed(str(error), EXIT_DENIED) from error
    except TlsFailed as error:
        raise Failed(str(error), EXIT_UNREACHABLE) from error
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
        self._options = options_for()
        self.url = server or place_of("http")
        try:
            if "://" not in self.url:
                is_secure = tls_of(self._options, Address("", 0)) is not None
                self.url = f"{'https' if is_secure else 'http'}://{self.url}"
            parts = urlsplit(self.url)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
            if parts.username or parts.password:
                host = None  # nothing secret belongs into a command line
        except ValueError:
            scheme, host, port = "", None, None
        except TlsFailed as error:
            raise Misused(str(error)) from error
        if scheme not in ("http", "https") or not host:
            raise Misused(f"--server {server.rpartition('@')[2]}: give http://HOST:PORT")
        self._address = Address(host, port or (443 if scheme == "https" else 80), scheme == "https")
        self._connection = self._connect()

    def _connect(self) -> http.client.HTTPConnection:
        try:
            context = tls_of(self._options, self._address)
        except TlsFailed as error:
            raise Misused(str(error)) from error
        host, port, _ = self._address
        if context is None:
            return http.client.HTTPConnection(host, port, timeout=HTTP_SECONDS)
        return http.client.HTTPSConnection(host, port, timeout=HTTP_SECONDS, context=context)

    def get(self, path: str, **query: object) -> Any:
        """What the broker answers, as JSON has it."""
        return orjson.loads(self.read(path, **query))

    def read(self, path: str, **query: object) -> bytes:
        return self.ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def delete(self, path: str) -> None:
        self.ask("DELETE", path)

    def ask(self, method: str, target: str, value: object = None) -> bytes:
        """What the broker answers; `value` goes as JSON."""
        headers = {} if value is None else {"content-type": "application/json"}
        body = None if value is None else orjson.dumps(value)
        try:
            token = token_of(self._options)
            if token is not None:
                headers["authorization"] = f"Bearer {token.reveal().decode()}"
                if not self._address.tls:
                    if self._connection.sock is None:
                        self._connection.connect()
                    warn_in_clear(token, self._address, self._connection.sock)
            self._connection.request(method, target, body, headers)
            response = self._connection.getresponse()
            data = response.read()
        except AuthFailed as error:
            raise Failed(str(error), EXIT_DENIED) from error
        except ssl.SSLError as error:
            self._connection.close()
            final = trouble_with_tls(self._address, error)
            code = EXIT_DENIED if isinstance(final, AuthFailed) else EXIT_UNREACHABLE
            raise Failed(str(final or f"cannot connect to {self.url}: {error.reason}"), code) from error
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Failed(f"cannot connect to {self.url}: {reason}; {START}", EXIT_UNREACHABLE) from error
        if response.status >= 400:
            reason = f"{self.url}: {_problem(data) or response.reason}"
            if response.status == 401 and token is None:
                reason += "; give a token with --token-file or PENSTOCK_TOKEN_FILE"
            elif response.status == 401:
                reason += f"; {token} is wrong, expired or revoked"
            raise Failed(reason, EXIT_DENIED if response.status in (401, 403) else EXIT_FAILED)
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
