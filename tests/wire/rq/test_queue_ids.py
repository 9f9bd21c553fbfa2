"""Which QUEUEID stands for which queue."""

from penstock.wire.rq.queue_ids import NO_QUEUE_ID, QueueIds


def test_numbers_start_at_1_and_never_change_while_there_are_enough() -> None:
    ids = QueueIds()
    assert [ids.take(name) for name in (b"a", b"b", b"a", b"c")] == [1, 2, 1, 3]
    for name in (b"a", b"a", b"b"):
        ids.release(name)
    assert [ids.take(name) for name in (b"d", b"b", b"a")] == [4, 2, 1]
    assert [ids.name_of(id) for id in (1, 2, 4)] == [b"a", b"b", b"d"]


def test_a_number_that_was_not_given_stands_for_nothing() -> None:
    ids = QueueIds()
    ids.take(b"a")
    assert [ids.name_of(id) for id in (-1, 0, 2, NO_QUEUE_ID)] == [b"", b"", b"", b""]


def test_when_all_are_given_the_longest_unused_name_loses_its_number() -> None:
    ids = QueueIds(3)
    for name in (b"a", b"b", b"c"):
        ids.take(name)
    ids.release(b"c")
    ids.release(b"a")
    assert ids.take(b"d") == 3
    assert ids.name_of(3) == b"d"
    assert ids.take(b"a") == 1
    assert ids.take(b"c") == NO_QUEUE_ID


def test_a_name_without_a_number_gets_one_when_one_is_free() -> None:
    ids = QueueIds(1)
    assert ids.take(b"a") == 1
    assert ids.take(b"b") == NO_QUEUE_ID
    ids.release(b"b")
    ids.release(b"a")
    assert ids.take(b"b") == 1
    ids.release(b"b")
    assert ids.take(b"a") == 1


def test_65534_names_have_a_number_of_their_own() -> None:
    ids = QueueIds()
    assert [ids.take(b"%d" % n) for n in range(1, 65535)] == list(range(1, 65535))
    assert ids.take(b"one more") == NO_QUEUE_ID
