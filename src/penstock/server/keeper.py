"""Keeps what is known of users true: loads the users file, follows its changes, and shows out whoever lost the right.

users file ──► Users ──► Directory (`hub.access`) ──► sessions
     ▲                        │
   watch, SIGHUP              └── something was taken away: the sessions that came in by it end
"""

import asyncio

from penstock.access.directory import Directory
from penstock.access.file import UsersFile
from penstock.access.lobby import Lobby
from penstock.access.user import User
from penstock.access.users import Users, changes_between
from penstock.config import Config
from penstock.errors import AccessError, ConfigError
from penstock.server.connection import Connection, Switchboard
from penstock.server.watch import Watcher
from penstock.wire.session import Session

SECOND = 1_000_000
EXPIRY_WAIT_MAX = 86_400.0  # seconds; then the clock is looked at again


class Keeper:
    """Knows who may come in. `directory` is `hub.access` while authentication is on."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.file = None if config.users_file is None or config.auth == "off" else UsersFile(config.users_file)
        if self.file is None and config.auth == "on":
            raise ConfigError("auth", "on", "settings", "needs a users file: give --users FILE, or a data directory")
        self.directory = Directory(Lobby(config.unauthenticated_per_address_max))
        self.directory.auth_time = round(config.auth_seconds * SECOND)
        self.directory.unauthenticated_bytes_max = config.unauthenticated_bytes_max
        self.board: Switchboard
        self._expiry: asyncio.TimerHandle | None = None
        self._said_unseen = False

    def start(self, board: Switchboard, watcher: Watcher) -> None:
        """Raises AccessError when the users file makes no sense: a broker that guesses would be an open one."""
        self.board = board
        if self.file is None:
            return
        watcher.add([self.file.path], self._on_change)
        self._take(self.file.load())

    def stop(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        if self.file is not None:
            self.file.stop_seeing()

    def _on_change(self) -> None:
        """Somebody has changed the file: tell what, which nobody else does."""
        before = {name: copy_of(user) for name, user in self.directory.users.items()}
        self.reload()
        changes = changes_between(before, self.directory.users)
        if changes:
            self.board.hub.report("info", "audit.changed", {"by": "users file", "changes": changes})

    def reload(self) -> None:
        """Take in what the file has now. A file that makes no sense, or is gone, changes nothing, and is told."""
        if self.file is None:
            return
        try:
            if self.board.hub.access is not None and not self.file.path.exists():
                raise AccessError(f"{self.file.path} is gone")
            users = self.file.load()
        except AccessError as error:
            self.board.hub.report("error", "users.not_reloaded", {"error": str(error), "reason": "the old ones hold"})
            return
        self._take(users)
        self.board.hub.report(
            "info", "users.loaded", {"users": len(users.by_name), "generation": self.directory.generation}
        )

    def _take(self, users: Users) -> None:
        assert self.file is not None
        hub = self.board.hub
        if hub.access is None and self.config.auth == "auto" and not self.file.path.exists():
            return
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
                    {"error": str(error), "reason": "commands that change users cannot wait until a change holds"},
                )

    def _review(self) -> None:
        """End the sessions of everyone who came in by something that was taken away, or before anybody had to.

        One moment is asked about, here and for what is due next: a token that ends between two looks at the clock would
        be too young for the first and too old for the second.
        """
        now = self.board.clock.now()
        for session, connection in list(self.board.connections.items()):
            try:
                self._review_one(connection, session, now)
            except Exception as error:
                self.board.fail(connection, session, error)  # it does not stay, and neither does anybody behind it
        self.board.plan_flush()
        self._arm_expiry(now)

    def _review_one(self, connection: Connection, session: Session, now: int) -> None:
        if session.successor is not None:  # who came in is the one that took over
            session = connection.succeed(session, session.successor)
        if not session.may_stay(now):
            session.show_out(now)
            connection.write_outbox()
            if connection.transport.get_write_buffer_size():
                connection.transport.abort()  # who does not read cannot be waited for

    def _share_out(self, before: dict[str, int]) -> None:
        """A user may have another number of messages un-acked: its consumers, other shares."""
        changed = {user for name, user in self.directory.users.items() if user.quotas.unacked != before.get(name, 0)}
        for session in list(self.board.connections) if changed else []:
            if session.user in changed:
                changed.remove(session.user)
                session.share_out(session.user)

    def _arm_expiry(self, now: int) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        at = self.directory.next_expiry(now)
        if at:
            wait = min(max(0.0, at - now / SECOND), EXPIRY_WAIT_MAX)
            self._expiry = self.board.loop.call_later(wait, self._review)


def copy_of(user: User) -> User:
    """As it was, since it changes in place."""
    copy = User(user.name)
    copy.grants, copy.quotas, copy.tokens = user.grants, user.quotas, user.tokens
    copy.certificates, copy.password = user.certificates, user.password
    return copy
