"""What HTTP resources need of the broker: its parts, and how to wait until a change is durable."""

from collections.abc import Mapping

from penstock.auth.authorizer import Authorizer
from penstock.auth.pending import PendingConnections
from penstock.clock import Clock
from penstock.config import Config
from penstock.core.broker import Broker
from penstock.core.memory_shares import Shares
from penstock.core.queue import Queue
from penstock.http.answers import Answers
from penstock.http.authenticator import HttpAuthenticator
from penstock.http.caller import Caller, caller
from penstock.http.connection import HttpConnection
from penstock.http.console_sessions import ConsoleSessions
from penstock.http.log_worker_client import Readers
from penstock.http.places import HttpPlaces
from penstock.http.problems import Problem, not_found, over_limit, too_large
from penstock.http.statistics import Statistics
from penstock.http.texts import text_of
from penstock.server.handshakes import HandshakeLimiter
from penstock.server.reactor import Reactor
from penstock.server.user_reloader import UserReloader
from penstock.storage.cursors import Cursors
from penstock.storage.storage import Storage
from penstock.wire.session import Hub


class AppContext:
    """The parts of one running node."""

    def __init__(
        self,
        config: Config,
        reactor: Reactor,
        ports: Mapping[str, int],
        statistics: Statistics,
        handshakes: HandshakeLimiter | None = None,
    ) -> None:
        self.config = config
        self.shares = Shares(config.memory_bytes_max)
        self.reactor = reactor
        self.ports = ports
        self.statistics = statistics
        self.handshakes = handshakes
        self.hub: Hub = reactor.hub
        self.broker: Broker = reactor.hub.broker
        self.storage: Storage | None = reactor.storage
        self.clock: Clock = reactor.clock
        self.readers = None if self.storage is None else Readers(self.storage.directory)
        self.cursors = Cursors(None) if self.storage is None else self.storage.cursors
        self.logins = ConsoleSessions(config.login_seconds, config.login_idle_seconds)
        self.authenticator = HttpAuthenticator(self.hub, self.clock, self.logins, config.metrics_open)
        self.unauthenticated: PendingConnections[HttpConnection] = PendingConnections()
        self.places = HttpPlaces(config.http_connections_max, config.http_body_rate_min)
        self.answers = Answers(self.shares.outgoing)
        reactor.account.add("out", lambda: self.answers.bytes)
        reactor.account.add_share(self.answers.bytes_max, self.shares.answer, self.answers.let_hold)
        self.user_reloader: UserReloader | None = None  # manages the users file
        self.pipelines: dict[str, dict[str, object]] = {}  # status reported by jobs, the latest last

    def now(self) -> int:
        """The current time. Also sets the broker's time and publisher for the calls that follow."""
        now = self.clock.now()
        self.broker.set_time(now)
        self.broker.context.publisher = self.caller.holder
        return now

    @property
    def caller(self) -> Caller:
        """The caller of the current request."""
        return caller()

    @property
    def authorizer(self) -> Authorizer:
        """What the caller of the current request may do."""
        return self.hub.authorizer_of(self.caller.user)

    def is_still_authenticated(self, who: Caller) -> bool:
        """Whether a caller's credentials are still valid: for long-running responses."""
        access = self.hub.access
        if access is None:
            return True
        if who.identity is None:
            return False  # connected before authentication was turned on
        if who.login:
            return self.logins.holds(who.login, access, self.clock.now())
        return access.still_holds(who.identity, self.clock.now())

    def queue(self, name: bytes) -> Queue:
        """The queue of that name. Raises Problem if there is none."""
        queue = self.broker.queues.get(name)
        if queue is None:
            raise not_found(f"there is no queue {text_of(name)!r}", "create it with PUT /v1/queues/{name}")
        return queue

    def check_names(self, *names: bytes) -> None:
        """Raises Problem if a name is too long. Call it before a name is used."""
        for name in names:
            if len(name) > self.hub.limits.name_size_max:
                raise self.name_too_large("name", name)

    def name_too_large(self, what: str, name: bytes) -> Problem:
        return too_large(f"{what} of {len(name)} bytes: name_size_max is {self.hub.limits.name_size_max}")

    def check_publish(self) -> None:
        """Raises Problem if the caller has to wait before it publishes. Call it before the body is read.

        HTTP publishers wait by retrying: while memory is short, the disk is behind, or a rate quota is used up.
        """
        if self.reactor.must_wait(self.caller.holder):
            raise over_limit(
                "memory_bytes_max is reached, or the disk is behind: no messages are accepted at the moment",
                "try again in a second",
            )
        self.caller.check_rate(self.clock.now())

    async def when_durable(self) -> None:
        """Wait until everything accepted so far is as durable as this broker promises."""
        self.broker.context.congested = None  # an HTTP publisher is not slowed down by pausing reads
        self.reactor.plan_flush()
        if self.storage is not None:
            await self.storage.when_durable(self.broker.log.position)
