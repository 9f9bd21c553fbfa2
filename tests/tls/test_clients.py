"""Certificates of clients: asked for or not, signed by whom we know or not."""

import ssl
from collections.abc import Callable

import pytest

from .conftest import Certificates, TlsBroker

Start = Callable[..., TlsBroker]


def speaks(broker: TlsBroker, context: ssl.SSLContext) -> bool:
    """Whether a client comes in. By TLS 1.3 it learns that it does not when it reads, not before."""
    try:
        client = broker.open("mqks", context)
        client.send(b"1 ping x\n")
        return client.line() == b"1 ok x"
    except (OSError, EOFError):
        return False


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    ("setting", "nobody", "known", "unknown"),
    [("required", False, True, False), ("optional", True, True, False), ("off", True, True, True)],
)
def test_who_comes_in(
    start_broker: Start,
    ours: Certificates,
    others: Certificates,
    version: ssl.TLSVersion,
    setting: str,
    nobody: bool,
    known: bool,
    unknown: bool,
) -> None:
    broker = start_broker(tls_ca=ours["ca.pem"], tls_client=setting)
    contexts = ours.context(), ours.context(ours), ours.context(others)
    for context in contexts:
        context.maximum_version = version
    assert [speaks(broker, context) for context in contexts] == [nobody, known, unknown]
    refused = [str(report["reason"]) for report in broker.reported("tls.refused")]
    assert len(refused) == [nobody, known, unknown].count(False)
    if not unknown:
        assert any("unable to get local issuer certificate" in reason for reason in refused)
    if not nobody:
        assert "peer did not return a certificate" in refused


def test_a_certificate_for_servers_is_none_for_clients(start_broker: Start, ours: Certificates) -> None:
    broker = start_broker(tls_ca=ours["ca.pem"], tls_client="required")
    context = ours.context()
    context.load_cert_chain(ours["server.pem"], ours["server.key"])
    assert not speaks(broker, context)
    assert "purpose" in str(broker.reported("tls.refused")[0]["reason"])


def test_whoever_is_refused_at_one_door_is_at_all(
    start_broker: Start, ours: Certificates, others: Certificates
) -> None:
    broker = start_broker(tls_ca=ours["ca.pem"], tls_client="required")
    for door in broker.ports:
        with pytest.raises((OSError, EOFError)):  # noqa: PT012 by the version of TLS
            client = broker.open(door, ours.context(others))
            client.send(b"\n")
            client.read(1)
    assert len(broker.reported("tls.refused")) == len(broker.ports)
    assert broker.node.reactor.connections == {}
