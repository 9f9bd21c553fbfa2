"""Command lines run in this process, against a real broker."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from penstock.cli import main as cli
from penstock.config import Config
from penstock.testing import Broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One for all tests, so each uses names of its own."""
    with Broker(http=0, data=str(tmp_path_factory.mktemp("broker")), sync="off") as running:
        yield running


class Command:
    """A command line as a process of its own, as those need that only end by Ctrl-C or wait for stdin."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "penstock.cli.main", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
            cwd=Path(__file__).parents[2],  # where the suite runs, so that a relative PYTHONPATH holds
        )

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().rstrip("\n")

    def interrupt(self) -> tuple[int, str, str]:
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self) -> tuple[int, str, str]:
        """Nothing more on stdin, and what came of it."""
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out.decode(), err.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


class Penstock:
    """Runs command lines where the environment says which ports the broker has."""

    def __init__(self, capfdbinary: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch) -> None:
        self._captured = capfdbinary
        self._patch = patch

    def __call__(self, *arguments: object, stdin: bytes | None = None) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin or b"")))
        with pytest.raises(SystemExit) as exited:
            cli.main([str(argument) for argument in arguments])
        out, err = self._captured.readouterr()
        code = exited.value.code
        assert code is None or isinstance(code, int)
        return code or 0, out.decode(), err.decode()

    def lines(self, *arguments: object, stdin: bytes | None = None) -> list[str]:
        code, out, err = self(*arguments, stdin=stdin)
        assert (code, err) == (0, "")
        return out.splitlines()

    def json(self, *arguments: object, stdin: bytes | None = None) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines(*arguments, "--json", stdin=stdin)]

    def failure(self, *arguments: object, stdin: bytes | None = None) -> tuple[int, str]:
        """Exit code and the one line that says why."""
        code, out, err = self(*arguments, stdin=stdin)
        assert out == ""
        assert err.startswith("penstock: ")
        assert err.count("\n") == 1
        return code, err.removeprefix("penstock: ").rstrip("\n")


@pytest.fixture
def penstock(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Penstock:
    for key in (*Config.model_fields, "config"):
        monkeypatch.delenv(f"PENSTOCK_{key.upper()}", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return Penstock(capfdbinary, monkeypatch)


@pytest.fixture
def online(penstock: Penstock, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Penstock:
    """The same, with a broker where the environment says."""
    for name, port in broker.ports.items():
        monkeypatch.setenv(f"PENSTOCK_{name.upper()}", str(port))
    return penstock
