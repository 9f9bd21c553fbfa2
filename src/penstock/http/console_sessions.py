"""Console logins: a random cookie in the browser, its hash here. They do not survive a restart."""

import hashlib
import secrets

from penstock.auth.directory import Directory, Identity

LOGINS_MAX = 1000
LOGINS_OF_USER_MAX = 20
SECOND = 1_000_000


class Login:
    """Times are microseconds since 1970."""

    def __init__(self, identity: Identity, now: int) -> None:
        self.identity = identity
        self.begun_at = now
        self.used_at = now


class ConsoleSessions:
    def __init__(self, seconds: float, idle_seconds: float) -> None:
        self.seconds = seconds
        self.idle_seconds = idle_seconds
        self._by_digest: dict[bytes, Login] = {}  # most recent last

    def __len__(self) -> int:
        return len(self._by_digest)

    def begin(self, identity: Identity, now: int) -> str:
        """Log in; returns the cookie value. If there are too many logins, of the user or in all, the oldest ends."""
        of_user = [key for key, login in self._by_digest.items() if login.identity.user is identity.user]
        if len(of_user) >= LOGINS_OF_USER_MAX:
            del self._by_digest[of_user[0]]
        elif len(self._by_digest) >= LOGINS_MAX:
            del self._by_digest[next(iter(self._by_digest))]
        secret = secrets.token_urlsafe(32)
        self._by_digest[digest_of(secret)] = Login(identity, now)
        return secret

    def find(self, digest: bytes, access: Directory, now: int) -> Identity | None:
        """The identity of a login, while it lasts and its credential is valid. Counts as use."""
        login = self._by_digest.get(digest)
        if login is None:
            return None
        if not self._lasts(login, now) or not access.still_holds(login.identity, now):
            del self._by_digest[digest]
            return None
        login.used_at = now
        return login.identity

    def holds(self, digest: bytes, access: Directory, now: int) -> bool:
        """The same, without counting as use: for long-running streams."""
        login = self._by_digest.get(digest)
        return login is not None and self._lasts(login, now) and access.still_holds(login.identity, now)

    def end(self, digest: bytes) -> None:
        self._by_digest.pop(digest, None)

    def tidy(self, access: Directory, now: int) -> None:
        """Remove logins that have ended."""
        for digest in [digest for digest in self._by_digest if not self.holds(digest, access, now)]:
            del self._by_digest[digest]

    def _lasts(self, login: Login, now: int) -> bool:
        begun, idle = (now - login.begun_at) / SECOND, (now - login.used_at) / SECOND
        return begun < self.seconds and idle < self.idle_seconds


def digest_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
