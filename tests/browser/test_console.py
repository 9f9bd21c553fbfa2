"""The console as people use it: in a browser, on a broker that works."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.testing._ports import free_ports

from .conftest import WITHIN, BrokerProcess, Client, Console

pytestmark = [pytest.mark.slow, pytest.mark.process]

VIEWS = ("", "queues", "connections", "log", "pipelines", "rosetta", "access")


def put(broker: BrokerProcess, queue: str, *bodies: str) -> None:
    """By SMQS, and there when this returns."""
    client = broker.connect("smqs")
    client.send("".join(f"M:{queue}:{body}\n" for body in bodies).encode())
    client.send(b"S:\n")
    client.line()


class Flow:
    """Messages that come without end: events by MQKS, others by SMQS into the same queue."""

    def __init__(self, broker: BrokerProcess, queue: str) -> None:
        self.queue = queue.encode()
        self.mqks: Client = broker.connect("mqks")
        self.smqs: Client = broker.connect("smqs")
        self.mqks.send(b"c1 consume --confirm %s.done %s.event\n" % (self.queue, self.queue))
        self.mqks.line()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        number = 0
        while not self.over.wait(0.02):
            number += 1
            self.mqks.send(b'm%d publish %s.event {"n": %d}\n' % (number, self.queue, number))
            self.smqs.send(b"M:%s:line %d\n" % (self.queue, number))

    def stop(self) -> None:
        self.over.set()
        self.thread.join()


@pytest.fixture
def flow(broker: BrokerProcess, request: pytest.FixtureRequest) -> Iterator[Flow]:
    flow = Flow(broker, "flow")
    yield flow
    flow.stop()


def test_live_numbers_change_while_messages_flow_over_two_protocols(console: Console, flow: Flow) -> None:
    console.open()
    page = console.page
    page.wait_for_function("() => parseFloat(document.querySelector('[data-value=published]').innerText) > 10")
    before = console.figure("ready")
    page.wait_for_function("(before) => document.querySelector('[data-value=ready]').innerText !== before", arg=before)
    drawn = page.evaluate(
        "[...document.querySelectorAll('canvas')].map((canvas) => Chart.getChart(canvas).data.datasets[0].data.length)"
    )
    assert len(drawn) == 4
    assert min(drawn) >= 2
    page.locator("td.name", has_text="flow").first.wait_for()
    assert page.locator("#pulse-text").inner_text() == "live"


def test_a_newcomer_is_told_what_to_type(show: Callable[..., Console]) -> None:
    broker = BrokerProcess()
    try:
        console = show(broker)
        console.open()
        console.page.get_by_text("Nothing has been published yet").wait_for()
        assert f"nc -q1 127.0.0.1 {broker.ports['mqks']}" in console.page.locator(".welcome").inner_text()
        for view, words in {
            "queues": "No queues yet",
            "connections": "No connections",
            "log": "penstock serve --data",
            "pipelines": "penstock pipeline run archive",
            "queues/none": "There is no queue none",
            "access": "penstock user add",
        }.items():
            console.open(view)
            console.page.get_by_text(words).first.wait_for()
        console.forgive(404)  # the queue that is not there
        put(broker, "jobs", "first")
        console.open()
        console.page.get_by_text("Nothing has been published yet").wait_for(state="hidden")
    finally:
        broker.kill()


def test_ten_thousand_queues_stay_quick(show: Callable[..., Console]) -> None:
    broker = BrokerProcess()
    try:
        client = broker.connect("smqs")
        client.send(
            b"".join(b"M:shop.%05d:%s\n" % (n, b"x" * (n % 7)) for n in range(10_000)) + b"M:shop.00042:y\nS:\n"
        )
        client.line()
        console = show(broker)
        page = console.page
        console.open("queues")
        page.get_by_text("10,000 queues").wait_for()
        assert page.locator("tbody tr").count() == 50
        assert page.locator("td.name").first.inner_text() == "shop.00042"  # the only one with two

        before = broker.cpu_seconds()
        page.get_by_label("Search queues").fill("0777")
        page.get_by_text("11 matches").wait_for()
        assert broker.cpu_seconds() - before < 1  # not by the clock: the machine may have other things to do
        assert page.locator("tbody tr").count() == 11

        page.get_by_label("Search queues").fill("")
        page.get_by_text("10,000 queues").wait_for()
        page.get_by_role("button", name="queue", exact=True).click()
        page.locator("th[aria-sort=ascending]").wait_for()
        page.locator("td.name", has_text="shop.00000").wait_for()
        page.get_by_role("button", name="next").click()
        page.locator("td.name", has_text="shop.00050").wait_for()
        assert page.locator("td.name").first.inner_text() == "shop.00050"
        assert "offset=50" in page.url
        page.reload()
        page.locator("td.name", has_text="shop.00050").wait_for()
    finally:
        broker.kill()


def test_browse_publish_and_look_at_a_message(console: Console, broker: BrokerProcess) -> None:
    put(broker, "letters", "first of them", '{"second": true}')
    page = console.page
    console.open("queues/letters")
    page.get_by_text("first of them").wait_for()
    page.get_by_role("button", name="Publish").click()
    page.get_by_label("Body").fill("by hand")
    page.get_by_label("Headers").fill("trace: abc")
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    page.get_by_text("Published as offset").wait_for()
    page.locator("td", has_text="by hand").wait_for()
    console.wait_for_figure("ready", "3")

    page.locator("tr", has_text="by hand").get_by_role("button").click()
    panel = page.locator("dialog.side")
    assert "trace" in panel.inner_text()
    assert "by hand" in panel.inner_text()
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")

    page.get_by_label("Search bodies").fill("second")
    page.locator("tr", has_text="by hand").wait_for(state="detached")
    page.locator("tr", has_text="second").get_by_role("button").click()
    page.get_by_text("Show in Rosetta").click()
    page.locator(".rendering").nth(4).wait_for()
    assert '{"second": true}⏎' in page.locator("[data-protocol=smqs] pre").first.inner_text()


def test_move_pause_purge_and_delete(console: Console, broker: BrokerProcess) -> None:
    put(broker, "desk", *(f"paper {n}" for n in range(5)))
    page = console.page
    console.open("queues/desk")
    page.get_by_role("button", name="Move").click()
    page.get_by_label("Target queue").fill("shelf")
    page.get_by_label("Limit").fill("2")
    page.get_by_role("button", name="Dry run").click()
    page.get_by_text("2 messages would be moved").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    page.get_by_text("2 messages moved to shelf").wait_for()
    console.wait_for_figure("ready", "3")

    page.get_by_role("button", name="Pause").click()
    page.locator(".title .badge", has_text="paused").wait_for()
    page.get_by_role("button", name="Resume").click()
    page.locator(".title .badge", has_text="paused").wait_for(state="detached")

    page.get_by_role("button", name="Purge").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert console.figure("ready") == "3"
    page.get_by_role("button", name="Purge").click()
    page.get_by_role("dialog").get_by_role("button", name="Purge").click()
    page.get_by_text("3 messages purged").wait_for()
    console.wait_for_figure("ready", "0")

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("Deleted desk").wait_for()
    assert page.url.endswith("#/queues")


def test_a_dead_letter_is_redriven(show: Callable[..., Console], tmp_path: Path) -> None:
    config = tmp_path / "penstock.toml"
    config.write_text('[[policy]]\nqueues = "work"\ndeliveries_max = 1\ndead_letter = "{queue}.dead"\n')
    broker = BrokerProcess("--config", str(config))
    try:
        worker = broker.connect("mqks")
        worker.send(b"w1 consume --confirm --manual-ack work job\nm1 publish job too hard\n")
        assert worker.lines(2) == [b"w1 ok ", b"w1 ok m1 event=job too hard"]
        worker.send(b"r1 reject --confirm w1 m1\n")
        assert worker.line() == b"r1 ok "
        worker.send(b"d1 delete_consumer --confirm w1\n")
        assert worker.line() == b"d1 ok "

        console = show(broker)
        page = console.page
        console.open("queues/work.dead")
        page.locator("tr", has_text="too hard").get_by_role("button").click()
        assert "deliveries" in page.locator("dialog.side").inner_text()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Redrive").click()
        page.get_by_role("button", name="Dry run").click()
        page.get_by_text("1 message would be redriven: 1 to work").wait_for()
        page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
        page.get_by_text("1 message redriven").wait_for()
        console.wait_for_figure("ready", "0")
        console.open("queues/work")
        page.locator("tr", has_text="too hard").wait_for()
    finally:
        broker.kill()


def test_what_the_broker_refuses_is_said_in_the_dialog(console: Console, broker: BrokerProcess) -> None:
    put(broker, "stay", "here")
    page = console.page
    console.open("queues/stay")
    page.get_by_role("button", name="Move").click()
    page.get_by_label("Target queue").fill("stay")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    page.get_by_role("dialog").get_by_role("alert").wait_for()
    assert page.get_by_role("dialog").is_visible()
    console.forgive(409)


def test_connections_are_shown_by_protocol_and_closed(console: Console, broker: BrokerProcess) -> None:
    client = broker.connect("mqks")
    client.send(b"worker-7 consume --confirm jobs job.new\n")
    client.line()
    mine = f"127.0.0.1:{client.sock.getsockname()[1]}"
    page = console.page
    console.open("connections")
    page.locator("[data-protocol=mqks]").click()
    page.locator("td", has_text=mine).wait_for()
    page.get_by_role("button", name=f"Close {mine}", exact=True).click()
    page.get_by_role("button", name="Close connection", exact=True).click()
    page.get_by_text(f"Closed {mine}").wait_for()
    assert client.closed_by_peer()


def test_a_pipeline_that_reports_is_shown(console: Console, broker: BrokerProcess) -> None:
    report = {"batch": 7, "rows": 1000, "rows_per_second": 51_000.0, "seconds": 0.02, "offset": 8000, "lag": 120}
    client = http.client.HTTPConnection("127.0.0.1", broker.ports["http"], timeout=10)
    client.request("PUT", "/v1/pipelines/archive", json.dumps(report), {"content-type": "application/json"})
    assert client.getresponse().status == 200
    client.close()
    console.open("pipelines")
    row = console.page.locator("tr", has_text="archive")
    row.wait_for()
    assert "51.0k/s" in row.inner_text()
    assert "running" in row.inner_text()


def test_rosetta_marks_what_is_coded_and_lost(console: Console) -> None:
    page = console.page
    console.open("rosetta")
    page.locator(".rendering").nth(4).wait_for()
    page.get_by_label("Body", exact=True).fill("two\nlines")
    page.locator("[data-protocol=mqks] > .bytes .marker", has_text="encoding=base64").wait_for()
    assert page.locator("[data-protocol=smqs] > .bytes .marker").first.inner_text() == '{"base64": "'
    assert page.locator("[data-protocol=mqmq] > .bytes .part.body").inner_text() == "two⏎\nlines"
    assert page.locator("[data-protocol=rq] .badge.lost").count() >= 2
    page.get_by_role("button", name="hexadecimal").click()
    assert page.locator("[data-protocol=mqmq] > .bytes .part.body").inner_text().strip() == "74 77 6f 0a 6c 69 6e 65 73"
    page.get_by_label("Published over").select_option("mqks")
    page.get_by_text("MQKS cannot send this body").wait_for()
    console.forgive(422)


def test_light_and_dark(show: Callable[..., Console], broker: BrokerProcess) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = show(broker), show(broker, colors="dark")
    for console in (light, dark):
        console.open()
    assert light.page.evaluate(ground) == "rgb(244, 246, 248)"
    assert dark.page.evaluate(ground) == "rgb(14, 20, 24)"
    light.page.get_by_role("button", name="Switch between light and dark").click()
    assert light.page.evaluate(ground) == "rgb(14, 20, 24)"
    light.page.reload()
    light.page.locator("#pulse[data-state=live]").wait_for()
    assert light.page.evaluate(ground) == "rgb(14, 20, 24)"
    light.page.keyboard.press("t")
    assert light.page.evaluate(ground) == "rgb(244, 246, 248)"


def test_a_phone_shows_everything_without_scrolling_sideways(
    show: Callable[..., Console], broker: BrokerProcess
) -> None:
    put(broker, "a.queue.with.a.name.that.is.longer.than.a.phone.is.wide", "x" * 500)
    console = show(broker, width=360, height=740)
    page = console.page
    for view in (*VIEWS, "queues/a.queue.with.a.name.that.is.longer.than.a.phone.is.wide"):
        console.open(view)
        page.locator("main h1").wait_for()
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view


def test_the_keyboard_is_enough(console: Console, broker: BrokerProcess) -> None:
    put(broker, "keys", "one")
    page = console.page
    console.open()
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.locator("h1", has_text="Queues").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("keys")
    page.get_by_text("1 match").wait_for()
    page.keyboard.press("Escape")
    page.locator("td.name a", has_text="keys").focus()
    page.keyboard.press("Enter")
    page.locator("h1", has_text="keys").wait_for()
    page.get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.keyboard.press("?")
    page.get_by_text("switch between light and dark").wait_for()


def test_a_broker_that_goes_and_comes_back(show: Callable[..., Console]) -> None:
    port = str(free_ports(["http"])["http"])  # nobody is given it while the broker is down
    broker = BrokerProcess("--http", port)
    console = show(broker)
    console.open()
    broker.kill()
    console.page.locator("#pulse[data-state=lost]").wait_for()
    again = BrokerProcess("--http", port)
    try:
        console.page.locator("#pulse[data-state=live]").wait_for(timeout=2 * WITHIN)
    finally:
        again.kill()
    console.errors[:] = [error for error in console.errors if "ERR_" not in error]
