"""A port accepts several connections in a turn, and none once it is closed."""

import asyncio
import socket

import pytest
import uvloop

from penstock.server.accepting import SOCKETS, accept_more

CLIENTS = 40


class Count(asyncio.Protocol):
    def __init__(self, made: list[int], turn: list[int], all_in: asyncio.Event) -> None:
        made.append(turn[0])
        if len(made) == CLIENTS:
            all_in.set()


def test_several_come_in_within_a_turn_and_nobody_after_the_end() -> None:
    async def run() -> list[int]:
        loop = asyncio.get_running_loop()
        made: list[int] = []
        turn, all_in = [0], asyncio.Event()

        def count() -> None:
            turn[0] += 1
            loop.call_soon(count)

        first = await loop.create_server(lambda: Count(made, turn, all_in), "127.0.0.1", 0)
        port = first.sockets[0].getsockname()[1]
        servers = await accept_more(loop, lambda: Count(made, turn, all_in), first)
        assert len(servers) == SOCKETS
        clients = [
            socket.create_connection(("127.0.0.1", port)) for _ in range(CLIENTS)
        ]  # they wait: nothing turns here
        loop.call_soon(count)
        async with asyncio.timeout(10):
            await all_in.wait()
        for server in servers:
            server.close()
        await asyncio.sleep(0)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        for client in clients:
            client.close()
        return made

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        made = runner.run(run())
    assert max(made.count(turn) for turn in made) > 1
