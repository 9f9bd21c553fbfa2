"""Ports that nobody has, and that stay free while their broker is down."""

import random
import socket
from collections.abc import Iterable

# What the system gives to whoever asks for any port begins above: nobody is given one of these meanwhile.
BELOW_EPHEMERAL = range(15_000, 31_000)


def free_ports(names: Iterable[str], host: str = "127.0.0.1") -> dict[str, int]:
    """A port for each of these names."""
    chance = random.SystemRandom()
    found: dict[str, int] = {}
    for name in names:
        while name not in found:
            port = chance.choice(BELOW_EPHEMERAL)
            if port not in found.values() and _is_free(host, port):
                found[name] = port
    return found


def _is_free(host: str, port: int) -> bool:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(address)
        except OSError:
            return False
    return True
