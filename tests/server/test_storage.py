"""A broker with a data directory: what it confirmed is there after a kill; what it cannot store it does not promise."""

import asyncio
import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from scripts import kill9

from penstock.core.limits import Limits
from penstock.core.memory_shares import Shares
from penstock.errors import LogError
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog, Pending
from penstock.storage.flusher import EXIT_DISK_FAILED, Flusher
from penstock.storage.storage import Storage, recover

from ..storage.histories import flip
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
    assert book.check([(5, 1), (3, 2), (2, 3)]) == []  # these were in the hands of a consumer
    assert book.check([(2, 0), (3, 3)]) == [
        "retry 0 of 2, rejected 2 times, 1 of them confirmed",
        "retry 3 of 3, rejected 1 times, 1 of them confirmed",
        "order of what was rejected",
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
    # One more for each: they were in the consumer's hands.
    assert client.lines(3) == [b"c ok 2 event=e,retry=1 b", b"c ok 3 event=e,retry=1 c", b"c ok 1 event=e,retry=2 a"]


@pytest.mark.process
def test_a_second_process_does_not_get_the_directory(start_process: StartProcess, tmp_path: Path) -> None:
    start_process("--data", str(tmp_path / "data"), memory=False)
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(tmp_path / "data"), "--mqks", "0", *OFF],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "is in use by another process" in done.stderr
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
    assert f"segment {segment.name}, byte 0: checksum mismatch" in done.stderr
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


def test_a_stop_waits_for_the_disk_so_that_what_is_safe_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, gate = threading.Event(), threading.Event()
    really = os.fdatasync

    def slow_sync(handle: int) -> None:
        started.set()
        gate.wait(10)
        really(handle)

    monkeypatch.setattr(os, "fdatasync", slow_sync)
    running = RunningBroker(memory=False, data=str(tmp_path), drain_seconds=10)
    running.start()
    client = running.connect("mqks")
    client.send(b"m publish --confirm e x\n")
    assert started.wait(10)
    threading.Timer(0.1, gate.set).start()
    stopping = threading.Thread(target=running.stop)
    stopping.start()
    assert client.line() == b"m ok "
    stopping.join()


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
    really: Callable[..., int] = getattr(os, call)

    def fail(*arguments: object) -> int:
        if threading.current_thread() is not flusher._thread:
            return really(*arguments)
        raise OSError(code, os.strerror(code))

    durable: list[int] = []
    failures: list[str] = []
    on_durable = lambda position, _: durable.append(position)  # noqa: E731
    flusher = Flusher(Disk(tmp_path), "always", on_durable, full.append, failures.append)
    flusher.submit([Pending("0.seg", [b"x" * 100], 5, 1)])
    monkeypatch.setattr(os, call, fail)
    flusher.start()
    flusher._thread.join(10)
    assert durable == []
    assert full == []
    assert failures == [f"{os.strerror(code)} ({tmp_path / '0.seg'})"]
    assert EXIT_DISK_FAILED == 74


@pytest.mark.process
def test_a_full_disk_refuses_publishes_and_goes_on_by_itself_once_there_is_room(
    start_process: StartProcess, tmp_path: Path
) -> None:
    """Files that may not grow stand for a disk that is full: that needs no disk of its own, and nobody's rights."""
    data = ("--data", str(tmp_path / "data"))
    process = start_process(*data, memory=False)
    pid = process.process.pid
    client, worker = process.connect("mqks"), process.connect("mqks")
    worker.send(b"w consume --confirm q e --manual-ack\n")
    assert worker.line() == b"w ok "
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (5000, most))
    confirmed: list[bytes] = []
    for number in range(1, 1000):
        client.send(b"%d publish --confirm e %s\n" % (number, b"x" * 100))
        # Accepted before it is known that there is no room, one of them hears nothing for now.
        if client.quiet(5.0 if number < 5 else 0.3):
            break
        confirmed.append(client.line())
    assert confirmed == [b"%d ok " % n for n in range(1, number)]
    assert 5 < number < 50
    client.send(b"no publish --confirm e x\n")
    assert client.line().startswith(b"no error ")
    # A worker goes on; what it says is not confirmed yet.
    worker.lines(number)
    worker.send(b"a ack --confirm w 1\n")
    assert worker.quiet(0.2)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
    assert client.line() == b"%d ok " % number
    assert worker.line() == b"a ok "
    client.send(b"yes publish --confirm e x\n")
    assert client.line() == b"yes ok "
    kill(process)
    log = process.process.stderr.read() if process.process.stderr else ""
    assert f"DISK_FULL: File too large: data directory {tmp_path / 'data'}" in log
    assert log.count("log.full") == log.count("log.room") == 1
    process = start_process(*data, memory=False)
    found = [words[4] for words in (line.split(b" ", 4) for line in left_in(process, number))]
    assert len(found) == number
    assert found[-1] == b"x"


def left_in(process: BrokerProcess, count: int) -> list[bytes]:
    client = process.connect("mqks")
    client.send(b"r consume q e\n")
    return client.lines(count)


@pytest.mark.process
def test_a_stop_while_the_disk_is_full_says_what_is_lost(start_process: StartProcess, tmp_path: Path) -> None:
    process = start_process("--data", str(tmp_path / "data"), memory=False)
    client = process.connect("mqks")
    _, most = resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (0, most))
    client.send(b"1 publish --confirm e x\n2 ping x\n")
    assert client.line() == b"2 ok x"
    code, log = process.terminate()
    assert code == EXIT_DISK_FAILED
    assert "bytes that were accepted but not confirmed" in log
    assert client.closed_by_peer()
    assert b"1 ok" not in client.buffer


@pytest.mark.process
def test_a_disk_that_fails_ends_the_process_with_one_clear_line(start_process: StartProcess, tmp_path: Path) -> None:
    """Its directory is taken away, so the first segment cannot be made."""
    directory = tmp_path / "data"
    process = start_process("--data", str(directory), memory=False)
    directory.rename(tmp_path / "elsewhere")
    client = process.connect("mqks")
    client.send(b"1 publish --confirm e x\n")
    assert client.closed_by_peer()
    assert client.buffer == b""
    _, log = process.process.communicate(timeout=10)
    assert process.process.returncode == EXIT_DISK_FAILED
    assert len([line for line in log.splitlines() if "log.failed" in line and "No such file" in line]) == 1
    assert "Traceback" not in log


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_directory_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    really = os.open

    def refuse(path: object, flags: int, *rest: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and Path(str(path)).is_relative_to(tmp_path):
            raise OSError(code, os.strerror(code), str(path))
        return really(str(path), flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    storage = Storage(tmp_path, "always", 1 << 20, lambda level, event, details: None)
    with pytest.raises(LogError, match=f"cannot use data directory {tmp_path}: {os.strerror(code)}"):
        storage.open(Limits(), 0)


def test_a_segment_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000000.seg").mkdir()
    storage = Storage(tmp_path, "always", 1 << 20, lambda level, event, details: None)
    with pytest.raises(LogError, match=r"Is a directory \(.*00000000000000000000.seg\)"):
        storage.open(Limits(), 0)


def test_a_start_says_from_which_snapshot_it_began_and_what_it_found(tmp_path: Path) -> None:
    opened: list[dict[str, object]] = []

    def report(level: str, event: str, details: dict[str, object]) -> None:
        if event == "log.opened":
            opened.append(details)

    for _ in range(2):
        storage = Storage(tmp_path, "off", 1 << 20, report)
        broker = storage.open(Limits(), 0)
        with closing(asyncio.new_event_loop()) as loop:
            storage.start(loop, broker, lambda: None)
            if not broker.queues:
                broker.put(b"q", Message(b"1", b"q", b"1", 0, "mqmq"))
            storage.stop(0)
    assert [(found["snapshot"], found["blocks"], found["next_offset"], found["queues"]) for found in opened] == [
        (-1, 0, 0, 0),
        (2, 0, 1, 1),
    ]


def test_what_cannot_be_read_back_is_reported_once(tmp_path: Path) -> None:
    reports: list[tuple[str, str, dict[str, object]]] = []

    def report(level: str, event: str, details: dict[str, object]) -> None:
        reports.append((level, event, details))

    def damages() -> list[str]:
        return [
            str(details["reason"]) for level, event, details in reports if (level, event) == ("error", "log.damaged")
        ]

    storage = Storage(tmp_path, "off", 1 << 20, report)
    broker = storage.open(Limits(), 0)
    with closing(asyncio.new_event_loop()) as loop:
        storage.start(loop, broker, lambda: None)
        for body in (b"1", b"2"):
            broker.put(b"q", Message(body, b"q", body, 0, "mqmq"))
        storage.end_turn(0)
        loop.run_until_complete(storage.when_durable(storage.log.position))
        assert storage.when_durable(storage.log.position).done()  # nothing may come any more that would say so
        broker.queues[b"q"].free_memory()
        flip(next(tmp_path.glob("*.seg")), 100)
        assert broker.get(b"q") is None
        assert damages() == []
        storage.end_turn(0)
        assert len(damages()) == 1
        assert "messages 0 to 1 cannot be read" in damages()[0]
        storage.end_turn(0)
        assert len(damages()) == 1
        storage.stop(0)


def test_queues_that_wait_for_the_disk_are_reported_when_they_begin_to_and_when_they_go_on(tmp_path: Path) -> None:
    reports: list[tuple[str, object]] = []

    def report(level: str, event: str, details: dict[str, object]) -> None:
        if event in ("log.unreadable", "log.readable"):
            reports.append((event, details.get("queues")))

    storage = Storage(tmp_path, "off", 1 << 20, report)
    broker = storage.open(Limits(), 0)
    with closing(asyncio.new_event_loop()) as loop:
        storage.start(loop, broker, lambda: None)
        for stalled in (0, 2, 3, 0, 0, 1):
            broker.context.stalled = stalled
            storage.end_turn(0)
        assert reports == [("log.unreadable", 2), ("log.readable", None), ("log.unreadable", 1)]
        storage.stop(0)


def test_the_disk_is_behind_with_more_than_its_share_and_far_behind_with_more_than_two_of_them(tmp_path: Path) -> None:
    gate = threading.Event()

    class SlowDisk(Disk):
        def open(self, name: str) -> int:
            gate.wait(10)
            return super().open(name)

    shares = Shares(1 << 20)
    storage = Storage(tmp_path, "off", 1 << 20, lambda *_: None, SlowDisk(tmp_path), shares=shares)
    broker = storage.open(Limits(), 0)
    with closing(asyncio.new_event_loop()) as loop:
        storage.start(loop, broker, lambda: None)
        try:
            for number in range(2):
                broker.put(b"q", Message(b"m", b"q", b"x" * number, 0, "mqmq"))
            storage.end_turn(0)
            size = storage.behind_bytes()
            for share, is_behind, is_far_behind in (
                (size, False, False), (size - 1, True, False), (size // 2, True, size % 2 == 1),
                (size // 2 - 1, True, True),
            ):  # fmt: skip
                shares.behind = share
                assert (storage.is_behind(), storage.is_far_behind()) == (is_behind, is_far_behind)
        finally:
            gate.set()
            storage.stop(0)


def test_time_that_went_back_while_the_broker_was_down_changes_nothing(tmp_path: Path) -> None:
    later, earlier = 2_000_000_000_000_000, 1_000_000_000_000_000
    for now, bodies in ((later, []), (earlier, [b"1"]), (later, [b"1", b"2"])):
        log, disk = DurableLog(1 << 20), Disk(tmp_path)
        broker, _ = recover(disk, log, Limits(), now)
        queue = broker.queues.get(b"q")
        assert [message.body for message, _ in queue.contents()] == bodies if queue else not bodies
        broker.put(b"q", Message(b"x", b"q", b"%d" % (len(bodies) + 1), now, "mqmq"))
        broker.expire(b"q", 5_000_000)
        broker.tick(now)
        log.close_block(now)
        flusher = Flusher(disk, "always", lambda position, next_offset: None, pytest.fail, pytest.fail)
        flusher.submit(log.take_closed())
        flusher.start()
        flusher.stop()


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
