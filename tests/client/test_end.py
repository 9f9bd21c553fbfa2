"""What cannot be connected to at all, and a link that fails within: errors at once, where waiting would not help."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock.client import AuthFailed, ClientError, ConnectFailed, Options, TlsFailed, mqks, mqmq, rq, sevx, smqs
from penstock.client._credentials import TOKEN_SIZE_MAX, tls_of, token_of
from penstock.client._link import Link, LinkProtocol
from penstock.client._options import Address
from penstock.testing import Broker

from .conftest import QUICK, until

MODULES = (mqks, mqmq, rq, sevx, smqs)
SECONDS = 10  # far less than a connect would be waited for, far more than these take


@pytest.mark.parametrize(
    ("host", "options", "kind", "reason"),
    [
        ("a..b", Options(), ConnectFailed, "cannot connect to a..b:1: invalid host name"),
        ("a" * 64, Options(), ConnectFailed, "invalid host name"),
        ("a\0b", Options(), ConnectFailed, "null"),
        ("127.0.0.1", Options(token_file="a\0b"), AuthFailed, r"'a\\x00b' is not a valid file name"),
        ("127.0.0.1", Options(ca_file="a\0b"), TlsFailed, r"'a\\x00b' is not a valid file name"),
    ],
    ids=["empty label", "long label", "NUL in a host", "NUL in a token file", "NUL in a CA file"],
)
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_what_can_never_be_is_an_error_at_once(
    module: Any, host: str, options: Options, kind: type[ClientError], reason: str
) -> None:
    async def work() -> None:
        client = module.AsyncClient(options)
        try:
            await client.connect((host, 1))
        finally:
            await client.close()

    with pytest.raises(kind, match=reason):
        asyncio.run(asyncio.wait_for(work(), SECONDS))


def test_a_name_that_no_certificate_can_have_is_an_error_at_once(broker: Broker) -> None:
    async def work() -> None:
        link = Link([address_of(broker)], Options(tls=True, server_hostname=".x"), LinkProtocol(), mqmq.AUTH)
        await link.open()

    with pytest.raises(ConnectFailed, match=r"'[.]x' is not a valid server name for TLS"):
        asyncio.run(asyncio.wait_for(work(), SECONDS))


def test_an_address_that_cannot_be_does_not_end_what_another_may_give(broker: Broker) -> None:
    async def work() -> None:
        link = Link([Address("a..b", 1), address_of(broker)], QUICK, LinkProtocol(), mqmq.AUTH)
        await link.open()
        assert link.is_up
        assert link.address == address_of(broker)
        await link.close()

    asyncio.run(asyncio.wait_for(work(), SECONDS))


def test_a_link_that_is_waited_for_later_has_ended_too() -> None:
    async def work() -> None:
        link = Link([Address("a..b", 1)], Options(), LinkProtocol(), mqmq.AUTH)
        link.start()
        with pytest.raises(ConnectFailed, match="invalid host name"):
            await link.until_up(SECONDS)
        with pytest.raises(ConnectFailed, match="invalid host name"):
            link.check()
        with pytest.raises(ConnectFailed):
            await link.room()
        await link.close()

    asyncio.run(asyncio.wait_for(work(), SECONDS))


@pytest.mark.parametrize("tls", [False, True])
def test_a_link_can_be_closed_in_the_moment_in_which_it_is_lost(tls: bool) -> None:
    async def work() -> None:
        with Broker(tls=tls) as broker:
            link = Link([address_of(broker)], broker.options(), LinkProtocol(), mqmq.AUTH)
            await link.open()
            connection = link._connection
            assert connection is not None
            connections = broker.node.reactor.connections
            await until(lambda: len(connections) == 1)
            (theirs,) = connections.values()
            broker.call(theirs.transport.abort)
            await connection.gone  # whoever waits for this itself is told a turn of the loop before the link is
            assert link.is_up
            await link.close()

    asyncio.run(asyncio.wait_for(work(), SECONDS))


class Speechless(LinkProtocol):
    """Fails within, which no protocol should."""

    def __init__(self) -> None:
        self.told: list[ClientError] = []

    def greeting(self) -> bytes:
        raise RuntimeError("lost for words")

    def ended(self, error: ClientError) -> None:
        self.told.append(error)


def test_an_error_that_nobody_thought_of_ends_the_link_and_tells_whoever_waits(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    protocol = Speechless()

    async def work() -> None:
        link = Link([address_of(broker)], QUICK, protocol, mqmq.AUTH)
        try:
            await link.open()
        finally:
            assert not link.is_up
            with pytest.raises(ConnectFailed):
                link.check()

    with pytest.raises(ConnectFailed, match="failed: RuntimeError: lost for words"):
        asyncio.run(asyncio.wait_for(work(), SECONDS))
    assert [str(error) for error in protocol.told] == [
        f"connection to {address_of(broker)} failed: RuntimeError: lost for words"
    ]
    assert "Traceback" in caplog.text


def test_files_with_impossible_names_are_refused_where_they_are_named() -> None:
    with pytest.raises(TlsFailed, match="is not a valid file name"):
        tls_of(Options(cert_file="a\0b"), Address("x", 1))


def address_of(broker: Broker) -> Address:
    return Address("127.0.0.1", broker.ports["mqmq"])


def test_a_long_token_of_a_file_is_used_whole_and_one_that_is_too_long_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("x" * TOKEN_SIZE_MAX + "\n")
    token = token_of(Options(token_file=file))
    assert token is not None
    assert token.reveal() == b"x" * TOKEN_SIZE_MAX
    file.write_text("x" * (TOKEN_SIZE_MAX + 1))
    with pytest.raises(AuthFailed, match=f"at most {TOKEN_SIZE_MAX} characters"):
        token_of(Options(token_file=file))
