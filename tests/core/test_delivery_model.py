"""Delays, times, tries, dead letters, limits and deduplication against a model, and against a replay of the log.

One queue under a policy, its dead-letter queue, and at most one consumer of each at a time. The model is lists and
plain rules; after each step the broker must agree with it, and so must a broker rebuilt from the log.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.core.broker import Broker
from penstock.core.invariants import wrong_memory
from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, REFUSE, Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.errors import Refused
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message

SECOND = 1_000_000
START = 1000 * SECOND
NEVER = 1 << 60
DELAYS = st.sampled_from([0, 0, 0, 1, 2, 5])


class Letter:
    """A message as the model has it."""

    def __init__(self, number: int, offset: int, base: int, expires: int, tries: int) -> None:
        self.number = number
        self.offset = offset
        self.base = base  # from when its time is counted
        self.expires = expires
        self.tries = tries
        self.retry = 0
        self.place = 0
        self.due = 0


class BrokerAgainstModel(RuleBasedStateMachine):
    @initialize(
        tries=st.sampled_from([0, 0, 2, 3]),
        ttl=st.sampled_from([0, 0, 4]),
        pause=st.sampled_from([0, 0, 2]),
        dead=st.booleans(),
        length=st.sampled_from([3, 1000]),
        full=st.sampled_from([REFUSE, DROP_OLDEST, DEAD_LETTER]),
    )
    def start(self, tries: int, ttl: int, pause: int, dead: bool, length: int, full: str) -> None:
        self.log = MemoryLog(keep=True)
        self.broker = Broker(self.log, Limits())
        self.now = START
        self.broker.set_time(self.now)
        self.tries, self.ttl, self.pause, self.length, self.full = tries, ttl * SECOND, pause * SECOND, length, full
        self.dead_letter = b"dead" if dead else b""
        policy = Rule(
            [b"q"],
            length_max=length,
            full=full,
            ttl=self.ttl,
            deliveries_max=tries,
            retry_delay=self.pause,
            retry_backoff=2.0,
            dead_letter=self.dead_letter,
        )
        self.broker.set_policies([policy])
        self.broker.declare(b"q")
        self.broker.declare(b"dead")
        self.clock = self.count = self.offsets = 0
        self.ready: list[Letter] = []
        self.delayed: list[Letter] = []
        self.held: list[Letter] = []
        self.graves: list[Letter] = []
        self.known: dict[bytes, int] = {}
        self.inbox: Inbox | None = None
        self.credit = 0
        self.got: list[tuple[int, int]] = []

    # -- the model ---------------------------------------------------------------------------------------------------

    def to_back(self, letter: Letter) -> None:
        self.clock += 1
        letter.place = self.clock
        self.ready.append(letter)

    def give_up(self, letter: Letter) -> None:
        if self.dead_letter:
            self.graves.append(Letter(letter.number, self.offsets, self.now, NEVER, 0))
            self.offsets += 1

    def is_over(self, letter: Letter) -> bool:
        return self.now >= min(letter.expires, letter.base + self.ttl if self.ttl else NEVER)

    def is_worn_out(self, letter: Letter) -> bool:
        return any(most and letter.retry >= most for most in (letter.tries, self.tries))

    def settle(self) -> None:
        """Give what is ready to the consumer, if there is one that takes more."""
        self.ready.sort(key=lambda letter: letter.place)
        while self.ready and self.inbox is not None and len(self.held) < self.credit:
            letter = self.ready.pop(0)
            if self.is_over(letter):
                self.give_up(letter)
            else:
                self.held.append(letter)
                self.got.append((letter.number, letter.retry))

    def is_full(self) -> bool:
        return len(self.ready) + len(self.held) + len(self.delayed) >= self.length

    def makes_room(self) -> bool:
        if not self.is_full():
            return True
        if not self.ready or self.full == REFUSE or (self.full == DEAD_LETTER and not self.dead_letter):
            return False
        oldest = self.ready.pop(0)
        if self.full == DEAD_LETTER:
            self.give_up(oldest)
        return True

    # -- what is done ------------------------------------------------------------------------------------------------

    @rule(
        delay=DELAYS,
        ttl=st.sampled_from([0, 0, 3]),
        tries=st.sampled_from([0, 0, 1, 2]),
        dedup=st.sampled_from([b"", b"", b"a", b"b"]),
    )
    def put(self, delay: int, ttl: int, tries: int, dedup: bytes) -> None:
        number = self.count
        self.count += 1
        due = self.now + delay * SECOND
        message = Message(dedup or b"%d" % number, b"q", b"%d" % number, self.now, "test")
        if delay or ttl or tries or dedup:
            message.options = DeliveryOptions(
                due if delay else 0, due + ttl * SECOND if ttl else 0, tries, dedup_seconds=4 if dedup else 0
            )
        if dedup and self.known.get(dedup, 0) > self.now:
            self.broker.put(b"q", message)
            return
        if not self.makes_room():
            try:
                self.broker.put(b"q", message)
                raise AssertionError("should have been refused")
            except Refused:
                return
        self.broker.put(b"q", message)
        if dedup:
            self.known[dedup] = self.now + 4 * SECOND
        letter = Letter(number, self.offsets, due, due + ttl * SECOND if ttl else NEVER, tries)
        self.offsets += 1
        if delay:
            letter.due = due
            self.delayed.append(letter)
        else:
            self.to_back(letter)
            self.settle()

    @precondition(lambda self: self.inbox is None)
    @rule(credit=st.integers(1, 3))
    def subscribe(self, credit: int) -> None:
        self.inbox, self.credit, self.got = Inbox(b"c", manual=True, credit=credit), credit, []
        self.broker.subscribe(b"q", self.inbox, None, self.now)
        self.settle()

    @precondition(lambda self: self.inbox is not None)
    @rule()
    def cancel(self) -> None:
        assert self.inbox is not None
        self.broker.cancel(self.inbox, self.now)
        self.inbox = None
        for letter in self.held:
            letter.retry += 1
            if self.is_worn_out(letter):
                self.give_up(letter)
            else:
                self.ready.append(letter)
        self.held = []
        self.settle()

    @precondition(lambda self: self.held)
    @rule(data=st.data(), how=st.sampled_from(["accept", "reject", "put off", "bury", "release"]))
    def end(self, data: st.DataObject, how: str) -> None:
        assert self.inbox is not None
        place = data.draw(st.integers(0, len(self.held) - 1))
        delivery, letter = self.inbox.held()[place], self.held.pop(place)
        if how == "accept":
            self.broker.accept(delivery)
        elif how == "release":
            self.broker.release(delivery)
            self.ready.append(letter)
        elif how == "bury":
            self.broker.bury(delivery)
            letter.retry += 1
            self.give_up(letter)
        else:
            due = self.now + 3 * SECOND
            if how == "reject":
                self.broker.reject(delivery)
                due = self.now + self.pause * 2**letter.retry if self.pause else 0
            else:
                self.broker.reject(delivery, due)
            letter.retry += 1
            if self.is_worn_out(letter):
                self.give_up(letter)
            elif due:
                letter.due = due
                self.delayed.append(letter)
            else:
                self.to_back(letter)
        self.settle()

    @precondition(lambda self: self.inbox is None)
    @rule()
    def take_one(self) -> None:
        taken = self.broker.get(b"q")
        while self.ready and self.is_over(self.ready[0]):
            self.give_up(self.ready.pop(0))
        expected = self.ready.pop(0).number if self.ready else None
        assert (None if taken is None else int(taken.body)) == expected

    @rule(seconds=st.sampled_from([0.5, 1, 2, 5]))
    def pass_time(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
        for _ in range(20):
            self.broker.tick(self.now)
        for letter in sorted(self.delayed, key=lambda letter: (letter.due, letter.offset)):
            if letter.due <= self.now:
                self.delayed.remove(letter)
                self.to_back(letter)
        self.settle()
        while self.ready and self.is_over(self.ready[0]):
            self.give_up(self.ready.pop(0))

    @precondition(lambda self: self.graves)
    @rule(limit=st.integers(1, 3))
    def redrive(self, limit: int) -> None:
        moved = self.broker.redrive(b"dead", limit, b"", self.now)
        expected = 0
        while expected < limit and self.graves and not self.is_full():
            letter = self.graves.pop(0)
            self.to_back(Letter(letter.number, self.offsets, self.now, NEVER, 0))
            self.offsets += 1
            expected += 1
            self.settle()
        assert moved == expected

    # -- what must hold ----------------------------------------------------------------------------------------------

    @invariant()
    def agrees_with_the_model(self) -> None:
        queue = self.broker.queues[b"q"]
        owed = sorted([*self.ready, *self.held], key=lambda letter: letter.place)
        assert [(int(message.body), retry) for message, retry in queue.contents()] == [
            (letter.number, letter.retry) for letter in owed
        ]
        assert [(entry.due_at, entry.offset, entry.retry) for entry in queue.delayed.entries()] == sorted(
            (letter.due, letter.offset, letter.retry) for letter in self.delayed
        )
        assert [int(message.body) for message, _ in self.broker.queues[b"dead"].contents()] == [
            letter.number for letter in self.graves
        ]
        if self.inbox is not None:
            assert [(int(message.body), retry) for message, retry in self.inbox.received] == self.got
        assert self.log.next_offset == self.offsets
        assert queue.ready == len(self.ready)
        assert wrong_memory(self.broker.context) == ""

    @invariant()
    def agrees_with_a_replay_of_its_log(self) -> None:
        rebuilt = replay(self.log.entries, MemoryLog(), Limits())
        assert durable_state(rebuilt) == durable_state(self.broker)
        assert rebuilt.dedup.contents() == self.broker.dedup.contents()


TestBrokerAgainstModel = BrokerAgainstModel.TestCase
TestBrokerAgainstModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
