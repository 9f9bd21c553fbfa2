"""Consumers that are known by name to all connections of a protocol: what MQKS and SEVX have in common.

A client names its consumers, and settles messages by their ids, from whichever connection it likes. After a reconnect
it starts its consumers again under their old names, perhaps before its old connection was seen to be gone: the new
one takes over what the old one held.

Names are a user's own: nobody else's consumers are found by them, so nobody is kept from a name, or told that it is
taken. Where there are no users, there is one set of names for all.

A confirmation waits for the disk and a delivery does not. Where a client is to hear that a message was rejected before
it is given that message again, what its connection is given meanwhile is *late*: it goes out behind the confirmation.
"""

from collections import deque
from typing import Final

from librt.strings import BytesWriter

from penstock.access.directory import Identity
from penstock.access.user import User
from penstock.core.redrive import Redrive
from penstock.core.subscription import Delivery, Subscription
from penstock.errors import OVER_LIMIT, Refused
from penstock.message import ACCEPT, REJECT
from penstock.wire.line_session import SETTLED_AT_ONCE, LineSession
from penstock.wire.session import Dialect, Hub
from penstock.wire.unacked import Unacked

NOT_YET: Final = 1 << 62  # confirmations


class NamedConsumer(Subscription):
    """One consumer, with what it has to settle by message id. Each protocol says how it delivers."""

    def __init__(self, session: "NamingSession", name: bytes, manual: bool) -> None:
        super().__init__(name, manual=manual)
        self.owner = session
        self.namesakes = session.consumers  # those of its user, which it is known among
        self.holder = session.holder  # whose place it takes
        self.unacked = Unacked()

    def has_room(self) -> bool:
        return self.owner.has_room()

    def ended(self) -> None:
        self.owner.forget(self)

    def failed(self, error: Exception) -> None:
        self.owner.broke(error)

    def take(self, message_id: bytes | None) -> list[Delivery]:
        """The open delivery of that message, or all of them for None, to be settled now."""
        if message_id is None:
            self.unacked.clear()
            return self.held()
        delivery = self.unacked.take(message_id)
        return [] if delivery is None else [delivery]


class Late:
    """Deliveries that go out once so many confirmations of their session have."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.lines = BytesWriter()


class Settling:
    """All that a consumer held, of which one slice was not enough to settle it."""

    def __init__(self, deliveries: list[Delivery], how: int, due_at: int, answer: bytes, late: Late | None) -> None:
        self.deliveries = deliveries
        self.done = 0
        self.how = how
        self.due_at = due_at
        self.answer = answer  # comes with the last of them ...
        self.late = late  # ... and before what they bring


class NamingDialect(Dialect):
    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.consumers: dict[bytes, NamedConsumer] = {}  # where there are no users
        self.by_user: dict[User, dict[bytes, NamedConsumer]] = {}

    def consumers_of(self, user: User) -> dict[bytes, NamedConsumer]:
        """A user's consumers by name: one dictionary for all its connections, for as long as there are any."""
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
        self.consumers = dialect.consumers  # of its user, on all connections
        self.own: dict[bytes, NamedConsumer] = {}
        self.blocked = False  # the socket takes no more
        self.overrun = 0  # bytes of messages given out since then
        self.halted: dict[NamedConsumer, None] = {}  # suspended until there is room, longest first
        self.confirmed = 0  # confirmations that have gone out after they waited for the disk
        self.lates: deque[Late] = deque()
        self.late: Late | None = None  # the last of them, which takes what is delivered now
        self.late_size = 0  # bytes of them all
        self.settling: Settling | None = None

    def _adopt(self, identity: Identity) -> None:
        super()._adopt(identity)
        self.consumers = self.naming.consumers_of(identity.user)

    def check_place(self, name: bytes) -> None:
        """Before anything is done for a consumer of that name. Raises Refused where its user has too many."""
        if name in self.consumers:
            return
        places = self.hub.consumers
        holder = self.holder
        if not places.has_room(holder):
            limit = f"consumers_max is {self.hub.limits.consumers_max}"
            raise Refused(OVER_LIMIT, f"{places.why_full(holder, 'consumers')}: {limit}")

    def start(self, queue: bytes, consumer: NamedConsumer) -> None:
        """Begin to consume, in place of the consumer that had this name."""
        name = consumer.name
        former = self.consumers.get(name)
        if former is not None:
            former.owner.forget(former)
        self.own[name] = consumer
        self.consumers[name] = consumer
        self.hub.consumers.enter(consumer.holder)
        if self.blocked or not self._has_room():
            # Given one message each, a client that reads nothing could start consumers until it has them all.
            consumer.suspended = True
            self.halted[consumer] = None
        if consumer.manual:
            consumer.credit = self.first_share()
        self.broker.subscribe(queue, consumer, former, self.now)
        if self.puttable is not None:
            self.share()

    def stop(self, name: bytes) -> None:
        """End a consumer, whichever connection has started it; nothing to do when there is none of that name."""
        consumer = self.consumers.get(name)
        if consumer is not None:
            consumer.owner.forget(consumer)
            self.broker.cancel(consumer, self.now)
            self.share()

    def take(self, name: bytes, message_id: bytes | None) -> list[Delivery]:
        """What a settlement is about: nothing, when there is no such consumer or message any more."""
        consumer = self.consumers.get(name)
        return [] if consumer is None else consumer.take(message_id)

    def answer_redrive(self, id: bytes, redrive: Redrive) -> None:
        """A redrive that was asked for has ended: say how, as this protocol does."""
        raise NotImplementedError

    def refuse_redrive(self, id: bytes, refusal: Refused, line: bytes) -> None:
        """It cannot be done after all."""
        raise NotImplementedError

    def forget(self, consumer: NamedConsumer) -> None:
        """The consumer has ended, or another one takes its name."""
        if consumer.namesakes.get(consumer.name) is consumer:
            del consumer.namesakes[consumer.name]
        if self.own.get(consumer.name) is consumer:
            del self.own[consumer.name]
            self.hub.consumers.leave(consumer.holder)
        self.halted.pop(consumer, None)
        consumer.unacked.clear()  # each of them knows its consumer, and the collector seldom looks

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
        """Settle what a client has named, and confirm with `answer`, where there is one, before what that brings."""
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
        broker.usage.work += len(deliveries)
        for delivery in deliveries:
            if how == ACCEPT:
                broker.accept(delivery)
            elif how == REJECT:
                broker.reject(delivery, due_at)
            else:
                broker.bury(delivery)

    # -- what comes behind a confirmation -----------------------------------------------------------------------------

    def confirm_first(self, answer: bytes) -> None:
        """Confirm something that is done next, and what it brings to consumers of this very connection after that."""
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
        """What `deliver` answers to its queue, for a line that has to wait."""
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
            if self.halted and not self.blocked and self.gate is None:
                self.resume()  # they may have filled up what was late, and nobody else would say that it is gone

    # -- room -------------------------------------------------------------------------------------------------------
    #
    # A client may have thousands of consumers, and the socket may fill up and empty again many times a second. So a
    # consumer is suspended only when it is given a message there is no room for, which is one each at most; should
    # even that be much, all are suspended, once. One that is started meanwhile begins suspended.

    def pause(self) -> None:
        self.blocked = True

    def halt(self, consumer: NamedConsumer, size: int) -> None:
        """The consumer is about to be suspended, by what it answers to its queue."""
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
            del self.halted[consumer]  # it may come back, behind the others
            self.broker.resume(consumer)

    def _has_room(self) -> bool:
        return self.outbox_size + self.late_size < self.outbox_max
