"""All users of one broker: who presents this token, or this certificate?"""

import hmac
from typing import Final

from penstock.access.lobby import Lobby
from penstock.access.tokens import Token, digest_of, take_apart
from penstock.access.user import User

BY_TOKEN: Final = "token"  # noqa: S105 the word, not a token
BY_CERTIFICATE: Final = "certificate"
BY_PASSWORD: Final = "password"  # noqa: S105 the word, not a password
BY_DEFAULT: Final = "default"  # the listener's own user, for clients that can present nothing

NO_DIGEST: Final = "0" * 64  # what a token that is not known is compared to: it takes as long
SECOND: Final = 1_000_000  # microseconds


class Identity:
    """Somebody who was recognised: as whom, and by what."""

    def __init__(self, user: User, how: str, which: str) -> None:
        self.user = user
        self.how = how
        self.which = which  # the token's id, the certificate's name; nothing that is secret
        self.revision = user.revision


class Directory:
    def __init__(self, lobby: Lobby | None = None) -> None:
        self.users: dict[str, User] = {}
        self.lobby = lobby or Lobby(100)
        self.generation = 0  # grows with each change
        self.auth_time = 10 * SECOND  # how long a connection may take to say who it is
        self.unauthenticated_bytes_max = 4096  # and how much it may say until then
        self._tokens: dict[str, tuple[User, Token]] = {}
        self._certificates: dict[str, User] = {}

    def replace(self, users: dict[str, User]) -> None:
        """Let these be the users. One that was there before stays the same object, see `User.adopt`."""
        now_there: dict[str, User] = {}
        for name, user in users.items():
            known = self.users.get(name)
            if known is None:
                user.set_quotas(user.quotas)
                now_there[name] = user
            else:
                known.adopt(user)
                now_there[name] = known
        for name, known in self.users.items():
            if name not in now_there:
                known.revision += 1
        self.users = now_there
        self._tokens = {token.id: (user, token) for user in now_there.values() for token in user.tokens.values()}
        self._certificates = {name: user for user in now_there.values() for name in user.certificates}
        self.generation += 1

    def authenticate(self, presented: bytes, now: int) -> Identity | None:
        """Whose token that is; None when it is nobody's, or not any longer. `now` in microseconds."""
        parts = take_apart(presented)
        if parts is None:
            return None
        id, secret = parts
        entry = self._tokens.get(id)
        right = hmac.compare_digest(digest_of(secret), NO_DIGEST if entry is None else entry[1].digest)
        if not right or entry is None or entry[1].is_over(now / SECOND):
            return None
        return Identity(entry[0], BY_TOKEN, id)

    def by_certificate(self, names: list[str]) -> Identity | None:
        """Whose certificate has one of these names (`access.certificates`), the first that is known."""
        for name in names:
            user = self._certificates.get(name)
            if user is not None:
                return Identity(user, BY_CERTIFICATE, name)
        return None

    def by_default(self, name: str) -> Identity | None:
        """The user that a listener gives to whoever presents nothing; None when it has none, or it is not there."""
        user = self.users.get(name) if name else None
        return None if user is None else Identity(user, BY_DEFAULT, name)

    def by_password(self, user: User) -> Identity:
        """For whoever has checked the password (`access.passwords`)."""
        return Identity(user, BY_PASSWORD, str(user.password_revision))

    def still_holds(self, identity: Identity, now: int) -> bool:
        """Whether somebody who came in like this may stay: nothing it came in by was taken away since."""
        user = identity.user
        if self.users.get(user.name) is not user or user.revision != identity.revision:
            return False
        if identity.how == BY_TOKEN:
            token = user.tokens.get(identity.which)
            return token is not None and not token.is_over(now / SECOND)
        if identity.how == BY_CERTIFICATE:
            return identity.which in user.certificates
        if identity.how == BY_PASSWORD:
            return bool(user.password) and identity.which == str(user.password_revision)
        return True

    def next_expiry(self, now: int) -> int:
        """When the next token expires, in seconds since 1970; 0 when none will."""
        ahead = [
            token.expires_at
            for _, token in self._tokens.values()
            if token.expires_at and not token.is_over(now / SECOND)
        ]
        return min(ahead) if ahead else 0
