"""Cursors beside a log that is trimmed: whoever began in time keeps its history, whoever did not is told."""

from pathlib import Path

import pytest

from penstock.storage.cursors import HOLD_SECONDS, Cursors, Going
from penstock.storage.disk import Disk
from penstock.storage.reader import LogReader
from penstock.storage.retention import Due, Retention
from penstock.storage.snapshots import Snapshots

from .test_snapshots import House, filled


class SlowDisk(Disk):
    """Somebody begins a cursor while a segment is being removed."""

    cursors: Cursors
    said = ""

    def remove(self, name: str) -> None:
        if name.endswith(".seg") and not self.said:
            try:
                self.cursors.begin("while it goes", 0, 0)
            except Going as error:
                self.said = str(error)
        super().remove(name)


class Trimming:
    """A broker whose history would go, all of it but one message and the newest segment."""

    def __init__(self, directory: Path) -> None:
        self.house = House(directory)
        filled(self.house)
        self.disk = SlowDisk(directory)
        self.reports: list[str] = []
        self.snapshots = Snapshots(
            self.disk, self.house.log, Retention(self.disk, 0, 1), lambda _, event, __: self.reports.append(event)
        )
        self.cursors = self.disk.cursors = self.snapshots.cursors = Cursors(None)

    def take(self) -> None:
        self.house.turn()
        self.snapshots.take(self.house.broker, self.house.now)

    def write(self) -> None:
        self.snapshots.on_durable()
        self.snapshots._thread.shutdown(wait=True)
        assert "log.snapshot" in self.reports

    def bodies(self) -> list[bytes]:
        return [message.body for message in LogReader(self.house.directory).messages()]


@pytest.fixture
def trimming(tmp_path: Path) -> Trimming:
    return Trimming(tmp_path)


def test_without_a_cursor_history_goes(trimming: Trimming) -> None:
    trimming.take()
    trimming.write()
    assert trimming.bodies() == [b"2", b"5"]
    assert len(trimming.snapshots.gone) == 4


def test_a_cursor_that_begins_between_snapshot_and_trim_keeps_its_history(trimming: Trimming) -> None:
    trimming.take()
    trimming.cursors.begin("just now", 1, trimming.house.now)
    trimming.write()
    assert trimming.bodies() == [b"1", b"2", b"3", b"4", b"5"]


def test_a_cursor_that_is_forgotten_or_moves_on_meanwhile_holds_back_nothing_more_than_before(
    trimming: Trimming,
) -> None:
    trimming.cursors.begin("a", 3, trimming.house.now)
    trimming.take()
    trimming.cursors.reach("a", 6, trimming.house.now)
    trimming.write()
    assert trimming.bodies() == [b"2", b"3", b"4", b"5"]


def test_a_cursor_of_which_nothing_was_heard_holds_back_nothing(trimming: Trimming) -> None:
    trimming.take()
    trimming.cursors.begin("long ago", 1, trimming.house.now - (HOLD_SECONDS + 1) * 1_000_000)
    trimming.write()
    assert trimming.bodies() == [b"2", b"5"]


def test_a_cursor_that_begins_while_segments_are_removed_is_told(trimming: Trimming) -> None:
    trimming.take()
    trimming.write()
    assert trimming.disk.said == "history before offset 5 is being deleted"
    assert trimming.cursors.by_name == {}
    # Afterwards everybody can see what there is.
    assert trimming.cursors.begin("later", 0, trimming.house.now).start == 0


def test_a_cursor_may_begin_right_behind_what_is_being_let_go_of() -> None:
    cursors = Cursors(None)
    cursors.let_go([Due("a", "b", 0, 5)], 0)
    with pytest.raises(Going):
        cursors.begin("too early", 4, 0)
    assert cursors.begin("just behind", 5, 0).start == 5


def test_a_cursor_that_has_come_so_far_does_not_go_back() -> None:
    cursors = Cursors(None)
    assert [cursors.reach("a", offset, 0).reached for offset in (3, 8, 5)] == [3, 8, 8]


def test_the_flusher_may_have_the_last_word_when_all_has_stopped(trimming: Trimming) -> None:
    trimming.take()
    trimming.snapshots.stop(trimming.house.broker, trimming.house.now)
    trimming.snapshots.on_durable()
