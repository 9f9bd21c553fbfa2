"""Pictures of the console on a busy broker, for the docs: `make screenshots`. In the suite nobody keeps them."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import BrokerProcess, Client, Console

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(300)]

WARM_SECONDS = 100.0 if os.environ.get("PENSTOCK_SCREENSHOTS") else 1.5
EVENTS = (b"order.created", b"order.paid", b"order.shipped", b"user.signup")
SHOPS = [b"shop.%s.%02d" % (region, number) for region in (b"ap", b"eu", b"us") for number in range(1, 15)]


class Shop:
    """A little company: events by MQKS, images to be made smaller by SMQS, mail by SEVX, and workers for most of it."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.mqks, self.smqs, self.sevx = (broker.connect(name) for name in ("mqks", "smqs", "sevx"))
        self.workers = [broker.connect(name) for name in ("mqks", "mqks", "smqs", "sevx")]
        self.over = threading.Event()
        orders, audit, images, mail = self.workers
        orders.send(b"orders-1 consume --confirm orders order.created order.paid order.shipped\n")
        audit.send(b"audit-1 consume --confirm --manual-ack audit order.paid user.signup\n")
        orders.line(), audit.line()
        images.send(b"C:thumbnails\n")
        mail.send(b'mail-1 recv {"queue": "mail", "pattern": {"event": "mail"}}\n')
        self.smqs.send(b"".join(b"M:%s:restock\n" % shop * (1 + index % 5) for index, shop in enumerate(SHOPS)))
        self.threads = [threading.Thread(target=self._publish)]
        for work, worker in (
            (self._drain, orders),
            (self._drain, mail),
            (self._make_smaller, images),
            (self._acknowledge, audit),
        ):
            self.threads.append(threading.Thread(target=self._until_over, args=(work, worker)))
        for thread in self.threads:
            thread.start()

    def _publish(self) -> None:
        turn = 0
        while not self.over.wait(0.1):
            turn += 1
            wave = 1 + 0.5 * math.sin(turn / 60) + 0.25 * math.sin(turn / 13)
            lines = [
                b'm%d.%d publish %s {"order": %d, "total": "19.99", "currency": "EUR"}\n'
                % (turn, index, EVENTS[(turn + index) % 4], turn * 1000 + index)
                for index in range(int(220 * wave))
            ]
            self.mqks.send(b"".join(lines))
            self.smqs.send(b"M:thumbnails:image.jpg 640x480\n" * int(90 * wave))
            if turn % 9 == 0:
                self.smqs.send(b"M:invoices:invoice %d\n" % turn)
            if turn % 5 == 0:
                self.sevx.send(b's%d send {"event": "mail", "to": "someone@example.org"}\n' % turn)

    def _until_over(self, work: Callable[[Client], None], worker: Client) -> None:
        """What is still on its way when a connection is shut down may break it."""
        try:
            work(worker)
        except OSError:
            if not self.over.is_set():
                raise

    def _drain(self, worker: Client) -> None:
        worker.sock.settimeout(None)
        while not self.over.is_set() and worker.sock.recv(1 << 20):
            pass

    def _make_smaller(self, worker: Client) -> None:
        worker.sock.settimeout(None)
        while not self.over.is_set() and (lines := worker.sock.recv(1 << 20)):
            worker.send(b"D:thumbnails:%d\n" % lines.count(b"\n"))

    def _acknowledge(self, worker: Client) -> None:
        """A worker that is slower than what comes, and catches up each twenty seconds."""
        worker.sock.settimeout(None)
        started = time.monotonic()
        while not self.over.is_set() and worker.sock.recv(1 << 20):
            if (time.monotonic() - started) % 20 > 14:
                worker.send(b"a1 ack audit-1 --all\n")

    def stop(self) -> None:
        self.over.set()
        self.threads[0].join()
        for worker in self.workers:
            worker.sock.shutdown(2)
        for thread in self.threads:
            thread.join()


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BrokerProcess]:
    monkeypatch.chdir(tmp_path)  # the page shows the directory as it was given
    broker = BrokerProcess("--data", "penstock-data", memory=False)
    shop = Shop(broker)
    yield broker
    shop.stop()
    broker.kill()


def test_pictures(
    show: Callable[..., Console], busy: BrokerProcess, screenshot: Callable[[Console, str], None]
) -> None:
    light, dark, phone = show(busy), show(busy, colors="dark"), show(busy, width=360, height=740)
    for console in (light, dark, phone):
        console.open()
        console.page.locator("td.name").first.wait_for()
    time.sleep(WARM_SECONDS)
    screenshot(light, "overview")
    screenshot(dark, "overview-dark")
    screenshot(phone, "phone")
    light.open("rosetta")
    light.page.get_by_label("Body", exact=True).fill('two lines:\n{"order": 4711}')
    light.page.get_by_label("Retries").fill("1")
    light.page.locator("[data-protocol=mqks] > .bytes .marker").wait_for()
    light.page.get_by_label("Retries").blur()
    screenshot(light, "rosetta")
    light.open("queues")
    light.page.locator("td", has_text="thumbnails").wait_for()
    time.sleep(2.5 if WARM_SECONDS > 60 else 0)  # rates come with the second look
    screenshot(light, "queues")
    dark.open("queues/audit")
    dark.page.locator("tbody tr").first.wait_for()
    time.sleep(WARM_SECONDS / 5)
    screenshot(dark, "queue-dark")
