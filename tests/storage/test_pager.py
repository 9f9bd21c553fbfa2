"""The pager over a disk that cannot be read now and then: what is there comes back, and what is damaged is named."""

import errno
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.replay import Replay
from penstock.core.subscription import Inbox
from penstock.log.tuning import Tuning
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.pager import Pager
from penstock.storage.recovery import read_back
from penstock.storage.segments import blocks_of, segment_name

from .faulty import CODES, FaultyDisk
from .histories import flip, paths_of, write_out

COUNT = 60


def history(directory: Path) -> int:
    """Messages 0, 1, 2 ..., a block each, a few to a segment; how many."""
    directory.mkdir(exist_ok=True)
    log = DurableLog(700)
    broker = Broker(log, Limits())
    for number in range(COUNT):
        broker.put(b"q", Message(b"%d" % number, b"q", b"body %d" % number, 0, "mqmq"))
        write_out(log, directory)
    return COUNT


def fetched(pager: Pager, offset: int) -> bytes | None:
    message = pager.fetch(offset, COUNT)
    return None if message is None else message.body


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("where", ["open", "read", "list"])
@pytest.mark.parametrize("countdown", [0, 1, 2, 3])
def test_what_cannot_be_read_at_the_moment_is_read_later(tmp_path: Path, where: str, code: int, countdown: int) -> None:
    history(tmp_path)
    disk = FaultyDisk(tmp_path)
    pager = Pager(disk)
    assert fetched(pager, 3) == b"body 3"
    for offset in (50, 4, 27):
        disk.fail(where, code, countdown)
        first = fetched(pager, offset)
        assert first == b"body %d" % offset or (first is None and pager.is_stalled and pager.stall)
        disk.heal()
        assert fetched(pager, offset) == b"body %d" % offset
    assert pager.faults == []
    assert [fetched(pager, offset) for offset in range(COUNT)] == [b"body %d" % offset for offset in range(COUNT)]
    pager.close()
    assert disk.open_files == 0


def test_a_reader_that_cannot_be_opened_does_not_end_another(tmp_path: Path) -> None:
    history(tmp_path)
    disk = FaultyDisk(tmp_path)
    pager = Pager(disk)
    assert fetched(pager, 0) == b"body 0"
    disk.fail("list", errno.EMFILE)
    assert fetched(pager, 59) is None
    disk.heal()
    before = disk.open_files
    assert fetched(pager, 1) == b"body 1"
    assert disk.open_files <= before + 1
    assert pager.faults == []


def test_without_a_pager_that_holds_files_there_are_enough_for_one_more(tmp_path: Path) -> None:
    """Of file descriptors that are short, the pager has most: it lets go of them before it gives up."""
    count = history(tmp_path)
    disk = FaultyDisk(tmp_path, handles_max=Tuning().readers_max)
    pager = Pager(disk)
    pager.fetch(0, COUNT)
    order = [*range(0, count, 3), *range(count - 1, 0, -1)]
    assert [fetched(pager, offset) for offset in order] == [b"body %d" % offset for offset in order]
    assert pager.faults == []


def test_a_directory_that_is_away_is_not_taken_for_a_log_that_is_gone(tmp_path: Path) -> None:
    history(tmp_path / "data")
    pager = Pager(FaultyDisk(tmp_path / "data"))
    for place in ("nowhere", "empty"):
        (tmp_path / "data").rename(tmp_path / "away")
        if place == "empty":
            (tmp_path / "data").mkdir()
        assert fetched(pager, 40) is None
        assert pager.is_stalled
        if place == "empty":
            (tmp_path / "data").rmdir()
        (tmp_path / "away").rename(tmp_path / "data")
    assert fetched(pager, 40) == b"body 40"
    assert pager.faults == []


def test_what_is_open_of_a_segment_that_went_is_closed(tmp_path: Path) -> None:
    """Else its room on the disk would not be free, for as long as nobody reads elsewhere."""
    history(tmp_path)
    disk = FaultyDisk(tmp_path)
    pager = Pager(disk)
    assert fetched(pager, 50) == b"body 50"
    assert fetched(pager, 0) == b"body 0"
    assert disk.open_files == 2
    first = paths_of(tmp_path)[0]
    first.unlink()
    pager.let_go_of(first.name)
    assert disk.open_files == 1
    assert fetched(pager, 51) == b"body 51"


def one_segment(directory: Path) -> tuple[Path, list[int]]:
    """All messages in one segment, a block each, with names that come up in the middle; where blocks begin."""
    directory.mkdir(exist_ok=True)
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    places: list[int] = []
    for number in range(COUNT):
        queue = b"q%d" % (number // 20)
        broker.put(queue, Message(b"%d" % number, queue, b"body %d" % number, 0, "mqmq"))
        path = directory / segment_name(0)
        places.append(path.stat().st_size if path.exists() else 0)
        write_out(log, directory)
    return directory / segment_name(0), places


def missing_of(pager: Pager, order: range = range(COUNT)) -> list[int]:
    """Which offsets cannot be read; all others are what they were."""
    found = {offset: pager.fetch(offset, COUNT) for offset in order}
    for offset, message in found.items():
        if message is not None:
            assert (message.offset, message.event, message.body) == (
                offset,
                b"q%d" % (offset // 20),
                b"body %d" % offset,
            )
    return sorted(offset for offset, message in found.items() if message is None)


@pytest.mark.parametrize("order", [range(COUNT), range(COUNT - 1, -1, -1)], ids=["forwards", "backwards"])
@pytest.mark.parametrize("stride", [1, 256 << 10])
def test_one_bit_costs_the_messages_of_its_block_and_no_other(tmp_path: Path, order: range, stride: int) -> None:
    """Every kind of place in a block: its magic, version, checksum, length, offset, position, counts, names, body."""
    path, places = one_segment(tmp_path)
    whole = path.read_bytes()
    tuning = Tuning()
    tuning.index_stride = stride
    length = places[11] - places[10]
    for place in [*range(0, 64, 1), *range(64, length, 7)]:
        if place in (4, 5, 7):
            continue  # another version that is read alike, the mark of a batch, padding: no checksum has them
        flip(path, places[10] + place)
        pager = Pager(FaultyDisk(tmp_path), tuning)
        assert missing_of(pager, order) == [10], place
        assert not pager.is_stalled
        assert len(pager.faults) == 1
        assert "messages 10 to 10 " in pager.faults[0]
        pager.close()
        path.write_bytes(whole)


def test_names_that_only_a_damaged_block_has_cost_the_blocks_that_use_them(tmp_path: Path) -> None:
    path, places = one_segment(tmp_path)
    flip(path, places[20] + 80)  # q1 is first used here
    pager = Pager(FaultyDisk(tmp_path))
    assert missing_of(pager) == list(range(20, 40))  # those of q2, whose name comes later, are there, with their name
    assert len(pager.faults) <= 20


def test_two_damages_cost_two_blocks_and_what_is_written_later_is_read(tmp_path: Path) -> None:
    path, places = one_segment(tmp_path)
    flip(path, places[10] + 100)
    flip(path, places[13] + 12)
    flip(path, places[14] + 12)
    last = path.read_bytes()[places[50] :]
    path.write_bytes(path.read_bytes()[: places[50]])
    pager = Pager(FaultyDisk(tmp_path))
    for offset in range(50):
        pager.fetch(offset, 50)
    with path.open("ab") as file:
        file.write(last)
    assert missing_of(pager) == [10, 13, 14]
    assert len(pager.faults) == 2


def test_a_block_in_a_body_is_not_taken_for_one_of_the_log(tmp_path: Path) -> None:
    """Somebody publishes a piece of a log, and the block that it lies in is damaged: it says nothing."""
    path, places = one_segment(tmp_path)
    forged = path.read_bytes()[places[2] : places[3]]  # whole, and of offsets that were there already
    other = tmp_path / "other"
    other.mkdir()
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    for body in (b"first", forged, forged + forged, b"last"):
        broker.put(b"q0", Message(b"id", b"q0", body, 0, "mqmq"))
        write_out(log, other)
    with closing(blocks_of(Disk(other), segment_name(0))) as blocks:
        begins = [place for place, _ in blocks]
    flip(other / segment_name(0), begins[2] + 12)  # its length
    pager = Pager(FaultyDisk(other))
    found = [pager.fetch(offset, 4) for offset in range(4)]
    assert [None if message is None else message.body for message in found] == [b"first", forged, None, b"last"]


def test_damage_is_noted_once_and_costs_its_block_alone(tmp_path: Path) -> None:
    history(tmp_path)
    flip(paths_of(tmp_path)[2], 200)
    disk = FaultyDisk(tmp_path)
    pager = Pager(disk)
    found = [offset for offset in range(COUNT) if fetched(pager, offset) is not None]
    missing = sorted(set(range(COUNT)) - set(found))
    assert 0 < len(missing) <= 6  # the first block of the segment has its names
    assert missing == list(range(missing[0], missing[-1] + 1))
    assert not pager.is_stalled
    assert len(pager.faults) <= len(missing)
    assert f"messages {missing[0]} to" in pager.faults[0]


def test_a_segment_that_was_taken_away_is_damage(tmp_path: Path) -> None:
    history(tmp_path)
    paths_of(tmp_path)[3].unlink()
    pager = Pager(FaultyDisk(tmp_path))
    found = [offset for offset in range(COUNT) if fetched(pager, offset) is not None]
    assert COUNT - 6 <= len(found) < COUNT
    assert not pager.is_stalled
    assert len(pager.faults) == 1


@pytest.mark.parametrize("where", ["open", "list"])
def test_damage_met_while_the_disk_cannot_be_read_costs_no_more_than_without(tmp_path: Path, where: str) -> None:
    """How far damage reaches is looked up in the directory; where that fails nothing is given up."""
    history(tmp_path)
    flip(paths_of(tmp_path)[2], 200)
    missing: set[int] = set()
    disk = FaultyDisk(tmp_path)
    pager = Pager(disk)
    for offset in range(COUNT):
        for countdown in range(4):
            disk.fail(where, errno.EIO, countdown)
            pager.fetch(offset, COUNT)
        disk.heal()
        if fetched(pager, offset) is None:
            missing.add(offset)
    assert 0 < len(missing) <= 6
    assert len(pager.faults) == 1


def spread(directory: Path, count: int, between: int) -> list[int]:
    """A queue whose messages have a hundred kilobytes of another one between them; their offsets."""
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    offsets = []
    for number in range(count):
        offsets.append(log.next_offset)
        broker.put(b"rare", Message(b"%d" % number, b"rare", b"body %d" % number, 0, "mqmq"))
        for _ in range(between):
            broker.put(b"full", Message(b"m", b"full", bytes(10_000), 0, "mqmq"))
            write_out(log, directory)
    return offsets


def test_what_lies_far_off_is_looked_up_and_not_read_up_to(tmp_path: Path) -> None:
    offsets = spread(tmp_path, 40, 10)
    tuning = Tuning()
    tuning.skip_bytes = 20_000
    tuning.index_stride = 20_000
    pager = Pager(Disk(tmp_path), tuning)
    for offset in (offsets[0], offsets[39], offsets[1], offsets[20]):
        before = pager.read_bytes
        assert fetched(pager, offset) is not None
        assert pager.read_bytes - before < 100_000
    pager.close()


def test_a_queue_that_lies_far_apart_is_read_in_as_many_turns_as_it_takes(tmp_path: Path) -> None:
    spread(tmp_path, 40, 10)
    tuning = Tuning()
    tuning.read_at_once = 300_000
    log = DurableLog(1 << 20, tuning)
    log.pager = Pager(Disk(tmp_path), tuning)
    rebuilt = Replay(log, Limits(memory_bytes_max=1 << 20))
    with closing(read_back(Disk(tmp_path))) as blocks:
        for block in blocks:
            rebuilt.apply_block(block)
    broker = rebuilt.finish()
    inbox = Inbox()
    broker.subscribe(b"rare", inbox, None, 0)
    seen = [log.read_bytes]
    while broker.deadlines.next_due() == 0:
        broker.tick(0)
        seen.append(log.read_bytes)
    assert [message.body for message, _ in inbox.received] == [b"body %d" % number for number in range(40)]
    assert max(after - before for before, after in pairwise([0, *seen])) < 2 * tuning.read_at_once
    assert len(seen) > 8
    log.pager.close()
