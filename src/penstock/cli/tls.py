"""`penstock tls`: certificates for development.

Creates a CA, and a server and a client certificate signed by it. The CA's key is not kept, so nobody can sign further
certificates with it; to get more, create a new set.
"""

from pathlib import Path
from typing import Annotated, Final

import typer

from penstock.auth.self_signed import FILES, make
from penstock.cli.connect import Json
from penstock.cli.exits import Failed, UsageError
from penstock.cli.main import group_app
from penstock.cli.output import print_json, print_line
from penstock.files import replace_file

NAMES: Final = ("localhost", "127.0.0.1", "::1")
DAYS_MAX: Final = 825  # browsers reject longer validity


def app() -> typer.Typer:
    return group_app("tls", self_signed)


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
    existing = [file for file in FILES if (directory / file).exists()]
    if existing and not force:
        raise Failed(f"{directory / existing[0]} already exists: use --force to overwrite it")
    try:
        files = make(names, client, days)
    except ValueError as error:
        raise UsageError(f"a name cannot be used in a certificate: {error}") from error
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, text in files.items():
        replace_file(directory / file, text)  # atomically, and readable by the owner only
    if json:
        print_json({"directory": str(directory), "files": list(files), "names": names, "client": client, "days": days})
        return
    cert, key, ca = (directory / file for file in ("server.pem", "server.key", "ca.pem"))
    print_line(f"created {', '.join(files)} in {directory}; names: {', '.join(names)}; valid for {days} days")
    print_line(f"penstock serve --tls-cert {cert} --tls-key {key} --tls-ca {ca}")
    print_line(f"openssl s_client -quiet -connect 127.0.0.1:7700 -CAfile {ca}")
