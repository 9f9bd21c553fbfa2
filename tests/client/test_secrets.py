"""No token is ever to be seen: every byte that a talkative broker and its clients leave behind is searched."""

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.auth.file import UsersFile
from penstock.client import AuthFailed, ClientError, Options, mqks, mqmq, rq, sevx, smqs
from penstock.client._options import AddressLike
from penstock.config import LISTENERS

MODULES: dict[str, Any] = {"mqks": mqks, "sevx": sevx, "smqs": smqs, "mqmq": mqmq, "rq": rq}
ROOT = Path(__file__).parents[2]
ALL = ["publish *", "consume *", "declare *", "delete *", "browse *", "read-log", "admin"]


class Talkative:
    """A broker as a process of its own, with everything that it says in files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        file = UsersFile(directory / "users.json")
        with file.edit() as users:
            users.add("alice")
            for right in ALL:
                users.grant("alice", right)
            self.token = users.create_token("alice", int(time.time()), note="the right one")
        self.wrong = self.token[:13] + "W" * 43
        self.token_file = directory.parent / "token"
        self.token_file.write_text(self.token)
        doors = [f"--{name}=0" for name in LISTENERS]
        command = ["serve", "--data", str(directory), "--log-level", "debug", "--audit", str(directory / "audit")]
        self.said = directory / "said"
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "penstock.cli.main", *command, *doors],
                stdout=subprocess.PIPE,
                stderr=said,
                env={key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_T")},
                cwd=ROOT,
            )
        assert self.process.stdout is not None
        word, _, ports = self.process.stdout.readline().decode().partition(" ")
        assert word == "ready", self.said.read_text()
        self.ports: dict[str, int] = json.loads(ports)

    def get(self, path: str) -> bytes:
        headers = {"authorization": f"Bearer {self.token}"}
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{self.ports['http']}{path}", headers=headers), timeout=20
        ) as answer:
            found: bytes = answer.read()
            return found

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Talkative]:
    running = Talkative(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        running.stop()


async def use(protocol: str, place: AddressLike, options: Options) -> list[object]:
    """Everything that a program could log of what happens to it."""
    client = MODULES[protocol].AsyncClient(options)
    seen: list[object] = [client, options]
    try:
        await client.connect(place)
        if protocol == "mqks":
            await client.publish("e", "x", confirm=True)
            seen.append(await client.consume("bound", ["e"]))
        elif protocol == "sevx":
            await client.send({"event": "e"}, wait=True)
            seen.append(await client.receive({"event": "e"}, queue="bound"))
        elif protocol == "smqs":
            await client.publish("jobs", 1, confirm=True)
            seen.append(await client.consume("jobs"))
        elif protocol == "mqmq":
            await client.put("jobs", b"x")
            seen += [await client.info(), await client.get("jobs", 1)]
        else:
            await client.send("jobs", b"x")
            seen.append(await client.consume("jobs"))
    except ClientError as error:
        seen += [error, traceback.format_exc()]
    finally:
        await client.close()
    return seen + list(vars(client).items())


def misplace(port: int, data: bytes) -> None:
    """What a client says that was sent to the door of another protocol."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(data)


def commands_running() -> bytes:
    """What everybody on this machine sees of our processes."""
    lines = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((directory / "cmdline").read_bytes())
        except OSError:
            continue  # it has ended
    return b"\n".join(lines)


def test_no_secret_is_left_anywhere(broker: Talkative, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen: dict[str, bytes] = {}

    async def everybody() -> list[object]:
        right, wrong = Options(token_file=broker.token_file), Options(token=broker.wrong)
        asyncio.get_running_loop().slow_callback_duration = 10
        found: list[object] = []
        for protocol in MODULES:
            found += await use(protocol, broker.ports[protocol], right)
            found += await use(protocol, broker.ports["any"], right)
        found += await use("mqks", broker.ports["mqks"], wrong)  # one of them: each next one would wait longer
        return found

    found = asyncio.run(everybody(), debug=True)
    assert any(isinstance(each, AuthFailed) for each in found)
    for protocol, module in MODULES.items():
        shown = module.AUTH.encode_token(broker.token.encode())
        for door in broker.ports:
            misplace(broker.ports[door], shown)
            misplace(broker.ports[door], b"1 publish" + shown + b"\n")
        misplace(broker.ports[protocol], shown + shown[:-20])

    command = [sys.executable, "-m", "penstock.cli.main", "consume", "bound", "--event", "e", "-n", "1", "--json"]
    addresses = ["--addr", f"127.0.0.1:{broker.ports['mqks']}", "--token-file", str(broker.token_file)]
    waiting = subprocess.Popen([*command, *addresses], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    with mqks.Client(Options(token_file=broker.token_file)) as client:
        client.connect(broker.ports["mqks"])
        deadline = time.monotonic() + 30
        while waiting.poll() is None and time.monotonic() < deadline:
            seen["commands"] = seen.get("commands", b"") + commands_running()
            client.publish("e", "for the command", confirm=True)
            time.sleep(0.05)
    out, err = waiting.communicate(timeout=20)
    assert waiting.returncode == 0, err
    assert b"for the command" in out
    assert str(broker.token_file).encode() in seen["commands"]
    seen |= {"stdout": out, "stderr": err}

    for path in ("/metrics", "/v1/overview", "/v1/queues", "/v1/connections", "/openapi.json"):
        seen[path] = broker.get(path)
    broker.stop()
    seen["objects"] = repr(found).encode()
    seen["log of the clients"] = caplog.text.encode()
    assert "connection" in caplog.text or "selector" in caplog.text
    for file in broker.directory.rglob("*"):
        if file.is_file():
            seen[str(file)] = file.read_bytes()
    assert b'"audit.auth_failed"' in seen[str(broker.directory / "audit")]
    assert b"audit.auth" in seen[str(broker.said)]
    assert sum("seg" in name or "log" in name for name in seen)

    for name, data in seen.items():
        for token in (broker.token, broker.wrong):
            for secret in (token[13:], token[13:-20], token[-30:]):  # also in part
                assert secret.encode() not in data, f"{secret!r} is in {name}"
