import asyncio

import pytest

from penstock.client import ServerError, mqmq
from penstock.client.mqmq import Client, Timeout
from penstock.testing import Broker

from .conftest import QUICK, until


async def has_connections(client: mqmq.AsyncClient, count: int) -> bool:
    return (await client.info()).connections == count


def test_as_the_text_shows_it(broker: Broker) -> None:
    client = Client(QUICK).connect(broker.address("mqmq"))
    for number in range(10):
        client.put("queue1", f"message #{number}")
    assert client.info().queues == {"queue1": 10}
    received = 0
    while received < 10:
        try:
            message = client.get("queue1", timeout=60)
        except Timeout:
            continue
        assert message == f"message #{received}".encode()
        received += 1
    with pytest.raises(Timeout, match=r"queue1.*0\.01 s"):
        client.get("queue1", timeout=0.01)
    client.disconnect()


def test_gets_wait_side_by_side_and_puts_do_not_wait_for_them(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqmq.connect(broker.address("mqmq"), options=QUICK) as client:
            getting = [asyncio.create_task(client.get(f"q{number}", 20)) for number in range(10)]
            await until(lambda: has_connections(client, 11))
            for number in reversed(range(10)):
                await client.put(f"q{number}", b"\0\n" * number)
            assert await asyncio.gather(*getting) == [b"\0\n" * number for number in range(10)]
            assert await asyncio.gather(*(client.put("q", str(n)) for n in range(100))) == [None] * 100
            assert [await client.get("q") for _ in range(100)] == [str(n).encode() for n in range(100)]

    run(work())


def test_a_get_that_is_cancelled_takes_no_message(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqmq.connect(broker.address("mqmq"), options=QUICK) as client:
            getting = asyncio.create_task(client.get("q", 20))
            await until(lambda: has_connections(client, 2))
            getting.cancel()
            await asyncio.wait([getting])
            await until(lambda: has_connections(client, 1))
            await client.put("q", b"x")
            assert await client.get("q") == b"x"

    run(work())


def test_what_the_server_refuses_is_an_error_with_its_word(run) -> None:
    with Broker(queue_length_max=1) as broker:

        async def work() -> None:
            async with await mqmq.connect(broker.address("mqmq"), options=QUICK) as client:
                await client.put("q", b"1")
                with pytest.raises(ServerError) as caught:
                    await client.put("q", b"2")
                assert caught.value.code == "REQUEST_QUEUE_FULL"
                with pytest.raises(ValueError, match="1024"):
                    await client.put("q" * 1025, b"x")
                with pytest.raises(ValueError, match="3600"):
                    await client.get("q", 3601)
                assert await client.get("q") == b"1"

        run(work())


def test_a_large_message_goes_through(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqmq.connect(broker.address("mqmq"), options=QUICK) as client:
            body = bytes(range(256)) * 80_000
            await client.put("q", body)
            assert await client.get("q", 10) == body

    run(work())


def test_a_client_says_Quit_before_it_goes(run) -> None:
    async def work() -> None:
        heard = bytearray()
        ended = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(1000):
                heard.extend(data)
                if heard.endswith(b"x"):
                    writer.write(mqmq.encode(b"OK"))
            ended.set()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            client = await mqmq.connect(server.sockets[0].getsockname()[:2], options=QUICK)
            await client.put("q", "x")
            await client.disconnect()
            await asyncio.wait_for(ended.wait(), 10)
        assert heard.endswith(mqmq.encode(b"Put", b"q", b"x") + mqmq.encode(b"Quit"))

    run(work())
