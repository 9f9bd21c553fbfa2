import threading
from datetime import datetime

import pytest

from penstock.client import ServerError, sevx
from penstock.client.sevx import on, send, send_prefix
from penstock.testing import Broker

from .conftest import QUICK


@pytest.fixture
def client(broker: Broker):
    with sevx.Client(QUICK).connect(broker.address("sevx")) as connected:
        yield connected


def test_as_the_text_shows_it(broker: Broker) -> None:
    """With the functions of the module, which share one client."""
    sevx.connect(broker.address("sevx"), options=QUICK)
    try:
        got: list[sevx.Event] = []
        done = threading.Event()
        send_prefix({"src": "service1"})

        @on({"obj": "user", "act": "updated"}, wait=True)
        def on_event(event: sevx.Event) -> None:
            got.append(event)
            done.set()

        id = send({"obj": "user", "act": "updated", "data": {"id": 42, "name": "Kate"}})
        assert done.wait(10)
        event = got[0]
        assert event.id == id
        assert isinstance(event.dt, datetime)
        assert event.json == '{"src":"service1","obj":"user","act":"updated","data":{"id":42,"name":"Kate"}}'
        assert event.content.data.name == "Kate"
        assert event.content.src == "service1"
        assert event.retry == 0
        assert sevx._ping("service1") == "service1"
        assert sevx._eval("len(state.queues)") == 1
        on_event.delete_queue()
        assert sevx._eval("len(state.queues)") == 0
        on_event.delete()
    finally:
        sevx.disconnect()


def test_the_default_queue_is_named_by_the_function_and_the_sorted_pattern() -> None:
    def on_event(event: sevx.Event) -> None: ...

    name = sevx.default_queue(on_event, {"obj": "user", "act": "updated", "data": {"n": 1, "ok": True}})
    function = "test_the_default_queue_is_named_by_the_function_and_the_sorted_pattern.on_event"
    assert name.endswith(f"tests.client.test_sevx.{function}.act=updated.data.n=1.data.ok=true.obj=user")
    assert not name.startswith(".")
    long = sevx.default_queue(on_event, {"key": "x" * 2000})
    assert len(long) < 1000
    assert long != sevx.default_queue(on_event, {"key": "x" * 2001})


def test_workers_of_the_same_type_share_a_queue(broker: Broker, client: sevx.Client) -> None:
    got: list[int] = []
    done = threading.Event()

    def on_job(event: sevx.Event) -> None:
        got.append(event.content.n)
        if len(got) == 10:
            done.set()

    with sevx.Client(QUICK).connect(broker.address("sevx")) as second:
        one = client.on({"kind": "job"}, wait=True)(on_job)
        two = second.on({"kind": "job"}, wait=True)(on_job)
        assert one.queue == two.queue
        for number in range(10):
            client.send({"kind": "job", "n": number})
        assert done.wait(10)
        assert client._ping("behind") == "behind"
        assert sorted(got) == list(range(10))


def test_manual_ack_reject_and_retry(client: sevx.Client) -> None:
    got: list[tuple[int, int]] = []
    done = threading.Event()

    @client.on({"kind": "job"}, manual_ack=True, delete_queue_when_unused=5.42, wait=True)
    def on_job(event: sevx.Event) -> None:
        got.append((event.content.n, event.retry))
        if event.retry == 0:
            event.reject()
        elif event.retry == 1:
            raise RuntimeError("not yet")
        else:
            event.ack(wait=True)
            done.set()

    client.send({"kind": "job", "n": 7}, wait=True)
    assert done.wait(10)
    assert got == [(7, 0), (7, 1), (7, 2)]
    assert client._eval("sum(len(m) for m in state.messages_by_consumer_ids.values())") == 0
    assert getattr(on_job, "__name__", None) == "on_job"
    assert callable(on_job)


def test_ack_all_and_reject_all(client: sevx.Client) -> None:
    got: list[sevx.Event] = []
    three, six = threading.Event(), threading.Event()

    @client.on({"kind": "job"}, manual_ack=True, wait=True)
    def on_job(event: sevx.Event) -> None:
        got.append(event)
        (three if len(got) < 6 else six).set() if len(got) in (3, 6) else None

    for number in range(3):
        client.send({"kind": "job", "n": number})
    assert three.wait(10)
    got[-1].reject_all(wait=True)
    assert six.wait(10)
    assert sorted(event.content.n for event in got[3:]) == [0, 1, 2]
    assert {event.retry for event in got[3:]} == {1}
    got[-1].ack_all(wait=True)
    assert client._eval("sum(len(m) for m in state.messages_by_consumer_ids.values())") == 0


def test_a_deleted_receiver_gets_nothing_and_its_queue_goes_with_it(client: sevx.Client) -> None:
    @client.on({"kind": "job"}, wait=True)
    def on_job(event: sevx.Event) -> None: ...

    assert client._eval("len(state.queues)") == 1
    on_job.delete()
    assert client._eval("len(state.queues)") == 0


def test_an_event_that_is_refused_is_an_error_for_whoever_waits(client: sevx.Client) -> None:
    with pytest.raises(ServerError):
        client._eval("nonsense(")
    assert client._ping("goes on") == "goes on"


def test_content_gives_members_that_are_no_attribute_names() -> None:
    content = sevx.Content({"a b": 1, "list": [{"x": 1}], "items": 2})
    assert content["a b"] == 1
    assert content.list[0].x == 1
    assert content.items == 2
    assert "list" in content
    assert list(content) == ["a b", "list", "items"]
    with pytest.raises(AttributeError, match="no 'nothing', only a b, list, items"):
        content.nothing  # noqa: B018


def test_the_id_may_stand_inside(run) -> None:
    """As version 0.1.1 of the text has it."""
    with Broker(sevx_id_inside=True) as broker:

        async def work() -> None:
            async with await sevx.connect_async(broker.address("sevx"), options=QUICK) as client:
                receiver = await client.receive({}, queue="q", manual_ack=True)
                id = await client.send({"a": 1}, wait=True)
                event = await receiver.get(5)
                assert event.id == id
                await receiver.settle("ack", {"event_id": event.id})
                assert await client.eval("sum(len(m) for m in state.messages_by_consumer_ids.values())") == 0

        run(work())


def test_what_is_sent_before_the_server_is_there_waits_for_it(broker: Broker, run) -> None:
    from .proxy import Proxy

    async def work() -> None:
        async with await sevx.connect_async(broker.address("sevx"), options=QUICK) as direct:
            receiver = await direct.receive({}, queue="q")
            async with Proxy(broker.address("sevx")) as proxy:
                await proxy.stop()
                async with sevx.AsyncClient(QUICK) as client:
                    await client.start(proxy.address)
                    await client.send({"early": True})
                    await proxy.again()
                    assert (await receiver.get(10)).content.early is True

    run(work())
