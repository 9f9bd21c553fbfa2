"""Penstock itself, in memory, and MQKS, the reference for the peers and the other protocols."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar, Self

from bench.peers.base import Missing, Mode, Peer
from bench.servers import Server, find_program, version_line
from bench.wire import HOST
from penstock.cli import load_protocols
from penstock.cli.load import Exchange
from penstock.config import PROTOCOLS


class Penstock(Peer):
    """A server with all its listeners open; a subclass names the one it uses, and implements its protocol."""

    listener: ClassVar[str]
    http: ClassVar[str] = "off"

    def __init__(self) -> None:
        super().__init__()
        self._ports: dict[str, int] = {}
        self._version = ""

    def prepare(self, workdir: Path) -> None:
        program = find_program("penstock")
        if program is None:
            raise Missing("not installed: make setup")
        self._version = version_line(program, "--version")
        ports = [word for name in (*PROTOCOLS, "any") for word in (f"--{name}", "0")]
        options = [*self.storage(workdir), "--host", HOST, *ports, "--http", self.http]
        self._command, self._workdir = [program, "serve", *options], workdir

    def launch(self) -> None:
        self.server = Server(self._command, self._workdir)
        self.server.wait_until(self._is_ready)

    def share(self, running: Penstock) -> Self:
        """Uses a server that another row has started."""
        self.server, self._ports, self._version = running.server, running._ports, running._version
        return self

    @property
    def port(self) -> int:
        return self._ports[self.listener]

    def storage(self, workdir: Path) -> list[str]:
        """The options that set where messages are stored."""
        return ["--memory"]

    def version(self) -> str:
        return self._version or "penstock"

    def _is_ready(self) -> bool:
        assert self.server is not None
        for line in self.server.output().splitlines():
            if line.startswith("ready "):
                self._ports = json.loads(line.removeprefix("ready "))
                return True
        return False


class Mqks(load_protocols.Mqks, Penstock):
    name = "penstock mqks"
    listener = "mqks"
    modes = frozenset({Mode.AUTO, Mode.MANUAL})
    latency = True

    def consume_flags(self) -> bytes:
        return b" --manual-ack" if self.mode is Mode.MANUAL else b""

    def publisher_hello(self) -> list[Exchange]:
        return [Exchange(b"p ping x\n", b"p ok x\n")]

    def feedback(self, index: int) -> bytes:
        return b"a ack c %08d\n" % index if self.mode is Mode.MANUAL else b""

    def barrier(self, count: int) -> Exchange | None:
        return Exchange(b"b ping settled\n", b"b ok settled\n")


class Any(Mqks):
    """MQKS through the port that detects the protocol."""

    name = "penstock any"
    listener = "any"
    latency = False
