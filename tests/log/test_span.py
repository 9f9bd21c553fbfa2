"""Spans against plain lists of offsets."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.core.spans import merged_spans
from penstock.log.span import Span, SpanBuilder
from penstock.log.tuning import Tuning

TUNING = Tuning()
RUN_WORTH = TUNING.run_worth

# Gaps between offsets: mostly none, so that runs of all lengths come up.
GAPS = st.lists(st.one_of(st.just(1), st.just(1), st.integers(1, 5)), max_size=60)
RUNS = st.lists(st.tuples(st.integers(1, 3), st.one_of(st.integers(1, 5), st.integers(RUN_WORTH - 2, RUN_WORTH + 2))))


def offsets_of(spans: list[Span]) -> list[int]:
    return [span.offset(index) for span in spans for index in range(span.start, span.count) if not span.is_dead(index)]


def built(runs: list[tuple[int, int]]) -> tuple[list[Span], list[int]]:
    builder, offset = SpanBuilder(TUNING), 0
    expected: list[int] = []
    for gap, count in runs:
        offset += gap
        builder.add_run(offset, count, 10 * count)
        expected += range(offset, offset + count)
        offset += count
    return builder.finish(), expected


@given(RUNS)
def test_what_goes_in_comes_out_in_order(runs: list[tuple[int, int]]) -> None:
    spans, expected = built(runs)
    assert offsets_of(spans) == expected
    assert sum(span.live for span in spans) == len(expected)
    assert sum(span.size for span in spans) == 10 * len(expected)


@given(RUNS, st.lists(st.tuples(st.integers(0, 700), st.integers(0, 700)), max_size=8))
def test_settling_takes_out_exactly_that_range(runs: list[tuple[int, int]], ranges: list[tuple[int, int]]) -> None:
    spans, expected = built(runs)
    for first, count in ranges:
        gone = {offset for offset in expected if first <= offset < first + count}
        assert sum(span.settle(first, first + count) for span in spans) == len(gone)
        expected = [offset for offset in expected if offset not in gone]
    assert offsets_of(spans) == expected
    trimmed = [part for span in spans for part in span.trimmed(TUNING)]
    assert offsets_of(trimmed) == expected
    assert all(part.live == part.count for part in trimmed)
    for span in spans:
        assert span.remaining() == offsets_of([span])
        offsets = set(offsets_of([span]))
        for offset in range(0, 800, 7):
            assert span.has(offset) == (offset in offsets)


@given(GAPS, st.data())
def test_messages_with_places_are_merged_by_place(gaps: list[int], data: st.DataObject) -> None:
    builder, offset, fresh = SpanBuilder(TUNING), 0, []
    for gap in gaps:
        offset += gap
        builder.add_run(offset, 1, 10)
        fresh.append((offset, 0, offset, 0))
    bounds = data.draw(st.lists(st.integers(0, offset + 3), max_size=20))
    placed = sorted((after_offset, sequence + 1, 10_000 + sequence, 2) for sequence, after_offset in enumerate(bounds))
    merged = merged_spans(builder.finish(), placed, TUNING)
    found = [
        (span.after_offset(index), span.sequence(index), span.offset(index), span.retry(index))
        for span in merged
        for index in range(span.count)
    ]
    assert found == sorted([*fresh, *placed])


def test_a_long_run_costs_next_to_nothing() -> None:
    builder = SpanBuilder(TUNING)
    for offset in range(100_000):
        builder.add_run(offset, 1, 356)
    spans = builder.finish()
    assert [(span.first, span.count, len(span.offsets)) for span in spans] == [(0, 100_000, 0)]
