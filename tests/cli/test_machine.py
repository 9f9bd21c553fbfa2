"""`config`, `doctor`, `completion`, and the page of docs that the commands write."""

import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli import doctor
from penstock.cli import main as cli
from penstock.config import LISTENERS, Config
from penstock.testing import Broker

from .conftest import Penstock


def test_config_show(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('mqks = 1\nrq = 2\ndata = "d"\n[[policy]]\nqueues = "jobs.*"\nlength_max = 10\n')
    monkeypatch.setenv("PENSTOCK_RQ", "off")
    lines = [line.split() for line in penstock.lines("config", "show", "--config", file)]
    assert ["mqks", "1", "file", str(file)] in lines
    assert ["rq", "off", "environment", "PENSTOCK_RQ"] in lines
    assert ["line_size_max", "48MiB", "default"] in lines
    assert lines[-1][:5] == ["policy", "jobs.*:", "length_max", "=", "10"]
    assert len(lines) == len(Config.options()) + 1
    found = {row["key"]: row["value"] for row in penstock.json("config", "show", "--config", file, "--changed")}
    assert found == {"mqks": 1, "rq": None, "data": "d", "policy": {"queues": ["jobs.*"], "length_max": 10}}


def test_config_check(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_RQ", "wrong")  # has no say in whether the file is right
    file = tmp_path / "penstock.toml"
    file.write_text("mqks = 1\n")
    assert penstock.lines("config", "check", file) == [f"{file} is valid: 1 key"]
    (found,) = penstock.json("config", "check", file)
    assert found == {"file": str(file), "ok": True, "keys": 1, "policies": 0, "open_doors": []}
    file.write_text("hots = 1\n")
    told = f"file {file}: hots = 1: is not a setting; did you mean host?"
    assert penstock.failure("config", "check", file) == (2, told)
    assert penstock.failure("config", "check", tmp_path / "none")[0] == 2
    monkeypatch.delenv("PENSTOCK_RQ")
    assert penstock.failure("config", "show", "--config", file) == (2, told)


def test_config_check_names_every_open_door(penstock: Penstock, tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('host = "0.0.0.0"\nmqks = 1\nsmqs = "off"\nsevx = "off"\nmqmq = "off"\nrq = "off"\nany = "off"\n')
    right, mqks, http, advice = penstock.lines("config", "check", file)
    assert right.endswith("is valid: 7 keys")
    assert mqks == "exposed: mqks on 0.0.0.0:1 lacks TLS and authentication"
    assert http == "exposed: http on 0.0.0.0:7780 lacks TLS and authentication"
    assert advice.startswith("the broker would not start. For TLS: penstock tls self-signed")
    file.write_text(file.read_text() + "insecure = true\n")
    assert len(penstock.lines("config", "check", file)) == 3
    (found,) = penstock.json("config", "check", file)
    assert [door["lacks"] for door in found["open_doors"]] == [["TLS", "authentication"]] * 2


def test_config_check_looks_at_certificates(penstock: Penstock, tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text(f'tls_cert = "{tmp_path}/tls/server.pem"\ntls_key = "{tmp_path}/tls/server.key"\n')
    code, told = penstock.failure("config", "check", file)
    assert (code, told) == (1, f"tls_cert {tmp_path}/tls/server.pem: No such file or directory")
    penstock.lines("tls", "self-signed", tmp_path / "tls")
    assert penstock.lines("config", "check", file) == [f"{file} is valid: 2 keys"]


def findings(penstock: Penstock, *arguments: object, code: int = 0) -> dict[str, tuple[str, str]]:
    """State and what was found, by name."""
    exited, out, err = penstock("doctor", *arguments, "--json")
    assert (exited, err) == (code, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert all((row["advice"] is None) == (row["state"] == "ok") for row in rows)
    return {row["name"]: (row["state"], row["found"]) for row in rows}


@pytest.fixture
def free_ports(penstock: Penstock, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LISTENERS:
        monkeypatch.setenv(f"PENSTOCK_{name.upper()}", "off")


@pytest.mark.usefixtures("free_ports")
def test_doctor_finds_nothing_broken(penstock: Penstock, tmp_path: Path) -> None:
    found = findings(penstock, "--data", tmp_path)
    assert found["python"] == ("ok", ".".join(map(str, sys.version_info[:3])))
    assert found["directory"] == ("ok", str(tmp_path))
    assert "a sync takes" in found["disk"][1]
    assert {"core", "compiler", "java", "spark", "open files", "room"} <= set(found)
    assert findings(penstock, "--data", tmp_path / "a" / "b")["directory"][1].endswith("will be created")
    assert not (tmp_path / "a").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("free_ports")
def test_doctor_names_a_port_in_use_and_a_directory_that_is_none(
    penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("PENSTOCK_SMQS", str(taken.getsockname()[1]))
        found = findings(penstock, "--data", file, code=1)
        assert found["port smqs"] == ("broken", f"{taken.getsockname()[1]}: Address already in use")
        assert found["directory"] == ("broken", f"{file} is not writable")
        code, out, _ = penstock("doctor", "--data", tmp_path)
        assert code == 1
        assert "-> stop the program that uses it, or: serve --smqs PORT" in out
    assert penstock.failure("doctor", "--config", tmp_path / "none")[0] == 2


def test_doctor_knows_its_own(online: Penstock, broker: Broker, tmp_path: Path) -> None:
    found = findings(online, "--data", tmp_path)
    assert found["port mqks"] == ("ok", f"{broker.ports['mqks']}: a Penstock broker is running here")


def test_doctor_on_limits_and_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY:
        assert doctor.open_files(Config(connections_max=hard)).state == "advice"
    assert doctor.open_files(Config(connections_max=1)).state == "ok"
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "JAVA_HOME is wrong" in doctor.java().found
    for told, state in (("1.8.0_292", "advice"), ("17.0.9", "ok"), ("21", "ok"), ("x", "advice")):
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{told}\"' >&2\n")
        program.chmod(0o755)
        assert doctor.java().state == state, told
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (doctor.java().found, doctor.compiler().found) == ("none", "none")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(penstock: Penstock, shell: str) -> None:
    text = "\n".join(penstock.lines("completion", shell))
    assert cli.COMPLETE_VARIABLE in text
    assert "penstock" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("penstock con", {"consume", "config"}),
        ("penstock publish --", {"--via", "--lines", "--json", "--addr"}),
        ("penstock publish --via m", {"mqks", "mqmq"}),
        ("penstock log ", {"info", "verify", "repair", "dump", "tail"}),
        ("penstock serve --line", {"--line-size-max"}),
    ],
)
def test_completion_knows_every_command(words: str, expected: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), cli.COMPLETE_VARIABLE: "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert expected <= set(done.stdout.split())


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_help_and_most_have_json(penstock: Penstock, command: str) -> None:
    text = "\n".join(penstock.lines(command, "--help"))
    assert text.startswith(f"Usage: penstock {command} ")
    assert cli.COMMANDS[command].split(":")[0] in " ".join(text.split()) or command == "pipeline"
    assert ("--json " in text) == (
        command not in ("serve", "log", "config", "pipeline", "tls", "completion", "user", "token")
    )
