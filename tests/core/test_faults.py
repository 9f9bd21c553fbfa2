"""Errors of our own: one inside a verb, or a wrong counter, ends the broker; one of a consumer ends that consumer.

Faults are made by breaking the state by hand, since no input is supposed to.
"""

from typing import cast

import pytest

from penstock.core.broker import Broker
from penstock.core.delivery import Item
from penstock.core.guarded import Fault, GuardedBroker
from penstock.core.invariants import Inconsistent
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.queue import Queue
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.errors import Refused
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message, Requester

NOW = 1_000_000


class Case:
    def __init__(self) -> None:
        self.log = MemoryLog(keep=True)
        self.broker = GuardedBroker(self.log, Limits())
        self.faults: list[Fault] = []
        self.broker.on_fault = self.faults.append
        self.count = 0

    def message(self, event: bytes = b"q") -> Message:
        self.count += 1
        return Message(b"m%d" % self.count, event, b"body %d" % self.count, NOW, "test")

    def put(self, count: int = 1) -> Queue:
        for _ in range(count):
            self.broker.put(b"q", self.message())
        return self.broker.queues[b"q"]

    def subscribe(self, inbox: Inbox) -> Inbox:
        self.broker.subscribe(b"q", inbox, None, NOW)
        return inbox

    def check(self) -> None:
        self.broker.end_turn()
        assert not self.faults
        assert durable_state(replay(self.log.entries, MemoryLog(), Limits())) == durable_state(self.broker)


@pytest.fixture
def case() -> Case:
    return Case()


def break_backlog(queue: Queue) -> None:
    queue.backlog.head.appendleft(cast(Item, "no message"))


# -- verbs ----------------------------------------------------------------------------------------------------------


def test_an_error_inside_a_verb_is_told_once_with_what_it_was_about(case: Case) -> None:
    break_backlog(case.put())
    with pytest.raises((TypeError, AttributeError)):
        case.subscribe(Inbox(b"c1"))
    case.broker.put(b"other", case.message())
    break_backlog(case.broker.queues[b"other"])
    with pytest.raises((TypeError, AttributeError)):
        case.broker.get(b"other")
    assert [(fault.verb, "c1" in fault.about) for fault in case.faults] == [("subscribe", True)]
    assert case.broker.is_broken
    assert "Traceback" in case.faults[0].trace


def test_a_publish_that_fails_shows_the_beginning_of_its_body(case: Case) -> None:
    queue = case.put()
    queue.policy = case.broker.policies.of(b"q")
    queue.full = True
    case.broker.set_policies([Rule([b"q"], length_max=1, full="drop-oldest")])
    break_backlog(queue)
    message = case.message()
    message.body = b"x" * 1000
    with pytest.raises((TypeError, AttributeError)):
        case.broker.put(b"q", message)
    assert case.faults[0].verb == "put"
    assert "x" * 150 in case.faults[0].about
    assert "x" * 250 not in case.faults[0].about


def test_a_refusal_is_no_fault(case: Case) -> None:
    with pytest.raises(Refused):
        case.broker.purge(b"nothing", 0, 1)
    with pytest.raises(Refused):
        case.broker.declare(b"x" * 10_000)
    assert not case.faults
    assert not case.broker.is_broken


def test_an_error_in_a_timer_of_the_core_is_a_fault(case: Case) -> None:
    message = case.message()
    message.options = DeliveryOptions(expires_at=NOW + 10)
    case.broker.put(b"q", message)
    break_backlog(case.broker.queues[b"q"])
    with pytest.raises((TypeError, AttributeError)):
        case.broker.tick(NOW + 20)
    assert [fault.verb for fault in case.faults] == ["tick"]


def test_a_queue_is_looked_at_once_at_the_end_of_a_turn_however_often_it_was_touched(case: Case) -> None:
    queue = case.put(3)
    inbox = case.subscribe(Inbox(b"c", manual=True))
    case.broker.accept(inbox.deliveries[0])
    assert case.broker.context.touched == [queue]
    case.broker.end_turn()
    assert case.broker.context.touched == []
    case.broker.accept(inbox.deliveries[1])
    assert case.broker.context.touched == [queue]
    case.check()


# -- counters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counter", "said"),
    [
        ("ready", "counted 2 ready messages, found 1"),
        ("unacked", "2 unacked"),
        ("queued", "the log has 3 unsettled messages"),
        ("bytes", "counted 263 ready bytes, found 262"),
    ],
)
def test_a_counter_that_is_wrong_ends_the_turn_with_a_fault(case: Case, counter: str, said: str) -> None:
    inbox = case.subscribe(Inbox(manual=True, credit=1))
    queue = case.put(3)
    assert inbox.in_flight == 1
    case.check()
    setattr(queue, counter, getattr(queue, counter) + 1)
    case.broker.accept(inbox.deliveries[0])
    with pytest.raises(Inconsistent, match=said):
        case.broker.end_turn()
    assert [fault.verb for fault in case.faults] == ["end_turn"]


def test_a_message_that_left_without_the_log_being_told_ends_the_turn_with_a_fault(case: Case) -> None:
    queue = case.put(3)
    case.check()
    queue.take_out(queue.backlog.places()[:1])
    case.put()
    with pytest.raises(Inconsistent, match="the log has 4 unsettled messages"):
        case.broker.end_turn()


def test_only_queues_that_were_touched_are_looked_at(case: Case) -> None:
    queue = case.put()
    case.broker.put(b"other", case.message(b"other"))
    case.check()
    queue.ready += 1
    case.broker.put(b"other", case.message(b"other"))
    case.broker.end_turn()
    assert not case.faults
    queue.ready -= 1


def test_a_replayed_broker_counts_what_it_was_given_back(case: Case) -> None:
    inbox = case.subscribe(Inbox(manual=True, credit=2))
    case.put(5)
    case.broker.accept(inbox.deliveries[0])
    case.broker.reject(inbox.deliveries[1], NOW + 100)
    case.check()
    again = replay(case.log.entries, MemoryLog(), Limits())
    again.get(b"q")
    again.tick(NOW + 200)
    again.end_turn()
    assert not again.is_broken


def test_a_queue_that_is_full_and_was_passed_over_adds_up(case: Case) -> None:
    case.broker.set_policies([Rule([b"small"], length_max=1)])
    case.broker.bind(b"small", (b"e",))
    case.broker.bind(b"large", (b"e",))
    case.broker.publish(case.message(b"e"))
    with pytest.raises(Refused):
        case.broker.publish(case.message(b"e"))
    case.broker.get(b"small")
    assert case.broker.queues[b"large"].ready == 2
    case.check()


# -- consumers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("manual", [True, False])
def test_a_consumer_that_fails_is_taken_off_and_the_next_one_gets_the_message(case: Case, manual: bool) -> None:
    bad = case.subscribe(Inbox(b"bad", manual=manual))
    good = case.subscribe(Inbox(b"good", manual=True))
    bad.fails_with = RuntimeError("no")
    queue = case.put(2)
    assert [(message.id, retry) for message, retry in good.received] == [(b"m1", 1), (b"m2", 0)]
    assert isinstance(bad.failure, RuntimeError)
    assert bad.in_flight == 0
    assert not bad.waiting
    assert queue.delivered == 2
    case.check()


@pytest.mark.parametrize("manual", [True, False])
def test_without_another_consumer_the_message_stays_in_its_place(case: Case, manual: bool) -> None:
    queue = case.put(3)
    bad = Inbox(b"bad", manual=manual)
    bad.fails_with = RuntimeError("no")
    case.subscribe(bad)
    assert [(message.id, retry) for message, retry in queue.contents()] == [(b"m1", 1), (b"m2", 0), (b"m3", 0)]
    assert queue.ready == 3
    case.check()
    case.broker.cancel(bad, NOW)
    good = case.subscribe(Inbox(b"good"))
    assert [message.id for message, _ in good.received] == [b"m1", b"m2", b"m3"]
    case.check()


def test_a_message_that_no_consumer_can_take_is_given_up_when_its_tries_are(case: Case) -> None:
    case.broker.set_policies([Rule([b"q"], deliveries_max=2, dead_letter=b"dead")])
    case.put()
    for _ in range(2):
        bad = Inbox(b"bad")
        bad.fails_with = RuntimeError("no")
        case.subscribe(bad)
        case.broker.cancel(bad, NOW)
    assert case.broker.queues[b"q"].length() == 0
    assert case.broker.queues[b"dead"].length() == 1
    case.check()


def test_a_broadcast_reaches_the_others(case: Case) -> None:
    bad = case.subscribe(Inbox(b"bad", manual=True))
    good = case.subscribe(Inbox(b"good", manual=True))
    bad.fails_with = RuntimeError("no")
    assert case.broker.broadcast(b"q", case.message()) == 1
    assert len(good.received) == 1
    assert isinstance(bad.failure, RuntimeError)
    case.check()


def test_a_requester_that_has_nobody_to_blame_passes_its_error_on(case: Case) -> None:
    """A bare one raises whatever it is told. Those of sessions end their session instead."""
    case.subscribe(Inbox(b"c"))
    message = case.message()
    message.requester = Requester()
    with pytest.raises(NotImplementedError):
        case.broker.put(b"q", message)
    assert case.faults


def test_a_broker_without_a_guard_raises_as_it_always_did() -> None:
    broker = Broker(MemoryLog(), Limits())
    broker.put(b"q", Message(b"1", b"q", b"", NOW, "test"))
    break_backlog(broker.queues[b"q"])
    with pytest.raises((TypeError, AttributeError)):
        broker.get(b"q")
