"""A TCP proxy that cuts the connections through it, at random or when told to."""

import asyncio
import contextlib
import random

CUTS_MIN = 6


class Proxy:
    """Forwards 127.0.0.1:`port` to a server; `cut` ends connections without a goodbye, in the middle of whatever."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._server: asyncio.Server
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cuts = 0
        self.connections = 0
        self.swallowed = 0  # bytes
        self.is_stuck = False  # takes bytes and passes none on

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Refuse connections from now on."""
        self._server.close()
        self.cut_all()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def again(self) -> None:
        """Accept connections again, on the old port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    def cut_all(self) -> None:
        for pair in list(self._pairs):
            self._cut(pair)

    def cut_one(self, chance: random.Random) -> None:
        if self._pairs:
            self._cut(chance.choice(sorted(self._pairs, key=lambda pair: id(pair[0]))))

    async def cut_at_random(self, seconds: float, chance: random.Random) -> None:
        """One connection every few hundredths of a second, for that long, and longer on a machine that is too busy."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end or self.cuts < CUTS_MIN:
            await asyncio.sleep(chance.uniform(0.005, 0.1))
            self.cut_one(chance)

    def _cut(self, pair: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self._pairs.discard(pair)
        self.cuts += 1
        for writer in pair:
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        ends = [writer]
        pair = None
        try:
            upstream_reader, upstream = await asyncio.open_connection(*self._target)
            ends.append(upstream)
            pair = writer, upstream
            self._pairs.add(pair)
            await asyncio.gather(self._forward(reader, upstream), self._forward(upstream_reader, writer))
        except (OSError, asyncio.CancelledError):
            pass  # refused, or stopped
        finally:
            if pair is not None:
                self._pairs.discard(pair)
            for end in ends:
                end.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.is_stuck:
                    self.swallowed += len(data)
                else:
                    writer.write(data)
                    await writer.drain()
        writer.close()
