"""Snapshots: what a start does with them, and what it does without; and history that is let go of."""

from pathlib import Path

import pytest

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.core.limits import Limits
from penstock.core.replay import durable_state
from penstock.core.subscription import Inbox
from penstock.errors import LogError
from penstock.log.snapshot import VERSION, decode, encode, snapshot_name
from penstock.message import DeliveryOptions, Message
from penstock.storage.backup import back_up, restore
from penstock.storage.cursors import Cursors
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.reader import LogReader
from penstock.storage.recovery import read_position_gaps
from penstock.storage.repair import Repair
from penstock.storage.retention import Retention
from penstock.storage.segments import position_of, segments_of
from penstock.storage.snapshot_files import snapshots_of, write_snapshot
from penstock.storage.storage import Recovery, recover
from penstock.storage.verify import Check

from .histories import flip, recovered, write_out

HOUR = 3_600_000_000


class House:
    """A broker over a directory, turn by turn."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.disk = Disk(directory)
        self.now = 10**15
        self.start()

    def start(self) -> Recovery:
        self.log = DurableLog(1 << 20)
        self.broker, recovery = recover(self.disk, self.log, Limits(), self.now)
        return recovery

    def put(self, queue: bytes, *bodies: bytes) -> None:
        for body in bodies:
            self.broker.put(queue, Message(body, queue, body, self.now, "mqmq"))
        self.turn()

    def turn(self) -> None:
        """One block, written."""
        self.log.close_block(self.now)
        write_out(self.log, self.directory)
        self.log.written(self.log.position, self.log.next_offset)

    def snapshot(self) -> str:
        self.turn()
        self.log.end_segment()
        snapshot = capture(self.broker, self.now)
        snapshot.segments = segments_of(self.disk)
        name = snapshot_name(snapshot.position)
        write_snapshot(self.disk, name, [encode(snapshot)])
        return name

    def bodies(self, queue: bytes) -> list[bytes]:
        return [message.body for message, _ in self.broker.queues[queue].contents()]

    def segments(self) -> list[str]:
        return segments_of(self.disk)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def a_life(broker: Broker) -> None:
    """Deliveries, rejects, returns, bindings: whatever a snapshot has to know."""
    broker.bind(b"q", (b"e",), (b'{"a":1}',))
    broker.expire(b"q", 5)
    for number in range(20):
        broker.publish(Message(b"%d" % number, b"e", b"body %d" % number, 0, "mqks"))
    inbox = Inbox(manual=True, credit=8)
    broker.subscribe(b"q", inbox, None, 0)
    broker.accept(inbox.deliveries[1])
    broker.reject(inbox.deliveries[2])
    broker.reject(inbox.deliveries[0])
    broker.cancel(inbox, 0)
    broker.queues[b"q"].expires_after = -1
    broker.subscribe(b"q", Inbox(manual=True, credit=3), None, 0)


class SyncedDisk(Disk):
    """Notes which files were synced."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.names_of: dict[int, str] = {}
        self.synced: list[str] = []

    def open(self, name: str) -> int:
        handle = super().open(name)
        self.names_of[handle] = name
        return handle

    def sync(self, handle: int) -> None:
        super().sync(handle)
        self.synced.append(self.names_of[handle])


def test_a_start_syncs_the_newest_segment_even_if_a_snapshot_covers_it(house: House) -> None:
    """A process that was killed may have left it unsynced. The next segment must not begin before it is safe."""
    house.put(b"q", b"one")
    house.snapshot()
    disk = SyncedDisk(house.directory)
    _, recovery = recover(disk, DurableLog(1 << 20), Limits(), house.now)
    assert recovery.blocks == 0
    assert disk.synced == house.segments()


def test_a_snapshot_says_all_that_the_log_before_it_says(house: House) -> None:
    a_life(house.broker)
    house.turn()
    image = decode(encode(capture(house.broker, 0)))
    assert image.position == house.log.position
    house.snapshot()
    house.put(b"late", b"x")
    state = durable_state(house.broker)
    assert house.start().blocks == 1  # only what came behind the snapshot
    del state[b"q"]
    rebuilt = durable_state(house.broker)
    whole = durable_state(recovered(house.directory))
    whole[b"q"] = (*whole[b"q"][:2], rebuilt[b"q"][2], *whole[b"q"][3:])  # the expiry was set aside above
    assert rebuilt == whole
    assert {name: rebuilt[name] for name in state} == state


def test_a_start_reads_nothing_before_the_snapshot(house: House) -> None:
    house.put(b"q", b"1", b"2")
    house.snapshot()
    recovery = house.start()
    assert (recovery.blocks, recovery.problems) == (0, [])
    assert house.bodies(b"q") == [b"1", b"2"]


def test_a_damaged_snapshot_is_passed_over_for_the_one_before(house: House) -> None:
    house.put(b"q", b"1")
    house.snapshot()
    house.put(b"q", b"2")
    newest = house.snapshot()
    flip(house.directory / newest, 30)
    recovery = house.start()
    assert recovery.blocks == 1
    assert "checksum" in recovery.problems[0]
    assert newest not in snapshots_of(house.disk)
    assert house.bodies(b"q") == [b"1", b"2"]


def test_without_any_good_snapshot_the_whole_log_is_read(house: House) -> None:
    house.put(b"q", b"1")
    flip(house.directory / house.snapshot(), 30)
    assert house.start().blocks == 1
    assert house.bodies(b"q") == [b"1"]


def test_a_check_names_the_snapshots_that_cannot_be_used(house: House) -> None:
    house.put(b"q", b"1")
    house.snapshot()
    house.put(b"q", b"2")
    newest = house.snapshot()
    flip(house.directory / newest, 30)
    good, bad = Check(house.directory).snapshots
    assert good == ""
    assert "checksum" in bad


def test_a_snapshot_the_log_does_not_reach_is_removed(house: House) -> None:
    """As after a power cut where the log was not synced: the entries after it will be others."""
    house.put(b"q", b"1")
    house.snapshot()
    house.put(b"q", b"2")
    ahead = house.snapshot()
    (house.directory / house.segments()[-1]).unlink()
    recovery = house.start()
    assert "does not reach" in recovery.problems[0]
    assert ahead not in snapshots_of(house.disk)
    assert house.bodies(b"q") == [b"1"]


def test_a_segment_that_is_missing_before_the_snapshot_is_named(house: House) -> None:
    house.put(b"q", b"1")
    house.snapshot()
    house.put(b"q", b"2")
    house.snapshot()
    lost = house.segments()[0]
    (house.directory / lost).unlink()
    with pytest.raises(LogError, match=f"segment {lost} is missing"):
        house.start()


def filled(house: House, count: int = 6) -> None:
    """One segment for each hour, everything settled but one message in the third."""
    for number in range(count):
        house.now += HOUR
        house.put(b"kept" if number == 2 else b"done", b"%d" % number)
        house.broker.get(b"done")
        house.snapshot()


def test_history_goes_by_age_and_what_is_owed_stays(house: House) -> None:
    filled(house)
    segments = house.segments()
    gone = Retention(house.disk, 2.5 * 3600, 1 << 40).trim(house.broker.owed_ranges(), house.now)
    assert gone == [segments[0], segments[1]]  # the third is owed, the others are young, or behind a snapshot
    assert house.segments() == segments[2:]
    assert [gap.trimmed for gap in read_position_gaps(house.disk)] == [True]
    assert house.start().problems == []
    assert house.bodies(b"kept") == [b"2"]


def test_history_goes_by_size_also_around_what_is_owed(house: House) -> None:
    filled(house)
    segments = house.segments()
    gone = Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now)
    assert gone == [segments[0], segments[1], segments[3], segments[4]]
    assert house.start().problems == []
    assert house.bodies(b"kept") == [b"2"]
    assert [message.body for message in LogReader(house.directory).messages()] == [b"2", b"5"]
    check = Check(house.directory)
    assert sum(block.message_count for block in check.blocks()) == 2
    assert check.damages == []


class NotingDisk(Disk):
    """Notes what becomes of the directory."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.notes: list[str] = []

    def open(self, name: str) -> int:
        self.notes.append(f"open {name}")
        return super().open(name)

    def remove(self, name: str) -> None:
        self.notes.append(f"remove {name}")
        super().remove(name)

    def sync_directory(self) -> None:
        self.notes.append("sync")
        super().sync_directory()


def test_old_snapshots_go_once_the_new_one_is_there_for_good_and_are_gone_for_good(tmp_path: Path) -> None:
    disk = NotingDisk(tmp_path)
    names = [snapshot_name(position) for position in (10, 20, 30)]
    for name in names:
        disk.notes.clear()
        write_snapshot(disk, name, [b"content"])
    assert disk.notes == [f"open {names[2]}", "sync", f"remove {names[0]}", "sync"]


def test_nothing_goes_before_there_are_two_snapshots(house: House) -> None:
    house.put(b"q", b"1")
    house.broker.get(b"q")
    house.snapshot()
    house.put(b"q", b"2")
    assert Retention(house.disk, 1, 1).trim([], house.now + 100 * HOUR) == []


@pytest.mark.parametrize("where", ["held", "rejected", "delayed", "unreadable", "in memory", "on disk"])
def test_history_stays_that_a_queue_owes_wherever_the_message_is(house: House, where: str) -> None:
    message = Message(b"kept", b"kept", b"2", house.now, "mqmq")
    if where == "delayed":
        message.options = DeliveryOptions(due_at=house.now + 100 * HOUR)
    house.put(b"done", b"0")
    house.broker.get(b"done")
    house.snapshot()
    house.broker.put(b"kept", message)
    worker = Inbox(b"c", manual=True)
    if where in ("held", "rejected"):
        house.broker.subscribe(b"kept", worker, None, 0)
    if where == "rejected":
        house.broker.reject(worker.deliveries[0])
    house.turn()
    if where in ("on disk", "unreadable", "delayed"):
        house.broker.queues[b"kept"].free_memory()
    if where == "unreadable":
        damaged = house.directory / house.segments()[-1]
        flip(damaged, 100)
        assert house.broker.get(b"kept") is None
        flip(damaged, 100)  # somebody mends it
    house.snapshot()
    filled(house, 2)
    segments = house.segments()
    assert Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now) == [segments[0], segments[2]]
    house.start()
    rebuilt = house.broker.queues[b"kept"]
    assert [house.log.fetch(entry.offset) is not None for entry in rebuilt.delayed.entries()] == [True] * (
        where == "delayed"
    )
    assert house.bodies(b"kept") == ([] if where == "delayed" else [b"2"])


def test_a_trimmed_log_without_a_good_snapshot_does_not_start(house: House) -> None:
    filled(house)
    Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now)
    for name in snapshots_of(house.disk):
        flip(house.directory / name, 30)
    names = snapshots_of(house.disk)
    with pytest.raises(LogError, match=r"no snapshot can be used, and entries 0 to \d+ were trimmed"):
        house.start()
    assert snapshots_of(house.disk) == names  # somebody may still mend one


def repair(house: House) -> None:
    check = Check(house.directory)
    for _ in check.blocks():
        pass
    Repair(check).run()


def position_gaps(house: House) -> list[tuple[int, int, bool]]:
    return [(gap.start, gap.end, gap.trimmed) for gap in read_position_gaps(house.disk)]


def test_what_was_trimmed_stays_trimmed_after_a_repair(house: House) -> None:
    filled(house)
    Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now)
    before = position_gaps(house)
    assert [trimmed for _, _, trimmed in before] == [True, True]
    repair(house)
    assert position_gaps(house) == before
    assert house.start().problems == []
    assert house.bodies(b"kept") == [b"2"]


def test_what_a_repair_loses_is_not_trimmed(house: House) -> None:
    filled(house)
    segments = house.segments()
    Retention(house.disk, 2.5 * 3600, 1 << 40).trim(house.broker.owed_ranges(), house.now)
    ((_, end, _),) = position_gaps(house)
    (house.directory / segments[3]).unlink()
    repair(house)
    lost = (position_of(segments[3]), position_of(segments[4]), False)
    assert position_gaps(house) == [(0, end, True), lost]
    house.start()


def test_a_repair_accepts_that_there_is_no_snapshot_of_what_was_trimmed(house: House) -> None:
    filled(house)
    Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now)
    before = position_gaps(house)
    for name in snapshots_of(house.disk):
        flip(house.directory / name, 30)
    repair(house)
    assert position_gaps(house) == [(start, end, False) for start, end, _ in before]
    house.start()
    assert house.bodies(b"kept") == [b"2"]


def set_version(house: House, name: str, version: int) -> None:
    path = house.directory / name
    data = bytearray(path.read_bytes())
    data[4] = version
    path.write_bytes(data)


def test_a_snapshot_of_another_version_is_left_for_the_version_that_wrote_it(house: House) -> None:
    filled(house)
    state = durable_state(house.broker)
    Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now)
    names = snapshots_of(house.disk)
    for name in names:
        set_version(house, name, 200)
    with pytest.raises(LogError, match="unknown snapshot version 200"):
        house.start()
    for name in names:
        set_version(house, name, VERSION)
    house.start()
    assert durable_state(house.broker) == state


def test_a_log_that_is_whole_starts_beside_a_snapshot_of_another_version(house: House) -> None:
    filled(house)
    state = durable_state(house.broker)
    names = snapshots_of(house.disk)
    for name in names:
        set_version(house, name, 200)
    house.start()
    assert durable_state(house.broker) == state
    assert snapshots_of(house.disk) == names


def test_a_snapshot_of_another_version_that_is_ahead_of_the_log_is_removed(house: House) -> None:
    filled(house)
    (name, *_) = snapshots_of(house.disk)
    ahead = house.directory / snapshot_name(10**9)
    ahead.write_bytes((house.directory / name).read_bytes())
    set_version(house, ahead.name, 200)
    house.start()
    assert not ahead.exists()


def test_a_trimmed_log_is_backed_up_and_restored(house: House, tmp_path: Path) -> None:
    filled(house)
    Retention(house.disk, 0, 1).trim(house.broker.owed_ranges(), house.now)
    state = durable_state(house.broker)
    assert sum(back_up(house.directory, tmp_path / "copy")) > 0
    assert sum(restore(tmp_path / "copy", tmp_path / "again")) > 0
    again = House(tmp_path / "again")
    assert durable_state(again.broker) == state
    assert again.bodies(b"kept") == [b"2"]


def test_a_backup_has_the_cursors_and_none_of_them_is_ahead_of_it(house: House, tmp_path: Path) -> None:
    house.put(b"q", b"1", b"2", b"3")
    cursors = Cursors(house.directory)
    cursors.begin("nightly", 1, house.now)
    cursors.reach("nightly", 2, house.now)
    cursors.write(cursors.encode())
    copying = back_up(house.directory, tmp_path / "copy")
    next(copying)
    house.put(b"q", b"4", b"5")
    cursors.reach("nightly", 5, house.now)
    cursors.write(cursors.encode())
    assert sum(copying) >= 0
    assert sum(restore(tmp_path / "copy", tmp_path / "again")) > 0
    again = Cursors(tmp_path / "again").by_name["nightly"]
    assert (again.start, again.reached, again.heard_at) == (1, 2, house.now)
    assert House(tmp_path / "again").log.next_offset >= again.reached


def test_a_backup_without_cursors_is_restored_without(house: House, tmp_path: Path) -> None:
    house.put(b"q", b"1")
    for _ in (*back_up(house.directory, tmp_path / "copy"), *restore(tmp_path / "copy", tmp_path / "again")):
        pass
    assert Cursors(tmp_path / "again").by_name == {}


def test_what_cannot_be_paged_in_is_set_aside_and_named(house: House) -> None:
    """A block that went bad while nobody looked: the rest is delivered, and nothing is settled that nobody got."""
    house.put(b"q", b"1")
    house.snapshot()
    house.put(b"q", b"2")
    house.snapshot()
    house.put(b"q", b"3")
    house.start()
    damaged = house.segments()[0]
    flip(house.directory / damaged, 100)
    inbox = Inbox()
    house.broker.subscribe(b"q", inbox, None, 0)
    assert [message.body for message, _ in inbox.received] == [b"2", b"3"]
    assert house.log.pager is not None
    (fault,) = house.log.pager.faults
    assert damaged in fault
    assert "messages 0 to 0 " in fault
    assert durable_state(house.broker)[b"q"][3] == [(0, 0)]
    flip(house.directory / damaged, 100)  # somebody mends it
    house.snapshot()
    house.start()
    assert house.bodies(b"q") == [b"1"]


def test_what_cannot_be_read_is_one_fault_for_each_stretch_of_it(house: House) -> None:
    for number in range(3):
        house.put(b"q", *[b"%d" % (10 * number + place) for place in range(4)])
        house.snapshot()
    house.start()
    pager = house.log.pager
    assert pager is not None
    first, second, _ = house.segments()
    for segment in (first, second):
        flip(house.directory / segment, 100)
    for _ in range(2):  # what was not readable once is not looked at again
        assert [pager.fetch(offset, 12) is None for offset in range(12)] == [True] * 8 + [False] * 4
    assert [first in fault or second in fault for fault in pager.faults] == [True, True]
    assert "messages 0 to 3 " in pager.faults[0]
    assert "messages 4 to 7 " in pager.faults[1]


def test_damage_in_the_newest_segment_does_not_reach_what_is_written_later(house: House) -> None:
    house.put(b"q", b"1")
    house.start()
    flip(house.directory / house.segments()[-1], 100)
    assert house.bodies(b"q") == []
    house.put(b"q", b"2", b"3")
    house.broker.queues[b"q"].free_memory()
    assert house.bodies(b"q") == [b"2", b"3"]


def test_a_reader_in_a_segment_that_was_trimmed_goes_on_behind_it(house: House) -> None:
    house.put(b"q", b"1")
    house.snapshot()
    house.put(b"q", b"2", b"3")
    house.snapshot()
    house.put(b"q", b"4")
    house.start()
    pager = house.log.pager
    assert pager is not None
    first = pager.fetch(0, 4)
    assert first is not None
    (house.directory / house.segments()[0]).unlink()
    second = pager.fetch(1, 4)
    assert second is not None
    assert (first.body, second.body, pager.faults) == (b"1", b"2", [])
    assert position_of(house.segments()[0]) > 0
