"""State that all queues of a broker share: the time, the timers, and memory in use."""

import itertools
from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from penstock.core.deadlines import Deadlines, Timer
from penstock.core.limits import Limits
from penstock.log.tuning import Tuning
from penstock.message import MESSAGE_OVERHEAD, Message

if TYPE_CHECKING:
    from penstock.core.queue import Queue
    from penstock.core.queue_store import QueueStore

LOOK_LEAST: Final = 64  # unacked bytes per message, on average, that make a queue worth searching
PAGED_PART: Final = 8  # once 1/PAGED_PART of the memory was read from the log, there may be as much to release


class Alarm:
    """An event about a queue that operators should hear of."""

    FILLING: Final = "queue.filling"  # it has passed the alarm mark below its limit
    FULL: Final = "queue.full"  # it has reached its limit, and its policy for full queues is being applied

    def __init__(self, kind: str, queue: bytes, full: str, length: int, size: int, limit_name: str, limit: int) -> None:
        self.kind = kind
        self.queue = queue
        self.full = full  # what the policy does with a full queue
        self.length = length
        self.bytes = size
        self.limit_name = limit_name
        self.limit = limit

    def __repr__(self) -> str:
        return f"<Alarm {self.kind} {self.queue!r} {self.limit_name}={self.limit}>"


class DeadLetters:
    """Takes over the messages that queues give up."""

    def take(self, queue: "QueueStore", message: Message, retry: int, reason: str) -> bool:
        """Put the message into the dead-letter queue that the policy names; False when it cannot be accepted now."""
        raise NotImplementedError


class BrokerContext:
    """State and totals that all queues of a broker share."""

    def __init__(self, deadlines: Deadlines, dead_letters: DeadLetters, limits: Limits, tuning: Tuning) -> None:
        self.deadlines = deadlines
        self.dead_letters = dead_letters
        self.tuning = tuning
        self.now = 0  # as last set
        self.work: i64 = 0  # units of work ever done, see `server.turns`: whatever looks at n things adds n
        self.alarms: list[Alarm] = []  # whoever reports them empties the list
        self.queues: dict[bytes, Queue] = {}
        self.bytes = 0  # in memory, overhead included; a message in several queues counts once
        self.bytes_max = limits.memory_bytes_max  # from here on nothing is read for consumers that hold messages
        self.keep_max = limits.memory_bytes_max // 4  # above this, nothing is kept that the log can give back
        self.paged = 0  # bytes read from the log since `free_memory` was last done
        self.warm: dict[QueueStore, None] = {}  # queues that may have messages in memory; the last checked is last
        self._to_free = 0  # how many of those are still to be checked
        self.held_up: list[Queue] = []  # queues whose consumers got nothing because memory was short, in order
        self._relief = Timer(self._resume_held_up)
        self._buried_bytes = 0  # bytes of dead letters that had to be read and may not be written yet ...
        self._buried_end = 0  # ... but are once the log is readable up to this offset
        self.unsent = 0  # approximate bytes of large messages delivered that sockets have not taken yet
        self.unsent_max = 0  # above this, the next large message waits; 0: they are not counted
        self.waiting_to_send: list[Queue] = []  # queues whose first message waits for that, in order
        self._sending = Timer(self._send_more)
        self.touched: list[QueueStore] = []  # changed in this turn, each listed once; `end_turn` checks them
        self.stalled = 0  # queues that wait for the log to be readable again
        # The last queue that a publish found congested. Whoever acts on it resets it.
        self.congested: Queue | None = None
        self.given = 0  # bytes of messages delivered in this turn, not counting small ones
        self.busy_for = ""  # for whom work is left over from this turn, without a new request
        self.publisher = ""  # the current publisher: a user, or an address if there are no users
        self.unsent_of: dict[str, int] = {}  # `unsent`, by user or address
        self.read_end = 0  # the value of the log's `read_bytes` at which reading continues in the next turn

    def begin_turn(self, read_bytes: int, read_at_once: int) -> None:
        """Reset the limits of bytes delivered and bytes read in one turn."""
        self.given = 0
        self.read_end = read_bytes + read_at_once

    def join(self, message: Message) -> None:
        """Correct the count after a queue added a message that other queues hold already."""
        if message.holders > 0:
            self.bytes -= message.size - MESSAGE_OVERHEAD
        message.holders += 1

    def leave(self, message: Message) -> None:
        """Correct the count before a queue removes a message that other queues still hold."""
        message.holders -= 1
        if message.holders > 0:
            self.bytes += message.size - MESSAGE_OVERHEAD

    def free_memory(self) -> int:
        """Release messages that the log can give back, down to a quarter of the limit; returns the bytes freed.

        With very many queues, a call checks only some of them, the largest first; `is_freeing` tells whether any are
        left.
        """
        warm = self.warm
        if not self._to_free:
            self._to_free = len(warm)
        some = list(itertools.islice(warm, min(self.tuning.freed_at_once, self._to_free)))
        self._to_free -= len(some)
        freed = 0
        for queue in sorted(some, key=_bytes_in_memory, reverse=True):
            if self.bytes < self.keep_max:
                break
            freed += queue.free_memory()
        if self.bytes >= self.keep_max:
            # Many queues with a little each: search their unacked messages as well.
            for queue in some:
                freed += queue.free_unacked(LOOK_LEAST * queue.unacked)
        else:
            self._to_free = 0
        for queue in some:
            del warm[queue]
            if queue.touched or queue.bytes_in_memory():
                warm[queue] = None
            else:
                queue.is_warm = False
        if not self._to_free:
            self.paged = 0
        return freed

    @property
    def is_freeing(self) -> bool:
        """Whether there are queues that `free_memory` has not checked yet."""
        return self._to_free > 0

    def warm_up(self, queue: "QueueStore") -> None:
        """Note that a queue may have messages in memory."""
        queue.is_warm = True
        self.warm[queue] = None

    def forget(self, queue: "QueueStore") -> None:
        """Remove a deleted queue."""
        queue.is_warm = False
        self.warm.pop(queue, None)
        self._to_free = min(self._to_free, len(self.warm))

    def make_room(self) -> bool:
        """With memory short, whether there is room to read a message after all.

        Checking the queues is worth it only once much was read since the last time.
        """
        if self.paged * PAGED_PART >= self.bytes_max:
            self.free_memory()
        return self.bytes < self.bytes_max

    def may_bury(self, readable: int) -> bool:
        """Whether one more message may be read to become a dead letter, which stays in memory until it is written.

        Messages with offsets below `readable` are written, and can be released.
        """
        if readable >= self._buried_end:
            self._buried_bytes = 0
        if self._buried_bytes > self.keep_max:
            return False
        if self.bytes > self.keep_max and self.paged * PAGED_PART >= self.bytes_max:
            self.free_memory()
        return True

    def buried(self, size: int, end: int) -> None:
        """Count such a message, which is in the log before offset `end`."""
        self._buried_bytes += size
        self._buried_end = end
        self.paged += size

    def may_send(self, size: int, holder: str) -> bool:
        """Whether a large message may be delivered now to this user or address; always true when nothing is unsent.

        A holder with nothing unsent does not wait for slow ones, unless the total is twice the limit.
        """
        if self.unsent_max == 0 or self.unsent == 0 or self.unsent + size <= self.unsent_max:
            return True
        return holder not in self.unsent_of and self.unsent <= 2 * self.unsent_max

    def sends(self, size: int, holder: str) -> None:
        """Count a large message that is delivered."""
        self.unsent += size
        self.unsent_of[holder] = self.unsent_of.get(holder, 0) + size

    def sent(self, unsent_of: dict[str, int]) -> None:
        """Set how many bytes sockets have not taken yet, by user or address."""
        unsent = 0
        for size in unsent_of.values():
            unsent += size
        is_less = unsent < self.unsent
        for holder in self.unsent_of:
            is_less = is_less or holder not in unsent_of
        self.unsent = unsent
        self.unsent_of = unsent_of
        if self.waiting_to_send and is_less and not self._sending.armed:
            self.deadlines.set(self._sending, self.now)

    def relieve(self) -> None:
        """After memory was freed: if there is room, schedule the queues that wait for it."""
        if self.held_up and self.bytes < self.bytes_max and not self._relief.armed:
            self.deadlines.set(self._relief, self.now)

    def _resume_held_up(self, now: int) -> None:
        """Resume queues that were held up for lack of memory."""
        for _ in range(len(self.held_up)):
            if not self.held_up or self.bytes >= self.bytes_max:
                return
            self.held_up.pop(0).go_on()
        self.relieve()

    def _send_more(self, now: int) -> None:
        """Resume queues whose large messages waited for sockets to take earlier ones."""
        waiting = self.waiting_to_send
        self.waiting_to_send = []
        for queue in waiting:
            if self.queues.get(queue.name) is not queue:
                continue
            if self.may_send(queue.size_to_send, queue.consumers.next_holder()):
                queue.send_on()
            else:
                self.waiting_to_send.append(queue)


def _bytes_in_memory(queue: "QueueStore") -> int:
    return queue.bytes_in_memory()
