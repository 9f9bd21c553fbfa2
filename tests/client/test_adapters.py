"""Celery and dramatiq, with real workers that are started as their users start them."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.client import mqmq
from penstock.testing import Broker

HERE = Path(__file__).parent

pytestmark = pytest.mark.process


def until(condition: Callable[[], bool], what: str, seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


class Worker:
    """A worker in a process group of its own."""

    def __init__(self, *command: str, log: Path) -> None:
        self._log = log.open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=HERE, stdout=self._log, stderr=self._log, start_new_session=True
        )

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self._log.close()
        return self.process.wait(20)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def module(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Import one of the apps, for a broker and a file of this test."""
    monkeypatch.setenv("PENSTOCK_TEST_ADDRESS", broker.address("any"))
    monkeypatch.setenv("PENSTOCK_TEST_FILE", str(tmp_path / "said"))
    monkeypatch.syspath_prepend(str(HERE))
    (tmp_path / "said").touch()

    def load(name: str) -> object:
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


# -- celery ------------------------------------------------------------------------------------------------------------

CELERY = ("celery", "-A", "celery_app", "worker", "-l", "INFO", "-c", "1", "--pool")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_celery(module, broker: Broker, tmp_path: Path) -> None:
    """One worker for all of it, since it takes seconds to start."""
    app = module("celery_app")
    early = app.add.delay(1, 1)  # kept until there is a worker
    log = tmp_path / "worker.log"
    worker = Worker(*CELERY, "prefork", "-n", "one@test", log=log)
    try:
        assert early.get(timeout=40) == 2, log.read_text()
        assert [result.get(timeout=20) for result in [app.add.delay(n, n) for n in range(20)]] == [
            2 * n for n in range(20)
        ]
        assert app.third_time.delay().get(timeout=20) == 2
        assert app.add.apply_async((3, 4), countdown=0.1).get(timeout=20) == 7
        # Remote control goes to all workers, and their replies come back.
        until(lambda: app.app.control.ping(timeout=2, limit=1) == [{"one@test": {"ok": "pong"}}], log.read_text())

        marker = str(tmp_path / "died")
        result = app.die_once.delay(marker)
        until(lambda: worker.process.poll() is not None, "the worker did not die")
        assert Path(marker).exists()
        worker.stop()
        worker = Worker(*CELERY, "solo", "-n", "two@test", "--without-mingle", log=log)
        assert result.get(timeout=40) == "done", log.read_text()
        assert worker.stop() == 0
        with mqmq.Client().connect(broker.address("mqmq")) as client:
            assert client.info().queues["celery"] == 0
    finally:
        worker.stop()
        app.app.pool.force_close_all()
        app.app.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kombu(broker: Broker) -> None:
    """Exchanges of all kinds, acknowledgement and prefetch, without Celery."""
    import kombu

    import penstock.adapters.kombu  # noqa: F401 makes penstock:// known

    got: list[tuple[str, Any]] = []

    def on_message(message: Any) -> None:
        got.append((message.delivery_info["routing_key"], message))

    jobs = kombu.Queue("k.jobs", kombu.Exchange("k.work", "direct"), routing_key="job")
    news = kombu.Exchange("k.news", "fanout")
    logs = kombu.Exchange("k.logs", "topic")
    passing = {"durable": False, "auto_delete": True}
    with (
        kombu.Connection(f"penstock://{broker.address('any')}//") as connection,
        kombu.Connection(f"penstock://{broker.address('any')}//") as elsewhere,
    ):
        producer = elsewhere.Producer()
        consumer = connection.Consumer(
            [
                jobs,
                kombu.Queue("k.news.1", news, **passing),
                kombu.Queue("k.news.2", news, **passing),
                kombu.Queue("k.errors", logs, routing_key="*.error", **passing),
            ],
            prefetch_count=2,
            on_message=on_message,
        )
        with consumer:

            def drain(count: int) -> list[str]:
                got.clear()
                while len(got) < count:
                    connection.drain_events(timeout=10)
                with pytest.raises(TimeoutError):
                    connection.drain_events(timeout=0.05)
                return sorted(key for key, _ in got)

            for number in range(3):
                producer.publish({"n": number}, exchange=jobs.exchange, routing_key="job", declare=[jobs])
            assert drain(2) == ["job", "job"]  # prefetch
            first, second = (message for _, message in got)
            assert first.decode() == {"n": 0}
            first.ack()
            assert drain(1) == ["job"]
            got[0][1].ack()
            second.requeue()
            assert drain(1) == ["job"]
            assert got[0][1].decode() == {"n": 1}
            got[0][1].reject()
            producer.publish("extra", exchange=news, routing_key="")
            assert drain(2) == ["", ""]
            for _, message in got:
                message.ack()
            producer.publish("x", exchange=logs, routing_key="disk.error")
            producer.publish("x", exchange=logs, routing_key="disk.info")
            assert drain(1) == ["disk.error"]
        channel = elsewhere.channel()
        bound = jobs(channel)
        bound.declare()
        producer.publish("one", exchange=jobs.exchange, routing_key="job")
        producer.publish("two", exchange=jobs.exchange, routing_key="job")
        assert bound.queue_declare(passive=True).message_count == 2
        message = bound.get(no_ack=True)
        assert message is not None
        assert message.decode() == "one"
        assert bound.purge() == 1
        assert bound.get() is None
        bound.delete()
    with mqmq.Client().connect(broker.address("mqmq")) as client:
        assert not [name for name in client.info().queues if name.startswith("k.")]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kombu_says_when_there_is_no_broker() -> None:
    import kombu

    import penstock.adapters.kombu  # noqa: F401 makes penstock:// known

    with (
        kombu.Connection("penstock://127.0.0.1:1//") as connection,
        pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1"),
    ):
        connection.connect()


# -- dramatiq ----------------------------------------------------------------------------------------------------------

DRAMATIQ = ("dramatiq", "dramatiq_app", "--processes", "1", "--threads", "2")


def test_dramatiq(module, broker: Broker, tmp_path: Path) -> None:
    app = module("dramatiq_app")
    said = tmp_path / "said"
    app.add.send(1, 1)  # kept until there is a worker
    log = tmp_path / "worker.log"
    worker = Worker(*DRAMATIQ, log=log)
    try:
        until(lambda: "1 + 1 = 2" in said.read_text(), "no worker")
        for number in range(20):
            app.add.send(number, number)
        app.add.send_with_options(args=(5, 5), delay=50)
        app.third_time.send("a")
        app.fail.send()
        app.broker.join("default", timeout=20_000)
        lines = said.read_text().split("\n")
        assert {f"{n} + {n} = {2 * n}" for n in range(20)} <= set(lines), log.read_text()
        assert lines.count("5 + 5 = 10") == 2
        assert lines.count("try a") == 3
        assert app.broker.get_queue_message_counts("default") == (0, 0, 1)  # what failed for good is kept

        app.die_once.send(str(tmp_path / "died"))
        until(lambda: worker.process.poll() is not None, "the worker did not die")
        worker.stop()
        worker = Worker(*DRAMATIQ, log=log)
        until(lambda: "survived" in said.read_text(), "the message of the dead worker was lost")
        app.broker.join("default", timeout=20_000)
        app.broker.flush("default")
        assert app.broker.get_queue_message_counts("default") == (0, 0, 0)
        assert worker.stop() == 0
    finally:
        worker.stop()
        app.broker.close()


def test_dramatiq_says_when_there_is_no_broker() -> None:
    import dramatiq
    from dramatiq.errors import ConnectionClosed

    from penstock.adapters.dramatiq import PenstockBroker

    broker = PenstockBroker("127.0.0.1:1")

    @dramatiq.actor(broker=broker)
    def add(x: int, y: int) -> None: ...

    before = set(threading.enumerate())
    with pytest.raises(ConnectionClosed, match=r"127\.0\.0\.1:1"):
        add.send(1, 2)
    assert set(threading.enumerate()) <= before
    broker.close()
