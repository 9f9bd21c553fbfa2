"""Addresses, inboxes, ids and the broker for tests."""

import asyncio

import pytest

from penstock.client import ClientError, mqks, mqmq, rq, sevx, smqs
from penstock.client._ids import IdSource, dtid, time_of_dtid
from penstock.client._inbox import Inbox
from penstock.client._lines import LineSplitter
from penstock.client._options import address_of, addresses_of
from penstock.client._risp import Decoder, encode_request, field
from penstock.client.errors import Closed, Timeout
from penstock.errors import Error
from penstock.risp import PAYLOAD, QUEUE, REQUEST, RETRIES, TIMEOUT
from penstock.testing import Broker, BrokerProcess


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("", "127.0.0.1:7"),
        (":99", "127.0.0.1:99"),
        ("host", "host:7"),
        ("host:99", "host:99"),
        ("[::1]:99", "[::1]:99"),
        ("::1", "[::1]:7"),
        ("[::1]", "[::1]:7"),
        (99, "127.0.0.1:99"),
        (("host", 99), "host:99"),
    ],
)
def test_an_address(place, expected: str) -> None:
    assert str(address_of(place, 7)) == expected


@pytest.mark.parametrize("place", ["host:", "host:x", "host:0", "host:70000", 0, ("host", "x")])
def test_what_is_no_address_is_named(place) -> None:
    with pytest.raises(ValueError, match="is not a valid address: use host:port"):
        address_of(place, 7)


def test_one_address_or_several() -> None:
    assert [str(a) for a in addresses_of(["a", ("b", 1), 2], 7)] == ["a:7", "b:1", "127.0.0.1:2"]
    assert [str(a) for a in addresses_of(("a", 1), 7)] == ["a:1"]
    assert [str(a) for a in addresses_of(("a", "b"), 7)] == ["a:7", "b:7"]
    with pytest.raises(ValueError, match="no address"):
        addresses_of([], 7)


def test_lines_are_the_same_wherever_they_are_cut() -> None:
    data = b"one\n\ntwo words\nrest"
    for cut in range(len(data)):
        splitter = LineSplitter()
        assert splitter.split(data[:cut]) + splitter.split(data[cut:]) == [b"one", b"", b"two words"]


def test_groups_are_the_same_wherever_they_are_cut() -> None:
    data = encode_request(70_000, b"q", b"body" * 100, True, {RETRIES: 3, TIMEOUT: 9})
    data = data[:1] + field(0xC1, b"unknown") + field(0x7F, 1) + data[1:]
    for cut in range(len(data)):
        decoder = Decoder()
        (group,) = decoder.groups_in(data[:cut]) + decoder.groups_in(data[cut:])
        assert (group.action, group.id, group.queue, group.payload) == (REQUEST, 70_000, b"q", b"body" * 100)
        assert group.noreply
    assert field(QUEUE, b"q") == b"\xa0\x01q"
    assert field(PAYLOAD, b"x") == b"\xe0\x00\x00\x00\x01x"


def test_ids_are_unique_and_a_dtid_knows_its_time() -> None:
    source = IdSource()
    ids = {source.next() for _ in range(1000)}
    assert len(ids) == 1000
    assert {len(id) for id in ids} == {24}
    moment = time_of_dtid("20161231235959123456uN1q")
    assert moment is not None
    assert moment.isoformat() == "2016-12-31T23:59:59.123456"
    assert time_of_dtid(dtid().decode()) is not None
    assert time_of_dtid("m1") is None
    assert time_of_dtid("99999999999999999999xxxx") is None


def test_an_inbox_holds_the_socket_back_and_wakes_one_for_each_message(run) -> None:
    async def work() -> None:
        calls: list[str] = []
        inbox: Inbox[int] = Inbox(3, lambda: calls.append("pause"), lambda: calls.append("resume"))
        getting = [asyncio.create_task(inbox.take(1, 5)) for _ in range(2)]
        await asyncio.sleep(0)
        getting[0].cancel()
        inbox.put([1])
        assert await getting[1] == [1]
        inbox.put([2, 3, 4, 5])
        assert calls == ["pause"]
        assert await inbox.take(10) == [2, 3, 4, 5]
        assert calls == ["pause", "resume"]
        with pytest.raises(Timeout):
            await inbox.take(1, 0.001)
        inbox.put([6])
        inbox.end(Closed("over"))
        assert await inbox.take(1) == [6]
        with pytest.raises(Closed, match="over"):
            await inbox.take(1)

    run(work())


@pytest.mark.parametrize("module", [mqks, mqmq, rq, sevx, smqs], ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_client_that_is_not_connected_says_so_and_can_be_closed(module, run) -> None:
    async def work() -> None:
        async with module.AsyncClient() as client:
            calls = {
                mqks: lambda: client.publish("e", "x"),
                mqmq: lambda: client.put("q", "x"),
                rq: lambda: client.request("q", "x"),
                sevx: lambda: client.send({}),
                smqs: lambda: client.publish("q", 1),
            }
            with pytest.raises(ClientError, match="call connect first"):
                await calls[module]()

    run(work())


def test_the_fixture_is_there_by_itself(penstock_broker: Broker) -> None:
    assert set(penstock_broker.ports) >= {"mqks", "smqs", "sevx", "mqmq", "rq", "any"}


def test_a_broker_that_cannot_start_says_why(penstock_broker: Broker) -> None:
    with pytest.raises(Error, match="cannot listen for mqks"):
        Broker(mqks=penstock_broker.ports["mqks"]).start()


@pytest.mark.process
def test_a_broker_process_that_was_killed_comes_back_on_its_ports_with_what_was_confirmed(tmp_path) -> None:
    from .conftest import QUICK

    with BrokerProcess(data=tmp_path) as process, mqmq.Client(QUICK).connect(process.address("mqmq")) as client:
        client.put("q", b"x")
        process.kill()
        process.start()
        assert client.get("q", 10) == b"x"


@pytest.mark.process
def test_a_broker_process_that_cannot_start_says_why() -> None:
    with pytest.raises(RuntimeError, match="is not a port"):
        BrokerProcess(mqks="nowhere").start()
