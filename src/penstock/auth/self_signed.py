"""Certificates for development: a CA, and a server and a client certificate signed by it. The CA's key is not kept."""

import datetime
import ipaddress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder

FILES: Final = ("ca.pem", "server.pem", "server.key", "client.pem", "client.key")


def make(names: list[str], client: str, days: int) -> dict[str, bytes]:
    """The certificates and keys by file name, for a broker of these names and one client.

    Raises ValueError if a name cannot be used in a certificate.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = datetime.datetime.now(datetime.UTC)

    def builder(common_name: str, key: "EllipticCurvePrivateKey", issuer: x509.Name | None) -> "CertificateBuilder":
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))  # for clocks that are somewhat behind
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(_key_usage(signs_others=issuer is None), critical=True)
        )

    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca = builder("Penstock development CA", ca_key, None).sign(ca_key, hashes.SHA256())

    def signed(common_name: str, purpose: x509.ObjectIdentifier, names: list[str]) -> tuple[bytes, bytes]:
        key = ec.generate_private_key(ec.SECP256R1())
        made = builder(common_name, key, ca.subject).add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
        made = made.add_extension(authority, critical=False)
        if names:
            made = made.add_extension(x509.SubjectAlternativeName([_general_name(each) for each in names]), False)
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return _pem(made.sign(ca_key, hashes.SHA256())), text

    server_cert, server_key = signed(names[0], ExtendedKeyUsageOID.SERVER_AUTH, names)
    client_cert, client_key = signed(client, ExtendedKeyUsageOID.CLIENT_AUTH, [])
    return dict(zip(FILES, (_pem(ca), server_cert, server_key, client_cert, client_key), strict=True))


def _key_usage(signs_others: bool) -> "x509.KeyUsage":
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_others,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_others,
        crl_sign=signs_others,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> "x509.GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)
