"""The users of one broker, and how clients are authenticated as one of them."""

import hmac
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from penstock.auth.quotas import Quotas
from penstock.auth.rights import Grant
from penstock.auth.throttle import AuthThrottle
from penstock.auth.tokens import Token, digest_of, is_like_jwt, take_apart
from penstock.auth.user import User

BY_TOKEN: Final = "token"  # noqa: S105 the word, not a token
BY_ISSUER: Final = "oidc"  # a token of an identity provider
BY_CERTIFICATE: Final = "certificate"
BY_PASSWORD: Final = "password"  # noqa: S105 the word, not a password
BY_DEFAULT: Final = "default"  # the listener's default user, for clients that cannot send credentials

NO_DIGEST: Final = "0" * 64  # compared with unknown tokens, so that they take as long as known ones
SECOND: Final = 1_000_000  # microseconds
OIDC_USERS_MAX: Final = 10_000  # once reached, those without a connection are dropped


class Identity:
    """The result of an authentication: the user, and the credential it used."""

    def __init__(self, user: User, how: str, which: str) -> None:
        self.user = user
        self.how = how
        self.which = which  # the token's id or the certificate's name; never secret
        self.revision = user.revision
        self.expires_at = 0.0  # seconds since 1970; for tokens of an issuer only


class VerifiedToken:
    """A verified token of an issuer: the user's name, its grants, and when they expire."""

    def __init__(self, name: str, grants: list[Grant], which: str, begins_at: float, expires_at: float) -> None:
        self.name = name
        self.grants = grants
        self.which = which  # identifies the token; not secret
        self.begins_at = begins_at  # seconds since 1970
        self.expires_at = expires_at
        self.key = "\n".join([name, *[grant.text for grant in grants]])


@mypyc_attr(allow_interpreted_subclasses=True)
class Issuer:
    """Authenticates users that are not in the users file (`auth/oidc.py`)."""

    def __init__(self) -> None:
        self.why = ""  # why the last token was rejected, for the broker's operator

    def verify(self, presented: bytes, seconds: float) -> VerifiedToken | None:
        raise NotImplementedError


class Directory:
    def __init__(self, throttle: AuthThrottle | None = None) -> None:
        self.users: dict[str, User] = {}
        self.throttle = throttle or AuthThrottle(100)
        self.generation = 0  # incremented with each change
        self.auth_time = 10 * SECOND  # how long a connection may take to authenticate
        self.unauthenticated_bytes_max = 4096  # and how many bytes it may send until then
        self._tokens: dict[str, tuple[User, Token]] = {}
        self._certificates: dict[str, User] = {}
        self.issuer: Issuer | None = None
        self.oidc_users: dict[str, User] = {}  # by name and rights, most recently used last
        self.oidc_quotas = Quotas()
        self.next_oidc_expiry = 0.0  # when the first token of a connected OIDC user expires; 0 if there is none
        self.on_oidc_expiry: Callable[[], None] | None = None  # called when `next_oidc_expiry` moves earlier
        self.why = ""  # why the last token was rejected, if the issuer gave a reason

    def replace(self, users: dict[str, User]) -> None:
        """Replace all users. A user that existed before stays the same object, see `User.adopt`."""
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
        """Identify the user by a token; None if the token is unknown or expired. `now` is in microseconds."""
        self.why = ""
        parts = take_apart(presented)
        if parts is None:
            return self._by_issuer(presented, now) if self.issuer is not None and is_like_jwt(presented) else None
        id, secret = parts
        entry = self._tokens.get(id)
        right = hmac.compare_digest(digest_of(secret), NO_DIGEST if entry is None else entry[1].digest)
        if not right or entry is None or entry[1].is_over(now / SECOND):
            return None
        return Identity(entry[0], BY_TOKEN, id)

    def _by_issuer(self, presented: bytes, now: int) -> Identity | None:
        issuer = self.issuer
        if issuer is None:
            return None
        verified = issuer.verify(presented, now / SECOND)
        if verified is None:
            self.why = issuer.why
            return None
        identity = Identity(self._oidc_user(verified), BY_ISSUER, verified.which)
        identity.expires_at = verified.expires_at
        if self.next_oidc_expiry == 0.0 or verified.expires_at < self.next_oidc_expiry:
            self.next_oidc_expiry = verified.expires_at
            if self.on_oidc_expiry is not None:
                self.on_oidc_expiry()
        return identity

    def _oidc_user(self, verified: VerifiedToken) -> User:
        """The user of a token: the same object as long as name and rights are the same."""
        oidc_users = self.oidc_users
        user = oidc_users.pop(verified.key, None)
        if user is None:
            user = User(verified.name)
            user.grants = verified.grants
            user.set_quotas(self.oidc_quotas)
            if len(oidc_users) >= OIDC_USERS_MAX:
                for key in [key for key, other in oidc_users.items() if other.connections == 0][: OIDC_USERS_MAX // 10]:
                    del oidc_users[key]
        oidc_users[verified.key] = user
        return user

    def by_certificate(self, names: list[str]) -> Identity | None:
        """The user with one of these certificate names (`auth/certificates.py`); the first known name counts."""
        for name in names:
            user = self._certificates.get(name)
            if user is not None:
                return Identity(user, BY_CERTIFICATE, name)
        return None

    def by_default(self, name: str) -> Identity | None:
        """A listener's default user, for clients without credentials; None if it has none or the user is missing."""
        user = self.users.get(name) if name else None
        return None if user is None else Identity(user, BY_DEFAULT, name)

    def by_password(self, user: User) -> Identity:
        """An identity for a user whose password the caller has verified (`auth/passwords.py`)."""
        return Identity(user, BY_PASSWORD, str(user.password_revision))

    def still_holds(self, identity: Identity, now: int) -> bool:
        """Whether an identity is still valid: its credential and its rights have not been revoked since."""
        user = identity.user
        if identity.how == BY_ISSUER:
            return self.issuer is not None and now / SECOND < identity.expires_at
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
        """When the next token expires, in seconds since 1970; 0 if none will."""
        ahead = [
            token.expires_at
            for _, token in self._tokens.values()
            if token.expires_at and not token.is_over(now / SECOND)
        ]
        return min(ahead) if ahead else 0
