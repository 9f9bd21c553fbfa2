"""Where to connect to, and how patiently."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a client behaves; the same for all protocols. What has to do with who one is will stand here, too."""

    connect_timeout: float = 5.0
    """Seconds for one attempt to connect."""
    timeout: float = 30.0
    """Seconds an answer may take, reconnects included, where the call names no other time."""
    ping_seconds: float = 15.0
    """After this much silence the server is asked whether it is there; after as much again it is given up."""
    reconnect_min: float = 0.05
    """Seconds before the second attempt to reconnect; the first is made at once. Doubles from attempt to attempt."""
    reconnect_max: float = 5.0
    """The longest wait between two attempts."""
    outbox_bytes_max: int = 1 << 20
    """Bytes that may wait to be written; a publisher waits above it."""
    inbox_length_max: int = 5_000
    """Messages a consumer holds that the program has not taken; above it the socket is not read."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


Place = str | int | tuple[str, int]
"""`"host:port"`, `"host"`, `":port"`, a port of this machine, or host and port; an empty text is the default."""


def address_of(place: Place, default_port: int) -> Address:
    """Raises ValueError for what is no address."""
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


def addresses_of(places: Place | Sequence[Place], default_port: int) -> list[Address]:
    one = isinstance(places, str | int) or (
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
        raise ValueError(f"{place!r} is no address: give host:port")
    return int(port)
