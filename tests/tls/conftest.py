"""Brokers with TLS, certificates that are made once, and clients that speak it: sockets of Python, and openssl."""

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.auth.self_signed import make

from ..server.conftest import BrokerProcess, Client, RunningBroker


class Certificates:
    """One CA with what it signed, in a directory; `install` puts it where a broker looks."""

    def __init__(self, directory: Path, client: str = "worker-1") -> None:
        self.directory = directory
        directory.mkdir()
        for name, text in make(["localhost", "127.0.0.1"], client, 100).items():
            self[name].write_bytes(text)
            self[name].chmod(0o600)

    def __getitem__(self, name: str) -> Path:
        return self.directory / name

    def install(self, directory: Path, *names: str) -> None:
        """Replace files as a tool for renewal does: each at once, one after the other."""
        directory.mkdir(exist_ok=True)
        for name in names or ("ca.pem", "server.pem", "server.key"):
            new = directory / f"{name}.new"
            shutil.copy2(self[name], new)
            new.replace(directory / name)

    def context(self, client: "Certificates | None" = None) -> ssl.SSLContext:
        """For a client that trusts this CA, and shows the certificate another one signed."""
        context = ssl.create_default_context(cafile=self["ca.pem"])
        if client is not None:
            context.load_cert_chain(client["client.pem"], client["client.key"])
        return context


class TlsClient(Client):
    """The client of the other tests, over TLS."""

    sock: ssl.SSLSocket

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        plain = socket.create_connection(("127.0.0.1", port), timeout=20)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.sock = context.wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise
        self.buffer = b""


class TlsBroker(RunningBroker):
    """A broker whose every door speaks TLS, by the files in a directory."""

    def __init__(self, directory: Path, **settings: object) -> None:
        self.directory = directory
        files = {"tls_cert": directory / "server.pem", "tls_key": directory / "server.key"}
        super().__init__(**{**files, **settings})

    def open(self, protocol: str, context: ssl.SSLContext) -> TlsClient:
        client = TlsClient(self.ports[protocol], context)
        self._clients.append(client)
        return client

    def close_clients(self) -> None:
        for client in self._clients:
            client.close()

    def reload(self) -> None:
        """As SIGHUP does; comes back when it is done."""
        assert self.node.certificates is not None
        before = sum(self.node.certificates.reloads.values())
        self.call(self.node.reload)
        until(lambda: sum(self.node.certificates.reloads.values()) > before)  # type: ignore[union-attr]


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.005)


def s_client(port: int, *options: str | Path, text: bytes) -> tuple[int, bytes, str]:
    """What `openssl s_client` prints when this is typed into it; it ends with its input."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-quiet", "-verify_return_error", *map(str, options)],
        input=text,
        capture_output=True,
        timeout=30,
    )
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Of a CA that is not ours."""
    return Certificates(tmp_path_factory.mktemp("tls") / "others", client="worker-2")


@pytest.fixture
def start_broker(ours: Certificates, tmp_path: Path) -> Iterator[Callable[..., TlsBroker]]:
    started: list[TlsBroker] = []

    def start(**settings: object) -> TlsBroker:
        directory = tmp_path / "keys"
        ours.install(directory)
        running = TlsBroker(directory, **settings)
        running.start()
        started.append(running)
        return running

    yield start
    for running in started:
        if running.is_running():
            running.stop()
        running.close_clients()


@pytest.fixture
def broker(start_broker: Callable[..., TlsBroker]) -> TlsBroker:
    return start_broker()


@pytest.fixture
def start_process(ours: Certificates, tmp_path: Path) -> Iterator[Callable[..., BrokerProcess]]:
    started: list[BrokerProcess] = []

    def start(*arguments: str, memory: bool = True) -> BrokerProcess:
        directory = tmp_path / "keys"
        ours.install(directory)
        files = ("--tls-cert", str(directory / "server.pem"), "--tls-key", str(directory / "server.key"))
        process = BrokerProcess(*files, *arguments, memory=memory)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
