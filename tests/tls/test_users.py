"""Who a client is by its certificate, and what that lets it do; and that such a door is no open one."""

import datetime
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtensionOID, NameOID

from penstock.auth.file import UsersFile
from penstock.config import Config
from penstock.exposure import doors_of, is_open

from .conftest import Certificates, TlsBroker

Start = Callable[..., TlsBroker]


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users.json"
    with UsersFile(path).edit() as users:
        users.add("worker")
        users.grant("worker", "publish orders.*")
        users.add_certificate("worker", "CN:worker-1")
        users.add("guest")
    return path


def test_a_certificate_is_a_user(start_broker: Start, ours: Certificates, users: Path) -> None:
    broker = start_broker(users=users, tls_ca=ours["ca.pem"])
    for door in ("mqks", "any"):
        known = broker.open(door, ours.context(ours))
        known.send(b"1 publish --confirm orders.new x\n2 publish --confirm secret x\n")
        assert known.line() == b"1 ok "
        assert known.line().startswith(b"2 error ")
        stranger = broker.open(door, ours.context())
        stranger.send(b"1 publish --confirm orders.new x\n")
        assert stranger.closed_by_peer()
        assert b" ok " not in stranger.buffer


def test_a_certificate_whose_names_are_no_text_names_nobody(start_broker: Start, users: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.pem"
    make_odd_certificate(odd)
    with UsersFile(users).edit() as edited:
        token = edited.create_token("worker", 0)
    broker = start_broker(users=users, tls_ca=odd)
    broker.node.user_reloader.directory.throttle.delay_step = 0
    context = ssl.create_default_context(cafile=broker.directory / "ca.pem")
    context.load_cert_chain(odd)
    for door in ("mqks", "any"):
        client = broker.open(door, context)
        client.send(b"0 auth %s\n1 publish --confirm orders.new x\n" % token.encode())
        assert client.lines(2) == [b"0 ok ", b"1 ok "]
        stranger = broker.open(door, context)
        stranger.send(b"1 publish --confirm orders.new x\n")
        assert stranger.closed_by_peer()
        assert b" ok " not in stranger.buffer
    assert not broker.reported("tls.failed")


def make_odd_certificate(path: Path) -> None:
    """One that signs itself, with an email address in Latin-1, and its key."""
    now = datetime.datetime.now(datetime.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "odd")])
    address = b"m\xfcl@x"
    san = bytes([0x30, len(address) + 2, 0x81, len(address)]) + address
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(1))
        .not_valid_after(now + datetime.timedelta(9))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.UnrecognizedExtension(ExtensionOID.SUBJECT_ALTERNATIVE_NAME, san), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(certificate.public_bytes(Encoding.PEM) + secret)


def test_a_door_that_asks_is_not_open(users: Path, tmp_path: Path) -> None:
    def config(**settings: object) -> Config:
        flags = {"memory": True, "host": "0.0.0.0", "tls_cert": "c", "users": users, **settings}
        return Config.load(flags, {}, None)

    assert not is_open(config())
    assert not is_open(config(auth="on"))
    assert is_open(config(auth="off"))
    assert is_open(config(users=tmp_path / "none"))
    assert {door.name for door in doors_of(config(smqs_user="guest")) if door.lacks} == {"smqs"}
    assert {door.name for door in doors_of(config(any_tls="both")) if door.lacks} == {"any"}
