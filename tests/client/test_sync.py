"""The sync face: from several threads, from handlers, and with Ctrl-C."""

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from penstock.client import Closed, ConnectFailed, Timeout, mqks, mqmq, rq, sevx, smqs
from penstock.testing import Broker

from .conftest import QUICK


def test_mqks(broker: Broker) -> None:
    with mqks.Client(QUICK).connect(broker.address("mqks")) as client:
        with client.consume("q", ["e"], manual_ack=True) as consumer:
            client.publish("e", "one")
            client.publish("e", "two", confirm=True)
            client.flush()
            first = consumer.get(5)
            assert (first.text, first.event, first.retry) == ("one", "e", 0)
            first.ack()
            second = consumer.get(5)
            second.reject()
            again = consumer.get(5)
            assert (again.text, again.retry) == ("two", 1)
            again.ack(confirm=True)
            with pytest.raises(Timeout):
                consumer.get(0.01)
        assert client.ping("x") == "x"
        assert client.eval("len(state.queues)") == "1"
        client.delete_queue("q")
        assert client.eval("len(state.queues)") == "0"


def test_mqks_iteration_ends_when_the_consumer_is_closed(broker: Broker) -> None:
    with mqks.Client(QUICK).connect(broker.address("mqks")) as client:
        consumer = client.consume("q", ["e"])
        for number in range(3000):
            client.publish("e", str(number))
        texts = []
        for message in consumer:
            texts.append(message.text)
            if len(texts) == 3000:
                consumer.close()
        assert texts == [str(number) for number in range(3000)]


def test_a_handler_may_call_the_client_it_was_called_by(broker: Broker) -> None:
    with mqks.Client(QUICK).connect(broker.address("mqks")) as client:
        done = threading.Event()
        results: list[str] = []

        def on_job(message: mqks.ReceivedMessage) -> None:
            client.publish("result", message.text + "!", confirm=True)
            message.ack(confirm=True)

        def on_result(message: mqks.ReceivedMessage) -> None:
            results.append(message.text)
            if len(results) == 20:
                done.set()

        client.consume("jobs", ["job"], on_job, manual_ack=True)
        client.consume("results", ["result"], on_result)
        for number in range(20):
            client.publish("job", str(number), confirm=True)
        assert done.wait(20)
        assert results == [f"{number}!" for number in range(20)]


def test_many_threads_share_a_client(broker: Broker) -> None:
    with mqmq.Client(QUICK).connect(broker.address("mqmq")) as client:

        def work(name: int) -> None:
            for number in range(50):
                client.put("q", f"{name} {number}")

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        got = {client.get("q", 10) for _ in range(400)}
        for thread in threads:
            thread.join(10)
        assert len(got) == 400


def test_a_thread_that_waits_is_told_when_the_client_is_closed(broker: Broker) -> None:
    client = mqmq.Client(QUICK).connect(broker.address("mqmq"))
    ended: list[BaseException] = []

    def work() -> None:
        try:
            client.get("q", 60)
        except Closed as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    with mqmq.Client(QUICK).connect(broker.address("mqmq")) as other:
        while other.info().connections < 3:
            time.sleep(0.005)
    client.close()
    thread.join(10)
    assert ended
    with pytest.raises(Closed):
        client.put("q", "x")
    client.close()


def test_the_loops_own_thread_is_told_that_it_would_wait_for_itself(broker: Broker) -> None:
    with mqmq.Client(QUICK).connect(broker.address("mqmq")) as client:
        heard: list[str] = []

        async def on_the_loop() -> None:
            try:
                client.put("q", "x")
            except Closed as error:
                heard.append(str(error))

        asyncio.run_coroutine_threadsafe(on_the_loop(), client._thread.loop).result(5)
        assert "would deadlock" in heard[0]


def test_a_failed_connect_leaves_no_thread(broker: Broker) -> None:
    before = threading.active_count()
    with pytest.raises(ConnectFailed), mqmq.Client(QUICK) as client:
        client.connect("127.0.0.1:1")
    assert threading.active_count() == before


def test_smqs(broker: Broker) -> None:
    with smqs.Client(QUICK).connect(broker.address("smqs")) as client:
        client.publish("users", {"id": 1}, confirm=True)
        assert client.stats() == {"users": 1}
        with client.consume("users") as users:
            assert users.get(5).value == {"id": 1}
            users.done(1)
            while client.stats()["users"]:
                time.sleep(0.005)


def test_rq(broker: Broker) -> None:
    with (
        rq.Client(QUICK).connect(broker.address("rq")) as client,
        rq.Client(QUICK).connect(broker.address("rq")) as worker,
    ):
        both = threading.Barrier(2)

        def on_sum(request: rq.Request) -> str:
            both.wait(10)  # two at a time, or this never ends
            return str(sum(map(int, request.payload.split(b"+"))))

        worker.consume("sums", on_sum, max=2)
        replies: list[bytes] = []
        asking = threading.Thread(target=lambda: replies.append(client.request("sums", "1+1")))
        asking.start()
        assert client.request("sums", "2+2", timeout=10) == b"4"
        asking.join(10)
        assert replies == [b"2"]
        client.send("letters", "x")
        with worker.consume("letters") as letters:
            request = letters.get(5)
            assert (request.payload, request.wants_reply) == (b"x", False)
            request.done()


FORWARDED = [
    pytest.param(sync, origin, name, id=f"{sync.__module__.rpartition('.')[2]}.{sync.__name__}.{name}")
    for module in (mqks, smqs, sevx, mqmq, rq)
    for sync, origin in [
        (getattr(module, name), getattr(module, source))
        for name, source in [
            ("Client", "AsyncClient"),
            ("Consumer", "AsyncConsumer"),
            ("Receiver", "AsyncReceiver"),
            ("ReceivedMessage", "Message"),
        ]
        if hasattr(module, name)
    ]
    for name, method in vars(sync).items()
    if hasattr(method, "__wrapped__")
]


@pytest.mark.parametrize(("sync", "origin", "name"), FORWARDED)
def test_a_forwarded_method_has_the_signature_and_the_docstring_of_the_async_one(sync, origin, name) -> None:
    method, source = getattr(sync, name), getattr(origin, name.removeprefix("_"))
    assert inspect.signature(method) == inspect.signature(source)
    assert inspect.getdoc(method) == inspect.getdoc(source)
    assert inspect.iscoroutinefunction(source)
    assert not inspect.iscoroutinefunction(method)
    assert method.__qualname__ == source.__qualname__.removeprefix("Async")


def test_connect_returns_the_sync_client(broker: Broker) -> None:
    with mqmq.Client(QUICK) as client:
        assert client.connect(broker.address("mqmq")) is client


@pytest.mark.process
def test_ctrl_c_ends_a_wait_and_the_program(broker: Broker) -> None:
    program = """
import signal
import sys
from penstock.client import mqmq
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
client = mqmq.Client().connect(sys.argv[1])
print("waiting", flush=True)
try:
    client.get("q", 60)
except KeyboardInterrupt:
    client.put("q", "interrupted")
    print("interrupted", flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, broker.address("mqmq")], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    with mqmq.Client(QUICK).connect(broker.address("mqmq")) as watcher:
        while watcher.info().connections < 3:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[0] == "interrupted\n"
        assert process.returncode == 0
        assert watcher.get("q", 5) == b"interrupted"  # not lost to the get that was cancelled
