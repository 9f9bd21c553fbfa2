"""`penstock token`: what clients show to say whose they are. A token is shown once, and kept as a hash."""

import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from penstock.access.tokens import Token, id_of
from penstock.access.users import Users
from penstock.cli.directory import Data, File, Settings, change, users_file
from penstock.cli.exits import Misused
from penstock.cli.main import COMMANDS
from penstock.cli.reach import Json
from penstock.cli.show import print_json, say, table

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
LIFE_MAX = 100 * 366 * 86_400


def app() -> typer.Typer:
    made = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help=COMMANDS["token"],
        epilog="Clients take a token from a file (PENSTOCK_TOKEN_FILE, --token-file) or from PENSTOCK_TOKEN.",
    )
    made.command()(create)
    made.command("list")(listed)
    made.command()(revoke)
    return made


def create(
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose it is.")],
    expires: Annotated[str, typer.Option("--expires", metavar="TIME", help="After how long it ends: 12h, 90d.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What it is for.")] = "",
    data: Data = None,
    users: File = None,
    config: Settings = None,
) -> None:
    """Make a token. Stdout gets it and nothing else, once: penstock token create ann > ann.token."""
    now = int(time.time())
    expires_at = now + _life(expires) if expires else 0
    say(change(users_file(data, users, config), lambda found: found.create_token(user, now, expires_at, note)))


def listed(
    user: Annotated[str, typer.Argument(metavar="[USER]", help="Of one user only.", show_default=False)] = "",
    data: Data = None,
    users: File = None,
    config: Settings = None,
    json: Json = False,
) -> None:
    """Show which tokens there are, by their ids."""
    found = users_file(data, users, config).load()
    owners = [found.user(user)] if user else [owner for _, owner in sorted(found.by_name.items())]
    tokens = [(owner.name, token) for owner in owners for token in owner.tokens.values()]
    if json:
        for name, token in tokens:
            print_json(_as_json(name, token))
        return
    rows = [[token.id, name, _when(token.created_at), _when(token.expires_at), token.note] for name, token in tokens]
    table(["token", "user", "created", "expires", "note"], rows)


def revoke(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As `token list` shows them.")],
    data: Data = None,
    users: File = None,
    config: Settings = None,
) -> None:
    """Make tokens worthless. The connections that had come in by them end."""

    def work(found: Users) -> list[str]:
        # Somebody may have pasted the whole token.
        taken = [found.revoke_token(id_of(id.encode()) or id) for id in ids]
        return [f"token {token.id} of {owner.name} is revoked" for owner, token in taken]

    for line in change(users_file(data, users, config), work):
        say(line)


def _life(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if number.isascii() and number.isdigit() and unit in UNITS and 0 < int(number[:12]) * UNITS[unit] <= LIFE_MAX:
        return int(number[:12]) * UNITS[unit]
    raise Misused(f"--expires {text}: give a number and s, m, h, d or w, such as 90d")


def _when(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}" if seconds else "never"


def _as_json(name: str, token: Token) -> dict[str, object]:
    return {
        "token": token.id,
        "user": name,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "note": token.note,
    }
