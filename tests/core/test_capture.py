"""An open replay is captured, as a follower does it: what begins with the snapshot knows the same, now and later."""

from pathlib import Path

import orjson
import pytest

from penstock.core.broker import Broker
from penstock.core.capture import capture, capture_replay
from penstock.core.limits import Limits
from penstock.core.replay import Replay, durable_state
from penstock.core.subscription import Inbox
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.memory import MemoryLog
from penstock.log.snapshot import HEADER_SIZE, READABLE, QueueImage, Snapshot, decode, encode
from penstock.log.span import Span
from penstock.log.tuning import Tuning
from penstock.message import DeliveryOptions, Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.retention import Retention
from penstock.storage.segments import segments_of
from penstock.storage.snapshot_files import write_snapshot

from ..storage.histories import known_by

SECOND = 1_000_000


def replay_from(snapshot: Snapshot | None = None) -> Replay:
    return Replay(MemoryLog(), Limits(), snapshot)


class Pair:
    """A broker that writes a log, and a replay that follows it block by block."""

    def __init__(self) -> None:
        self.log = DurableLog(1 << 20)
        self.broker = Broker(self.log, Limits())
        self.replay = replay_from()
        self.heirs: list[Replay] = []  # that began with a snapshot of the replay
        self.names: list[bytes] = []
        self.names_of = ""
        self.count = 0

    def message(self, event: bytes, options: DeliveryOptions | None = None) -> Message:
        self.count += 1
        message = Message(b"%d" % self.count, event, b"body", self.count, "test")
        message.options = options
        return message

    def put(self, queue: bytes, count: int = 1, options: DeliveryOptions | None = None) -> None:
        for _ in range(count):
            self.broker.put(queue, self.message(queue, options))

    def consume(self, queue: bytes, credit: int = 0) -> Inbox:
        inbox = Inbox(queue, manual=True, credit=credit)
        self.broker.subscribe(queue, inbox, None, 0)
        return inbox

    def turn(self) -> None:
        self.broker.end_turn()
        self.log.close_block(self.count)
        for pending in self.log.take_closed():
            if pending.segment != self.names_of:
                self.names, self.names_of = [], pending.segment
            block = Block(pending.data(), self.names)
            for replay in (self.replay, *self.heirs):
                replay.apply_block(block)

    def check(self) -> QueueImage:
        """All know the same; from here on there is one more, which begins with a snapshot. Its first queue."""
        self.turn()
        before = known_by(self.replay)
        data = encode(capture_replay(self.replay, 7))
        assert known_by(self.replay) == before
        self.heirs.append(replay_from(decode(data)))
        for heir in self.heirs:
            assert known_by(heir) == before
        finished = replay_from(decode(data)).finish()
        assert durable_state(finished) == durable_state(self.broker) == self.replay.state()
        assert decode(data).taken_at == 7
        queues = decode(data).queues
        return queues[0] if queues else QueueImage(b"", (), (), 0, [], b"")

    def lost(self) -> set[int]:
        """What was unacked, as a broker finds it that begins with a snapshot of the replay."""
        broker = replay_from(decode(encode(capture_replay(self.replay, 0)))).finish()
        return {offset for lost in broker.lost for offset in lost.offsets}


def test_a_life_captured_after_every_turn() -> None:
    pair = Pair()
    pair.check()
    pair.broker.bind(b"q", (b"e", b"f"), (b'{"a":1}',))
    pair.check()
    pair.broker.expire(b"q", 60 * SECOND)
    assert pair.check().expires_after == 60 * SECOND
    for _ in range(10):
        pair.broker.publish(pair.message(b"e"))
    pair.check()
    inbox = pair.consume(b"q", 6)
    pair.check()
    pair.broker.accept(inbox.deliveries[2])
    pair.broker.accept(inbox.deliveries[0])
    pair.check()
    pair.broker.reject(inbox.deliveries[1])
    pair.broker.reject(inbox.deliveries[3], 20 * SECOND)
    pair.check()
    pair.put(b"q", 2, DeliveryOptions(due_at=10 * SECOND))
    assert pair.check().delayed
    pair.broker.cancel(inbox, 0)
    assert pair.check().placed
    pair.broker.pause(b"q", True)
    assert pair.check().paused
    pair.broker.tick(15 * SECOND)
    pair.check()
    pair.broker.purge(b"q", 6, 100)
    pair.check()
    pair.broker.bind(b"q", (b"f",))
    assert (pair.check().events, pair.check().patterns) == ((b"f",), ())
    pair.broker.delete(b"q")
    pair.check()
    pair.put(b"other", 2)
    pair.check()


def test_a_queue_that_goes_with_its_last_consumer_has_had_one() -> None:
    pair = Pair()
    pair.broker.expire(b"q", 0)
    assert not pair.check().used
    pair.consume(b"q")
    assert pair.check().used


def test_a_message_with_a_time_to_live_is_known_wherever_it_is() -> None:
    pair = Pair()
    pair.put(b"q")
    assert not pair.check().expiring
    pair.put(b"q", 1, DeliveryOptions(expires_at=9 * SECOND))
    assert pair.check().expiring


def test_batches_and_ids_are_in_it_and_what_comes_later_is_not() -> None:
    pair = Pair()
    for number, writer in enumerate([b"w1", b"w2", b"w1"]):
        pair.broker.set_time(100 + number)
        pair.broker.commit(writer, number, [pair.message(b"e")])
    pair.put(b"q", 1, DeliveryOptions(dedup_seconds=9, owner=b"ann"))
    pair.check()
    snapshot = capture_replay(pair.replay, 0)
    before = encode(snapshot)
    pair.broker.forget_writer(b"w2")
    pair.broker.commit(b"w3", 1, [pair.message(b"e")])
    pair.put(b"q", 1, DeliveryOptions(dedup_seconds=99, owner=b"eve"))
    pair.check()
    assert encode(snapshot) == before
    assert decode(before).committed == {b"w2": 1, b"w1": 2}
    assert decode(before).commit_times == {b"w2": 101, b"w1": 102}
    assert len(replay_from(decode(before)).broker.dedup) == 1


def test_a_snapshot_is_not_changed_by_what_is_settled_after_it() -> None:
    pair = Pair()
    pair.put(b"q", 1000)
    inbox = pair.consume(b"q")
    pair.check()
    snapshots = []
    for number in (0, 1, 5, 7, 6, 900):
        snapshot = capture_replay(pair.replay, 0)
        snapshots.append((snapshot, encode(snapshot), known_by(pair.replay)))
        pair.broker.accept(inbox.deliveries[number])
        pair.turn()
    for snapshot, data, known in snapshots:
        assert encode(snapshot) == data
        assert known_by(replay_from(snapshot)) == known


# -- what was out ------------------------------------------------------------------------------------------------------


def test_what_was_out_is_out_after_a_snapshot() -> None:
    pair = Pair()
    pair.put(b"q", 3)
    pair.consume(b"q", 2)
    image = pair.check()
    assert (image.out_before, image.out_until, image.returned) == ((2, 0), None, [])
    assert pair.lost() == {0, 1}


def returned_pair() -> Pair:
    """Of four messages that were out, the second came back, and nothing was given out since."""
    pair = Pair()
    first, second = pair.consume(b"q", 1), pair.consume(b"q", 1)
    third = pair.consume(b"q", 2)
    pair.put(b"q", 4)
    pair.turn()
    assert [inbox.deliveries[0].offset for inbox in (first, second, third)] == [0, 1, 2]
    pair.broker.pause(b"q", True)
    pair.broker.cancel(second, 0)
    return pair


def test_what_came_back_since_is_not_out_and_what_is_behind_it_is() -> None:
    pair = returned_pair()
    image = pair.check()
    assert (image.out_before, image.out_until, image.returned) == ((1, 0), (3, 6), [1])
    assert pair.lost() == {0, 2, 3}


def test_a_version_that_does_not_know_what_came_back_counts_no_message_that_was_not_out() -> None:
    pair = returned_pair()
    pair.turn()
    data = encode(capture_replay(pair.replay, 0))
    assert data[4] in READABLE
    snapshot = decode(data)
    snapshot.queues[0].out_until = None
    snapshot.queues[0].returned = []
    (lost,) = replay_from(decode(encode(snapshot))).finish().lost
    assert lost.offsets == {0}


def test_what_came_back_and_went_again_is_not_in_the_snapshot() -> None:
    pair = returned_pair()
    assert pair.check().returned == [1]
    assert pair.broker.purge(b"q", 2, 1) == 1
    image = pair.check()
    assert (image.out_until, image.returned) == (None, [])
    assert pair.lost() == {0, 2, 3}


def test_what_came_back_from_behind_a_ready_message_was_not_known_to_be_out() -> None:
    pair = Pair()
    first, second = pair.consume(b"q", 1), pair.consume(b"q", 1)
    pair.put(b"q", 2)
    pair.turn()
    pair.broker.suspend(first)
    pair.broker.release(first.deliveries[0])
    pair.broker.pause(b"q", True)
    pair.turn()
    pair.broker.cancel(second, 0)
    image = pair.check()
    assert (image.out_before, image.out_until, image.returned) == ((0, 0), None, [])
    assert pair.replay.owed[b"q"].returned == {1}
    assert pair.lost() == set()


def test_the_log_says_it_anew_to_one_that_began_with_a_snapshot() -> None:
    pair = returned_pair()
    pair.check()
    pair.broker.pause(b"q", False)
    pair.put(b"q", 1)
    pair.consume(b"q", 1)
    image = pair.check()
    assert image.returned == []
    assert pair.lost() == {0, 1, 2, 3}


def fields_of(data: bytes) -> dict[str, object]:
    size = int.from_bytes(data[12:16], "little")
    fields: dict[str, object] = orjson.loads(data[HEADER_SIZE : HEADER_SIZE + size])
    return fields


def test_fields_that_are_rare_are_only_there_if_needed() -> None:
    pair = Pair()
    pair.put(b"q")
    pair.turn()
    data = encode(capture_replay(pair.replay, 0))
    assert list(fields_of(data)) == list(fields_of(encode(capture(pair.broker, 0))))
    assert b"out_until" not in data
    assert b"returned" not in data


# -- a log with a gap --------------------------------------------------------------------------------------------------


def test_what_refers_to_a_gap_is_passed_over_after_a_snapshot_as_well() -> None:
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    blocks: list[bytes] = []

    def turn() -> None:
        log.close_block(0)
        blocks.extend(pending.data() for pending in log.take_closed())

    broker.put(b"q", Message(b"1", b"q", b"", 0, "test"))
    turn()
    broker.put(b"q", Message(b"2", b"q", b"", 0, "test"))
    turn()
    broker.put(b"q", Message(b"3", b"q", b"", 0, "test"))
    turn()
    assert broker.get(b"q") is not None
    assert broker.get(b"q") is not None
    turn()
    replay = replay_from()
    names: list[bytes] = []
    for number in (0, 2):
        replay.apply_block(Block(blocks[number], names))
    snapshot = capture_replay(replay, 0)
    assert snapshot.has_gap
    again = replay_from(decode(encode(snapshot)))
    for each in (replay, again):
        each.apply_block(Block(blocks[3], names[:]))
    assert known_by(again) == known_by(replay)
    snapshot.has_gap = False
    with pytest.raises(LogError, match="does not match the state"):
        replay_from(decode(encode(snapshot))).apply_block(Block(blocks[3], names[:]))


# -- long queues -------------------------------------------------------------------------------------------------------


def long_replay(count: int) -> Replay:
    """A queue with one long run."""
    log = MemoryLog()
    image = QueueImage(b"q", (), (), -1, [Span(0, count, 300 * count)], b"")
    return Replay(log, Limits(), Snapshot(0, count, 0, [image]))


def test_a_long_queue_with_holes_costs_a_few_numbers_for_each_hole() -> None:
    count = 10_000_000
    replay = long_replay(count)
    for offset in (5000, 5001, 1_000_000, count - 1000, 0):
        assert replay.owed[b"q"].settle(offset, 1) == 1
    snapshot = capture_replay(replay, 0)
    assert [(span.first, span.count) for span in snapshot.queues[0].spans] == [
        (1, 4999),
        (5002, 994_998),
        (1_000_001, 8_998_999),
        (count - 999, 999),
    ]
    assert len(encode(snapshot)) < 500
    assert replay.owed_ranges() == [(1, count - 1)]


def test_spans_of_a_snapshot_are_its_own() -> None:
    replay = long_replay(10_000)
    snapshot = capture_replay(replay, 0)
    replay.owed[b"q"].settle(0, 9000)
    (span,) = snapshot.queues[0].spans
    assert (span.start, span.live, span.size) == (0, 10_000, 3_000_000)


# -- what the log has to keep ------------------------------------------------------------------------------------------


def test_messages_that_are_far_apart_are_ranges_of_their_own() -> None:
    near = Tuning().stretch_near
    offsets = [0, 5, 5 + near, 7 + 2 * near, 100 * near]
    spans = [Span(offset, 1, 300) for offset in offsets]
    image = QueueImage(b"q", (), (), -1, spans, b"")
    replay = replay_from(Snapshot(0, 1 << 30, 0, [image]))
    owed = replay.owed[b"q"]
    owed.placed[200 * near] = (1, 1, 1)
    owed.delayed[300 * near] = (1, 1, 1)
    owed.add(400 * near, 1, 300)
    owed.add(500 * near, 1, 300)
    assert sorted(replay.owed_ranges()) == [
        (0, 0), (5, 5), (5 + near, 5 + near), (7 + 2 * near, 7 + 2 * near), (100 * near, 100 * near),
        (200 * near, 200 * near), (300 * near, 300 * near), (400 * near, 400 * near), (500 * near, 500 * near),
    ]  # fmt: skip


def test_the_last_of_many_messages_does_not_keep_all_of_them() -> None:
    count = 1_000_000
    replay = long_replay(count)
    owed = replay.owed[b"q"]
    for first, number in ((1, 10), (11, 400_000), (400_012, count - 400_013)):
        assert owed.settle(first, number) == number
    assert replay.owed_ranges() == [(0, 0), (400_011, 400_011), (count - 1, count - 1)]


def test_a_follower_trims_what_its_leader_trims(tmp_path: Path) -> None:
    """A segment each: done, kept, done, delayed, done, rejected, done, done."""
    disk = Disk(tmp_path)
    pair = Pair()
    pair.log.tuning.stretch_near = pair.replay.broker.log.tuning.stretch_near = 0
    inbox = pair.consume(b"rejected")
    for number, queue in enumerate([b"q", b"kept", b"q", b"delayed", b"q", b"rejected", b"q", b"q"]):
        due_at = 1 << 60 if queue == b"delayed" else 0
        pair.put(queue, 1, DeliveryOptions(due_at=due_at))
        if queue == b"q":
            assert pair.broker.get(b"q") is not None
        if queue == b"rejected":
            pair.broker.reject(inbox.deliveries[0])
        pair.broker.end_turn()
        pair.log.close_block(number)
        closed = pair.log.take_closed()
        for pending in closed:
            with (tmp_path / pending.segment).open("ab") as file:
                file.write(pending.data())
        names: list[bytes] = []
        for pending in closed:
            pair.replay.apply_block(Block(pending.data(), names))
        pair.log.end_segment()
        snapshot = capture_replay(pair.replay, number)
        write_snapshot(disk, f"{snapshot.position:020d}.snap", [encode(snapshot)])
    segments = segments_of(disk)
    retention = Retention(disk, 0, 1)
    of_leader = retention.due(pair.broker.owed_ranges(), 0)
    assert [due.segment for due in retention.due(pair.replay.owed_ranges(), 0)] == [due.segment for due in of_leader]
    assert [due.segment for due in of_leader] == [segments[0], segments[2], segments[4], segments[6]]
