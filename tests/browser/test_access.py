"""Logging in to the console, and what somebody with few rights is shown."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.auth.file import UsersFile
from penstock.auth.passwords import hash_password

from .conftest import BrokerProcess, Console

pytestmark = [pytest.mark.slow, pytest.mark.process]

PASSWORD = "correct horse battery"


class Guarded(BrokerProcess):
    """`root` is an admin; `shop` may browse and publish what begins with shop. Both have the same password."""

    def __init__(self, folder: Path) -> None:
        self.file = UsersFile(folder / "users.json")
        kept = hash_password(PASSWORD)
        with self.file.edit() as users:
            shop = ["browse shop.*", "publish shop.*"]
            for name, grants in {"root": ["admin"], "shop": shop, "dumb": [], "guessed": []}.items():
                users.add(name).password = kept
                for grant in grants:
                    users.grant(name, grant)
            self.token = users.create_token("root", int(time.time()), 0, "deploy")
        super().__init__("--users", str(self.file.path))
        client = self.connect("smqs")
        client.send(f"A:{self.token}\nM:shop.orders:one\nM:bank.vault:two\nS:\n".encode())
        client.line()

    def wait_for_failures(self, count: int) -> None:
        deadline = time.monotonic() + 20
        while self.failures() < count:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def failures(self) -> int:
        client = http.client.HTTPConnection("127.0.0.1", self.ports["http"], timeout=10)
        client.request("GET", "/metrics", headers={"authorization": f"Bearer {self.token}"})
        lines = client.getresponse().read().decode().splitlines()
        client.close()
        return sum(int(line.split()[-1]) for line in lines if line.startswith("penstock_auth_failures_total "))


def guess(broker: BrokerProcess, user: str) -> None:
    client = broker.connect("http")
    body = json.dumps({"user": user, "password": "a guess"}).encode()
    head = (
        b"POST /v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    )
    client.send(head % len(body) + body)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    process = Guarded(tmp_path_factory.mktemp("guarded"))
    yield process
    process.kill()


def log_in(console: Console, user: str, password: str = PASSWORD) -> None:
    page = console.page
    page.get_by_label("User", exact=True).fill(user)
    page.get_by_label("Password", exact=True).fill(password)
    page.keyboard.press("Enter")


def entered(console: Console, user: str) -> None:
    log_in(console, user)
    console.page.locator("#who", has_text=user).wait_for()


def test_one_logs_in_by_keyboard_and_out_again(console: Console) -> None:
    page = console.page
    page.goto(f"{console.base}/#/queues")
    page.locator("form.login").wait_for()
    assert page.locator("#nav").is_hidden()
    assert page.evaluate("document.activeElement.name") == "user"
    page.keyboard.type("root")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.locator("td.name", has_text="bank.vault").wait_for()  # where the address leads
    page.locator("#pulse[data-state=live]").wait_for()
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", False)
    page.get_by_role("button", name="log out").click()
    page.locator("form.login").wait_for()
    assert page.context.cookies() == []


def test_a_token_is_as_good_as_a_password(console: Console, broker: Guarded) -> None:
    page = console.page
    page.goto(console.base)
    page.get_by_role("button", name="Use a token").click()
    page.get_by_label("Token").fill(broker.token)
    page.keyboard.press("Enter")
    page.locator("#pulse[data-state=live]").wait_for()
    assert broker.token not in page.content()
    assert page.evaluate("Object.keys(localStorage).length") == 0


def test_a_wrong_password_is_told_and_too_many_are_locked_out(console: Console, broker: Guarded) -> None:
    page = console.page
    page.goto(console.base)
    before = broker.failures()
    log_in(console, "guessed", "wrong")
    page.get_by_role("alert").get_by_text("Wrong user or password").wait_for()
    assert page.get_by_label("Password", exact=True).input_value() == ""
    for _ in range(4):  # guessed at the same time, from elsewhere: nobody waits for the answers
        guess(broker, "guessed")
    broker.wait_for_failures(before + 5)
    log_in(console, "guessed")  # and be it the right one
    button = page.get_by_role("button", name="Wait")
    button.wait_for()
    assert "Too many failed attempts" in page.get_by_role("alert").inner_text()
    assert button.is_disabled()
    console.forgive(401)
    console.forgive(429)


def test_somebody_with_few_rights_is_shown_what_is_theirs(console: Console) -> None:
    page = console.page
    page.goto(f"{console.base}/#/queues")
    entered(console, "shop")
    page.locator("td.name", has_text="shop.orders").wait_for()
    assert page.locator("td.name").count() == 1
    assert page.get_by_role("button", name="New queue").count() == 0
    assert page.locator("#nav a[data-view=log]").is_hidden()
    console.open("queues/shop.orders")
    page.get_by_role("button", name="Publish").wait_for()
    for label in ("Move", "Redrive", "Pause", "Purge", "Delete"):
        assert page.get_by_role("button", name=label).count() == 0
    console.open("queues/bank.vault")
    page.get_by_text("Permission denied: bank.vault").wait_for()
    console.open("log")
    page.get_by_text("Permission denied", exact=True).wait_for()
    console.open("access")
    page.get_by_text("browse shop.*").wait_for()
    assert page.get_by_role("button", name="New user").count() == 0


def test_who_may_nothing_is_told_so(console: Console) -> None:
    page = console.page
    page.goto(console.base)
    entered(console, "dumb")
    page.locator("h1", has_text="Access").wait_for()
    assert page.locator("#nav a:visible").all_inner_texts() == ["Rosetta", "Access"]


def test_an_admin_makes_users_and_tokens_and_takes_them_away(
    show: Callable[..., Console], console: Console, screenshot: Callable[[Console, str], None]
) -> None:
    page = console.page
    page.goto(f"{console.base}/#/access")
    entered(console, "root")
    page.get_by_role("button", name="New user").click()
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Permissions").fill("publish orders.*\nbrowse *")
    page.get_by_label("Password for the console").fill(PASSWORD)
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="ada", exact=True).click()
    panel = page.locator("dialog.side")
    panel.get_by_role("button", name="Set quotas").click()
    page.get_by_label("concurrent connections").fill("5")
    page.get_by_role("button", name="Set", exact=True).click()
    panel.locator("dd", has_text="5").wait_for()
    panel.get_by_role("button", name="Remove publish orders.*").click()
    panel.get_by_text("publish orders.*").wait_for(state="detached")
    page.keyboard.press("Escape")
    page.locator("tr", has_text="ada").get_by_text("0 of 5").wait_for()

    page.get_by_role("button", name="New token").click()
    page.get_by_label("User", exact=True).fill("ada")
    page.get_by_label("Note").fill("laptop")
    page.get_by_role("button", name="Create").click()
    shown = page.locator("dialog.side code").inner_text()
    assert shown.startswith("pst_")
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    page.locator("tr", has_text="laptop").wait_for()
    assert shown not in page.content()
    page.evaluate("document.getElementById('toasts').replaceChildren()")
    screenshot(console, "access")

    other = show(console.broker)
    other.page.goto(other.base)
    entered(other, "ada")
    other.page.locator("#pulse[data-state=live]").wait_for()
    page.get_by_role("button", name=f"Revoke {shown.split('_')[1]}", exact=True).click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    page.locator("tr", has_text="laptop").wait_for(state="detached")
    page.get_by_role("button", name="ada", exact=True).click()
    panel.get_by_role("button", name="Remove ada").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_text("Removed user ada").wait_for()
    other.page.locator("form.login").wait_for()  # what they looked at is over
    other.errors[:] = [error for error in other.errors if "401" not in error]


def test_the_login_is_dark_and_fits_a_phone(
    show: Callable[..., Console], broker: Guarded, screenshot: Callable[[Console, str], None]
) -> None:
    console = show(broker, width=360, height=640, colors="dark")
    page = console.page
    page.goto(console.base)
    page.locator("form.login").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 20, 24)"
    screenshot(console, "login-dark")
    entered(console, "root")
    page.goto(f"{console.base}/#/access")
    page.locator("tr", has_text="shop").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
