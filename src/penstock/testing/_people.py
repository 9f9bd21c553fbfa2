"""Generated users and certificates for a broker under test."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from penstock.auth.file import UsersFile
from penstock.auth.users import Users

DAYS = 2


class People:
    """The users of one broker, in a file that it watches. Changes are in effect when a method returns."""

    def __init__(self, file: Path, changed: Callable[[], None]) -> None:
        self.path = file
        self.tokens: dict[str, str] = {}  # by user, the newest one
        self._file = UsersFile(file)
        self._changed = changed

    def add(self, users: Mapping[str, Sequence[str]]) -> None:
        """Add users with their permissions, `{"alice": ["publish orders.*", "consume *"]}`, and a token each."""
        with self._edit() as known:
            for name, grants in users.items():
                known.add(name)
                for grant in grants:
                    known.grant(name, grant)
                self.tokens[name] = known.create_token(name, int(time.time()))

    def grant(self, user: str, right: str) -> None:
        with self._edit() as known:
            known.grant(user, right)

    def revoke(self, user: str, right: str) -> None:
        with self._edit() as known:
            known.revoke(user, right)

    def certify(self, user: str, name: str) -> None:
        """Map a certificate name, such as `CN:worker-1`, to the user."""
        with self._edit() as known:
            known.add_certificate(user, name)

    @contextmanager
    def _edit(self) -> Iterator[Users]:
        with self._file.edit() as known:
            yield known
        self._changed()

    def new_token(self, user: str) -> str:
        with self._edit() as known:
            self.tokens[user] = known.create_token(user, int(time.time()))
        return self.tokens[user]

    def revoke_token(self, token: str) -> None:
        with self._edit() as known:
            known.revoke_token(token.split("_")[1])


def make_certificates(directory: Path, client: str = "client") -> None:
    """Create ca.pem, server.pem, server.key, client.pem and client.key for a broker on this machine."""
    from penstock.auth.self_signed import make  # slow to import

    directory.mkdir(parents=True, exist_ok=True)
    for name, text in make(["localhost", "127.0.0.1", "::1"], client, DAYS).items():
        path = directory / name
        path.touch(mode=0o600)
        path.write_bytes(text)
