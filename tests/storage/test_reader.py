"""Reading from outside: from any offset, while it grows, and as Arrow without copying."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.errors import LogError
from penstock.log.arrow import Gathering, batch_of, record_batch, schema, text_of
from penstock.log.block import Block
from penstock.log.block_writer import BlockWriter
from penstock.log.header import HEADER_SIZE, MAGIC, VERSION, CorruptBlock, whole
from penstock.log.interface import AckRun, Change
from penstock.log.tuning import Tuning
from penstock.message import BY_EVENT, REJECT, TO_QUEUE, DeliveryOptions, Message, queue_of
from penstock.storage import reader as reader_module
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.reader import Cursor, LogReader
from penstock.storage.segments import segment_name

from .histories import fields, flip, paths_of, places_of, small_history, write_out
from .test_durable import MESSAGES

INDEX_STRIDE = Tuning().index_stride


def grow(log: DurableLog, directory: Path, count: int, size: int = 10) -> None:
    """That many messages, a block for each three of them, some new names on the way."""
    for number in range(count):
        event = b"e%d" % (log.next_offset // 7)
        log.append(Message(b"%d" % log.next_offset, event, b"x" * size, 0, "mqks"))
        if number % 3 == 2:
            log.close_block(0)
    write_out(log, directory)


def offsets(messages: object) -> list[int]:
    return [message.offset for message in messages]  # type: ignore[attr-defined]


def test_every_range_of_offsets(tmp_path: Path) -> None:
    grow(DurableLog(900), tmp_path, 40)
    assert len(paths_of(tmp_path)) > 3
    reader = LogReader(tmp_path)
    assert reader.end() == (40, 40)
    for start in range(42):
        assert offsets(reader.messages(start)) == list(range(start, 40))
        assert offsets(reader.messages(start, start + 4)) == list(range(start, min(start + 4, 40)))
    assert [m.event for m in reader.messages(20, 22)] == [b"e2", b"e3"]


def test_a_start_offset_reads_neither_earlier_segments_nor_what_lies_before_it(tmp_path: Path) -> None:
    """Bodies that are no more what they were are not noticed, because nobody looks at them."""
    log = DurableLog(8 * INDEX_STRIDE)
    grow(log, tmp_path, 90, size=INDEX_STRIDE // 4)
    segments = paths_of(tmp_path)
    assert len(segments) > 2
    flip(segments[0], 3 * INDEX_STRIDE)
    damaged = segments[1]
    blocks = places_of(damaged)
    place, _ = next((place, block) for place, block in blocks[1:] if block.name_count == 0)
    flip(damaged, place + HEADER_SIZE + INDEX_STRIDE // 2)
    last = blocks[-1][1].first_offset
    assert offsets(LogReader(tmp_path).messages(last)) == list(range(last, 90))
    with pytest.raises(CorruptBlock, match=f"segment {segments[0].name}"):
        list(LogReader(tmp_path).messages())


def test_an_index_skips_no_block_that_holds_nothing_but_settlements(tmp_path: Path) -> None:
    """So many of them before a message that the index has points among them: all belong to the offset that follows."""
    log = DurableLog(64 * INDEX_STRIDE)
    grow(log, tmp_path, 3)
    ack_run = AckRun(b"q")
    count = 0
    while log.segment_size < 3 * INDEX_STRIDE:
        for _ in range(100):
            log.append_settlement(ack_run, count % 3, REJECT)
            count += 1
        log.close_block(0)
    grow(log, tmp_path, 3)
    for reader in (LogReader(tmp_path), warm(LogReader(tmp_path))):
        entries = list(reader.entries(3))
        settled = [entry for entry in entries if isinstance(entry, Change)]
        assert len(settled) == count
        assert offsets([entry for entry in entries if isinstance(entry, Message)]) == [3, 4, 5]
        assert offsets(reader.messages(2)) == [2, 3, 4, 5]
        assert offsets(reader.messages(4)) == [4, 5]
        cursor = reader.cursor(4)
        assert cursor.place > 2 * INDEX_STRIDE  # what lies before is not read for it
        cursor.close()


def warm(reader: LogReader) -> LogReader:
    """One whose index is made as far as the log goes."""
    reader.end()
    return reader


def test_entries_are_the_whole_history(tmp_path: Path) -> None:
    states = small_history(tmp_path)
    entries = list(LogReader(tmp_path).entries())
    assert len(entries) == states[-1][0]
    kinds = [entry.kind for entry in entries if isinstance(entry, Change)]
    assert set(kinds) == {"declared", "bound", "expires", "deleted", "settled"}


def test_a_block_without_messages_of_the_range_gives_no_batch(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    grow(log, tmp_path, 3)
    log.append_settlement(AckRun(b"q"), 0, REJECT)
    log.close_block(0)
    grow(log, tmp_path, 3)
    assert [batch.num_rows for batch in LogReader(tmp_path).batches()] == [3, 3]


def test_nothing_is_remembered_of_segments_that_are_gone(tmp_path: Path) -> None:
    """Another one may take the name of one that went: a directory that was restored, read by a process that stayed."""
    grow(DurableLog(500), tmp_path, 9)
    first, *others = paths_of(tmp_path)
    reader = LogReader(tmp_path)
    assert offsets(reader.messages(7)) == [7, 8]
    for path in [first, *others]:
        path.unlink()
    assert offsets(reader.messages(1)) == []
    grow(DurableLog(500), tmp_path, 20, size=100)
    assert [(m.offset, len(m.body)) for m in reader.messages(4)] == [(offset, 100) for offset in range(4, 20)]


def test_a_block_that_is_being_written_is_not_yet_there(tmp_path: Path) -> None:
    """Byte by byte, over two segments: never half a block, never called damage."""
    whole = tmp_path / "whole"
    growing = tmp_path / "growing"
    whole.mkdir()
    growing.mkdir()
    grow(DurableLog(500), whole, 9)
    cursor = Cursor(Disk(growing))
    seen: list[int] = []
    assert cursor.next_block() is None
    for segment in paths_of(whole):
        ends = {place + len(block.data): block.first_offset for place, block in places_of(segment)}
        data = segment.read_bytes()
        with (growing / segment.name).open("ab", buffering=0) as file:
            for size in range(1, len(data) + 1):
                file.write(data[size - 1 : size])
                block = cursor.next_block()
                assert (block is not None) == (size in ends)
                if block is not None:
                    seen.append(block.first_offset)
                    assert block.message(0).event == b"e%d" % (block.first_offset // 7)
    cursor.close()
    assert seen == [0, 3, 6]
    assert offsets(LogReader(growing).messages()) == list(range(9))


def test_a_torn_end_is_waited_at_until_the_next_broker_cuts_it(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    grow(log, tmp_path, 3)
    (segment,) = paths_of(tmp_path)
    size = segment.stat().st_size
    with segment.open("ab") as file:
        file.write(MAGIC + bytes([VERSION]) + b" torn")
    cursor = Cursor(Disk(tmp_path))
    assert cursor.next_block() is not None
    assert cursor.next_block() is None
    os.truncate(segment, size)
    log.resume(3, 3, 0)
    grow(log, tmp_path, 3)
    block = cursor.next_block()
    assert block is not None
    assert block.first_offset == 3
    assert cursor.segment == segment_name(3)
    cursor.close()


def test_a_first_block_that_was_cut_off_altogether_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / segment_name(0)).write_bytes(b"PNSK")
    cursor = Cursor(Disk(tmp_path))
    assert cursor.next_block() is None
    (tmp_path / segment_name(0)).unlink()
    assert cursor.next_block() is None
    grow(DurableLog(1 << 20), tmp_path, 3)
    assert cursor.next_block() is not None
    cursor.close()


def test_a_cursor_begins_with_a_segment_in_which_no_block_is_whole_yet(tmp_path: Path) -> None:
    (tmp_path / segment_name(0)).write_bytes(b"PNSK")
    cursor = LogReader(tmp_path).cursor(3)
    assert (cursor.segment, cursor.place) == (segment_name(0), 0)
    assert cursor.next_block() is None
    cursor.close()


def test_damage_with_something_whole_behind_it_is_named(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    for _ in range(3):
        grow(log, tmp_path, 3)
    (segment,) = paths_of(tmp_path)
    places = [place for place, _ in places_of(segment)]
    flip(segment, places[1] + HEADER_SIZE)
    cursor = Cursor(Disk(tmp_path))
    assert cursor.next_block() is not None
    for _ in range(2):  # and it stays
        with pytest.raises(CorruptBlock, match=f"byte {places[1]}: checksum mismatch"):
            cursor.next_block()


def test_a_batch_that_was_never_synced_is_waited_at_where_it_is_torn(tmp_path: Path) -> None:
    """As the broker will cut it there, what is whole behind it is never given."""
    grow(DurableLog(1 << 20), tmp_path, 9)
    (segment,) = paths_of(tmp_path)
    flip(segment, places_of(segment)[1][0] + HEADER_SIZE)
    assert offsets(LogReader(tmp_path).messages()) == [0, 1, 2]


def test_a_batch_that_is_taken_back_and_written_again_is_seen_once(tmp_path: Path) -> None:
    """What a broker does when the disk becomes full in the middle of a batch."""
    grow(DurableLog(1 << 20), tmp_path, 9)
    (segment,) = paths_of(tmp_path)
    data, places = segment.read_bytes(), [place for place, _ in places_of(segment)]
    os.truncate(segment, places[2] + 1)
    cursor = Cursor(Disk(tmp_path))
    assert [block.first_offset for block in iter(cursor.next_block, None)] == [0, 3]
    os.truncate(segment, places[1])
    assert cursor.next_block() is None
    segment.write_bytes(data)
    assert [block.first_offset for block in iter(cursor.next_block, None)] == [6]
    cursor.close()


def test_an_end_that_is_torn_in_an_earlier_segment_is_damage(tmp_path: Path) -> None:
    grow(DurableLog(300), tmp_path, 9)
    first = paths_of(tmp_path)[0]
    os.truncate(first, first.stat().st_size - 1)
    with pytest.raises(CorruptBlock, match=first.name):
        list(LogReader(tmp_path).messages())


def test_a_directory_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot read data directory"):
        LogReader(tmp_path / "none").end()


def test_a_reader_looks_at_a_log_that_has_grown(tmp_path: Path) -> None:
    log = DurableLog(700)
    reader = LogReader(tmp_path)
    assert (reader.end(), list(reader.messages())) == ((0, 0), [])
    for step in range(1, 6):
        grow(log, tmp_path, 5)
        assert reader.end() == (5 * step, 5 * step)
        assert offsets(reader.messages(5 * step - 1)) == [5 * step - 1]
    assert repr(reader).startswith("<LogReader ")


# Arrow


def block_with(messages: list[Message], names: list[bytes] | None = None) -> Block:
    writer = BlockWriter()
    writer.first_offset = 1000
    for number, message in enumerate(messages):
        message.offset = 1000 + number
        writer.add_message(message)
    return Block(whole(writer.close(0)), names if names is not None else [])


def row_of(message: Message) -> dict[str, object]:
    headers = {key: value for key, value in (message.headers or {}).items() if not key.startswith(b".")}
    return {
        "offset": message.offset,
        "event": text_of(message.event),
        "queue": None if message.route == BY_EVENT else text_of(queue_of(message)),
        "id": text_of(message.id),
        "body": message.body,
        "headers": [(text_of(key), text_of(value)) for key, value in headers.items()] or None,
        "protocol": message.protocol,
        "published_at": message.published_at,
    }


def rows_of_batch(batch: pa.RecordBatch) -> list[dict[str, object]]:
    place = batch.schema.get_field_index("published_at")
    numbers = batch.column(place).cast(pa.int64())
    return batch.set_column(place, "published_at", numbers).to_pylist()


@settings(deadline=None)
@given(st.lists(MESSAGES, min_size=1, max_size=20), st.data())
def test_a_batch_is_what_reading_row_by_row_gives(messages: list[Message], data: st.DataObject) -> None:
    for message in messages:
        message.route = data.draw(st.integers(0, 2))
        if message.route != TO_QUEUE and message.options is not None:
            message.options.target = b""
    block = block_with(messages)
    first = data.draw(st.integers(0, len(messages) - 1))
    bound = data.draw(st.integers(first, len(messages)))
    batch = record_batch(block, first, bound)
    batch.validate(full=True)
    assert batch.schema == schema()
    assert rows_of_batch(batch) == [row_of(block.message(index)) for index in range(first, bound)]


def test_bodies_ids_and_times_are_not_copied() -> None:
    block = block_with([Message(b"id%d" % n, b"e", b"body %d" % n, n, "mqks") for n in range(10)])
    source = pa.py_buffer(block.data)
    batch = record_batch(block, 2, 9)
    for column in ("body", "id", "published_at"):
        for buffer in batch.column(column).buffers():
            if buffer is not None:
                assert source.address <= buffer.address
                assert buffer.address + buffer.size <= source.address + source.size
    del block
    assert batch.column("body").to_pylist() == [b"body %d" % n for n in range(2, 9)]


def test_what_is_no_utf_8_becomes_text() -> None:
    message = Message(b"\xff1", b"caf\xe9", b"\xff", 0, "mqks", {b"\xfe": "ü".encode()})
    message.route = TO_QUEUE
    (row,) = rows_of_batch(record_batch(block_with([message]), 0, 1))
    assert (row["event"], row["queue"], row["id"], row["body"]) == ("caf\\xe9", "caf\\xe9", "\\xff1", b"\xff")
    assert row["headers"] == [("\\xfe", "ü")]


def test_a_dead_letter_shows_its_queue_and_no_internal_headers() -> None:
    letter = Message(b"1", b"e", b"x", 0, "rq", {b".rq-noreply": b"1", b"dead-queue": b"q"})
    letter.route = TO_QUEUE
    letter.options = DeliveryOptions(target=b"q.dead")
    plain = Message(b"2", b"jobs", b"x", 0, "rq", {b".rq-noreply": b"1"})
    plain.route = TO_QUEUE
    rows = rows_of_batch(record_batch(block_with([letter, plain, Message(b"3", b"e", b"x", 0, "mqks")]), 0, 3))
    assert [(row["event"], row["queue"]) for row in rows] == [("e", "q.dead"), ("jobs", "jobs"), ("e", None)]
    assert [row["headers"] for row in rows] == [[("dead-queue", "q")], None, None]


@given(st.lists(MESSAGES, min_size=1, max_size=8), st.integers(0, 2))
def test_a_batch_of_messages_is_what_a_batch_of_their_block_is(messages: list[Message], route: int) -> None:
    for message in messages:
        message.route = route
        if route != TO_QUEUE and message.options is not None:
            message.options.target = b""
    block = block_with(messages)
    count = block.message_count
    one = batch_of([block.message(index) for index in range(count)])
    assert rows_of_batch(one) == rows_of_batch(record_batch(block, 0, count))
    assert one.schema.equals(schema())


def test_small_blocks_make_one_batch_and_large_ones_their_own() -> None:
    def block(first: int, count: int, size: int = 10) -> Block:
        writer = BlockWriter()
        writer.first_offset = first
        for number in range(count):
            message = Message(b"m", b"e", b"x" * size, 0, "mqks")
            message.offset = first + number
            writer.add_message(message)
        return Block(whole(writer.close(0)), [])

    gathering = Gathering()
    assert gathering.add(block(0, 5), 2, 5) == []
    assert gathering.add(block(5, 5), 0, 5) == []
    assert gathering.add(block(10, 1), 1, 1) == []
    batches = gathering.add(block(10, 150), 0, 150)
    assert [batch["offset"].to_pylist() for batch in batches] == [list(range(2, 10)), list(range(10, 160))]
    assert gathering.add(block(160, 1), 0, 1) == []
    batches = gathering.add(block(161, 1, 2 << 20), 0, 1)
    assert [batch["offset"].to_pylist() for batch in batches] == [[160], [161]]
    assert gathering.rest() == []
    assert gathering.add(block(162, 1), 0, 1) == []
    (last,) = gathering.rest()
    assert last["offset"].to_pylist() == [162]


def test_batches_of_a_range(tmp_path: Path) -> None:
    small_history(tmp_path)
    reader = LogReader(tmp_path)
    table = pa.Table.from_batches(reader.batches(1, 5), schema())
    assert table.column("offset").to_pylist() == [1, 2, 3, 4]
    assert table.column("id").to_pylist() == ["m1", "m2", "later", "p"]
    assert table.column("queue").to_pylist() == [None, None, None, "other"]
    assert str(table.schema.field("published_at").type) == "timestamp[us, tz=UTC]"
    rows = [row for batch in reader.batches() for row in rows_of_batch(batch)]
    assert rows == [row_of(message) for message in reader.messages()]
    assert [fields(m)[-1] for m in reader.messages()] == list(range(len(rows)))


def test_pyarrow_is_loaded_by_nothing_but_the_first_batch() -> None:
    assert not hasattr(reader_module, "pa")


def test_what_is_known_of_segments_that_are_gone_is_forgotten(tmp_path: Path) -> None:
    log = DurableLog(1)  # a segment for each block
    broker = Broker(log, Limits())
    reader = LogReader(tmp_path)
    for number in range(200):
        broker.put(b"q", Message(b"%d" % number, b"q", b"", 0, "mqmq"))
        write_out(log, tmp_path)
        for segment in reader.segments():
            reader.first_offset(segment)
            reader.end_offset(segment)
        cursor = reader.cursor(number)
        assert cursor.next_block() is not None
        cursor.close()
        if number >= 10:
            min(tmp_path.glob("*.seg")).unlink()
    assert reader.end()[0] == 200
    left = len(reader.segments())
    assert left <= 11
    assert len(reader._firsts) == len(reader._ends) == left
    assert len(reader._indexes) <= left
