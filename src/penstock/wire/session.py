"""The interface all protocols share: a session is fed bytes and leaves bytes in its outbox. It knows no socket.

    feed(data, now) ──► requests ──► verbs of the broker
                                            │ deliver
    drain() ◄── outbox ◄────────────────────┘

The owner of the socket feeds what it reads. At the end of each event loop iteration it writes the outboxes of the
`Hub.dirty` sessions, one write each.
"""

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.auth.authorizer import Authorizer
from penstock.auth.directory import Directory, Identity
from penstock.auth.throttle import address_of
from penstock.auth.tokens import redacted
from penstock.auth.user import User
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.places import GREED_OF_ONE, Places
from penstock.core.subscription import Subscription
from penstock.errors import DENIED, Refused
from penstock.log.interface import Confirmation
from penstock.message import Message
from penstock.report import Report
from penstock.wire.allowance import Allowance
from penstock.wire.ids import DENIED_ID, ERROR_ID_LENGTH, IdSource, random_id
from penstock.wire.preauth import PreAuth, PreAuthRequest, become
from penstock.wire.refusals import TEXT_SIZE_MAX, Refusals

# Whether the first bytes of a connection match a protocol.
NO: Final = 0
MAYBE: Final = 1  # more bytes are needed
YES: Final = 2

# A larger outbox is not reused after a drain: ten thousand clients have one each.
OUTBOX_KEPT_MAX: Final = 1 << 16

LEFT_AT_ONCE: Final = 500  # consumers cancelled in one slice after their connection closed
LOOKS_PER_WORK: Final = 50  # checking a consumer costs a fraction of one unit of work

# The slice size when none is configured: a session does all its work at once.
NO_SLICES: Final = 1 << 60

ERROR_WORK: Final = 4  # an error has an id and a reason, and may be logged
EVALUATION_WORK: Final = 10_000  # of any `_eval`: more than a slice, so that other sessions run first


class ProtocolOptions:
    """Each option restores the behaviour of a protocol's original program in place of our default."""

    def __init__(
        self,
        smqs_lose_undone: bool = False,
        sevx_id_inside: bool = False,
        rq_broadcast_as_request: bool = False,
    ) -> None:
        self.smqs_lose_undone = smqs_lose_undone  # drop a lost consumer's un-acked messages, as the original does
        self.sevx_id_inside = sevx_id_inside  # deliveries carry the id inside the JSON, as in version 0.1.1 of the spec
        self.rq_broadcast_as_request = rq_broadcast_as_request  # stock librq consumers crash on a BROADCAST


class Hub:
    """State shared by all sessions of one node."""

    def __init__(
        self, broker: Broker, report: Report, options: ProtocolOptions | None = None, id_prefix: bytes = b""
    ) -> None:
        self.broker = broker
        self.options = options or ProtocolOptions()
        self.limits: Limits = broker.limits
        self.report = report
        self.ids = IdSource(id_prefix or random_id(10) + b".")
        self.sessions: dict[Session, None] = {}
        self.dirty: list[Session] = []  # sessions with something to write
        self.access: Directory | None = None  # None: no access control
        self.unrestricted = self.authorizer_of(None)
        self.slice_work: i64 = NO_SLICES  # how much work a session does before it yields to others
        self.unfinished: list[Session] = []  # `busy` sessions that wait for their next slice
        self.awake: list[Session] = []  # sessions whose `wake` is called after the broker's current operation
        self.broken: list[tuple[Session, Exception]] = []  # sessions whose code raised: to be ended
        self.connections_max = 0  # 0: no limit
        self.consumers = Places(self.limits.consumers_max)  # named consumers
        self.evaluations = Allowance()

    def authorizer_of(self, user: User | None) -> Authorizer:
        return Authorizer(user, self.broker.queues, self.limits.name_size_max)

    def has_place(self, user: User) -> bool:
        """Whether a user may open one more connection and still leave some for others."""
        if self.connections_max == 0:
            return True
        # The requesting connection is already counted.
        free = self.connections_max - len(self.sessions) + 1
        return user.connections == 0 or user.connections < GREED_OF_ONE * free

    def run_awake(self, now: int) -> None:
        """Wake all sessions in `awake`, including those woken in the process."""
        while self.awake:
            self.run_awake_once(now)

    def run_awake_once(self, now: int) -> None:
        """Wake the sessions that are in `awake` now, but not those they wake in turn."""
        sessions = self.awake
        self.awake = []
        for session in sessions:
            if not session.over:
                try:
                    session.wake(now)
                except Exception as error:
                    session.broke(error)


class Answer(Confirmation):
    """A positive answer that waits until the change it confirms is durable."""

    def __init__(self, session: "Session", data: bytes) -> None:
        self.session = session
        self.data = data

    def confirm(self) -> None:
        try:
            self.session.release(self.data)
        except Exception as error:
            self.session.broke(error)


class Session:
    """One client, from its first byte until its connection closes."""

    protocol = ""

    def __init__(self, hub: Hub, peer: str) -> None:
        self.hub = hub
        self.broker = hub.broker
        self.peer = peer
        self.outbox = BytesWriter()
        self.outbox_max = hub.limits.outbox_bytes_max
        self.resumed = 0  # number of `resume` calls
        self.unconfirmed = 0  # confirmations that wait for the disk
        self.unconfirmed_size = 0  # in bytes
        self.waits_for_room = False  # it executes nothing while its answers are unread, so reading on is useless
        self.busy = False  # its slice ended before its input did, see `go_on`
        self.unfed: list[bytes] = []  # reads that wait until it is not busy, or until there is time for them
        self.closing = False  # flush the outbox, then close
        self.over = False  # the connection is closed
        self.successor: Session | None = None  # replaces this session on its connection
        self.now = 0  # when the current read arrived
        self.errors = 0  # requests that were refused
        self.unrouted = 0  # messages published with a confirmation that matched no queue
        self.refusals = Refusals()
        self.identity: Identity | None = None  # the authenticated user and how it authenticated; None for anonymous
        self.user: User | None = None
        self.owner = b""  # its user's name: message ids are scoped to a user
        self.holder = f"address {address_of(peer)}"  # who its usage is charged to: its address or, once known, its user
        self.publishable: dict[bytes, None] | None = None  # see `User.publishable`; None: no access control
        self.puttable: dict[bytes, None] | None = None
        self.authorizer = hub.unrestricted  # until it has a user
        self.preauth: PreAuth | None = None  # until it has authenticated
        hub.sessions[self] = None

    # -- called by the owner of the socket --------------------------------------------------------------------------

    def feed(self, data: bytes, now: int) -> None:
        """Process a read; answers and deliveries are written to outboxes. Raises nothing.

        When `hub.slice_work` is used up, it stops between two requests and is `busy`. While it is busy it is fed
        nothing; the owner of the socket calls `go_on` after other sessions had a slice.
        """
        if self.closing:
            return
        preauth = self.preauth
        if preauth is not None:
            preauth.feed(data, now)
            return
        self.now = now
        self.broker.set_time(now)
        self.receive(data)

    def receive(self, data: bytes) -> None:
        """Execute the requests of a read: what a protocol's `feed` does."""
        raise NotImplementedError

    def go_on(self, now: int) -> None:
        """Run the next slice of a busy session."""
        self.busy = False
        if not self.closing and self.preauth is None:
            self.now = now
            self.broker.set_time(now)
            self.run_on()

    def run_on(self) -> None:
        """Execute more of the input, as `receive` does."""

    def be_gone(self) -> None:
        """The client disconnected, but its earlier requests still have to run: stop all deliveries."""
        self.pause()
        self.suspend_all()

    def be_busy(self) -> None:
        """The slice is used up and input is left."""
        if not self.busy:
            self.busy = True
            self.hub.unfinished.append(self)

    def pending(self) -> int:
        """The number of buffered bytes: incomplete requests, or frames that are not executed yet."""
        return 0

    def unworked(self) -> int:
        """Roughly how many bytes were read and wait for a slice."""
        size = 0
        for read in self.unfed:
            size += len(read)
        return size

    def kept_out(self) -> int:
        """The number of bytes of answers that wait for room in the outbox."""
        return 0

    def drain(self) -> bytes:
        """Take everything there is to write now."""
        data = self.outbox.getvalue()
        if len(data) > OUTBOX_KEPT_MAX:
            self.outbox = BytesWriter()
        else:
            self.outbox.truncate(0)
        return data

    def pause(self) -> None:
        """The socket's write buffer is full: no deliveries until `resume`."""
        self.suspend_all()

    def resume(self) -> None:
        """Deliveries may continue. Start with a different consumer each time: the outbox may have room for only one."""
        if not self.closing:
            subscriptions = self.subscriptions()
            first = self.resumed % len(subscriptions) if subscriptions else 0
            self.resumed += 1
            for subscription in subscriptions[first:] + subscriptions[:first]:
                self.broker.resume(subscription)

    def has_room(self) -> bool:
        """Whether more can be written to the outbox."""
        return len(self.outbox) < self.outbox_max

    def leave_some(self, now: int) -> bool:
        """Cancel some of a closed connection's many consumers. True when few enough are left for `end`."""
        subscriptions = self.subscriptions()
        left = [subscription for subscription in subscriptions if subscription.queue is not None]
        for subscription in left[:LEFT_AT_ONCE]:
            self.broker.cancel(subscription, now)
        self.broker.context.work += len(subscriptions) // LOOKS_PER_WORK
        return len(left) <= LEFT_AT_ONCE

    def end(self, now: int) -> None:
        """The connection closed: cancel its consumers, whose un-acked messages are requeued."""
        self.over = True
        self.suspend_all()  # a message one of them requeues must not go to another that is about to end
        for subscription in self.subscriptions():
            self.broker.cancel(subscription, now)
        self.outbox = BytesWriter()
        self.unfed = []
        self.hub.sessions.pop(self, None)
        self.leave_user()
        if self.preauth is not None:
            self.preauth.leave()
        self.tell_ids()
        self.tell_counted()

    def owes(self) -> bool:
        """Whether a stopping broker should wait for something in progress, besides the outbox."""
        return False

    def goodbye(self, now: int) -> None:
        """The broker is shutting down: tell the client, if the protocol has a message for it."""

    def broke(self, error: Exception) -> None:
        """Session code raised this when the broker called it. The session ends with this iteration; others go on.

        Its consumers get nothing more, and what they hold is requeued in its old place.
        """
        self.hub.broken.append((self, error))
        self.suspend_all()

    def wake(self, now: int) -> None:
        """Continue deferred work; requested by appending the session to `hub.awake`."""

    # -- authentication: the protocols' part of it, see `preauth.py` ------------------------------------------------

    def parse_preauth(self, data: bytes, at: int) -> PreAuthRequest | None:
        """Decode the request of an unauthenticated client that starts at `at`; None while it is incomplete."""
        raise NotImplementedError

    def auth_ok(self, id: bytes) -> bytes:
        """The answer to a valid token."""
        return b""

    def auth_error(self, id: bytes, reason: str) -> bytes:
        """The answer to a client whose authentication failed, before the connection closes."""
        return b""

    def suspend(self) -> None:
        """Authentication failed: stop deliveries to the client; `resume` is not called any more."""
        self.suspend_all()

    def notify_revoked(self, reason: str) -> None:
        """Tell the client, if the protocol has an unambiguous way to."""

    # -- its user ---------------------------------------------------------------------------------------------------

    def enter(self, identity: Identity | None, now: int) -> None:
        """Start with the identity its connection provides; without one, the client has to authenticate first."""
        access = self.hub.access
        if identity is not None:
            become(self, identity)
        elif access is not None:
            self.preauth = PreAuth(self, access)
            self.preauth.start(now)

    def inherit(self, former: "Session") -> None:
        """Replace the session that handled the connection before its protocol was known."""
        if former.preauth is not None:
            former.preauth.move_to(self)
        if former.identity is not None:
            self.adopt(former.identity)
            former.user = None  # the connection is counted once

    def adopt(self, identity: Identity) -> None:
        """Everything it does from now on is done as this user."""
        self.identity = identity
        self.user = identity.user
        self.owner = identity.user.name.encode()
        self.holder = f"user {identity.user.name!r}"
        self.authorizer = self.hub.authorizer_of(identity.user)
        self.publishable = identity.user.publishable
        self.puttable = identity.user.puttable

    def leave_user(self) -> None:
        """Stop counting as one of its user's connections."""
        user = self.user
        if user is not None:
            self.user = None
            user.disconnect()
            self.share(user)

    def may_stay(self, now: int) -> bool:
        """Whether the client's credentials are still valid, or it has yet to authenticate."""
        access = self.hub.access
        if access is None:
            return True
        if self.identity is None:
            return self.preauth is not None
        return access.still_holds(self.identity, now)  # also if its next token was wrong and the refusal is delayed

    def revoke(self, now: int) -> None:
        """The client's credentials were revoked: close. It may reconnect with others."""
        if not self.closing:
            self.now = now
            details: dict[str, object] = {"peer": self.peer, "protocol": self.protocol}
            if self.user is not None:
                details["user"] = self.user.name
            self.hub.report("info", "audit.shown_out", details)
            self.notify_revoked("what it came in by was taken away")
            self.tell_ids()
            self.hang_up()

    # -- un-acked messages ------------------------------------------------------------------------------------------

    def sharing(self) -> list[Subscription]:
        """The consumers that share their user's un-acked quota."""
        return [subscription for subscription in self.subscriptions() if subscription.manual]

    def allow(self, credit: int) -> None:
        """Let each of those have up to `credit` messages un-acked."""
        for subscription in self.sharing():
            self.broker.allow(subscription, credit)

    def check_consumer(self, queue: bytes) -> None:
        """Check a lasting consumer: unlike one that takes a single message, it needs a share of the quota."""
        self.authorizer.check_consume(queue)
        user = self.user
        if user is not None and user.quotas.unacked:
            self.authorizer.check_unacked(self._sharing_count(user))

    def first_share(self) -> int:
        """The un-acked limit of a consumer that is about to start; 0 for the broker's own limit."""
        user = self.user
        if user is None or user.quotas.unacked == 0:
            return 0
        return max(1, user.quotas.unacked // (self._sharing_count(user) + 1))

    def share(self, user: User | None = None) -> None:
        """Redistribute the user's un-acked quota after a consumer started or ended."""
        user = user or self.user
        if user is not None and user.quotas.unacked:
            self.share_out(user)

    def share_out(self, user: User) -> None:
        """The same, also without a quota, since it may have been removed."""
        count = self._sharing_count(user)
        credit = self.hub.limits.unacked_max
        if user.quotas.unacked and count:
            credit = min(max(1, user.quotas.unacked // count), credit)
        for session in list(self.hub.sessions):
            if session.user is user:
                session.allow(credit)

    def _sharing_count(self, user: User) -> int:
        return sum([len(session.sharing()) for session in self.hub.sessions if session.user is user])

    @property
    def outbox_size(self) -> int:
        """Bytes in the outbox."""
        return len(self.outbox)

    # -- for the protocols ------------------------------------------------------------------------------------------

    def subscriptions(self) -> list[Subscription]:
        """The consumers of this client."""
        return []

    def suspend_all(self) -> None:
        """Suspend deliveries to all consumers."""
        for subscription in self.subscriptions():
            self.broker.suspend(subscription)

    def send(self, data: bytes) -> None:
        """Answer now."""
        self.write(data)

    def write(self, data: bytes) -> None:
        if len(self.outbox) == 0:
            self.hub.dirty.append(self)
        self.outbox.write(data)

    def release(self, answer: bytes) -> None:
        """Send a confirmation whose request is safe now."""
        self.unconfirmed -= 1
        self.unconfirmed_size -= len(answer)
        if not self.over:
            self.write(answer)

    def confirm(self, answer: bytes) -> None:
        """Answer once everything accepted in this iteration is as safe as the broker promises. All confirmations go
        through here.

        If the request may cause a delivery to this same connection, call this before executing it, so that the answer
        goes first.
        """
        if self.broker.log.is_instant:
            self.send(answer)
        else:
            self.unconfirmed += 1
            self.unconfirmed_size += len(answer)
            self.broker.log.confirmations.append(Answer(self, answer))

    def publish_confirmed(self, message: Message, id: bytes, ok: bytes) -> None:
        """Publish, and confirm with `id` and `ok` before the message is delivered to a consumer of this connection."""
        broker = self.broker
        before = broker.unrouted
        if not broker.log.is_instant:
            broker.publish(message)
            self.unrouted += broker.unrouted - before
            self.confirm(id + ok)
            return
        outbox = self.outbox
        mark = len(outbox)
        if mark == 0:
            self.hub.dirty.append(self)
        outbox.write(id)
        outbox.write(ok)
        try:
            broker.publish(message)
        except Refused:
            written = outbox.getvalue()
            outbox.truncate(mark)
            outbox.write(written[mark + len(id) + len(ok) :])
            raise
        self.unrouted += broker.unrouted - before

    def fail(self, reason: str, request: bytes, denied: bool = False) -> bytes:
        """Log what went wrong under a new error id, and return that id for the client.

        The caller makes sure that `tell_ids` is called at the end of the read. The id shows whether a permission is
        missing, since retrying does not help then.
        """
        error_id = DENIED_ID + random_id(ERROR_ID_LENGTH - len(DENIED_ID)) if denied else random_id(ERROR_ID_LENGTH)
        if self._is_in_full():
            self._tell_in_full(error_id, reason, request)
        elif self.refusals.add_id(told(reason), error_id.decode()):
            self.tell_ids()
        return error_id

    def complain(self, reason: str, request: bytes) -> None:
        """Log what went wrong, where the protocol cannot give the client an error id."""
        if self._is_in_full():
            self._tell_in_full(random_id(ERROR_ID_LENGTH), reason, request)
        else:
            self.refusals.counted += 1

    def tell_ids(self) -> None:
        """Log the error ids given to the client that were not logged in full."""
        if self.refusals.ids:
            self._tell_more({"error_ids": self.refusals.take_ids()})

    def tell_counted(self) -> None:
        """Log the number of refusals that were only counted."""
        if self.refusals.counted:
            self._tell_more({"count": self.refusals.take_counted()})

    def _is_in_full(self) -> bool:
        self.errors += 1
        self.broker.context.work += ERROR_WORK
        refusals = self.refusals
        if refusals.enter(self.now):
            self.tell_counted()
        return refusals.may_tell_in_full()

    def _tell_in_full(self, error_id: bytes, reason: str, request: bytes) -> None:
        details: dict[str, object] = {
            "error_id": error_id.decode(),
            "reason": told(reason),
            "protocol": self.protocol,
            "peer": self.peer,
            "request": redacted(request[:TEXT_SIZE_MAX]).decode("utf-8", "backslashreplace"),
        }
        self.hub.report("warning", "request.refused", details)

    def _tell_more(self, details: dict[str, object]) -> None:
        details["protocol"] = self.protocol
        details["peer"] = self.peer
        self.hub.report("warning", "requests.refused", details)

    def hang_up(self) -> None:
        """Close once the outbox is written. Later deliveries would be lost, so consumers are suspended."""
        if not self.closing:
            self.closing = True
            self.suspend_all()
            if len(self.outbox) == 0:
                self.hub.dirty.append(self)


def told(reason: str) -> str:
    """A reason as it is logged. It may contain names chosen by clients, so tokens are redacted."""
    reason = reason[:TEXT_SIZE_MAX]
    if "pst_" not in reason:
        return reason
    return redacted(reason.encode("utf-8", "backslashreplace")).decode("utf-8", "backslashreplace")


def is_denied(error: Exception) -> bool:
    return isinstance(error, Refused) and error.code == DENIED


class Dialect:
    """One protocol: opens sessions and holds their shared state."""

    name = ""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.default_user = ""  # the user of clients that present no credentials to its listener

    def open(self, peer: str, now: int) -> Session:
        """Open a session for a new connection."""
        raise NotImplementedError

    def recognise(self, head: bytes) -> int:
        """Whether a connection that starts with `head` speaks this protocol: NO, MAYBE (wait for more) or YES.

        Never YES for bytes that could also start another protocol.
        """
        raise NotImplementedError

    def recognise_at_rest(self, head: bytes) -> bool:
        """Whether a client that sent just `head` and now waits speaks this protocol: commands may need no line end."""
        return False

    def full(self) -> bytes:
        """What to send to a client over the connection limit, before closing."""
        return b""
