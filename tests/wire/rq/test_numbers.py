"""Which QUEUEID stands for which queue."""

from penstock.wire.rq.numbers import NUMBERLESS, QueueNumbers


def test_numbers_start_at_1_and_never_change_while_there_are_enough() -> None:
    numbers = QueueNumbers()
    assert [numbers.take(name) for name in (b"a", b"b", b"a", b"c")] == [1, 2, 1, 3]
    for name in (b"a", b"a", b"b"):
        numbers.release(name)
    assert [numbers.take(name) for name in (b"d", b"b", b"a")] == [4, 2, 1]
    assert [numbers.name_of(number) for number in (1, 2, 4)] == [b"a", b"b", b"d"]


def test_a_number_that_was_not_given_stands_for_nothing() -> None:
    numbers = QueueNumbers()
    numbers.take(b"a")
    assert [numbers.name_of(number) for number in (-1, 0, 2, NUMBERLESS)] == [b"", b"", b"", b""]


def test_when_all_are_given_the_longest_unused_name_loses_its_number() -> None:
    numbers = QueueNumbers(3)
    for name in (b"a", b"b", b"c"):
        numbers.take(name)
    numbers.release(b"c")
    numbers.release(b"a")
    assert numbers.take(b"d") == 3
    assert numbers.name_of(3) == b"d"
    assert numbers.take(b"a") == 1
    assert numbers.take(b"c") == NUMBERLESS


def test_a_name_without_a_number_gets_one_when_one_is_free() -> None:
    numbers = QueueNumbers(1)
    assert numbers.take(b"a") == 1
    assert numbers.take(b"b") == NUMBERLESS
    numbers.release(b"b")
    numbers.release(b"a")
    assert numbers.take(b"b") == 1
    numbers.release(b"b")
    assert numbers.take(b"a") == 1


def test_65534_names_have_a_number_of_their_own() -> None:
    numbers = QueueNumbers()
    assert [numbers.take(b"%d" % n) for n in range(1, 65535)] == list(range(1, 65535))
    assert numbers.take(b"one more") == NUMBERLESS
