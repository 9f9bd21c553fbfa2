"""The keeper looks at the clock: whoever came in by a token is out when it is over."""

import asyncio
from pathlib import Path
from typing import Any

from penstock.auth.file import UsersFile
from penstock.config import Config
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.server.reactor import Reactor
from penstock.server.user_reloader import UserReloader
from penstock.server.watch import Watcher
from penstock.wire.session import Hub

SECOND = 1_000_000
BEGAN = 1_800_000_000


class Times:
    """A clock that says what it was told to, one after the other, and the last for ever."""

    def __init__(self, *times: int) -> None:
        self.times = list(times)

    def now(self) -> int:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


class Guest:
    """A session that came in by a token, and its connection."""

    def __init__(self, until: int) -> None:
        self.until = until
        self.is_out = False
        self.user = None
        self.identity = None
        self.successor = None
        self.peer, self.protocol = "somebody", "mqks"
        self.is_aborted = False
        self.transport = self

    def may_stay(self, now: int) -> bool:
        return now < self.until

    def revoke(self, now: int) -> None:
        self.is_out = True

    def write_outbox(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.is_aborted = True


class BadGuest(Guest):
    def revoke(self, now: int) -> None:
        raise RuntimeError("oops")


def ignore(level: str, event: str, details: dict[str, object]) -> None: ...


def test_a_token_that_ends_between_two_looks_at_the_clock_ends_its_sessions(tmp_path: Path) -> None:
    asyncio.run(keep_until_the_end(tmp_path))


async def keep_until_the_end(tmp_path: Path) -> None:
    with UsersFile(tmp_path / "users.json").edit() as users:
        users.add("ann")
        users.create_token("ann", BEGAN, BEGAN + 10, "")
    end = (BEGAN + 10) * SECOND
    user_reloader = UserReloader(Config(memory=True, users=tmp_path / "users.json"))
    hub = Hub(Broker(MemoryLog(), Limits()), ignore)
    clock: Any = Times(end - 1, end)
    reactor = Reactor(asyncio.get_running_loop(), hub, clock, 10)
    guest: Any = Guest(end)
    reactor.connections[guest] = guest
    user_reloader.start(reactor, Watcher(ignore))
    try:
        async with asyncio.timeout(10):
            while not guest.is_out:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
    finally:
        user_reloader.stop()


def test_one_who_cannot_be_shown_out_keeps_nobody_in(tmp_path: Path) -> None:
    asyncio.run(show_out_both(tmp_path))


async def show_out_both(tmp_path: Path) -> None:
    with UsersFile(tmp_path / "users.json").edit() as users:
        users.add("ann")
    reports: list[tuple[str, str]] = []
    hub = Hub(
        Broker(MemoryLog(), Limits()),
        lambda level, event, details: reports.append((event, str(details.get("error")))),
    )
    clock: Any = Times(BEGAN * SECOND)
    reactor = Reactor(asyncio.get_running_loop(), hub, clock, 10)
    bad, good = BadGuest(0), Guest(0)
    for guest in (bad, good):
        entry: Any = guest
        reactor.connections[entry] = entry
    user_reloader = UserReloader(Config(memory=True, users=tmp_path / "users.json"))
    user_reloader.start(reactor, Watcher(ignore))
    user_reloader.stop()
    assert good.is_out
    assert not good.is_aborted
    assert bad.is_aborted
    assert ("session.failed", "RuntimeError('oops')") in reports
