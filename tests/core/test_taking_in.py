"""However a message comes in, it is asked and remembered for deduplication alike, and alike by a replay."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.core.broker import Broker
from penstock.core.limits import REFUSE, Limits
from penstock.core.policy import Rule
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.errors import OVER_LIMIT, TOO_LARGE, Refused
from penstock.log.memory import MemoryLog
from penstock.message import TO_QUEUE, DeliveryOptions, Message

SECOND = 1_000_000
IDS = st.sampled_from([b"a", b"b", b"c", b"d"])
QUEUES = (b"plain", b"by-policy", b"dead")


def message(id: bytes, event: bytes = b"e", queue: bytes = b"", dedup: int = 0, now: int = 0) -> Message:
    made = Message(id, queue or event, b"body", now, "test")
    if queue:
        made.route = TO_QUEUE
    if dedup:
        made.options = DeliveryOptions(dedup_seconds=dedup)
    return made


@pytest.fixture
def broker() -> Broker:
    made = Broker(MemoryLog(keep=True), Limits(queue_length_max=3, body_size_max=100, queues_max=4))
    made.bind(b"q", (b"e",))
    return made


def ids(broker: Broker, queue: bytes = b"q") -> list[bytes]:
    return [message.id for message, _ in broker.queues[queue].contents()]


def rebuilt(broker: Broker) -> Broker:
    assert isinstance(broker.log, MemoryLog)
    return replay(broker.log.entries, MemoryLog(), broker.limits)


def test_what_was_committed_is_known_when_it_is_published(broker: Broker) -> None:
    assert broker.commit(b"w", 1, [message(b"a", dedup=9)])
    broker.publish(message(b"a", dedup=9))
    broker.put(b"q", message(b"a", queue=b"q", dedup=9))
    assert (ids(broker), broker.deduplicated) == ([b"a"], 2)
    assert rebuilt(broker).dedup.contents() == broker.dedup.contents() == {b"a": 9 * SECOND}


def test_what_was_published_is_left_out_of_a_batch_that_counts_as_committed(broker: Broker) -> None:
    broker.publish(message(b"a", dedup=9))
    batch = [message(b"a", dedup=9), message(b"b", dedup=9), message(b"b", dedup=9), message(b"b")]
    assert broker.commit(b"w", 1, batch)
    assert ids(broker) == [b"a", b"b", b"b"]  # the last one does not ask
    assert [message.offset for message in batch] == [-1, 1, -1, 2]
    assert (broker.committed[b"w"], broker.deduplicated, broker.published) == (1, 2, 3)
    assert broker.commit(b"w", 2, [message(b"a", dedup=9)])
    assert (broker.committed, len(ids(broker))) == ({b"w": 2}, 3)
    assert durable_state(rebuilt(broker)) == durable_state(broker)


def test_a_policy_that_deduplicates_holds_for_commits(broker: Broker) -> None:
    broker.set_policies([Rule([b"q"], dedup_seconds=5)])
    assert broker.commit(b"w", 1, [message(b"a", queue=b"q"), message(b"a", queue=b"q")])
    assert ids(broker) == [b"a"]
    assert rebuilt(broker).dedup.contents() == broker.dedup.contents() == {b"a": 5 * SECOND}


def test_a_commit_that_is_refused_has_changed_nothing(broker: Broker) -> None:
    assert isinstance(broker.log, MemoryLog)
    for number in range(3):
        broker.publish(message(b"%d" % number))
    before = len(broker.log.entries)
    new = message(b"x", queue=b"new", dedup=9)
    large = message(b"y", queue=b"new")
    large.body = b"x" * 101
    tries = [
        ([new, message(b"z")], OVER_LIMIT),
        ([new, large], TOO_LARGE),
        ([message(b"x", queue=b"new%d" % n) for n in range(4)], OVER_LIMIT),
        ([new, message(b"x", queue=b"n" * 2000)], TOO_LARGE),
    ]
    for batch, code in tries:
        with pytest.raises(Refused, match=code):
            broker.commit(b"w", 1, batch)
        assert (len(broker.log.entries), list(broker.queues), broker.committed) == (before, [b"q"], {})
        assert (broker.dedup.contents(), broker.deduplicated) == ({}, 0)


def test_a_body_that_the_log_cannot_hold_is_too_large_whatever_the_limits_say() -> None:
    assert Limits(body_size_max=1 << 40).body_size_max == 1 << 30


class AllWaysIn(RuleBasedStateMachine):
    """Ids are few, so most of what comes in was there before."""

    @initialize(full=st.booleans())
    def start(self, full: bool) -> None:
        self.log = MemoryLog(keep=True)
        self.limits = Limits(dedup_ids_max=3)
        self.broker = Broker(self.log, self.limits)
        self.now = 1000 * SECOND
        self.broker.set_time(self.now)
        rules = [
            Rule([b"by-policy"], dedup_seconds=5, length_max=4 if full else 1000, full=REFUSE),
            Rule([b"plain"], deliveries_max=1, dead_letter=b"dead"),
        ]
        self.broker.set_policies(rules)
        for name in QUEUES:
            self.broker.bind(name, (b"e",))
        self.inbox = Inbox(manual=True, credit=2)
        self.broker.subscribe(b"plain", self.inbox, None, self.now)
        self.batch = 0

    def made(self, id: bytes, queue: bytes, dedup: int) -> Message:
        return message(id, queue=queue, dedup=dedup, now=self.now)

    @rule(id=IDS, dedup=st.sampled_from([0, 3, 10]))
    def publish(self, id: bytes, dedup: int) -> None:
        try:
            self.broker.publish(self.made(id, b"", dedup))
        except Refused:
            pass

    @rule(id=IDS, queue=st.sampled_from(QUEUES), dedup=st.sampled_from([0, 3, 10]))
    def put(self, id: bytes, queue: bytes, dedup: int) -> None:
        try:
            self.broker.put(queue, self.made(id, queue, dedup))
        except Refused:
            pass

    @rule(some=st.lists(st.tuples(IDS, st.sampled_from([*QUEUES, b"", b"new"]), st.sampled_from([0, 3])), max_size=5))
    def commit(self, some: list[tuple[bytes, bytes, int]]) -> None:
        try:
            self.broker.commit(b"w", self.batch, [self.made(id, queue, dedup) for id, queue, dedup in some])
            self.batch += 1
        except Refused:
            pass

    @precondition(lambda self: self.inbox.in_flight)
    @rule(how=st.sampled_from(["accept", "reject", "bury"]))
    def settle(self, how: str) -> None:
        getattr(self.broker, how)(self.inbox.held()[0])

    @rule(queue=st.sampled_from(QUEUES), to=st.sampled_from(QUEUES))
    def send_on(self, queue: bytes, to: bytes) -> None:
        found = self.broker.queues[queue].first_messages(2)
        try:
            self.broker.redrive(b"dead", 1, b"", self.now)
            self.broker.copy(found[:1], to, self.now)
            if queue != to:
                self.broker.move(queue, {message.offset for message in found[1:]}, to, self.now)
        except Refused:
            pass

    @rule(seconds=st.integers(1, 4))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds * SECOND
        self.broker.tick(self.now)

    @invariant()
    def agrees_with_a_replay_of_its_log(self) -> None:
        again = replay(self.log.entries, MemoryLog(), self.limits)
        assert durable_state(again) == durable_state(self.broker)
        assert again.dedup.contents() == self.broker.dedup.contents()
        assert again.committed == self.broker.committed


TestAllWaysIn = AllWaysIn.TestCase
TestAllWaysIn.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


def test_a_commit_goes_into_so_many_queues_at_one_moment_and_no_more() -> None:
    broker = Broker(MemoryLog(keep=True), Limits(queues_max=2000))
    for number in range(1000):
        broker.bind(b"q%d" % number, (b"e",))
    with pytest.raises(Refused, match="more than 500000 messages into queues") as refusal:
        broker.commit(b"w", 1, [message(b"%d" % number) for number in range(501)])
    assert refusal.value.code == OVER_LIMIT
    assert broker.committed == {}
    assert broker.queues[b"q0"].ready == 0
