"""Named consumers, shared by all connections of a user: the common part of MQKS and SEVX.

A client names its consumers, and settles messages by id from any of its connections. After a reconnect it restarts its
consumers under their old names, perhaps before the broker has noticed that the old connection is closed. The new
consumer then takes over what the old one held.

Names are scoped to a user, so users cannot block or discover each other's names. Without access control, all clients
share one set of names.

A confirmation waits for the disk and a delivery does not. If a client must learn that a message was rejected before it
gets that message again, deliveries to its connection in the meantime are *late*: they go out after the confirmation.
"""

from collections import deque
from typing import Final

from librt.strings import BytesWriter

from penstock.auth.directory import Identity
from penstock.auth.user import User
from penstock.core.delivery import Delivery
from penstock.core.redrive import Redrive
from penstock.core.subscription import Subscription
from penstock.errors import OVER_LIMIT, Refused
from penstock.message import ACCEPT, REJECT
from penstock.wire.line_session import SETTLED_AT_ONCE, LineSession
from penstock.wire.session import Dialect, Hub
from penstock.wire.unacked import Unacked

NOT_YET: Final = 1 << 62  # more confirmations than there will ever be


class NamedConsumer(Subscription):
    """One consumer, with its un-acked deliveries by message id. Each protocol implements `deliver`."""

    def __init__(self, session: "NamingSession", name: bytes, manual: bool) -> None:
        super().__init__(name, manual=manual)
        self.owner = session
        self.namesakes = session.consumers  # its user's consumers, which include it
        self.holder = session.holder  # who it is charged to
        self.unacked = Unacked()

    def has_room(self) -> bool:
        return self.owner.has_room()

    def ended(self) -> None:
        self.owner.forget(self)

    def failed(self, error: Exception) -> None:
        self.owner.broke(error)

    def take(self, message_id: bytes | None) -> list[Delivery]:
        """Take the open delivery of a message, or all deliveries for None, to settle them now."""
        if message_id is None:
            self.unacked.clear()
            return self.held()
        delivery = self.unacked.take(message_id)
        return [] if delivery is None else [delivery]


class Late:
    """Deliveries that go out once `after` confirmations of their session have."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.lines = BytesWriter()


class Settling:
    """A settlement of many deliveries that takes more than one slice."""

    def __init__(self, deliveries: list[Delivery], how: int, due_at: int, answer: bytes, late: Late | None) -> None:
        self.deliveries = deliveries
        self.done = 0
        self.how = how
        self.due_at = due_at
        self.answer = answer  # sent after the last of them ...
        self.late = late  # ... and before the deliveries they cause


class NamingDialect(Dialect):
    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.consumers: dict[bytes, NamedConsumer] = {}  # without access control
        self.by_user: dict[User, dict[bytes, NamedConsumer]] = {}

    def consumers_of(self, user: User) -> dict[bytes, NamedConsumer]:
        """A user's consumers by name: one dictionary, shared by all its connections while it has any."""
        found = self.by_user.get(user)
        if found is None:
            for other in [one for one in self.by_user if one.connections == 0]:
                if not self.by_user[other]:
                    del self.by_user[other]
            found = self.by_user[user] = {}
        return found


class NamingSession(LineSession):
    """A client that names its consumers."""

    def __init__(self, dialect: NamingDialect, peer: str) -> None:
        super().__init__(dialect.hub, peer)
        self.naming = dialect
        self.consumers = dialect.consumers  # its user's, on all connections
        self.own: dict[bytes, NamedConsumer] = {}
        self.blocked = False  # the socket's write buffer is full
        self.overrun = 0  # bytes of messages delivered since then
        self.halted: dict[NamedConsumer, None] = {}  # suspended until there is room, oldest first
        self.confirmed = 0  # number of confirmations sent after waiting for the disk
        self.lates: deque[Late] = deque()
        self.late: Late | None = None  # the last of them, which collects current deliveries
        self.late_size = 0  # in bytes, of all `lates`
        self.settling: Settling | None = None

    def adopt(self, identity: Identity) -> None:
        super().adopt(identity)
        self.consumers = self.naming.consumers_of(identity.user)

    def check_place(self, name: bytes) -> None:
        """Check the consumer limit before starting a consumer of that name. Raises Refused."""
        if name in self.consumers:
            return
        places = self.hub.consumers
        holder = self.holder
        if not places.has_room(holder):
            limit = f"consumers_max is {self.hub.limits.consumers_max}"
            raise Refused(OVER_LIMIT, f"{places.why_full(holder, 'consumers')}: {limit}")

    def start(self, queue: bytes, consumer: NamedConsumer) -> None:
        """Start a consumer, replacing the one that had its name."""
        name = consumer.name
        former = self.consumers.get(name)
        if former is not None:
            former.owner.forget(former)
        self.own[name] = consumer
        self.consumers[name] = consumer
        self.hub.consumers.enter(consumer.holder)
        if self.blocked or not self._has_room():
            # Otherwise a client that reads nothing could drain a queue by starting consumers, at one message each.
            consumer.suspended = True
            self.halted[consumer] = None
        if consumer.manual:
            consumer.credit = self.first_share()
        self.broker.subscribe(queue, consumer, former, self.now)
        if self.puttable is not None:
            self.share()

    def stop(self, name: bytes) -> None:
        """Cancel a consumer, whichever connection started it. Does nothing if there is none of that name."""
        consumer = self.consumers.get(name)
        if consumer is not None:
            consumer.owner.forget(consumer)
            self.broker.cancel(consumer, self.now)
            self.share()

    def take(self, name: bytes, message_id: bytes | None) -> list[Delivery]:
        """The deliveries to settle; none if the consumer or the message no longer exists."""
        consumer = self.consumers.get(name)
        return [] if consumer is None else consumer.take(message_id)

    def answer_redrive(self, id: bytes, redrive: Redrive) -> None:
        """Answer a finished redrive in the protocol's format."""
        raise NotImplementedError

    def refuse_redrive(self, id: bytes, refusal: Refused, line: bytes) -> None:
        """Refuse a redrive after it was started."""
        raise NotImplementedError

    def forget(self, consumer: NamedConsumer) -> None:
        """Remove a consumer that has ended or lost its name to another one."""
        if consumer.namesakes.get(consumer.name) is consumer:
            del consumer.namesakes[consumer.name]
        if self.own.get(consumer.name) is consumer:
            del self.own[consumer.name]
            self.hub.consumers.leave(consumer.holder)
        self.halted.pop(consumer, None)
        consumer.unacked.clear()  # break the reference cycle with the deliveries: the garbage collector seldom runs

    def subscriptions(self) -> list[Subscription]:
        return list(self.own.values())

    def end(self, now: int) -> None:
        super().end(now)
        self.lates.clear()
        self.late = None
        self.late_size = 0
        self.settling = None
        for consumer in list(self.own.values()):
            self.forget(consumer)

    # -- settlements ------------------------------------------------------------------------------------------------

    def settle(self, deliveries: list[Delivery], how: int, due_at: int, answer: bytes) -> None:
        """Settle deliveries, and confirm with `answer`, if any, before the deliveries that this causes."""
        if len(deliveries) <= SETTLED_AT_ONCE:
            if answer and how == ACCEPT:
                self.confirm(answer)
            elif answer:
                self.confirm_first(answer)
            self._settle(deliveries, how, due_at)
            return
        late: Late | None = None
        if answer:
            late = self.late = Late(NOT_YET)
            self.lates.append(late)
        self.settling = Settling(deliveries, how, due_at, answer, late)
        self.unsettled = True
        self.settle_on()

    def settle_on(self) -> None:
        settling = self.settling
        if settling is not None:
            first = settling.done
            settling.done = min(first + SETTLED_AT_ONCE, len(settling.deliveries))
            self._settle(settling.deliveries[first : settling.done], settling.how, settling.due_at)
            if settling.done < len(settling.deliveries):
                return
            self.settling = None
            if settling.late is not None:
                self.confirm(settling.answer)
                settling.late.after = self.confirmed + self.unconfirmed
                self._let_go()
        self.unsettled = False

    def _settle(self, deliveries: list[Delivery], how: int, due_at: int) -> None:
        broker = self.broker
        broker.context.work += len(deliveries)
        for delivery in deliveries:
            if how == ACCEPT:
                broker.accept(delivery)
            elif how == REJECT:
                broker.reject(delivery, due_at)
            else:
                broker.bury(delivery)

    # -- late deliveries ----------------------------------------------------------------------------------------------

    def confirm_first(self, answer: bytes) -> None:
        """Confirm an operation that is about to run, before the deliveries it causes on this same connection."""
        self.confirm(answer)
        if self.unconfirmed:
            after = self.confirmed + self.unconfirmed
            late = self.late
            if late is not None and len(late.lines) == 0:
                late.after = after
            else:
                self.late = Late(after)
                self.lates.append(self.late)

    def deliver_late(self, late: Late, consumer: NamedConsumer, line: bytes, size: int) -> bool:
        """Hold a line back, and return what `deliver` returns: whether there is room for more."""
        late.lines.write(line)
        self.late_size += len(line)
        if self._has_room() and not self.blocked:
            return True
        self.halt(consumer, size)
        return False

    def release(self, answer: bytes) -> None:
        super().release(answer)
        self.confirmed += 1
        if self.lates:
            self._let_go()

    def _let_go(self) -> None:
        lates = self.lates
        while lates and lates[0].after <= self.confirmed:
            lines = lates.popleft().lines.getvalue()
            self.late_size -= len(lines)
            if lines:
                self.write(lines)
        if not lates:
            self.late = None
            if self.halted and not self.blocked and self.preauth is None:
                self.resume()  # late deliveries may have filled the room, and nothing else would resume them

    # -- back-pressure ----------------------------------------------------------------------------------------------
    #
    # A client may have thousands of consumers, and the socket may fill and drain many times a second. So a consumer is
    # suspended only when it gets a message there is no room for, at most one each. If even that adds up to too much,
    # all are suspended in one go. A consumer started in the meantime starts suspended.

    def pause(self) -> None:
        self.blocked = True

    def halt(self, consumer: NamedConsumer, size: int) -> None:
        """Record that the consumer is about to be suspended by the return value of its `deliver`."""
        self.halted[consumer] = None
        if self.blocked:
            before = self.overrun
            self.overrun += size
            if before < self.outbox_max <= self.overrun:
                self.hub.awake.append(self)

    def wake(self, now: int) -> None:
        if self.blocked:
            for consumer in self.own.values():
                if not consumer.suspended:
                    self.broker.suspend(consumer)
                    self.halted[consumer] = None

    def resume(self) -> None:
        if self.closing:
            return
        self.blocked = False
        self.overrun = 0
        for consumer in list(self.halted):
            if not self._has_room():
                break
            del self.halted[consumer]  # it may be added again, behind the others
            self.broker.resume(consumer)

    def _has_room(self) -> bool:
        return self.outbox_size + self.late_size < self.outbox_max
