"""What was read and not used yet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ProtocolError
from penstock.wire.buffer import ReceiveBuffer
from penstock.wire.lines import HEAD, PORTION, LineBuffer


def test_bytes_come_out_as_they_went_in() -> None:
    buffer = ReceiveBuffer(100)
    buffer.append(b"abc")
    buffer.append(b"de")
    assert buffer.size() == 5
    assert buffer.have(4)
    assert buffer.take(4) == b"abcd"
    assert buffer.have(1)
    assert not buffer.have(2)
    assert buffer.take(1) == b"e"
    assert buffer.size() == 0


def test_a_read_that_holds_it_all_is_not_copied() -> None:
    buffer = ReceiveBuffer(100)
    read = b"abcdef"
    buffer.append(read)
    assert buffer.have(6)
    assert buffer.data is read


def test_asking_for_what_is_not_there_changes_nothing() -> None:
    buffer = ReceiveBuffer(100)
    buffer.append(b"ab")
    buffer.append(b"cd")
    assert not buffer.have(5)
    assert buffer.data == b"ab"
    assert buffer.size() == 4


def test_used_up_bytes_are_let_go() -> None:
    buffer = ReceiveBuffer(100)
    buffer.append(b"abcd")
    buffer.skip(3)
    assert (buffer.position, buffer.size()) == (3, 1)
    buffer.skip(1)
    assert (buffer.data, buffer.position) == (b"", 0)


def test_only_what_is_left_over_counts_against_the_cap() -> None:
    buffer = ReceiveBuffer(4)
    buffer.append(b"abcdefgh")
    buffer.skip(4)
    buffer.hold()
    buffer.append(b"i")
    with pytest.raises(ProtocolError, match=r"unfinished request of 5 bytes: line_size_max is 4"):
        buffer.hold()
    assert buffer.size() == 0


def test_many_small_reads_are_joined_once() -> None:
    """With a copy for each of them, this would take minutes."""
    buffer = ReceiveBuffer(1 << 22)
    size = 300_000
    buffer.append(b"0")
    for _ in range(size - 1):
        assert not buffer.have(size)
        buffer.append(b"x")
    assert buffer.have(size)
    assert buffer.take(size) == b"0" + b"x" * (size - 1)


@given(st.lists(st.binary(max_size=6), max_size=12), st.lists(st.integers(0, 9), max_size=12))
def test_it_is_a_queue_of_bytes_whatever_the_pieces(reads: list[bytes], takes: list[int]) -> None:
    buffer = ReceiveBuffer(1000)
    whole = b""
    for read, count in zip(reads, [*takes, *[0] * len(reads)], strict=False):
        buffer.append(read)
        whole += read
        assert buffer.have(count) == (len(whole) >= count)
        if len(whole) >= count:
            assert buffer.take(count) == whole[:count]
            whole = whole[count:]
        assert buffer.size() == len(whole)


@pytest.mark.parametrize(
    "reads", [[b"a\n" + b"x" * 20], [b"x" * 20 + b"\ny"], [b"x" * 8, b"x" * 8 + b"\nrest"], [b"x" * 20]]
)
def test_nothing_is_kept_from_a_line_over_the_limit_on(reads: list[bytes]) -> None:
    lines = LineBuffer(10)
    for read in reads:
        lines.split(read)
    assert "line_size_max is 10" in lines.fault
    assert (lines.pending(), lines.first_byte(), lines.take_rest()) == (0, -1, b"")


@given(st.lists(st.sampled_from([b"a", b"b\nc", b"\n", b"x" * 3000, b"y" * 1999 + b"\n", b"z" * 5001]), max_size=30))
def test_of_a_line_that_is_too_long_to_be_read_the_beginning_is_kept_and_its_size(reads: list[bytes]) -> None:
    whole, cut = LineBuffer(15_000), LineBuffer(15_000, kept_max=5000)
    for read in reads:
        expected = whole.split(read)
        lines = cut.split(read)
        assert len(lines) == len(expected)
        for line, of in zip(lines, expected, strict=True):
            if line is cut.beginning:
                assert (line, cut.whole_size) == (of[:HEAD], len(of))
                assert len(of) > 5000
            else:
                assert line == of
        assert cut.fault == whole.fault
        assert cut.pending() <= 5000
        if cut.fault:
            break


@given(st.lists(st.sampled_from([b"", b"a", b"\n", b"x" * 9, b"y" * 40]), max_size=60), st.integers(1, 20))
def test_portions_give_the_lines_of_one_go(pieces: list[bytes], portion: int) -> None:
    whole, cut = LineBuffer(30), LineBuffer(30, portion)
    read = b"".join(pieces)
    at_once = whole.split(read)
    in_portions = cut.begin(read)
    while cut.uncut():
        in_portions += cut.more()
    assert in_portions == at_once
    assert bool(cut.fault) == bool(whole.fault)
    assert (cut.pending(), cut.first_byte(), cut.take_rest()) == (
        whole.pending(),
        whole.first_byte(),
        whole.take_rest(),
    )


def test_a_read_is_cut_a_portion_at_a_time() -> None:
    lines = LineBuffer(1 << 20)
    first = lines.begin(b"ab\n" * 100_000)
    assert len(first) <= PORTION // 3
    assert lines.uncut() >= 300_000 - PORTION
    count = len(first)
    while lines.uncut():
        count += len(lines.more())
    assert count == 100_000
