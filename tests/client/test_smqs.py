from functools import partial

import pytest

from penstock.client import ServerError, smqs
from penstock.testing import Broker

from .conftest import QUICK, until
from .proxy import Proxy


async def has_left(client: smqs.AsyncClient, count: int) -> bool:
    return list((await client.stats()).values()) == [count]


def test_values_go_through_and_are_done_by_number(broker: Broker, run) -> None:
    async def work() -> None:
        async with await smqs.connect(broker.address("smqs"), options=QUICK) as client:
            users = await client.consume("users")
            for number in range(5):
                await client.publish("users", {"id": number})
            await client.publish_raw("users", b"no json")
            messages = [await users.get(5) for _ in range(6)]
            assert [message.value["id"] for message in messages[:5]] == list(range(5))
            assert messages[5].data == b"no json"
            for done, left in ((4, 2), (2, 0)):
                await client.done("users", done)
                await until(partial(has_left, client, left))

    run(work())


def test_done_after_a_reconnect_settles_nothing_that_was_not_done(broker: Broker, run) -> None:
    async def work() -> None:
        async with (
            Proxy(broker.address("smqs")) as proxy,
            await smqs.connect(broker.address("smqs"), options=QUICK) as direct,
            await smqs.connect(proxy.address, options=QUICK) as client,
        ):
            jobs = await client.consume("jobs")
            for number in range(3):
                await direct.publish("jobs", number, confirm=True)
            first = [(await jobs.get(5)).value for _ in range(3)]
            proxy.cut_all()
            again = [(await jobs.get(5)).value for _ in range(3)]
            assert first == again == [0, 1, 2]
            await jobs.done(3)  # those of the connection that is gone
            assert await direct.stats() == {"jobs": 3}
            await jobs.done(3)
            await until(lambda: has_left(direct, 0))

    run(work())


def test_a_name_with_a_colon_and_a_body_with_a_line_feed_are_refused(broker: Broker, run) -> None:
    async def work() -> None:
        async with await smqs.connect(broker.address("smqs"), options=QUICK) as client:
            with pytest.raises(ValueError, match="colon"):
                await client.publish("a:b", 1)
            with pytest.raises(ValueError, match="line feed"):
                await client.publish_raw("a", b"a\nb")
            with pytest.raises(ValueError, match="not consumed"):
                await client.done("a", 1)

    run(work())


def test_a_consumer_that_the_server_does_not_take_hears_of_it(run) -> None:
    with Broker(queues_max=1) as broker:

        async def work() -> None:
            async with await smqs.connect(broker.address("smqs"), options=QUICK) as client:
                await client.publish("one", 1, confirm=True)
                consumer = await client.consume("two")
                with pytest.raises(ServerError, match="UNKNOWN_TYPE"):
                    await consumer.get(5)

        run(work())
