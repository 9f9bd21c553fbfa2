"""A broker on a thread of this process."""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvloop

from penstock.client import Options
from penstock.config import LISTENERS, Config
from penstock.node import Node
from penstock.testing._people import People, make_certificates

START_SECONDS = 20.0
REFUSAL_MICROSECONDS = 1_000


class Broker:
    """A broker on free ports, started by `with` or `start`. Takes the settings of `penstock serve`, such as `data=...`.

    HTTP is off unless enabled with `http=0`, since it takes longer to start than all the rest.

    Args:
        users: users and their permissions, `{"alice": ["publish orders.*", "consume *"]}`. Clients must then
            authenticate, for example with `options("alice")`. Without it there is no authentication.
        tls: use TLS on every port, with generated certificates that `options` trusts.
        client: the common name in the client certificate of `options(certificate=True)`.
    """

    def __init__(
        self,
        *,
        users: Mapping[str, Sequence[str]] | str | Path | None = None,
        tls: bool = False,
        client: str = "client",
        **settings: object,
    ) -> None:
        self._thread = threading.Thread(target=self._run, name="penstock-broker", daemon=True)
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self.is_secure = tls
        if isinstance(users, Mapping):
            self.people = People(self.files / "users.json", self._reload)
            self.people.add(users)
            settings["users"] = self.people.path
        elif users is not None:
            settings["users"] = users
        if tls:
            make_certificates(self.files, client)
            named = {"tls_cert": "server.pem", "tls_key": "server.key", "tls_ca": "ca.pem"}
            settings = {**{key: self.files / name for key, name in named.items()}, **settings}
        ports: dict[str, object] = {**dict.fromkeys(LISTENERS, 0), "http": "off"}
        flags: dict[str, object] = {"memory": "data" not in settings, "drain_seconds": 0.2, **ports, **settings}
        self.config = Config.load(flags, {}, None)
        self.ports: dict[str, int] = {}
        self.reports: list[tuple[str, str, dict[str, object]]] = []  # its log: level, event, details
        self._started = threading.Event()
        self._error: Exception | None = None
        self.fault: str | None = None  # the internal error that stopped the broker
        self.node: Node
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def address(self, protocol: str = "any") -> str:
        """The address for clients of that protocol."""
        return f"{self.config.host}:{self.ports[protocol]}"

    @property
    def files(self) -> Path:
        """A directory for tokens and certificates, deleted when the broker stops."""
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="penstock-broker-")
        return Path(self._directory.name)

    @property
    def url(self) -> str:
        """The base URL of the HTTP API, if it is enabled."""
        return f"{'https' if self.is_secure else 'http'}://{self.address('http')}"

    @property
    def ca_file(self) -> str:
        """The CA certificate; empty without TLS."""
        return str(self.files / "ca.pem") if self.is_secure else ""

    def token_file(self, user: str) -> str:
        """The path of a file with the token of that user."""
        path = self.files / f"{user}.token"
        path.touch(mode=0o600)
        path.write_text(self.people.tokens[user] + "\n")
        return str(path)

    def options(self, user: str = "", *, certificate: bool = False, **behaviour: Any) -> Options:
        """Client options that authenticate as that user."""
        said: dict[str, Any] = {"token_file": self.token_file(user)} if user else {}
        if self.is_secure:
            said["ca_file"] = self.ca_file
        if certificate:
            said |= {"cert_file": self.files / "client.pem", "key_file": self.files / "client.key"}
        return Options(**(said | behaviour))

    def call(self, work: Callable[[], object], seconds: float = START_SECONDS) -> None:
        """Run a function on the broker's event loop, and wait until it is done."""
        done = threading.Event()

        def run() -> None:
            work()
            done.set()

        self._loop.call_soon_threadsafe(run)
        if not done.wait(seconds):
            raise TimeoutError("the broker is not responding")

    def _reload(self) -> None:
        if self._thread.is_alive():
            self.call(self.node.user_reloader.reload)

    def start(self) -> Self:
        self._thread.start()
        if not self._started.wait(START_SECONDS):
            raise TimeoutError("the broker did not start")
        if self._error is not None:
            raise self._error
        return self

    def stop(self) -> None:
        """Drain and stop. Does nothing the second time."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_SECONDS)
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            node = self.node = Node(self.config, self._report, die=self._die)
            # Failed logins are answered with a delay; tests need not wait for it.
            node.user_reloader.directory.throttle.delay_step = REFUSAL_MICROSECONDS
            self.ports = await node.start()
        except Exception as error:
            self._error = error
            return
        finally:
            self._started.set()
        await self._stop.wait()
        if self.fault is None:
            await node.stop()

    def _report(self, level: str, event: str, details: dict[str, object]) -> None:
        self.reports.append((level, event, details))
        if event == "broker.fault":
            self.fault = str(details["error"])

    def _die(self) -> None:
        """Stop without draining, where a broker process would exit: nothing more is written, connections close."""
        self._stop.set()
