"""Damage is found, named with what is lost, and taken out so that a broker starts again; and the log is copied."""

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.replay import durable_state
from penstock.core.subscription import Inbox
from penstock.errors import LogError
from penstock.log.header import HEADER_SIZE, VERSION, CorruptBlock
from penstock.message import Message
from penstock.storage.backup import MANIFEST_NAME, back_up, restore
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.lock import DirectoryLocked, lock_directory
from penstock.storage.reader import LogReader
from penstock.storage.recovery import read_position_gaps
from penstock.storage.repair import DAMAGED_NAME, Repair
from penstock.storage.segments import segment_name
from penstock.storage.verify import Check

from .histories import flip, paths_of, places_of, recovered, small_history, write_out


def checked(directory: Path) -> Check:
    check = Check(directory)
    for _ in check.blocks():
        pass
    return check


def repaired(directory: Path) -> Repair:
    repair = Repair(checked(directory))
    repair.run()
    after = checked(directory)
    assert after.damages == []
    assert after.torn is None
    return repair


def queues_history(directory: Path, segment_bytes_max: int = 1 << 20) -> None:
    """Six blocks: each declares a queue of its own and puts two messages into it, the last one settles one."""
    log = DurableLog(segment_bytes_max)
    broker = Broker(log, Limits())
    for number in range(5):
        name = b"q%d" % number
        broker.declare(name)
        broker.put(name, Message(b"a%d" % number, name, b"x", 0, "mqmq"))
        broker.put(name, Message(b"b%d" % number, name, b"x", 0, "mqmq"))
        write_out(log, directory)
    inbox = Inbox(manual=True, credit=1)
    broker.subscribe(b"q1", inbox, None, 0)
    broker.accept(inbox.deliveries[0])
    write_out(log, directory)


def ids(broker: Broker) -> dict[bytes, list[bytes]]:
    return {name: [message.id for message, _ in queue.contents()] for name, queue in sorted(broker.queues.items())}


def place_of(directory: Path, number: int) -> tuple[Path, int]:
    """The segment and the place of a block, counted from 0."""
    places = [(segment, place) for segment in paths_of(directory) for place, _ in places_of(segment)]
    return places[number]


def test_a_whole_log_has_nothing_to_repair(tmp_path: Path) -> None:
    states = small_history(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    check = checked(tmp_path)
    assert (check.damages, check.torn, check.position) == ([], None, states[-1][0])
    Repair(check).run()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_torn_end_is_no_damage_and_is_cut(tmp_path: Path) -> None:
    queues_history(tmp_path)
    segment, place = place_of(tmp_path, 5)
    os.truncate(segment, segment.stat().st_size - 1)
    check = checked(tmp_path)
    assert check.damages == []
    assert check.torn is not None
    assert (check.torn.segment, check.torn.place) == (segment.name, place)
    repaired(tmp_path)
    assert segment.stat().st_size == place


def test_a_batch_that_was_never_synced_is_a_torn_end_from_its_first_damage_on(tmp_path: Path) -> None:
    """The check and the repair say and do what a broker would."""
    log = DurableLog(1 << 20)
    for number in range(4):
        log.append(Message(b"%d" % number, b"e", b"x", 0, "mqks"))
        log.close_block(0)
        if number == 0:
            write_out(log, tmp_path)
    write_out(log, tmp_path)
    segment, place = place_of(tmp_path, 2)
    size = segment.stat().st_size
    flip(segment, place + HEADER_SIZE)
    check = checked(tmp_path)
    assert check.damages == []
    assert check.torn is not None
    assert (check.torn.place, check.torn.size) == (place, size - place)
    repaired(tmp_path)
    assert segment.stat().st_size == place


def test_what_a_repair_has_written_anew_cannot_be_taken_for_torn(tmp_path: Path) -> None:
    queues_history(tmp_path)
    flip(*place_of(tmp_path, 1))
    repaired(tmp_path)
    rest = paths_of(tmp_path)[-1]
    flip(rest, places_of(rest)[1][0] + HEADER_SIZE)
    with pytest.raises(CorruptBlock, match="checksum"):
        recovered(tmp_path)


def test_a_block_with_an_offset_that_does_not_follow_is_damage(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    for offset in (0, 7, 1):
        log.resume(offset, log.position, 0)
        log.append(Message(b"m", b"e", b"x", 0, "mqks"))
        write_out(log, tmp_path)
    with pytest.raises(CorruptBlock, match="begins with offset 7: offset 1 should follow"):
        recovered(tmp_path)
    assert checked(tmp_path).damages[0].reason == "the block begins with offset 7: offset 1 should follow"
    repaired(tmp_path)
    assert recovered(tmp_path).log.next_offset == 2


@pytest.mark.parametrize("place_in_block", [0, 12, HEADER_SIZE + 2, -1])
def test_one_damaged_block_costs_exactly_its_entries(tmp_path: Path, place_in_block: int) -> None:
    """Block 2 goes; blocks 3 to 5 speak of names it brought, and are readable all the same."""
    queues_history(tmp_path)
    segment, place = place_of(tmp_path, 2)
    _, end = place_of(tmp_path, 3)
    flip(segment, (place if place_in_block >= 0 else end) + place_in_block)
    (damage,) = checked(tmp_path).damages
    assert (damage.segment, damage.place, damage.size) == (segment.name, place, end - place)
    assert (damage.offsets, damage.positions) == ((4, 6), (6, 9))
    assert damage.lost() == "offsets 4 to 5, and 1 other entries"
    with pytest.raises(CorruptBlock):
        recovered(tmp_path)
    repaired(tmp_path)
    assert [path.name for path in paths_of(tmp_path)] == [segment_name(0), segment_name(9)]
    assert [path.stat().st_size for path in (tmp_path / DAMAGED_NAME).iterdir()] == [end - place]
    assert (tmp_path / DAMAGED_NAME).stat().st_mode & 0o777 == 0o700  # messages are in there
    broker = recovered(tmp_path)
    assert ids(broker) == {b"q0": [b"a0", b"b0"], b"q1": [b"b1"], b"q3": [b"a3", b"b3"], b"q4": [b"a4", b"b4"]}
    assert (broker.log.next_offset, broker.log.position) == (10, 16)
    assert [m.id for m in LogReader(tmp_path).messages(3, 8)] == [b"b1", b"a3", b"b3"]


def test_messages_to_a_queue_whose_name_is_lost_wait_under_an_invented_one(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    for number in range(3):
        broker.put(b"jobs", Message(b"%d" % number, b"jobs", b"x", 0, "mqmq"))
        write_out(log, tmp_path)
    segment, _ = place_of(tmp_path, 0)
    flip(segment, 2)
    repair = repaired(tmp_path)
    assert any("invented" in note for note in repair.notes)
    (name,) = recovered(tmp_path).queues
    assert name == b"lost-00000000000000000000-0"
    assert ids(recovered(tmp_path)) == {name: [b"1", b"2"]}


def test_names_of_a_block_with_a_damaged_body_are_kept(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    for number in range(3):
        broker.put(b"jobs", Message(b"%d" % number, b"jobs", b"x" * 50, 0, "mqmq"))
        write_out(log, tmp_path)
    segment, _ = place_of(tmp_path, 0)
    flip(segment, segment.read_bytes().index(b"x" * 50))
    repair = repaired(tmp_path)
    assert any("unchecked: jobs, mqmq" in note for note in repair.notes)
    assert ids(recovered(tmp_path)) == {b"jobs": [b"1", b"2"]}


def test_the_end_of_an_earlier_segment(tmp_path: Path) -> None:
    queues_history(tmp_path, segment_bytes_max=1)
    first = paths_of(tmp_path)[1]
    os.truncate(first, 70)
    (damage,) = checked(tmp_path).damages
    assert (damage.segment, damage.place, damage.offsets) == (first.name, 0, (2, 4))
    repaired(tmp_path)
    assert not first.exists()
    assert sorted(recovered(tmp_path).queues) == [b"q0", b"q2", b"q3", b"q4"]


def test_a_missing_segment_is_noticed_until_it_is_accepted(tmp_path: Path) -> None:
    queues_history(tmp_path, segment_bytes_max=1)
    paths_of(tmp_path)[2].unlink()
    with pytest.raises(CorruptBlock, match="entries 6 to 8 are missing before this block"):
        recovered(tmp_path)
    (damage,) = checked(tmp_path).damages
    assert (damage.size, damage.offsets) == (0, (4, 6))
    repaired(tmp_path)
    assert [(gap.start, gap.end, gap.trimmed) for gap in read_position_gaps(Disk(tmp_path))] == [(6, 9, False)]
    assert b"q2" not in recovered(tmp_path).queues


def test_a_missing_last_but_one_segment_does_not_make_the_last_block_a_torn_end(tmp_path: Path) -> None:
    queues_history(tmp_path, segment_bytes_max=1)
    paths_of(tmp_path)[-2].unlink()
    last = paths_of(tmp_path)[-1]
    with pytest.raises(CorruptBlock, match="missing"):
        recovered(tmp_path)
    assert last.exists()


def test_a_repair_that_was_cut_short_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is written, the original is not cut yet: the rest is there twice."""
    queues_history(tmp_path)
    segment, place = place_of(tmp_path, 2)
    flip(segment, place + HEADER_SIZE)
    original = segment.read_bytes()
    repaired(tmp_path)
    state = durable_state(recovered(tmp_path))
    segment.write_bytes(original)
    repaired(tmp_path)
    assert durable_state(recovered(tmp_path)) == state


def test_a_broker_goes_on_counting_behind_a_gap(tmp_path: Path) -> None:
    """It must not begin a segment under a name that is taken."""
    queues_history(tmp_path, segment_bytes_max=1)
    paths_of(tmp_path)[1].unlink()
    repaired(tmp_path)
    broker = recovered(tmp_path)
    log = DurableLog(1 << 20)
    log.resume(broker.log.next_offset, broker.log.position, 0)
    assert (log.next_offset, log.position) == (10, 16)
    log.append(Message(b"new", b"e", b"", 0, "mqks"))
    write_out(log, tmp_path)
    assert paths_of(tmp_path)[-1].name == segment_name(16)
    assert checked(tmp_path).damages == []


@pytest.mark.parametrize("lost", range(9))
def test_any_block_may_be_lost_and_a_broker_starts(tmp_path: Path, lost: int) -> None:
    small_history(tmp_path, segment_bytes_max=1 << 20)
    segment, place = place_of(tmp_path, lost)
    flip(segment, place + 2 if lost % 2 else place + 70)
    repaired(tmp_path)
    recovered(tmp_path)


def test_a_block_of_another_version_is_neither_cut_nor_thrown_away(tmp_path: Path) -> None:
    queues_history(tmp_path)
    segment, place = place_of(tmp_path, 5)
    data = bytearray(segment.read_bytes())
    data[place + 4] = VERSION + 1
    segment.write_bytes(data)
    with pytest.raises(CorruptBlock, match=f"unknown block version {VERSION + 1}"):
        recovered(tmp_path)
    with pytest.raises(LogError, match="use a Penstock that knows it"):
        Repair(checked(tmp_path))
    assert segment.read_bytes() == data


def test_entries_that_make_no_sense_without_a_gap_are_an_error(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    message = Message(b"1", b"q", b"", 0, "mqmq")
    message.route = 1
    log.append(message)
    write_out(log, tmp_path)
    with pytest.raises(LogError, match="position 0 does not match the state"):
        recovered(tmp_path)


def test_the_file_of_the_lock_is_its_owners_alone(tmp_path: Path) -> None:
    lock_directory(tmp_path).close()
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_only_one_process_has_a_directory(tmp_path: Path) -> None:
    lock = lock_directory(tmp_path)
    with pytest.raises(DirectoryLocked):
        lock_directory(tmp_path)
    lock.close()
    lock_directory(tmp_path).close()


def test_who_removes_the_file_of_the_lock_lets_nobody_in(tmp_path: Path) -> None:
    lock = lock_directory(tmp_path)
    (tmp_path / "lock").unlink()
    with pytest.raises(DirectoryLocked):
        lock_directory(tmp_path)
    lock.close()
    lock_directory(tmp_path).close()


def test_a_backup_and_what_is_restored_of_it_are_their_owners_alone(tmp_path: Path) -> None:
    data, copy, new = tmp_path / "data", tmp_path / "copy", tmp_path / "new"
    data.mkdir()
    small_history(data)
    (data / "cursors.json").write_text("{}")
    (data / "users.json").write_text('{"version": 1, "serial": 1, "users": {}}')
    (data / "gaps.json").write_text("[]")
    for path in data.iterdir():
        path.chmod(0o644)
    for directory in (copy, new):
        directory.mkdir()
        directory.chmod(0o755)
    list(back_up(data, copy))
    list(restore(copy, new))
    for directory in (copy, new):
        assert directory.stat().st_mode & 0o777 == 0o700
        assert {path.name: oct(path.stat().st_mode & 0o777) for path in directory.iterdir()} == {
            path.name: "0o600" for path in directory.iterdir()
        }
        assert len(list(directory.iterdir())) >= 4


def test_where_directories_cannot_be_locked_the_file_that_has_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def no_directories(handle: int, how: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(handle, how)
        if removed:  # somebody was faster: the file that is locked by now has no name any more
            removed.pop().unlink()

    removed = [tmp_path / "lock"]
    monkeypatch.setattr(fcntl, "flock", no_directories)
    lock = lock_directory(tmp_path)
    assert (tmp_path / "lock").exists()
    with pytest.raises(DirectoryLocked):
        lock_directory(tmp_path)
    lock.close()


@pytest.mark.parametrize("name", ["lock", "00000000000000000000.seg", "00000000000000000005.snap"])
def test_what_a_link_in_the_directory_points_to_is_not_written_to(tmp_path: Path, name: str) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    other = tmp_path / "other"
    other.write_bytes(b"of somebody else")
    (directory / name).symlink_to(other)
    disk = Disk(directory)
    with pytest.raises(OSError, match="symbolic links"):
        lock_directory(directory) if name == "lock" else disk.open(name)
    assert other.read_bytes() == b"of somebody else"


def test_a_broker_does_not_begin_a_segment_through_a_link(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    other = tmp_path / "other"
    other.write_bytes(b"of somebody else")
    (directory / "00000000000000000000.seg").symlink_to(other)
    with pytest.raises((LogError, OSError)):
        recovered(directory)
    assert other.read_bytes() == b"of somebody else"


# Backups


def test_a_backup_is_the_log_up_to_where_it_ended(tmp_path: Path) -> None:
    """Blocks go on being written while it is made; a block at the end is half there."""
    source, target, again = tmp_path / "data", tmp_path / "backup", tmp_path / "again"
    source.mkdir()
    queues_history(source, segment_bytes_max=400)
    state = durable_state(recovered(source))
    last = paths_of(source)[-1]
    with last.open("ab") as file:
        file.write(b"PNSK\x01")
    copying = back_up(source, target)
    next(copying)
    os.truncate(last, last.stat().st_size - 5)
    log = DurableLog(1 << 20)
    log.resume(10, 16, 0)
    log.append(Message(b"late", b"e", b"", 0, "mqks"))
    write_out(log, source)
    list(copying)
    assert LogReader(target).end() == (10, 16)
    list(restore(target, again))
    assert durable_state(recovered(again)) == state
    assert not (again / MANIFEST_NAME).exists()


def test_a_backup_keeps_the_gaps_that_were_accepted(tmp_path: Path) -> None:
    source, target, again = tmp_path / "data", tmp_path / "backup", tmp_path / "again"
    source.mkdir()
    queues_history(source, segment_bytes_max=1)
    paths_of(source)[1].unlink()
    repaired(source)
    list(back_up(source, target))
    list(restore(target, again))
    assert durable_state(recovered(again)) == durable_state(recovered(source))


def test_nothing_is_written_over(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "backup"
    source.mkdir()
    queues_history(source)
    list(back_up(source, target))
    with pytest.raises(LogError, match="is not empty"):
        list(back_up(source, target))
    with pytest.raises(LogError, match="is not empty"):
        list(restore(target, source))


def test_an_unfinished_or_changed_backup_is_not_restored(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "backup"
    source.mkdir()
    queues_history(source)
    list(back_up(source, target))
    (segment,) = paths_of(target)
    data = segment.read_bytes()
    flip(segment, 100)
    with pytest.raises(LogError, match="checksum"):
        list(restore(target, tmp_path / "new"))
    segment.write_bytes(data[: place_of(source, 5)[1]])
    with pytest.raises(LogError, match="was changed after the backup"):
        list(restore(target, tmp_path / "new"))
    (target / MANIFEST_NAME).unlink()
    with pytest.raises(LogError, match="not a complete backup"):
        list(restore(target, tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_a_damaged_log_gives_no_backup(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "backup"
    source.mkdir()
    queues_history(source)
    flip(*place_of(source, 1))
    with pytest.raises(CorruptBlock):
        list(back_up(source, target))
    assert not (target / MANIFEST_NAME).exists()
