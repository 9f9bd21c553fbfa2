"""`penstock token`: the tokens that clients authenticate with. A token is shown once, and stored as a hash."""

from typing import Annotated

import typer

from penstock.auth.tokens import id_of
from penstock.cli.connect import Json
from penstock.cli.directory import UserStore, with_users
from penstock.cli.exits import UsageError
from penstock.cli.main import group_app
from penstock.cli.output import print_json, print_result, table

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
LIFE_MAX = 10**9  # seconds: more than thirty years


EPILOG = "Clients read the token from a file (PENSTOCK_TOKEN_FILE, --token-file) or from PENSTOCK_TOKEN."


def app() -> typer.Typer:
    return group_app("token", with_users(create), with_users(list_), with_users(revoke), epilog=EPILOG)


def create(
    users: UserStore,
    user: Annotated[str, typer.Argument(metavar="USER", help="User the token is for.")],
    expires: Annotated[str, typer.Option("--expires", metavar="TIME", help="Lifetime of the token: 12h, 90d.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What the token is for.")] = "",
    json: Json = False,
) -> None:
    """Create a token. It is printed only once, alone on stdout: penstock token create ann > ann.token."""
    life = _life(expires) if expires else 0
    token = users.create_token(user, life, note)
    print_result(json, token, user=user, token=token, expires_seconds=life, note=note)


def list_(
    users: UserStore,
    user: Annotated[str, typer.Argument(metavar="[USER]", help="Only tokens of this user.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """List tokens by their ids."""
    found = users.tokens(user)
    if json:
        for token in found:
            print_json(token)
        return
    headings = ["token", "user", "created_at", "expires_at", "note"]
    table(headings, [[str(token[key] or "-") for key in headings] for token in found])


def revoke(
    users: UserStore,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Token ids, as shown by `token list`.")],
    json: Json = False,
) -> None:
    """Revoke tokens. Connections authenticated with them are closed."""
    for text in ids:
        users.revoke_token(text)
        id = id_of(text.encode()) or text  # the whole token is accepted too
        print_result(json, f"revoked token {id}", token=id, revoked=True)


def _life(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if number.isascii() and number.isdigit() and unit in UNITS and 0 < int(number[:12]) * UNITS[unit] <= LIFE_MAX:
        return int(number[:12]) * UNITS[unit]
    raise UsageError(f"--expires {text}: give a number and s, m, h, d or w, such as 90d; at most 10^9 s")
