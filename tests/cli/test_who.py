"""Commands that say who comes: by file or environment, over TLS; and what they say when they are not let in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli import mqmq as mqmq_cli
from penstock.testing import Broker

from .conftest import Penstock

ALL = ["publish *", "consume *", "declare *", "delete *", "browse *", "read-log"]
DENIED = 5


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    data = str(tmp_path_factory.mktemp("secure"))
    with Broker(http=0, data=data, sync="off", users={"alice": ALL, "bob": []}, tls=True, client="carol") as running:
        running.people.add({"carol": ALL})
        running.people.certify("carol", "CN:carol")
        yield running


@pytest.fixture
def there(penstock: Penstock, secure: Broker, monkeypatch: pytest.MonkeyPatch) -> Penstock:
    """The environment says where the broker is, and no more."""
    for name, port in secure.ports.items():
        monkeypatch.setenv(f"PENSTOCK_{name.upper()}", str(port))
    for name in ("TOKEN", "TOKEN_FILE", "CA_FILE", "CERT_FILE", "KEY_FILE", "TLS"):
        monkeypatch.delenv(f"PENSTOCK_{name}", raising=False)
    return penstock


COMMANDS: list[list[str]] = [
    ["publish", "e", "body"],
    ["publish", "letters", "1", "--via", "smqs"],
    ["publish", '{"event": "e"}', "--via", "sevx"],
    ["publish", "letters", "body", "--via", "mqmq"],
    ["publish", "letters", "body", "--via", "rq"],
    ["put", "letters", "body"],
    ["get", "letters"],
    ["consume", "letters", "-n", "1", "--timeout", "10"],
    ["consume", "letters", "-n", "1", "--timeout", "10", "--via", "smqs"],
    ["broadcast", "letters", "body"],
    ["stats"],
    ["info", "--long"],
    ["queues"],
    ["top", "--once", "--interval", "0.05"],
]
NEVER_ANSWERED = (["broadcast", "letters", "body"],)


@pytest.mark.parametrize("by", ["environment", "flags", "certificate"])
def test_every_command_says_who_comes(
    there: Penstock, secure: Broker, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    flags: list[str] = []
    if by == "environment":
        monkeypatch.setenv("PENSTOCK_TOKEN", secure.people.tokens["alice"])
        monkeypatch.setenv("PENSTOCK_CA_FILE", secure.ca_file)
    elif by == "flags":
        flags = ["--token-file", secure.token_file("alice"), "--ca-file", secure.ca_file]
    else:
        flags = ["--tls-ca", secure.ca_file, "--tls-cert", str(secure.files / "client.pem")]
        flags += ["--tls-key", str(secure.files / "client.key")]
    for command in COMMANDS:
        there.lines(*command, *flags)
    with monkeypatch.context() as patch:
        patch.setenv("PENSTOCK_HTTP", "1")  # an address with its scheme needs no more
        there.lines("queues", "--server", secure.url, *flags)


def test_what_is_watched_needs_to_know_who_watches(there: Penstock, secure: Broker) -> None:
    flags = ["--token-file", secure.token_file("alice"), "--ca-file", secure.ca_file]
    for tapped in (["e"], ["--pattern", '{"event": "e"}'], ["--log"]):
        assert there("tap", *tapped, "--timeout", "0.02", *flags)[0] == 4  # let in, and nothing came
    # It has no right to see them.
    flags = ["--token-file", secure.token_file("bob"), "--ca-file", secure.ca_file]
    for tapped in (["e"], ["--pattern", '{"event": "e"}'], ["--log"]):
        code, out, err = there("tap", *tapped, "--timeout", "20", *flags)
        assert (code, out) == (DENIED, ""), err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_token_is_one_line_and_an_exit_code(
    there: Penstock, secure: Broker, tmp_path: Path, command: list[str]
) -> None:
    wrong = secure.people.tokens["alice"][:-4] + "AAAA"
    (tmp_path / "token").write_text(wrong)
    code, out, err = there(*command, "--token-file", "token", "--ca-file", secure.ca_file)
    assert (code, out) == (DENIED, "")
    assert "is wrong, expired or revoked" in err
    assert wrong[:12] in err
    assert wrong[12:] not in err


@pytest.mark.parametrize("command", [each for each in COMMANDS if each[0] not in ("stats", "info")], ids=" ".join)
def test_a_missing_right_is_one_too(there: Penstock, secure: Broker, command: list[str]) -> None:
    code, out, err = there(*command, "--token-file", secure.token_file("bob"), "--ca-file", secure.ca_file)
    if command in NEVER_ANSWERED:
        assert code == 0
    elif "rq" in command:  # RQ has one word for all that cannot be delivered
        assert (code, out) == (1, "")
        assert "UNDELIVERED" in err
    elif command[0] in ("queues", "top"):  # shows what one may see
        assert code in (0, DENIED)
        assert "letters" not in out
    else:
        assert (code, out) == (DENIED, ""), err


def test_what_nobody_is_told(there: Penstock, secure: Broker) -> None:
    trusting = ["--ca-file", secure.ca_file]
    code, reason = there.failure("queues", *trusting)
    assert code == DENIED
    assert reason.endswith("give a token with --token-file or PENSTOCK_TOKEN_FILE")
    code, reason = there.failure("put", "q", "x", *trusting)
    assert code == DENIED
    assert reason.endswith("give a token")
    for command in (["queues", "--tls"], ["put", "q", "x", "--tls"], ["queues", "--server", secure.url]):
        code, reason = there.failure(*command)
        assert code == 3
        assert "its certificate is not trusted: self-signed certificate" in reason
    assert (
        there.failure("queues", "--ca-file", "nowhere")[1] == "TLS: nowhere cannot be read: No such file or directory"
    )
    code, reason = there.failure("queues", "--token-file", "nowhere", *trusting)
    assert (code, reason) == (DENIED, "no token: nowhere cannot be read: No such file or directory")


@pytest.mark.parametrize(
    "arguments",
    [["put", "q", "x", "--token", "tell-nobody"], ["put", "q", "x", "--token=tell-nobody"],
     ["queues", "--server", "http://me:tell-nobody@127.0.0.1:1"]],
)  # fmt: skip
def test_a_secret_on_the_command_line_is_refused_and_not_repeated(there: Penstock, arguments: list[str]) -> None:
    code, out, err = there(*arguments)
    assert (code, out) == (2, "")
    assert "tell-nobody" not in err


def test_the_command_of_mqmq(secure: Broker, there: Penstock) -> None:
    who = ["--token-file", secure.token_file("alice"), "--ca-file", secure.ca_file]
    for arguments, code in ((who, 0), (who[2:], 1)):
        with pytest.raises(SystemExit) as ended:
            mqmq_cli.main(["info", "-addr", secure.address("mqmq"), *arguments])
        assert ended.value.code == code


def test_doctor_knows_a_broker_that_tells_strangers_nothing(
    there: Penstock, secure: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_TLS_CERT", str(secure.files / "server.pem"))
    monkeypatch.setenv("PENSTOCK_TLS_KEY", str(secure.files / "server.key"))
    monkeypatch.setenv("PENSTOCK_CA_FILE", secure.ca_file)
    found = {row["name"]: row for row in there.json("doctor")}
    assert found["port mqks"]["found"].endswith("a Penstock broker is running here")
