"""Where the commands `user` and `token` find users: in the users file of a broker, or with the broker itself.

Access to the file needs no token, so the first user can be created. A broker that runs with the file loads each change,
and the command returns when it has. With `--server`, an admin does the same over HTTP.
"""

import inspect
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

import orjson
import typer

from penstock.auth.file import UsersFile
from penstock.auth.tokens import Token, id_of
from penstock.auth.user import User
from penstock.auth.users import Users
from penstock.cli.connect import Api, with_credentials, with_options
from penstock.cli.exits import Failed, UsageError
from penstock.config import Config, env_of

SEEN_SECONDS = 10.0
PAGE = 1000

Result = TypeVar("Result")
Shown = dict[str, Any]

Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Data directory of the broker.  [default: penstock-data]")
]
File = Annotated[
    Path | None,
    typer.Option("--users", metavar="FILE", help="Users file.  [default: users.json in the data directory]"),
]
Settings = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", envvar=env_of("config"), help="TOML file with settings.")
]
Server = Annotated[
    str,
    typer.Option(
        "--server", metavar="URL", help="Use the HTTP API of this broker, as an admin, instead of the users file."
    ),
]


OPTIONS: dict[str, tuple[Any, object]] = {
    "data": (Data, None),
    "users": (File, None),
    "config": (Settings, None),
    "server": (Server, ""),
}


def with_users(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose first argument is the users, with the options that select them."""

    def call(**given: Any) -> None:
        users = open_users(**{name: given.pop(name) for name in OPTIONS})
        command(users, **given)

    _, *own = inspect.signature(command).parameters.values()
    return with_credentials(with_options(command, own, OPTIONS, call))


def open_users(server: str, data: Path | None, users: Path | None, config: Path | None) -> "UserStore":
    """The broker at that address, or the file that one with these settings and this environment would use."""
    if server:
        if data is not None or users is not None:
            raise UsageError("--server cannot be combined with --data or --users: give the URL of a broker, or a file")
        return ServerUsers(server)
    given = {"data": data, "users": users}
    flags = {key: str(value) for key, value in given.items() if value is not None}
    path = Config.load(flags, os.environ, config).users_file
    if path is None:
        raise UsageError("a broker that keeps everything in memory needs a separate users file: give --users FILE")
    return FileUsers(UsersFile(path))


class FileUsers:
    def __init__(self, file: UsersFile) -> None:
        self._file = file

    def _change(self, work: Callable[[Users], Result]) -> Result:
        """Returns when a running broker has loaded the change."""
        with self._file.edit() as users:
            result = work(users)
        if not self._file.wait_until_seen(users.serial, SEEN_SECONDS):
            raise Failed(
                f"{self._file.path} was changed, but the broker that uses it has not loaded the change: see its log"
            )
        return result

    def users(self, name: str) -> list[Shown]:
        return [_user_shown(user) for user in self._load(name)]

    def _load(self, name: str) -> list[User]:
        """The user of that name, or all of them."""
        found = self._file.load()
        return [found.user(name)] if name else [user for _, user in sorted(found.by_name.items())]

    def add(self, name: str, grants: Sequence[str], quotas: dict[str, int], names: Sequence[str], secret: str) -> None:
        hashed = _hashed(secret) if secret else ""

        def work(users: Users) -> None:
            user = users.add(name)
            for text in grants:
                users.grant(name, text)
            for quota, amount in quotas.items():
                user.quotas.set(quota, amount)
            for text in names:
                users.add_certificate(name, text)
            user.password = hashed

        self._change(work)

    def remove(self, name: str) -> None:
        self._change(lambda users: users.remove(name))

    def grant(self, name: str, grants: Sequence[str]) -> None:
        self._change(lambda users: [users.grant(name, text) for text in grants])

    def revoke(self, name: str, grants: Sequence[str]) -> None:
        self._change(lambda users: [users.revoke(name, text) for text in grants])

    def set_quotas(self, name: str, quotas: dict[str, int]) -> None:
        def work(users: Users) -> None:
            for quota, amount in quotas.items():
                users.user(name).quotas.set(quota, amount)

        self._change(work)

    def set_certificates(self, name: str, names: Sequence[str], remove: bool) -> None:
        def work(users: Users) -> None:
            change = users.remove_certificate if remove else users.add_certificate
            for text in names:
                change(name, text)

        self._change(work)

    def set_password(self, name: str, secret: str) -> None:
        hashed = _hashed(secret) if secret else ""
        self._change(lambda users: users.set_password(name, hashed))

    def tokens(self, user: str) -> list[Shown]:
        return [_token_shown(owner.name, token) for owner in self._load(user) for token in owner.tokens.values()]

    def create_token(self, user: str, life: int, note: str) -> str:
        now = int(time.time())
        return self._change(lambda users: users.create_token(user, now, now + life if life else 0, note))

    def revoke_token(self, id: str) -> None:
        self._change(lambda users: users.revoke_token(id_of(id.encode()) or id))  # the whole token is accepted too


class ServerUsers:
    def __init__(self, server: str) -> None:
        self._api = Api(server)

    def _ask(self, method: str, path: str, value: object = None, **query: str) -> Any:
        target = f"/v1/{path}?{urlencode(query)}" if query else f"/v1/{path}"
        with self._api:  # reconnects for the next request
            return orjson.loads(self._api.request(method, target, value))

    def _all(self, kind: str, **query: str) -> list[Any]:
        found: list[Any] = []
        while True:
            page = self._ask("GET", kind, limit=str(PAGE), offset=str(len(found)), **query)
            found += page[kind]
            if len(found) >= page["total"] or not page[kind]:
                return found

    def users(self, name: str) -> list[Shown]:
        found = [self._ask("GET", _user(name))] if name else self._all("users")
        keys = ("grants", "quotas", "certificates", "tokens", "password")
        return [{"user": user["name"], **{key: user[key] for key in keys}} for user in found]

    def add(self, name: str, grants: Sequence[str], quotas: dict[str, int], names: Sequence[str], secret: str) -> None:
        new: Shown = {"name": name, "grants": [*grants], "quotas": quotas, "certificates": [*names]}
        self._ask("POST", "users", {**new, "password": secret} if secret else new)

    def remove(self, name: str) -> None:
        self._ask("DELETE", _user(name))

    def grant(self, name: str, grants: Sequence[str]) -> None:
        for text in grants:
            self._ask("POST", f"{_user(name)}/grants", {"grant": text})

    def revoke(self, name: str, grants: Sequence[str]) -> None:
        for text in grants:
            self._ask("DELETE", f"{_user(name)}/grants", grant=text)

    def set_quotas(self, name: str, quotas: dict[str, int]) -> None:
        self._ask("PUT", f"{_user(name)}/quotas", quotas)

    def set_certificates(self, name: str, names: Sequence[str], remove: bool) -> None:
        for text in names:
            if remove:
                self._ask("DELETE", f"{_user(name)}/certificates", certificate=text)
            else:
                self._ask("POST", f"{_user(name)}/certificates", {"certificate": text})

    def set_password(self, name: str, secret: str) -> None:
        if secret:
            self._ask("PUT", f"{_user(name)}/password", {"password": secret})
        else:
            self._ask("DELETE", f"{_user(name)}/password")

    def tokens(self, user: str) -> list[Shown]:
        found = self._all("tokens", user=user) if user else self._all("tokens")
        keys = ("user", "created_at", "expires_at", "note")
        return [{"token": token["id"], **{key: token[key] for key in keys}} for token in found]

    def create_token(self, user: str, life: int, note: str) -> str:
        new: Shown = {"user": user, "note": note}
        return str(self._ask("POST", "tokens", {**new, "expires_seconds": life} if life else new)["token"])

    def revoke_token(self, id: str) -> None:
        self._ask("DELETE", f"tokens/{quote(id_of(id.encode()) or id, safe='')}")


UserStore = FileUsers | ServerUsers


def _user(name: str) -> str:
    return f"users/{quote(name, safe='')}"


def _user_shown(user: User) -> Shown:
    return {
        "user": user.name,
        "grants": [grant.text for grant in user.grants],
        "quotas": user.quotas.said(),
        "certificates": user.certificates,
        "tokens": len(user.tokens),
        "password": bool(user.password),
    }


def _token_shown(name: str, token: Token) -> Shown:
    times = {"created_at": _when(token.created_at), "expires_at": _when(token.expires_at)}
    return {"token": token.id, "user": name, **times, "note": token.note}


def _when(seconds: int) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else None


def _hashed(secret: str) -> str:
    from penstock.auth.passwords import hash_password

    return hash_password(secret)
