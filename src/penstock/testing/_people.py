"""Users and certificates for a broker that is tested: made on the spot, gone with it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from penstock.access.file import UsersFile
from penstock.access.users import Users

DAYS = 2


class People:
    """The users of one broker, in a file that it follows. What is changed here holds when the call comes back."""

    def __init__(self, file: Path, changed: Callable[[], None]) -> None:
        self.path = file
        self.tokens: dict[str, str] = {}  # of each user, the last one that was made
        self._file = UsersFile(file)
        self._changed = changed

    def add(self, users: Mapping[str, Sequence[str]]) -> None:
        """Users with what they are granted: `{"alice": ["publish orders.*", "consume *"]}`, each with a token."""
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
        """Whoever shows a certificate of that name is this user: `CN:worker-1`."""
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
    """ca.pem, server.pem, server.key, client.pem and client.key, for a broker of this machine."""
    from penstock.cli.tls import make  # takes a while to import

    directory.mkdir(parents=True, exist_ok=True)
    for name, text in make(["localhost", "127.0.0.1", "::1"], client, DAYS).items():
        path = directory / name
        path.touch(mode=0o600)
        path.write_bytes(text)
