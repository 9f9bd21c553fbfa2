"""`penstock tls`: certificates for development, made on the spot.

A CA of one's own, a certificate for the broker and one for a client, all signed by that CA, whose key is thrown away:
nobody can sign more in its name, and whoever needs more makes a new set.
"""

import datetime
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli.exits import EXIT_FAILED, EXIT_MISUSED, Failed
from penstock.cli.main import COMMANDS
from penstock.cli.reach import Json
from penstock.cli.show import print_json, say
from penstock.files import replace_file

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder

NAMES: Final = ("localhost", "127.0.0.1", "::1")
DAYS_MAX: Final = 825  # more is not believed by browsers
FILES: Final = ("ca.pem", "server.pem", "server.key", "client.pem", "client.key")


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help=COMMANDS["tls"])
    made.command("self-signed")(self_signed)

    @made.callback()
    def root() -> None:
        """A group, also while it has one command."""

    return made


def self_signed(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Output directory; created if missing.")],
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Host name or address of the broker, besides localhost; repeatable."
        ),
    ] = None,
    client: Annotated[
        str, typer.Option("--client", metavar="NAME", help="Common name of the client certificate.")
    ] = "client",
    days: Annotated[int, typer.Option("--days", min=1, max=DAYS_MAX, help="Validity in days.")] = 365,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: Json = False,
) -> None:
    """Create a CA, a server certificate and a client certificate, for development only."""
    names = list(dict.fromkeys([*(name or []), *NAMES]))
    there = [file for file in FILES if (directory / file).exists()]
    if there and not force:
        raise Failed(f"{directory / there[0]} already exists: use --force to overwrite it", EXIT_FAILED)
    files = make(names, client, days)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, text in files.items():
        replace_file(directory / file, text)  # never there with half its content, nor readable by others
    if json:
        print_json({"directory": str(directory), "files": list(files), "names": names, "client": client, "days": days})
        return
    cert, key, ca = (directory / file for file in ("server.pem", "server.key", "ca.pem"))
    say(f"created {', '.join(files)} in {directory}; names: {', '.join(names)}; valid for {days} days")
    say(f"penstock serve --tls-cert {cert} --tls-key {key} --tls-ca {ca}")
    say(f"openssl s_client -quiet -connect 127.0.0.1:7700 -CAfile {ca}")


def make(names: list[str], client: str, days: int) -> dict[str, bytes]:
    """The files of a CA by their names, for a broker of these names and one client."""
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

    try:
        server_cert, server_key = signed(names[0], ExtendedKeyUsageOID.SERVER_AUTH, names)
        client_cert, client_key = signed(client, ExtendedKeyUsageOID.CLIENT_AUTH, [])
    except ValueError as error:
        raise Failed(f"a name cannot be used in a certificate: {error}", EXIT_MISUSED) from error
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
