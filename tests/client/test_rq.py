import asyncio
from dataclasses import replace

import pytest

from penstock.client import ConnectionLost, Timeout, rq
from penstock.testing import Broker

from .conftest import QUICK, until
from .proxy import Proxy


def test_what_a_handler_returns_is_the_reply(broker: Broker, run) -> None:
    async def work() -> None:
        async with await rq.connect(broker.address("rq"), options=QUICK) as client:

            async def on_sum(request: rq.Request) -> str:
                return str(sum(map(int, request.payload.split(b"+"))))

            await client.consume("sums", on_sum)
            await client.consume("echo", lambda request: request.payload)
            await client.consume("silent", lambda request: None)
            assert await client.request("sums", "2+2") == b"4"
            assert await asyncio.gather(*(client.request("echo", str(n)) for n in range(200))) == [
                str(n).encode() for n in range(200)
            ]
            assert await client.request("silent", "x") == b""

    run(work())


def test_a_handler_that_fails_leaves_the_request_to_somebody_else(broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            await rq.connect(broker.address("rq"), options=QUICK) as client,
            await rq.connect(broker.address("rq"), options=QUICK) as worker,
        ):

            def fail(request: rq.Request) -> bytes:
                raise RuntimeError("cannot do it")

            await client.consume("jobs", fail, priority=rq.HIGH)
            with pytest.raises(rq.Undelivered, match="UNDELIVERED"):
                await client.request("jobs", "x", retries=0)
            await worker.consume("jobs", lambda request: b"done", priority=rq.NORMAL)
            asked = asyncio.create_task(client.request("jobs", "x"))
            await asyncio.sleep(0)
            await client.consumers[b"jobs"].cancel()
            assert await asked == b"done"

    run(work())


def test_send_is_accepted_and_kept_for_a_consumer(broker: Broker, run) -> None:
    async def work() -> None:
        async with await rq.connect(broker.address("rq"), options=QUICK) as client:
            await client.send("letters", "one")
            await client.send("letters", "two")
            async with await client.consume("letters", max=1) as letters:
                first = await letters.get(5)
                assert (first.payload, first.queue, first.wants_reply) == (b"one", "letters", False)
                with pytest.raises(Timeout):
                    await letters.get(0.05)  # max is 1
                first.done()
                second = await letters.get(5)
                second.reject()
                assert (await letters.get(5)).payload == b"two"

    run(work())


def test_max_can_be_changed(broker: Broker, run) -> None:
    async def work() -> None:
        async with await rq.connect(broker.address("rq"), options=QUICK) as client:
            letters = await client.consume("letters", max=1)
            for number in range(3):
                await client.send("letters", str(number))
            assert (await letters.get(5)).payload == b"0"
            letters.allow(3)
            assert [(await letters.get(5)).payload for _ in range(2)] == [b"1", b"2"]

    run(work())


def test_a_broadcast_reaches_everybody(broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            await rq.connect(broker.address("rq"), options=QUICK) as one,
            await rq.connect(broker.address("rq"), options=QUICK) as two,
        ):
            consumers = [await client.consume("news", priority=rq.NONE) for client in (one, two)]
            await one.broadcast("news", "extra")
            for consumer in consumers:
                request = await consumer.get(5)
                assert request.payload == b"extra"
                assert request.is_broadcast
                request.done()

    run(work())


def test_an_exclusive_consumer_takes_over_when_the_first_has_gone(broker: Broker, run) -> None:
    async def work() -> None:
        async with await rq.connect(broker.address("rq"), options=QUICK) as client:
            first = await rq.connect(broker.address("rq"), options=QUICK)
            await first.consume("q", lambda request: b"first", exclusive=True, wait=True)
            async with await rq.connect(broker.address("rq"), options=QUICK) as second:
                waiting = await second.consume("q", lambda request: b"second", exclusive=True)
                assert await client.request("q", "x") == b"first"
                assert not waiting.consuming.is_set()
                await first.close()
                await asyncio.wait_for(waiting.consuming.wait(), 5)
                assert await client.request("q", "x") == b"second"

    run(work())


def test_what_rq_cannot_carry_is_refused(broker: Broker, run) -> None:
    async def work() -> None:
        async with await rq.connect(broker.address("rq"), options=QUICK) as client:
            with pytest.raises(ValueError, match="1 to 255"):
                await client.send("q" * 256, "x")
            with pytest.raises(ValueError, match="empty payload"):
                await client.send("q", "")
            with pytest.raises(Timeout, match=r"0\.05 s"):
                await client.request("nobody", "x", timeout=0.05)

    run(work())


def test_a_request_that_is_asked_once_ends_with_its_connection(broker: Broker, run) -> None:
    async def work() -> None:
        async with Proxy(broker.address("rq")) as proxy, await rq.connect(proxy.address, options=QUICK) as client:
            asked = asyncio.create_task(client.request("nobody", "x", once=True))
            await until(lambda: b"nobody" in broker.node.broker.queues)
            proxy.cut_all()
            with pytest.raises(ConnectionLost):
                await asked

    run(work())


# -- controllers -------------------------------------------------------------------------------------------------------


def test_a_controller_that_is_full_or_not_there_goes_to_the_back_of_the_list(broker: Broker, run) -> None:
    with Broker(connections_max=1) as full:

        async def work() -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", full.ports["rq"])
            controllers = ["127.0.0.1:1", full.address("rq"), broker.address("rq")]
            async with await rq.connect(controllers, options=QUICK) as client:
                await client.consume("echo", lambda request: request.payload)
                assert await client.request("echo", "x") == b"x"
                assert client.controller == broker.address("rq")
            writer.close()

        run(work())


def test_a_controller_that_does_not_answer_a_ping_is_replaced_by_the_next(broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            Proxy(broker.address("rq")) as proxy,
            await rq.connect([proxy.address, broker.address("rq")], options=replace(QUICK, ping_seconds=0.1)) as client,
        ):
            assert client.controller == proxy.address
            proxy.is_stuck = True
            asked = asyncio.create_task(client.request("echo", "x"))
            async with await rq.connect(broker.address("rq"), options=QUICK) as worker:
                await worker.consume("echo", lambda request: request.payload)
                assert await asyncio.wait_for(asked, 10) == b"x"
            assert client.controller == broker.address("rq")
            await until(lambda: not proxy._pairs, "dropped, as nothing was consumed on it")

    run(work())


def test_a_silent_controller_is_kept_for_what_is_consumed_on_it(broker: Broker, run) -> None:
    with Broker() as other:

        async def work() -> None:
            options = replace(QUICK, ping_seconds=0.1)
            async with (
                Proxy(broker.address("rq")) as proxy,
                await rq.connect([proxy.address, other.address("rq")], options=options) as worker,
                await rq.connect(broker.address("rq"), options=QUICK) as here,
                await rq.connect(other.address("rq"), options=QUICK) as there,
            ):
                await worker.consume("echo", lambda request: request.payload)
                assert await here.request("echo", "x") == b"x"
                proxy.is_stuck = True
                assert await there.request("echo", "y", timeout=10) == b"y"
                proxy.is_stuck = False  # it was only busy, and has work
                assert await here.request("echo", "z", timeout=10) == b"z"

        run(work())


def test_a_controller_that_closes_is_replaced_and_nothing_is_lost(run) -> None:
    with Broker() as second:
        first = Broker().start()

        async def work() -> None:
            controllers = [first.address("rq"), second.address("rq")]
            async with await rq.connect(controllers, options=QUICK) as client:
                asked = asyncio.create_task(client.request("echo", "x"))
                await until(lambda: b"echo" in first.node.broker.queues)
                await asyncio.to_thread(first.stop)
                async with await rq.connect(second.address("rq"), options=QUICK) as worker:
                    await worker.consume("echo", lambda request: request.payload)
                    assert await asyncio.wait_for(asked, 10) == b"x"
                assert client.controller == second.address("rq")

        run(work())
