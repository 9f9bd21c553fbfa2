"""`penstock user`: who there is, what they may do and how much."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.auth.quotas import QUOTAS
from penstock.auth.rights import RIGHTS, ROLES
from penstock.auth.users import grants_in, grants_of_role
from penstock.cli.connect import Json, reaching
from penstock.cli.directory import At, Data, File, Settings, book_at
from penstock.cli.exits import Misused
from penstock.cli.main import COMMANDS
from penstock.cli.output import print_json, say, tell

Name = Annotated[str, typer.Argument(metavar="NAME", help="User name.")]
Rights = Annotated[
    list[str],
    typer.Argument(
        metavar="RIGHT [NAMES]...",
        help=f"{', '.join((*RIGHTS, *ROLES))}; NAMES may contain * and start with event: or queue:.",
    ),
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file", metavar="FILE", help="Read the password from the first line of a file; - is stdin."
    ),
]


def app() -> typer.Typer:
    made = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help=COMMANDS["user"],
        epilog="A broker running on the same data directory applies each change before the command returns. "
        "Connections that depend on what you remove are closed.",
    )
    for command in (add, listed, remove, grant, revoke, quota, certificate, password):
        made.command("list" if command is listed else command.__name__)(reaching(command))
    return made


def add(
    name: Name,
    grants: Annotated[
        list[str] | None,
        typer.Option("--grant", metavar="RIGHT", help='Permission to grant: "publish orders.*", admin.'),
    ] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="ROLE", help=f"Role to grant on --pattern: {', '.join(ROLES)}, or admin."),
    ] = None,
    patterns: Annotated[
        list[str] | None,
        typer.Option(
            "--pattern", metavar="NAMES", help="Names the roles apply to: orders.*, queue:jobs; defaults to all."
        ),
    ] = None,
    quotas: Annotated[
        list[str] | None, typer.Option("--quota", metavar="NAME=N", help=f"Quota to set: {', '.join(QUOTAS)}.")
    ] = None,
    certificates: Annotated[
        list[str] | None,
        typer.Option(
            "--certificate", metavar="NAME", help="Client certificate that authenticates the user: CN:worker-1, DNS:..."
        ),
    ] = None,
    password_file: PasswordFile = None,
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Create a user. Once there is a user, clients must authenticate."""
    word = "" if password_file is None else _read_password(password_file)
    if patterns and not roles:
        raise Misused("--pattern applies to roles: give --role as well")
    wanted = [grant for text in grants or [] for grant in grants_in([text])]
    wanted += [grant for role in roles or [] for grant in grants_of_role(role, patterns or [])]
    book = book_at(server, data, users, config)
    book.add(name, wanted, _amounts(quotas or []), certificates or [], word)
    made = book.users(name)[0] if json else {}
    tell(json, f"created user {name}. Next: penstock token create {name}", **made)


def listed(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Only this user.", show_default=False)] = "",
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """List users with their permissions and quotas."""
    found = book_at(server, data, users, config).users(name)
    if json:
        for user in found:
            print_json(user)
        return
    if not found:
        say("no users: everyone may do everything, unless auth is on")
    for user in found:
        tokens = user["tokens"]
        ways = [
            *([f"{tokens} token{'s' if tokens > 1 else ''}"] if tokens else []),
            *(["password"] if user["password"] else []),
            *user["certificates"],
        ]
        say(f"{user['user']}: {', '.join(ways) or 'no credentials'}")
        for grant in user["grants"]:
            say(f"    {grant}")
        if user["quotas"]:
            say("    quotas: " + ", ".join(f"{key}={value}" for key, value in user["quotas"].items()))


def remove(
    name: Name, data: Data = None, users: File = None, config: Settings = None, server: At = "", json: Json = False
) -> None:
    """Remove a user and its tokens."""
    book_at(server, data, users, config).remove(name)
    tell(json, f"removed user {name}", user=name, removed=True)


def grant(
    name: Name,
    rights: Rights,
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Grant permissions: penstock user grant ann publish 'orders.*' consume queue:jobs."""
    wanted = grants_in(rights)
    book_at(server, data, users, config).grant(name, wanted)
    tell(json, f"granted to user {name}: {', '.join(wanted)}", user=name, granted=wanted)


def revoke(
    name: Name,
    rights: Rights,
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Revoke permissions, written as they were granted. The user's connections are closed, and may reconnect."""
    wanted = grants_in(rights)
    book_at(server, data, users, config).revoke(name, wanted)
    tell(json, f"revoked from user {name}: {', '.join(wanted)}", user=name, revoked=wanted)


def quota(
    name: Name,
    amounts: Annotated[list[str], typer.Argument(metavar="NAME=N...", help=f"{', '.join(QUOTAS)}; 0 means no limit.")],
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Set the quotas of a user."""
    book = book_at(server, data, users, config)
    book.set_quotas(name, _amounts(amounts))
    said = book.users(name)[0]["quotas"]
    text = ", ".join(f"{key}={value}" for key, value in said.items()) or "no quotas"
    tell(json, f"user {name}: {text}", user=name, quotas=said)


def certificate(
    name: Name,
    certificates: Annotated[
        list[str], typer.Argument(metavar="CERTIFICATE...", help="CN:worker-1, DNS:..., URI:..., email:..., sha256:...")
    ],
    remove: Annotated[bool, typer.Option("--remove", help="Remove these certificates from the user.")] = False,
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Let clients with these certificates authenticate as the user."""
    book = book_at(server, data, users, config)
    book.set_certificates(name, certificates, remove)
    said = book.users(name)[0]["certificates"]
    tell(json, f"user {name}: " + (", ".join(said) or "no certificates"), user=name, certificates=said)


def password(
    name: Name,
    password_file: PasswordFile = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the password, which blocks console logins.")] = False,
    data: Data = None,
    users: File = None,
    config: Settings = None,
    server: At = "",
    json: Json = False,
) -> None:
    """Set a user's console password, from a prompt or a file."""
    book = book_at(server, data, users, config)
    book.users(name)  # before anybody types for nothing
    word = "" if remove else _prompt() if password_file is None else _read_password(password_file)
    book.set_password(name, word)
    tell(json, f"{'removed' if remove else 'set'} the password of user {name}", user=name, password=not remove)


def _amounts(texts: list[str]) -> dict[str, int]:
    amounts: dict[str, int] = {}
    for text in texts:
        name, _, amount = text.partition("=")
        if not (amount.isascii() and amount.isdigit() and len(amount) < 20):
            raise Misused(f"{text!r} is not a quota: write name=number, such as connections=10")
        amounts[name] = int(amount)
    return amounts


def _prompt() -> str:
    if not sys.stdin.isatty():
        raise Misused("stdin is not a terminal: give --password-file FILE, or --password-file - to read stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _read_password(file: Path) -> str:
    text = sys.stdin.readline() if str(file) == "-" else file.read_text(encoding="utf-8").partition("\n")[0]
    word = text.rstrip("\r\n")
    if not word:
        raise Misused(f"no password in the first line of {'stdin' if str(file) == '-' else file}")
    return word
