"""MQKS and NATS over TLS, with the same certificate: the cost of encryption."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from bench.peers import nats, penstock
from bench.peers.base import Missing, Mode
from bench.servers import find_program

NATS_TLS = """
tls {{
  cert_file: "{cert}"
  key_file: "{key}"
  # As everybody else does it: without a line in clear before.
  handshake_first: true
}}
"""


@cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    """The certificates of this run, created once and deleted when the process exits."""
    program = find_program("penstock")
    if program is None:
        raise Missing("not installed: make setup")
    made = tempfile.TemporaryDirectory(prefix="bench-tls-")
    subprocess.run([program, "tls", "self-signed", made.name], check=True, stdout=subprocess.DEVNULL)
    return made


def file(name: str) -> Path:
    return Path(_directory().name) / name


class Mqks(penstock.Mqks):
    name = "penstock mqks tls"
    modes = frozenset({Mode.AUTO})
    latency = False

    def prepare(self, workdir: Path) -> None:
        super().prepare(workdir)
        self.ca = file("ca.pem")
        self._command += ["--tls-cert", file("server.pem"), "--tls-key", file("server.key")]


class Nats(nats.Core):
    name = "nats core tls"
    latency = False

    def prepare(self, workdir: Path) -> None:
        super().prepare(workdir)
        self.ca = file("ca.pem")
        config = workdir / "nats.conf"
        config.write_text(config.read_text() + NATS_TLS.format(cert=file("server.pem"), key=file("server.key")))
