"""A client's credentials: its token, its certificate, and the CAs it trusts.

    option          environment              meaning
    token_file      PENSTOCK_TOKEN_FILE      a file with the token
    token           PENSTOCK_TOKEN           the token itself
    ca_file         PENSTOCK_CA_FILE         the CAs to trust
    cert_file       PENSTOCK_CERT_FILE       the client certificate
    key_file        PENSTOCK_KEY_FILE        its private key
    tls             PENSTOCK_TLS             1 to use TLS even if none of the files is given

Options take precedence over the environment. The option `token` takes precedence over `token_file`; in the environment
PENSTOCK_TOKEN_FILE takes precedence. Everything is read again for every new connection, so a replaced token or
certificate takes effect with the next one. No error and no log line contains the secret part of a token; the part
before it, `pst_` and eight letters, is its name.
"""

import functools
import ipaddress
import logging
import os
import re
import ssl
from pathlib import Path
from typing import Any, Protocol

from penstock.client._options import Address, File, Options
from penstock.client.errors import AuthFailed, TlsFailed

log = logging.getLogger("penstock.client")

ENV_PREFIX = "PENSTOCK_"
TOKEN_SIZE_MAX = 32 << 10  # tokens of identity providers are long; Penstock's have 56 characters
TOKEN_NAME = re.compile(rb"(pst_[0-9A-Za-z]{8})_")

# TLS alerts that a server sends when it rejects the client's certificate.
UNWELCOME = re.compile("CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR|HANDSHAKE_FAILURE")


# Hosts that received a token without TLS. Each is logged once, so that frequent connections do not flood the log.
_told_of: set[str] = set()


class Connected(Protocol):
    """A socket, or asyncio's wrapper of one."""

    def getpeername(self) -> Any: ...


class Token:
    """A token, and where it came from. Its text representation does not contain the secret."""

    __slots__ = ("_value", "source")

    def __init__(self, value: bytes, source: str) -> None:
        self._value = value
        self.source = source

    def reveal(self) -> bytes:
        return self._value

    def __str__(self) -> str:
        found = TOKEN_NAME.match(self._value)
        name = f"{found[1].decode()} " if found is not None else ""
        return f"the token {name}({self.source})"

    __repr__ = __str__


def token_of(options: Options) -> Token | None:
    """Return the token to send, if any. Raises AuthFailed if it cannot be read or is not valid."""
    if options.token is not None:
        return _token(options.token, "Options.token") if options.token else None
    if options.token_file:
        return _token_in(options.token_file, f"in {os.fspath(options.token_file)}")
    file, text = _environment("TOKEN_FILE"), _environment("TOKEN")
    if file:
        return _token_in(file, f"in {file}, by {ENV_PREFIX}TOKEN_FILE")
    return _token(text, f"{ENV_PREFIX}TOKEN") if text else None


def _token_in(file: File, source: str) -> Token:
    try:
        with Path(file).open(encoding="ascii", errors="replace") as opened:
            text = opened.read(2 * TOKEN_SIZE_MAX).strip()
    except OSError as error:
        raise AuthFailed(f"no token: {os.fspath(file)} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise AuthFailed(f"no token: {os.fspath(file)!r} is not a valid file name: {error}") from None
    if not text:
        raise AuthFailed(f"no token: {os.fspath(file)} is empty")
    return _token(text, source)


def _token(text: str, source: str) -> Token:
    if not (text.isascii() and text.isprintable() and " " not in text and len(text) <= TOKEN_SIZE_MAX):
        raise AuthFailed(f"invalid token ({source}): it is not a single word of at most {TOKEN_SIZE_MAX} characters")
    return Token(text.encode(), source)


def warn_in_clear(token: Token, address: Address, sock: Connected) -> None:
    """Log a warning before a token is sent to another machine without TLS, where others could read it."""
    if address.host in _told_of or _is_near(sock):
        return
    _told_of.add(address.host)
    log.warning("%s is sent to %s unencrypted: use TLS", token, address)


def _is_near(sock: Connected) -> bool:
    """Whether the connection stays on this machine."""
    try:
        peer = sock.getpeername()
    except OSError:
        return True  # the connection is closed, so nothing is sent over it
    if not isinstance(peer, tuple):
        return True
    address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _environment(name: str) -> str:
    return os.environ.get(ENV_PREFIX + name, "").strip()


def _is_said(name: str) -> bool:
    return _environment(name).lower() in ("1", "true", "yes", "on")


def tls_of(options: Options, address: Address) -> ssl.SSLContext | None:
    """Return the TLS context for an address, or None without TLS. Raises TlsFailed for files that cannot be used."""
    if not speaks_tls(options, address):
        return None
    if isinstance(options.tls, ssl.SSLContext):
        return options.tls
    ca_file = os.fspath(options.ca_file) or _environment("CA_FILE")
    cert_file = os.fspath(options.cert_file) or _environment("CERT_FILE")
    key_file = os.fspath(options.key_file) or ("" if options.cert_file else _environment("KEY_FILE"))
    stamps = tuple(_stamp(file) for file in (ca_file, cert_file, key_file))
    try:
        return _context(ca_file, cert_file, key_file, stamps)
    except ssl.SSLError as error:
        files = ", ".join(file for file in (ca_file, cert_file, key_file) if file)
        raise TlsFailed(f"TLS: {files}: {_words(error)}") from None


def speaks_tls(options: Options, address: Address) -> bool:
    """Whether to use TLS for an address. Decided by the settings alone; no file is read."""
    wanted = address.tls if address.tls is not None else options.tls
    if wanted is not None:
        return bool(wanted)
    return bool(options.ca_file or _environment("CA_FILE")) or shows_certificate(options) or _is_said("TLS")


def shows_certificate(options: Options) -> bool:
    return bool(options.cert_file or _environment("CERT_FILE"))


def _stamp(file: str) -> tuple[int, int] | None:
    if not file:
        return None
    try:
        with Path(file).open("rb") as opened:
            found = os.fstat(opened.fileno())
        return found.st_mtime_ns, found.st_size
    except OSError as error:
        raise TlsFailed(f"TLS: {file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise TlsFailed(f"TLS: {file!r} is not a valid file name: {error}") from None


@functools.lru_cache(maxsize=8)  # loading the system's CAs takes longer than connecting
def _context(ca_file: str, cert_file: str, key_file: str, stamps: tuple[tuple[int, int] | None, ...]) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cert_file:
        # Do not prompt for a password: an encrypted key is refused.
        context.load_cert_chain(cert_file, key_file or None, password=lambda: "")
    return context


def trouble_with_tls(address: Address, error: ssl.SSLError) -> TlsFailed | AuthFailed | None:
    """Return the final error for a failed handshake; None if another attempt may succeed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message or "it cannot be verified"
        return TlsFailed(f"cannot connect to {address}: its certificate is not trusted: {reason}{_advice(reason)}")
    reason = (error.reason or "").upper()
    if "ALERT" in reason and UNWELCOME.search(reason):
        what = "the client certificate, or requires one"
        return AuthFailed(f"{address} rejected {what}: {_words(error)}")
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return TlsFailed(f"cannot connect to {address}: the server does not use TLS on this port")
    if reason in ("UNSUPPORTED_PROTOCOL", "NO_SHARED_CIPHER", "TLSV1_ALERT_PROTOCOL_VERSION"):
        return TlsFailed(f"cannot connect to {address}: no TLS version or cipher in common: {_words(error)}")
    return None


def _advice(reason: str) -> str:
    if "hostname mismatch" in reason.lower() or "ip address mismatch" in reason.lower():
        return "; connect to a name in the certificate, or set server_hostname"
    if "issuer" in reason or "self" in reason:
        return "; set ca_file to the CA that signed it"
    return ""


def _words(error: ssl.SSLError) -> str:
    """OpenSSL's message, without the location in its source."""
    text = str(error.reason or error.strerror or error)
    return text.replace("_", " ").lower() if text.isupper() or "_" in text else text
