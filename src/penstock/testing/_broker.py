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
from penstock.server.node import Node
from penstock.testing._people import People, make_certificates

START_SECONDS = 20.0
REFUSAL_MICROSECONDS = 1_000


class Broker:
    """A broker on free ports, started by `with` or by `start`. Settings are those of `penstock serve`: `data=...`.

    HTTP is off unless it is asked for with `http=0`, since it takes longer to start than all the rest.

    Args:
        users: who may do what, `{"alice": ["publish orders.*", "consume *"]}`: then clients have to say who they are,
            as `options("alice")` makes them. Without it everybody may do everything.
        tls: speak TLS at every door, with certificates that are made for it; `options` trusts them.
        client: the common name in the certificate that `options(certificate=True)` shows.
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
        self.reports: list[tuple[str, str, dict[str, object]]] = []  # what it would have logged: level, event, details
        self._started = threading.Event()
        self._error: Exception | None = None
        self.fault: str | None = None  # the error inside the broker that ended it
        self.node: Node
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def address(self, protocol: str = "any") -> str:
        """Where clients of that protocol connect to."""
        return f"{self.config.host}:{self.ports[protocol]}"

    @property
    def files(self) -> Path:
        """A directory for tokens and certificates, gone when the broker has stopped."""
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="penstock-broker-")
        return Path(self._directory.name)

    @property
    def url(self) -> str:
        """Where HTTP is, if it was asked for."""
        return f"{'https' if self.is_secure else 'http'}://{self.address('http')}"

    @property
    def ca_file(self) -> str:
        """Whom to trust, for a broker that speaks TLS."""
        return str(self.files / "ca.pem") if self.is_secure else ""

    def token_file(self, user: str) -> str:
        """A file with the token of that user."""
        path = self.files / f"{user}.token"
        path.touch(mode=0o600)
        path.write_text(self.people.tokens[user] + "\n")
        return str(path)

    def options(self, user: str = "", *, certificate: bool = False, **behaviour: Any) -> Options:
        """For a client of that user."""
        said: dict[str, Any] = {"token_file": self.token_file(user)} if user else {}
        if self.is_secure:
            said["ca_file"] = self.ca_file
        if certificate:
            said |= {"cert_file": self.files / "client.pem", "key_file": self.files / "client.key"}
        return Options(**(said | behaviour))

    def call(self, work: Callable[[], object], seconds: float = START_SECONDS) -> None:
        """Run something on the broker's loop, and come back when it is done."""
        done = threading.Event()

        def run() -> None:
            work()
            done.set()

        self._loop.call_soon_threadsafe(run)
        if not done.wait(seconds):
            raise TimeoutError("the broker does not answer")

    def _reload(self) -> None:
        if self._thread.is_alive():
            self.call(self.node.keeper.reload)

    def start(self) -> Self:
        self._thread.start()
        if not self._started.wait(START_SECONDS):
            raise TimeoutError("the broker did not start")
        if self._error is not None:
            raise self._error
        return self

    def stop(self) -> None:
        """Drain and end. A second time it does nothing."""
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
            # Whoever guesses is kept waiting; a test that shows something wrong need not be.
            node.keeper.directory.lobby.delay_step = REFUSAL_MICROSECONDS
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
        """A broker of its own would exit. Here it stops as it is: nothing more is written, connections close."""
        self._stop.set()
