"""Load runs in separate processes: publisher and reader share an interpreter neither with each other nor with us."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

_fork = multiprocessing.get_context("fork")


class WorkerFailed(Exception):
    """A worker raised, died or took too long; the message says which."""


class Worker:
    """One child process that runs `task(connection, *args)` and reports over the connection."""

    def __init__(self, task: Callable[..., None], *args: object) -> None:
        self._name = task.__name__
        self._connection, theirs = _fork.Pipe()
        self._process = _fork.Process(target=_run, args=(task, self._connection, theirs, args), daemon=True)
        self._process.start()
        theirs.close()

    def tell(self, word: object) -> None:
        self._connection.send(word)

    def report(self, timeout_seconds: float) -> Any:
        """The worker's next report.

        Raises:
            WorkerFailed: it reported a failure instead, exited, or sent nothing in time.
        """
        if not self._connection.poll(timeout_seconds):
            raise WorkerFailed(f"{self._name}: no report within {timeout_seconds:.0f} s")
        try:
            report = self._connection.recv()
        except EOFError:
            raise WorkerFailed(f"{self._name}: ended without a report") from None
        if isinstance(report, WorkerFailed):
            raise report
        return report

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._connection.close()


def _run(task: Callable[..., None], parents: Connection, connection: Connection, args: tuple[object, ...]) -> None:
    parents.close()  # Our copy of the other end; left open, it would hide the parent's death from us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent handles Ctrl-C and ends us.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # A collection in the middle of a round would be charged to the peer.
    try:
        task(connection, *args)
    except Exception as error:  # Whatever it is, the parent reports it.
        connection.send(WorkerFailed(f"{task.__name__}: {type(error).__name__}: {error}"))
