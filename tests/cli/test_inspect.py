"""`info`, `stats`, `queues`, `top`: what they say of a running broker; and `mqmq`, the old name."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli import mqmq as old_name
from penstock.cli import output
from penstock.client import mqmq
from penstock.testing import Broker

from .conftest import Command, Penstock


@pytest.fixture
def filled(broker: Broker) -> Broker:
    with mqmq.Client().connect(broker.address("mqmq")) as client:
        for number in range(4 - client.info().queues.get("look.queue1", 0)):
            client.put("look.queue1", f"message {number}")
        client.put("look.queue2", "x")
        client.get("look.queue2")
    return broker


def test_info_is_as_the_text_of_mqmq_prints_it(penstock: Penstock) -> None:
    with Broker() as broker, mqmq.Client().connect(broker.address("mqmq")) as client:
        for number in range(16):
            client.put("queue1" if number < 10 else "queue2", "x")
        expected = [
            "Number of connections: 2",
            "Number of queues: 2",
            "Number of messages: 16",
            "Queues:",
            "        queue1: 10",
            "        queue2: 6",
        ]
        assert penstock.lines("info", "--addr", broker.address("mqmq")) == expected
        (found,) = penstock.json("info", "--addr", broker.address("any"))
        assert found["overview"] is None
        assert (found["messages"], found["queues"]) == (16, {"queue1": 10, "queue2": 6})


def test_info_at_length(online: Penstock, filled: Broker) -> None:
    text = "\n".join(online.lines("info", "--long"))
    assert "        look.queue1: 4" in text
    assert f"mqmq {filled.ports['mqmq']}" in text
    assert f"Storage: {filled.config.data}, sync off; offsets 0 to " in text
    (found,) = online.json("info")
    assert found["queues"]["look.queue1"] == 4
    assert found["overview"]["ports"] == filled.ports


def test_stats(online: Penstock, filled: Broker) -> None:
    lines = online.lines("stats")
    assert lines[0].split() == ["QUEUE", "MESSAGES"]
    assert ["look.queue1", "4"] in [line.split() for line in lines]
    (found,) = online.json("stats")
    assert found["look.queue1"] == 4


def test_queues(online: Penstock, filled: Broker) -> None:
    lines = online.lines("queues", "look.", "--sort", "-ready")
    assert lines[0].split() == ["QUEUE", "READY", "UNACKED", "DELAYED", "BYTES", "CONSUMERS", "OLDEST", "STATE"]
    assert [line.split()[:2] for line in lines[1:]] == [["look.queue1", "4"], ["look.queue2", "0"]]
    assert online.lines("queues", "look.", "--limit", 1)[-1] == "... and 1 more: use --limit to show up to 1000"
    assert [row["name"] for row in online.json("queues", "look.")] == ["look.queue1", "look.queue2"]
    assert online.lines("queues", "no such queue")[1:] == []
    code, why = online.failure("queues", "--sort", "colour")
    assert (code, why.partition(",")[0]) == (2, "--sort colour: give one of name")


def test_top_once(online: Penstock, filled: Broker) -> None:
    (look,) = online.json("top", "--once", "--search", "look.", "--interval", 0.05)
    assert look["status"] == "ok"
    assert [(row["name"], row["ready"], row["queued_rate"]) for row in look["queues"]] == [
        ("look.queue1", 4, 0.0),
        ("look.queue2", 0, 0.0),
    ]
    text = "\n".join(online.lines("top", "--once", "--search", "look.", "--interval", 0.05, "--limit", 1))
    assert "look.queue1" in text
    assert "... and 1 more" in text


def test_top_ends_by_ctrl_c(online: Penstock, filled: Broker) -> None:
    with Command("top", "--json", "--interval", "0.05") as top:
        assert json.loads(top.line())["status"] == "ok"
        code, _, err = top.interrupt()
        assert (code, err) == (0, "")


def test_top_on_a_terminal_leaves_it_as_it_was(online: Penstock, filled: Broker) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock.cli.main", "top", "--interval", "0.05"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
        cwd=Path(__file__).parents[2],
    )
    os.close(theirs)
    shown = b""
    with process:
        while b"look.queue1" not in shown:
            shown += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # what a terminal without anybody behind it gives
            while chunk := os.read(ours, 65536):
                shown += chunk
        assert process.wait(20) == 0
    os.close(ours)
    assert shown.count(b"\x1b[?1049h") == shown.count(b"\x1b[?1049l") == 1
    assert shown.rindex(b"\x1b[?1049l") > shown.rindex(b"look.queue1")
    assert b"Traceback" not in shown


@pytest.mark.parametrize("command", [["queues"], ["top", "--once"], ["tap"]])
def test_without_http_it_says_what_to_start(penstock: Penstock, command: list[str]) -> None:
    code, why = penstock.failure(*command, "--server", "http://127.0.0.1:1")
    assert code == 3
    assert why == "cannot connect to http://127.0.0.1:1: Connection refused; start one with: penstock serve"


@pytest.mark.parametrize("server", ["ftp://x", "http://", "http://x:y", "http://[x"])
def test_a_server_that_is_none_is_one_line(penstock: Penstock, server: str) -> None:
    assert penstock.failure("queues", "--server", server) == (2, f"--server {server}: give http://HOST:PORT")


def test_what_http_refuses_is_one_line(online: Penstock) -> None:
    code, why = online.failure("queues", "x" * 2000)
    assert code == 1
    assert "search" in why


class OldName:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as exited:
            old_name.main(arguments)
        return exited.value.code, *self.capsys.readouterr()


def test_mqmq_under_its_old_name(capsys: pytest.CaptureFixture[str]) -> None:
    run = OldName(capsys)
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock.cli.mqmq", "start", "-addr", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with process:
        try:
            assert process.stdout is not None
            ready = re.fullmatch(rb'ready {"mqmq": (\d+)}\n', process.stdout.readline())
            assert ready is not None
            place = f"127.0.0.1:{int(ready[1])}"
            with mqmq.Client().connect(place) as client:
                client.put("queue1", "x")
                code, out, err = run("info", "-addr", place)
            assert (code, err) == (0, "")
            assert out.splitlines()[-2:] == ["Queues:", "        queue1: 1"]
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_mqmq_under_its_old_name_exits_1_whatever_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    run = OldName(capsys)
    code, out, err = run("info", "-addr=127.0.0.1:1")
    assert (code, out) == (1, "")
    assert err.startswith("mqmq: cannot connect to 127.0.0.1:1: ")
    assert run("start", "-addr", "x:y") == (1, "", "mqmq: 'x:y' is not a valid address: use host:port\n")
    for wrong in ((), ("stop",), ("Quit",), ("info", "-port", "1"), ("start", "-port", "1")):
        code, out, err = run(*wrong)
        assert (code, out) == (1, "")
        assert err.startswith("usage: mqmq"), err


def test_mqmq_start_listens_beyond_this_machine_only_when_told_to(capsys: pytest.CaptureFixture[str]) -> None:
    """The original takes `:PORT` for every address there is; here it takes a word more."""
    code, out, err = OldName(capsys)("start", "-addr", ":47774")
    assert (code, out) == (1, "")
    assert "To listen on this machine only: -addr 127.0.0.1:47774. To listen anyway: --insecure." in err
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock.cli.mqmq", "start", "-addr", ":0", "--insecure"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with process:
        try:
            assert process.stdout is not None
            port = json.loads(process.stdout.readline().partition(b" ")[2])["mqmq"]
            listening = Path(f"/proc/{process.pid}/net/tcp").read_text().split()
            assert f"00000000:{port:04X}" in listening
            code, out, err = OldName(capsys)("info", "-addr", f":{port}")
            assert (code, err) == (0, "")
            assert out.splitlines() == ["Number of connections: 1", "Number of queues: 0", "Number of messages: 0"]
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_every_command_has_json(penstock: Penstock) -> None:
    from typer.core import TyperGroup

    from penstock.cli.completion import command_tree

    found = dict(command_tree().commands)
    for name, command in list(found.items()):
        if isinstance(command, TyperGroup):
            del found[name]
            found |= {f"{name} {inner}": below for inner, below in command.commands.items()}
    without = {name for name, command in found.items() if not any("--json" in each.opts for each in command.params)}
    # A broker logs JSON and says `ready {...}`; what completes a shell is a script.
    assert without == {"serve", "completion"}


NASTY = "look.\x1b]0;owned\x07\x9b2J\u202e"
ESCAPED = r"look.\x1b]0;owned\x07\x9b2J\u202e"


@pytest.fixture
def nasty(broker: Broker) -> Iterator[Broker]:
    """A queue whose name, and whose message, would be obeyed by a terminal."""
    with mqmq.Client().connect(broker.address("mqmq")) as client:
        client.put(NASTY, NASTY)
        yield broker
        client.get(NASTY)


def strings_of(value: object) -> list[str]:
    """All texts of a JSON document, names of members too."""
    if isinstance(value, dict):
        return [*value, *strings_of(list(value.values()))]
    if isinstance(value, list):
        return [text for member in value for text in strings_of(member)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("command", [["queues"], ["stats"], ["info"], ["top", "--once", "--interval", "0.05"]])
def test_no_command_lets_a_name_through_to_the_terminal(online: Penstock, nasty: Broker, command: list[str]) -> None:
    shown = "\n".join(online.lines(*command))
    assert not [mark for mark in "\x1b\x07\x9b\u202e" if mark in shown]
    assert ESCAPED[:12] in shown  # `top` has to be brief
    written = online.lines(*command, "--json")
    assert not [mark for mark in "\x1b\x07\x9b\u202e" if mark in "".join(written)]
    assert NASTY in strings_of([json.loads(line) for line in written])


def test_an_error_shows_a_name_and_does_not_obey_it(online: Penstock) -> None:
    code, why = online.failure("queues", "--sort", "\x1b[2J")
    assert (code, r"\x1b[2J" in why, "\x1b" in why) == (2, True, False)


def test_a_body_is_its_very_bytes_unless_a_terminal_would_obey_it(
    online: Penstock, nasty: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert online.lines("get", NASTY) == [NASTY]
    online.lines("put", NASTY, NASTY)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    assert online.lines("get", NASTY) == [ESCAPED]
    online.lines("put", NASTY, NASTY)
