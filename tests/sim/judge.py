"""Whether what a broker wrote into its log was right to be written.

The broker decides much by itself: what expires, what is dropped for room, what becomes a dead letter, who is given
what. That is not predicted. Each entry is asked for its reason instead, with nothing but the book, the policies, the
time and what clients asked for in this step; and what had to be written has to be there.
"""

from penstock.core.deadletters import DELIVERIES, EXPIRED, FULL, QUEUE, REASON, REJECTED
from penstock.core.delivery import Delivery
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST
from penstock.core.queue import NEVER
from penstock.log.interface import Change
from penstock.message import (
    ACCEPT,
    DEAD,
    DROP,
    DUE,
    EXPIRE,
    MOVE,
    OUT,
    REJECT,
    RETURN,
    SETTLEMENT_NAMES,
    TO_CONSUMERS,
    Message,
    queue_of,
)

from .life import HUGE, SECOND, Life

Where = tuple[bytes, int]  # queue, offset
HUGE_MEMORY = 1 << 20


class Judge(Life):
    """`begin` before a step of the clients, then what they ask for is noted, and `settle_up` behind it."""

    def begin(self) -> None:
        self.own: list[Message] = []  # that were handed in, and are not in the log yet
        self.handed_in: list[Message] = []
        self.done: set[Where] = set()  # taken by `get`, or accepted
        self.rejected: dict[Where, int] = {}  # and when they are to be tried again
        self.returned = {place_of(delivery) for inbox in self.leaving for delivery in inbox.held()}
        self.buried: set[Where] = set()
        self.purged: list[Where] = []
        self.in_transit: set[Where] = set()  # taken out of their queues in order to be moved
        self.moves_to: bytes | None = None  # where things may be moved; empty for where they died
        self.kinds: set[str] = set()  # of changes that may be made
        self.letters: list[Message] = []  # that came in, and nobody knows yet what for
        self.may_delete: set[bytes] = set()
        self.full_before = {name for name, queue in self.broker.queues.items() if queue.full}
        self.held_before = set(self.held_by_clients())
        self.broker.set_time(self.now)

    def settle_up(self) -> None:
        """Ask every entry of the step for its reason; then compare."""
        entries, self.log.entries = self.log.entries, []
        self.held_now = set(self.held_by_clients())
        self.returned -= {place_of(delivery) for inbox in self.leaving for delivery in inbox.held()}
        self._busy: dict[bytes, set[int]] = {}
        self._taken = set(self.done)
        for inbox in self.inboxes:
            for message, _ in inbox.received:
                self.check_same(message)
                if not inbox.manual and message.route != TO_CONSUMERS:
                    self._taken.add((inbox.name, message.offset))
            inbox.received.clear()
        for entry in entries:
            self.history.append(entry)
            if isinstance(entry, Message):
                self._judge_message(entry)
            elif entry.kind == Change.SETTLED:
                self._judge_settlement(entry)
            else:
                self._judge_change(entry)
            self.book.apply(entry)
            self.replay.apply(entry)
        assert not self.letters, f"nobody died or was moved for {self.letters}"
        assert not self._taken, f"taken, and not written down: {self._taken}"
        assert not self.purged, f"not purged: {self.purged}"
        for where in [*self.rejected, *self.returned, *self.buried]:
            raise AssertionError(f"nothing was written of {where}")
        self._check_given()
        self._check_leaving()
        self._check_waiters()
        self.compare()

    def check_same(self, message: Message) -> None:
        known = self.book.messages.get(message.offset)
        if known is not None and known is not message:
            assert message.body == known.body
            assert message.id == known.id

    # -- what is in consumers' hands when the broker dies -----------------------------------------------------------

    def return_lost(self) -> None:
        """What was out comes back as if its consumers had left."""
        self.begin()
        self.returned = {(lost.queue.name, offset) for lost in self.broker.lost for offset in lost.offsets}
        self.note(f"lost {sorted(self.returned)}")
        self.broker.return_lost(self.now)
        self.settle_up()

    def tell_out(self) -> None:
        """At the end of a turn the log is told what is out: nothing else, and all that has nothing ready before it.

        A queue that gave nothing out says nothing, even if what was ready before something that is out has gone.
        """
        self.begin()
        self.broker.end_turn()
        told = {entry.queue for entry in self.log.entries if isinstance(entry, Change) and entry.number == OUT}
        assert all(isinstance(entry, Change) and entry.number == OUT for entry in self.log.entries)
        self.settle_up()
        for name, page in self.book.queues.items():
            held = {delivery.offset for delivery in self.held_now if held_in(delivery) == name}
            assert page.out - page.stale <= held, f"{page.out} of {name!r} should be out, and {held} are"
            for offset, _ in page.state()[3]:
                if offset not in held or name not in told:
                    break
                assert offset in page.out, f"{offset} of {name!r} is out, and nobody said so"

    # -- messages ---------------------------------------------------------------------------------------------------

    def _judge_message(self, message: Message) -> None:
        if self.own and message is self.own[0]:
            del self.own[0]
        else:
            assert not any(message is mine for mine in self.own), f"{message!r} came before {self.own[0]!r}"
            assert message.published_at == self.now
            self.letters.append(message)

    def _letter_for(self, message: Message) -> Message:
        assert self.letters, f"{message!r} went on, and is nowhere"
        letter = self.letters.pop()
        assert (letter.id, letter.event, letter.body) == (message.id, message.event, message.body)
        return letter

    # -- settlements ------------------------------------------------------------------------------------------------

    def _judge_settlement(self, change: Change) -> None:
        where = (change.queue, change.offset)
        how = change.number
        if how == OUT:
            return
        page = self.book.queues[change.queue]
        message = self.book.messages[change.offset]
        if how == DUE:
            due_at = page.delayed[change.offset][0]
            assert due_at <= self.now, f"{where} is due at {due_at}, and it is {self.now}"
            return
        if how == DROP and message.route != TO_CONSUMERS and self._is_turned_away(where):
            return
        if how == DROP and message.revoked and change.offset in page.delayed:
            return
        assert change.offset in page.owed, f"{SETTLEMENT_NAMES[how]} of {where}, which is not owed"
        retry = page.owed[change.offset][1]
        if how == ACCEPT:
            assert where in self._taken, f"accepted {where}, and nobody took it"
            self._taken.remove(where)
            if where not in self.done:
                self._check_first(where)
                self._check_in_time(where, message)
        elif how == REJECT:
            assert where in self.rejected or where in self.buried, f"rejected {where}, and nobody did"
            expected = self.rejected.pop(where, 0)
            assert change.due_at == expected, f"rejected {where} to {change.due_at}, and not {expected}"
            if where in self.buried:
                self.buried.remove(where)
                self._check_no_grave(where)
            elif self._is_worn_out(where, message, retry + 1):
                self._check_no_grave(where)
        elif how == RETURN:
            assert where in self.returned, f"returned {where}, and nobody left"
            self.returned.remove(where)
            if self._is_worn_out(where, message, retry + 1):
                self._check_no_grave(where)
        elif how == MOVE:
            letter = self._letter_for(message)
            assert self.moves_to is not None
            target = self.moves_to or (message.headers or {}).get(QUEUE, b"")
            assert queue_of(letter) == target
        elif how == DEAD:
            letter = self._letter_for(message)
            headers = letter.headers or {}
            assert queue_of(letter) == self.policy_of(change.queue).dead_letter
            assert headers[QUEUE] == change.queue
            self._check_reason(where, message, retry, headers[REASON].decode())
        elif how == EXPIRE:
            assert message.revoked or not self.policy_of(change.queue).dead_letter
            self._check_reason(where, message, retry, EXPIRED)
        else:
            assert how == DROP
            self._judge_drop(where, message, retry)

    def _judge_drop(self, where: Where, message: Message, retry: int) -> None:
        if self.purged and where == self.purged[0]:
            del self.purged[0]
        elif message.revoked:
            self._forget(where)
        elif where in self.buried:
            assert not self.policy_of(where[0]).dead_letter
            self.buried.remove(where)
        elif where in self.rejected or (where in self.returned and self._may_end(where, message, retry + 1)):
            assert self._may_end(where, message, retry + 1)
            self._forget(where)
        else:
            self.returned.discard(where)  # after a crash, a dead letter of another queue may come before its return
            assert self.policy_of(where[0]).full == DROP_OLDEST, f"dropped {where} for no reason"
            self._check_was_full(where)
            self._check_first(where)

    def _forget(self, where: Where) -> None:
        self.rejected.pop(where, None)
        self.returned.discard(where)
        self.buried.discard(where)

    def _check_reason(self, where: Where, message: Message, retry: int, reason: str) -> None:
        if reason == EXPIRED:
            expires_at = self.expiry_of(where[0], message)
            assert 0 < expires_at <= self.now, f"{where} expired at {self.now}, and should at {expires_at}"
        elif reason == REJECTED:
            assert where in self.buried
            self.buried.remove(where)
        elif reason == DELIVERIES:
            assert where in self.rejected or where in self.returned
            assert self._is_worn_out(where, message, retry + 1)
            self._forget(where)
        else:
            assert reason == FULL
            self.returned.discard(where)
            assert self.policy_of(where[0]).full == DEAD_LETTER
            self._check_was_full(where)
            self._check_first(where)

    def _is_turned_away(self, where: Where) -> bool:
        """A message that was taken in just now, for other queues, and that this one had no room for."""
        if where[1] != self.book.next_offset - 1 or not self.history or len(self.history) < 2:
            return False
        if self.book.messages[where[1]] not in self.handed_in or where in self._taken:
            return False
        page = self.book.queues[where[0]]
        if where[1] in page.owed or where[1] in page.delayed:
            self._check_was_full(where)
            return True
        return False

    def _check_was_full(self, where: Where) -> None:
        policy, page = self.policy_of(where[0]), self.book.queues[where[0]]
        assert policy.bytes_max < HUGE or len(page.owed) + len(page.delayed) >= policy.length_max, (
            f"{where} had to make room, and there was some"
        )

    def _check_no_grave(self, where: Where) -> None:
        """What should have become a dead letter and did not has a reason for it."""
        name = self.policy_of(where[0]).dead_letter
        assert name, f"{where} should have been dropped"
        grave = self.broker.queues.get(name)
        # It may have had no room at that moment, and some of what is in it may have been given up later in the step.
        is_full = name in self.full_before or (grave is not None and grave.full)
        has_room = not self.broker.refuse_reason and not is_full
        if self.limits.memory_bytes_max < HUGE_MEMORY:
            has_room = False  # dead letters that have to be read take a part of the memory at most
        assert not has_room or self.disk.reads_failed, f"{where} should have died"

    def _is_worn_out(self, where: Where, message: Message, retry: int) -> bool:
        limits = [self.policy_of(where[0]).deliveries_max, message.options.deliveries_max if message.options else 0]
        tries_max = min((limit for limit in limits if limit), default=0)
        return message.revoked or 0 < tries_max <= retry

    def _may_end(self, where: Where, message: Message, retry: int) -> bool:
        """Whether it was tried for the last time, and leaves nothing behind."""
        return self._is_worn_out(where, message, retry) and not self.policy_of(where[0]).dead_letter

    def expiry_of(self, name: bytes, message: Message) -> int:
        ttl, terms = self.policy_of(name).ttl, message.options
        times = [terms.expires_at] if terms is not None and terms.expires_at else []
        if ttl:
            times.append(max(message.published_at, terms.due_at if terms is not None else 0) + ttl)
        return min(times, default=0)

    # -- order and time of deliveries -------------------------------------------------------------------------------

    def busy(self, name: bytes) -> set[int]:
        """Offsets of a queue that were not ready, at least for a part of this step."""
        found = self._busy.get(name)
        if found is None:
            held = [*self.held_before, *self.held_now]
            found = {delivery.offset for delivery in held if held_in(delivery) == name}
            found |= {offset for queue_name, offset in self.in_transit if queue_name == name}
            queue = self.broker.queues.get(name)
            if queue is not None:
                found |= {offset for _, _, offset, _ in queue.unreadable}
            self._busy[name] = found
        return found

    def ready(self, name: bytes) -> list[int]:
        """Offsets of what is ready, in order."""
        queue = self.broker.queues[name]
        out = {delivery.offset for delivery in self.held_by_clients() if held_in(delivery) == name}
        out |= {offset for _, _, offset, _ in queue.unreadable}
        return [offset for offset, _ in self.book.queues[name].state()[3] if offset not in out]

    def _check_first(self, where: Where) -> None:
        owed, busy = self.book.queues[where[0]].owed, self.busy(where[0])
        place = owed[where[1]][0]
        before = [offset for offset, (other, _) in owed.items() if other < place and offset not in busy]
        assert not before, f"{where} was taken before {before}"

    def _check_in_time(self, where: Where, message: Message) -> None:
        expires_at = self.expiry_of(where[0], message)
        if 0 < expires_at <= self.now and message not in self.handed_in:
            self._check_no_grave(where)

    def _check_given(self) -> None:
        """What was given to consumers was the first of what was ready, and not for those who were to have nothing."""
        last: dict[bytes, int] = {}
        for delivery in self.held_now - self.held_before:
            name, offset = held_in(delivery), delivery.offset
            page = self.book.queues[name]
            place, retry = page.owed[offset]
            assert retry == delivery.retry
            assert not page.paused
            message = self.book.messages[offset]
            assert not message.revoked
            self._check_in_time((name, offset), message)
            last[name] = max(last.get(name, 0), place)
        for name, place in last.items():
            page = self.book.queues[name]
            before = [offset for offset in self.ready(name) if page.owed[offset][0] < place]
            assert not before, f"{before} of {name!r} was left, and what is behind it was given"

    def _check_leaving(self) -> None:
        """Who has left and still holds something is known to its queue, which waits for that."""
        self.leaving = [inbox for inbox in self.leaving if inbox.in_flight]
        for name, queue in self.broker.queues.items():
            assert queue.consumers.leaving == [inbox for inbox in self.leaving if inbox.name == name]
            assert not queue.consumers.leaving or not queue.consumers.waiting

    def _check_waiters(self) -> None:
        """Who sent a request hears its end once, and is not left waiting for what will not be done."""
        gone: list[int] = []
        for offset, waiter in self.waiters.items():
            ends = [word for word, _ in waiter.told if word != "delivered"]
            assert len(ends) < 2, f"{offset} was told {waiter.told}"
            if ends:
                gone.append(offset)
                continue
            message = self.book.messages[offset]
            page = self.book.queues.get(message.event)
            is_there = page is not None and (offset in page.owed or offset in page.delayed)
            was_done = bool(waiter.told)
            assert is_there or was_done or message.requester is None, f"nobody was told of the end of {message!r}"
        for offset in gone:
            del self.waiters[offset]

    # -- changes ----------------------------------------------------------------------------------------------------

    def _judge_change(self, change: Change) -> None:
        name = change.queue
        if change.kind == Change.DECLARED:
            return
        if change.kind == Change.FORGOTTEN and Change.COMMITTED in self.kinds:
            idle_since = self.book.committed_at[name]
            assert idle_since <= self.now - self.limits.writer_seconds * SECOND, f"{name!r} was forgotten too early"
            return
        if change.kind == Change.COMMITTED:
            assert change.at == self.now
        if change.kind == Change.DELETED and name not in self.may_delete:
            page = self.book.queues[name]
            assert page.expires_after != NEVER, f"{name!r} was to stay"
            assert not [inbox for inbox in self.inboxes if inbox.name == name and not inbox.over]
            when = self.expiries.get(name)
            assert when is not None, f"{name!r} went, and its time was not running"
            assert when <= self.now, f"{name!r} went at {self.now}, and not at {when}"
            self.forget(name)
            return
        assert change.kind in self.kinds, f"nobody asked for {change!r}"
        if change.kind == Change.DELETED:
            self.forget(name)

    def forget(self, name: bytes) -> None:
        self.expiries.pop(name, None)
        self.inboxes = [inbox for inbox in self.inboxes if inbox.name != name]
        self.leaving = [inbox for inbox in self.leaving if inbox.name != name]
        self.returned = {where for where in self.returned if where[0] != name}  # what was not back yet is gone as well

    def held_by_clients(self) -> list[Delivery]:
        """By those that are there, and by those that have left and are not done with."""
        return [delivery for inbox in [*self.inboxes, *self.leaving] for delivery in inbox.held()]


def held_in(delivery: Delivery) -> bytes:
    assert delivery.subscription is not None
    return delivery.subscription.name


def place_of(delivery: Delivery) -> Where:
    return held_in(delivery), delivery.offset
