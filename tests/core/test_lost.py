"""What was in a consumer's hands when the broker died comes back with one more try, and nothing else does."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.core.broker import Broker
from penstock.core.capture import capture
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.replay import Replay, durable_state, replay
from penstock.core.spans import SortKey
from penstock.core.subscription import Inbox
from penstock.log.interface import Change
from penstock.log.memory import MemoryLog, ReadableLog
from penstock.log.snapshot import decode, encode
from penstock.log.tuning import Tuning
from penstock.message import OUT, TO_QUEUE, DeliveryOptions, Message
from penstock.storage.disk import Disk
from penstock.storage.durable import DurableLog
from penstock.storage.storage import recover

SECOND = 1_000_000


class CountedList(list[SortKey]):
    """Knows how often all of it was looked through."""

    looks = 0

    def __iter__(self) -> Iterator[SortKey]:
        self.looks += 1
        return super().__iter__()


def make_broker() -> Broker:
    broker = Broker(MemoryLog(keep=True), Limits())
    broker.declare(b"q")
    return broker


def put(broker: Broker, *ids: bytes, tries: int = 0) -> None:
    for id in ids:
        message = Message(id, b"q", b"body", 0, "test")
        if tries:
            message.options = DeliveryOptions(deliveries_max=tries)
        broker.put(b"q", message)


def consume(broker: Broker, credit: int = 0, manual: bool = True) -> Inbox:
    inbox = Inbox(manual=manual, credit=credit)
    broker.subscribe(b"q", inbox, None, 0)
    return inbox


def marks(broker: Broker) -> list[int]:
    assert isinstance(broker.log, MemoryLog)
    return [e.offset for e in broker.log.entries if isinstance(e, Change) and e.kind == "settled" and e.number == OUT]


def restarted(broker: Broker, rules: list[Rule] | None = None) -> Broker:
    assert isinstance(broker.log, MemoryLog)
    log = MemoryLog(keep=True)
    again = replay(broker.log.entries, log, Limits())
    assert durable_state(again) == durable_state(broker)
    log.entries = list(broker.log.entries)
    again.set_policies(rules or [])
    again.return_lost(0)
    again.end_turn()
    assert durable_state(replay(log.entries, MemoryLog(), Limits())) == durable_state(again)
    return again


def tries(broker: Broker, queue: bytes = b"q") -> list[tuple[bytes, int]]:
    return [(message.id, retry) for message, retry in broker.queues[queue].contents()]


def test_what_was_out_comes_back_with_one_more_try_and_what_was_ready_does_not() -> None:
    broker = make_broker()
    put(broker, b"1", b"2", b"3")
    consume(broker, credit=2)
    broker.end_turn()
    again = restarted(broker)
    assert tries(again) == [(b"1", 1), (b"2", 1), (b"3", 0)]
    assert (again.queues[b"q"].ready, again.queues[b"q"].unacked) == (3, 0)


def test_a_second_crash_does_not_count_it_again() -> None:
    broker = make_broker()
    put(broker, b"1", b"2")
    consume(broker, credit=1)
    broker.end_turn()
    assert tries(restarted(restarted(broker))) == [(b"1", 1), (b"2", 0)]


def test_a_message_that_kills_its_broker_is_given_up() -> None:
    rules = [Rule([b"q"], deliveries_max=2, dead_letter=b"dead")]
    broker = make_broker()
    put(broker, b"killer", b"next")
    for _ in range(2):
        consume(broker, credit=1)
        broker.end_turn()
        broker = restarted(broker, rules)
    assert (tries(broker), tries(broker, b"dead")) == ([(b"next", 0)], [(b"killer", 0)])
    assert broker.queues[b"q"].bytes == broker.context.bytes - broker.queues[b"dead"].bytes


def test_the_tries_of_a_message_itself_count() -> None:
    broker = make_broker()
    put(broker, b"once", tries=1)
    consume(broker)
    broker.end_turn()
    assert tries(restarted(broker)) == []


def test_what_was_settled_released_or_given_back_was_not_out() -> None:
    broker = make_broker()
    put(broker, b"1", b"2", b"3", b"4", b"5")
    inbox = consume(broker)
    broker.end_turn()
    accepted, rejected, released, _, _ = inbox.deliveries
    broker.suspend(inbox)
    broker.accept(accepted)
    broker.reject(rejected)
    broker.release(released)
    broker.end_turn()
    assert tries(restarted(broker))[:2] == [(b"3", 0), (b"4", 0)]  # behind what is ready nobody looks
    broker.cancel(inbox, 0)
    broker.end_turn()
    assert tries(restarted(broker)) == tries(broker) == [(b"3", 0), (b"4", 1), (b"5", 1), (b"2", 1)]


@pytest.mark.parametrize("makes_it_again", [False, True])
def test_the_log_hears_nothing_of_a_queue_that_was_deleted_in_the_turn_of_a_release(makes_it_again: bool) -> None:
    broker = make_broker()
    put(broker, b"1", b"2")
    inbox = consume(broker)
    broker.end_turn()
    told = marks(broker)
    broker.release(inbox.deliveries[1])
    broker.delete(b"q")
    if makes_it_again:
        put(broker, b"3")
    broker.end_turn()
    assert marks(broker) == told
    assert list(restarted(broker).queues) == ([b"q"] if makes_it_again else [])


def test_a_queue_that_goes_with_its_last_consumer_goes_for_good_where_that_released_what_it_had() -> None:
    broker = make_broker()
    broker.expire(b"q", 0)
    put(broker, b"1")
    inbox = consume(broker)
    broker.end_turn()
    broker.suspend(inbox)
    broker.release(inbox.deliveries[0])
    broker.cancel(inbox, 0)
    broker.end_turn()
    assert restarted(broker).queues == {}


def test_what_cannot_be_read_is_neither_out_nor_looked_through_in_each_turn() -> None:
    log = ReadableLog(keep=True, tuning=Tuning())
    broker = Broker(log, Limits())
    broker.declare(b"q")
    count = 2000
    put(broker, *[b"%d" % number for number in range(count)])
    log.readable = count
    broker.free_memory()
    broker.queues[b"q"].free_memory()
    log.broken |= set(range(2, count - 2))
    inbox = consume(broker)
    broker.end_turn()
    queue = broker.queues[b"q"]
    assert [delivery.offset for delivery in inbox.deliveries] == [0, 1, count - 2, count - 1]
    assert len(queue.unreadable) == count - 4
    assert marks(broker) == [2]
    assert capture(broker, 0).queues[0].out_before == (2, 0)
    queue.unreadable = unreadable = CountedList(queue.unreadable)
    put(broker, b"next")
    broker.end_turn()
    assert marks(broker) == [2, 2]
    assert unreadable.looks == 0


def test_dead_letters_of_a_start_do_not_take_all_the_memory_and_the_rest_is_given_up_later() -> None:
    limits = Limits(memory_bytes_max=40_000)
    rules = [Rule([b"q"], deliveries_max=1, dead_letter=b"dead")]
    broker = make_broker()
    put(broker, *[b"%d" % number for number in range(200)])
    consume(broker)
    broker.end_turn()
    assert isinstance(broker.log, MemoryLog)
    entries = list(broker.log.entries)
    log = ReadableLog(keep=True)
    again = Replay(log, limits, decode(encode(capture(broker, 0)))).finish()
    log.messages = [entry for entry in entries if isinstance(entry, Message)]
    log.readable = 200
    again.set_policies(rules)
    again.return_lost(0)
    again.end_turn()
    dead = again.queues[b"dead"].ready
    assert 0 < dead < 200
    assert again.context.bytes < 40_000 // 2
    assert [retry for _, retry in tries(again)] == [1] * (200 - dead)
    while again.queues[b"q"].ready:
        before = again.queues[b"q"].ready
        again.cancel(consume(again), 0)
        again.end_turn()
        assert again.queues[b"q"].ready < before
        log.readable = log.next_offset
        again.free_memory()
    assert (again.queues[b"q"].length(), again.queues[b"dead"].length()) == (0, 200)


def test_a_delivery_that_is_done_when_it_is_given_needs_no_mark() -> None:
    broker = make_broker()
    consume(broker, manual=False)
    for number in range(5):
        put(broker, b"%d" % number)
        broker.end_turn()
    assert marks(broker) == []


def test_a_turn_has_one_mark_for_a_queue_however_much_it_gave_out_and_none_when_it_gave_nothing() -> None:
    broker = make_broker()
    inbox = consume(broker, credit=100)
    put(broker, *[b"%d" % number for number in range(150)])
    broker.end_turn()
    assert marks(broker) == [100]
    for delivery in inbox.deliveries[:50]:
        broker.suspend(inbox)
        broker.accept(delivery)
    put(broker, b"more")
    broker.end_turn()
    assert marks(broker) == [100]
    broker.resume(inbox)
    broker.end_turn()
    assert marks(broker) == [100, 150]


class Crashes(RuleBasedStateMachine):
    """Whatever happens in a turn: never is one counted that was not out, and all are that were out before the first
    ready one."""

    @initialize()
    def start(self) -> None:
        self.broker = make_broker()
        self.now = 0
        self.count = 0
        self.inboxes: list[Inbox] = []
        self.ended = True

    @rule()
    def publish(self) -> None:
        put(self.broker, b"%d" % self.count)
        self.count += 1
        self.ended = False

    @precondition(lambda self: len(self.inboxes) < 3)
    @rule(credit=st.integers(1, 3), manual=st.sampled_from([True, True, False]))
    def subscribe(self, credit: int, manual: bool) -> None:
        self.inboxes.append(consume(self.broker, credit, manual))
        self.ended = False

    @precondition(lambda self: self.inboxes)
    @rule(which=st.integers(0, 2))
    def cancel(self, which: int) -> None:
        self.broker.cancel(self.inboxes.pop(which % len(self.inboxes)), self.now)
        self.ended = False

    @precondition(lambda self: any(inbox.in_flight for inbox in self.inboxes))
    @rule(
        which=st.integers(0, 5),
        place=st.integers(0, 5),
        how=st.sampled_from(["accept", "reject", "release", "put off"]),
    )
    def settle(self, which: int, place: int, how: str) -> None:
        holders = [inbox for inbox in self.inboxes if inbox.in_flight]
        held = holders[which % len(holders)].held()
        delivery = held[place % len(held)]
        if how == "put off":
            self.broker.reject(delivery, self.now + 3 * SECOND)
        else:
            getattr(self.broker, how)(delivery)
        self.ended = False

    @rule()
    def pass_time(self) -> None:
        self.now += 2 * SECOND
        self.broker.tick(self.now)
        self.ended = False

    @rule()
    def end_turn(self) -> None:
        self.broker.end_turn()
        self.ended = True

    @rule()
    def crash(self) -> None:
        if self.ended:
            self.broker = restarted(self.broker)
            self.inboxes = []

    @invariant()
    def counts_what_was_out(self) -> None:
        if not self.ended:
            return
        queue = self.broker.queues[b"q"]
        held = {d.offset for s in queue.consumers.active for d in s.held()}
        ready = queue.backlog.first_place()
        before = [entry for entry in queue.owed() if not ready or entry[:2] < ready[0][:2]]
        assert {offset for _, _, offset, _ in before} <= held
        counted = {message.offset: retry for message, retry in restarted(self.broker).queues[b"q"].contents()}
        for _, _, offset, retry in queue.owed():
            assert counted[offset] in ((retry, retry + 1) if offset in held else (retry,))
        for _, _, offset, retry in before:
            assert counted[offset] == retry + 1


TestCrashes = Crashes.TestCase
TestCrashes.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)


# -- on a disk ---------------------------------------------------------------------------------------------------------


WORDS = ["put", "put", "settle", "settle", "subscribe", "cancel", "turn", "turn", "bind", "commit"]


class Turn:
    """How many blocks there were at the end of a turn, and what was out by then."""

    def __init__(self, blocks: int, held: dict[bytes, set[int]], before: dict[bytes, set[int]]) -> None:
        self.blocks = blocks
        self.held = held
        self.before = before  # the first ready message


def out_of(broker: Broker) -> tuple[dict[bytes, set[int]], dict[bytes, set[int]]]:
    held: dict[bytes, set[int]] = {}
    before: dict[bytes, set[int]] = {}
    for name, queue in broker.queues.items():
        held[name] = {d.offset for s in queue.consumers.active for d in s.held()}
        ready = queue.backlog.first_place()
        before[name] = {entry[2] for entry in queue.owed() if not ready or entry[:2] < ready[0][:2]}
    return held, before


@pytest.mark.parametrize("seed", range(12))
def test_wherever_a_log_is_cut_nothing_is_counted_that_was_not_out(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    tuning = Tuning()
    tuning.block_bytes_max = chance.choice([1, 200, 1 << 20])
    log = DurableLog(1 << 30, tuning)
    broker = Broker(log, Limits())
    broker.set_policies([Rule([b"*"], deliveries_max=3, dead_letter=b"dead")])
    queues = [b"a", b"b", b"dead"]
    for name in queues:
        broker.declare(name)
    blocks: list[bytes] = []
    turns = [Turn(0, {}, {})]
    inboxes: list[Inbox] = []
    for step in range(150):
        word = chance.choice(
            ["put", "put", "settle", "settle", "subscribe", "cancel", "turn", "turn", "bind", "commit"]
        )
        if word == "put":
            name = chance.choice(queues)
            broker.put(name, Message(b"%d" % step, name, b"x" * chance.choice([1, 100]), 0, "test"))
        elif word == "commit":
            message = Message(b"%d" % step, b"a", b"x", 0, "test")
            message.route = TO_QUEUE
            broker.commit(b"w", step, [message])
        elif word == "bind":
            broker.bind(chance.choice(queues), (b"%d" % step,))
        elif word == "subscribe" and len(inboxes) < 5:
            inboxes.append(Inbox(manual=chance.random() < 0.8, credit=chance.randint(1, 3)))
            broker.subscribe(chance.choice(queues), inboxes[-1], None, 0)
        elif word == "cancel" and inboxes:
            broker.cancel(inboxes.pop(chance.randrange(len(inboxes))), 0)
        elif word == "settle" and any(inbox.in_flight for inbox in inboxes):
            inbox = chance.choice([inbox for inbox in inboxes if inbox.in_flight])
            how = chance.choice([broker.accept, broker.reject, broker.release, broker.bury])
            how(chance.choice(inbox.held()))
        elif word == "turn":
            broker.end_turn()
            log.close_block(0)
            blocks += [pending.data() for pending in log.take_closed()]
            turns.append(Turn(len(blocks), *out_of(broker)))
    for count in range(0, len(blocks) + 1, 3):
        (cut := tmp_path / f"{count}").mkdir()
        (cut / "00000000000000000000.seg").write_bytes(b"".join(blocks[:count]))
        again, _ = recover(Disk(cut), DurableLog(1 << 30), Limits(), 0)
        last = [turn for turn in turns if turn.blocks <= count][-1]
        found = {lost.queue.name: lost.offsets for lost in again.lost}
        for name, offsets in found.items():
            assert offsets <= last.held[name]
        if last.blocks == count:
            assert all(offsets <= found.get(name, set()) for name, offsets in last.before.items())
        before = {(name, m.offset): retry for name, queue in again.queues.items() for m, retry in queue.contents()}
        again.return_lost(0)
        again.end_turn()
        after = {(name, m.offset): retry for name, queue in again.queues.items() for m, retry in queue.contents()}
        for (name, offset), retry in before.items():
            assert after[name, offset] == retry + (offset in found.get(name, ()))


def test_a_snapshot_knows_what_is_out(tmp_path: Path) -> None:
    log = DurableLog(1 << 20)
    broker = Broker(log, Limits())
    for number in range(3):
        broker.put(b"q", Message(b"%d" % number, b"q", b"body", 0, "test"))
    consume(broker, credit=2)
    broker.end_turn()
    taken = capture(broker, 0)
    again = Replay(DurableLog(1 << 20), Limits(), decode(encode(taken))).finish()
    assert [(lost.queue.name, lost.offsets, lost.count) for lost in again.lost] == [(b"q", {0, 1}, 2)]
