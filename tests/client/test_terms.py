"""What may be asked for with a message, as docs/delivery.md has it: later, not for ever, not too often, not twice."""

import asyncio
import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from penstock.client import Timeout, mqks, mqmq, rq, sevx
from penstock.client._delivery_options import flags_of, options_of
from penstock.testing import BrokerProcess

from .conftest import CUT_SECONDS, QUICK
from .proxy import Proxy

SOON = 0.15
LATER = 600.0  # seconds: longer than any test


def test_terms_are_written_as_the_protocols_have_them() -> None:
    assert flags_of({}) == b""
    assert flags_of({"delay": 1.5, "ttl": 60, "max_deliveries": 3, "dedup": True}) == (
        b"--delay=1.5 --ttl=60 --max-deliveries=3 --dedup "
    )
    assert flags_of({"delay": 0, "dedup": False}) == b"--delay=0 "
    assert options_of({"delay": 0.25, "dedup": True}, b"id1") == b'{"delay":0.25,"dedup":"id1"}'
    with pytest.raises(ValueError, match=r"ttl of -1 seconds: give 0 to 1e\+09"):
        flags_of({"ttl": -1})
    with pytest.raises(ValueError, match="max_deliveries of 0: give 1 or more"):
        options_of({"max_deliveries": 0}, b"")
    with pytest.raises(ValueError, match="RQ allows 0 to 255"):
        rq.fields_of(256, None, None, None)


def test_a_delayed_message_comes_later_by_every_protocol_that_can_say_so(broker, run) -> None:
    async def work() -> None:
        async with (
            await mqks.connect(broker.address("mqks"), options=QUICK) as one,
            await sevx.connect_async(broker.address("sevx"), options=QUICK) as two,
            await mqmq.connect(broker.address("mqmq"), options=QUICK) as three,
            await rq.connect(broker.address("rq"), options=QUICK) as four,
        ):
            jobs = await one.consume("jobs", ["job", "jobs"], manual_ack=True)
            events = await two.receive({"event": "job"}, queue="events")

            async def send_all(delay: float) -> None:
                await one.publish("job", f"one {delay}", confirm=True, delay=delay)
                await two.send({"event": "job", "n": delay}, wait=True, delay=delay)
                await three.put("jobs", f"three {delay}", delay=delay)
                await four.send("jobs", f"four {delay}", delay=delay)

            await send_all(LATER)
            await one.publish("job", "at once", ttl=60, max_deliveries=5)
            assert (await jobs.get(5)).text == "at once"  # though four were there before it
            began = time.monotonic()
            await send_all(SOON)
            texts = sorted([(await jobs.get(5)).text for _ in range(4)])
            assert texts == [f"four {SOON}", f"one {SOON}", f"three {SOON}", f'{{"event":"job","n":{SOON}}}']
            assert time.monotonic() - began >= SOON
            assert (await events.get(5)).value.get("data") == "at once"

    run(work())


def test_a_message_may_be_rejected_for_later(broker, run) -> None:
    async def work() -> None:
        async with await mqks.connect(broker.address("mqks"), options=QUICK) as client:
            jobs = await client.consume("jobs", ["job"], manual_ack=True)
            await client.publish("job", "x", confirm=True)
            began = time.monotonic()
            await (await jobs.get(5)).reject(delay=SOON)
            again = await jobs.get(5)
            assert again.retry == 1
            assert time.monotonic() - began >= SOON
            await client.publish("job", "worn out", max_deliveries=1)
            await (await jobs.get(5)).reject()
            with pytest.raises(Timeout):
                await jobs.get(0.05)

    run(work())


def test_a_message_that_lives_briefly_is_gone(broker, run) -> None:
    async def work() -> None:
        async with await mqmq.connect(broker.address("mqmq"), options=QUICK) as client:
            await client.put("jobs", "brief", ttl=0.02)
            await client.put("jobs", "lasting", ttl=60)
            await asyncio.sleep(0.03)
            assert await client.get("jobs", 5) == b"lasting"

    run(work())


@pytest.mark.process
def test_the_dead_are_driven_back(tmp_path: Path) -> None:
    config = tmp_path / "penstock.toml"
    config.write_text('[[policy]]\nqueues = "jobs"\ndead_letter = "{queue}.dead"\n')
    with BrokerProcess(config=config) as broker, mqks.Client(QUICK).connect(broker.address("mqks")) as client:
        with client.consume("jobs", ["job"], manual_ack=True) as jobs:
            for text in ("one", "two"):
                client.publish("job", text, confirm=True)
                jobs.get(5).reject(dead=True, confirm=True)
            assert client.redrive("jobs.dead", limit=1) == 1
            message = jobs.get(5)
            assert (message.text, message.retry) == ("one", 0)
            message.ack(confirm=True)
        with sevx.Client(QUICK).connect(broker.address("sevx")) as other:
            assert other.redrive("jobs.dead", to="elsewhere") == 1
        with client.consume("elsewhere", ["elsewhere"]) as elsewhere:
            assert elsewhere.get(5).text == "two"


@pytest.mark.timeout(120 + 2 * CUT_SECONDS)
@pytest.mark.parametrize("protocol", ["mqks", "sevx", "mqmq"])
def test_what_is_sent_again_because_a_connection_was_cut_is_there_once(protocol: str, broker, run) -> None:
    async def work() -> None:
        async with (
            Proxy(broker.address(protocol)) as proxy,
            await mqks.connect(broker.address("mqks"), options=QUICK) as direct,
            await mqks.connect(proxy.address, options=QUICK)
            if protocol == "mqks"
            else await sevx.connect_async(proxy.address, options=QUICK)
            if protocol == "sevx"
            else await mqmq.connect(proxy.address, options=QUICK) as client,
        ):
            jobs = await direct.consume("jobs", ["jobs"])
            seen: Counter[str] = Counter()
            cutting = asyncio.create_task(proxy.cut_at_random(CUT_SECONDS / 2, random.Random(3)))
            sent = set[str]()
            while not cutting.done():
                texts = [f"text {len(sent) + number}" for number in range(20)]
                if isinstance(client, mqks.AsyncClient):
                    await asyncio.gather(*(client.publish("jobs", t, confirm=True, dedup=True) for t in texts))
                elif isinstance(client, mqmq.AsyncClient):
                    await asyncio.gather(*(client.put("jobs", t, dedup=True) for t in texts))
                else:
                    await asyncio.gather(
                        *(client.send({"event": "jobs", "text": t}, wait=True, dedup=True) for t in texts)
                    )
                sent.update(texts)
            while len(seen) < len(sent):
                message = await jobs.get(10)
                seen[json.loads(message.data)["text"] if protocol == "sevx" else message.text] += 1
            with pytest.raises(Timeout):
                await jobs.get(0.05)
            assert set(seen) == sent
            assert set(seen.values()) == {1}

    run(work())
