"""A broker on a thread of this process."""

import asyncio
import threading
from types import TracebackType
from typing import Self

import uvloop

from penstock.config import LISTENERS, Config
from penstock.server.node import Node

START_SECONDS = 20.0


class Broker:
    """A broker on free ports, started by `with` or by `start`. Settings are those of `penstock serve`: `data=...`.

    HTTP is off unless it is asked for with `http=0`, since it takes longer to start than all the rest.
    """

    def __init__(self, **settings: object) -> None:
        ports: dict[str, object] = {**dict.fromkeys(LISTENERS, 0), "http": "off"}
        flags: dict[str, object] = {"memory": "data" not in settings, "drain_seconds": 0.2, **ports, **settings}
        self.config = Config.load(flags, {}, None)
        self.ports: dict[str, int] = {}
        self.reports: list[tuple[str, str, dict[str, object]]] = []  # what it would have logged: level, event, details
        self._thread = threading.Thread(target=self._run, name="penstock-broker", daemon=True)
        self._started = threading.Event()
        self._error: Exception | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def address(self, protocol: str = "any") -> str:
        """Where clients of that protocol connect to."""
        return f"{self.config.host}:{self.ports[protocol]}"

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
            node = Node(self.config, lambda level, event, details: self.reports.append((level, event, details)))
            self.ports = await node.start()
        except Exception as error:
            self._error = error
            return
        finally:
            self._started.set()
        await self._stop.wait()
        await node.stop()
