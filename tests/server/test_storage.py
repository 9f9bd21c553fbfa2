"""A broker with a data directory: what it confirmed is there after a kill; what it cannot store it does not promise."""

import contextlib
import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

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


class Load(threading.Thread):
    """A producer and a worker that go on until their broker dies, and know what they were told."""

    def __init__(self, process: BrokerProcess, first: int) -> None:
        super().__init__()
        self.producer, self.worker = process.connect("mqmq"), process.connect("mqks")
        self.acker = process.connect("mqks")
        self.next = first
        self.confirmed: list[bytes] = []
        self.acks_sent: set[bytes] = set()
        self.settled: list[bytes] = []
        self.worker.send(b"w consume --confirm work work --manual-ack\n")
        assert self.worker.line() == b"w ok "

    def run(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                self.batch()

    def batch(self) -> None:
        bodies = [b"%08d" % (self.next + step) for step in range(50)]
        self.next += 50
        self.producer.send(b"".join(frame(b"Put", b"work", body) for body in bodies))
        for body in bodies:
            self.producer.read(len(frame(b"OK")))
            self.confirmed.append(body)
        taken = [line.split(b" ", 4) for line in self.worker.lines(50)][::2]
        self.acks_sent |= {words[4] for words in taken}
        self.acker.send(b"".join(b"%s ack --confirm w %s\n" % (words[4], words[2]) for words in taken))
        for _ in taken:
            self.settled.append(self.acker.line().removesuffix(b" ok "))


@pytest.mark.process
def test_what_was_confirmed_survives_kill_9_and_what_was_settled_does_not_come_back(
    start_process: StartProcess, tmp_path: Path
) -> None:
    """Killed at random moments under load over two protocols, several times over one directory."""
    chance = random.Random(7)
    first = 0
    for _ in range(4):
        process = start_process("--data", str(tmp_path / "data"), "--log-level", "warning", memory=False)
        load = Load(process, first)
        load.start()
        time.sleep(chance.uniform(0.05, 0.4))
        kill(process)
        load.join(10)
        left = start_process("--data", str(tmp_path / "data"), "--log-level", "warning", memory=False)
        found = drain_queue(left.connect("mqmq"), b"work")
        kill(left)
        assert len(load.confirmed) > 50
        assert found == sorted(found)
        assert set(load.confirmed) - load.acks_sent <= set(found)
        assert not set(load.settled) & set(found)
        first = load.next


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


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_a_disk_that_fails_confirms_nothing_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
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
