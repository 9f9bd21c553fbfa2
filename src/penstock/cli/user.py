"""`penstock user`: users, their permissions, quotas and credentials."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.auth.quotas import QUOTAS
from penstock.auth.rights import RIGHTS, ROLES
from penstock.auth.users import grants_in, grants_of_role
from penstock.cli.connect import Json
from penstock.cli.directory import UserStore, with_users
from penstock.cli.exits import UsageError
from penstock.cli.main import group_app
from penstock.cli.output import print_json, print_line, print_result

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


EPILOG = (
    "A broker running on the same data directory applies each change before the command returns. "
    "Connections that depend on what you remove are closed."
)


def app() -> typer.Typer:
    commands = (add, list_, remove, grant, revoke, quota, certificate, password)
    return group_app("user", *(with_users(command) for command in commands), epilog=EPILOG)


def add(
    users: UserStore,
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
    json: Json = False,
) -> None:
    """Create a user. Once there is a user, clients must authenticate."""
    secret = "" if password_file is None else _read_password(password_file)
    if patterns and not roles:
        raise UsageError("--pattern applies to roles: give --role as well")
    wanted = [grant for text in grants or [] for grant in grants_in([text])]
    wanted += [grant for role in roles or [] for grant in grants_of_role(role, patterns or [])]
    users.add(name, wanted, _amounts(quotas or []), certificates or [], secret)
    made = users.users(name)[0] if json else {}
    print_result(json, f"created user {name}. Next: penstock token create {name}", **made)


def list_(
    users: UserStore,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Only this user.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """List users with their permissions and quotas."""
    found = users.users(name)
    if json:
        for user in found:
            print_json(user)
        return
    if not found:
        print_line("no users: everyone may do everything, unless auth is on")
    for user in found:
        tokens = user["tokens"]
        ways = [
            *([f"{tokens} token{'s' if tokens > 1 else ''}"] if tokens else []),
            *(["password"] if user["password"] else []),
            *user["certificates"],
        ]
        print_line(f"{user['user']}: {', '.join(ways) or 'no credentials'}")
        for grant in user["grants"]:
            print_line(f"    {grant}")
        if user["quotas"]:
            print_line("    quotas: " + ", ".join(f"{key}={value}" for key, value in user["quotas"].items()))


def remove(users: UserStore, name: Name, json: Json = False) -> None:
    """Remove a user and its tokens."""
    users.remove(name)
    print_result(json, f"removed user {name}", user=name, removed=True)


def grant(
    users: UserStore,
    name: Name,
    rights: Rights,
    json: Json = False,
) -> None:
    """Grant permissions: penstock user grant ann publish 'orders.*' consume queue:jobs."""
    wanted = grants_in(rights)
    users.grant(name, wanted)
    print_result(json, f"granted to user {name}: {', '.join(wanted)}", user=name, granted=wanted)


def revoke(
    users: UserStore,
    name: Name,
    rights: Rights,
    json: Json = False,
) -> None:
    """Revoke permissions, written as they were granted. The user's connections are closed, and may reconnect."""
    wanted = grants_in(rights)
    users.revoke(name, wanted)
    print_result(json, f"revoked from user {name}: {', '.join(wanted)}", user=name, revoked=wanted)


def quota(
    users: UserStore,
    name: Name,
    amounts: Annotated[list[str], typer.Argument(metavar="NAME=N...", help=f"{', '.join(QUOTAS)}; 0 means no limit.")],
    json: Json = False,
) -> None:
    """Set the quotas of a user."""
    users.set_quotas(name, _amounts(amounts))
    current = users.users(name)[0]["quotas"]
    text = ", ".join(f"{key}={value}" for key, value in current.items()) or "no quotas"
    print_result(json, f"user {name}: {text}", user=name, quotas=current)


def certificate(
    users: UserStore,
    name: Name,
    certificates: Annotated[
        list[str], typer.Argument(metavar="CERTIFICATE...", help="CN:worker-1, DNS:..., URI:..., email:..., sha256:...")
    ],
    remove: Annotated[bool, typer.Option("--remove", help="Remove these certificates from the user.")] = False,
    json: Json = False,
) -> None:
    """Let clients with these certificates authenticate as the user."""
    users.set_certificates(name, certificates, remove)
    current = users.users(name)[0]["certificates"]
    print_result(json, f"user {name}: " + (", ".join(current) or "no certificates"), user=name, certificates=current)


def password(
    users: UserStore,
    name: Name,
    password_file: PasswordFile = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the password, which blocks console logins.")] = False,
    json: Json = False,
) -> None:
    """Set a user's console password, from a prompt or a file."""
    users.users(name)  # fails before the prompt if there is no such user
    secret = "" if remove else _prompt() if password_file is None else _read_password(password_file)
    users.set_password(name, secret)
    print_result(json, f"{'removed' if remove else 'set'} the password of user {name}", user=name, password=not remove)


def _amounts(texts: list[str]) -> dict[str, int]:
    amounts: dict[str, int] = {}
    for text in texts:
        name, _, amount = text.partition("=")
        if not (amount.isascii() and amount.isdigit() and len(amount) < 20):
            raise UsageError(f"{text!r} is not a quota: write name=number, such as connections=10")
        amounts[name] = int(amount)
    return amounts


def _prompt() -> str:
    if not sys.stdin.isatty():
        raise UsageError("stdin is not a terminal: give --password-file FILE, or --password-file - to read stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _read_password(file: Path) -> str:
    text = sys.stdin.readline() if str(file) == "-" else file.read_text(encoding="utf-8").partition("\n")[0]
    secret = text.rstrip("\r\n")
    if not secret:
        raise UsageError(f"no password in the first line of {'stdin' if str(file) == '-' else file}")
    return secret
