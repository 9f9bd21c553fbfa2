"""A proxy cuts connections at random under load: nothing confirmed is lost, and every consumer is alive at the end.

`PENSTOCK_CUT_SECONDS=60` cuts for a minute per client instead of a moment; `-rP` shows how much went through meanwhile.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from penstock.client import ClientError, Timeout, mqks, mqmq, rq, sevx, smqs
from penstock.testing import Broker

from .conftest import CUT_SECONDS, QUICK, until
from .proxy import Proxy

pytestmark = pytest.mark.timeout(120 + 2 * CUT_SECONDS)

PUBLISHERS = 4


async def is_empty(client: smqs.AsyncClient) -> bool:
    return not any((await client.stats()).values())


async def publish_meanwhile(proxy: Proxy, publish: Callable[[str], Awaitable[object]]) -> set[str]:
    """Publish from several tasks while connections are cut; the texts that were confirmed."""
    confirmed: set[str] = set()
    cutting = asyncio.create_task(proxy.cut_at_random(CUT_SECONDS, random.Random(7)))

    async def work(name: int) -> None:
        count = 0
        while not cutting.done():
            text = f"{name}-{count}"
            await publish(text)
            confirmed.add(text)
            count += 1

    await asyncio.gather(cutting, *(work(name) for name in range(PUBLISHERS)))
    assert len(confirmed) >= PUBLISHERS
    print(f"{len(confirmed)} confirmed in {CUT_SECONDS:g} s, {proxy.cuts} connections cut")  # shown by -rP
    return confirmed


def test_mqks(broker: Broker, run) -> None:
    async def work() -> None:
        received: set[str] = set()

        async def on_message(message: mqks.Message) -> None:
            received.add(message.text)
            await message.ack()

        async with (
            Proxy(broker.address("mqks")) as proxy,
            await mqks.connect(proxy.address, options=QUICK) as client,
        ):
            await client.consume("q", ["e"], on_message, manual_ack=True)
            second = await client.consume("q2", ["e"], manual_ack=True)
            confirmed = await publish_meanwhile(proxy, lambda text: client.publish("e", text, confirm=True))
            await until(lambda: confirmed <= received, "a confirmed message was lost")
            missing = set(confirmed)
            while missing:
                message = await second.get(timeout=20)
                missing.discard(message.text)
                await message.ack(confirm=len(missing) % 50 == 0)
            await client.publish("e", "still here", confirm=True)
            await until(lambda: "still here" in received, "the consumer is dead")

    run(work())


def test_sevx(broker: Broker, run) -> None:
    async def work() -> None:
        received: set[str] = set()

        def on_event(event: sevx.Event) -> None:
            received.add(event.content.text)
            event.ack()

        async with (
            Proxy(broker.address("sevx")) as proxy,
            await sevx.connect_async(proxy.address, options=QUICK) as client,
        ):
            await client.receive({"kind": "job"}, on_event, delete_queue_when_unused=False, manual_ack=True)
            confirmed = await publish_meanwhile(
                proxy, lambda text: client.send({"kind": "job", "text": text}, wait=True)
            )
            # What nobody waits for is answered as well, and sent again until it is.
            for number in range(500):
                await client.send({"kind": "job", "text": f"later-{number}"})
                if number % 100 == 0:
                    proxy.cut_all()
            confirmed |= {f"later-{number}" for number in range(500)}
            await until(lambda: confirmed <= received, "a confirmed event was lost")
            await client.send({"kind": "job", "text": "still here"}, wait=True)
            await until(lambda: "still here" in received, "the receiver is dead")

    run(work())


def test_smqs(broker: Broker, run) -> None:
    async def work() -> None:
        received: set[str] = set()
        async with (
            Proxy(broker.address("smqs")) as proxy,
            await smqs.connect(proxy.address, options=QUICK) as client,
        ):
            jobs = await client.consume("jobs")

            async def on_message(message: smqs.Message) -> None:
                received.add(message.value["text"])
                await jobs.done(1)

            jobs.handle(on_message)
            confirmed = await publish_meanwhile(
                proxy, lambda text: client.publish("jobs", {"text": text}, confirm=True)
            )
            await until(lambda: confirmed <= received, "a confirmed message was lost")
            await client.publish("jobs", {"text": "still here"}, confirm=True)
            await until(lambda: "still here" in received, "the consumer is dead")
            # What is done is done, whatever connection it came by.
            await until(lambda: is_empty(client), "something is not done")

    run(work())


def test_mqmq_puts(broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            Proxy(broker.address("mqmq")) as proxy,
            await mqmq.connect(proxy.address, options=QUICK) as client,
        ):
            confirmed = await publish_meanwhile(proxy, lambda text: client.put("jobs", text))
            while confirmed:
                confirmed.discard((await client.get("jobs", 5)).decode())

    run(work())


def test_mqmq_gets_go_on_and_lose_no_more_than_one_message_for_each_cut(broker: Broker, run) -> None:
    """In MQMQ delivered is done, so what is on its way when a connection is cut is lost with it."""

    async def work() -> None:
        async with (
            Proxy(broker.address("mqmq")) as proxy,
            await mqmq.connect(proxy.address, options=QUICK) as getter,
            await mqmq.connect(broker.address("mqmq"), options=QUICK) as putter,
        ):
            received = set[str]()
            stop = False

            async def get_all() -> None:
                while not stop:
                    try:
                        received.add((await getter.get("jobs", 0.2)).decode())
                    except Timeout:
                        continue

            getting = [asyncio.create_task(get_all()) for _ in range(3)]
            confirmed = await publish_meanwhile(proxy, lambda text: putter.put("jobs", text))
            for number in range(10):
                await putter.put("jobs", f"still here {number}")
            behind = len(confirmed - received)
            print(f"{behind} behind when the cutting ended")
            # Getting takes a round trip for each message, so what was put meanwhile may take a while.
            last = {f"still here {number}" for number in range(10)}
            await until(lambda: last <= received, "a getter is dead", 20 + 2 * CUT_SECONDS)
            assert not any(task.done() for task in getting)
            stop = True
            await asyncio.gather(*getting)
            assert len(confirmed - received) <= proxy.cuts

    run(work())


def test_rq(broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            Proxy(broker.address("rq")) as proxy,
            await rq.connect(proxy.address, options=QUICK) as client,
            await rq.connect(proxy.address, options=QUICK) as worker,
        ):
            received: set[str] = set()

            async def on_job(request: rq.Request) -> str:
                await asyncio.sleep(0)
                received.add(request.payload.decode())
                return "did " + request.payload.decode()

            await worker.consume("jobs", on_job, max=5)
            await worker.consume("letters", on_job)

            async def ask(text: str) -> None:
                assert await client.request("jobs", text) == f"did {text}".encode()
                await client.send("letters", f"letter {text}")

            confirmed = await publish_meanwhile(proxy, ask)
            wanted = {f"letter {text}" for text in confirmed}
            await until(lambda: wanted <= received, "a confirmed message was lost")
            assert await client.request("jobs", "still here") == b"did still here"

    run(work())


@pytest.mark.parametrize("module", [mqks, mqmq, smqs, rq], ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_call_that_meets_no_server_ends_in_time_and_says_why(module, broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            Proxy(broker.address(module.__name__.rpartition(".")[2])) as proxy,
            await module.connect(proxy.address, options=QUICK) as client,
        ):
            await proxy.stop()
            calls = {
                mqks: lambda: client.publish("e", "x", confirm=True, timeout=0.2),
                mqmq: lambda: client.put("q", "x", timeout=0.2),
                smqs: lambda: client.publish("q", "x", confirm=True, timeout=0.2),
                rq: lambda: client.request("q", "x", timeout=0.2),
            }
            with pytest.raises(ClientError, match=r"within 0.2 s .*127.0.0.1"):
                await calls[module]()
            await proxy.again()
            # It goes on by itself, and what was given up is not sent after all.
            if module is mqks:
                assert await client.ping("back") == "back"
            elif module is mqmq:
                assert (await client.info()).messages == 0
            elif module is smqs:
                assert not any((await client.stats()).values())

    run(work())
