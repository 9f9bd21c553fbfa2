"""Bad requests by the thousand: the log stays short, and every error id that a client was given is in it."""

import pytest
from fuzz.words import mqmq_frame

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.log.memory import MemoryLog
from penstock.wire.dialects import DIALECTS
from penstock.wire.refusals import IDS_PER_SECOND, IN_FULL_PER_SECOND, SECOND
from penstock.wire.session import Hub, Session

NOW = 1_700_000_000_000_000
COUNT = 3000
TOLD = 900  # not more than a second has place for


class House:
    def __init__(self) -> None:
        self.reports: list[tuple[str, dict[str, object]]] = []
        limits = Limits(body_size_max=10)
        self.hub = Hub(Broker(MemoryLog(), limits), lambda level, event, details: self.reports.append((event, details)))
        self.dialects = {dialect.name: dialect for dialect in [make(self.hub) for make in DIALECTS]}

    def connect(self, protocol: str) -> Session:
        return self.dialects[protocol].open("peer", NOW)

    def take(self, event: str) -> list[dict[str, object]]:
        taken = [details for name, details in self.reports if name == event]
        self.reports = [report for report in self.reports if report[0] != event]
        return taken


REFUSED = {
    "mqks": b"m publish e 12345678901\n",
    "sevx": b'm send {"a": "12345678901"}\n',
    "smqs": b"M:q:12345678901\n",
    "mqmq": mqmq_frame(b"Put", b"q", b"12345678901"),
    "rq": b"\x01\x0a",
}


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_every_error_id_that_a_client_was_given_is_in_the_log(protocol: str) -> None:
    house = House()
    session = house.connect(protocol)
    session.feed(REFUSED[protocol] * TOLD, NOW)
    given = [line.rpartition(b" error ")[2].decode() for line in session.drain().splitlines()]
    assert len(given) == TOLD == session.errors
    in_full = house.take("request.refused")
    assert len(in_full) == IN_FULL_PER_SECOND
    logged = [str(report["error_id"]) for report in in_full]
    more = house.take("requests.refused")
    for report in more:
        assert isinstance(report["error_ids"], dict)
        for reason, ids in report["error_ids"].items():
            assert "body_size_max is 10" in reason
            logged += ids
    assert logged == given
    assert len(more) <= 2
    assert max(len(str(report)) for report in more) < 20_000


@pytest.mark.parametrize("protocol", ["mqks", "sevx"])
def test_of_more_error_ids_than_anybody_looks_for_the_rest_is_counted(protocol: str) -> None:
    house = House()
    session = house.connect(protocol)
    for number in range(10):
        session.feed(REFUSED[protocol] * COUNT, NOW + number)
    session.end(NOW + 10)
    assert len(house.take("request.refused")) == IN_FULL_PER_SECOND
    more = house.take("requests.refused")
    assert sum(len(str(report)) for report in more) < 50_000
    counted = [report["count"] for report in more if "count" in report]
    assert counted == [10 * COUNT - IN_FULL_PER_SECOND - IDS_PER_SECOND]


@pytest.mark.parametrize("protocol", ["smqs", "mqmq", "rq"])
def test_where_a_client_gets_no_id_the_rest_is_counted(protocol: str) -> None:
    house = House()
    session = house.connect(protocol)
    for number in range(COUNT):
        session.feed(REFUSED[protocol], NOW + number)
    assert session.errors == COUNT
    assert len(house.take("request.refused")) == IN_FULL_PER_SECOND
    assert not house.reports
    session.feed(REFUSED[protocol], NOW + SECOND)
    assert len(house.take("request.refused")) == 1
    assert [report["count"] for report in house.take("requests.refused")] == [COUNT - IN_FULL_PER_SECOND]
    for _ in range(20):
        session.feed(REFUSED[protocol], NOW + SECOND)
    session.end(NOW + SECOND)
    assert [report["count"] for report in house.take("requests.refused")] == [20 + 1 - IN_FULL_PER_SECOND]


def test_a_clock_that_is_set_back_does_not_silence_anyone() -> None:
    house = House()
    session = house.connect("mqks")
    session.feed(REFUSED["mqks"] * 20, NOW)
    house.reports.clear()
    session.feed(REFUSED["mqks"], NOW - 3600 * SECOND)
    assert len(house.take("request.refused")) == 1


@pytest.mark.parametrize("times", [1, 100])
def test_a_reason_does_not_quote_more_than_a_beginning(times: int) -> None:
    house = House()
    session = house.connect("mqks")
    for number in range(times):
        session.feed(b"c consume q e --%d%s\n" % (number, b"x" * 100_000), NOW)
    assert len(house.reports) == times
    assert max(len(str(report)) for report in house.reports) < 1000
    assert "unknown flag --" in str(house.reports[-1])
