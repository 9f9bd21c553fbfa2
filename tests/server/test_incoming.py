"""Large requests that are not whole yet share their memory, one at a time may exceed it, and who has little goes on."""

from typing import Any, cast

import pytest

from penstock.server.incoming import FREE_BYTES, LITTLE_BYTES, PROGRESS_BYTES, Incoming

MIB = 1 << 20
ONE, ANOTHER = "user one", "user another"


class Line:
    """A connection, as far as it is asked here."""

    def __init__(self) -> None:
        self.reading_pauses = 0
        self.kept_in = 0
        self.closed = False

    def pause_reading(self) -> None:
        self.reading_pauses += 1

    def resume_reading(self) -> None:
        self.reading_pauses -= 1

    def close_stalled(self, size: int) -> None:
        self.closed = True


class Later:
    """A loop whose time goes on when a test says so."""

    def __init__(self) -> None:
        self.planned: list[Any] = []
        self.short = False  # memory is

    def call_later(self, seconds: float, function: Any) -> object:
        self.planned.append(function)
        return function

    def fire(self) -> None:
        for function in [self.planned.pop(0) for _ in range(len(self.planned))]:
            function()


@pytest.fixture
def loop() -> Later:
    return Later()


@pytest.fixture
def incoming(loop: Later) -> Any:
    made: Any = Incoming(cast(Any, loop), 4 * MIB, lambda: bool(loop.short))
    return made


def test_who_stays_below_the_share_never_waits(incoming: Any) -> None:
    lines = [Line() for _ in range(3)]
    for line in lines:
        incoming.hold(line, ONE, MIB)
    assert not any(line.reading_pauses for line in lines)
    for line in lines:
        incoming.hold(line, ONE, 0)
    assert incoming.bytes == 0


def test_the_first_goes_on_above_the_share_and_the_others_wait_for_it(incoming: Any) -> None:
    first, second, third = Line(), Line(), Line()
    incoming.hold(first, ONE, 3 * MIB)
    incoming.hold(second, ONE, 2 * MIB)
    incoming.hold(third, ONE, MIB)
    incoming.hold(first, ONE, 30 * MIB)
    assert (first.reading_pauses, second.reading_pauses, third.reading_pauses) == (0, 1, 1)
    incoming.hold(first, ONE, 0)  # its request is whole, and done
    assert (second.reading_pauses, third.reading_pauses) == (0, 0)
    assert incoming.bytes == 3 * MIB


def test_who_leaves_is_not_waited_for(incoming: Any) -> None:
    first, second = Line(), Line()
    incoming.hold(first, ONE, 5 * MIB)
    incoming.hold(second, ONE, MIB)
    assert second.reading_pauses == 1
    incoming.leave(first)
    assert second.reading_pauses == 0
    incoming.leave(second)
    assert incoming.bytes == 0


def test_whoever_others_wait_for_and_that_does_not_go_on_is_closed(incoming: Any, loop: Later) -> None:
    first, second = Line(), Line()
    incoming.hold(first, ONE, 5 * MIB)
    incoming.hold(second, ONE, MIB)
    incoming.hold(first, ONE, 5 * MIB + PROGRESS_BYTES)
    seen = []
    for _ in range(2):
        loop.fire()
        seen.append(first.closed)
    assert seen == [False, True]
    assert second.reading_pauses == 0


def test_who_is_held_up_by_the_broker_is_not_closed_for_it(incoming: Any, loop: Later) -> None:
    first, second = Line(), Line()
    incoming.hold(first, ONE, 5 * MIB)
    incoming.hold(second, ONE, MIB)
    first.pause_reading()  # the disk is behind, say
    for _ in range(3):
        loop.fire()
    assert not first.closed


def test_nobody_is_closed_whom_nobody_waits_for(incoming: Any, loop: Later) -> None:
    first, second = Line(), Line()
    incoming.hold(first, ONE, 5 * MIB)
    incoming.hold(second, ONE, MIB)
    incoming.leave(second)
    loop.fire()
    assert not first.closed
    assert loop.planned == []


def test_one_read_is_free_while_all_together_stay_below_the_share(incoming: Any) -> None:
    lines = [Line() for _ in range(16)]
    for line in lines:
        incoming.hold(line, ONE, FREE_BYTES)
    assert (incoming.bytes, incoming.all_bytes) == (0, 16 * FREE_BYTES)
    late = Line()
    incoming.hold(late, ONE, LITTLE_BYTES)
    assert incoming.bytes == 0
    incoming.hold(late, ONE, FREE_BYTES)
    incoming.hold(lines[0], ONE, FREE_BYTES)
    assert incoming.bytes == 2 * FREE_BYTES
    for line in [*lines, late]:
        incoming.leave(line)
    assert (incoming.bytes, incoming.all_bytes, incoming.waiting) == (0, 0, 0)


def test_all_wait_while_memory_is_short(incoming: Any, loop: Later) -> None:
    first, second = Line(), Line()
    loop.short = True
    incoming.hold(first, ONE, MIB)
    incoming.hold(second, ONE, MIB)
    assert (first.reading_pauses, second.reading_pauses, incoming.waiting) == (1, 1, 2)
    loop.fire()
    assert not first.closed
    loop.short = False
    incoming.go_on()
    assert (first.reading_pauses, second.reading_pauses, incoming.waiting) == (0, 0, 0)


def test_who_has_little_goes_on_whatever_somebody_else_has(incoming: Any) -> None:
    many = [Line() for _ in range(20)]
    for line in many:
        incoming.hold(line, ONE, MIB // 2)
    assert sum(line.reading_pauses for line in many) > 10
    single = Line()
    for size in (MIB // 4, MIB // 2, MIB):
        incoming.hold(single, ANOTHER, size)
    assert single.reading_pauses == 0
    incoming.hold(single, ANOTHER, 3 * MIB)  # more than its part: it has to wait for its turn ...
    assert single.reading_pauses == 1
    incoming.leave(many[0])  # ... which is the next
    assert single.reading_pauses == 0
    for line in [*many, single]:
        incoming.leave(line)
    assert (incoming.bytes, incoming.all_bytes, incoming.waiting) == (0, 0, 0)
    assert not any(line.reading_pauses for line in many)


def test_who_has_little_is_not_closed_for_being_slow(incoming: Any, loop: Later) -> None:
    greedy, waiting, slow = Line(), Line(), Line()
    incoming.hold(slow, ANOTHER, MIB // 2)
    incoming.hold(greedy, ONE, 5 * MIB)
    incoming.hold(waiting, ONE, MIB)
    for _ in range(3):
        loop.fire()
    assert (greedy.closed, slow.closed) == (True, False)
