"""What all queues of a broker share: the time, the timers, and whom to tell."""

import itertools
from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from penstock.core.deadlines import Deadlines, Timer
from penstock.core.limits import Limits
from penstock.log.tuning import Tuning
from penstock.message import MESSAGE_OVERHEAD, Message

if TYPE_CHECKING:
    from penstock.core.queue import Queue

LOOK_LEAST: Final = 64  # bytes of each message that a consumer holds, in the middle, for it to be worth a look
PAGED_PART: Final = 8  # when an eighth of the memory was read anew, there may be as much to let go of


class Alarm:
    """Something about a queue that people should hear of."""

    FILLING: Final = "queue.filling"  # it has passed a mark below its limit
    FULL: Final = "queue.full"  # it has reached its limit, and what its policy says is being done

    def __init__(self, kind: str, queue: "Queue", limit_name: str, limit: int) -> None:
        self.kind = kind
        self.queue = queue.name
        self.length = queue.length()
        self.bytes = queue.size()
        self.full = queue.policy.full
        self.limit_name = limit_name
        self.limit = limit

    def __repr__(self) -> str:
        return f"<Alarm {self.kind} {self.queue!r} {self.limit_name}={self.limit}>"


class DeadLetters:
    """Where queues hand over what they give up."""

    def take(self, queue: "Queue", message: Message, retry: int, reason: str) -> bool:
        """Put the message into the dead-letter queue that the policy names; False when it cannot be taken now."""
        raise NotImplementedError


class ReliefTimer(Timer):
    """There is room in memory again: those who were held up for want of it go on."""

    def __init__(self, usage: "Usage") -> None:
        super().__init__()
        self.usage = usage

    def fire(self, now: int) -> None:
        usage = self.usage
        for _ in range(len(usage.held_up)):
            if not usage.held_up or usage.bytes >= usage.bytes_max:
                return
            usage.held_up.pop(0).go_on()
        usage.relieve()


class SendTimer(Timer):
    """Sockets have taken what they were given: large messages can follow."""

    def __init__(self, usage: "Usage") -> None:
        super().__init__()
        self.usage = usage

    def fire(self, now: int) -> None:
        usage = self.usage
        waiting = usage.waiting_to_send
        usage.waiting_to_send = []
        for queue in waiting:
            if usage.queues.get(queue.name) is not queue:
                continue
            if usage.may_send(queue.size_to_send, queue.next_holder()):
                queue.send_on()
            else:
                usage.waiting_to_send.append(queue)


class Usage:
    """What all queues of a broker share, and what they hold together."""

    def __init__(self, deadlines: Deadlines, dead_letters: DeadLetters, limits: Limits, tuning: Tuning) -> None:
        self.deadlines = deadlines
        self.dead_letters = dead_letters
        self.tuning = tuning
        self.now = 0  # the time that was said last
        self.work: i64 = 0  # that was ever done, see `server.turns`: what looks at many things adds how many
        self.alarms: list[Alarm] = []  # whoever tells people empties it
        self.queues: dict[bytes, Queue] = {}
        self.bytes = 0  # in memory, overhead included; what several queues hold counts once
        self.bytes_max = limits.memory_bytes_max  # from here on nothing is read for consumers that hold something
        self.keep_max = limits.memory_bytes_max // 4  # above it nothing is kept that the log can give back
        self.paged = 0  # bytes that were read from the log since `free_memory` was last done
        self.warm: dict[Queue, None] = {}  # queues that may have something in memory; those looked at last are last
        self._to_free = 0  # of those, how many are still to be looked at
        self.held_up: list[Queue] = []  # with consumers that were given nothing because memory was short, in order
        self._relief = ReliefTimer(self)
        self._buried_bytes = 0  # of dead letters that had to be read, and may not be written yet ...
        self._buried_end = 0  # ... but are once the log is readable up to here
        self.unsent = 0  # bytes of large messages that were given out, and that sockets have not taken yet, about
        self.unsent_max = 0  # above it the next large one waits; 0: nobody counts them
        self.waiting_to_send: list[Queue] = []  # whose first message waits for that, in order
        self._sending = SendTimer(self)
        self.touched: list[Queue] = []  # in this turn, each once; whoever ends the turn looks at them
        self.stalled = 0  # queues that wait for the log to be readable again
        # The queue that a publish found congested last. Whoever acts on it resets it.
        self.congested: Queue | None = None
        self.given = 0  # bytes of messages that were given out in this turn, except for small ones
        self.busy_for = ""  # for whom more is to be done than was in this turn, though nobody asks for it
        self.publisher = ""  # who publishes at present: a user or, where there are none, an address
        self.unsent_of: dict[str, int] = {}  # `unsent`, by user or address
        self.read_end = 0  # when so much was read from the log, by its `read_bytes`, the next turn reads on

    def begin_turn(self, read_bytes: int, read_at_once: int) -> None:
        """So much was read from the log up to now, and may be in this turn."""
        self.given = 0
        self.read_end = read_bytes + read_at_once

    def join(self, message: Message) -> None:
        """A queue has counted all of a message that went to several: if it is not the first, the bytes are there."""
        if message.holders > 0:
            self.bytes -= message.size - MESSAGE_OVERHEAD
        message.holders += 1

    def leave(self, message: Message) -> None:
        """A queue is about to count all of such a message as gone: if it is not the last, the bytes stay."""
        message.holders -= 1
        if message.holders > 0:
            self.bytes += message.size - MESSAGE_OVERHEAD

    def free_memory(self) -> int:
        """Let go of what the log can give back, down to a quarter of the limit; how much.

        Of a great many queues some are looked at, the longest of them first: while `is_freeing`, there are more.
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
            # Many queues with a little each: what consumers hold of them is looked through as well.
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
        """Whether there are queues that `free_memory` has not come to yet."""
        return self._to_free > 0

    def warm_up(self, queue: "Queue") -> None:
        """Something of a queue may be in memory."""
        queue.is_warm = True
        self.warm[queue] = None

    def forget(self, queue: "Queue") -> None:
        """A queue is gone."""
        queue.is_warm = False
        self.warm.pop(queue, None)
        self._to_free = min(self._to_free, len(self.warm))

    def make_room(self) -> bool:
        """Memory is short, and something is to be read: whether there is room after all.

        To look at all queues is worth it once much was read since it was done last.
        """
        if self.paged * PAGED_PART >= self.bytes_max:
            self.free_memory()
        return self.bytes < self.bytes_max

    def may_bury(self, readable: int) -> bool:
        """Whether one more message that is not in memory may become a dead letter, which is, until it is written.

        What has an offset below `readable` is written, and can be let go of.
        """
        if readable >= self._buried_end:
            self._buried_bytes = 0
        if self._buried_bytes > self.keep_max:
            return False
        if self.bytes > self.keep_max and self.paged * PAGED_PART >= self.bytes_max:
            self.free_memory()
        return True

    def buried(self, size: int, end: int) -> None:
        """One of so many bytes did, and is in the log before this offset."""
        self._buried_bytes += size
        self._buried_end = end
        self.paged += size

    def may_send(self, size: int, holder: str) -> bool:
        """Whether a large message may be given out now, to this user or address; where nothing is unsent, any may.

        Who has nothing unsent does not wait for others who are slow, unless they are so many that it is twice as much.
        """
        if self.unsent_max == 0 or self.unsent == 0 or self.unsent + size <= self.unsent_max:
            return True
        return holder not in self.unsent_of and self.unsent <= 2 * self.unsent_max

    def sends(self, size: int, holder: str) -> None:
        """A large message is given out."""
        self.unsent += size
        self.unsent_of[holder] = self.unsent_of.get(holder, 0) + size

    def sent(self, unsent_of: dict[str, int]) -> None:
        """So much is left that sockets have not taken yet, by user or address."""
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
        """Bytes were given back: where that makes room, let those go on who wait for it, in a moment."""
        if self.held_up and self.bytes < self.bytes_max and not self._relief.armed:
            self.deadlines.set(self._relief, self.now)


def _bytes_in_memory(queue: "Queue") -> int:
    return queue.bytes_in_memory()
