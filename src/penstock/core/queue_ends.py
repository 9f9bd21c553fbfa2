"""How the messages of a queue end when no consumer accepts them.

A message is given up when its tries are used up, its time to live is over, its consumer buries it or the queue needs
the room. It then goes to the dead-letter queue if the policy names one, and is dropped otherwise. Expiry is checked
when a message reaches the front.
"""

from typing import Final

from penstock.core.context import BrokerContext
from penstock.core.deadletters import DELIVERIES, EXPIRED, FULL, REJECTED
from penstock.core.deadlines import Timer
from penstock.core.delivery import Delivery, Item, delivery_of, message_of, retry_of
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST
from penstock.core.policy import Policy
from penstock.core.queue_store import QueueStore
from penstock.log.interface import Log
from penstock.message import DEAD, DROP, EXPIRE, MOVE, RETURN, DeliveryOptions, Message, tell_undelivered

TRY_AGAIN_TIME: Final = 1_000_000  # microseconds until a full dead-letter queue is tried again
REVOKED_PART: Final = 16  # a sweep is due once revoked requests take 1/REVOKED_PART of the memory

WHY: Final = {
    DELIVERIES: "delivery limit reached",
    EXPIRED: "message expired",
    FULL: "the queue is full",
    REJECTED: "rejected by its consumer",
}
WHY_PURGED: Final = "the queue was purged"


class EndingQueue(QueueStore):
    def __init__(self, name: bytes, log: Log, policy: Policy, context: BrokerContext) -> None:
        super().__init__(name, log, policy, context)
        self.expiring = policy.ttl > 0  # a message in the backlog may expire
        self.retried = 0  # deliveries that came back
        self.dropped = 0  # given up for reasons other than expiry, and not dead-lettered
        self.expired = 0  # given up because they expired, dead-lettered or not
        self.dead_lettered = 0
        self.revoked = 0  # revoked by their requester since the last sweep, wherever they are
        self.revoked_bytes = 0  # their bytes
        self._head_timer: Timer | None = None

    # -- giving up --------------------------------------------------------------------------------------------------

    def _is_worn_out(self, delivery: Delivery, retry: int) -> bool:
        """Whether the message has used up its tries, or was revoked by its requester."""
        message = delivery.message
        if message is not None and message.revoked:
            return True
        deliveries_max = self.policy.deliveries_max
        options = delivery.options if message is None else message.options
        own = 0 if options is None else options.deliveries_max
        if own and (not deliveries_max or own < deliveries_max):
            deliveries_max = own
        return deliveries_max > 0 and retry >= deliveries_max

    def _ends_by_return(self, delivery: Delivery) -> bool:
        """Count a try for a message whose consumer went away; True when that was the last one and it was given up."""
        if self._is_worn_out(delivery, delivery.retry + 1) and self._give_up_delivery(delivery, DELIVERIES):
            return True
        self._count_return(delivery.offset)
        return False

    def _count_return(self, offset: int) -> None:
        self.log.append_settlement(self.ack_run, offset, RETURN)
        self.retried += 1

    def _give_up_delivery(self, delivery: Delivery, reason: str) -> bool:
        """Give up an unacked message. An unreadable one does not become a dead letter: it is set aside in its turn.

        Dead letters are in memory until they are written, so many at once could fill it. Once they take a quarter,
        messages that are not in memory stay in the queue and are given up the next time they come back.
        """
        message = delivery.message
        if message is not None:
            return self._give_up(message, delivery.retry + 1, reason)
        log = self.log
        if not self.policy.dead_letter:
            self.dropped += 1
            log.append_settlement(self.ack_run, delivery.offset, DROP)
            return True
        if not self.context.may_bury(log.readable):
            return False
        message = log.fetch(delivery.offset)
        if message is None or not self._give_up(message, delivery.retry + 1, reason):
            return False
        self.context.buried(delivery.size, log.next_offset)
        return True

    def _give_up(self, message: Message, retry: int, reason: str) -> bool:
        """End a message that is no longer in the backlog: as a dead letter, if the policy says so.

        False when the dead-letter queue does not accept it now. The caller must then keep it: better late than lost.
        """
        how = DROP
        if self.policy.dead_letter and not message.revoked:
            if not self.context.dead_letters.take(self, message, retry, reason):
                return False
            self.dead_lettered += 1
            how = DEAD
        elif reason == EXPIRED:
            how = EXPIRE
        else:
            self.dropped += 1
        if reason == EXPIRED:
            self.expired += 1
        self._end(message, how, WHY[reason])
        return True

    def _drop(self, message: Message) -> None:
        """Give up a message already taken from the backlog."""
        self._shrink(message)
        self.dropped += 1
        self._end(message, DROP, WHY[FULL])

    def _end(self, message: Message, how: int, why: str) -> None:
        self.log.append_settlement(self.ack_run, message.offset, how)
        if message.requester is not None and not message.revoked:
            tell_undelivered(message, why)

    # -- making room ------------------------------------------------------------------------------------------------

    def make_room(self) -> bool:
        """True when one more message fits; depending on the policy, the oldest ready one is given up for it."""
        if not self.full:
            return True
        self.fullness.acts(self)
        policy = self.policy
        if policy.full != DROP_OLDEST and (policy.full != DEAD_LETTER or not policy.dead_letter):
            return False
        item = self._take_first()
        if item is None:
            return not self.full  # unreadable messages were set aside
        message = message_of(item)
        if policy.full == DROP_OLDEST:
            self._drop(message)
        elif self._give_up(message, retry_of(item), FULL):
            self._shrink(message)
        else:
            self.put_back([item])
            return not self.full  # it was read for this, and may be smaller than assumed
        if self.expiring:
            self._watch_head()
        return True

    def refuse(self, message: Message) -> None:
        """Log that this full queue did not keep a message that went to other queues. A replay routes it here as well,
        whatever the limits are by then."""
        self.ack_run.ended -= 1  # it was never added
        self.log.append_settlement(self.ack_run, message.offset, DROP)

    def purge(self, before_offset: int, limit: int) -> int:
        """Drop up to `limit` ready messages with offsets below `before_offset`, from the front; returns how many."""
        taken: list[Message] = []
        unread: list[int] = []
        if not self.touched:
            self.touch()
        assumed = self.backlog.take_first(before_offset, limit, taken, unread)
        count = len(taken) + len(unread)
        self.context.work += count
        self.ready -= count
        self.dropped += count
        self.bytes -= assumed
        for message in taken:
            self._shrink(message)
            self._end(message, DROP, WHY_PURGED)
        for offset in unread:
            self.log.append_settlement(self.ack_run, offset, DROP)
        self._check_full()
        return count

    def moved(self, item: Item) -> None:
        message = message_of(item)
        self._shrink(message)
        self._end(message, MOVE, "moved to another queue")
        if self.expiring:
            self._watch_head()

    def put_back(self, items: list[Item]) -> None:
        """Put back ready messages that were taken out, unchanged."""
        returned: list[Delivery] = []
        for item in items:
            self.ready += 1
            returned.append(delivery_of(item))
            options = message_of(item).options
            if not self.expiring and options is not None and options.expires_at:
                self.expiring = True  # it may have been reset while the message was out
                self._arm_head_timer(self.context.now)
        if returned:
            self._forget(self.backlog.put_back(returned, []))
            self._check_full()

    # -- revoked requests -------------------------------------------------------------------------------------------

    def count_revoked(self, message: Message) -> None:
        """Count a revoked message of this queue. They are swept out once they may be half of the ready messages,
        or take much memory."""
        self.revoked += 1
        self.revoked_bytes += message.size
        if self.revoked * 2 > self.ready or self.revoked_bytes * REVOKED_PART > self.context.bytes_max:
            self._sweep_revoked()

    def _sweep_revoked(self) -> None:
        self.revoked = 0
        self.revoked_bytes = 0
        if not self.touched:
            self.touch()
        for message in self.backlog.sweep_revoked():
            self.ready -= 1
            self._drop(message)
        put_off = self.delayed.sweep_revoked()
        for entry in put_off:
            self.context.bytes -= entry.size
            self.dropped += 1
            self.log.append_settlement(self.ack_run, entry.offset, DROP)
        if put_off:
            self.fullness.set_marks(self)
            self._check_full()
        if self.expiring:
            self._watch_head()

    # -- expiry -----------------------------------------------------------------------------------------------------

    def expiry_of(self, message: Message) -> int:
        """When the message expires; 0 for never."""
        options = message.options
        ttl = self.policy.ttl
        expires_at = 0 if options is None else options.expires_at
        if ttl:
            by_policy = (message.published_at if options is None else max(message.published_at, options.due_at)) + ttl
            if not expires_at or by_policy < expires_at:
                return by_policy
        return expires_at

    def expect_expiry(self) -> None:
        """Messages, perhaps not in memory, may have expired by now: check when time advances."""
        self.expiring = True
        if self.ready:
            self._arm_head_timer(self.context.now)

    def _heed(self, options: DeliveryOptions | None) -> None:
        """Note that a message enters the backlog, which may be one that expires."""
        if options is not None and options.expires_at:
            self.expiring = True

    def _let_expire(self, item: Item) -> bool:
        """Give up a message taken from the backlog if it has expired; False when it is to be delivered."""
        message = message_of(item)
        expires_at = self.expiry_of(message)
        if not expires_at or expires_at > self.context.now or not self._give_up(message, retry_of(item), EXPIRED):
            return False
        self._shrink(message)
        return True

    def expire_first(self, now: int) -> None:
        """Give up expired messages from the front of the queue."""
        for _ in range(self.tuning.at_once):
            item = self._peek_first()
            if item is None:
                break
            expires_at = self.expiry_of(message_of(item))
            if not expires_at or expires_at > now:
                break
            self.context.work += 1
            self._take_first()
            if not self._let_expire(item):
                self.put_back([item])
                self._arm_head_timer(now + TRY_AGAIN_TIME)
                return
        self._watch_head()

    def _watch_head(self) -> None:
        """Set the timer for the expiry of the first message. Those behind it are checked when they become first."""
        item = self._peek_first()
        if item is None:
            if not self.stalled:  # otherwise `read_again` handles it
                self.expiring = self.policy.ttl > 0
            return
        expires_at = self.expiry_of(message_of(item))
        if expires_at:
            self._arm_head_timer(expires_at)

    def _arm_head_timer(self, when: int) -> None:
        timer = self._head_timer
        if timer is None:
            timer = self._head_timer = Timer(self.expire_first)
        when = max(when, self.context.now)
        if not timer.armed or timer.when > when:
            self.context.deadlines.set(timer, when)
