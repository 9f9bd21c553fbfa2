"""The backlog against a sorted list: what is put to a place, walked over, taken out, paged in and let go of.

The log keeps every message and counts what is asked of it. Sizes are so small that every edge is met.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.core.backlog import Backlog, place_with
from penstock.core.delivery import Delivery, Item, message_of
from penstock.core.spans import SortKey
from penstock.core.walk import Walk
from penstock.log.memory import ReadableLog
from penstock.log.tuning import Tuning
from penstock.message import Message


def small() -> Tuning:
    tuning = Tuning()
    tuning.page_length = 2
    tuning.span_length = 3
    tuning.run_worth = 3
    tuning.wide_piece = 2
    return tuning


class BacklogAgainstList(RuleBasedStateMachine):
    """`model` is what is ready, in order, by its place; `out` what was taken and may come back."""

    @initialize()
    def start(self) -> None:
        self.log = ReadableLog(tuning=small())
        self.backlog = Backlog(self.log)
        self.model: list[SortKey] = []
        self.out: list[SortKey] = []
        self.in_memory = 0

    def make(self) -> Message:
        message = Message(b"id", b"q", b"x" * (self.log.next_offset % 7), 0, "test")
        self.log.append(message)
        return message

    @rule()
    def append(self) -> None:
        message = self.make()
        self.backlog.append(message)
        self.in_memory += message.size
        self.model.append((message.offset, 0, message.offset, 0))

    @rule()
    def write(self) -> None:
        self.log.readable = self.log.next_offset

    @rule()
    def grow_long(self) -> None:
        self.backlog.grow_long()

    @rule(what=st.sampled_from(["seal_tail", "seal_head", "unpin"]))
    def let_go(self, what: str) -> None:
        self.in_memory -= getattr(self.backlog, what)()

    @precondition(lambda self: self.model)
    @rule()
    def take(self) -> None:
        item = self.backlog.first()
        if item is None:
            _, paged = self.backlog.page_in(10_000)
            self.in_memory += paged
            item = self.backlog.first()
        assert item is not None
        assert place_with(item) == self.model.pop(0)
        self.in_memory -= message_of(item).size
        self.out.append(place_with(item))

    @precondition(lambda self: self.out)
    @rule(data=st.data(), to_the_back=st.booleans())
    def put_back(self, data: st.DataObject, to_the_back: bool) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.out), min_size=1, unique=True))
        returned: list[Delivery] = []
        sealed: list[tuple[int, int, int, int, int]] = []
        for after_offset, sequence, offset, retry in chosen:
            self.out.remove((after_offset, sequence, offset, retry))
            place = after_offset, sequence, offset, retry + 1
            if to_the_back:
                self.log.position += 1
                place = self.log.next_offset - 1, self.log.position, offset, retry + 1
            self.model.append(place)
            message = self.log.messages[offset]
            if offset < self.log.readable and data.draw(st.booleans()):
                sealed.append((*place, message.size))
            else:
                returned.append(Delivery(message, None, place[3], place[0], place[1]))
                self.in_memory += message.size
        self.model.sort()
        fetched = self.log.fetched
        self.in_memory -= self.backlog.put_back(returned, sealed)
        assert self.log.fetched == fetched  # nothing is read for it

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def take_out(self, data: st.DataObject) -> None:
        chosen = sorted(data.draw(st.lists(st.sampled_from(self.model), unique=True)))
        gone = [(after_offset, sequence, offset + 1, retry) for after_offset, sequence, offset, retry in self.model[:1]]
        found: list[Item] = []
        _, paged = self.backlog.take_out(sorted([*chosen, *gone]), found)
        assert [place_with(item) for item in found] == chosen
        self.in_memory += paged - sum(message_of(item).size for item in found)
        self.model = [place for place in self.model if place not in chosen]
        self.out += chosen

    @invariant()
    def they_agree(self) -> None:
        backlog = self.backlog
        assert backlog.places() == self.model
        assert len(backlog) == len(self.model)
        assert backlog.first_offset() == (self.model[0][2] if self.model else -1)
        assert backlog.cold == sum(span.size for span in backlog.spans)
        assert self.in_memory == sum(message.size for message in backlog.in_memory())
        if backlog.spans:
            assert backlog.is_long

    @invariant()
    def every_way_to_walk_it_gives_the_same(self) -> None:
        for limit in (1, 2, 5):
            walk = Walk(self.backlog)
            seen: list[SortKey] = []
            while not walk.over:
                for place, message in walk.step(limit):
                    assert message is None or message.offset == place[2]
                    seen.append(place)
            assert seen == self.model

    @precondition(lambda self: self.model or self.out)
    @rule(data=st.data(), limit=st.integers(1, 4))
    def walk_from_anywhere(self, data: st.DataObject, limit: int) -> None:
        after = data.draw(st.sampled_from(self.model + self.out))
        seen = [place for place, _ in Walk(self.backlog, after).step(limit)]
        assert seen == [place for place in self.model if place[:2] > after[:2]][:limit]


TestBacklogAgainstList = BacklogAgainstList.TestCase
TestBacklogAgainstList.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def filled(log: ReadableLog, count: int) -> Backlog:
    backlog = Backlog(log)
    for number in range(count):
        message = Message(b"%d" % number, b"q", b"body", 0, "test")
        log.append(message)
        backlog.append(message)
    return backlog


def in_memory(backlog: Backlog) -> None:
    pass


def in_spans(backlog: Backlog) -> None:
    backlog.log.readable = backlog.log.next_offset
    backlog.seal_head()


def half_and_half(backlog: Backlog) -> None:
    backlog.log.readable = backlog.log.next_offset // 2
    backlog.seal_head()


@pytest.mark.parametrize("chill", [in_memory, in_spans, half_and_half])
def test_a_walk_looks_at_each_message_once(chill: Callable[[Backlog], None]) -> None:
    log = ReadableLog()
    backlog = filled(log, 50_000)
    chill(backlog)
    walk = Walk(backlog)
    steps = seen = 0
    while not walk.over:
        seen += len(walk.step(200))
        steps += 1
    assert seen == 50_000
    assert walk.looked < seen + 60 * steps  # it was 250 times as many when each step began at the beginning
    assert log.fetched == 0


@pytest.mark.parametrize("chill", [in_memory, in_spans, half_and_half])
def test_to_take_out_a_slice_touches_no_more_than_that(chill: Callable[[Backlog], None]) -> None:
    log = ReadableLog()
    backlog = filled(log, 5_000)
    chill(backlog)
    wanted = [(offset, 0, offset, 0) for offset in range(2_400, 2_600, 2)]
    found: list[Item] = []
    backlog.take_out(wanted, found)
    assert [place_with(item) for item in found] == wanted
    assert log.fetched <= 100
    assert [place[2] for place in backlog.places()] == [
        n for n in range(5_000) if not (2_400 <= n < 2_600 and n % 2 == 0)
    ]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(1, 300))
def test_what_goes_to_the_back_unread_makes_few_spans(count: int, more: int) -> None:
    backlog = filled(ReadableLog(), count + more)
    in_spans(backlog)
    log = backlog.log
    found: list[Item] = []
    backlog.take_out([(offset, 0, offset, 0) for offset in range(count)], found)
    for item in found:
        log.position += 1
        backlog.put_back([], [(log.next_offset - 1, log.position, message_of(item).offset, 1, 260)])
    assert len(backlog.spans) <= 3 + count // 64
    assert [place[2] for place in backlog.places()] == [*range(count, count + more), *range(count)]
