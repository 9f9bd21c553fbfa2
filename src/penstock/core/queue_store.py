"""What one queue holds: its ready, unacked and delayed messages, in memory or not, and their bytes.

The bytes of a queue are corrected here and nowhere else. `bytes` counts ready and unacked messages wherever they are,
overhead included; of these, `unacked_bytes` are with consumers, and `backlog.cold` and `unkept` are not in memory.
Delayed messages are counted by `delayed`. `context.bytes` is what all queues have in memory.

Above a quarter of the memory limit, an unacked message that the log can give back is released as soon as it is
delivered. A message that returns while it is not in memory goes back to its place without being read.
"""

from typing import Final

from penstock.core.backlog import Backlog
from penstock.core.consumers import Consumers
from penstock.core.context import BrokerContext
from penstock.core.deadlines import Timer
from penstock.core.delayed import Delayed
from penstock.core.delivery import Delivery, Item, message_of
from penstock.core.fullness import Fullness
from penstock.core.policy import Policy
from penstock.core.spans import Sealed, SortKey, add_ranges
from penstock.core.walk import Walk
from penstock.log.interface import AckRun, Log
from penstock.log.span import Span
from penstock.message import MESSAGE_OVERHEAD, UNSHARED, Message

NO_MESSAGE: Final = -1  # there is no message
READ_AGAIN_TIME: Final = 500_000  # microseconds until a read that the log could not serve is retried
READ_PER_WORK: Final = 4096  # bytes read from the log that count as one unit of work
TOUCH_WORK: Final = 6  # the first touch of a queue in a turn: with many queues, it is in no CPU cache


class QueueStore:
    def __init__(self, name: bytes, log: Log, policy: Policy, context: BrokerContext) -> None:
        self.name = name
        self.log = log
        self.ack_run = AckRun(name)
        self.policy = policy
        self.context = context
        self.tuning = log.tuning
        self.congested_bytes = log.tuning.congested_bytes
        self.consumers = Consumers()
        self.backlog = Backlog(log)
        self.delayed = Delayed()
        self.ready = 0  # len(backlog), cached in an attribute
        self.unacked = 0
        self.bytes = 0  # of ready and unacked messages, in memory or not, overhead included
        self.unacked_bytes = 0  # of unacked messages
        self.unkept = 0  # of unacked messages that are not in memory
        self.fullness = Fullness()
        self.full = False
        self.filled_by = ""  # the publisher of the last message that had to wait
        self.queued = 0  # messages ever added
        self.delivered = 0  # deliveries ever made
        # Messages the log could not read. They are still owed: a repair may bring them back.
        self.unreadable: list[SortKey] = []
        self._first_unreadable: SortKey = (0, 0, 0, 0)  # the first of those, if there are any
        self._first_offset = -1  # the offset of a first message that is not in memory ...
        self._first_at = 0  # ... and its publish time, as `find_oldest` found it
        self.touched = False  # it is in `context.touched`
        self.is_warm = False  # it is in `context.warm`
        self._told_delivered = 0  # `delivered` when the log was last told what is unacked
        self._released = False  # a message that the log knows as unacked may be ready again
        self.stalled = False  # the next message cannot be read from the log at the moment
        self._read_timer: Timer | None = None
        self.fullness.set_marks(self)

    def __repr__(self) -> str:
        return f"<Queue {self.name!r} ready={self.ready} unacked={self.unacked} consumers={self.consumers.count()}>"

    def ready_bytes(self) -> int:
        """Bytes of ready messages. Unacked ones wait for their consumer's work, not for a socket."""
        return self.bytes - self.unacked_bytes

    @property
    def delayed_count(self) -> int:
        """Messages that are not due yet."""
        return len(self.delayed)

    def length(self) -> int:
        """All messages: ready, unacked and delayed."""
        return self.ready + self.unacked + len(self.delayed)

    def size(self) -> int:
        """Their bytes, in memory or not, overhead included."""
        return self.bytes + self.delayed.bytes

    def bytes_in_memory(self) -> int:
        return self.size() - self.backlog.cold - self.delayed.cold - self.unkept

    def oldest_at(self) -> int:
        """Publish time of the oldest among the first ready message and all unacked ones; NO_MESSAGE when there is none.

        A first message that is not in memory counts only once `find_oldest` has read it.
        """
        oldest = NO_MESSAGE
        head = self.backlog.head
        if head:
            oldest = message_of(head[0]).published_at
        elif self.ready and self._first_offset == self.backlog.first_offset():
            oldest = self._first_at
        for subscription in self.consumers.active:
            held = subscription.oldest
            if held is not None:
                message = held.message
                published_at = held.published_at if message is None else message.published_at
                if oldest == NO_MESSAGE or published_at < oldest:
                    oldest = published_at
        return oldest

    def knows_oldest(self) -> bool:
        """Whether `oldest_at` is accurate without reading a message from the log."""
        return not self.ready or bool(self.backlog.head) or self._first_offset == self.backlog.first_offset()

    def find_oldest(self) -> None:
        """Read the first message, in memory or not, and remember when it was published."""
        offset = self.backlog.first_offset()
        message = self.backlog.message(offset) if offset >= 0 else None
        if message is not None:
            self._first_offset = offset
            self._first_at = message.published_at

    # -- counting ---------------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Mark the queue as changed, so that it is checked when the turn ends."""
        self.touched = True
        self.context.touched.append(self)
        self.context.work += TOUCH_WORK

    def _grow(self, message: Message) -> None:
        """Count a message that is now ready or unacked, and in memory."""
        if not self.touched:
            self.touch()
        size = message.size
        self.bytes += size
        self.context.bytes += size
        if message.holders != UNSHARED:
            self.context.join(message)
        fullness = self.fullness
        if self.bytes >= fullness.bytes_mark or self.ready + self.unacked >= fullness.length_mark:
            self._check_full()

    def _shrink(self, message: Message) -> None:
        """Undo `_grow`."""
        if message.holders != UNSHARED:
            self.context.leave(message)
        self._give_back(message.size)

    def _give_back(self, size: int) -> None:
        if not self.touched:
            self.touch()
        self.bytes -= size
        context = self.context
        context.bytes -= size
        if self.fullness.is_filling:
            self._check_full()
        if context.held_up:
            context.relieve()

    def _check_full(self) -> None:
        self.full = self.fullness.is_full(self)

    # -- releasing memory -------------------------------------------------------------------------------------------

    def free_memory(self) -> int:
        """Release every message the log can give back; returns the bytes freed."""
        before = self.context.bytes
        backlog = self.backlog
        freed = backlog.seal_tail() + backlog.seal_head() + self.delayed.free(self.log.readable)
        if backlog.pinned:
            freed += backlog.unpin()
        self._forget(freed)
        self.free_unacked(self.congested_bytes)
        return before - self.context.bytes

    def free_unacked(self, least: int) -> int:
        """The same for unacked messages only, if they take at least `least` bytes; returns the bytes freed."""
        before = self.context.bytes
        if self.unacked and self.unacked_bytes - self.unkept - self.unacked * MESSAGE_OVERHEAD >= least:
            for subscription in self.consumers.active:
                for delivery in subscription.held():
                    self._let_go(delivery)
        return before - self.context.bytes

    def kept_part(self) -> float:
        """The fraction of unacked bytes that is in memory, not counting the fixed overhead per message."""
        bodies = self.unacked_bytes - self.unacked * MESSAGE_OVERHEAD
        return 1 - self.unkept / bodies if bodies > 0 else 1.0

    def _forget(self, freed: int) -> None:
        """Subtract bytes that are no longer in memory, except those that other queues still hold."""
        backlog = self.backlog
        delayed = self.delayed
        self.context.bytes -= freed - backlog.still_held - delayed.still_held
        backlog.still_held = 0
        delayed.still_held = 0
        if self.context.held_up:
            self.context.relieve()

    def _let_go(self, delivery: Delivery) -> None:
        """Drop the message of this delivery from memory, if the log can give it back."""
        message = delivery.message
        if message is None or message.offset >= self.log.readable or message.requester is not None or message.revoked:
            return
        delivery.options = message.options
        delivery.published_at = message.published_at
        delivery.message = None
        freed = delivery.size - MESSAGE_OVERHEAD
        self.unkept += freed
        if message.holders != UNSHARED:
            self.context.leave(message)
        self._forget(freed)

    def message_out(self, delivery: Delivery) -> Message | None:
        """The message of a delivery; None when it must be read from the log and cannot be."""
        return delivery.message if delivery.message is not None else self.log.fetch(delivery.offset)

    # -- ready messages ---------------------------------------------------------------------------------------------

    def _take_first(self) -> Item | None:
        """Remove and return the first ready message; None when there is none, or none that can be read now."""
        while self.ready:
            item = self.backlog.first()
            if item is not None:
                self.ready -= 1
                return item
            if not self._page_in():
                break
        return None

    def _peek_first(self) -> Item | None:
        """The first ready message, left in place; None when there is none, or none that can be read now."""
        while self.ready:
            if self.backlog.head:
                return self.backlog.head[0]
            if not self._page_in():
                break
        return None

    def _page_in(self) -> bool:
        """Read the next messages of a long backlog from the log. Unreadable ones are set aside.

        False when there are no more, or the log cannot read at the moment: the read is retried after a while, and not
        before. Messages keep their places meanwhile, so that none overtakes another.
        """
        if self.stalled:
            return False
        backlog = self.backlog
        if not self.touched:
            self.touch()
        context = self.context
        page_bytes = self.tuning.page_bytes
        read_before = self.log.read_bytes
        assumed, paged = backlog.page_in(page_bytes if context.bytes + page_bytes <= context.bytes_max else 1)
        self.bytes += paged - assumed
        context.bytes += paged
        context.paged += paged
        context.work += (self.log.read_bytes - read_before) // READ_PER_WORK
        if backlog.lost:
            self.ready -= len(backlog.lost)
            first = min(backlog.lost)
            if not self.unreadable or first < self._first_unreadable:
                self._first_unreadable = first
            self.unreadable += backlog.lost
            backlog.lost = []
        if paged != assumed:
            self._check_full()
        if backlog.is_stalled:
            self._stall()
            return False
        return bool(backlog.head) or bool(backlog.spans)

    def _stall(self) -> None:
        self.stalled = True
        self.context.stalled += 1
        timer = self._read_timer
        if timer is None:
            timer = self._read_timer = Timer(self.read_again)
        self.context.deadlines.set(timer, self.context.now + READ_AGAIN_TIME)

    def read_again(self, now: int) -> None:
        """Retry a failed read, and continue if it succeeds."""
        raise NotImplementedError

    def _put_among(self, returned: list[Delivery], sealed: list[Sealed]) -> None:
        """Insert messages that were not ready at their places, in memory or not."""
        if returned or sealed:
            if not self.touched:
                self.touch()
            self.ready += len(returned) + len(sealed)
            for item in returned:
                self._grow(message_of(item))
            for entry in sealed:
                self.bytes += entry[4]
            self._check_full()
            self._forget(self.backlog.put_back(returned, sealed))

    def first_messages(self, count: int) -> list[Message]:
        """Peek at the first ready messages; unreadable ones are left out."""
        walk = Walk(self.backlog)
        found = [walk.message(seen) for seen in walk.step(count)]
        return [message for message in found if message is not None]

    def take_out(self, places: list[SortKey]) -> list[Item]:
        """Take ready messages out to put them elsewhere: `moved` or `put_back` must follow for each.

        The places are sorted; messages no longer there are left out.
        """
        found: list[Item] = []
        if not self.touched:
            self.touch()
        assumed, paged = self.backlog.take_out(places, found)
        self.bytes += paged - assumed
        self.context.bytes += paged
        self.ready -= len(found)
        if paged != assumed:
            self._check_full()
        return found

    # -- unacked messages -------------------------------------------------------------------------------------------

    def _close(self, delivery: Delivery) -> None:
        subscription = delivery.subscription
        if subscription is not None:
            subscription.let_go(delivery)
        size = delivery.size
        self.unacked -= 1
        self.unacked_bytes -= size
        message = delivery.message
        if message is None:
            self.unkept -= size - MESSAGE_OVERHEAD
            self.context.bytes += size - MESSAGE_OVERHEAD  # `_give_back` subtracts it again
        elif message.holders != UNSHARED:
            self.context.leave(message)
        self._give_back(size)

    def tell_out(self) -> None:
        """Tell the log what is unacked, at the end of a turn: if the broker dies, that comes back with one more try.

        The log is not told of single messages. Everything owed is ready, unacked, delayed or unreadable, so whatever is
        owed before the first ready place is unacked, and it is enough to name the first ready message. An unacked
        message behind it, which occurs when another consumer gave one back, is covered once that one is delivered
        again.
        """
        if self._released:
            self._released = False
        elif self.unacked == 0 or self.delivered == self._told_delivered:
            return
        self._told_delivered = self.delivered
        first = self.backlog.first_offset() if self.ready else -1
        if self.unreadable:
            first = self._first_kept()[0][2]
        self.log.append_mark(self.ack_run, first)

    def _first_kept(self) -> list[SortKey]:
        """The first place that is owed and not unacked; empty when there is none."""
        places = self.backlog.first_place()
        if self.unreadable and (not places or self._first_unreadable < places[0]):
            return [self._first_unreadable]
        return places

    def out_before(self) -> tuple[int, int]:
        """The place before which everything owed is unacked."""
        places = self._first_kept()
        if places:
            return places[0][0], places[0][1]
        return self.log.next_offset - 1, self.log.position + 1

    # -- delayed messages -------------------------------------------------------------------------------------------

    def _hold_delayed(self, entry: Delivery) -> None:
        """Count a delayed message that is in memory."""
        message = entry.message
        if message is not None:
            self.context.bytes += entry.size
            if message.holders != UNSHARED:
                self.context.join(message)

    def _drop_delayed(self, entry: Delivery) -> None:
        """Undo `_hold_delayed`."""
        message = entry.message
        if message is not None:
            if message.holders != UNSHARED:
                self.context.leave(message)
            self.context.bytes -= entry.size

    # -- everything -------------------------------------------------------------------------------------------------

    def restore(self, items: list[Item]) -> None:
        """Fill a new queue with messages it owes, in order."""
        self.ack_run.ended -= len(items)
        for item in items:
            self.backlog.append(item)
            self.ready += 1
            self._grow(message_of(item))

    def restore_spans(self, spans: list[Span]) -> None:
        """Fill a new queue with messages that are in the log, without reading them."""
        self.backlog.restore(spans)
        self.ready = sum([span.live for span in spans])
        self.ack_run.ended -= self.ready
        self.bytes = self.backlog.cold
        self._check_full()

    def owed(self) -> list[SortKey]:
        """Places of all ready, unacked and unreadable messages, sorted. Delayed ones have no place yet."""
        entries = [*self.backlog.places(), *self.unreadable]
        for subscription in self.consumers.active:
            for delivery in subscription.held():
                entries.append((delivery.after_offset, delivery.sequence, delivery.offset, delivery.retry))
        entries.sort()
        return entries

    def add_owed_ranges(self, ranges: list[tuple[int, int]]) -> None:
        """Add what the queue owes to `ranges`, as (smallest, largest offset) of ranges."""
        offsets = [message.offset for message in self.backlog.in_memory()]
        offsets += [offset for _, _, offset, _ in self.unreadable]
        offsets += [entry.offset for entry in self.delayed.entries()]
        for subscription in self.consumers.active:
            offsets += [delivery.offset for delivery in subscription.held()]
        add_ranges(ranges, self.backlog.spans, offsets, self.tuning.stretch_near)

    def contents(self) -> list[tuple[Message, int]]:
        """All ready and unacked messages as (message, retry), in order. Reads those not in memory from the log."""
        known = {message.offset: message for message in self.backlog.in_memory()}
        for subscription in self.consumers.active:
            for delivery in subscription.held():
                if delivery.message is not None:
                    known[delivery.offset] = delivery.message
        found: list[tuple[Message, int]] = []
        for _, _, offset, retry in self.owed():
            message = known.get(offset) or self.log.fetch(offset)
            if message is not None:
                found.append((message, retry))
        return found

    def _clear_store(self) -> None:
        """Empty it: the queue is being deleted."""
        self._forget(self.bytes_in_memory())
        self.bytes = 0
        self.ready = 0
        self.unacked = 0
        self.unacked_bytes = 0
        self.unkept = 0
        self.backlog.clear()
        self.delayed.clear()
        if self._read_timer is not None:
            self.context.deadlines.cancel(self._read_timer)
            self._read_timer = None
        self.context.stalled -= int(self.stalled)
        self.stalled = False
        self.unreadable.clear()
        self.ack_run.ended = self.queued
        self._released = False  # nothing more is logged about it
