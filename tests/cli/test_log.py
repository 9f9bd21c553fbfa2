"""`penstock log`, `backup` and `restore`: what they print, what they change, how they exit."""

import json
import threading
import time
from pathlib import Path

import pytest

from penstock.cli import main as cli
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.message import Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.lock import lock_directory
from penstock.storage.segments import blocks_of, segment_name, segments_of

NOON = 1_700_000_000_000_000


class Run:
    """Runs command lines in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exited:
            cli.main([str(argument) for argument in arguments])
        out, err = self.capsys.readouterr()
        assert isinstance(exited.value.code, int)
        return exited.value.code, out, err

    def lines(self, *arguments: object) -> list[str]:
        code, out, err = self(*arguments)
        assert (code, err) == (0, "")
        return out.splitlines()

    def json(self, *arguments: object) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.lines(*arguments, "--json")]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "120")
    return Run(capsys)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six messages in three blocks and two segments."""
    directory = tmp_path / "data"
    directory.mkdir()
    log = DurableLog(400)
    broker = Broker(log, Limits())
    for number in range(6):
        if number % 2:
            message = Message(b"m%d" % number, b"order.paid", b"a\n%d" % number, NOON + number, "mqks")
            broker.publish(message)
            log.close_block(NOON + number)
        else:
            broker.put(b"jobs", Message(b"m%d" % number, b"jobs", b"\xff", NOON + number, "mqmq", {b"k": b"v"}))
    for pending in log.take_closed():
        with (directory / pending.segment).open("ab") as file:
            file.write(pending.data())
    assert len(segments_of(Disk(directory))) == 2
    return directory


def damage(data: Path) -> tuple[Path, int]:
    disk = Disk(data)
    name = segments_of(disk)[0]
    place = [place for place, _ in blocks_of(disk, name)][1]
    segment = data / name
    content = bytearray(segment.read_bytes())
    content[place + 80] ^= 1
    segment.write_bytes(content)
    return segment, place


def test_info(run: Run, data: Path) -> None:
    text = "\n".join(run.lines("log", "info", data))
    assert segment_name(0) in text
    assert "6 messages and 0 settlements in 3 blocks" in text
    assert "next offset 6, next position 7" in text
    assert "from 2023-11-14T22:13:20.000001Z to 2023-11-14T22:13:20.000005Z" in text
    (found,) = run.json("log", "info", data)
    assert (found["messages"], found["first_offset"], found["next_offset"], found["position"]) == (6, 0, 6, 7)
    assert found["bytes"] == sum((data / segment).stat().st_size for segment in segments_of(Disk(data)))


def test_info_of_an_empty_directory(run: Run, tmp_path: Path) -> None:
    assert "0 messages and 0 settlements in 0 blocks" in run.lines("log", "info", tmp_path)


def test_dump(run: Run, data: Path) -> None:
    lines = run.lines("log", "dump", data)
    assert len(lines) == 6
    assert "jobs (queue)  m0  \\xff" in lines[0]
    assert lines[1].endswith("mqks  order.paid  m1  a\\n1")
    assert [row["offset"] for row in run.json("log", "dump", data, "--from", 2, "--to", 4)] == [2, 3]
    assert [row["id"] for row in run.json("log", "dump", data, "--event", "order.*")] == ["m1", "m3", "m5"]
    row = run.json("log", "dump", data, "--to", 1)[0]
    assert row == {
        "offset": 0,
        "event": "jobs",
        "queue": "jobs",
        "id": "m0",
        "body_base64": "/w==",
        "headers": {"k": "v"},
        "protocol": "mqmq",
        "published_at": "2023-11-14T22:13:20.000000Z",
    }
    assert run.json("log", "dump", data, "--entries")[0] == {"change": "declared", "queue": "jobs"}


def test_tail(run: Run, data: Path) -> None:
    assert [row["offset"] for row in run.json("log", "tail", data, "-n", 2)] == [4, 5]
    assert len(run.lines("log", "tail", data)) == 6
    assert run.lines("log", "tail", data, "-n", 0) == []


def test_tail_follows_until_interrupted(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DurableLog(400)
    log.resume(6, 7, 0)
    waits: list[float] = []
    really = time.sleep

    def wait(seconds: float) -> None:
        if threading.current_thread() is not threading.main_thread():
            return really(seconds)
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt
        log.append(Message(b"new", b"e", b"", NOON, "mqks"))
        log.close_block(0)
        for pending in log.take_closed():
            (data / pending.segment).write_bytes(pending.data())
        return None

    monkeypatch.setattr(time, "sleep", wait)
    assert [row["id"] for row in run.json("log", "tail", data, "-n", 1, "--follow")] == ["m5", "new"]


def test_verify_of_a_whole_log(run: Run, data: Path) -> None:
    assert run.lines("log", "verify", data) == ["3 blocks, 6 messages in 2 segments are intact"]
    assert run.json("log", "verify", data)[0]["replay"] == "ok"


def test_verify_names_the_segment_and_the_byte(run: Run, data: Path) -> None:
    segment, place = damage(data)
    code, out, err = run("log", "verify", data)
    assert (code, err) == (1, "")
    size = segment.stat().st_size - place
    line = f"{segment.name} byte {place}: checksum mismatch ({size} bytes); lost: offsets 2 to 3"
    assert out.splitlines()[0] == line
    code, out, _ = run("log", "verify", data, "--json")
    assert code == 1
    assert json.loads(out)["damages"][0]["lost_offsets"] == [2, 4]


def test_a_block_that_is_being_written_is_no_damage(run: Run, data: Path) -> None:
    last = data / segments_of(Disk(data))[-1]
    with last.open("ab") as file:
        file.write(b"PNSK")
    lines = run.lines("log", "verify", data)
    assert "4 bytes are incomplete: still being written, or a torn end" in lines[0]


def test_repair(run: Run, data: Path) -> None:
    damage(data)
    before = {path: path.read_bytes() for path in data.iterdir() if path.is_file()}
    lines = run.lines("log", "repair", data, "--dry-run")
    assert "lost: offsets 2 to 3" in lines[0]
    assert lines[-1] == "nothing was changed"
    assert {path: path.read_bytes() for path in before} == before
    assert run.lines("log", "repair", data)[-1] == "repaired"
    assert run.lines("log", "verify", data) == ["2 blocks, 4 messages in 2 segments are intact"]
    assert [row["offset"] for row in run.json("log", "dump", data)] == [0, 1, 4, 5]


def test_repair_keeps_away_from_a_running_broker(run: Run, data: Path) -> None:
    lock = lock_directory(data)
    assert run("log", "repair", data) == (1, "", f"penstock: data directory {data} is in use by another process\n")
    lock.close()


def test_backup_and_restore(run: Run, data: Path, tmp_path: Path) -> None:
    (line,) = run.lines("backup", data, tmp_path / "copy")
    assert line.endswith("copied and checked: every message before offset 6, position 7")
    (line,) = run.lines("restore", tmp_path / "copy", tmp_path / "new")
    assert line.endswith("the next offset is 6, the next position 7")
    assert run.json("log", "dump", tmp_path / "new") == run.json("log", "dump", data)
    code, out, err = run("restore", tmp_path / "copy", tmp_path / "new")
    assert (code, out, err) == (1, "", f"penstock: {tmp_path / 'new'} is not empty\n")
    code, _, err = run("restore", data, tmp_path / "other")
    assert (code, err) == (1, f"penstock: {data} is not a complete backup: it has no backup.json\n")


@pytest.mark.parametrize("command", ["info", "verify", "repair", "dump", "tail"])
def test_a_directory_that_is_not_there_is_one_line(run: Run, tmp_path: Path, command: str) -> None:
    none = tmp_path / "none"
    assert run("log", command, none) == (1, "", f"penstock: {none}: no such directory\n")
    assert not none.exists()


def test_help(run: Run) -> None:
    text = "\n".join(run.lines("log", "--help"))
    assert "Usage: penstock log" in text
    assert all(name in text for name in ("info", "verify", "repair", "dump", "tail"))
    assert "--follow" in "\n".join(run.lines("log", "tail", "--help"))
    assert run("log", "dump")[0] == 2
