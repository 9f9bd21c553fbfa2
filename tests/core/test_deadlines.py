import pytest

from penstock.core.deadlines import Deadlines, Timer


def never(fired: int) -> bool:
    return False


def noting(names: list[str], fired: list[str]) -> list[Timer]:
    """A timer for each name, which notes it when it fires."""

    def timer_for(name: str) -> Timer:
        return Timer(lambda now: fired.append(name))

    return [timer_for(name) for name in names]


def test_timers_fire_in_order_of_their_time_and_only_once() -> None:
    fired: list[str] = []
    early, late = noting(["early", "late"], fired)
    deadlines = Deadlines()
    deadlines.set(late, 20)
    deadlines.set(early, 10)
    assert deadlines.next_due() == 10
    deadlines.run(10, never)
    assert fired == ["early"]
    deadlines.run(30, never)
    assert fired == ["early", "late"]
    assert deadlines.next_due() == -1


def test_a_timer_set_again_moves_and_a_cancelled_one_never_fires() -> None:
    fired: list[str] = []
    moved, cancelled = noting(["moved", "cancelled"], fired)
    deadlines = Deadlines()
    deadlines.set(moved, 10)
    deadlines.set(cancelled, 10)
    deadlines.set(moved, 50)
    deadlines.cancel(cancelled)
    deadlines.run(49, never)
    assert fired == []
    deadlines.run(50, never)
    assert fired == ["moved"]


def test_cancelled_timers_do_not_pile_up() -> None:
    (timer,) = noting(["timer"], [])
    deadlines = Deadlines()
    for when in range(10_000):
        deadlines.set(timer, 1_000_000 + when)
    assert len(deadlines._heap) < 200
    assert deadlines.next_due() == 1_009_999


@pytest.mark.parametrize("set_again", [False, True])
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_timer_that_another_one_cancels_or_moves_in_the_same_run_does_not_fire_in_it(
    cancelled: bool, set_again: bool
) -> None:
    deadlines = Deadlines()
    fired: list[int] = []
    note = Timer(fired.append)

    def change(now: int) -> None:
        if cancelled:
            deadlines.cancel(note)
        if set_again:
            deadlines.set(note, 30)

    deadlines.set(Timer(change), 10)
    deadlines.set(note, 11)
    deadlines.run(20, never)
    assert fired == ([] if cancelled or set_again else [20])
    fired.clear()
    deadlines.run(40, never)
    assert fired == ([40] if set_again else [])
    assert deadlines.next_due() == -1


def test_what_is_due_waits_for_the_next_run_when_it_is_enough_or_set_meanwhile() -> None:
    deadlines = Deadlines()
    fired: list[str] = []

    def fire_again(now: int) -> None:
        fired.append("again")
        deadlines.set(again, 5)

    again = Timer(fire_again)
    for number, timer in enumerate([again, *noting(["second", "third"], fired)]):
        deadlines.set(timer, 10 + number)
    deadlines.run(20, lambda count: count == 2)
    assert fired == ["again", "second"]
    deadlines.run(20, lambda count: count == 2)
    assert fired == ["again", "second", "again", "third"]


def test_an_error_goes_to_the_timers_own_handler_and_otherwise_out() -> None:
    deadlines = Deadlines()
    fired: list[str] = []
    errors: list[Exception] = []
    trouble = ValueError("trouble")

    def fail(now: int) -> None:
        raise trouble

    deadlines.set(Timer(fail, errors.append), 10)
    for timer in noting(["next"], fired):
        deadlines.set(timer, 11)
    deadlines.run(20, never)
    assert (errors, fired) == ([trouble], ["next"])
    deadlines.set(Timer(fail), 30)
    with pytest.raises(ValueError, match="trouble"):
        deadlines.run(40, never)
