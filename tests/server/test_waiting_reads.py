"""What was read and waits for its turn: one user's is bounded, and others are read on."""

from typing import Any, cast

import pytest

from penstock.server.waiting_reads import WaitingReads


class Line:
    """A connection, and the session of it, as far as they are asked here."""

    def __init__(self, holder: str) -> None:
        self.holder = holder
        self.waiting_in = 0
        self.waiting_for = ""
        self.is_stopped = False
        self.says_much = True
        self.reading_pauses = 0

    def pause_reading(self) -> None:
        self.reading_pauses += 1

    def resume_reading(self) -> None:
        self.reading_pauses -= 1


class House:
    def __init__(self) -> None:
        self.lines = [Line("one") for _ in range(5)] + [Line("another")]
        self.publishers_wait = False
        connections = cast(Any, {line: line for line in self.lines})
        self.reads: Any = WaitingReads(1000, connections, lambda: self.publishers_wait)

    def read(self, number: int, size: int) -> None:
        line = self.lines[number]
        self.reads.hold(line, line.holder, size)

    def pauses(self) -> list[int]:
        return [line.reading_pauses for line in self.lines]


@pytest.fixture
def house() -> House:
    return House()


def test_above_its_part_no_other_connection_of_a_user_is_read_until_half_is_done(house: House) -> None:
    house.read(0, 600)
    assert house.pauses() == [0] * 6
    house.read(1, 600)
    assert house.pauses() == [0, 0, 1, 1, 1, 0]
    house.read(0, 0)
    assert house.pauses() == [0, 0, 1, 1, 1, 0]
    house.read(1, 500)
    assert house.pauses() == [0] * 6
    house.read(1, 0)
    assert house.reads.bytes == 0


def test_another_user_is_read_and_counted_apart(house: House) -> None:
    house.read(0, 1001)
    house.read(5, 900)
    assert house.pauses() == [0, 1, 1, 1, 1, 0]
    house.read(0, 0)
    assert house.pauses() == [0] * 6
    assert house.reads.bytes == 900


def test_what_waits_counts_for_whom_it_was_read(house: House) -> None:
    house.read(0, 700)
    house.lines[0].holder = "another"  # it has shown another token
    house.read(0, 300)
    house.read(5, 900)
    assert house.pauses() == [0] * 6
    house.read(0, 0)
    house.read(5, 0)
    assert house.reads.bytes == 0


def test_while_publishers_wait_all_are_read(house: House) -> None:
    house.read(0, 1001)
    house.publishers_wait = True
    house.reads.read_all()
    assert house.pauses() == [0] * 6
    house.read(1, 1001)
    assert house.pauses() == [0] * 6


def test_one_that_was_read_though_it_was_stopped_goes_on(house: House) -> None:
    house.read(0, 1001)
    assert house.pauses() == [0, 1, 1, 1, 1, 0]
    house.read(1, 2000)  # it had been read when it was stopped
    assert house.pauses() == [0, 0, 1, 1, 1, 0]
    house.read(0, 0)
    house.read(1, 0)
    assert house.pauses() == [0] * 6


def test_one_that_says_little_is_read_whatever_waits(house: House) -> None:
    house.lines[2].says_much = False
    house.read(0, 1001)
    assert house.pauses() == [0, 1, 0, 1, 1, 0]
    house.read(0, 0)
    assert house.pauses() == [0] * 6
