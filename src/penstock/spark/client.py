"""HTTP client for a broker: retries while it is unavailable, raises when it refuses.

A failed connection, or a broker that is shutting down or overloaded (503, 429), is retried on each server in turn, with
growing pauses, for up to `retryFor`. Any other refusal is raised at once, with the broker's own message; so is a
rejected token or client certificate, and a broker whose certificate is not trusted.
"""

from __future__ import annotations

import http.client
import io
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import orjson
import pyarrow as pa

from penstock.client._credentials import Token, trouble_with_tls, warn_in_clear
from penstock.client._options import Address
from penstock.client.errors import AuthFailed
from penstock.errors import Error
from penstock.spark.options import Connection

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
PAUSE_FIRST = 0.1
PAUSE_MAX = 5.0

Answer = TypeVar("Answer")


class BrokerUnreachable(Error):
    """No broker answered in time."""


class BrokerDistrusted(Error):
    """A server answered, but its certificate is not trusted or it does not use TLS."""


class BrokerRefused(Error):
    """The broker refused the request."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return BrokerRefused, (self.status, self.kind, str(self))


class TryAgain(Exception):
    """A failure that may be temporary."""


class BrokerClient:
    """A client of one broker, which may have several addresses. Keeps its connection open; not thread-safe."""

    def __init__(self, options: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        self.options = options
        self._clock = clock
        self._turn = 0  # index of the current server
        self._connection: http.client.HTTPConnection | None = None
        self._token: Token | None = None  # sent with the last request

    def __repr__(self) -> str:
        return f"<BrokerClient {','.join(self.options.servers)}>"

    def get(self, path: str, **parameters: object) -> Any:
        return self._json("GET", path, None, parameters)

    def post(self, path: str, value: object = None, **parameters: object) -> Any:
        return self._json("POST", path, value, parameters)

    def put(self, path: str, value: object = None, **parameters: object) -> Any:
        return self._json("PUT", path, value, parameters)

    def delete(self, path: str) -> Any:
        return self._json("DELETE", path, None, {})

    def post_arrow(self, path: str, batches: list[pa.RecordBatch], **parameters: object) -> Any:
        """POST batches, all of one schema."""
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        body = sink.getvalue()
        return self.patiently(lambda: self._answer("POST", _target(path, parameters), body, ARROW))

    def take_arrow(self, path: str, value: object, **parameters: object) -> tuple[pa.Table, Mapping[str, str]]:
        """POST; return the whole Arrow stream of the answer and its headers. Not retried here: it takes messages."""
        response = self._request("POST", _target(path, parameters), orjson.dumps(value), JSON)
        data = response.read()
        if response.status >= 400:
            raise self._refusal(response, data)
        return pa.ipc.open_stream(data).read_all(), dict(response.headers.items())

    def open_arrow(self, path: str, **parameters: object) -> Iterator[pa.RecordBatch]:
        """Yield the batches of an Arrow stream. Raises TryAgain if it breaks, at the start or in the middle."""
        response = self._request("GET", _target(path, parameters), None, None)
        if response.status >= 400:
            raise self._refusal(response, response.read())
        try:
            with pa.ipc.open_stream(response) as reader:
                yield from reader
            response.read()
        except (pa.ArrowException, OSError, http.client.HTTPException) as error:
            raise TryAgain(f"the stream was interrupted: {error}") from error
        finally:
            # A connection cannot be reused before its stream was read to the end.
            if not response.isclosed():
                self.close()

    def patiently(self, ask: Callable[[], Answer]) -> Answer:
        """Retry until there is an answer, or `retryFor` is over."""
        patience = Patience(self.options, self._clock)
        while True:
            try:
                return ask()
            except TryAgain as error:
                self.close()
                self._turn += 1
                patience.wait(error)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _json(self, method: str, path: str, value: object, parameters: Mapping[str, object]) -> Any:
        body = None if value is None else orjson.dumps(value)
        return self.patiently(lambda: self._answer(method, _target(path, parameters), body, JSON))

    def _answer(self, method: str, target: str, body: bytes | None, kind: str) -> Any:
        response = self._request(method, target, body, kind)
        try:
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise TryAgain(str(error) or type(error).__name__) from error
        if response.status >= 400:
            raise self._refusal(response, data)
        return orjson.loads(data) if data else None

    def _refusal(self, response: http.client.HTTPResponse, data: bytes) -> Exception:
        return refusal_of(response, data, self._token)

    def _request(self, method: str, target: str, body: bytes | None, kind: str | None) -> http.client.HTTPResponse:
        headers = {}
        if kind is not None and body is not None:
            headers["content-type"] = kind
        self._token = self.options.token()
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token.reveal().decode()}"
        while True:
            is_kept = self._connection is not None
            try:
                if self._connection is None:
                    self._connection = self._connect()
                if self._token is not None and not isinstance(self._connection, http.client.HTTPSConnection):
                    if self._connection.sock is None:
                        self._connection.connect()
                    warn_in_clear(self._token, self._address, self._connection.sock)
                self._connection.request(method, target, body, headers)
                return self._connection.getresponse()
            except ssl.SSLError as error:
                self.close()
                if not (is_kept and isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)):
                    raise self._distrust(error) from error
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # A broker closes idle connections; that does not mean it is unavailable.
                if not (is_kept and isinstance(error, ConnectionError)):
                    raise TryAgain(str(error) or type(error).__name__) from error

    def _distrust(self, error: ssl.SSLError) -> Exception:
        final = trouble_with_tls(self._address, error)
        if isinstance(final, AuthFailed):
            return BrokerRefused(401, "unauthorized", f"{final} (options certFile, keyFile)")
        if final is not None:
            return BrokerDistrusted(f"{final} (option caFile)")
        return TryAgain(error.reason or str(error))

    def _connect(self) -> http.client.HTTPConnection:
        host, port, is_secure = self._address
        if is_secure:
            context = self.options.tls(host, port)
            return http.client.HTTPSConnection(host, port, timeout=self.options.timeout, context=context)
        return http.client.HTTPConnection(host, port, timeout=self.options.timeout)

    @property
    def _address(self) -> Address:
        """The address of the current server."""
        server = urlsplit(self.options.servers[self._turn % len(self.options.servers)])
        assert server.hostname is not None
        is_secure = server.scheme == "https"
        return Address(server.hostname, server.port or (443 if is_secure else 80), is_secure)


class Patience:
    """Limits how long to retry, and how long to pause before each attempt."""

    def __init__(self, options: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        self._options = options
        self._clock = clock
        self._began = clock()
        self._tries = 0
        self._pause = PAUSE_FIRST

    def wait(self, error: Exception) -> None:
        """Pause after a failed attempt. Raises BrokerUnreachable if it was the last."""
        self._tries += 1
        spent = self._clock() - self._began
        if spent + self._pause > self._options.retry_for:
            servers = ", ".join(self._options.servers)
            tries = "once" if self._tries == 1 else f"{self._tries} times in {spent:.1f} s"
            raise BrokerUnreachable(
                f"no broker answers at {servers} (tried {tries}; option retryFor): {error}"
            ) from error
        time.sleep(self._pause)
        self._pause = min(self._pause * 2, PAUSE_MAX)

    def relax(self) -> None:
        """Reset after progress."""
        self._began = self._clock()
        self._tries = 0
        self._pause = PAUSE_FIRST


def refusal_of(response: http.client.HTTPResponse, data: bytes, token: Token | None = None) -> Exception:
    """Turn the broker's problem+json into an exception with a one-line message."""
    try:
        problem = orjson.loads(data)
    except orjson.JSONDecodeError:
        problem = {}
    detail = problem.get("detail") or problem.get("title") or response.reason
    hint = f"; {problem['hint']}" if problem.get("hint") else ""
    kind = str(problem.get("type", "")).rpartition("/")[2]
    message = f"the broker refused the request ({response.status} {kind or response.reason}): {detail}{hint}"
    if response.status == 401:
        message += f"; sent {token}" if token is not None else "; no token was sent: set tokenFile"
    if response.status in (429, 503):
        return TryAgain(message)
    return BrokerRefused(response.status, kind, message)


def name_in_path(name: str) -> str:
    return quote(name, safe="")


def _target(path: str, parameters: Mapping[str, object]) -> str:
    given = {key.rstrip("_"): value for key, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path
