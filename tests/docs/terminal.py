"""A shell beside a broker, as a reader of the pages has it; only the ports are others."""

import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from penstock.cli.connect import PORTS
from penstock.config import ENV_PREFIX
from penstock.testing._ports import free_ports as ports_for

from .blocks import ROOT, Step, agrees

DEFAULT_PORTS = {**PORTS, "any": 7700}
SERVE = re.compile(r"(?:\.venv/bin/)?penstock serve\b")
EXIT_CODE = re.compile(r"# exit code (\d+)")
SECONDS = 200.0  # a machine may be busy, and Spark takes its time to start
ENDED = re.compile(rb"\n<<<ended (\d+)>>>\n")


def free_ports() -> dict[str, int]:
    """A port for each listener that nobody has."""
    return ports_for(DEFAULT_PORTS)


def with_ports(text: str, ports: dict[str, int]) -> str:
    """A page's default ports, replaced by those of the broker at hand, wherever they stand for one."""
    for name, port in DEFAULT_PORTS.items():
        text = re.sub(
            rf"(127\.0\.0\.1:|localhost:|127\.0\.0\.1\", |\"{name}\": ){port}\b", rf"\g<1>{ports[name]}", text
        )
    return text


class Terminal:
    """One page's: a directory, a shell that keeps its state from block to block, and the brokers it has started."""

    def __init__(self, directory: Path, ports: dict[str, int]) -> None:
        self.directory = directory
        self.ports = ports
        (directory / ".venv").symlink_to(ROOT / ".venv")
        (directory / "examples").symlink_to(ROOT / "examples")
        self._env = {key: value for key, value in os.environ.items() if not key.startswith(ENV_PREFIX)}
        self._env |= {f"{ENV_PREFIX}{name.upper()}": str(port) for name, port in ports.items()}
        self._env |= {
            "PATH": f"{Path(sys.executable).parent}:{self._env['PATH']}",
            "COLUMNS": "120",
            "PENSTOCK_STATE": str(directory / "state"),
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a short run: what counts is its start
        }
        self._brokers: list[subprocess.Popen[bytes]] = []
        self._shell = subprocess.Popen(
            ["bash", "--norc"],
            cwd=directory,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._selector = selectors.DefaultSelector()
        assert self._shell.stdout is not None
        self._selector.register(self._shell.stdout, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for broker in self._brokers:
            broker.terminate()
        codes = [broker.wait(SECONDS) for broker in self._brokers]
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()
        for process in (self._shell, *self._brokers):
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        assert set(codes) <= {0}, f"a broker ended with {codes}"

    def follow(self, step: Step) -> None:
        """Run a command; it must end well, and say what the page shows, if it shows anything."""
        command = with_ports(step.command, self.ports)
        if SERVE.match(command):
            code, came = 0, self._serve(command)
        else:
            code, came = self._run(command)
        wanted = EXIT_CODE.search(command)
        assert code == (int(wanted[1]) if wanted else 0), f"{command}\nexit code {code}\n{came}"
        shown = with_ports("\n".join(step.output), self.ports).splitlines()
        assert not shown or agrees(shown, came), f"{command}\ncame:\n{came}\nshown:\n" + "\n".join(shown)

    def _run(self, command: str) -> tuple[int, str]:
        assert self._shell.stdin is not None
        # Nothing to read for the command: it would be what comes behind it.
        self._shell.stdin.write(b"{ %b\n} < /dev/null\nprintf '\\n<<<ended %%d>>>\\n' $?\n" % command.encode())
        self._shell.stdin.flush()
        heard = b""
        deadline = time.monotonic() + SECONDS
        while not (ended := ENDED.search(heard)):
            assert self._selector.select(deadline - time.monotonic()), f"{command}\nwithout an end:\n{heard.decode()}"
            data = os.read(self._out(), 1 << 16)
            assert data, f"{command}\nended the shell:\n{heard.decode()}"
            heard += data
        return int(ended[1]), heard[: ended.start()].decode()

    def _out(self) -> int:
        assert self._shell.stdout is not None
        return self._shell.stdout.fileno()

    def _serve(self, command: str) -> str:
        """A broker takes the terminal it was started in, so it gets one of its own; comes back when it is ready."""
        where = self._run("pwd")[1].strip()
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=where,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._brokers.append(process)
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith("ready "), f"{command}\nsaid {line!r}"
        self.ports |= json.loads(line.removeprefix("ready "))
        return line


def has_tools(text: str) -> bool:
    """Whether the programs are there that a block needs and Penstock does not bring."""
    return all(shutil.which(name) is not None for name in ("curl",) if re.search(rf"\b{name} ", text))
