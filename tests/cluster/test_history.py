"""Which messages of the stream count: the next one of the newest leadership, and nothing else."""

from dataclasses import replace

from penstock.cluster.history import History, Mark
from penstock.cluster.stream import BLOCKS, LEAD, StreamMessage


def lead(name: str, term: int) -> StreamMessage:
    return StreamMessage(LEAD, name, term, 0, 0)


def blocks(name: str, term: int, number: int, data: bytes = b"", part: int = 0, parts: int = 1) -> StreamMessage:
    return StreamMessage(BLOCKS, name, term, number, 0, "s", 0, part, parts, data)


def counted(*messages: StreamMessage) -> list[StreamMessage]:
    """Those that count, in a history that knows nothing yet."""
    history = History(Mark())
    found = [history.take(number, message) for number, message in enumerate(messages, 1)]
    return [message for message in found if message is not None]


def test_what_the_leader_appends_counts_in_order() -> None:
    messages = [lead("a", 1), blocks("a", 1, 1), blocks("a", 1, 2)]
    assert counted(*messages) == messages


def test_a_deposed_leader_counts_no_more_even_if_the_fence_let_it_in() -> None:
    messages = [lead("a", 1), lead("b", 2), blocks("a", 1, 1), blocks("b", 2, 1)]
    assert counted(*messages) == [messages[0], messages[1], messages[3]]


def test_an_old_lead_is_passed_over() -> None:
    messages = [lead("b", 2), lead("a", 1), lead("c", 2), blocks("b", 2, 1)]
    assert counted(*messages) == [messages[0], messages[3]]


def test_what_is_there_twice_counts_once() -> None:
    messages = [lead("a", 1), blocks("a", 1, 1), blocks("a", 1, 1), blocks("a", 1, 2)]
    assert counted(*messages) == [messages[0], messages[1], messages[3]]


def test_nothing_counts_behind_something_that_is_missing() -> None:
    messages = [lead("a", 1), blocks("a", 1, 2), blocks("a", 1, 3)]
    assert counted(*messages) == messages[:1]


def test_parts_become_one_message_with_the_last_of_them() -> None:
    parts = [blocks("a", 1, number + 1, b"%d" % number, number, 3) for number in range(3)]
    found = counted(lead("a", 1), *parts)
    assert [message.data for message in found] == [b"", b"012"]


def test_parts_without_the_rest_never_were() -> None:
    """The leader died in the middle; the next one begins with something else."""
    found = counted(
        lead("a", 1), blocks("a", 1, 1, b"0", 0, 2), lead("b", 2), blocks("a", 1, 2, b"1", 1, 2), blocks("b", 2, 1)
    )
    assert [message.id for message in found] == ["a.0", "b.0", "b.1"]


def test_a_node_begins_again_before_the_first_part_of_what_it_took_last() -> None:
    history = History(Mark())
    history.take(1, lead("a", 1))
    history.take(5, blocks("a", 1, 1))
    assert history.begun == Mark(4, "a", 1, 0)
    history.take(7, blocks("a", 1, 2, b"0", 0, 2))
    history.take(8, blocks("a", 1, 3, b"1", 1, 2))
    assert history.begun == Mark(6, "a", 1, 1)
    again = History(history.begun)
    assert again.take(7, blocks("a", 1, 2, b"0", 0, 2)) is None
    whole = again.take(8, blocks("a", 1, 3, b"1", 1, 2))
    assert whole is not None
    assert whole.data == b"01"


def test_who_joins_begins_with_a_segment_behind_what_was_deleted() -> None:
    history = History(Mark(9), is_joining=True)
    assert history.take(10, replace(blocks("a", 3, 7), place=5)) is None
    first = blocks("a", 3, 8)
    assert history.take(12, first) == first
    assert history.begun == Mark(11, "a", 3, 7)
    assert history.take(13, blocks("a", 3, 9)) is not None
    assert history.take(20, blocks("b", 5, 4)) is not None


def test_who_joins_passes_over_what_does_not_follow_where_nothing_was_deleted() -> None:
    history = History(Mark(9), is_joining=True)
    assert history.take(10, blocks("a", 3, 8)) is not None
    assert history.take(11, blocks("a", 3, 10)) is None
    assert history.take(12, blocks("a", 3, 9)) is not None


def test_who_joined_behind_a_gap_can_read_on_from_the_newest_segment() -> None:
    """Its place is behind the gap: a reading from before it would find that something was deleted, again and again."""
    joining = History(Mark(), is_joining=True)
    joining.take(1, lead("a", 1))
    joining.take(2, blocks("a", 1, 1))
    assert joining.take(9, blocks("a", 1, 8)) is not None
    assert joining.begun == Mark(8, "a", 1, 7)
    again = History(joining.begun)
    assert again.take(9, blocks("a", 1, 8)) is not None


def test_a_leader_marks_its_segment_behind_what_it_passed_over() -> None:
    """Otherwise a late message is left in the stream when all before the segment is deleted, and comes first there."""
    late, first = blocks("a", 1, 1), blocks("b", 2, 1)
    leading = History(Mark())
    leading.take(1, lead("a", 1))
    leading.take(2, lead("b", 2))
    assert leading.take(4, first) is first  # the appender found `late` at 3, and told nobody
    left = [(number, message) for number, message in ((3, late), (4, first)) if number > leading.begun.sequence]
    joining = History(Mark(left[0][0] - 1), is_joining=True)
    assert [joining.take(number, message) for number, message in left] == [first]
