"""The flusher by itself, step by step on a simulated disk: what it does with a disk that is full, slow or broken."""

import errno
import os
import random

import pytest

from penstock.log.block_writer import BlockWriter
from penstock.log.header import HEADER_SIZE, begins_batch, is_intact
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.durable import Pending
from penstock.storage.flusher import Flusher

from ..sim.disk import SimDisk


class Bench:
    """A flusher without its thread, and what it said."""

    def __init__(self, sync: str = "always") -> None:
        self.disk = SimDisk(random.Random(1))
        self.said: list[object] = []
        self.flusher = Flusher(self.disk, sync, self.durable, self.said.append, self.said.append)
        self.position = 0

    def durable(self, position: int, next_offset: int) -> None:
        self.said.append(position)

    def submit(self, *segments: str, joined_max: int = 1 << 20) -> list[bytes]:
        blocks: list[Pending] = []
        for segment in segments:
            self.position += 1
            writer = BlockWriter(joined_max)
            writer.add_message(Message(b"%d" % self.position, b"e", b"x" * 100, 0, "mqks"))
            blocks.append(Pending(segment, writer.close(0), self.position, self.position))
        self.flusher.submit(blocks)
        return [block.data() for block in blocks]

    def contents(self, name: str) -> bytes:
        with self.disk.read(name) as file:
            return file.read()

    def synced(self, name: str) -> bytes:
        return self.disk.files[name].synced


def unmarked(data: bytes) -> bytes:
    """A file as if no block had been marked; all blocks here are of one size."""
    size = int.from_bytes(data[12:16], "little") or 1
    blocks = [data[place : place + size] for place in range(0, len(data), size)]
    return b"".join(block[:5] + b"\0" + block[6:] for block in blocks)


def test_a_step_writes_all_that_waits_syncs_once_and_says_so() -> None:
    bench = Bench()
    blocks = bench.submit("a", "a") + bench.submit("a")
    assert bench.flusher.step()
    assert unmarked(bench.synced("a")) == b"".join(blocks)
    assert (bench.said, bench.flusher.syncs.count, bench.flusher.behind) == ([3], 1, 0)
    assert bench.flusher.step()
    assert bench.said == [3]


def test_a_segment_is_begun_when_the_one_before_is_on_the_disk() -> None:
    bench = Bench("off")
    blocks = bench.submit("a", "b")
    assert bench.flusher.step()
    assert bench.synced("a") == b""
    assert bench.flusher.step()
    assert unmarked(bench.synced("a")) == blocks[0]
    assert unmarked(bench.contents("b")) == blocks[1]
    assert set(bench.disk.kept) == {"a", "b"}
    assert bench.said == [1, 2]


@pytest.mark.parametrize(("sync", "marks"), [("always", [True, False, True]), ("off", [True, False, False])])
def test_the_first_block_behind_a_sync_is_marked(sync: str, marks: list[bool]) -> None:
    bench = Bench(sync)
    blocks = bench.submit("a", "a")
    bench.flusher.step()
    blocks += bench.submit("a")
    bench.flusher.step()
    data, place, found = bench.contents("a"), 0, []
    for block in blocks:
        found.append(begins_batch(data[place : place + HEADER_SIZE]))
        place += len(block)
    assert found == marks


def test_a_block_in_pieces_becomes_the_block_that_it_would_be_in_one() -> None:
    in_pieces, in_one = Bench(), Bench()
    for bench, joined_max in ((in_pieces, 1), (in_one, 1 << 20)):
        blocks = bench.submit("a", "a", "a", joined_max=joined_max)
        assert bench.flusher.behind == len(b"".join(blocks))
        assert all(is_intact(block) for block in blocks)
        assert bench.flusher.step()
        assert bench.flusher.behind == 0
    assert in_pieces.synced("a") == in_one.synced("a")
    assert begins_batch(in_pieces.synced("a"))


@pytest.mark.parametrize("joined_max", [1, 1 << 20])
def test_short_writes_are_finished(joined_max: int) -> None:
    bench = Bench()
    bench.disk.short_writes = 1.0
    blocks = bench.submit("a", "a", "a", joined_max=joined_max)
    assert bench.flusher.step()
    assert unmarked(bench.synced("a")) == b"".join(blocks)


@pytest.mark.parametrize("room", [0, 1, 300])
def test_a_full_disk_is_told_cut_back_and_tried_again_until_there_is_room(room: int) -> None:
    bench = Bench()
    blocks = bench.submit("a")
    bench.flusher.step()
    bench.disk.room = room
    blocks += bench.submit("a", "a")
    for _ in range(3):
        assert not bench.flusher.step()
        bench.disk.room = room  # what was cut off is room again
        assert unmarked(bench.contents("a")) == blocks[0]
        assert bench.flusher.full
        assert bench.flusher.behind == len(blocks[1]) + len(blocks[2])
    blocks += bench.submit("a")
    bench.disk.room = -1
    assert bench.flusher.step()
    assert unmarked(bench.synced("a")) == b"".join(blocks)
    full = "No space left on device"
    assert bench.said == [1, full, full, full, 4, ""]
    # What was cut off leaves no doubt behind: all before the batch was synced.
    assert begins_batch(bench.contents("a")[len(blocks[0]) :])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_segment_for_which_there_is_no_room_is_begun_later(code: int) -> None:
    bench = Bench()
    bench.submit("a")
    bench.flusher.step()
    bench.submit("b")
    bench.disk.fault = ("open", code)
    assert not bench.flusher.step()
    assert bench.flusher.step()
    assert len(bench.said) == 4
    assert bench.said[2:] == [2, ""]


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("open", errno.EROFS),
        ("open", errno.EACCES),
        ("write", errno.EIO),
        ("write", errno.EROFS),
        ("sync", errno.EIO),
        ("sync", errno.ENOSPC),
        ("sync_directory", errno.EIO),
        ("sync_directory", errno.ENOSPC),
    ],
)
def test_what_cannot_be_made_good_is_raised_and_nothing_is_said_to_be_safe(operation: str, code: int) -> None:
    bench = Bench()
    bench.submit("a")
    bench.disk.fault = (operation, code)
    with pytest.raises(OSError, match=os.strerror(code)):
        bench.flusher.step()
    assert bench.said == []


def test_a_full_file_that_cannot_be_cut_back_is_raised() -> None:
    bench = Bench()
    bench.submit("a")
    bench.disk.room = 10
    bench.disk.fault = ("truncate", errno.EIO)
    with pytest.raises(OSError, match="Input/output error"):
        bench.flusher.step()


def run_to_its_end(flusher: Flusher) -> None:
    flusher.start()
    flusher.stop()


def test_the_thread_writes_what_is_left_when_it_is_stopped() -> None:
    bench = Bench("off")
    bench.submit("a", "b", "c")
    run_to_its_end(bench.flusher)
    assert bench.said == [1, 2, 3]
    assert all(file.synced == file.data for file in bench.disk.files.values())


def test_the_thread_does_not_wait_for_room_when_it_is_stopped() -> None:
    bench = Bench()
    bench.submit("a")
    bench.disk.room = 0
    run_to_its_end(bench.flusher)
    size = bench.flusher.behind
    assert bench.said[0] == "No space left on device"
    assert bench.said[-1] == f"no disk space for {size} bytes that were accepted but not confirmed (sim/a)"


def test_a_mistake_of_ours_ends_the_process_as_well() -> None:
    """Without its thread a broker would go on and never confirm anything again."""

    class Mistaken(SimDisk):
        def write(self, handle: int, data: memoryview) -> int:
            raise ValueError("ours")

    said: list[str] = []
    flusher = Flusher(Mistaken(random.Random(1)), "always", lambda position, _: None, said.append, said.append)
    flusher.submit([Pending("a", [b"x" * 64], 1, 1)])
    run_to_its_end(flusher)
    assert said == ["ours (sim/a)"]


def test_the_real_disk_makes_directories_that_last(tmp_path, monkeypatch) -> None:
    disk = Disk(tmp_path / "a" / "b")
    disk.make()
    disk.make()
    handle = disk.open("x")
    assert disk.write(handle, memoryview(b"12345")) == 5
    disk.truncate(handle, 3)
    disk.sync(handle)
    assert disk.size(handle) == 3
    disk.close(handle)
    assert disk.names() == ["x"]
    with disk.read("x") as file:
        assert file.read() == b"123"
    disk.remove("x")
    disk.sync_directory()
    assert disk.names() == []
