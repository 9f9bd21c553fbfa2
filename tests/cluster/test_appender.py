"""A leader's appends, on a stream that does what the test says, one answer after the other."""

from collections.abc import Callable
from functools import partial

import pytest

from penstock.cluster.appender import Appender
from penstock.cluster.stream import (
    BLOCKS,
    LEAD,
    Answer,
    Beat,
    Extent,
    Found,
    Reading,
    Refused,
    Stored,
    StreamMessage,
    Unknown,
)

Taker = Callable[[int, StreamMessage], None]


class Script:
    """A stream whose answers the test gives by hand."""

    data_max = 100
    is_connected = True

    def __init__(self) -> None:
        self.appends: list[tuple[str, int, Callable[[Answer], None]]] = []
        self.looks: list[tuple[int, Callable[[Found | Unknown], None]]] = []

    def append(self, message: StreamMessage, after: int, answer: Callable[[Answer], None]) -> None:
        self.appends.append((message.id, after, answer))

    def look(self, sequence: int, answer: Callable[[Found | Unknown], None]) -> None:
        self.looks.append((sequence, answer))

    def asked(self) -> list[tuple[str, int]]:
        return [(id, after) for id, after, _ in self.appends]

    def answer(self, said: Answer) -> None:
        """To the oldest append."""
        self.appends.pop(0)[2](said)

    def found(self, message: StreamMessage | None) -> None:
        self.looks.pop(0)[1](Found(message))

    def extent(self, answer: Callable[[Extent | Unknown], None]) -> None:
        raise NotImplementedError

    def read(self, after: int, take: Taker) -> Reading:
        raise NotImplementedError

    def delete(self, first: int, end: int) -> None:
        raise NotImplementedError

    def beat(self, beat: Beat) -> None:
        raise NotImplementedError

    def hear(self, take: Callable[[Beat], None]) -> None:
        raise NotImplementedError


def message(number: int, lead: str = "a", term: int = 5, kind: str = BLOCKS) -> StreamMessage:
    return StreamMessage(kind, lead, term, number, 0)


class Leader:
    def __init__(self, count: int) -> None:
        self.stream = Script()
        self.stored: list[tuple[int, int]] = []
        self.given_up: list[str] = []
        self.appender = Appender(self.stream, 10, self.given_up.append, under_way_max=3)
        for number in range(1, count + 1):
            self.appender.send(message(number), partial(self.keep, number))

    def keep(self, number: int, sequence: int) -> None:
        self.stored.append((number, sequence))


def test_appends_are_under_way_behind_consecutive_numbers() -> None:
    leader = Leader(5)
    stream = leader.stream
    assert stream.asked() == [("a.1", 10), ("a.2", 11), ("a.3", 12)]
    stream.answer(Stored(11))
    assert leader.stored == [(1, 11)]
    assert stream.asked() == [("a.2", 11), ("a.3", 12), ("a.4", 13)]
    for number in (12, 13, 14, 15):
        stream.answer(Stored(number))
    assert leader.stored == [(1, 11), (2, 12), (3, 13), (4, 14), (5, 15)]
    assert leader.appender.count == 0


def test_answers_out_of_order_confirm_in_order() -> None:
    leader = Leader(2)
    (_, _, first), (_, _, second) = leader.stream.appends
    second(Stored(12))
    assert leader.stored == []
    first(Stored(11))
    assert leader.stored == [(1, 11), (2, 12)]


def test_a_lost_answer_is_looked_up() -> None:
    leader = Leader(2)
    leader.stream.answer(Unknown("no answer"))
    leader.stream.answer(Stored(12))
    assert leader.stored == []
    assert leader.appender.trouble == "no answer"
    leader.appender.retry()
    leader.stream.found(message(1))
    assert leader.stored == [(1, 11)]
    leader.stream.found(message(2))
    assert leader.stored == [(1, 11), (2, 12)]
    assert leader.appender.trouble == ""


def test_what_was_lost_is_sent_again_and_then_what_was_behind_it() -> None:
    leader = Leader(3)
    stream = leader.stream
    for _ in range(3):
        stream.answer(Refused())
    assert [number for number, _ in stream.looks] == [11]
    stream.found(None)
    assert stream.asked() == []  # it keeps the pace of `retry`
    leader.appender.retry()
    assert stream.asked() == [("a.1", 10)]
    stream.answer(Stored(11))
    assert stream.asked() == [("a.2", 11), ("a.3", 12)]


def test_nothing_more_is_sent_until_all_that_was_under_way_is_answered() -> None:
    leader = Leader(4)
    stream = leader.stream
    stream.answer(Refused())
    stream.answer(Refused())
    assert stream.looks == []
    assert stream.asked() == [("a.3", 12)]
    stream.answer(Refused())
    assert len(stream.looks) == 1


@pytest.mark.parametrize("other", [message(0, "b", 6, LEAD), message(3, "b", 6)])
def test_a_newer_leadership_ends_this_one(other: StreamMessage) -> None:
    leader = Leader(2)
    leader.stream.answer(Refused())
    leader.stream.answer(Stored(12))  # the fence compares numbers only: it got in behind the other's message
    leader.stream.found(other)
    assert leader.stored == []
    assert len(leader.given_up) == 1
    assert "term 6" in leader.given_up[0]
    leader.appender.retry()
    assert leader.stream.asked() == []


def test_what_an_older_leadership_sent_late_is_passed_over() -> None:
    leader = Leader(1)
    leader.stream.answer(Refused())
    leader.stream.found(message(7, "z", 4))
    leader.stream.found(None)
    leader.appender.retry()
    assert leader.stream.asked() == [("a.1", 11)]
    leader.stream.answer(Stored(12))
    assert leader.stored == [(1, 12)]


def test_what_is_in_the_stream_twice_is_passed_over() -> None:
    leader = Leader(2)
    leader.stream.answer(Stored(11))
    leader.stream.answer(Refused())
    leader.stream.found(message(1))
    leader.stream.found(message(2))
    assert leader.stored == [(1, 11), (2, 13)]


def test_a_later_message_before_one_that_was_lost_ends_the_leadership() -> None:
    """Behind a late message of somebody else, the second found the number it had to follow. It never counts."""
    leader = Leader(2)
    leader.stream.answer(Unknown("no answer"))
    leader.stream.answer(Stored(12))
    leader.appender.retry()
    leader.stream.found(message(7, "z", 4))
    leader.stream.found(message(2))
    assert leader.stored == []
    assert leader.given_up == ["message 2 of this leadership was stored before message 1"]


def test_nobody_is_called_once_it_was_stopped() -> None:
    leader = Leader(1)
    leader.appender.stop()
    leader.stream.answer(Stored(11))
    assert leader.stored == []
