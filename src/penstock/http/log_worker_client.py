"""The broker's side of the process that reads the log (`log_worker.py`): started on demand, restarted if it died."""

import asyncio
import contextlib
import importlib.util
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson

from penstock.core.places import Places
from penstock.http.log_worker import PACKET_MAX, Answers
from penstock.http.problems import Problem, needs_arrow, over_limit

AGAIN = "try again"
STREAMS_MAX = 32  # at once; one user may have at most half of them
BUFFER_BYTES = 1 << 20


class Readers:
    """Passes requests to the reading process, and its streams to clients."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.places = Places(STREAMS_MAX)
        self._process: asyncio.subprocess.Process | None = None
        self._control: socket.socket | None = None
        self._listening: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._ids = 0
        self._starting = asyncio.Lock()

    async def ask(self, do: str, **request: object) -> dict[str, Any]:
        """The answer of the process. Raises Problem if it reports an error."""
        answer = await (await self._send(do, request, None))
        check(answer)
        return answer

    @property
    def streams(self) -> int:
        """How many streams are being read."""
        return self.places.taken

    def check_room(self, holder: str) -> None:
        """Raises Problem if this user or address cannot read another stream now."""
        if importlib.util.find_spec("pyarrow") is None:
            raise needs_arrow()
        if not self.places.has_room(holder):
            raise over_limit(self.places.why_full(holder, "streams of the log"), "try again when one of them has ended")

    async def answer(self, start: int, end: int, client: socket.socket, head: str, holder: str) -> bool:
        """Have the process write the whole response to a client's socket; True if all of it was written.

        Raises Problem on an error before anything was written.
        """
        self.check_room(holder)
        self.places.enter(holder)
        try:
            answer = await (await self._send("stream", {"from": start, "to": end, "head": head}, client))
        finally:
            self.places.leave(holder)
        if not answer.get("begun", False):
            check(answer)
        return "error" not in answer

    async def stream(self, start: int, end: int, holder: str, do: str = "stream") -> AsyncIterator[memoryview]:
        """The Arrow stream of a range of offsets, in pieces. Returns once the first piece has arrived."""
        self.check_room(holder)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        for end_of_pair in (ours, theirs):
            end_of_pair.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        self.places.enter(holder)
        try:
            with theirs:
                answer = await self._send(do, {"from": start, "to": end}, theirs)
            pieces = self._pieces(ours, answer)
            first = await anext(pieces)
        except BaseException:
            self._end(ours, holder)
            raise
        return self._rest(ours, holder, first, pieces)

    async def _rest(
        self, ours: socket.socket, holder: str, first: memoryview, pieces: AsyncIterator[memoryview]
    ) -> AsyncIterator[memoryview]:
        try:
            yield first
            async for piece in pieces:
                yield piece
        finally:
            self._end(ours, holder)

    async def _pieces(self, ours: socket.socket, answer: "asyncio.Future[dict[str, Any]]") -> AsyncIterator[memoryview]:
        loop = asyncio.get_running_loop()
        buffer = bytearray(BUFFER_BYTES)
        view = memoryview(buffer)
        while count := await loop.sock_recv_into(ours, buffer):
            yield view[:count]
        # The stream has ended; the answer tells whether it is complete.
        check(await answer)

    def _end(self, ours: socket.socket, holder: str) -> None:
        self.places.leave(holder)
        ours.close()

    async def _send(
        self, do: str, request: dict[str, object], target: socket.socket | None
    ) -> "asyncio.Future[dict[str, Any]]":
        control = await self._started()
        self._ids += 1
        answer = asyncio.get_running_loop().create_future()
        self._answers[self._ids] = answer
        packet = orjson.dumps({"id": self._ids, "do": do, **request})
        fds = [] if target is None else [target.fileno()]
        try:
            socket.send_fds(control, [packet], fds)
        except OSError as error:
            # The process has just exited, which `_listen` is about to notice, or it cannot keep up.
            self._answers.pop(self._ids)
            raise Problem(503, "log", f"the process that reads the log does not answer: {error}", AGAIN) from error
        return answer

    async def _started(self) -> socket.socket:
        async with self._starting:
            if self._control is None:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                ours.setblocking(False)
                with theirs:
                    self._process = await asyncio.create_subprocess_exec(
                        *(sys.executable, "-m", "penstock.http.log_worker", str(theirs.fileno()), str(self.directory)),
                        pass_fds=[theirs.fileno()],
                        stdin=asyncio.subprocess.DEVNULL,
                        stdout=asyncio.subprocess.DEVNULL,
                    )
                self._control = ours
                self._listening = asyncio.get_running_loop().create_task(self._listen(ours))
            return self._control

    async def _listen(self, control: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        found_in = Answers()
        with contextlib.suppress(OSError):
            while packet := await loop.sock_recv(control, PACKET_MAX):
                found = found_in.add(packet)
                if found is None:
                    continue
                answer = self._answers.pop(found["id"], None)
                if answer is not None and not answer.done():
                    answer.set_result(found)
        # The process has exited, for whatever reason: fail pending requests. The next request starts another process.
        self._control = None
        control.close()
        answers, self._answers = self._answers, {}
        for number, answer in answers.items():
            if not answer.done():
                # It is unknown how much of the answer it had written.
                answer.set_result({"id": number, "error": "the process that reads the log has ended", "begun": True})
        if self._process is not None:
            await self._process.wait()

    async def stop(self) -> None:
        """The process exits when its control channel closes."""
        if self._control is not None and self._listening is not None:
            self._control.shutdown(socket.SHUT_RDWR)
            await asyncio.wait([self._listening])


def check(answer: dict[str, Any]) -> None:
    if "error" in answer:
        raise Problem(503, "log", f"the log cannot be read: {answer['error']}", "run `penstock log verify` for details")
