"""`mqmq start|info [-addr HOST:PORT]`: the command of the original MQMQ, served by this broker.

`start` is as in the original: one listener, and messages are kept in memory. `penstock serve` has the rest. Errors are
one line on stderr and exit code 1, as in the original.
"""

import argparse
import os
from collections.abc import Sequence
from typing import Never

from penstock.cli.exits import EXIT_FAILED, Failed, UsageError
from penstock.cli.main import exit_on_error
from penstock.errors import ConfigError

PORT = 47774
DEFAULT = f"127.0.0.1:{PORT}"
ANY_ADDRESS = "0.0.0.0"  # noqa: S104  # nosec  # what `:PORT` means in the original; needs --insecure
# Or in the environment: PENSTOCK_TOKEN_FILE and so on; and an address may begin with tls://.
CREDENTIALS = (
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
            for flag, what in CREDENTIALS:
                command.add_argument(flag, metavar="FILE", default="", help=what)
        else:
            command.add_argument(
                "--insecure", action="store_true", help="accept connections from other machines without authentication"
            )
    given = parser.parse_args(arguments)
    with exit_on_error("mqmq"):
        try:
            raise SystemExit(_start(given.addr, given.insecure) if given.command == "start" else _info(given))
        except (Failed, ConfigError) as error:
            raise Failed(str(error), EXIT_FAILED) from error


def _start(addr: str, insecure: bool) -> int:
    from penstock.config import LISTENERS, Config
    from penstock.exposure import is_open

    host, port = _listen_address(addr)
    flags: dict[str, object] = {**dict.fromkeys(LISTENERS, "off"), "mqmq": port, "host": host, "memory": True}
    if insecure:
        flags["insecure"] = True
    environment = {name: value for name, value in os.environ.items() if name == "PENSTOCK_INSECURE"}
    config = Config.load(flags, environment, None)
    if is_open(config) and not config.insecure:
        raise UsageError(
            f"-addr {addr} accepts connections from other machines without authentication. To listen on this machine "
            f"only: -addr 127.0.0.1:{port}. To listen anyway: --insecure. For TLS and users: penstock serve"
        )
    from penstock.node import serve

    return serve(config)


def _listen_address(addr: str) -> tuple[str, int]:
    """Host and port to listen on: without a host all addresses, with port 0 a free port."""
    from penstock.client._options import address_of

    host, _, port = addr.rpartition(":")
    if port == "0":
        return host.strip("[]") or ANY_ADDRESS, 0
    try:
        found = address_of(addr, PORT)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return ANY_ADDRESS if addr.startswith(":") else found.host, found.port


def _info(given: argparse.Namespace) -> int:
    from penstock.cli.connect import use_credentials
    from penstock.cli.inspect import ask_info, print_info

    use_credentials({name: getattr(given, name) for name in ("token_file", "ca_file", "cert_file", "key_file")})
    print_info(ask_info(given.addr, 10.0))
    return 0


if __name__ == "__main__":
    main()
