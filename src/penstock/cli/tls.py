"""`penstock tls`: certificates for development, made on the spot.

A CA of one's own, a certificate for the broker and one for a client, all signed by that CA, whose key is thrown away:
nobody can sign more in its name, and whoever needs more makes a new set.
"""

from pathlib import Path
from typing import Annotated, Final

import typer

from penstock.auth.self_signed import FILES, make
from penstock.cli.connect import Json
from penstock.cli.exits import EXIT_FAILED, EXIT_MISUSED, Failed
from penstock.cli.main import COMMANDS
from penstock.cli.output import print_json, say
from penstock.files import replace_file

NAMES: Final = ("localhost", "127.0.0.1", "::1")
DAYS_MAX: Final = 825  # more is not believed by browsers


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
    try:
        files = make(names, client, days)
    except ValueError as error:
        raise Failed(f"a name cannot be used in a certificate: {error}", EXIT_MISUSED) from error
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
