"""How far a batch goes, and how it is split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.ranges import Admission, Range, behind, split, within, without


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 50), st.integers(1, 300))
def test_pieces_are_the_whole_in_order_and_none_is_too_large(start, count, parts_min, records_max) -> None:
    pieces = split(Range(start, start + count), parts_min, records_max)
    assert [offset for piece in pieces for offset in range(*piece)] == list(range(start, start + count))
    assert all(0 < piece.end - piece.start <= records_max for piece in pieces)
    assert len(pieces) >= min(parts_min, count)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_small_batch_waits_for_more_but_not_for_ever() -> None:
    clock = Clock()
    admission = Admission(100, 60, clock)
    assert admission.end(0, 50, None, may_wait=True) == 0
    assert admission.end(0, 120, None, may_wait=True) == 120
    clock.now = 59
    assert admission.end(120, 130, None, may_wait=True) == 120
    clock.now = 61
    assert admission.end(120, 130, None, may_wait=True) == 130
    assert admission.end(130, 140, None, may_wait=False) == 140


@pytest.mark.parametrize(("available", "end"), [(0, 10), (10, 10), (15, 15), (1000, 20)])
def test_a_limit_bounds_a_batch_and_an_end_before_the_start_gives_none(available, end) -> None:
    assert Admission(None, 0, Clock()).end(10, available, 10, may_wait=True) == end


OFFSET_GAPS = st.lists(st.integers(0, 60), unique=True, max_size=10).map(
    lambda edges: [Range(low, high) for low, high in zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False)]
)


@given(st.integers(0, 60), st.integers(0, 60), OFFSET_GAPS)
def test_gaps_are_taken_out_of_a_range_and_told(start, count, gaps) -> None:
    whole = Range(start, start + count)
    gone = {offset for gap in gaps for offset in range(*gap)}
    left = [offset for piece in without(whole, gaps) for offset in range(*piece)]
    assert left == [offset for offset in range(*whole) if offset not in gone]
    missed = [offset for piece in within(whole, gaps) for offset in range(*piece)]
    assert sorted(left + missed) == list(range(*whole))


@given(st.integers(0, 60), st.integers(1, 60), OFFSET_GAPS)
def test_so_many_offsets_are_counted_without_gaps(start, count, gaps) -> None:
    gone = {offset for gap in gaps for offset in range(*gap)}
    end = behind(start, count, gaps)
    assert len([offset for offset in range(start, end) if offset not in gone]) == count
