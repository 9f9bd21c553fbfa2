"""Starts and stops the programs under test, each in its own session and temporary directory."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.wire import HOST

START_SECONDS = 180.0
"""Enough for a server that has to read a long queue first."""

STOP_SECONDS = 10.0
POLL_SECONDS = 0.01
PR_SET_PDEATHSIG = 1


class StartFailed(Exception):
    """A server exited or stayed silent while starting; the message ends with the last lines it wrote."""


class Server:
    """One running program, identified by its pid. Its output goes to files, so that a full pipe can never block it."""

    def __init__(self, command: Sequence[str | Path], workdir: Path, env: Mapping[str, str] | None = None) -> None:
        self.port = 0
        self._name = Path(command[0]).name
        self._output = workdir / f"{self._name}.out"
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                cwd=workdir,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches only us, and we can signal the whole group.
                preexec_fn=_end_with_parent,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def wait_until(self, ready: Callable[[], bool]) -> None:
        """Returns when `ready` returns True.

        Raises:
            StartFailed: the process exited first, or was not ready in time.
        """
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if self._process.poll() is not None:
                raise StartFailed(f"{self._name} ended with {self._process.returncode}: {self.output()[-1000:]}")
            if time.monotonic() > deadline:
                raise StartFailed(f"{self._name} is not ready: {self.output()[-1000:]}")
            time.sleep(POLL_SECONDS)

    def wait_for_port(self, port: int) -> None:
        self.port = port
        self.wait_until(lambda: accepts(port))

    def stop(self, seconds: float = STOP_SECONDS) -> bool:
        """Sends SIGTERM, waits, then kills. Returns whether SIGTERM was enough. Safe to call twice."""
        if self._end(signal.SIGTERM, seconds):
            return True
        self._end(signal.SIGKILL, STOP_SECONDS)
        return False

    def kill(self) -> None:
        """Kills it: nothing that is still in its memory gets written."""
        self._end(signal.SIGKILL, STOP_SECONDS)

    def _end(self, sign: signal.Signals, seconds: float) -> bool:
        """Whether the process and its group exit in time: a script may exit before the processes it started."""
        deadline = time.monotonic() + seconds
        try:
            os.killpg(self.pid, sign)
            while time.monotonic() < deadline:
                self._process.poll()
                os.killpg(self.pid, 0)
                time.sleep(POLL_SECONDS)
        except ProcessLookupError:
            self._process.poll()
            return True
        return False


def _end_with_parent() -> None:
    """Runs in the new process: if we are killed without a chance to clean up, the kernel ends it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def accepts(port: int) -> bool:
    with socket.socket() as sock:
        sock.settimeout(1.0)
        return sock.connect_ex((HOST, port)) == 0


def find_program(name: str) -> Path | None:
    """A program of this virtual environment, otherwise of the system (Debian keeps some servers in sbin)."""
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return beside
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return Path(found) if found else None


def version_line(program: Path, *arguments: str) -> str:
    """The first line of a program's version output; empty when there is none."""
    try:
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).strip().partition("\n")[0]
