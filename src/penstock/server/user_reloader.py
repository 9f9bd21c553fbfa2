"""Authentication of a running broker: loads the users file, follows its changes, and ends sessions that lost access.

users file ──► Users ──► Directory (`hub.access`) ──► sessions
     ▲                        │
   watch, SIGHUP              └── credentials revoked: the sessions that used them end
"""

import asyncio
import math
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from penstock.auth.directory import Directory
from penstock.auth.file import UsersFile
from penstock.auth.jwks import check_url, fetch_keys, is_url, read_keys
from penstock.auth.oidc import Oidc, Rules
from penstock.auth.throttle import AuthThrottle
from penstock.auth.user import User
from penstock.auth.users import Users, changes_between
from penstock.config import Config
from penstock.errors import AccessError, ConfigError
from penstock.server.connection import Connection
from penstock.server.reactor import Reactor
from penstock.server.watch import Watcher
from penstock.wire.session import Session

SECOND = 1_000_000
EXPIRY_WAIT_MAX = 86_400.0  # seconds; the clock is read again after that


class UserReloader:
    """Maintains `directory`, the known users, which is `hub.access` while authentication is on."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.file = None if config.users_file is None or config.auth == "off" else UsersFile(config.users_file)
        if self.file is None and config.auth == "on":
            raise ConfigError("auth", "on", "settings", "needs a users file: set --users FILE or a data directory")
        self.directory = Directory(AuthThrottle(config.unauthenticated_per_address_max))
        self.directory.auth_time = round(config.auth_seconds * SECOND)
        self.directory.unauthenticated_bytes_max = config.unauthenticated_bytes_max
        self.reactor: Reactor
        self._expiry: asyncio.TimerHandle | None = None
        self._said_unseen = False
        self.oidc = oidc_of(config)
        self._refreshing: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        if self.oidc is not None:
            self.oidc.want_keys = self._wanted.set
            self.directory.issuer = self.oidc
            self.directory.on_oidc_expiry = self._on_oidc_expiry
            for quota in config.oidc_quotas.replace(",", " ").split():
                name, _, amount = quota.partition("=")
                try:
                    self.directory.oidc_quotas.set(name, int(amount))
                except (AccessError, ValueError) as error:
                    raise ConfigError("oidc_quotas", config.oidc_quotas, "settings", str(error)) from None
            # A token and its framing must fit into what an unauthenticated client may send.
            most = max(config.unauthenticated_bytes_max, config.oidc_token_size_max + 1024)
            self.directory.unauthenticated_bytes_max = most

    def start(self, reactor: Reactor, watcher: Watcher) -> None:
        """Load users and keys. Raises AccessError for an invalid users file: guessing could leave the broker open."""
        self.reactor = reactor
        if self.oidc is not None:
            reactor.hub.access = self.directory
            self._start_keys(self.oidc, watcher)
        if self.file is None:
            return
        watcher.add([self.file.path], self._on_change)
        self._take(self.file.load())

    # -- keys of an identity provider -------------------------------------------------------------------------------

    def _start_keys(self, oidc: Oidc, watcher: Watcher) -> None:
        """Load the keys: from a file, which must be valid, or from a URL in the background, so that nobody waits."""
        if is_url(self.config.oidc_jwks):
            self._refreshing = self.reactor.loop.create_task(self._refresh(oidc))
            return
        path = Path(self.config.oidc_jwks)
        oidc.use_keys(read_keys(path))

        def read_again() -> None:
            try:
                oidc.use_keys(read_keys(path))
            except AccessError as error:
                self._tell_no_keys(str(error))
            else:
                self.reactor.hub.report("info", "oidc.keys", {"from": str(path)})

        watcher.add([path], read_again)

    async def _refresh(self, oidc: Oidc) -> None:
        """Fetch keys periodically and whenever a token names an unknown one. Known keys stay valid meanwhile."""
        url = self.config.oidc_jwks
        while True:
            self._wanted.clear()
            try:
                oidc.use_keys(await asyncio.to_thread(fetch_keys, url))
            except AccessError as error:
                self._tell_no_keys(str(error))
            else:
                self.reactor.hub.report("debug", "oidc.keys", {"from": url})
            with suppress(TimeoutError):
                async with asyncio.timeout(max(1.0, self.config.oidc_refresh_seconds)):
                    await self._wanted.wait()

    def _tell_no_keys(self, reason: str) -> None:
        self.reactor.hub.report("warning", "oidc.no_keys", {"error": reason, "reason": "the known keys stay in use"})

    def stop(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            self._refreshing = None
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        if self.file is not None:
            self.file.stop_seeing()

    def _on_change(self) -> None:
        """The users file was edited outside the broker: reload it and log the changes, which nothing else does."""
        before = {name: copy_of(user) for name, user in self.directory.users.items()}
        self.reload()
        changes = changes_between(before, self.directory.users)
        if changes:
            self.reactor.hub.report("info", "audit.changed", {"by": "users file", "changes": changes})

    def reload(self) -> None:
        """Load the users file. An invalid or missing file changes nothing and is logged."""
        if self.file is None:
            return
        try:
            if self.reactor.hub.access is not None and not self.file.path.exists():
                raise AccessError(f"{self.file.path} does not exist")
            users = self.file.load()
        except AccessError as error:
            self.reactor.hub.report(
                "error", "users.not_reloaded", {"error": str(error), "reason": "the previous users stay in use"}
            )
            return
        self._take(users)
        self.reactor.hub.report(
            "info", "users.loaded", {"users": len(users.by_name), "generation": self.directory.generation}
        )

    def _take(self, users: Users) -> None:
        assert self.file is not None
        hub = self.reactor.hub
        if hub.access is None and self.config.auth == "auto" and not self.file.path.exists():
            return  # authentication stays off; with an identity provider it is on already
        unacked = {name: user.quotas.unacked for name, user in self.directory.users.items()}
        self.directory.replace(users.by_name)
        hub.access = self.directory
        self._review()
        self._share_out(unacked)
        try:
            self.file.say_seen(users.serial)
        except OSError as error:
            if not self._said_unseen:
                self._said_unseen = True
                hub.report(
                    "warning",
                    "users.unseen",
                    {
                        "error": str(error),
                        "reason": "commands that change users cannot wait for a change to take effect",
                    },
                )

    def _review(self) -> None:
        """End sessions whose credentials were revoked or have expired, or that predate authentication.

        One time is used for this and for the next expiry: a token that expires between two readings of the clock would
        still be valid at the first and already past at the second.
        """
        now = self.reactor.clock.now()
        for session, connection in list(self.reactor.connections.items()):
            try:
                self._review_one(connection, session, now)
            except Exception as error:
                self.reactor.fail(connection, session, error)  # close this one, and go on with the others
        self.reactor.plan_flush()
        ends = [session.identity.expires_at for session in self.reactor.connections if session.identity is not None]
        self.directory.next_oidc_expiry = min((end for end in ends if end), default=0.0)
        self._arm_expiry(now)

    def _on_oidc_expiry(self) -> None:
        """A session began whose token expires before those of all others."""
        self._arm_expiry(self.reactor.clock.now())

    def _review_one(self, connection: Connection, session: Session, now: int) -> None:
        if session.successor is not None:  # the successor is the one that authenticated
            session = connection.succeed(session, session.successor)
        if not session.may_stay(now):
            session.revoke(now)
            connection.write_outbox()
            if connection.transport.get_write_buffer_size():
                connection.transport.abort()  # the client is not reading: do not wait for it

    def _share_out(self, before: dict[str, int]) -> None:
        """Recompute the credit of consumers whose user has a new quota of un-acked messages."""
        changed = {user for name, user in self.directory.users.items() if user.quotas.unacked != before.get(name, 0)}
        for session in list(self.reactor.connections) if changed else []:
            if session.user in changed:
                changed.remove(session.user)
                session.share_out(session.user)

    def _arm_expiry(self, now: int) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        ends = [end for end in (self.directory.next_expiry(now), math.ceil(self.directory.next_oidc_expiry)) if end]
        if ends:
            at = min(ends)
            wait = min(max(0.0, at - now / SECOND), EXPIRY_WAIT_MAX)
            self._expiry = self.reactor.loop.call_later(wait, self._review)


def oidc_of(config: Config) -> Oidc | None:
    """The identity provider of the settings; None if they name none. Raises ConfigError."""
    if not config.oidc_issuer:
        return None
    if config.auth == "off":
        raise wrong(config, "oidc_issuer", "needs authentication: remove `auth = off`")
    if find_spec("jwt") is None:
        raise wrong(config, "oidc_issuer", "needs PyJWT, which is not installed: pip install 'penstock-mq[oidc]'")
    if not config.oidc_jwks:
        raise wrong(
            config, "oidc_jwks", "is missing: set the issuer's public keys, a JWKS file or the https URL of one"
        )
    audiences = words_of(config.oidc_audience)
    if not audiences:
        raise wrong(config, "oidc_audience", "is missing: without it, tokens for other applications would be accepted")
    if not any(mark in config.oidc_user_prefix for mark in ":/"):
        raise wrong(
            config, "oidc_user_prefix", "needs a colon or a slash, so that it cannot match a name in the users file"
        )
    try:
        rules = Rules(config.oidc_rights)
    except AccessError as error:
        raise wrong(config, "oidc_rights", str(error)) from None
    try:
        if is_url(config.oidc_jwks):
            check_url(config.oidc_jwks)
    except AccessError as error:
        raise wrong(config, "oidc_jwks", str(error)) from None
    return Oidc(
        config.oidc_issuer,
        audiences,
        rules,
        rights_claims=words_of(config.oidc_rights_claims),
        user_claim=config.oidc_user_claim,
        prefix=config.oidc_user_prefix,
        leeway=config.oidc_leeway_seconds,
        size_max=config.oidc_token_size_max,
    )


def words_of(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def wrong(config: Config, key: str, reason: str) -> ConfigError:
    return ConfigError(key, getattr(config, key), "settings", reason)


def copy_of(user: User) -> User:
    """A copy of the user as it is now, since users change in place."""
    copy = User(user.name)
    copy.grants, copy.quotas, copy.tokens = user.grants, user.quotas, user.tokens
    copy.certificates, copy.password = user.certificates, user.password
    return copy
