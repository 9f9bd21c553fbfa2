"""`penstock user` and `penstock token`, on the file of a broker that runs or does not."""

import json
from pathlib import Path

import pytest

from penstock.auth.users import grants_in
from penstock.cli import main as cli
from penstock.errors import AccessError
from penstock.testing import Broker

from ..server.conftest import Client
from .conftest import Mqks

Captured = pytest.CaptureFixture[str]


class Terminal:
    """Runs command lines with a data directory."""

    def __init__(self, data: Path, captured: Captured) -> None:
        self.data = data
        self.captured = captured

    def run(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, "--data", str(self.data)])
        out, err = self.captured.readouterr()
        return int(ended.value.code or 0), out, err

    def does(self, *arguments: str) -> str:
        code, out, err = self.run(*arguments)
        assert (code, err) == (0, "")
        return out.rstrip("\n")


@pytest.fixture
def terminal(tmp_path: Path, capsys: Captured) -> Terminal:
    return Terminal(tmp_path / "data", capsys)


def test_the_first_user_is_made_before_there_is_a_broker(terminal: Terminal) -> None:
    terminal.does("user", "add", "ann", "--grant", "publish orders.*", "--grant", "admin", "--quota", "connections=4")
    token = terminal.does("token", "create", "ann", "--note", "laptop", "--expires", "90d")
    assert token.startswith("pst_")
    assert "\n" not in token
    with Broker(data=str(terminal.data)) as broker:
        client = Client(broker.ports["mqks"])
        assert Mqks.ask(client, Mqks.auth(token) + b"1 _eval 1\n") == b"a ok \n1 ok 1\nf ok pong\n"
        client.close()


def test_a_change_holds_when_the_command_is_done(terminal: Terminal) -> None:
    terminal.does("user", "add", "root", "--grant", "admin")
    with Broker(data=str(terminal.data)) as broker:
        terminal.does("user", "add", "ann")
        token = terminal.does("token", "create", "ann")
        client = Client(broker.ports["mqks"])
        assert b"1 error " in Mqks.ask(client, Mqks.auth(token) + Mqks.publish(b"jobs"))
        terminal.does("user", "grant", "ann", "publish", "jobs", "queue:x", "browse", "*")
        assert b"error" not in Mqks.ask(client, Mqks.publish(b"jobs"))
        terminal.does("token", "revoke", token)
        assert client.closed_by_peer()
        client.close()
        audited = [details["changes"] for _, event, details in broker.reports if event == "audit.changed"]
        assert ["user ann added"] in audited
        assert [f"user ann: token {token[4:12]} revoked"] in audited
        assert token[13:] not in repr(broker.reports)


def test_what_there_is_can_be_read_by_people_and_machines(terminal: Terminal) -> None:
    assert "everyone" in terminal.does("user", "list")
    terminal.does("user", "add", "ann", "--certificate", "CN:ann", "--quota", "messages=10")
    terminal.does("user", "grant", "ann", "consume", "a", "b", "read-log")
    token = terminal.does("token", "create", "ann")
    assert json.loads(terminal.does("user", "list", "--json")) == {
        "user": "ann",
        "grants": ["consume a", "consume b", "read-log"],
        "quotas": {"messages": 10},
        "certificates": ["CN:ann"],
        "tokens": 1,
        "password": False,
    }
    assert json.loads(terminal.does("token", "list", "ann", "--json"))["expires_at"] is None
    for listing in (terminal.does("user", "list", "ann"), terminal.does("token", "list")):
        assert "ann" in listing
        assert token[13:] not in listing
    assert "messages=5" in terminal.does("user", "quota", "ann", "messages=5", "bytes=1")
    assert "no certificates" in terminal.does("user", "certificate", "ann", "CN:ann", "--remove")
    terminal.does("user", "revoke", "ann", "consume", "a", "b")
    assert json.loads(terminal.does("user", "list", "--json"))["grants"] == ["read-log"]
    terminal.does("user", "remove", "ann")
    assert terminal.does("user", "list", "--json") == ""


def test_a_password_comes_from_a_file_and_is_kept_as_a_hash(terminal: Terminal, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse\n")
    terminal.does("user", "add", "ann", "--password-file", str(secret))
    kept = (terminal.data / "users.json").read_text()
    assert "argon2id" in kept
    assert "correct" not in kept
    terminal.does("user", "password", "ann", "--remove")
    assert "argon2" not in (terminal.data / "users.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("user", "remove", "bob"), 1, "there is no user 'bob'"),
        (("user", "grant", "ann", "fly"), 1, "'fly' is not a right"),
        (("user", "grant", "ann", "publish"), 1, "publish needs names"),
        (("user", "revoke", "ann", "publish", "x"), 1, "was not granted"),
        (("user", "add", "ann"), 1, "already"),
        (("user", "quota", "ann", "cows=1"), 1, "'cows' is not a quota"),
        (("user", "quota", "ann", "connections"), 2, "'connections' is not a quota"),
        (("user", "password", "ann"), 2, "--password-file"),
        (("token", "create", "bob"), 1, "there is no user 'bob'"),
        (("token", "create", "ann", "--expires", "soon"), 2, "--expires soon"),
        (("token", "revoke", "abcdefgh"), 1, "there is no token"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_changes_nothing(
    terminal: Terminal, arguments: tuple[str, ...], code: int, says: str
) -> None:
    terminal.does("user", "add", "ann")
    before = (terminal.data / "users.json").read_bytes()
    ended, out, err = terminal.run(*arguments)
    assert (ended, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1
    assert (terminal.data / "users.json").read_bytes() == before


def test_words_of_a_command_line_are_grants() -> None:
    assert grants_in(["publish", "a", "b", "admin", "consume", "queue:admin"]) == [
        "publish a",
        "publish b",
        "admin",
        "consume queue:admin",
    ]
    assert grants_in(["publish a", "browse *"]) == ["publish a", "browse *"]
    for words in (["a"], ["admin", "a"], []):
        if words:
            with pytest.raises(AccessError):
                grants_in(words)
        else:
            assert grants_in(words) == []


def test_every_change_is_told_as_json(terminal: Terminal) -> None:
    made = json.loads(terminal.does("user", "add", "ann", "--grant", "publish orders.*", "--json"))
    assert (made["user"], made["grants"], made["tokens"]) == ("ann", ["publish orders.*"], 0)
    assert json.loads(terminal.does("user", "grant", "ann", "consume", "jobs", "--json")) == {
        "user": "ann",
        "granted": ["consume jobs"],
    }
    assert json.loads(terminal.does("user", "revoke", "ann", "consume", "jobs", "--json"))["revoked"] == [
        "consume jobs"
    ]
    assert json.loads(terminal.does("user", "quota", "ann", "connections=5", "--json"))["quotas"] == {"connections": 5}
    named = json.loads(terminal.does("user", "certificate", "ann", "CN:worker-1", "--json"))
    assert named["certificates"] == ["CN:worker-1"]
    token = json.loads(terminal.does("token", "create", "ann", "--note", "ci", "--json"))
    assert (token["user"], token["note"], token["token"][:4]) == ("ann", "ci", "pst_")
    assert json.loads(terminal.does("token", "revoke", token["token"], "--json"))["revoked"] is True
    assert json.loads(terminal.does("user", "password", "ann", "--remove", "--json"))["password"] is False
    assert json.loads(terminal.does("user", "remove", "ann", "--json")) == {"user": "ann", "removed": True}


def test_a_backup_has_the_users_and_brings_them_back(terminal: Terminal, tmp_path: Path, capsys: Captured) -> None:
    terminal.does("user", "add", "ann", "--grant", "admin")
    with Broker(data=str(terminal.data)):
        pass
    before = (terminal.data / "users.json").read_bytes()
    for command in (("backup", terminal.data, tmp_path / "copy"), ("restore", tmp_path / "copy", tmp_path / "again")):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(word) for word in command])
        assert not ended.value.code, capsys.readouterr()
    again = tmp_path / "again" / "users.json"
    assert again.read_bytes() == before
    assert again.stat().st_mode & 0o777 == 0o600


def test_an_admin_does_the_same_from_elsewhere(
    terminal: Terminal, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.does("user", "add", "root", "--grant", "admin")
    (tmp_path / "root.token").write_text(terminal.does("token", "create", "root"))
    monkeypatch.setenv("PENSTOCK_TOKEN_FILE", str(tmp_path / "root.token"))

    with Broker(data=str(terminal.data), http=0) as broker:

        def ask(*arguments: str, code: int = 0) -> str:
            with pytest.raises(SystemExit) as ended:
                cli.main([*arguments, "--server", f"http://{broker.address('http')}"])
            out, err = capsys.readouterr()
            assert (ended.value.code or 0) == code, err
            return (err if code else out).rstrip("\n")

        ask("user", "add", "ann", "--grant", "publish jobs", "--quota", "connections=3", "--certificate", "CN:ann")
        ask("user", "grant", "ann", "consume", "a", "b", "read-log")
        ask("user", "revoke", "ann", "consume", "b")
        ask("user", "quota", "ann", "messages=7")
        ask("user", "certificate", "ann", "DNS:ann.example")
        token = ask("token", "create", "ann", "--expires", "1h", "--note", "laptop")
        mine = json.loads(ask("user", "list", "ann", "--json"))
        assert mine == json.loads(terminal.does("user", "list", "ann", "--json"))
        assert mine["grants"] == ["publish jobs", "consume a", "read-log"]
        assert mine["quotas"] == {"connections": 3, "messages": 7}
        assert len(ask("user", "list", "--json").splitlines()) == 2
        listed = json.loads(ask("token", "list", "ann", "--json"))
        assert (listed["token"], listed["note"]) == (token[4:12], "laptop")
        client = Client(broker.ports["mqks"])
        assert b"error" not in Mqks.ask(client, Mqks.auth(token) + Mqks.publish(b"jobs"))
        ask("token", "revoke", token)
        assert client.closed_by_peer()
        client.close()
        assert "ann" in ask("user", "remove", "ann")
        assert "there is no user 'ann'" in ask("user", "remove", "ann", code=1)
        monkeypatch.delenv("PENSTOCK_TOKEN_FILE")
        assert "--token-file" in ask("user", "list", code=5)
    assert token[13:] not in repr(broker.reports)
