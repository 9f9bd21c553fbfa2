"""The shape all protocols share: a session is fed bytes and leaves bytes in its outbox. It knows no socket.

    feed(data, now) ──► requests ──► verbs of the broker
                                            │ deliver
    drain() ◄── outbox ◄────────────────────┘

Whoever owns the socket feeds what it reads, and after each turn of its loop writes what `Hub.dirty` sessions have to
say, one write each.
"""

from collections.abc import Callable
from typing import Final

import orjson
from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.access.directory import Directory, Identity
from penstock.access.lobby import address_of
from penstock.access.rights import ADMIN, BROWSE, CONSUME, DECLARE, DELETE, EVENT, PUBLISH, QUEUE
from penstock.access.tokens import id_of, redacted
from penstock.access.user import User
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.patterns import event_claimed_by, may_claim_event
from penstock.core.places import GREED_OF_ONE, Places
from penstock.core.queue import Queue
from penstock.core.subscription import Subscription
from penstock.errors import DENIED, Error, Refused
from penstock.message import Message
from penstock.wire.expression import Allowance
from penstock.wire.gate import LEAVES, PINGS, SHOWS, Gate, Greeting
from penstock.wire.ids import DENIED_ID, ERROR_ID_LENGTH, IdSource, random_id
from penstock.wire.refusals import TEXT_SIZE_MAX, Refusals

# Whether the first bytes of a connection are this protocol's.
NO: Final = 0
MAYBE: Final = 1  # too early to say
YES: Final = 2

# An outbox that has grown beyond this is not kept for the next turn: ten thousand clients have one each.
OUTBOX_KEPT_MAX: Final = 1 << 16

LEFT_AT_ONCE: Final = 500  # consumers that end in one slice, when their connection is gone
LOOKS_PER_WORK: Final = 50  # to look at a consumer is a small part of a piece of work

# What a session does at once where nobody says how much: all there is.
NO_SLICES: Final = 1 << 60

ERROR_WORK: Final = 4  # an error has an id and a reason, and may have a line in the log
EVALUATION_WORK: Final = 10_000  # of an `_eval`, whatever it is: more than a slice, so that others go first

# (level, event name, details): how a session tells people about something, without knowing where logs go.
Report = Callable[[str, str, dict[str, object]], None]


class Options:
    """Switches between a protocol's better behaviour, which is the default, and what its original program does."""

    def __init__(
        self,
        smqs_lose_undone: bool = False,
        sevx_id_inside: bool = False,
        rq_broadcast_as_request: bool = False,
    ) -> None:
        self.smqs_lose_undone = smqs_lose_undone  # a lost consumer's undone messages are gone, as in the original
        self.sevx_id_inside = (
            sevx_id_inside  # deliveries carry the id inside the JSON, as version 0.1.1 of its text says
        )
        self.rq_broadcast_as_request = rq_broadcast_as_request  # stock librq consumers die of a BROADCAST


class Hub:
    """What the sessions of one node share."""

    def __init__(self, broker: Broker, report: Report, options: Options | None = None, id_prefix: bytes = b"") -> None:
        self.broker = broker
        self.options = options or Options()
        self.limits: Limits = broker.limits
        self.report = report
        self.ids = IdSource(id_prefix or random_id(10) + b".")
        self.sessions: dict[Session, None] = {}
        self.dirty: list[Session] = []  # have something to write
        self.receipts: list[Receipt] = []  # confirmations of this turn, for when it is safe
        self.access: Directory | None = None  # None: everybody may do everything
        self.slice_work: i64 = NO_SLICES  # how much of what it was fed a session does before others have their turn
        self.unfinished: list[Session] = []  # are `busy`, and wait for their next slice
        self.awake: list[Session] = []  # asked to go on once the broker is done with what it does now
        self.broken: list[tuple[Session, Exception]] = []  # could not take what they were given: to be ended
        self.connections_max = 0  # 0: as many as there are
        self.consumers = Places(self.limits.consumers_max)  # that have a name
        self.evaluations = Allowance()

    def has_place(self, user: User) -> bool:
        """Whether a user may have one more connection, as far as there have to be some for others."""
        if self.connections_max == 0:
            return True
        # The connection that asks is there already.
        free = self.connections_max - len(self.sessions) + 1
        return user.connections == 0 or user.connections < GREED_OF_ONE * free

    def run_awake(self, now: int) -> None:
        """Let sessions go on that were given something they waited for."""
        while self.awake:
            self.run_awake_once(now)

    def run_awake_once(self, now: int) -> None:
        """The same for those that are awake by now, and not for those they wake in turn."""
        sessions = self.awake
        self.awake = []
        for session in sessions:
            if not session.over:
                try:
                    session.wake(now)
                except Exception as error:
                    session.broke(error)


class TurnedAway(Error):
    """The client showed a wrong token among other requests: what is behind it is not done."""


class Receipt:
    """A confirmation that waits until what it confirms is safe."""

    def __init__(self, session: "Session", answer: bytes) -> None:
        self.session = session
        self.answer = answer


class Session:
    """One client, from its first byte to goodbye."""

    protocol = ""

    def __init__(self, hub: Hub, peer: str) -> None:
        self.hub = hub
        self.broker = hub.broker
        self.peer = peer
        self.outbox = BytesWriter()
        self.outbox_max = hub.limits.outbox_bytes_max
        self.resumed = 0  # how often
        self.unconfirmed = 0  # confirmations that wait for the disk
        self.unconfirmed_size = 0  # bytes of them
        self.waits_for_room = False  # executes nothing while its answers are not read, so there is no use in reading on
        self.busy = False  # its slice was not enough for all that it was fed, see `go_on`
        self.unfed: list[bytes] = []  # reads that wait until it is not, or until there is time for them
        self.closing = False  # write what is there, then close
        self.over = False  # the connection is gone
        self.successor: Session | None = None  # takes this one's place at its connection
        self.now = 0  # when the present read came in
        self.errors = 0  # requests that were refused
        self.unrouted = 0  # messages it published with a confirmation that no queue took
        self.refusals = Refusals()
        self.identity: Identity | None = None  # as whom it came in, and by what; None for nobody in particular
        self.user: User | None = None
        self.owner = b""  # its user's name: message ids are a user's own
        self.holder = f"address {address_of(peer)}"  # who pays for what it takes: its address or, once known, its user
        self.publishable: dict[bytes, None] | None = None  # its user's, see there; None: it may do everything
        self.puttable: dict[bytes, None] | None = None
        self.gate: Gate | None = None  # while it has not said who it is
        hub.sessions[self] = None

    # -- what the owner of the socket calls -------------------------------------------------------------------------

    def feed(self, data: bytes, now: int) -> None:
        """Take what was read; answers and deliveries land in outboxes. Raises nothing.

        It stops between two requests when `hub.slice_work` is used up, and is `busy` then. Until it is not, nothing
        more is fed to it, and whoever owns the socket calls `go_on`, after others had their turn.
        """
        raise NotImplementedError

    def go_on(self, now: int) -> None:
        """The next slice of what was fed to a session that is busy."""
        self.busy = False
        if not self.closing and self.gate is None:
            self.now = now
            self.broker.set_time(now)
            self.run_on()

    def run_on(self) -> None:
        """Carry out more of what was fed, as `feed` does."""

    def be_gone(self) -> None:
        """The client is gone, and what it sent before is still to be done: it is given nothing any more."""
        self.pause()
        self.suspend_all()

    def be_busy(self) -> None:
        """The slice is used up, and there is more to do."""
        if not self.busy:
            self.busy = True
            self.hub.unfinished.append(self)

    def pending(self) -> int:
        """How many bytes of requests are kept that are not whole, or of frames that wait for their turn."""
        return 0

    def unworked(self) -> int:
        """How many bytes were read, and wait for their slice, about."""
        size = 0
        for read in self.unfed:
            size += len(read)
        return size

    def kept_out(self) -> int:
        """How many bytes of answers wait for room in the outbox."""
        return 0

    def drain(self) -> bytes:
        """Everything there is to write now."""
        data = self.outbox.getvalue()
        if len(data) > OUTBOX_KEPT_MAX:
            self.outbox = BytesWriter()
        else:
            self.outbox.truncate(0)
        return data

    def pause(self) -> None:
        """The socket takes no more: no deliveries until `resume`."""
        self.suspend_all()

    def resume(self) -> None:
        """Each time another consumer is the first: the outbox may have room for one of them alone."""
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
        """The connection is gone, and it has many consumers: some of them end. True when few are left for `end`."""
        subscriptions = self.subscriptions()
        left = [subscription for subscription in subscriptions if subscription.queue is not None]
        for subscription in left[:LEFT_AT_ONCE]:
            self.broker.cancel(subscription, now)
        self.broker.usage.work += len(subscriptions) // LOOKS_PER_WORK
        return len(left) <= LEFT_AT_ONCE

    def end(self, now: int) -> None:
        """The connection is gone: its consumers end, what they held goes back."""
        self.over = True
        self.suspend_all()  # what one of them gives back is not for another that goes as well
        for subscription in self.subscriptions():
            self.broker.cancel(subscription, now)
        self.outbox = BytesWriter()
        self.unfed = []
        self.hub.sessions.pop(self, None)
        self.leave_user()
        if self.gate is not None:
            self.gate.leave()
        self.tell_ids()
        self.tell_counted()

    def owes(self) -> bool:
        """Whether something is under way that a stopping broker should wait for, besides what is in the outbox."""
        return False

    def goodbye(self, now: int) -> None:
        """The broker is shutting down: say what the protocol has to say about it."""

    def broke(self, error: Exception) -> None:
        """Code of the session raised this while the broker spoke to it. It ends with this turn; nobody else notices.

        None of its consumers is given anything more: what they hold goes back to its place.
        """
        self.hub.broken.append((self, error))
        self.suspend_all()

    def wake(self, now: int) -> None:
        """Go on with what waited; asked for by putting the session into `hub.awake`."""

    # -- who it is --------------------------------------------------------------------------------------------------

    def enter(self, identity: Identity | None, now: int) -> None:
        """The client is known by what its connection shows, or has to say who it is first."""
        access = self.hub.access
        if identity is not None:
            self._become(identity)
        elif access is not None:
            self.gate = Gate(self, access)
            self.broker.deadlines.set(self.gate, now + access.auth_time)

    def inherit(self, former: "Session") -> None:
        """Take the place of a session that was there before the protocol was known."""
        gate = former.gate
        if gate is not None:
            gate.session = gate.owner = self
            self.gate = gate
        if former.identity is not None:
            self._adopt(former.identity)
            former.user = None  # who is counted once

    def knock(self, data: bytes, now: int) -> None:
        """What `feed` does while the client has not said who it is."""
        gate = self.gate
        if gate is None or gate.failing:
            return
        self.now = now
        data = gate.held + data
        at = 0
        while at < len(data):
            greeting = self.greet(data, at)
            size = gate.spent + (len(data) if greeting is None else greeting.end)
            if size > gate.access.unauthenticated_bytes_max:
                limit = f"unauthenticated_bytes_max is {gate.access.unauthenticated_bytes_max}"
                self.turn_away(b"", f"sent {size} bytes before it said who it is: {limit}", b"")
                return
            if greeting is None:
                break
            at = greeting.end
            if greeting.kind == SHOWS:
                self.present(greeting.id, greeting.data)
                if self.gate is None and at < len(data) and not self.closing:
                    self.feed(data[at:], now)
                return
            if greeting.kind == PINGS:
                self.write(greeting.data)
            elif greeting.kind == LEAVES:
                self.hang_up()
                return
            else:
                self.turn_away(greeting.id, "asked for something before it said who it is", b"")
                return
        gate.spent += at
        gate.held = data[at:]

    def greet(self, data: bytes, at: int) -> Greeting | None:
        """The request of an unknown client that begins there; None while it is not there as a whole."""
        raise NotImplementedError

    def welcome(self, id: bytes) -> bytes:
        """What a client is told whose token was right."""
        return b""

    def rebuff(self, id: bytes, reason: str) -> bytes:
        """What a client is told that is not let in, before the connection closes."""
        return b""

    def present(self, id: bytes, token: bytes) -> None:
        """The client shows a token. Where nobody has to, anything is as good."""
        access = self.hub.access
        if access is not None:
            identity = access.authenticate(token, self.now)
            if identity is None:
                why = f": {access.why}" if access.why else ""
                self.turn_away(id, f"the token is not known, or not any longer{why}", token)
                return
            if identity.user is not self.user and self.user is not None and self.subscriptions():
                # They were given to the former user, and would stay when its rights are taken away.
                reason = f"has consumers as user {self.user.name!r}: it cannot become another one"
                self.turn_away(id, reason, token, True)
                return
            if identity.user is not self.user and not identity.user.has_room():
                quota = identity.user.quotas.connections
                reason = f"user {identity.user.name!r} has reached its quota: connections is {quota}"
                self.turn_away(id, reason, token, True)
                return
            if identity.user is not self.user and not self.hub.has_place(identity.user):
                limit = f"connections_max is {self.hub.connections_max}, and the last ones are kept for others"
                reason = f"user {identity.user.name!r} has {identity.user.connections} connections: {limit}"
                self.turn_away(id, reason, token, True)
                return
            self._become(identity)
        self.send(self.welcome(id))

    def present_among_others(self, id: bytes, token: bytes) -> None:
        """The same for a client that is known already. Raises TurnedAway when the token is wrong."""
        self.present(id, token)
        if self.gate is not None:
            raise TurnedAway

    def turn_away(self, id: bytes, reason: str, token: bytes, at_once: bool = False) -> None:
        """Refuse the client for good, after a while that grows with what its address did before."""
        access = self.hub.access
        if access is None or self.closing:
            return
        self.hold_back()
        gate = self.gate
        if gate is None:
            gate = self.gate = Gate(self, access)
        details: dict[str, object] = {"peer": self.peer, "protocol": self.protocol, "reason": reason}
        if token:
            details["token"] = id_of(token) or "of another shape"
        self.hub.report("warning", "audit.auth_failed", details)
        gate.failing = True
        access.lobby.put_first(gate.address, gate)
        gate.held = b""
        gate.refusal = self.rebuff(id, reason)
        self.tell_ids()
        if at_once:
            gate.fire(self.now)
        else:
            self.broker.deadlines.set(gate, self.now + access.lobby.failed(gate.address, self.now))

    def hold_back(self) -> None:
        """Give the client nothing more; nobody calls `resume` from here on."""
        self.suspend_all()

    def _become(self, identity: Identity) -> None:
        former = self.user
        if identity.user is not former:
            self.leave_user()
            identity.user.connect()
        self._adopt(identity)
        gate = self.gate
        if gate is not None:
            self.gate = None
            gate.leave()
        details: dict[str, object] = {
            "user": identity.user.name,
            "by": identity.how,
            "which": identity.which,
            "peer": self.peer,
            "protocol": self.protocol,
        }
        self.hub.report("info", "audit.auth", details)

    def _adopt(self, identity: Identity) -> None:
        self.identity = identity
        self.user = identity.user
        self.owner = identity.user.name.encode()
        self.holder = f"user {identity.user.name!r}"
        self.publishable = identity.user.publishable
        self.puttable = identity.user.puttable

    def leave_user(self) -> None:
        """Count no longer as one of its user's connections."""
        user = self.user
        if user is not None:
            self.user = None
            user.disconnect()
            self.share(user)

    def may_stay(self, now: int) -> bool:
        """Whether what the client came in by still holds, or it is still to come in."""
        access = self.hub.access
        if access is None:
            return True
        if self.identity is None:
            return self.gate is not None
        return access.still_holds(self.identity, now)  # also of one that waits to be told that its next token is wrong

    def show_out(self, now: int) -> None:
        """What the client came in by was taken away: it may come again by something else."""
        if not self.closing:
            self.now = now
            details: dict[str, object] = {"peer": self.peer, "protocol": self.protocol}
            if self.user is not None:
                details["user"] = self.user.name
            self.hub.report("info", "audit.shown_out", details)
            self.say_out("what it came in by was taken away")
            self.tell_ids()
            self.hang_up()

    def say_out(self, reason: str) -> None:
        """Tell the client, where the protocol has a way that cannot be taken for something else."""

    # -- what it may do ---------------------------------------------------------------------------------------------
    #
    # Each raises Refused. None of them is called for a session that may do everything.

    def check_publish(self, event: bytes) -> None:
        """An event that is not in `publishable`."""
        user = self.user
        if user is None:
            raise nobody()
        user.check_publish(event)

    def check_claim(self, event: bytes, body: bytes) -> None:
        """A message that patterns look at: its body may say that it is another event."""
        user = self.user
        if user is None:
            raise nobody()
        check_claim(user, event, body, self.hub.limits.name_size_max)

    def check_put(self, queue: bytes) -> None:
        """A queue that is not in `puttable`."""
        user = self.user
        if user is None:
            raise nobody()
        is_new = self.broker.would_make(queue)
        user.check_put(queue, is_new)
        if is_new:
            user.count_made(queue, self.broker.queues)

    def check_consume(self, queue: bytes) -> None:
        user = self.user
        if user is None:
            raise nobody()
        user.check(CONSUME, QUEUE, queue)
        self._check_made(user, queue)

    def check_consumer(self, queue: bytes) -> None:
        """The same for a consumer that stays, and needs its share of what its user may have un-acked."""
        self.check_consume(queue)
        user = self.user
        if user is not None and user.quotas.unacked and self._sharing_count(user) >= user.quotas.unacked:
            raise user.over_quota("unacked", user.quotas.unacked)

    def check_events(self, events: tuple[bytes, ...]) -> None:
        """Events that a queue is to be bound to."""
        user = self.user
        if user is None:
            raise nobody()
        for event in events:
            user.check(CONSUME, EVENT, event)

    def check_all_events(self) -> None:
        """A pattern that any event may match."""
        user = self.user
        if user is None:
            raise nobody()
        user.check_all(CONSUME, EVENT)

    def check_rebind(self, queue: bytes, events: tuple[bytes, ...], patterns: tuple[bytes, ...] = ()) -> None:
        """A queue that is there may lose bindings by this."""
        found = self.broker.queues.get(queue)
        user = self.user
        if user is None:
            raise nobody()
        if found is not None:
            check_rebind(user, found, events, patterns)

    def check_expiry(self, queue: bytes, after: int) -> None:
        """To let a queue go when it is unused is to delete it: whoever has not made it needs the right to."""
        found = self.broker.queues.get(queue)
        user = self.user
        if user is None:
            raise nobody()
        if found is not None and found.expires_after != after:
            user.check(DELETE, QUEUE, queue)

    def check_delete(self, queue: bytes) -> None:
        user = self.user
        if user is None:
            raise nobody()
        user.check(DELETE, QUEUE, queue)

    def check_redrive(self, queue: bytes) -> None:
        """Take from a queue what died elsewhere."""
        user = self.user
        if user is None:
            raise nobody()
        user.check(CONSUME, QUEUE, queue)

    def check_targets(self, queues: list[bytes]) -> None:
        """Put it into those where the messages were before, or into another."""
        user = self.user
        if user is None:
            raise nobody()
        for queue in queues:
            user.check(PUBLISH, QUEUE, queue)
            self._check_made(user, queue)

    def may_put(self, queue: bytes) -> bool:
        user = self.user
        if user is None or not user.may(PUBLISH, QUEUE, queue):
            return False
        return queue in self.broker.queues or user.may(DECLARE, QUEUE, queue)

    def check_get(self, queue: bytes) -> None:
        """A queue that is not in its user's `gettable`: one message is taken from it, which may make it."""
        self.check_consume(queue)
        user = self.user
        if user is not None and user.quotas.queues == 0 and user.may(DECLARE, QUEUE, queue):
            user.remember_get(queue)

    def check_admin(self) -> None:
        user = self.user
        if user is None:
            raise nobody()
        user.check_has(ADMIN)

    def may_see(self, queue: bytes) -> bool:
        """Whether a queue is shown in answers that list queues."""
        if self.puttable is None:
            return True
        user = self.user
        return user is not None and user.may(BROWSE, QUEUE, queue)

    def _check_made(self, user: User, queue: bytes) -> None:
        """A queue that comes to be by this needs the right to declare it."""
        if queue not in self.broker.queues:
            user.check(DECLARE, QUEUE, queue)
            user.count_made(queue, self.broker.queues)

    # -- un-acked messages ------------------------------------------------------------------------------------------

    def sharing(self) -> list[Subscription]:
        """The consumers that share what their user may have un-acked."""
        return [subscription for subscription in self.subscriptions() if subscription.manual]

    def allow(self, credit: int) -> None:
        """Let each of those have so many messages un-acked."""
        for subscription in self.sharing():
            self.broker.allow(subscription, credit)

    def first_share(self) -> int:
        """What a consumer may have un-acked that is about to come; 0 for as much as the broker lets it."""
        user = self.user
        if user is None or user.quotas.unacked == 0:
            return 0
        return max(1, user.quotas.unacked // (self._sharing_count(user) + 1))

    def share(self, user: User | None = None) -> None:
        """Share out anew what the user may have un-acked: a consumer has come or gone."""
        user = user or self.user
        if user is not None and user.quotas.unacked:
            self.share_out(user)

    def share_out(self, user: User) -> None:
        """The same, also where there is no quota, since it may have been taken away."""
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

    # -- what protocols build on ------------------------------------------------------------------------------------

    def subscriptions(self) -> list[Subscription]:
        """The consumers of this client."""
        return []

    def suspend_all(self) -> None:
        """Give none of the consumers anything for now."""
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
        """What was to be confirmed is safe."""
        self.unconfirmed -= 1
        self.unconfirmed_size -= len(answer)
        if not self.over:
            self.write(answer)

    def confirm(self, answer: bytes) -> None:
        """Answer once all that is accepted in this turn is as safe as this broker promises: the one road of every
        confirm.

        Called before the request is carried out, where a consumer of this very connection may be given something by it:
        the answer goes first then.
        """
        if self.broker.log.is_instant:
            self.send(answer)
        else:
            self.unconfirmed += 1
            self.unconfirmed_size += len(answer)
            self.hub.receipts.append(Receipt(self, answer))

    def publish_confirmed(self, message: Message, id: bytes, ok: bytes) -> None:
        """Publish, and confirm with `id` and `ok` before a consumer of this very connection is given the message."""
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
        """Log what went wrong under a new error id, and give that id, for the client to be told.

        Whoever calls this sees to it that `tell_ids` is called at the end of the read. The id says whether a right is
        missing, which is for the client's user to know: nothing it tries again will change that.
        """
        error_id = DENIED_ID + random_id(ERROR_ID_LENGTH - len(DENIED_ID)) if denied else random_id(ERROR_ID_LENGTH)
        if self._is_in_full():
            self._tell_in_full(error_id, reason, request)
        elif self.refusals.add_id(told(reason), error_id.decode()):
            self.tell_ids()
        return error_id

    def complain(self, reason: str, request: bytes) -> None:
        """Log what went wrong, where the protocol has no way to tell the client an id."""
        if self._is_in_full():
            self._tell_in_full(random_id(ERROR_ID_LENGTH), reason, request)
        else:
            self.refusals.counted += 1

    def tell_ids(self) -> None:
        """Log the error ids that clients were given and that were not told in full."""
        if self.refusals.ids:
            self._tell_more({"error_ids": self.refusals.take_ids()})

    def tell_counted(self) -> None:
        """Log how many were refused without a word about each."""
        if self.refusals.counted:
            self._tell_more({"count": self.refusals.take_counted()})

    def _is_in_full(self) -> bool:
        self.errors += 1
        self.broker.usage.work += ERROR_WORK
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
        """Close once what is in the outbox is written. What came after that would be lost, so nothing does."""
        if not self.closing:
            self.closing = True
            self.suspend_all()
            if len(self.outbox) == 0:
                self.hub.dirty.append(self)


def told(reason: str) -> str:
    """A reason as it is logged: names that clients made up are in it, and may be tokens."""
    reason = reason[:TEXT_SIZE_MAX]
    if "pst_" not in reason:
        return reason
    return redacted(reason.encode("utf-8", "backslashreplace")).decode("utf-8", "backslashreplace")


def is_denied(error: Exception) -> bool:
    return isinstance(error, Refused) and error.code == DENIED


def check_claim(user: User, event: bytes, body: bytes, name_size_max: int) -> None:
    """Raises Refused when patterns would take a message for an event that its user may not publish."""
    if not may_claim_event(body) or user.may_all(PUBLISH, EVENT):
        return
    claimed = event_claimed_by(body)
    if claimed is not None and claimed != event:
        check_claimed(user, claimed, name_size_max)


def check_claimed(user: User, event: bytes, name_size_max: int) -> None:
    """The same for an event that a body is known to name."""
    if len(event) > name_size_max:
        user.check_all(PUBLISH, EVENT)  # what was decided is kept by name, and this is none to keep
    elif event not in user.publishable:
        user.check_publish(event)


def check_rebind(user: User, queue: Queue, events: tuple[bytes, ...], patterns: tuple[bytes, ...]) -> None:
    """Raises Refused where these bindings, canonical texts, would take others from a queue that are not its user's.

    To take a binding away needs what making it needs, or the right to delete the queue. The refusal does not say what
    the queue is bound to.
    """
    if (queue.events == events and queue.patterns == patterns) or user.may(DELETE, QUEUE, queue.name):
        return
    kept = set(events)
    others = [event for event in queue.events if event not in kept and not user.may(CONSUME, EVENT, event)]
    taken = [orjson.loads(pattern) for pattern in queue.patterns if pattern not in patterns]
    if others or [pattern for pattern in taken if not may_bind_pattern(user, pattern)]:
        shown = queue.name.decode("utf-8", "backslashreplace")
        raise user.refusal(f"to take away bindings of queue {shown!r}: consume on each of their events, or delete")


def may_bind_pattern(user: User, pattern: object) -> bool:
    """A pattern that asks for one event needs what that event needs; any other one may match all of them."""
    event = pattern.get("event") if isinstance(pattern, dict) else None
    if isinstance(event, str):
        return user.may(CONSUME, EVENT, event.encode("utf-8", "surrogatepass"))
    return user.may_all(CONSUME, EVENT)


def nobody() -> Refused:
    """For a session whose connection is gone, or about to go."""
    return Refused(DENIED, "nobody may do anything")


class Dialect:
    """One protocol: opens sessions, and holds what they share."""

    name = ""
    default_port = 0

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.default_user = ""  # who a client of its listener is that presents nothing

    def open(self, peer: str, now: int) -> Session:
        """A session for a client that has just connected."""
        raise NotImplementedError

    def recognise(self, head: bytes) -> int:
        """Whether a connection that begins like this speaks this protocol: NO, MAYBE (wait for more) or YES.

        Never YES for a beginning that another protocol could have as well.
        """
        raise NotImplementedError

    def recognise_at_rest(self, head: bytes) -> bool:
        """Whether a client that has said just this, and waits, speaks this protocol: if commands need no end."""
        return False

    def full(self) -> bytes:
        """What to say to a client there is no room for, before the door closes."""
        return b""
