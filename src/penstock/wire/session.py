"""The shape all protocols share: a session is fed bytes and leaves bytes in its outbox. It knows no socket.

    feed(data, now) ──► requests ──► verbs of the broker
                                            │ deliver
    drain() ◄── outbox ◄────────────────────┘

Whoever owns the socket feeds what it reads, and after each turn of its loop writes what `Hub.dirty` sessions have to
say, one write each.
"""

from collections.abc import Callable
from typing import Final

from librt.strings import BytesWriter

from penstock.access.directory import Directory, Identity
from penstock.access.user import User
from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.subscription import Subscription
from penstock.errors import Refused
from penstock.message import Message
from penstock.wire.ids import ERROR_ID_LENGTH, IdSource, random_id
from penstock.wire.refusals import TEXT_SIZE_MAX, Refusals

# Whether the first bytes of a connection are this protocol's.
NO: Final = 0
MAYBE: Final = 1  # too early to say
YES: Final = 2

# An outbox that has grown beyond this is not kept for the next turn: ten thousand clients have one each.
OUTBOX_KEPT_MAX: Final = 1 << 16

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
        self.awake: list[Session] = []  # asked to go on once the broker is done with what it does now

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
                session.wake(now)


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
        self.unconfirmed = 0  # confirmations that wait for the disk
        self.unconfirmed_size = 0  # bytes of them
        self.waits_for_room = False  # executes nothing while its answers are not read, so there is no use in reading on
        self.closing = False  # write what is there, then close
        self.over = False  # the connection is gone
        self.successor: Session | None = None  # takes this one's place at its connection
        self.now = 0  # when the present read came in
        self.errors = 0  # requests that were refused
        self.refusals = Refusals()
        self.identity: Identity | None = None  # as whom it came in, and by what; None for nobody in particular
        self.user: User | None = None
        hub.sessions[self] = None

    # -- what the owner of the socket calls -------------------------------------------------------------------------

    def feed(self, data: bytes, now: int) -> None:
        """Take what was read; answers and deliveries land in outboxes. Raises nothing."""
        raise NotImplementedError

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
        if not self.closing:
            for subscription in self.subscriptions():
                self.broker.resume(subscription)

    def end(self, now: int) -> None:
        """The connection is gone: its consumers end, what they held goes back."""
        self.over = True
        self.suspend_all()  # what one of them gives back is not for another that goes as well
        for subscription in self.subscriptions():
            self.broker.cancel(subscription, now)
        self.outbox = BytesWriter()
        self.hub.sessions.pop(self, None)
        self.tell_ids()
        self.tell_counted()

    def may_stay(self, now: int) -> bool:
        """Whether what the client came in by still holds."""
        access = self.hub.access
        if access is None:
            return True
        return self.identity is not None and access.still_holds(self.identity, now)

    def show_out(self, now: int) -> None:
        """What the client came in by was taken away: it may come again by something else."""
        self.hang_up()

    def owes(self) -> bool:
        """Whether something is under way that a stopping broker should wait for, besides what is in the outbox."""
        return False

    def goodbye(self, now: int) -> None:
        """The broker is shutting down: say what the protocol has to say about it."""

    def wake(self, now: int) -> None:
        """Go on with what waited; asked for by putting the session into `hub.awake`."""

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
        if not self.broker.log.is_instant:
            self.broker.publish(message)
            self.confirm(id + ok)
            return
        outbox = self.outbox
        mark = len(outbox)
        if mark == 0:
            self.hub.dirty.append(self)
        outbox.write(id)
        outbox.write(ok)
        try:
            self.broker.publish(message)
        except Refused:
            written = outbox.getvalue()
            outbox.truncate(mark)
            outbox.write(written[mark + len(id) + len(ok) :])
            raise

    def fail(self, reason: str, request: bytes) -> bytes:
        """Log what went wrong under a new error id, and give that id, for the client to be told.

        Whoever calls this sees to it that `tell_ids` is called at the end of the read.
        """
        error_id = random_id(ERROR_ID_LENGTH)
        if self._is_in_full():
            self._tell_in_full(error_id, reason, request)
        elif self.refusals.add_id(reason[:TEXT_SIZE_MAX], error_id.decode()):
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
        refusals = self.refusals
        if refusals.enter(self.now):
            self.tell_counted()
        return refusals.may_tell_in_full()

    def _tell_in_full(self, error_id: bytes, reason: str, request: bytes) -> None:
        details: dict[str, object] = {
            "error_id": error_id.decode(),
            "reason": reason[:TEXT_SIZE_MAX],
            "protocol": self.protocol,
            "peer": self.peer,
            "request": request[:TEXT_SIZE_MAX].decode("utf-8", "backslashreplace"),
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
