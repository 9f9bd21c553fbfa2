"""`mqmq start|info [-addr HOST:PORT]`: the command that MQMQ's text describes, over this broker.

`start` is as the original: one door, and messages that end with the process. `penstock serve` has the rest.
"""

import argparse
from collections.abc import Sequence

from penstock.cli.exits import Misused
from penstock.cli.main import ending

DEFAULT = "127.0.0.1:47774"
# The environment may say it, too: PENSTOCK_TOKEN_FILE and so on; and an address that begins with tls://.
WHO = (
    ("--token-file", "the file with the token to show"),
    ("--ca-file", "the CA to trust, by TLS"),
    ("--cert-file", "the certificate to show"),
    ("--key-file", "its key, if it is not in there"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line, by default the process's own, and exit."""
    parser = argparse.ArgumentParser(prog="mqmq", description="A very simple message queue, served by Penstock.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("start", "start the server"), ("info", "print out the running server's information")):
        command = commands.add_parser(name, help=text)
        command.add_argument("-addr", "--addr", metavar="HOST:PORT", default=DEFAULT, help=f"default: {DEFAULT}")
        if name == "info":
            for flag, what in WHO:
                command.add_argument(flag, metavar="FILE", default="", help=what)
    given = parser.parse_args(arguments)
    with ending("mqmq"):
        raise SystemExit(_start(given.addr) if given.command == "start" else _info(given))


def _start(addr: str) -> int:
    from penstock.client._options import address_of
    from penstock.config import LISTENERS, Config

    try:
        host, port, _ = address_of(addr, 47774)
    except ValueError as error:
        raise Misused(str(error)) from error
    flags: dict[str, object] = {**dict.fromkeys(LISTENERS, "off"), "mqmq": port, "host": host, "memory": True}
    config = Config.load(flags, {}, None)
    from penstock.server.node import serve

    return serve(config)


def _info(given: argparse.Namespace) -> int:
    from penstock.cli.look import ask_info, print_info
    from penstock.cli.reach import say_who

    say_who({name: getattr(given, name) for name in ("token_file", "ca_file", "cert_file", "key_file")})
    print_info(ask_info(given.addr, 10.0))
    return 0


if __name__ == "__main__":
    main()
