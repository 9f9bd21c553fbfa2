"""A token that goes to another machine without TLS is warned of: once for each host, by whoever shows it."""

import contextlib
import http.client
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.cli import bench, connect
from penstock.cli.exits import Failed
from penstock.cli.load_protocols import LOAD_PROTOCOLS
from penstock.client import mqmq
from penstock.client._credentials import Token, warn_in_clear
from penstock.client._options import Address
from penstock.testing import Broker

TOKEN = Token(b"pst_aaaaaaaa_tell-nobody", "made up")
FAR = ("192.0.2.7", 7)


class Peer:
    def __init__(self, name: Any) -> None:
        self.name = name

    def getpeername(self) -> Any:
        if isinstance(self.name, OSError):
            raise self.name
        return self.name


@pytest.fixture(autouse=True)
def nobody_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.client._credentials._told_of", set())
    for name in ("TOKEN", "TOKEN_FILE", "CA_FILE", "CERT_FILE", "KEY_FILE", "TLS"):
        monkeypatch.delenv(f"PENSTOCK_{name}", raising=False)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is."""
    monkeypatch.setattr("penstock.client._credentials._is_near", lambda _: False)


@pytest.mark.parametrize(
    ("peer", "times"),
    [
        (FAR, 1),
        (("fe80::1%eth0", 7, 0, 2), 1),
        (("::1234", 7, 0, 0), 1),
        (("::ffff:192.0.2.7", 7, 0, 0), 1),
        (("127.0.0.1", 7), 0),
        (("127.9.9.9", 7), 0),
        (("::1", 7, 0, 0), 0),
        (("::ffff:127.0.0.1", 7, 0, 0), 0),
        ("/run/penstock", 0),
        (OSError("gone"), 0),
    ],
)
def test_it_is_the_way_that_counts(peer: Any, times: int, caplog: pytest.LogCaptureFixture) -> None:
    warn_in_clear(TOKEN, Address("somewhere", 7), Peer(peer))
    assert caplog.messages == ["the token pst_aaaaaaaa (made up) is sent to somewhere:7 unencrypted: use TLS"] * times


def test_each_host_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    for host, port in (("a", 1), ("a", 2), ("b", 1), ("a", 1), ("b", 1)):
        warn_in_clear(TOKEN, Address(host, port), Peer(FAR))
    assert [message.split()[8] for message in caplog.messages] == ["a:1", "b:1"]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Broker]:
    with Broker(http=0, users={"alice": ["publish *", "declare *", "read-log"]}) as running:
        yield running


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "penstock.client"]


def test_a_client_warns_before_it_shows_it(guarded: Broker, far: None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING")
    for _ in range(2):
        with mqmq.Client(guarded.options("alice")).connect(guarded.address("mqmq")) as client:
            client.put("jobs", b"x")
    (told,) = warnings_of(caplog)
    assert "unencrypted: use TLS" in told


def test_a_client_on_the_same_machine_does_not(guarded: Broker, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING")
    with mqmq.Client(guarded.options("alice")).connect(guarded.address("mqmq")) as client:
        client.put("jobs", b"x")
    assert warnings_of(caplog) == []


@pytest.mark.parametrize("is_far", [True, False])
def test_a_command_warns_over_http(
    guarded: Broker, is_far: bool, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    if is_far:
        request.getfixturevalue("far")
    connect.use_credentials({"token_file": guarded.token_file("alice")})
    try:
        for _ in range(2):
            with connect.Api(guarded.url) as api:
                api.get("/v1/overview")
                api.get("/v1/overview")
    finally:
        connect.use_credentials({})
    assert len(warnings_of(caplog)) == is_far


def test_a_command_without_a_token_has_nothing_to_warn_of(
    guarded: Broker, far: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    with connect.Api(guarded.url) as api, contextlib.suppress(Failed):
        api.get("/v1/overview")
    assert warnings_of(caplog) == []


def test_a_broker_that_is_away_is_still_one_line(far: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(http.client.HTTPConnection, "connect", refuse)
    monkeypatch.setenv("PENSTOCK_TOKEN", "word")
    with connect.Api("http://broker:7780") as api, pytest.raises(Failed, match="cannot connect to http://broker:7780"):
        api.get("/v1/overview")


def test_the_bench_warns(guarded: Broker, far: None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING")
    address = Address("127.0.0.1", guarded.ports["mqmq"])
    wrong = Token(b"pst_aaaaaaaa_tell-nobody", "made up")
    load = bench.Load(address, LOAD_PROTOCOLS["mqmq"](b"q"), 1)
    with pytest.raises(Failed, match="authentication failed"), load.connected(bench.AUTHS["mqmq"], wrong):
        pass
    assert warnings_of(caplog) == [f"the token pst_aaaaaaaa (made up) is sent to {address} unencrypted: use TLS"]
