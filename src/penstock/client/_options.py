"""Client options and addresses."""

import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

File = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Timeouts, limits and credentials of a client; the same for all protocols.

    Credentials can also be set in the environment, see `penstock.client._credentials`; options take precedence. Files
    are read again for every connection, so they can be replaced at any time.
    """

    connect_timeout: float = 5.0
    """Seconds for one attempt to connect."""
    timeout: float = 30.0
    """Default timeout of a call in seconds, including reconnects."""
    ping_seconds: float = 15.0
    """Seconds of silence before the client pings the server; after as many again it drops the connection."""
    reconnect_min: float = 0.05
    """Seconds before the second attempt to reconnect; the first is immediate. Doubles with every attempt."""
    reconnect_max: float = 5.0
    """Longest pause between two attempts, in seconds."""
    outbox_bytes_max: int = 1 << 20
    """Bytes that may be buffered for sending; above this, publishers wait."""
    inbox_length_max: int = 5_000
    """Messages a consumer buffers for the program; above this, the client stops reading from the socket."""
    token: str | None = field(default=None, repr=False)
    """The token to authenticate with. An empty string sends none, whatever the environment contains."""
    token_file: File = ""
    """A file with the token."""
    tls: bool | ssl.SSLContext | None = None
    """Whether to use TLS. Default: if a CA or a certificate is set. An address can override it: tls:// or tcp://."""
    ca_file: File = ""
    """The CAs to trust, in PEM; by default those of the system."""
    cert_file: File = ""
    """The client certificate, in PEM."""
    key_file: File = ""
    """The private key, if it is not in `cert_file`."""
    server_hostname: str = ""
    """The name in the server's certificate, if it differs from the address."""


SCHEMES = {"tls": True, "tcp": False}


class Address(NamedTuple):
    host: str
    port: int
    tls: bool | None = None  # None: the options decide

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


AddressLike = str | int | tuple[str, int] | Address
"""`"host:port"`, `"host"`, `":port"`, a port on this machine, or `(host, port)`; an empty string is the default.

`"tls://host:port"` uses TLS, `"tcp://host:port"` does not, whatever the options say.
"""


def address_of(place: AddressLike, default_port: int) -> Address:
    """Parse an address. Raises ValueError if it is not one."""
    if isinstance(place, Address):
        return place
    if isinstance(place, str) and "://" in place:
        scheme, _, rest = place.partition("://")
        if scheme.lower() not in SCHEMES:
            raise ValueError(f"{place!r} is not a valid address: use host:port, tls://host:port or tcp://host:port")
        return address_of(rest.rstrip("/"), default_port)._replace(tls=SCHEMES[scheme.lower()])
    if isinstance(place, int):
        return Address("127.0.0.1", _port_of(place, place))
    if not isinstance(place, str):
        return Address(place[0], _port_of(place[1], place))
    if place.startswith("[") or place.count(":") < 2:
        host, bracket, rest = place.removeprefix("[").partition("]") if place.startswith("[") else ("", "", "")
        if not bracket:
            host, colon, port = place.partition(":")
        else:
            colon, port = rest[:1], rest[1:]
        return Address(host or "127.0.0.1", _port_of(port, place) if colon else default_port)
    return Address(place, default_port)  # an IPv6 address without brackets has no port


def addresses_of(places: AddressLike | Sequence[AddressLike], default_port: int) -> list[Address]:
    one = isinstance(places, str | int | Address) or (
        isinstance(places, tuple) and len(places) == 2 and isinstance(places[0], str) and isinstance(places[1], int)
    )
    found = [address_of(place, default_port) for place in ([places] if one else places)]  # type: ignore[arg-type,union-attr]
    if not found:
        raise ValueError("no address given")
    return found


def _port_of(value: object, place: object) -> int:
    try:
        port = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        port = -1
    if not 0 < port < 65536:
        raise ValueError(f"{place!r} is not a valid address: use host:port")
    return int(port)
