"""A backlog whose messages come and go between memory and the log: whatever is done to it, it stays in order."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.core.invariants import violations
from penstock.core.limits import Limits
from penstock.core.replay import Replay, durable_state
from penstock.core.spans import SortKey
from penstock.core.subscription import Inbox
from penstock.log.snapshot import decode, encode
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager

from ..storage.histories import recovered, write_out

# What is done, and two numbers that say to what, or to how much.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["put", "free", "purge", "purge_span", "take_out", "move", "get", "page_in", "hold", "reject", "cancel"]
        ),
        st.integers(0, 12),
        st.integers(1, 6),
    ),
    max_size=25,
)


class House:
    """A queue over a log on the disk; a page of its backlog is as short as can be."""

    def __init__(self, directory: Path, page_length: int) -> None:
        self.directory = directory
        self.log = DurableLog(1 << 20)
        self.log.pager = Pager(Disk(directory))
        self.broker = Broker(self.log, Limits())
        self.queue = self.broker.declare(b"q")
        self.log.tuning.page_length = page_length
        self.number = 0
        self.inboxes: list[Inbox] = []
        self.put(0, 5)

    def put(self, _: int, count: int) -> None:
        for _ in range(count):
            self.number += 1
            if self.number % 4 == 0:  # so that offsets of the queue have gaps
                self.broker.put(b"other", Message(b"o", b"other", b"", 0, "mqmq"))
            self.broker.put(b"q", Message(b"%d" % self.number, b"q", b"x" * self.number, 0, "mqmq"))

    def free(self, _: int, __: int) -> None:
        self.queue.free_memory()

    def purge(self, skip: int, count: int) -> None:
        self.queue.purge(skip * 3 + 1, count)

    def purge_span(self, _: int, __: int) -> None:
        """Exactly as many as make an end of the first span."""
        spans = self.queue.backlog.spans
        if spans:
            assert self.queue.purge(1000, len(self.queue.backlog.head) + spans[0].live) > 0

    def take_out(self, skip: int, stride: int) -> None:
        """Some are looked at by themselves, and go back."""
        self.queue.put_back(self.queue.take_out(self._some(skip, stride)))

    def move(self, skip: int, stride: int) -> None:
        for item in self.queue.take_out(self._some(skip, stride)):
            self.queue.moved(item)

    def _some(self, skip: int, stride: int) -> list[SortKey]:
        return self.queue.backlog.places()[skip::stride]

    def get(self, _: int, count: int) -> None:
        for _ in range(count):
            self.queue.take()

    def page_in(self, _: int, __: int) -> None:
        self.queue._peek_first()

    def hold(self, _: int, credit: int) -> None:
        self.inboxes.append(Inbox(manual=True, credit=credit))
        self.broker.subscribe(b"q", self.inboxes[-1], None, 0)

    def reject(self, number: int, _: int) -> None:
        held = [delivery for inbox in self.inboxes for delivery in inbox.held()]
        if held:
            self.broker.reject(held[number % len(held)])

    def cancel(self, number: int, _: int) -> None:
        if self.inboxes:
            self.broker.cancel(self.inboxes.pop(number % len(self.inboxes)), 0)

    def turn(self) -> None:
        write_out(self.log, self.directory)
        self.log.written(self.log.position, self.log.next_offset)

    def check(self) -> None:
        queue, backlog = self.queue, self.queue.backlog
        assert violations(queue) == ""
        places = backlog.places()
        assert places == sorted(places)
        assert queue.ready == len(backlog) == len(places)
        assert all(span.live for span in backlog.spans)
        assert backlog.cold == sum(span.size for span in backlog.spans)
        queues = self.broker.queues.values()
        assert sum(each.bytes - each.backlog.cold for each in queues) == self.broker.context.bytes
        if not queue.ready and not queue.unacked:
            assert queue.bytes == 0
        for low, high in (span.bounds() for span in backlog.spans):
            assert low <= high
        ranges = self.broker.owed_ranges()
        for _, _, offset, _ in queue.owed():
            assert any(low <= offset <= high for low, high in ranges)
        log = DurableLog(1 << 20)
        log.pager = self.log.pager
        snapshot = decode(encode(capture(self.broker, 0)))
        assert durable_state(Replay(log, Limits(), snapshot).finish()) == durable_state(self.broker)


@settings(max_examples=100, deadline=None)
@given(STEPS, st.integers(1, 7))
def test_whatever_is_taken_paged_and_put_back_the_backlog_is_what_its_log_says(
    steps: list[tuple[str, int, int]], page_length: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        house = House(Path(directory), page_length)
        for name, first, second in [("put", 0, 1), *steps]:
            getattr(house, name)(first, second)
            house.turn()
            house.check()
        assert durable_state(recovered(house.directory)) == durable_state(house.broker)


def test_a_purge_that_ends_where_a_span_ends_leaves_a_queue_that_can_be_captured(tmp_path: Path) -> None:
    house = House(tmp_path, 512)
    house.turn()
    house.free(0, 0)
    house.put(0, 3)
    house.turn()
    house.free(0, 0)
    assert [span.live for span in house.queue.backlog.spans] == [5, 3]
    assert house.queue.purge(1000, 5) == 5
    house.turn()
    assert house.broker.owed_ranges()[0] == (6, 9)
    assert house.queue.purge(1000, 3) == 3
    house.turn()
    house.check()
