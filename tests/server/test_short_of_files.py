"""A real broker whose file descriptors run out: it waits, answers meanwhile, and goes on by itself."""

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.storage.disk import Disk
from penstock.storage.durable import Pending
from penstock.storage.flusher import Flusher

from .conftest import BrokerProcess

StartProcess = Callable[..., BrokerProcess]
COUNT = 300


def take_files(pid: int) -> tuple[int, int]:
    """Have the process open no more files; what gives them back."""
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}  # noqa: PTH208
    first_free = min(set(range(len(used) + 1)) - used)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (first_free, limits[1]))
    return limits


@pytest.mark.process
def test_a_broker_without_file_descriptors_answers_and_gives_everything_once_it_has_some(
    start_process: StartProcess, tmp_path: Path
) -> None:
    settings = ("--data", str(tmp_path / "data"), "--http", "off")
    process = start_process(*settings, memory=False)
    client = process.connect("mqks")
    client.send(b"c consume --confirm q e --manual-ack\nd delete_consumer --confirm c\n")
    client.lines(2)
    client.send(b"".join(b"%d publish --confirm e %d\n" % (number, number) for number in range(COUNT)))
    client.lines(COUNT)
    process.terminate()
    # Started again, it has the offsets of the queue, and none of its messages.
    process = start_process(*settings, memory=False)
    client, other = process.connect("mqks"), process.connect("mqks")
    other.send(b"x publish --confirm elsewhere x\n")  # so that there is a segment to write to
    assert other.line() == b"x ok "
    limits = take_files(process.process.pid)
    client.send(b"c consume --confirm q e\n")
    assert client.line() == b"c ok "
    for number in range(50):
        other.send(b"%d ping still here\n" % number)
        assert other.line() == b"%d ok still here" % number
    other.send(b"more publish --confirm e more\n")
    assert other.line() == b"more ok "
    assert client.quiet(0.05)
    resource.prlimit(process.process.pid, resource.RLIMIT_NOFILE, limits)
    expected = [*range(COUNT)]
    assert [int(line.split(b" ")[2]) for line in client.lines(COUNT)] == expected
    assert client.line().endswith(b" more")
    code, log = process.terminate()
    assert code == 0
    assert log.count("log.unreadable") == log.count("log.readable") == 1
    assert os.strerror(errno.EMFILE) in log
    assert "log.damaged" not in log
    assert "Traceback" not in log


class FewFiles(Disk):
    """There is no file descriptor for one of its operations."""

    where = ""

    def open(self, name: str) -> int:
        self._check("open")
        return super().open(name)

    def sync_directory(self) -> None:
        self._check("sync_directory")
        super().sync_directory()

    def _check(self, operation: str) -> None:
        if self.where == operation:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize("where", ["open", "sync_directory"])
def test_a_segment_for_which_there_is_no_file_descriptor_is_begun_later(tmp_path: Path, where: str) -> None:
    disk = FewFiles(tmp_path)
    durable: list[int] = []
    full: list[str] = []
    flusher = Flusher(disk, "always", lambda position, _: durable.append(position), full.append, full.append)
    flusher.submit([Pending("0.seg", [b"x" * 100], 5, 1)])
    disk.where = where
    assert not flusher.step()
    assert not flusher.step()
    assert durable == []
    assert set(full) == {os.strerror(errno.EMFILE)}
    disk.where = ""
    assert flusher.step()
    assert durable == [5]
    assert full[-1] == ""
    assert (tmp_path / "0.seg").stat().st_size == 100
