"""A port accepts several connections in a turn, and none once it is closed."""

import asyncio
import socket

import pytest
import uvloop

from penstock.server.accepting import SOCKETS, accept_more


class Count(asyncio.Protocol):
    def __init__(self, made: list[int], turn: list[int]) -> None:
        made.append(turn[0])


def test_several_come_in_within_a_turn_and_nobody_after_the_end() -> None:
    async def run() -> list[int]:
        loop = asyncio.get_running_loop()
        made: list[int] = []
        turn = [0]

        def count() -> None:
            turn[0] += 1
            loop.call_soon(count)

        first = await loop.create_server(lambda: Count(made, turn), "127.0.0.1", 0)
        port = first.sockets[0].getsockname()[1]
        servers = await accept_more(loop, lambda: Count(made, turn), [first])
        assert len(servers) == SOCKETS
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]  # they wait: nothing turns here
        loop.call_soon(count)
        async with asyncio.timeout(10):
            while len(made) < 40:  # noqa: ASYNC110
                await asyncio.sleep(0)
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
