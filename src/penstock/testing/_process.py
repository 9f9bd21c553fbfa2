"""A broker in a separate process, as users run it."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.config import ENV_PREFIX, LISTENERS, flag_of
from penstock.testing._ports import free_ports

STOP_SECONDS = 20.0
START_TRIES = 5
TAKEN = os.strerror(errno.EADDRINUSE)


class BrokerProcess:
    """`penstock serve` on free ports. Takes its options as settings: `BrokerProcess(data=tmp_path)`.

    Args:
        log: a file to append its log to. Without one the log is read only at exit: leave `log_level` at `error`.
    """

    def __init__(self, *, log: Path | None = None, **settings: object) -> None:
        self._log = log
        self._settings: dict[str, object] = {**dict.fromkeys(LISTENERS, 0), "log_level": "error", **settings}
        if "data" not in settings:
            self._settings["memory"] = True
        self.ports: dict[str, int] = {}
        self.process: subprocess.Popen[str] | None = None

    def address(self, protocol: str = "any") -> str:
        """The address for clients of that protocol."""
        return f"{self._settings.get('host', '127.0.0.1')}:{self.ports[protocol]}"

    def start(self) -> Self:
        """Start the broker. After a stop it starts again on the same ports."""
        if self.ports:
            self._start(self.ports)
            return self
        host = str(self._settings.get("host", "127.0.0.1"))
        for tries_left in reversed(range(START_TRIES)):
            try:
                self._start(free_ports([name for name in LISTENERS if self._settings[name] == 0], host))
                break
            except RuntimeError as error:
                if not tries_left or TAKEN not in str(error):  # another process may have taken the port
                    raise
        return self

    def _start(self, chosen: dict[str, int]) -> None:
        command = [sys.executable, "-m", "penstock.cli.main", "serve"]
        for key, value in {**self._settings, **chosen}.items():
            if value is True:
                command.append(flag_of(key))
            elif value is not False:
                command += [flag_of(key), str(value)]
        env = {key: value for key, value in os.environ.items() if not key.startswith(ENV_PREFIX)}
        with contextlib.ExitStack() as stack:
            log = subprocess.PIPE if self._log is None else stack.enter_context(self._log.open("ab"))
            self.process = subprocess.Popen(  # noqa: S603 our own interpreter, our own module
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=env
            )
        assert self.process.stdout is not None
        word, _, ports = self.process.stdout.readline().partition(" ")
        if word != "ready":
            told = self.process.communicate()[1] if self._log is None else self._log.read_text()
            raise RuntimeError(f"the broker did not start: {told.strip()}")
        self.ports = json.loads(ports)

    def stop(self) -> int:
        """Stop with SIGTERM, which drains. Returns the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """Kill with SIGKILL. With a data directory, confirmed messages survive."""
        return self._end(signal.SIGKILL)

    def _end(self, number: int) -> int:
        process = self.process
        if process is None:
            return 0
        self.process = None
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return process.returncode

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
