"""Where the commands `user` and `token` find users: the file of a broker, whether it runs or not.

Whoever may write that file needs no token: so the first user is made. A broker that runs with the file takes a change
in by itself, and the command comes back when it has.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from penstock.access.file import UsersFile
from penstock.access.users import Users
from penstock.cli.exits import Failed, Misused
from penstock.config import Config, env_of

SEEN_SECONDS = 10.0

Result = TypeVar("Result")

Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="The broker's data directory.  [default: penstock-data]")
]
File = Annotated[
    Path | None, typer.Option("--users", metavar="FILE", help="The users file.  [default: users.json in there]")
]
Settings = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", envvar=env_of("config"), help="TOML file with settings.")
]


def users_file(data: Path | None, users: Path | None, config: Path | None) -> UsersFile:
    """The file that a broker with these settings, this environment and that file would use."""
    said = {"data": data, "users": users}
    flags = {key: str(value) for key, value in said.items() if value is not None}
    path = Config.load(flags, os.environ, config).users_file
    if path is None:
        raise Misused("where everything is kept in memory, users need a file of their own: give --users FILE")
    return UsersFile(path)


def change(file: UsersFile, work: Callable[[Users], Result]) -> Result:
    """Change the file, and come back when the change holds."""
    with file.edit() as users:
        result = work(users)
    if not file.wait_until_seen(users.serial, SEEN_SECONDS):
        raise Failed(f"{file.path} is changed, but the broker that uses it has not taken that in: see its log")
    return result
