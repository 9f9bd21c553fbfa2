"""A real browser before a real broker: Debian's Chromium, driven by Playwright.

Each test gets a page of its own. When it is over, the page must have written no error to its console and asked nobody
but its broker for anything. `PENSTOCK_SCREENSHOTS=1` (make screenshots) writes the pictures of docs/img.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..server.conftest import BrokerProcess, Client

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

CHROMIUM = shutil.which("chromium") or ""
ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "img"
WITHIN = 10_000  # milliseconds; a busy machine is not a wrong page

# Nothing of the browser's own wishes: no updates, no lists of bad sites, no first-run pages.
QUIET = (
    "--no-sandbox",  # as root it would not start
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
)


@pytest.fixture(scope="module")  # and no longer: while it runs, nothing else in this thread can have an event loop
def chromium() -> "Iterator[Browser]":
    if not CHROMIUM:
        pytest.skip("no Chromium here; as root: apt-get install -y --no-install-recommends chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


class Console:
    """The console of one broker in one page, and what the page did."""

    def __init__(self, page: "Page", broker: BrokerProcess) -> None:
        self.page = page
        self.broker = broker
        self.base = f"http://127.0.0.1:{broker.ports['http']}"
        self.errors: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(WITHIN)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._on_request)

    def open(self, route: str = "") -> None:
        """Go to a view, and wait for the first sample."""
        self.page.goto(f"{self.base}/#/{route}")
        self.page.locator("#pulse[data-state=live]").wait_for()

    def figure(self, name: str) -> str:
        return self.page.locator(f".tiles [data-value={name}]").inner_text()

    def wait_for_figure(self, name: str, text: str) -> None:
        self.page.locator(f".tiles [data-value={name}]", has_text=text).wait_for()

    def forgive(self, status: int) -> None:
        """The browser says each answer that is an error, also one that the test is about; there has to be one."""
        kept = [error for error in self.errors if f"status of {status}" not in error]
        assert len(kept) < len(self.errors)
        self.errors[:] = kept

    def check(self) -> None:
        assert self.errors == []
        assert [url for url in self.asked if not url.startswith((self.base + "/", "data:", "blob:"))] == []

    def _on_console(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _on_request(self, request: "Request") -> None:
        self.asked.append(request.url)


@pytest.fixture(scope="module")
def broker() -> Iterator[BrokerProcess]:
    """One for a file of tests: each test has queues of its own."""
    process = BrokerProcess()
    yield process
    process.kill()


@pytest.fixture
def show(chromium: "Browser") -> "Iterator[Callable[..., Console]]":
    """Open the console of a broker: `show(broker, width=360, colors="dark")`."""
    with contextlib.ExitStack() as stack:
        shown: list[Console] = []

        def show(broker: BrokerProcess, width: int = 1280, height: int = 860, colors: str = "light") -> Console:
            context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=colors)  # type: ignore[arg-type]
            stack.callback(context.close)
            console = Console(context.new_page(), broker)
            shown.append(console)
            return console

        yield show
        for console in shown:
            console.check()


@pytest.fixture
def console(show: "Callable[..., Console]", broker: BrokerProcess) -> Console:
    return show(broker)


@pytest.fixture
def screenshot(tmp_path: Path) -> Callable[[Console, str], None]:
    folder = IMAGES if os.environ.get("PENSTOCK_SCREENSHOTS") else tmp_path

    def take(console: Console, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        picture = console.page.screenshot(path=folder / f"{name}.png", animations="disabled")
        assert picture.startswith(b"\x89PNG")

    return take


__all__ = ["BrokerProcess", "Client", "Console"]
