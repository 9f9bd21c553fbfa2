"""Runs a member on a thread of its own, beside the event loop of the node.

    node's loop                                 thread
    submit, trim, leave ──────────────────────► member ──► stream, copy
    on_lead, on_durable, on_deposed ◄────────── member

The thread has an event loop too, for the connection to the stream. What the member tells arrives on the node's loop in
order: nothing is durable before this node leads, nor after it was deposed.
"""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from penstock.clock import Clock
from penstock.cluster.files import CopyFiles, discard
from penstock.cluster.member import Member
from penstock.cluster.replica import Replica
from penstock.cluster.stream import Stream
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.errors import Error
from penstock.log.tuning import Tuning
from penstock.report import Report
from penstock.storage.disk import Disk
from penstock.storage.durable import Pending

TICK_SECONDS = 0.05


class ConnectedStream(Stream, Protocol):
    @property
    def log_id(self) -> str:
        """Names the stream, even if another one gets its name later."""

    async def close(self) -> None: ...


class Node(Protocol):
    """What a driver tells. All are called on the node's loop."""

    def on_lead(self, broker: GuardedBroker, replica: Replica, lead: str) -> None:
        """This node leads. `lead` is the name of its leadership, for `submit`."""

    def on_durable(self, position: int, next_offset: int) -> None: ...

    def on_deposed(self, reason: str) -> None:
        """Close every session and forget the broker."""

    def on_failed(self, reason: str) -> None:
        """This node cannot go on."""


class Driver:
    """The `Owner` of the member, on its thread; and what the node calls, from its own."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], Awaitable[ConnectedStream]],
        node: Node,
        directory: Path,
        limits: Limits,
        segment_bytes_max: int,
        report: Report,
        clock: Clock,
        tuning: Tuning | None = None,
    ) -> None:
        self.name = name
        self.member: Member | None = None
        self.behind = 0  # bytes submitted that are not durable
        self._connect = connect
        self._node = node
        self._disk = Disk(directory)
        self._limits = limits
        self._segment_bytes_max = segment_bytes_max
        self._report = report
        self._clock = clock
        self._tuning = tuning
        self._stream_id = ""
        self._submitted: deque[tuple[int, int]] = deque()  # ends of blocks that are not durable: position, bytes
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)
        self._is_stopped = False
        self._stopping: asyncio.Event
        self._loop: asyncio.AbstractEventLoop | None = None

    # -- on the node's loop -----------------------------------------------------------------------------------------

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._nodes_loop = loop
        self._thread.start()

    def submit(self, lead: str, blocks: list[Pending]) -> None:
        """Blocks of the broker of this leadership. Dropped if another one has begun."""
        self._submitted += [(block.position, block.size) for block in blocks]
        self.behind += sum([block.size for block in blocks])
        self._call(lambda member: member.submit(blocks), lead)

    def trim(self, lead: str, position: int, snapshot: bytes, names: list[str]) -> None:
        self._call(lambda member: member.trim(position, snapshot, names), lead)

    def leave(self, lead: str, to: str = "") -> None:
        self._call(lambda member: member.leave(to), lead)

    def stop(self) -> None:
        """End the thread. Nothing more is told."""
        self._is_stopped = True
        if self._thread.is_alive():
            self._wake(lambda: self._stopping.set())
            self._thread.join()

    def _call(self, action: Callable[[Member], None], lead: str) -> None:
        def run() -> None:
            member = self.member
            if member is not None and member.history.lead == lead:
                action(member)

        self._wake(run)

    def _wake(self, action: Callable[[], object]) -> None:
        """Have the thread do something. If it has ended, or has not begun, there is nothing to do it for."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(action)

    def _on_lead(self, broker: GuardedBroker, replica: Replica, lead: str) -> None:
        self._submitted.clear()
        self.behind = 0
        self._node.on_lead(broker, replica, lead)

    def _on_durable(self, position: int, next_offset: int) -> None:
        while self._submitted and self._submitted[0][0] <= position:
            self.behind -= self._submitted.popleft()[1]
        self._node.on_durable(position, next_offset)

    def _tell(self, function: Callable[..., None], *arguments: object) -> None:
        def hear() -> None:
            if not self._is_stopped:  # it may have been since this was told
                function(*arguments)

        with suppress(RuntimeError):  # the node's loop is closed
            self._nodes_loop.call_soon_threadsafe(hear)

    # -- on the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except Error as error:
            self._tell(self._node.on_failed, str(error))
        except Exception as error:  # whatever it is: without this thread nothing would ever be confirmed again
            self._tell(self._node.on_failed, repr(error))

    async def _live(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_error)
        self._stopping = asyncio.Event()
        self._loop = loop
        stream = None if self._is_stopped else await self._connect_unless_stopped()
        if stream is None:
            return
        self._stream_id = stream.log_id
        member = Member(self.name, stream, self, self._report, random.Random(os.urandom(16)))
        self.member = member
        try:
            member.start(self._clock.now())
            while not self._stopping.is_set():
                await asyncio.sleep(TICK_SECONDS)
                member.tick(self._clock.now())
        finally:
            member.stop()
            await stream.close()

    async def _connect_unless_stopped(self) -> ConnectedStream | None:
        """To connect may take long, and whoever stops this driver waits."""
        connecting = asyncio.ensure_future(self._connect())
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if connecting.done():
            return connecting.result()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        return None

    def _on_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """Something was raised where nobody waits for it: the member's state cannot be trusted any more."""
        self._tell(self._node.on_failed, repr(context.get("exception") or context.get("message")))
        self._stopping.set()
        if self.member is not None:
            self.member.stop()

    def open_files(self) -> CopyFiles:
        self._disk.make()
        return CopyFiles(self._disk, self._stream_id)

    def open_replica(self, files: CopyFiles) -> Replica:
        return Replica(files, self._limits, self._segment_bytes_max, self._tuning)

    def discard_files(self) -> None:
        discard(self._disk)

    def lead(self, broker: GuardedBroker, replica: Replica) -> None:
        assert self.member is not None
        self._tell(self._on_lead, broker, replica, self.member.history.lead)

    def durable(self, position: int, next_offset: int) -> None:
        self._tell(self._on_durable, position, next_offset)

    def deposed(self, reason: str) -> None:
        self._tell(self._node.on_deposed, reason)

    def fail(self, reason: str) -> None:
        self._tell(self._node.on_failed, reason)
