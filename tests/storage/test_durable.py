"""The log on disk: what is written is what is read back, cut anywhere it is a prefix, and damage is named."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.replay import Replay, durable_state
from penstock.core.subscription import Inbox
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.block_writer import BlockWriter
from penstock.log.header import HEADER_SIZE, RARE_AT, CorruptBlock, block_length, is_intact, whole
from penstock.log.interface import Change
from penstock.log.memory import MemoryLog
from penstock.log.tuning import Tuning
from penstock.message import DeliveryOptions, Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.segments import blocks_of, is_torn_end, segments_of

from .histories import fields, recovered, small_history, write_out

HEADERS = st.none() | st.dictionaries(st.binary(max_size=8), st.binary(max_size=8), min_size=1, max_size=3)
TERMS = st.none() | st.builds(
    DeliveryOptions, st.integers(0, 1 << 60), st.integers(0, 1 << 60), st.integers(0, 2**31 - 1),
    st.integers(0, 2**31 - 1), st.binary(max_size=5),
)  # fmt: skip


def with_terms(message: Message, terms: DeliveryOptions | None) -> Message:
    message.options = terms
    return message


PLAIN_MESSAGES = st.builds(
    Message, st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=100), st.integers(0, 1 << 60),
    st.sampled_from(["mqks", "rq"]), HEADERS,
)  # fmt: skip


MESSAGES = st.builds(with_terms, PLAIN_MESSAGES, TERMS)
SETTLEMENTS = st.tuples(st.binary(max_size=5), st.integers(0, 8), st.sampled_from([0, 0, 1 << 60]))


@given(st.lists(MESSAGES | PLAIN_MESSAGES, max_size=20), st.lists(SETTLEMENTS, max_size=10))
def test_a_block_reads_back_as_it_was_written(
    messages: list[Message], settlements: list[tuple[bytes, int, int]]
) -> None:
    writer = BlockWriter()
    writer.first_offset, writer.first_position = 7, 11
    for number, message in enumerate(messages):
        message.offset = 7 + number
        writer.add_message(message)
    for number, (queue, how, due_at) in enumerate(settlements):
        writer.add_run(queue, how, number * 10, number + 1, number, due_at)
    writer.changes.append(Change(Change.BOUND, b"\xff q", number=-1, names=(b"e", b"\x00"), patterns=(b"{}",)))
    data = whole(writer.close(99))
    assert block_length(data) == len(data)
    assert is_intact(data)
    block = Block(data, [])
    assert [fields(block.message(index)) for index in range(block.message_count)] == [fields(m) for m in messages]
    runs = [(run.queue, run.how, run.first, run.count, run.after_offset, run.due_at) for run in block.runs()]
    assert runs == [(queue, how, n * 10, n + 1, n, due_at) for n, (queue, how, due_at) in enumerate(settlements)]
    other = bytearray(data)
    other[RARE_AT] ^= 1
    assert not is_intact(bytes(other))
    (change,) = block.changes()
    assert (change.queue, change.number, change.names, change.patterns) == (b"\xff q", -1, (b"e", b"\x00"), (b"{}",))
    assert (block.first_offset, block.first_position, block.closed_at) == (7, 11, 99)


@given(st.binary(min_size=HEADER_SIZE, max_size=300))
def test_bytes_that_are_no_block_are_not_taken_for_one(data: bytes) -> None:
    length = block_length(data)
    assert length == 0 or not is_intact(data[: max(length, HEADER_SIZE)])


@pytest.mark.parametrize("large", ["id", "body", "headers"])
def test_a_message_that_a_block_has_no_room_for_is_refused_before_anything_has_changed(large: str) -> None:
    log = DurableLog(1 << 20)
    log._writer.bytes_max = 100
    first = Message(b"m", b"q", b"x" * 50, 0, "test")
    log.append(first)
    data = b"x" * 60
    headers = {b"k": data} if large == "headers" else None
    message = Message(data if large == "id" else b"m", b"q", data if large == "body" else b"", 0, "test", headers)
    with pytest.raises(LogError, match="a block holds 100"):
        log.append(message)
    assert (message.offset, log.next_offset, log.position) == (-1, 1, 1)
    log.close_block(0)
    (pending,) = log.take_closed()
    assert Block(pending.data(), []).message(0).body == first.body


def test_a_body_larger_than_a_block_usually_is_has_a_block_of_its_own() -> None:
    tuning = Tuning()
    tuning.block_bytes_max = 1000
    log = DurableLog(1 << 20, tuning)
    for size in (10, 10, 10_000, 10):
        log.append(Message(b"m", b"q", b"x" * size, 0, "test"))
    log.close_block(0)
    names: list[bytes] = []
    blocks = [Block(pending.data(), names) for pending in log.take_closed()]
    assert [block.message_count for block in blocks] == [2, 1, 1]


def test_a_history_reads_back_to_the_state_it_ended_in(tmp_path: Path) -> None:
    states = small_history(tmp_path)
    assert len(segments_of(Disk(tmp_path))) > 1
    broker = recovered(tmp_path)
    assert durable_state(broker) == states[-1][1]
    assert broker.log.position == states[-1][0]


@pytest.mark.timeout(300)  # some thousand syncs, for each of which a busy disk takes its time
def test_the_log_cut_at_every_byte_reopens_to_an_exact_prefix(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    states = dict(small_history(whole, segment_bytes_max=1 << 20))
    (segment,) = segments_of(Disk(whole))
    data = (whole / segment).read_bytes()
    seen: set[int] = set()
    for length in range(len(data) + 1):
        cut = tmp_path / "cut"
        cut.mkdir(exist_ok=True)
        (cut / segment).write_bytes(data[:length])
        broker = recovered(cut)
        assert broker.log.position in states or length == 0
        assert durable_state(broker) == states[broker.log.position]
        seen.add(broker.log.position)
        # What was torn is gone from the file as well: reading again gives the same.
        assert durable_state(recovered(cut)) == states[broker.log.position]
    assert seen == set(states)


def test_damage_before_the_end_is_named_and_not_cut(tmp_path: Path) -> None:
    small_history(tmp_path, segment_bytes_max=1 << 20)
    disk = Disk(tmp_path)
    (segment,) = segments_of(disk)
    data = bytearray((tmp_path / segment).read_bytes())
    places = [place for place, _ in blocks_of(disk, segment)]
    data[places[2] + HEADER_SIZE + 3] ^= 1
    (tmp_path / segment).write_bytes(data)
    with pytest.raises(CorruptBlock, match=f"segment {segment}, byte {places[2]}: checksum mismatch"):
        recovered(tmp_path)
    assert (tmp_path / segment).stat().st_size == len(data)
    assert not is_torn_end(disk, segment, places[2])


def test_a_batch_that_was_never_synced_is_cut_where_it_is_torn_whatever_follows(tmp_path: Path) -> None:
    """Pages of one batch reach the disk in any order: its second block may be whole and its first one not."""
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    broker.put(b"q", Message(b"synced", b"q", b"x", 0, "rq"))
    write_out(log, tmp_path)
    state = durable_state(broker)
    for number in range(3):
        broker.put(b"q", Message(b"%d" % number, b"q", b"x", 0, "rq"))
        log.close_block(0)
    write_out(log, tmp_path)
    (segment,) = segments_of(Disk(tmp_path))
    data = bytearray((tmp_path / segment).read_bytes())
    place = [place for place, _ in blocks_of(Disk(tmp_path), segment)][2]  # the queue's birth, then the message
    data[place : place + HEADER_SIZE] = bytes(HEADER_SIZE)
    (tmp_path / segment).write_bytes(data)
    assert durable_state(recovered(tmp_path)) == state | {b"q": ((), (), -1, [(0, 0), (1, 0)], [], False)}
    assert (tmp_path / segment).stat().st_size == place


def test_a_segment_that_is_missing_is_noticed(tmp_path: Path) -> None:
    small_history(tmp_path)
    segments = segments_of(Disk(tmp_path))
    (tmp_path / segments[1]).unlink()
    with pytest.raises(CorruptBlock, match=f"segment {segments[2]}, byte 0: entries .* are missing before this block"):
        recovered(tmp_path)


def test_damage_in_an_earlier_segment_is_never_a_torn_end(tmp_path: Path) -> None:
    small_history(tmp_path)
    first = tmp_path / segments_of(Disk(tmp_path))[0]
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(CorruptBlock):
        recovered(tmp_path)


def test_settlements_in_order_are_one_run(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    for queue in (b"a", b"b"):
        broker.bind(queue, (b"e",))
        broker.subscribe(queue, Inbox(), None, 0)
    log.close_block(0)
    log.take_closed()
    for number in range(1000):
        broker.publish(Message(b"%d" % number, b"e", b"x", 0, "mqks"))
    log.close_block(0)
    (pending,) = log.take_closed()
    runs = Block(pending.data(), []).runs()
    assert [(run.queue, run.first, run.count) for run in runs] == [(b"a", 0, 1000), (b"b", 0, 1000)]


def test_a_large_turn_is_several_blocks(tmp_path: Path) -> None:
    log = DurableLog(1 << 30)
    broker = Broker(log, Limits())
    body = b"x" * (1 << 20)
    for number in range(20):
        broker.put(b"q", Message(b"%d" % number, b"q", body, 0, "mqmq"))
    write_out(log, tmp_path)
    (segment,) = segments_of(Disk(tmp_path))
    assert len(list(blocks_of(Disk(tmp_path), segment))) > 1
    assert [m.id for m, _ in recovered(tmp_path).queues[b"q"].contents()] == [b"%d" % n for n in range(20)]


def test_what_a_full_queue_did_not_keep_does_not_come_back(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits(queue_length_max=1, queue_full="drop-oldest"))
    broker.bind(b"q", (b"e",))
    for number in range(3):
        broker.publish(Message(b"%d" % number, b"e", b"x", 0, "mqks"))
    write_out(log, tmp_path)
    assert [m.id for m, _ in recovered(tmp_path).queues[b"q"].contents()] == [b"2"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["publish", "accept", "reject", "turn", "leave", "come"]), max_size=60))
def test_any_history_reads_back(steps: list[str]) -> None:
    log = DurableLog(1 << 30)
    mirror = MemoryLog(keep=True)
    brokers = [Broker(log, Limits()), Broker(mirror, Limits())]
    blocks: list[bytes] = []
    inboxes: list[Inbox] = []
    for broker in brokers:
        broker.bind(b"q", (b"e",))
    for number, step in enumerate(steps):
        for place, broker in enumerate(brokers):
            if step == "publish":
                broker.publish(Message(b"%d" % number, b"e", b"x", 0, "mqks"))
            elif step == "come" and len(inboxes) < 2:
                inbox = Inbox(manual=True, credit=3)
                inboxes.append(inbox)
                broker.subscribe(b"q", inbox, None, 0)
            elif len(inboxes) == 2 and inboxes[place].held():
                if step == "accept":
                    broker.accept(inboxes[place].held()[-1])
                elif step == "reject":
                    broker.reject(inboxes[place].held()[0])
                elif step == "leave":
                    broker.cancel(inboxes[place], 0)
        if step == "leave" and len(inboxes) == 2 and inboxes[0].queue is None:
            inboxes.clear()
        if step == "turn":
            log.close_block(0)
    log.close_block(0)
    blocks = [pending.data() for pending in log.take_closed()]
    rebuilt = Replay(MemoryLog(), Limits())
    names: list[bytes] = []
    for data in blocks:
        rebuilt.apply_block(Block(data, names))
    assert durable_state(rebuilt.finish()) == durable_state(brokers[0]) == durable_state(brokers[1])
