"""Free ports that stay free while their broker is down."""

import random
import socket
from collections.abc import Iterable

# Below the ephemeral range, so the system does not assign one of these to another process meanwhile.
BELOW_EPHEMERAL = range(15_000, 31_000)


def free_ports(names: Iterable[str], host: str = "127.0.0.1") -> dict[str, int]:
    """A free port for each name."""
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
