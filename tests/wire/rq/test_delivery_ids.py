"""The IDs of requests that a node has not answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.delivery import Delivery
from penstock.core.subscription import Inbox
from penstock.message import Message
from penstock.wire.rq.codec import ABSENT
from penstock.wire.rq.delivery_ids import IDS_ENOUGH, IDS_MAX, DeliveryIds


def some_delivery() -> Delivery:
    return Delivery(Message(b"m", b"q", b"x", 0, "test"), Inbox(b"c"), 0, 0, 0)


def full() -> DeliveryIds:
    ids = DeliveryIds()
    delivery = some_delivery()
    for expected in range(IDS_MAX):
        assert not ids.exhausted
        assert ids.assign(delivery, False) == expected
    assert ids.exhausted
    return ids


def test_an_ID_stands_for_its_delivery_until_it_is_released() -> None:
    ids = DeliveryIds()
    first, second = some_delivery(), some_delivery()
    assert (ids.assign(first, False), ids.assign(second, True)) == (0, 1)
    assert (ids.noreply, ids.has_deliveries()) == ({1}, True)
    assert ids.release(1) is second
    assert ids.release(0) is first
    assert (ids.open, ids.noreply, ids.has_deliveries()) == ({}, set(), False)
    with pytest.raises(KeyError):
        ids.release(0)


def test_a_released_ID_is_not_used_again_before_all_others() -> None:
    ids = DeliveryIds()
    for expected in [*range(IDS_MAX), 0, 1]:
        id = ids.assign(some_delivery(), False)
        assert id == expected
        ids.release(id)


def test_IDs_go_round_and_skip_open_ones() -> None:
    ids = DeliveryIds()
    ids.assign(some_delivery(), False)
    ids.next_id = IDS_MAX - 1
    assert [ids.assign(some_delivery(), False) for _ in range(3)] == [IDS_MAX - 1, 1, 2]


def test_an_ID_with_a_sign_is_found_by_its_low_16_bits() -> None:
    ids = DeliveryIds()
    ids.next_id = 5
    ids.assign(some_delivery(), False)
    assert [ids.find(id) for id in (5, 0xFFFF0005, 0xFFFE0005, 0x10005, 6, 0xFFFF0006, ABSENT)] == [5, 5, *[ABSENT] * 5]


def test_a_broadcast_has_an_ID_and_no_delivery() -> None:
    ids = DeliveryIds()
    id = ids.assign(None, True)
    assert (ids.find(id), ids.noreply, ids.has_deliveries()) == (id, {id}, False)
    ids.assign(some_delivery(), False)
    assert ids.has_deliveries()
    assert ids.release(id) is None
    assert ids.has_deliveries()


def test_exhausted_IDs_recover_once_enough_are_free() -> None:
    ids = full()
    assert [ids.assign(some_delivery(), False) for _ in range(2)] == [IDS_MAX, IDS_MAX + 1]
    for id in range(IDS_MAX + 2 - IDS_ENOUGH):
        assert not ids.recover()
        ids.release(id)
    assert ids.recover()
    assert (ids.exhausted, ids.assign(some_delivery(), False)) == (False, 0)


def test_high_IDs_that_are_still_open_are_skipped_when_IDs_are_exhausted_again() -> None:
    ids = full()
    ids.assign(some_delivery(), False)
    for id in range(IDS_MAX + 1 - IDS_ENOUGH):
        ids.release(id)
    assert ids.recover()
    while not ids.exhausted:
        assert ids.assign(some_delivery(), False) < IDS_MAX
    assert ids.assign(some_delivery(), False) == IDS_MAX + 1


def test_clear_forgets_everything_open() -> None:
    ids = DeliveryIds()
    ids.assign(None, True)
    ids.assign(some_delivery(), True)
    ids.clear()
    assert (ids.open, ids.noreply, ids.has_deliveries()) == ({}, set(), False)


@given(st.lists(st.one_of(st.sampled_from(["request", "noreply", "broadcast"]), st.integers(0, 20)), max_size=60))
def test_open_IDs_are_unique_and_counted(steps: list[str | int]) -> None:
    ids = DeliveryIds()
    expected: dict[int, Delivery | None] = {}
    for step in steps:
        if isinstance(step, int):
            if step in expected:
                assert ids.release(step) is expected.pop(step)
            assert ids.find(step) == ABSENT
        else:
            delivery = None if step == "broadcast" else some_delivery()
            id = ids.assign(delivery, step != "request")
            assert id not in expected
            expected[id] = delivery
        assert ids.open == expected
        assert ids.noreply <= expected.keys()
        assert ids.has_deliveries() == any(delivery is not None for delivery in expected.values())
