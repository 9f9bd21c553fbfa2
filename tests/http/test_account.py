"""The account of memory as people see it, and answers that nobody reads."""

import asyncio

import pytest

from penstock.http.answers import Answers
from penstock.http.caller import Caller
from penstock.http.problems import Problem
from penstock.server.account import KINDS

from ..server.conftest import RunningBroker
from .conftest import Api
from .test_overview import series_of


def test_what_is_held_is_shown_by_kind_and_by_connection(broker: RunningBroker, api: Api) -> None:
    api.declare("q", "e")
    holder, half = broker.connect("mqks"), broker.connect("mqks")
    holder.send(b"c consume --confirm q e --manual-ack\n")
    holder.line()
    api.post("/v1/publish", {"event": "e", "body": "x" * 10_000})
    holder.line()
    half.send(b"1 publish e unfin")
    overview = api.until("/v1/overview", lambda found: found["memory"]["kinds"]["held"] > 10_000)
    memory = overview["memory"]
    assert tuple(memory["kinds"]) == KINDS
    assert memory["used"] == sum(memory["kinds"].values())
    assert memory["limit"] == broker.config.memory_bytes_max
    found = api.until(
        "/v1/connections",
        lambda page: sorted(row["memory_bytes"] for row in page["connections"])[0] == len("1 publish e unfin"),
    )
    assert max(row["memory_bytes"] for row in found["connections"]) > 10_000
    series = series_of(api.get("/metrics").text)
    assert series['penstock_memory_bytes{kind="held"}'] > 10_000
    assert series['penstock_memory_bytes{kind="in"}'] == len("1 publish e unfin")
    assert series["penstock_memory_limit_bytes"] == memory["limit"]
    assert series['penstock_user_memory_bytes{user=""}'] > 10_000


class Client:
    """An HTTP connection, as far as it is asked here."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.size = 0
        self.is_aborted = False
        self.transport = self

    def is_closing(self) -> bool:
        return self.is_aborted

    def get_write_buffer_size(self) -> int:
        return self.size

    def abort(self) -> None:
        self.is_aborted = True


def test_one_who_does_not_read_its_answers_is_refused_more_and_another_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.http.answers.WAIT_SECONDS", 0)
    monkeypatch.setattr("penstock.http.answers.WAITS_MAX", 3)
    asyncio.run(refuse_the_unread())


async def refuse_the_unread() -> None:
    answers = Answers(8 << 20)
    greedy, good = Client("10.0.0.1:1"), Client("10.0.0.2:1")
    answers.connections = [greedy, good]
    async with answers.room(Caller(None, greedy.peer), 3 << 20):
        greedy.size = 3 << 20  # it is written, and stays where it is
    with pytest.raises(Problem) as refused:
        async with answers.room(Caller(None, greedy.peer), 3 << 20):
            pass
    assert refused.value.status == 429
    assert "memory_bytes_max" in refused.value.detail
    async with answers.room(Caller(None, good.peer), 4 << 20):
        assert answers.bytes == 7 << 20
    greedy.size = 0
    async with answers.room(Caller(None, greedy.peer), 9 << 20):
        assert answers.bytes == 9 << 20  # one is made, however large
    assert answers.bytes == 0


def test_who_reads_nothing_while_somebody_waits_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.http.answers.WAIT_SECONDS", 0.001)
    monkeypatch.setattr("penstock.http.answers.PATIENCE_SECONDS", 0.01)
    asyncio.run(close_the_stalled())


async def close_the_stalled() -> None:
    answers = Answers(1 << 20)
    stalled = Client("10.0.0.1:1")
    stalled.size = 1 << 20
    answers.connections = [stalled]
    async with answers.room(Caller(None, "10.0.0.2:1"), 1 << 20):
        assert stalled.is_aborted
