"""What HTTP resources need of the broker: its parts, and how to wait until a change is durable."""

from collections.abc import Mapping

from penstock.clock import Clock
from penstock.config import Config
from penstock.core.broker import Broker
from penstock.core.memory_shares import Shares
from penstock.core.queue import Queue
from penstock.http.answers import Answers
from penstock.http.authenticator import HttpAuthenticator
from penstock.http.caller import Caller, caller
from penstock.http.connection import Strangers
from penstock.http.console_sessions import ConsoleSessions
from penstock.http.log_worker_client import Readers
from penstock.http.places import HttpPlaces
from penstock.http.problems import not_found, over_limit, too_large
from penstock.http.statistics import Statistics
from penstock.http.texts import text_of
from penstock.server.connection import Reactor
from penstock.server.handshakes import HandshakeLimiter
from penstock.server.user_reloader import UserReloader
from penstock.storage.cursors import Cursors
from penstock.storage.storage import Storage
from penstock.wire.session import Hub


class AppContext:
    """The parts of one running node."""

    def __init__(
        self,
        config: Config,
        board: Reactor,
        ports: Mapping[str, int],
        statistics: Statistics,
        handshakes: HandshakeLimiter | None = None,
    ) -> None:
        self.config = config
        self.shares = Shares(config.memory_bytes_max)
        self.board = board
        self.ports = ports
        self.statistics = statistics
        self.handshakes = handshakes
        self.hub: Hub = board.hub
        self.broker: Broker = board.hub.broker
        self.storage: Storage | None = board.storage
        self.clock: Clock = board.clock
        self.readers = None if self.storage is None else Readers(self.storage.directory)
        self.cursors = Cursors(None) if self.storage is None else self.storage.cursors
        self.logins = ConsoleSessions(config.login_seconds, config.login_idle_seconds)
        self.authenticator = HttpAuthenticator(self.hub, self.clock, self.logins, config.metrics_open)
        self.strangers = Strangers()
        self.places = HttpPlaces(config.http_connections_max, config.http_body_rate_min)
        self.answers = Answers(self.shares.outgoing)
        board.account.add("out", lambda: self.answers.bytes)
        board.account.add_share(self.answers.bytes_max, self.shares.answer, self.answers.let_hold)
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

    def still_welcome(self, who: Caller) -> bool:
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
            raise not_found(f"there is no queue {text_of(name)!r}", "PUT /v1/queues/{name} declares one")
        return queue

    def check_names(self, *names: bytes) -> None:
        """Raises Problem if a name is too long. Call it before a name is used."""
        size_max = self.hub.limits.name_size_max
        for name in names:
            if len(name) > size_max:
                raise too_large(f"name of {len(name)} bytes: name_size_max is {size_max}")

    def check_room(self) -> None:
        """Raises Problem while memory is short or the disk is behind: HTTP publishers wait by retrying."""
        if self.board.must_wait(self.caller.holder):
            raise over_limit(
                "queues hold memory_bytes_max, or the disk is behind: nothing is taken in before that is better",
                "try again in a second",
            )

    async def kept(self) -> None:
        """Wait until everything accepted so far is as durable as this broker promises."""
        self.broker.context.congested = None  # an HTTP publisher is not slowed down by pausing reads
        self.board.plan_flush()
        if self.storage is not None:
            await self.storage.when_durable(self.broker.log.position)
