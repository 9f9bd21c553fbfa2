"""The table of what a protocol lacks is exact: nothing is left out without a reason, and no reason is left over."""

import re
from pathlib import Path

import pytest

from ..server.conftest import RunningBroker
from .drivers import DRIVERS, LACKS, OPTIONAL, Driver, MqmqDriver, RqDriver, SmqsDriver, frame, having, needs

SOURCES = sorted(Path(__file__).parent.glob("test_*.py"))


def test_there_is_a_driver_for_every_protocol(broker: RunningBroker) -> None:
    assert [*(driver.protocol for driver in DRIVERS), "any"] == list(broker.node.dialects)


@pytest.mark.parametrize("verb", OPTIONAL)
@needs()
def test_a_driver_has_a_verb_or_the_table_says_why_not(driver: type[Driver], verb: str) -> None:
    has_it = getattr(driver, verb) is not getattr(Driver, verb)
    reason = LACKS[verb].get(driver.protocol)
    assert has_it == (reason is None)
    assert reason is None or len(reason) > 10


def test_the_table_names_nothing_else() -> None:
    assert list(LACKS) == OPTIONAL
    for lacking in LACKS.values():
        assert lacking
        assert lacking.keys() < {driver.protocol for driver in DRIVERS}


def test_every_verb_is_asked_for_by_a_test_and_no_test_is_skipped() -> None:
    text = "".join([source.read_text() for source in SOURCES])
    marks = "".join(re.findall(r"^@needs\(.*\)$", text, re.MULTILINE))
    assert set(re.findall(r'"(\w+)"', marks)) == set(OPTIONAL)
    assert not re.search(r"pytest\.(mark\.)?(skip|xfail)\w*\(", text)


# Where a protocol would have a word for something if it had the thing, it says that it does not know it.


@pytest.mark.parametrize("word", [b"R:jobs:1", b"A:jobs:1", b"U:jobs", b"B:jobs:event", b"X:jobs"])
def test_SMQS_knows_no_other_words(broker: RunningBroker, word: bytes) -> None:
    client = SmqsDriver(broker)
    assert client.attempt(word + b"\n").units == [b"UNKNOWN_TYPE"]


@pytest.mark.parametrize("word", [b"Ack", b"Reject", b"Delete", b"Bind", b"Consume"])
def test_MQMQ_knows_no_other_words(broker: RunningBroker, word: bytes) -> None:
    got = MqmqDriver(broker).attempt(frame(word, b"jobs"))
    assert got.units == [frame(b"Error", b"REQUEST_UNKNOWN_COMMAND")]
    assert not got.stays


def test_RQ_steps_over_other_words(broker: RunningBroker) -> None:
    known = {0x0A, 0x0B, 0x0D, 0x0E, 0x10, 0x14, 0x15, 0x16, 0x05, 0x06}
    client = RqDriver(broker)
    for action in set(range(0x20)) - known:
        assert client.attempt(b"\x01\xa0\x04jobs" + bytes([action])).units == []
    assert broker.call(lambda: len(broker.node.broker.queues)) == 0


def test_what_all_have_is_not_in_the_table() -> None:
    assert having() == list(DRIVERS)
