"""`penstock token`: what clients show to say whose they are. A token is shown once, and kept as a hash."""

from typing import Annotated

import typer

from penstock.auth.tokens import id_of
from penstock.cli.connect import Json, reaching
from penstock.cli.directory import At, Data, File, Settings, book_at
from penstock.cli.exits import Misused
from penstock.cli.main import COMMANDS
from penstock.cli.output import print_json, table, tell

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
LIFE_MAX = 10**9  # seconds: more than thirty years


def app() -> typer.Typer:
    made = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help=COMMANDS["token"],
        epilog="Clients read the token from a file (PENSTOCK_TOKEN_FILE, --token-file) or from PENSTOCK_TOKEN.",
    )
    made.command()(reaching(create))
    made.command("list")(reaching(listed))
    made.command()(reaching(revoke))
    return made


def create(
    user: Annotated[str, typer.Argument(metavar="USER", help="User the token is for.")],
    expires: Annotated[str, typer.Option("--expires", metavar="TIME", help="Lifetime of the token: 12h, 90d.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What the token is for.")] = "",
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Create a token. It is printed only once, alone on stdout: penstock token create ann > ann.token."""
    life = _life(expires) if expires else 0
    token = book_at(server, data, users, config).create_token(user, life, note)
    tell(json, token, user=user, token=token, expires_seconds=life, note=note)


def listed(
    user: Annotated[str, typer.Argument(metavar="[USER]", help="Only tokens of this user.", show_default=False)] = "",
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """List tokens by their ids."""
    found = book_at(server, data, users, config).tokens(user)
    if json:
        for token in found:
            print_json(token)
        return
    headings = ["token", "user", "created_at", "expires_at", "note"]
    table(headings, [[str(token[key] or "-") for key in headings] for token in found])


def revoke(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Token ids, as shown by `token list`.")],
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Revoke tokens. Connections authenticated with them are closed."""
    book = book_at(server, data, users, config)
    for text in ids:
        book.revoke_token(text)
        id = id_of(text.encode()) or text  # somebody may have pasted the whole token
        tell(json, f"revoked token {id}", token=id, revoked=True)


def _life(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if number.isascii() and number.isdigit() and unit in UNITS and 0 < int(number[:12]) * UNITS[unit] <= LIFE_MAX:
        return int(number[:12]) * UNITS[unit]
    raise Misused(f"--expires {text}: give a number and s, m, h, d or w, such as 90d; at most 10^9 s")
