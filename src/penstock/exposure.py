"""Which doors a configuration opens, to whom, and what stands in the way of a stranger.

A door is open when it can be reached from another machine without TLS, or by whoever comes. A broker does not start
with one unless it is told `--insecure`, and `penstock config check` names each.
"""

import ipaddress
import socket
from typing import NamedTuple

from penstock.config import Config
from penstock.errors import ConfigError


class Door(NamedTuple):
    """One listener as a stranger would find it."""

    name: str
    host: str
    port: int
    beyond: bool  # it can be reached from other machines
    tls: bool  # nobody comes in without
    asks: bool  # whoever comes has to say who it is, and prove it

    @property
    def lacks(self) -> list[str]:
        """What is missing for others to come near it."""
        if not self.beyond:
            return []
        return [word for word, there in (("TLS", self.tls), ("authentication", self.asks)) if not there]

    def __str__(self) -> str:
        return f"{self.name} on {self.host}:{self.port}"


def doors_of(config: Config) -> list[Door]:
    """Every door the configuration opens."""
    beyond = is_beyond(config.host)
    with_tls = config.tls_cert is not None
    by_certificate = config.tls_ca is not None and config.tls_client == "required"
    return [
        Door(
            name,
            config.host,
            port,
            beyond,
            tls := with_tls and (name != "any" or config.any_tls == "only"),
            asks_who(config, name) or (tls and by_certificate),
        )
        for name, port in config.ports().items()
        if port is not None
    ]


def open_doors(config: Config) -> list[Door]:
    """Those that lack something."""
    return [door for door in doors_of(config) if door.lacks]


def is_open(config: Config) -> bool:
    return bool(open_doors(config))


def check_doors(config: Config) -> None:
    """Refuse to open a door to strangers that nobody said should be.

    Raises:
        ConfigError: names the doors, and the commands that help.
    """
    found = open_doors(config)
    if not found or config.insecure:
        return
    alike: dict[str, list[str]] = {}
    for door in found:
        alike.setdefault(" and ".join(door.lacks), []).append(door.name)
    doors = "; ".join(f"{', '.join(names)} without {lacks}" for lacks, names in alike.items())
    reason = f"other machines can reach {doors}. {advice(config, found)}"
    raise ConfigError("host", config.host, "settings", reason)


def advice(config: Config, found: list[Door]) -> str:
    """What to do about open doors, as commands."""
    steps = []
    if any("TLS" in door.lacks for door in found):
        steps.append(
            "For TLS: penstock tls self-signed tls --name $(hostname), "
            "then penstock serve --tls-cert tls/server.pem --tls-key tls/server.key."
        )
    if any("authentication" in door.lacks for door in found):
        where = f"--data {config.directory}" if config.users is None and config.directory else f"--users {config.users}"
        if config.users_file is None:
            where = "--users users.json"  # for serve as well: without a data directory there is no other place
        steps.append(
            f'For authentication: penstock user add NAME --grant "publish *" {where}, '
            f"penstock token create NAME {where} > NAME.token, and do not set a default user for any listener; "
            "or accept only clients with a certificate: --tls-ca tls/ca.pem --tls-client required."
        )
    steps.append("To listen on this machine only: --host 127.0.0.1. To listen anyway: --insecure.")
    return " ".join(steps)


def asks_who(config: Config, name: str) -> bool:
    """Whether a client of that listener has to prove who it is."""
    users = config.users_file
    asked = (
        config.auth == "on"
        or bool(config.oidc_issuer)
        or (config.auth == "auto" and users is not None and users.exists())
    )
    return asked and not config.default_user(name)  # whom everybody may be, nobody has to prove to be


def is_beyond(host: str) -> bool:
    """Whether an address to listen on can be reached from another machine; a name, by all it stands for."""
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return True  # nobody knows; opening it will say why it cannot be
    return not all(_is_loopback(address) for address in found)


def _is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
