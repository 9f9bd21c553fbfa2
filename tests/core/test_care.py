"""What people do to queues: pause, purge, move, copy; and batches that are committed whole.

Each test runs with messages in memory and with messages that have to be paged in from a log on disk; after each, the
broker is compared with a replay of its log, and with one that begins with a snapshot.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.core.invariants import wrong_memory
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, Limits
from penstock.core.policy import Rule
from penstock.core.replay import Replay, durable_state
from penstock.core.subscription import Inbox
from penstock.core.walk import Walk
from penstock.errors import NOT_FOUND, OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.block import Block
from penstock.log.snapshot import decode, encode
from penstock.message import TO_QUEUE, DeliveryOptions, Message, Requester
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager
from penstock.storage.recovery import read_back


class Bench:
    """A broker on a real log in a directory; `chill` sends what is ready out of memory."""

    def __init__(self, directory: Path, limits: Limits | None = None) -> None:
        self.directory = directory
        self.limits = limits or Limits()
        self.log = DurableLog(1 << 20)
        self.log.pager = Pager(Disk(directory))
        self.broker = Broker(self.log, self.limits)
        self.count = 0
        self.blocks: list[bytes] = []

    def put(self, queue: bytes, count: int = 1, body: bytes = b"body") -> None:
        for _ in range(count):
            self.broker.put(queue, self.message(queue, body))

    def message(self, event: bytes, body: bytes = b"body", to_queue: bool = False) -> Message:
        message = Message(b"m%d" % self.count, event, body, self.count, "test", {b"k": b"v"})
        message.route = TO_QUEUE if to_queue else message.route
        self.count += 1
        return message

    def write(self) -> None:
        self.log.close_block(self.count)
        for pending in self.log.take_closed():
            self.blocks.append(pending.data())
            with (self.directory / pending.segment).open("ab") as file:
                file.write(pending.data())
        self.log.written(self.log.position, self.log.next_offset)

    def chill(self) -> None:
        self.write()
        for queue in self.broker.queues.values():
            queue.free_memory()

    def ids(self, queue: bytes) -> list[bytes]:
        self.write()
        return [message.id for message, _ in self.broker.queues[queue].contents()]

    def consume(self, queue: bytes, manual: bool = True) -> Inbox:
        inbox = Inbox(b"c", manual=manual)
        self.broker.subscribe(queue, inbox, None, 0)
        return inbox

    def check(self) -> None:
        """What is counted is what is there, and a replay has the same."""
        self.write()
        broker = self.broker
        for queue in broker.queues.values():
            assert queue.ready == len(queue.backlog)
            assert queue.backlog.cold == sum(span.size for span in queue.backlog.spans)
        assert wrong_memory(broker.context) == ""
        rebuilt = Replay(DurableLog(1 << 20), self.limits)
        with closing(read_back(Disk(self.directory))) as blocks:
            for block in blocks:
                rebuilt.apply_block(block)
        from_snapshot = Replay(DurableLog(1 << 20), self.limits, decode(encode(capture(broker, 0))))
        for other in (rebuilt.finish(), from_snapshot.finish()):
            assert durable_state(other) == durable_state(broker)
            assert [q.consumers.paused for q in other.queues.values()] == [
                q.consumers.paused for q in broker.queues.values()
            ]
            assert list(other.committed.items()) == list(broker.committed.items())
        assert self.log.pager is not None
        assert not self.log.pager.faults


Start = Callable[..., Bench]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Bench] = []

    def make(limits: Limits | None = None) -> Bench:
        started.append(Bench(tmp_path, limits))
        return started[-1]

    yield make
    for bench in started:
        bench.check()
        assert bench.log.pager is not None
        bench.log.pager.close()


@pytest.fixture(params=["memory", "disk"])
def chill(request: pytest.FixtureRequest) -> Callable[[Bench], None]:
    """Sends messages out of memory, or does not."""
    return Bench.chill if request.param == "disk" else Bench.write


def test_a_paused_queue_takes_in_and_gives_nothing_out(start: Start) -> None:
    bench = start()
    bench.put(b"q")
    inbox = bench.consume(b"q")
    assert len(inbox.received) == 1
    bench.broker.pause(b"q", True)
    bench.put(b"q", 2)
    bench.broker.accept(inbox.deliveries[0])
    late = bench.consume(b"q", manual=False)
    assert bench.broker.get(b"q") is None
    assert (len(inbox.received), len(late.received)) == (1, 0)
    bench.check()
    bench.broker.pause(b"q", False)
    assert len(inbox.received) + len(late.received) == 3
    bench.broker.pause(b"q", False)
    with pytest.raises(Refused, match=NOT_FOUND):
        bench.broker.pause(b"other", True)


def test_what_comes_back_to_a_paused_queue_stays(start: Start) -> None:
    bench = start()
    bench.put(b"q", 2)
    inbox = bench.consume(b"q")
    bench.broker.pause(b"q", True)
    bench.broker.reject(inbox.deliveries[0])
    bench.broker.cancel(inbox, 0)
    assert bench.broker.queues[b"q"].ready == 2
    other = bench.consume(b"q")
    assert not other.received
    bench.check()
    bench.broker.pause(b"q", False)
    assert [retry for _, retry in other.received] == [1, 1]


def test_a_purge_drops_what_is_ready_and_was_there(start: Start, chill: Callable[[Bench], None]) -> None:
    bench = start()
    inbox = Inbox(b"c", manual=True, credit=1)
    bench.broker.subscribe(b"q", inbox, None, 0)
    bench.put(b"q", 2000)
    chill(bench)
    bound = bench.log.next_offset
    bench.put(b"q", 3)
    assert bench.broker.purge(b"q", bound, 1500) == 1500
    bench.check()
    assert bench.broker.purge(b"q", bound, 1500) == 499
    assert bench.broker.purge(b"q", bound, 1500) == 0
    queue = bench.broker.queues[b"q"]
    assert (queue.ready, queue.unacked, queue.dropped) == (3, 1, 1999)
    bench.broker.accept(inbox.deliveries[0])
    assert inbox.received[-1][0].id == b"m2000"


def test_a_purge_tells_who_waits(start: Start, chill: Callable[[Bench], None]) -> None:
    bench = start()
    message = bench.message(b"q")
    message.requester = Requester()
    bench.put(b"q")
    bench.broker.put(b"q", message)
    bench.put(b"q")
    chill(bench)
    assert bench.broker.purge(b"q", bench.log.next_offset, 1) == 1
    with pytest.raises(NotImplementedError):  # it is told: a bare Requester has no more to say than that
        bench.broker.purge(b"q", bench.log.next_offset, 1)
    message.requester = None
    assert bench.broker.purge(b"q", bench.log.next_offset, 10) == 1


def test_messages_are_moved_by_their_offsets(start: Start, chill: Callable[[Bench], None]) -> None:
    bench = start()
    bench.put(b"q", 3000)
    chill(bench)
    bench.put(b"q", 3)
    assert bench.broker.move(b"q", {0, 7, 1500, 2999, 3001, 9999}, b"to", 5) == 5
    bench.check()
    assert bench.ids(b"to") == [b"m0", b"m7", b"m1500", b"m2999", b"m3001"]
    moved = bench.broker.queues[b"to"].contents()[1][0]
    assert (moved.event, moved.body, moved.headers) == (b"q", b"body", {b"k": b"v"})
    left = [b"m%d" % number for number in range(3003) if number not in (0, 7, 1500, 2999, 3001)]
    assert bench.ids(b"q") == left
    inbox = bench.consume(b"q", manual=False)
    assert [message.id for message, _ in inbox.received] == left


def test_what_was_out_before_is_moved_and_the_rest_keeps_its_order(
    start: Start, chill: Callable[[Bench], None]
) -> None:
    bench = start()
    bench.put(b"q", 6)
    inbox = bench.consume(b"q")
    for delivery in inbox.deliveries[:4]:
        bench.broker.reject(delivery)
    bench.broker.cancel(inbox, 0)
    before = bench.ids(b"q")
    chill(bench)
    assert bench.broker.move(b"q", {1, 4}, b"to", 0) == 2
    assert bench.ids(b"q") == [id for id in before if id not in (b"m1", b"m4")]


def test_what_was_taken_meanwhile_is_not_moved_by_its_place(start: Start, chill: Callable[[Bench], None]) -> None:
    bench = start()
    bench.put(b"q", 30)
    chill(bench)
    queue = bench.broker.queues[b"q"]
    places = queue.backlog.places()[:10]
    for _ in range(3):
        bench.broker.get(b"q")
    inbox = Inbox(b"c", manual=True, credit=2)
    bench.broker.subscribe(b"q", inbox, None, 0)
    assert bench.broker.move_places(b"q", places, b"to", 0) == 5
    assert bench.ids(b"to") == [b"m%d" % number for number in range(5, 10)]
    bench.broker.cancel(inbox, 0)
    assert bench.broker.move_places(b"q", places, b"to", 0) == 2  # they are back, tried once
    assert bench.ids(b"q") == [b"m%d" % number for number in range(10, 30)]


def test_a_move_ends_where_the_other_queue_is_full(start: Start, chill: Callable[[Bench], None]) -> None:
    bench = start(Limits(queue_length_max=5))
    bench.put(b"q", 5)
    bench.put(b"to", 3)
    chill(bench)
    assert bench.broker.move(b"q", set(range(5)), b"to", 0) == 2
    assert (bench.broker.queues[b"q"].ready, bench.broker.queues[b"to"].ready) == (3, 5)
    bench.check()
    with pytest.raises(Refused, match=OVER_LIMIT):
        bench.broker.move(b"q", {2}, b"to", 0)
    assert bench.ids(b"q") == [b"m2", b"m3", b"m4"]


def test_copies_leave_the_first_ones_where_they_are(start: Start) -> None:
    bench = start(Limits(queue_length_max=3))
    bench.put(b"q", 3)
    messages = [message for message, _ in bench.broker.queues[b"q"].contents()]
    assert bench.broker.copy(messages[:2], b"to", 0) == 2
    assert (bench.ids(b"q"), bench.ids(b"to")) == ([b"m0", b"m1", b"m2"], [b"m0", b"m1"])
    assert bench.broker.copy(messages, b"to", 0) == 1
    with pytest.raises(Refused, match=OVER_LIMIT):
        bench.broker.copy(messages, b"to", 0)


def test_looking_goes_on_behind_a_place(start: Start, chill: Callable[[Bench], None]) -> None:
    bench = start()
    bench.put(b"q", 1000)
    inbox = bench.consume(b"q")
    for delivery in inbox.deliveries[:300]:
        bench.broker.reject(delivery)
    bench.broker.cancel(inbox, 0)
    chill(bench)
    bench.put(b"q", 10)
    backlog = bench.broker.queues[b"q"].backlog
    seen = []
    walk = Walk(backlog)
    while not walk.over:
        seen += [place for place, _ in Walk(backlog, walk.after).step(7)]
        walk.step(7)
    assert seen == backlog.places()
    assert backlog.first_offset() == seen[0][2]


def test_the_age_of_the_oldest_is_known_once_it_was_looked_at(start: Start) -> None:
    bench = start()
    bench.put(b"q", 3)
    queue = bench.broker.queues[b"q"]
    assert (queue.knows_oldest(), queue.oldest_at()) == (True, 0)
    bench.broker.get(b"q")
    bench.chill()
    assert (queue.knows_oldest(), queue.oldest_at()) == (False, -1)
    queue.find_oldest()
    assert (queue.knows_oldest(), queue.oldest_at()) == (True, 1)
    bench.broker.purge(b"q", 100, 100)
    assert (queue.knows_oldest(), queue.oldest_at()) == (True, -1)


def test_a_batch_is_committed_once(start: Start) -> None:
    bench = start()
    bench.broker.bind(b"by-event", (b"e",))
    inbox = bench.consume(b"by-event", manual=False)

    def batch() -> list[Message]:
        return [bench.message(b"e"), bench.message(b"direct", to_queue=True), bench.message(b"nobody")]

    assert bench.broker.commit(b"w", 0, batch())
    assert not bench.broker.commit(b"w", 0, batch())
    assert bench.broker.commit(b"w", 7, batch())
    assert not bench.broker.commit(b"w", 6, batch())
    assert bench.broker.commit(b"other", 6, batch())
    assert (len(inbox.received), bench.broker.queues[b"direct"].ready) == (3, 3)
    assert (bench.broker.published, bench.broker.unrouted) == (9, 3)
    assert bench.broker.committed == {b"w": 7, b"other": 6}


def test_a_batch_is_one_block_however_large(start: Start) -> None:
    bench = start()
    bench.put(b"q")
    before = len(bench.blocks)
    body = b"x" * (1 << 20)
    messages = [bench.message(b"q", body, to_queue=True) for _ in range(12)]
    delayed = bench.message(b"q", to_queue=True)
    delayed.options = DeliveryOptions(due_at=10**9)
    bench.broker.commit(b"w", 0, [*messages, delayed])
    bench.put(b"q")
    bench.write()
    names: list[bytes] = []
    blocks = [Block(data, names) for data in bench.blocks]
    (whole,) = [block for block in blocks[before:] if block.message_count > 1]
    assert whole.message_count == 13
    assert [change.kind for change in whole.changes()] == ["committed"]


def test_what_is_cut_off_was_not_committed(start: Start, tmp_path: Path) -> None:
    bench = start()
    bench.put(b"q")
    bench.write()
    whole = len(bench.blocks)
    bench.broker.commit(b"w", 0, [bench.message(b"q", to_queue=True) for _ in range(5)])
    bench.write()
    head, tail = b"".join(bench.blocks[:whole]), b"".join(bench.blocks[whole:])
    for length in range(0, len(tail), 13):
        (torn := tmp_path / "torn").mkdir(exist_ok=True)
        (torn / "00000000000000000000.seg").write_bytes(head + tail[:length])
        rebuilt = Replay(DurableLog(1 << 20), Limits())
        with closing(read_back(Disk(torn))) as blocks:
            for block in blocks:
                rebuilt.apply_block(block)
        broker = rebuilt.finish()
        assert (broker.queues[b"q"].ready, broker.committed) == (1, {})


def test_a_batch_for_a_full_queue_is_refused_whole(start: Start) -> None:
    bench = start(Limits(queue_length_max=2, body_size_max=100))
    bench.put(b"full", 2)
    with pytest.raises(Refused, match=OVER_LIMIT):
        bench.broker.commit(b"w", 0, [bench.message(b"roomy", to_queue=True), bench.message(b"full", to_queue=True)])
    with pytest.raises(Refused, match=TOO_LARGE):
        bench.broker.commit(b"w", 0, [bench.message(b"roomy", b"x" * 101, to_queue=True)])
    assert (bench.broker.committed, list(bench.broker.queues)) == ({}, [b"full"])
    # A queue with room takes the whole batch, also beyond its limit.
    assert bench.broker.commit(b"w", 0, [bench.message(b"roomy", to_queue=True) for _ in range(4)])
    assert bench.broker.queues[b"roomy"].ready == 4


def test_a_queue_that_drops_its_oldest_takes_a_batch(start: Start) -> None:
    bench = start()
    bench.broker.set_policies([Rule([b"q"], length_max=3, full=DROP_OLDEST)])
    bench.put(b"q", 3)
    assert bench.broker.commit(b"w", 0, [bench.message(b"q", to_queue=True) for _ in range(2)])
    assert bench.ids(b"q")[-2:] == [b"m3", b"m4"]


def test_a_queue_that_was_taken_for_full_and_is_not_takes_the_message(start: Start) -> None:
    """What is not in memory may be smaller than it is counted with; that shows when the oldest is read to go."""
    bench = start()
    rules = [Rule([b"q"], bytes_max=1_200, full=DEAD_LETTER, dead_letter=b"dead"), Rule([b"dead"], length_max=1)]
    bench.broker.set_policies(rules)
    bench.put(b"dead")
    bench.put(b"q", 3)
    bench.chill()
    queue = bench.broker.queues[b"q"]
    queue.backlog.spans[0].size += 500
    queue.backlog.cold += 500
    queue.bytes += 500
    bench.broker.set_policies(rules)
    assert queue.full
    bench.put(b"q")
    assert (queue.ready, queue.full) == (4, True)
    with pytest.raises(Refused, match="is full with 4 messages"):
        bench.put(b"q")


def test_nobody_is_forgotten_for_a_new_writer_which_is_refused_with_the_limit(start: Start) -> None:
    bench = start(Limits(writers_max=3, writers_per_user_max=2))
    for writer in (b"ann\0a", b"ann\0b", b"bob\0a"):
        assert bench.broker.commit(writer, 1, [])
    before = dict(bench.broker.committed)
    with pytest.raises(Refused, match="there are 3 writers: writers_max is 3"):
        bench.broker.commit(b"eve\0a", 0, [bench.message(b"new", to_queue=True)])
    assert bench.broker.forget_writer(b"bob\0a")
    with pytest.raises(Refused, match="user 'ann' has 2 writers: writers_per_user_max is 2"):
        bench.broker.commit(b"ann\0c", 0, [])
    assert bench.broker.commit(b"ann\0a", 2, [])  # one that is known goes on
    assert not bench.broker.commit(b"ann\0b", 1, [])
    assert bench.broker.commit(b"eve\0a", 0, [])
    assert (before.pop(b"bob\0a"), list(bench.broker.queues)) == (1, [])
    assert bench.broker.committed == before | {b"ann\0a": 2, b"eve\0a": 0}


def test_a_writer_in_use_is_not_pushed_out_by_strangers(start: Start) -> None:
    bench = start(Limits(writers_max=100_000, writers_per_user_max=100_000))
    bench.broker.commit(b"w", 5, [])
    for number in range(10_001):
        bench.broker.commit(b"once-%d" % number, 0, [])
    assert not bench.broker.commit(b"w", 5, [bench.message(b"q", to_queue=True)])


def test_a_writer_that_has_not_committed_for_long_is_forgotten_and_the_log_says_so(start: Start) -> None:
    bench = start(Limits(writer_seconds=10))
    for second, writer in enumerate((b"idle", b"busy", b"other")):
        bench.broker.set_time(second * 1_000_000)
        bench.broker.commit(writer, 1, [])
    bench.broker.set_time(9_000_000)
    bench.broker.commit(b"busy", 2, [])
    assert list(bench.broker.committed) == [b"idle", b"other", b"busy"]
    bench.broker.set_time(12_000_000)
    assert not bench.broker.commit(b"idle", 1, [])  # not yet forgotten: nobody else has committed
    bench.broker.commit(b"busy", 3, [])
    assert bench.broker.committed == {b"busy": 3}
    assert not bench.broker.forget_writer(b"idle")
