"""Connecting to a broker: its address, the credentials, and the errors as one line.

Commands over a protocol take `--addr`, commands over HTTP take `--server`. The default is where `penstock serve` with
the same environment would listen. `with_credentials` adds the options for tokens and TLS, which are the same for all
commands; their values are kept here, since a process runs one command line.
"""

import asyncio
import functools
import http.client
import inspect
import os
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlencode, urlsplit

import orjson
import typer

from penstock.cli.exits import EXIT_DENIED, EXIT_FAILED, EXIT_NOTHING, EXIT_UNREACHABLE, Failed, UsageError
from penstock.client import Options
from penstock.client._credentials import tls_of, token_of, trouble_with_tls, warn_in_clear
from penstock.client._options import Address
from penstock.client.errors import AuthFailed, ClientError, ConnectFailed, ConnectionLost, Denied, Timeout, TlsFailed

START_HINT = "start one with: penstock serve"
PORTS = {"mqks": 54321, "smqs": 2201, "sevx": 54322, "mqmq": 47774, "rq": 13700, "http": 7780}
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 a broker may listen there, a client connects here
HTTP_SECONDS = 10.0

Result = TypeVar("Result")

Via = Literal["mqks", "smqs", "sevx", "mqmq", "rq"]
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
CREDENTIALS: dict[str, tuple[Any, object]] = {
    "token_file": (TokenFile, ""),
    "tls": (Tls, False),
    "ca_file": (CaFile, ""),
    "cert_file": (CertFile, ""),
    "key_file": (KeyFile, ""),
}
_credentials: dict[str, Any] = {}  # of the command line that is run


def with_credentials(command: Callable[..., None]) -> Callable[..., None]:
    """A command that connects to a broker, with the options for tokens and TLS."""

    def call(**given: Any) -> None:
        use_credentials({name: given.pop(name) for name in CREDENTIALS})
        command(**given)

    return with_options(command, inspect.signature(command).parameters.values(), CREDENTIALS, call)


def with_options(
    command: Callable[..., None],
    own: Iterable[inspect.Parameter],
    added: Mapping[str, tuple[Any, object]],
    call: Callable[..., None],
) -> Callable[..., None]:
    """`call` as a command with the name and help of `command`: its own parameters, the added ones, and --json last."""
    parameters = [
        *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in added.items()
        ),
    ]
    parameters.sort(key=lambda each: each.name == "json")
    functools.update_wrapper(call, command)
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def use_credentials(values: Mapping[str, Any]) -> None:
    _credentials.clear()
    _credentials.update(values)


def client_options(**options: Any) -> Options:
    """Options for a client, with the credentials of the command line."""
    return Options(**{name: value for name, value in _credentials.items() if value}, **options)


def default_address(protocol: str, env: Mapping[str, str] = os.environ) -> str:
    """The address of a protocol's port, by the settings that `penstock serve` would take from this environment."""
    value = env.get(f"PENSTOCK_{protocol.upper()}", "").strip()
    port = int(value) if value.isascii() and value.isdigit() and 0 < int(value) < 65536 else PORTS[protocol]
    return address_at(env.get("PENSTOCK_HOST") or "127.0.0.1", port)


def address_at(host: str, port: int) -> str:
    """The address to connect to if a broker listens there."""
    host = ANY_ADDRESS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def ask(
    connect: Callable[..., Awaitable[Any]],
    address: str,
    request: Callable[[Any], Awaitable[Result]],
    **options: Any,
) -> Result:
    """Connects, sends one request and returns its result."""

    async def work() -> Result:
        async with await connect(address, options=client_options(**options)) as client:
            return await request(client)

    return run(work())


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine, with the clients' errors as ours."""
    try:
        return asyncio.run(work)
    except (AuthFailed, Denied) as error:
        raise Failed(str(error), EXIT_DENIED) from error
    except (TlsFailed, ConnectionLost) as error:
        raise Failed(str(error), EXIT_UNREACHABLE) from error
    except ConnectFailed as error:
        raise Failed(f"{error}; {START_HINT}", EXIT_UNREACHABLE) from error
    except Timeout as error:
        raise Failed(str(error), EXIT_NOTHING) from error
    except ClientError as error:
        raise Failed(str(error), EXIT_FAILED) from error
    except ValueError as error:  # a body the protocol cannot carry, or an invalid address
        raise UsageError(str(error)) from error


class Api:
    """The broker's HTTP API."""

    def __init__(self, server: str) -> None:
        self._options = client_options()
        self.url = server or default_address("http")
        try:
            if "://" not in self.url:
                is_secure = tls_of(self._options, Address("", 0)) is not None
                self.url = f"{'https' if is_secure else 'http'}://{self.url}"
            parts = urlsplit(self.url)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
            if parts.username or parts.password:
                host = None  # no secrets on a command line
        except ValueError:
            scheme, host, port = "", None, None
        except TlsFailed as error:
            raise UsageError(str(error)) from error
        if scheme not in ("http", "https") or not host:
            raise UsageError(f"--server {server.rpartition('@')[2]}: give http://HOST:PORT")
        self._address = Address(host, port or (443 if scheme == "https" else 80), scheme == "https")
        self._connection = self._connect()

    def _connect(self) -> http.client.HTTPConnection:
        try:
            context = tls_of(self._options, self._address)
        except TlsFailed as error:
            raise UsageError(str(error)) from error
        host, port, _ = self._address
        if context is None:
            return http.client.HTTPConnection(host, port, timeout=HTTP_SECONDS)
        return http.client.HTTPSConnection(host, port, timeout=HTTP_SECONDS, context=context)

    def get(self, path: str, **query: object) -> Any:
        """The answer, decoded from JSON."""
        return orjson.loads(self.read(path, **query))

    def read(self, path: str, **query: object) -> bytes:
        return self.request("GET", f"{path}?{urlencode(query)}" if query else path)

    def delete(self, path: str) -> None:
        self.request("DELETE", path)

    def request(self, method: str, target: str, value: object = None) -> bytes:
        """The body of the answer; `value` is sent as JSON."""
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
            raise Failed(f"cannot connect to {self.url}: {reason}; {START_HINT}", EXIT_UNREACHABLE) from error
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
