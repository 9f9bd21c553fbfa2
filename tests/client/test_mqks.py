import asyncio

import pytest

from penstock.client import Closed, ConnectFailed, ServerError, Timeout, mqks, mqmq
from penstock.testing import Broker

from .conftest import QUICK, until


def test_a_message_goes_from_publish_to_a_consumer(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            async with await client.consume("q", ["e", "f"]) as consumer:
                id = await client.publish("e", "héllo  world", confirm=True)
                await client.publish("f", b"\xff bytes")
                first, second = await consumer.get(5), await consumer.get(5)
            assert (first.id, first.event, first.text, first.retry) == (id, "e", "héllo  world", 0)
            assert (second.event, second.data) == ("f", b"\xff bytes")
            assert len(id) == 24

    run(work())


NAMES = ["a,b", ",", "a=1,b=2", "a%2Cb", "100%,x", "retry=1,encoding=base64", "ü,%20"]


@pytest.mark.parametrize("name", NAMES)
def test_any_event_and_any_queue_is_read_back_as_it_was_named(broker: Broker, run, name: str) -> None:
    async def work() -> None:
        async with (
            await mqks.connect(broker.address("mqks"), options=QUICK) as client,
            await mqmq.connect(broker.address("mqmq"), options=QUICK) as putter,
            await client.consume(name, [name], manual_ack=True) as consumer,
        ):
            await client.publish(name, "published")
            published = await consumer.get(5)
            await putter.put(name, b"put\n")
            put = await consumer.get(5)
            await put.reject()
            again = await consumer.get(5)
            assert [(each.event, each.retry, each.data) for each in (published, put, again)] == [
                (name, 0, b"published"),
                (name, 0, b"put\n"),
                (name, 1, b"put\n"),
            ]

    run(work())


@pytest.mark.parametrize(
    ("properties", "event", "retry"),
    [
        (b"event=a,b=c,retry=2", "a,b=c", 2),  # as a server does that escapes nothing
        (b"event=a%20b", "a%20b", 0),
        (b"event=a%20b%25,escaped=event,retry=1", "a b%", 1),
        (b"event=,retry=x", ",retry=x", 0),
    ],
)
def test_properties_are_read_in_any_order_and_what_is_none_is_the_event(
    broker: Broker, run, properties: bytes, event: str, retry: int
) -> None:
    async def work() -> None:
        async with (
            await mqks.connect(broker.address("mqks"), options=QUICK) as client,
            await client.consume("q", ["e"]) as consumer,
        ):
            message = consumer.message_of(b"m " + properties + b" x y")
            assert (message.id, message.event, message.retry, message.data) == ("m", event, retry, b"x y")

    run(work())


def test_a_callback_gets_messages_one_after_the_other_and_what_it_fails_on_comes_again(broker: Broker, run) -> None:
    async def work() -> None:
        seen: list[tuple[str, int]] = []
        done = asyncio.Event()

        async def on_message(message: mqks.Message) -> None:
            seen.append((message.text, message.retry))
            await asyncio.sleep(0)
            if message.text == "bad" and message.retry == 0:
                raise RuntimeError("cannot do it")
            await message.ack()
            if len(seen) == 4:
                done.set()

        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            await client.consume("q", ["e"], on_message, manual_ack=True)
            for text in ("one", "bad", "two"):
                await client.publish("e", text, confirm=True)
            await asyncio.wait_for(done.wait(), 10)
            assert sorted(seen) == [("bad", 0), ("bad", 1), ("one", 0), ("two", 0)]

    run(work())


def test_ack_and_reject_by_message_by_consumer_and_by_id(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            consumer = await client.consume("q", ["e"], manual_ack=True)
            unacked = "sum(len(m) for m in state.messages_by_consumer_ids.values())"
            for text in ("a", "b", "c", "d"):
                await client.publish("e", text, confirm=True)
            a, b, c, _ = [await consumer.get(5) for _ in range(4)]
            await a.ack(confirm=True)
            await client.ack(consumer.id, b.id, confirm=True)
            assert await client.eval(unacked) == "2"
            await client.reject(consumer.id, c.id)
            again = await consumer.get(5)
            assert (again.text, again.retry) == ("c", 1)
            await client.reject_all(consumer.id, confirm=True)
            assert {(m.text, m.retry) for m in [await consumer.get(5), await consumer.get(5)]} == {("d", 1), ("c", 2)}
            await consumer.ack_all(confirm=True)
            assert await client.eval(unacked) == "0"

    run(work())


def test_a_deleted_consumer_gives_back_what_it_held(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            first = await client.consume("q", ["e"], manual_ack=True)
            await client.publish("e", "x", confirm=True)
            assert (await first.get(5)).retry == 0
            await client.delete_consumer(first.id)
            with pytest.raises(Closed):
                await first.get(1)
            second = await client.consume("q", ["e"], manual_ack=True)
            assert (await second.get(5)).retry == 1
            await client.delete_queue("q")
            assert await client.eval("len(state.queues)") == "0"

    run(work())


def test_a_queue_is_deleted_when_it_is_unused(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            async with await client.consume("q", ["e"], delete_queue_when_unused=True):
                assert await client.eval("len(state.queues)") == "1"

            async def is_gone() -> bool:
                return await client.eval("len(state.queues)") == "0"

            await until(is_gone)

    run(work())


def test_what_a_line_cannot_carry_is_refused_before_it_is_sent(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            for event, data in (("e e", "x"), ("", "x"), ("e", ""), ("e", "a\nb"), ("e", "x "), ("--confirm", "x")):
                with pytest.raises(ValueError, match="MQKS"):
                    await client.publish(event, data)
            with pytest.raises(ValueError, match="at least one event"):
                await client.consume("q", [])
            with pytest.raises(ValueError, match="a list"):
                await client.consume("q", "event")
            assert await client.eval("state.published") == "0"

    run(work())


def test_a_refusal_has_the_error_id_of_the_servers_log(run) -> None:
    with Broker(body_size_max=100) as broker:

        async def work() -> None:
            async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
                with pytest.raises(ServerError, match="publish") as caught:
                    await client.publish("e", "x" * 200, confirm=True)
                assert any(details.get("error_id") == caught.value.code for _, _, details in broker.reports)
                with pytest.raises(ServerError):
                    await client.eval("nonsense(")
                assert await client.ping() == "penstock"

        run(work())


def test_a_binary_body_of_another_protocol_arrives_as_it_was(broker: Broker, run) -> None:
    from penstock.client import mqmq

    async def work() -> None:
        async with (
            await mqks.connect(broker.address("mqks"), options=QUICK) as client,
            await mqmq.connect(broker.address("mqmq"), options=QUICK) as other,
        ):
            consumer = await client.consume("q", ["q"], manual_ack=True)
            await other.put("q", b"a\nb\0")
            message = await consumer.get(5)
            assert message.data == b"a\nb\0"
            await message.reject()
            message = await consumer.get(5)
            assert (message.data, message.retry, message.event) == (b"a\nb\0", 1, "q")

    run(work())


def test_a_consumer_that_is_behind_leaves_the_rest_with_the_server_and_may_still_publish_confirmed(run) -> None:
    from dataclasses import replace

    with Broker() as broker:

        async def work() -> None:
            options = replace(QUICK, inbox_length_max=100)
            async with await mqks.connect(broker.address("mqks"), options=options) as client:
                consumer = await client.consume("q", ["e"], manual_ack=True)
                body = "x" * 10_000
                for _ in range(3000):
                    await client.publish("e", body)
                await client.flush()
                count = 0
                while count < 3000:
                    message = await consumer.get(20)
                    count += 1
                    if count % 500 == 1:  # answers come although the consumer's socket is not read
                        await client.publish("other", "x", confirm=True)
                        await message.ack(confirm=True)
                    else:
                        await message.ack()

        run(work())


def test_no_server_is_told_at_once_with_its_address(run) -> None:
    async def work() -> None:
        with pytest.raises(ConnectFailed, match=r"127\.0\.0\.1:1: "):
            await mqks.connect("127.0.0.1:1", options=QUICK)

    run(work())


def test_of_several_servers_the_first_that_answers_is_taken(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(["127.0.0.1:1", broker.address("mqks")], options=QUICK) as client:
            assert await client.ping("x") == "x"

    run(work())


def test_a_get_ends_in_time(broker: Broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            consumer = await client.consume("q", ["e"])
            with pytest.raises(Timeout, match=r"0\.01 s"):
                await consumer.get(0.01)

    run(work())


def test_publishes_that_were_not_confirmed_wait_for_a_server_that_is_away(broker: Broker, run) -> None:
    from .proxy import Proxy

    async def work() -> None:
        async with (
            Proxy(broker.address("mqks")) as proxy,
            await mqks.connect(broker.address("mqks"), options=QUICK) as direct,
            await mqks.connect(proxy.address, options=QUICK) as client,
        ):
            consumer = await direct.consume("q", ["e"])
            await proxy.stop()
            await until(lambda: not client._requests.link.is_up)
            for number in range(100):
                await client.publish("e", str(number))
            await proxy.again()
            assert [(await consumer.get(10)).text for _ in range(100)] == [str(number) for number in range(100)]

    run(work())


def test_a_flush_says_when_it_does_not_know(broker: Broker, run) -> None:
    from penstock.client import ConnectionLost

    from .proxy import Proxy

    async def work() -> None:
        async with Proxy(broker.address("mqks")) as proxy, await mqks.connect(proxy.address, options=QUICK) as client:
            proxy.is_stuck = True
            await client.publish("e", "x")
            flushing = asyncio.create_task(client.flush())
            await until(lambda: proxy.swallowed > 0)
            proxy.cut_all()
            proxy.is_stuck = False
            with pytest.raises(ConnectionLost):
                await flushing
            await client.flush()

    run(work())


def test_a_server_that_is_silent_is_given_up(broker: Broker, run) -> None:
    from dataclasses import replace

    from .proxy import Proxy

    async def work() -> None:
        async with (
            Proxy(broker.address("mqks")) as proxy,
            await mqks.connect(proxy.address, options=replace(QUICK, ping_seconds=0.05)) as client,
        ):
            assert await client.ping("one") == "one"
            proxy.is_stuck = True
            await until(lambda: proxy.connections >= 2)
            proxy.is_stuck = False
            assert await client.ping("two") == "two"

    run(work())
