"""A broker with a data directory: what it confirmed is there after a kill; what it cannot store it does not promise."""

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import kill9

from penstock.log.disk import Disk
from penstock.log.durable import Pending
from penstock.server.flusher import EXIT_DISK_FAILED, Flusher

from .conftest import BrokerProcess, Client, RunningBroker

StartProcess = Callable[..., BrokerProcess]
OFF = [word for name in ("smqs", "sevx", "mqmq", "rq", "any", "http") for word in (f"--{name}", "off")]


def frame(*values: bytes) -> bytes:
    body = b"".join(len(value).to_bytes(4, "big") + value for value in values)
    return len(body).to_bytes(4, "big") + body


def kill(process: BrokerProcess) -> None:
    process.process.send_signal(signal.SIGKILL)
    process.process.wait(10)


def drain_queue(client: Client, queue: bytes) -> list[bytes]:
    """Everything in a queue, by MQMQ, in order."""
    found: list[bytes] = []
    while True:
        client.send(frame(b"Get", queue, b"1"))
        answer = client.read(int.from_bytes(client.read(4), "big"))
        if answer == frame(b"Timeout")[4:]:
            return found
        found.append(answer[4 + 2 + 4 :])


@pytest.mark.process
def test_what_was_confirmed_survives_kill_9_and_what_was_settled_does_not_come_back(tmp_path: Path) -> None:
    """Killed at random moments under load by all five protocols; `python -m scripts.kill9` does it more often."""
    said: list[str] = []
    summary = kill9.run(tmp_path / "data", rounds=4, seed=7, longest=0.4, say=said.append)
    assert summary.wrong == []
    assert summary.confirmed > 100
    assert summary.done_confirmed > 10
    assert len(said) == 4


def test_the_books_of_kill_9_notice_what_is_wrong() -> None:
    book = kill9.Book()
    book.put = [1, 2, 3, 4, 5]
    book.confirmed = {1, 2, 3}
    book.done, book.done_confirmed = {1, 4}, {1}
    book.rejected = [2, 3, 2]
    book.rejected_confirmed.update([2, 3])
    assert book.check([(4, 0), (5, 0), (3, 1), (2, 2)]) == []
    assert book.check([(2, 1), (3, 1)]) == []
    assert book.check([(3, 1)]) == ["lost 2"]
    assert book.check([(1, 0), (2, 1), (3, 1), (9, 0)]) == ["back 1", "back 9"]
    assert book.check([(5, 0), (4, 0), (2, 1), (3, 1)]) == ["order of [5, 4]"]
    assert book.check([(3, 1), (2, 1)]) == ["order of what was rejected"]
    assert book.check([(2, 0), (3, 2)]) == [
        "retry 0 of 2, rejected 2 times, 1 of them confirmed",
        "retry 2 of 3, rejected 1 times, 1 of them confirmed",
    ]


@pytest.mark.process
def test_order_and_retry_counters_survive(start_process: StartProcess, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    process = start_process(*data, memory=False)
    client = process.connect("mqks")
    client.send(b"c consume --confirm q e --manual-ack\n1 publish e a\n2 publish e b\n3 publish e c\n")
    client.lines(4)
    client.send(b"r reject --confirm c 1\n")
    assert set(client.lines(2)) == {b"c ok 1 event=e,retry=1 a", b"r ok "}
    kill(process)
    process = start_process(*data, memory=False)
    client = process.connect("mqks")
    client.send(b"c consume q e\n")
    assert client.lines(3) == [b"c ok 2 event=e b", b"c ok 3 event=e c", b"c ok 1 event=e,retry=1 a"]


@pytest.mark.process
def test_a_second_process_does_not_get_the_directory(start_process: StartProcess, tmp_path: Path) -> None:
    start_process("--data", str(tmp_path / "data"), memory=False)
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(tmp_path / "data"), "--mqks", "0", *OFF],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "another process uses data directory" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.process
def test_damage_is_one_clear_line_and_no_start(start_process: StartProcess, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    process = start_process("--data", str(directory), memory=False)
    client = process.connect("mqks")
    for number in range(3):
        client.send(b"%d publish --confirm e x\n" % number)
        client.line()
    kill(process)
    (segment,) = directory.glob("*.seg")
    content = bytearray(segment.read_bytes())
    content[70] ^= 1
    segment.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(directory), "--mqks", "0", *OFF],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"segment {segment.name}, byte 0: the checksum does not fit" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_confirms_wait_for_the_disk_and_deliveries_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sync that takes its time, the delivery is there first and the confirmation comes after."""
    gate = threading.Event()
    really = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda handle: (gate.wait(10), really(handle))[1])
    running = RunningBroker(memory=False, data=str(tmp_path))
    running.start()
    try:
        client, mqmq = running.connect("mqks"), running.connect("mqmq")
        client.send(b"c consume --confirm q e\nm publish --confirm e x\n")
        assert client.lines(2) == [b"c ok ", b"c ok m event=e x"]
        mqmq.send(frame(b"Put", b"jobs", b"1") + frame(b"Get", b"jobs", b"1") + frame(b"Info"))
        assert client.quiet(0.1)
        assert mqmq.quiet(0.1)
        gate.set()
        assert client.line() == b"m ok "
        # Answers of MQMQ carry no ids, so none overtakes another.
        expected = frame(b"OK") + frame(b"OK", b"1")
        assert mqmq.read(len(expected)) == expected
    finally:
        gate.set()
        running.stop()


def test_a_refused_confirmed_publish_has_its_error_and_no_ok(tmp_path: Path) -> None:
    running = RunningBroker(memory=False, data=str(tmp_path), body_size_max=10)
    running.start()
    try:
        client = running.connect("mqks")
        client.send(b"1 publish --confirm e 12345678901\n2 publish --confirm e x\n")
        assert client.line().startswith(b"1 error ")
        assert client.line() == b"2 ok "
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("call", "code"), [("write", errno.EIO), ("fdatasync", errno.EIO), ("fdatasync", errno.ENOSPC)]
)
def test_a_disk_that_fails_confirms_nothing_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    full: list[str] = []

    def fail(*arguments: object) -> int:
        raise OSError(code, os.strerror(code))

    durable: list[int] = []
    failures: list[str] = []
    flusher = Flusher(Disk(tmp_path), "always", durable.append, full.append, failures.append)
    flusher.submit([Pending("0.seg", b"x" * 100, 5)])
    monkeypatch.setattr(os, call, fail)
    flusher.start()
    flusher._thread.join(10)
    assert durable == []
    assert full == []
    assert failures == [f"{os.strerror(code)} ({tmp_path / '0.seg'})"]
    assert EXIT_DISK_FAILED == 74


def test_a_directory_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(tmp_path / "file"), "--mqks", "0", *OFF],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "cannot use data directory" in done.stderr


@pytest.mark.parametrize("sync", ["always", "interval", "off"])
def test_what_was_written_is_all_there_after_a_stop(tmp_path: Path, sync: str) -> None:
    running = RunningBroker(memory=False, data=str(tmp_path), sync=sync)
    running.start()
    client = running.connect("mqmq")
    client.send(b"".join(frame(b"Put", b"q", b"%d" % number) for number in range(100)))
    client.read(100 * len(frame(b"OK")))
    running.stop()
    again = RunningBroker(memory=False, data=str(tmp_path), sync=sync)
    again.start()
    assert drain_queue(again.connect("mqmq"), b"q") == [b"%d" % number for number in range(100)]
    again.stop()
