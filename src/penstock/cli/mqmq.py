"""`mqmq start|info [-addr HOST:PORT]`: the command that MQMQ's text describes, over this broker.

`start` is as the original: one door, and messages that end with the process. `penstock serve` has the rest. Whatever
goes wrong exits 1, as the original does; what it was is one line on stderr.
"""

import argparse
import os
from collections.abc import Sequence
from typing import Never

from penstock.cli.exits import EXIT_FAILED, Failed, Misused
from penstock.cli.main import ending
from penstock.errors import ConfigError

PORT = 47774
DEFAULT = f"127.0.0.1:{PORT}"
EVERYWHERE = "0.0.0.0"  # noqa: S104  # nosec  # what `:PORT` means to the original; it takes --insecure to listen there
# The environment may say it, too: PENSTOCK_TOKEN_FILE and so on; and an address that begins with tls://.
WHO = (
    ("--token-file", "file with the access token"),
    ("--ca-file", "CA to trust; enables TLS"),
    ("--cert-file", "client certificate"),
    ("--key-file", "private key, if not in --cert-file"),
)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Never:
        self.exit(EXIT_FAILED, f"{self.format_usage()}mqmq: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line, by default the process's own, and exit."""
    parser = Parser(prog="mqmq", description="A very simple message queue, served by Penstock.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("start", "start the server"), ("info", "print out the running server's information")):
        command = commands.add_parser(name, help=text, allow_abbrev=False)
        command.add_argument("-addr", "--addr", metavar="HOST:PORT", default=DEFAULT, help=f"default: {DEFAULT}")
        if name == "info":
            for flag, what in WHO:
                command.add_argument(flag, metavar="FILE", default="", help=what)
        else:
            command.add_argument(
                "--insecure", action="store_true", help="accept connections from other machines without authentication"
            )
    given = parser.parse_args(arguments)
    with ending("mqmq"):
        try:
            raise SystemExit(_start(given.addr, given.insecure) if given.command == "start" else _info(given))
        except (Failed, ConfigError) as error:
            raise Failed(str(error), EXIT_FAILED) from error


def _start(addr: str, insecure: bool) -> int:
    from penstock.config import LISTENERS, Config
    from penstock.exposure import is_open

    host, port = _door_of(addr)
    flags: dict[str, object] = {**dict.fromkeys(LISTENERS, "off"), "mqmq": port, "host": host, "memory": True}
    if insecure:
        flags["insecure"] = True
    environment = {name: value for name, value in os.environ.items() if name == "PENSTOCK_INSECURE"}
    config = Config.load(flags, environment, None)
    if is_open(config) and not config.insecure:
        raise Misused(
            f"-addr {addr} accepts connections from other machines without authentication. To listen on this machine "
            f"only: -addr 127.0.0.1:{port}. To listen anyway: --insecure. For TLS and users: penstock serve"
        )
    from penstock.node import serve

    return serve(config)


def _door_of(addr: str) -> tuple[str, int]:
    """Where to listen: without a host on every address there is, at port 0 on a free one."""
    from penstock.client._options import address_of

    host, _, port = addr.rpartition(":")
    if port == "0":
        return host.strip("[]") or EVERYWHERE, 0
    try:
        found = address_of(addr, PORT)
    except ValueError as error:
        raise Misused(str(error)) from error
    return EVERYWHERE if addr.startswith(":") else found.host, found.port


def _info(given: argparse.Namespace) -> int:
    from penstock.cli.connect import say_who
    from penstock.cli.inspect import ask_info, print_info

    say_who({name: getattr(given, name) for name in ("token_file", "ca_file", "cert_file", "key_file")})
    print_info(ask_info(given.addr, 10.0))
    return 0


if __name__ == "__main__":
    main()
