"""`penstock user`: who there is, what they may do and how much."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.access.quotas import QUOTAS
from penstock.access.rights import RIGHTS
from penstock.access.user import User
from penstock.access.users import Users, grants_in
from penstock.cli.directory import Data, File, Settings, change, users_file
from penstock.cli.exits import Misused
from penstock.cli.main import COMMANDS
from penstock.cli.reach import Json
from penstock.cli.show import print_json, say, table

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user.")]
Rights = Annotated[
    list[str],
    typer.Argument(metavar="RIGHT [NAMES]...", help=f"{', '.join(RIGHTS)}; names with *, after event: or queue:."),
]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", metavar="FILE", help="Take the password from a file's first line; - is stdin."),
]


def app() -> typer.Typer:
    made = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help=COMMANDS["user"],
        epilog="A broker that runs with the same data directory takes each change in before the command is done. "
        "What is taken away ends the connections that had come in by it.",
    )
    for command in (add, listed, remove, grant, revoke, quota, certificate, password):
        made.command("list" if command is listed else command.__name__)(command)
    return made


def add(
    name: Name,
    grants: Annotated[
        list[str] | None, typer.Option("--grant", metavar="RIGHT", help='What it may do: "publish orders.*", admin.')
    ] = None,
    quotas: Annotated[
        list[str] | None, typer.Option("--quota", metavar="NAME=N", help=f"How much: {', '.join(QUOTAS)}.")
    ] = None,
    certificates: Annotated[
        list[str] | None,
        typer.Option("--certificate", metavar="NAME", help="Whoever holds such a certificate: CN:worker-1, DNS:..."),
    ] = None,
    password_file: PasswordFile = None,
    data: Data = None,
    users: File = None,
    config: Settings = None,
) -> None:
    """Make a user. With the first one, clients have to say who they are."""
    hashed = "" if password_file is None else _hashed(_read_password(password_file))

    def work(found: Users) -> None:
        found.add(name)
        for text in grants or []:
            for one in grants_in([text]):
                found.grant(name, one)
        for text in quotas or []:
            found.set_quota(name, text)
        for text in certificates or []:
            found.add_certificate(name, text)
        found.set_password(name, hashed)

    change(users_file(data, users, config), work)
    say(f"user {name} is there; penstock token create {name} makes a token for it")


def listed(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="One user only.", show_default=False)] = "",
    data: Data = None,
    users: File = None,
    config: Settings = None,
    json: Json = False,
) -> None:
    """Show users with their rights and quotas."""
    found = users_file(data, users, config).load()
    shown = [found.user(name)] if name else [user for _, user in sorted(found.by_name.items())]
    if json:
        for user in shown:
            print_json(_as_json(user))
        return
    if not shown:
        say("there is no user: everybody may do everything, unless auth is on")
        return
    rows = []
    for user in shown:
        ways = [*([f"{len(user.tokens)} tokens"] if user.tokens else []), *(["password"] if user.password else [])]
        said = ", ".join(f"{key}={value}" for key, value in user.quotas.said().items())
        rights = ", ".join(grant.text for grant in user.grants)
        rows.append([user.name, ", ".join([*ways, *user.certificates]) or "-", said or "-", rights or "-"])
    table(["user", "comes in by", "quotas", "rights"], rows)


def remove(name: Name, data: Data = None, users: File = None, config: Settings = None) -> None:
    """Remove a user with its tokens."""
    change(users_file(data, users, config), lambda found: found.remove(name))
    say(f"user {name} is gone")


def grant(name: Name, rights: Rights, data: Data = None, users: File = None, config: Settings = None) -> None:
    """Let a user do more: penstock user grant ann publish 'orders.*' consume queue:jobs."""
    wanted = grants_in(rights)
    given = change(users_file(data, users, config), lambda found: [found.grant(name, text).text for text in wanted])
    say(f"user {name} may {', '.join(given)}")


def revoke(name: Name, rights: Rights, data: Data = None, users: File = None, config: Settings = None) -> None:
    """Take rights away, as they were granted. Connections of the user end, and may come again."""
    wanted = grants_in(rights)
    taken = change(users_file(data, users, config), lambda found: [found.revoke(name, text).text for text in wanted])
    say(f"user {name} may no longer {', '.join(taken)}")


def quota(
    name: Name,
    amounts: Annotated[list[str], typer.Argument(metavar="NAME=N...", help=f"{', '.join(QUOTAS)}; 0 is no limit.")],
    data: Data = None,
    users: File = None,
    config: Settings = None,
) -> None:
    """Limit how much a user may use."""

    def work(found: Users) -> dict[str, int]:
        for text in amounts:
            found.set_quota(name, text)
        return found.user(name).quotas.said()

    said = change(users_file(data, users, config), work)
    say(f"user {name}: " + (", ".join(f"{key}={value}" for key, value in said.items()) or "no quotas"))


def certificate(
    name: Name,
    certificates: Annotated[
        list[str], typer.Argument(metavar="CERTIFICATE...", help="CN:worker-1, DNS:..., URI:..., email:..., sha256:...")
    ],
    remove: Annotated[bool, typer.Option("--remove", help="Not any longer.")] = False,
    data: Data = None,
    users: File = None,
    config: Settings = None,
) -> None:
    """Let whoever holds a client certificate of that name be this user."""

    def work(found: Users) -> list[str]:
        for text in certificates:
            if remove:
                found.remove_certificate(name, text)
            else:
                found.add_certificate(name, text)
        return found.user(name).certificates

    said = change(users_file(data, users, config), work)
    say(f"user {name}: " + (", ".join(said) or "no certificates"))


def password(
    name: Name,
    password_file: PasswordFile = None,
    remove: Annotated[bool, typer.Option("--remove", help="No password: no way into the console.")] = False,
    data: Data = None,
    users: File = None,
    config: Settings = None,
) -> None:
    """Set a user's password for the console, from a prompt or a file."""
    file = users_file(data, users, config)
    file.load().user(name)  # before anybody types for nothing
    hashed = "" if remove else _hashed(_prompt() if password_file is None else _read_password(password_file))
    change(file, lambda found: found.set_password(name, hashed))
    say(f"user {name}: the password is {'gone' if remove else 'set'}")


def _as_json(user: User) -> dict[str, object]:
    return {
        "user": user.name,
        "grants": [grant.text for grant in user.grants],
        "quotas": user.quotas.said(),
        "certificates": user.certificates,
        "tokens": list(user.tokens),
        "password": bool(user.password),
    }


def _prompt() -> str:
    if not sys.stdin.isatty():
        raise Misused("a password is typed at a terminal, or comes from --password-file; - is stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _read_password(file: Path) -> str:
    text = sys.stdin.readline() if str(file) == "-" else file.read_text(encoding="utf-8").partition("\n")[0]
    return text.rstrip("\r\n")


def _hashed(text: str) -> str:
    from penstock.access.passwords import hash_password

    return hash_password(text)
