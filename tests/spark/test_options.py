"""Options: every wrong one is refused by name, before anything runs."""

import pickle
import socket

import pytest

pytest.importorskip("pyspark")

from penstock.spark.client import BrokerClient
from penstock.spark.options import OptionError, SinkOptions, SourceOptions

SERVERS = {"servers": "http://127.0.0.1:7780"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "servers='': is missing"),
        ({"servers": "ftp://x"}, "servers='ftp://x': is not an address"),
        ({"servers": ","}, "is empty"),
        ({"path": "/nowhere/at/all"}, "path='/nowhere/at/all': is not a directory"),
        (SERVERS | {"startingOfsets": "1"}, "startingOfsets='1': is unknown; did you mean startingOffsets?"),
        (SERVERS | {"startingOffsets": "soon"}, "startingOffsets='soon': is not an offset"),
        (SERVERS | {"startingOffsets": "-1"}, "is not an offset"),
        (SERVERS | {"startingOffsets": '{"topic": 1}'}, "is not an offset"),
        (SERVERS | {"startingTimestamp": "noon"}, "startingTimestamp='noon': is not a timestamp"),
        (SERVERS | {"startingTimestamp": "1", "startingOffsets": "1"}, "cannot be combined with startingOffsets"),
        (SERVERS | {"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger='0': is not a whole number above 0"),
        (SERVERS | {"maxBytesPerTrigger": "much"}, "is not a size"),
        (SERVERS | {"maxTriggerDelay": "1 day"}, "is not a duration"),
        (SERVERS | {"payload": "xml"}, "payload='xml': is not one of binary, string, json"),
        (SERVERS | {"failOnDataLoss": "maybe"}, "is not true or false"),
        (SERVERS | {"mode": "queue"}, "needs servers=... and exactly one name in queues=..."),
        (SERVERS | {"table": "lifecycle", "events": "a"}, "has its own columns"),
        (SERVERS | {"token": "secret"}, "use tokenFile or tokenEnv"),
    ],
)
def test_a_wrong_source_option_is_named(given, message) -> None:
    with pytest.raises(OptionError) as refused:
        SourceOptions.of(given)
    assert message in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "servers='': is missing"),
        (SERVERS | {"event": "a", "queue": "b"}, "cannot be combined with event"),
        (SERVERS | {"batch": "3"}, "needs writer=..."),
        (SERVERS | {"path": "x"}, "has no effect here"),
    ],
)
def test_a_wrong_sink_option_is_named(given, message) -> None:
    with pytest.raises(OptionError, match=message.replace("(", r"\(")):
        SinkOptions.of(given)


def test_options_are_taken_in_any_case_and_parsed(nobody) -> None:
    options = SourceOptions.of(
        {
            "SERVERS": "localhost:7780, https://b:1/",
            "startingtimestamp": "2025-11-15T12:00:00",
            "maxbytespertrigger": "64m",
            "EVENTS": "a, b,,",
            "maxTriggerDelay": "500ms",
        }
    )
    assert options.servers == ("http://localhost:7780", "https://b:1")
    assert options.starting_timestamp == 1_763_208_000_000_000
    assert options.max_bytes_per_trigger == 64 << 20
    assert options.events == ("a", "b")
    assert options.max_trigger_delay == 0.5


WHO = ("TOKEN", "TOKEN_FILE", "CA_FILE", "CERT_FILE", "KEY_FILE", "TLS")


@pytest.fixture
def nobody(monkeypatch) -> None:
    """The environment says nothing of who comes."""
    for name in WHO:
        monkeypatch.delenv(f"PENSTOCK_{name}", raising=False)


@pytest.mark.parametrize(
    ("given", "environment", "scheme"),
    [
        ({}, {}, "http"),
        ({"tokenFile": "t"}, {}, "http"),
        ({"caFile": "ca.pem"}, {}, "https"),
        ({"certFile": "me.pem", "keyFile": "me.key"}, {}, "https"),
        ({}, {"PENSTOCK_CA_FILE": "ca.pem"}, "https"),
        ({}, {"PENSTOCK_CERT_FILE": "me.pem"}, "https"),
        ({}, {"PENSTOCK_TLS": "1"}, "https"),
    ],
)
@pytest.mark.parametrize("kind", [SourceOptions, SinkOptions])
def test_a_server_without_a_scheme_is_one_of_https_where_tls_is_meant(
    nobody, monkeypatch, kind, given, environment, scheme
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    options = kind.of({"servers": "broker:7780/, http://a:1, https://b:2, [::1]:3"} | given)
    assert options.servers == (f"{scheme}://broker:7780", "http://a:1", "https://b:2", f"{scheme}://[::1]:3")
    assert pickle.loads(pickle.dumps(options)) == options


class Far(socket.socket):
    """A socket to nobody, in another place, that has been answered already."""

    peer = "192.0.2.7"

    def getpeername(self) -> tuple[str, int]:
        return self.peer, 7780

    def setsockopt(self, *_: object) -> None:
        """It is none of TCP."""


@pytest.mark.parametrize(("peer", "times"), [("192.0.2.7", 1), ("127.0.0.1", 0)])
def test_a_token_in_clear_to_another_machine_is_warned_of_once(nobody, monkeypatch, caplog, peer, times) -> None:
    others = []

    def connect(*_: object) -> Far:
        here, there = socket.socketpair()
        there.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        others.append(there)
        return Far(fileno=here.detach())

    monkeypatch.setattr(Far, "peer", peer)
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr("penstock.client._credentials._told_of", set())
    monkeypatch.setenv("PENSTOCK_TOKEN", "pst_aaaaaaaa_tell-nobody")
    client = BrokerClient(SourceOptions.of({"servers": "broker:7780"}))
    assert client.get("/v1/overview") == client.get("/v1/overview") == {}
    client.close()
    assert all(b"Bearer pst_aaaaaaaa_tell-nobody" in other.recv(4096) for other in others)
    for other in others:
        other.close()
    told = "the token pst_aaaaaaaa (PENSTOCK_TOKEN) is sent to broker:7780 unencrypted: use TLS"
    assert [record.message for record in caplog.records] == [told] * times


@pytest.mark.parametrize(
    ("text", "offset"), [("earliest", "earliest"), ("7", 7), ('{"log": 9}', 9), ("LATEST", "latest")]
)
def test_places_in_the_log(text, offset) -> None:
    assert SourceOptions.of(SERVERS | {"startingOffsets": text}).starting_offsets == offset


def test_a_token_is_read_where_it_is_used_and_never_carried(tmp_path, monkeypatch) -> None:
    file = tmp_path / "token"
    file.write_text("tell-nobody\n")
    options = SourceOptions.of(SERVERS | {"tokenFile": str(file)})
    assert revealed(options) == b"tell-nobody"
    assert b"tell-nobody" not in pickle.dumps(options)
    assert "tell-nobody" not in repr(options)
    assert "tell-nobody" not in repr(options.token())
    file.write_text("replaced")
    assert revealed(options) == b"replaced"
    assert SourceOptions.of(SERVERS).token() is None
    monkeypatch.setenv("ELSEWHERE", "from-the-environment")
    assert revealed(SourceOptions.of(SERVERS | {"tokenEnv": "ELSEWHERE"})) == b"from-the-environment"
    monkeypatch.setenv("PENSTOCK_TOKEN", "by-default")
    assert revealed(SourceOptions.of(SERVERS)) == b"by-default"
    assert revealed(options) == b"replaced"
    with pytest.raises(OptionError, match="is not a set environment variable"):
        SourceOptions.of(SERVERS | {"tokenEnv": "PENSTOCK_NOTHING"}).token()
    file.unlink()
    with pytest.raises(OptionError, match="cannot be read"):
        options.token()


def revealed(options: SourceOptions) -> bytes:
    token = options.token()
    assert token is not None
    return token.reveal()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"token": "tell-nobody"}, "use tokenFile or tokenEnv"),
        ({"Password": "tell-nobody"}, "would be visible in plans and logs"),
        ({"servers": "https://me:tell-nobody@127.0.0.1:7780"}, "contains a user"),
    ],
)
def test_a_secret_is_no_option_and_is_not_repeated(given, reason) -> None:
    with pytest.raises(OptionError, match=reason) as refused:
        SourceOptions.of(SERVERS | given)
    assert "tell-nobody" not in str(refused.value)
    assert "tell-nobody" not in repr(refused.value)


def test_an_error_survives_the_way_back_from_an_executor() -> None:
    error = OptionError("payload", "xml", "is wrong")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("servers", ["me:hush@host:1", "http://me:hush@host:1", "http://a:1,me:hush@host:1"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(servers: str) -> None:
    with pytest.raises(OptionError) as refused:
        SourceOptions.of({"servers": servers})
    assert "hush" not in str(refused.value)
