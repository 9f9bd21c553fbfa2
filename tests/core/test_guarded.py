"""Every verb of a guarded broker does what the verb of the broker does, and says which one it was when that breaks."""

from collections.abc import Callable
from typing import cast

import pytest

from penstock.core.broker import Broker
from penstock.core.deadlines import Timer
from penstock.core.delivery import Item
from penstock.core.guarded import Fault, GuardedBroker
from penstock.core.invariants import Inconsistent
from penstock.core.limits import Limits
from penstock.core.policy import Rule
from penstock.core.queue import Queue
from penstock.core.redrive import Redrive
from penstock.core.replay import durable_state
from penstock.core.subscription import Inbox
from penstock.errors import Refused
from penstock.log.memory import MemoryLog
from penstock.message import DeliveryOptions, Message, Requester

NOW = 1_000_000


def message(id: bytes, event: bytes = b"q", due_at: int = 0) -> Message:
    made = Message(id, event, b"body of " + id, NOW, "test")
    if due_at:
        made.options = DeliveryOptions(due_at=due_at)
    return made


def life(broker: Broker) -> list[object]:
    """All verbs once, with what they answered and what there was after each."""
    said: list[object] = []

    def note(answer: object) -> None:
        said.append((answer, dict(durable_state(broker)), broker.published, broker.delivered()))

    broker.set_time(NOW)
    note(broker.declare(b"q").name)
    broker.set_policies([Rule([b"q"], deliveries_max=3, dead_letter=b"dead")])
    note("set_policies")
    broker.bind(b"q", (b"e",), (b'{"a":1}',))
    note("bind")
    broker.publish(message(b"1", b"e"))
    note("publish")
    broker.put(b"q", message(b"2"))
    note("put")
    broker.put(b"q", message(b"3", due_at=NOW + 10))
    note("put")
    worker = Inbox(b"c", manual=True, credit=1)
    note(broker.subscribe(b"q", worker, None, NOW).name)
    note(broker.broadcast(b"q", message(b"4")))
    note(len(worker.received))
    broker.allow(worker, 10)
    note("allow")
    note(len(worker.received))
    broker.tick(NOW + 10)
    note("tick")
    broker.accept(worker.deliveries[0])
    note("accept")
    broker.suspend(worker)
    note("suspend")
    broker.reject(worker.deliveries[1])
    note("reject")
    broker.bury(worker.deliveries[2])
    note("bury")
    broker.resume(worker)
    note("resume")
    broker.release(worker.deliveries[-1])
    note("release")
    broker.cancel(worker, NOW)
    note("cancel")
    broker.pause(b"q", True)
    note("pause")
    note(broker.redrive(b"dead", 10, b"", NOW))
    note(broker.commit(b"w", 1, [message(b"5", b"e")]))
    note(broker.commit(b"w", 1, [message(b"5", b"e")]))
    note(broker.forget_writer(b"w"))
    note(broker.forget_writer(b"w"))
    note(broker.move(b"q", {broker.log.next_offset - 1}, b"p", NOW))
    note(broker.copy([message(b"6")], b"p", NOW))
    note(broker.purge(b"p", broker.log.next_offset, 1))
    request = message(b"7", b"p")
    broker.put(b"p", request)
    note("put")
    broker.forget_request(request, revoke=True)
    note("forget_request")
    note(broker.reply(b"nobody", b"x"))
    taken = broker.get(b"p")
    note(taken and taken.id)
    note(broker.free_memory())
    broker.expire(b"q", 5)
    note("expire")
    note(broker.delete(b"q"))
    broker.end_turn()
    note("end_turn")
    return said


def test_a_guarded_broker_does_what_a_broker_does() -> None:
    guarded = GuardedBroker(MemoryLog(), Limits())
    assert life(guarded) == life(Broker(MemoryLog(), Limits()))
    assert (guarded.fault, guarded.is_broken) == (None, False)


def broken(now: int) -> None:
    raise NotImplementedError


class Broken:
    """A broker with a queue that nothing can be done with, and a consumer of it that holds a message."""

    def __init__(self) -> None:
        self.broker = GuardedBroker(MemoryLog(), Limits())
        self.faults: list[Fault] = []
        self.broker.on_fault = self.faults.append
        self.broker.bind(b"q", (b"e",))
        self.request = message(b"request")
        self.request.requester = Requester()
        self.broker.put(b"asked", self.request)
        self.worker = Inbox(b"c1", manual=True, credit=1)
        self.broker.subscribe(b"q", self.worker, None, NOW)
        for id in (b"held", b"ready"):
            self.broker.put(b"q", message(id))
        queue = self.broker.queues[b"q"]
        queue.backlog.head.appendleft(cast(Item, "no message"))
        queue.ready += 1
        self.broken = cast(Queue, "no queue")

    def without_queue(self, name: bytes = b"q") -> Broker:
        self.broker.queues[name] = self.broken
        return self.broker

    def without_warm_queue(self) -> Broker:
        self.broker.context.warm[self.broken] = None
        return self.broker

    def without_route(self) -> Broker:
        self.broker.routing.by_event[b"other"] = cast(list[Queue], 5)
        return self.broker

    def without_rule(self) -> Broker:
        self.broker.policies._rules.append(cast(Rule, "no rule"))
        return self.broker

    def without_request(self) -> Broker:
        self.broker.requests.waiting[b"request"] = cast(Message, "no message")
        return self.broker

    def without_expiry(self) -> Broker:
        self.broker.unused._timers[b"q"] = cast(Timer, "no timer")
        return self.broker

    def with_a_writer_of_no_time(self) -> Broker:
        self.broker.writers.batches[b"w"] = 1
        return self.broker

    def with_a_timer_of_nothing(self) -> Broker:
        self.broker.deadlines.set(Timer(broken), NOW)
        return self.broker

    def touched(self) -> Broker:
        self.broker.queues[b"q"].touch()
        return self.broker

    def suspended(self) -> Inbox:
        """A consumer that could be given something, if it were not for that."""
        self.broker.suspend(self.worker)
        self.worker.credit = 10
        return self.worker

    def redrive(self) -> Redrive:
        return Redrive(self.broker, self.broker.queues[b"q"], 5, b"p")

    def out_of_line(self) -> Inbox:
        """A consumer that believes to stand in a line that is empty."""
        self.worker.waiting = True
        self.broker.queues[b"q"].consumers.waiting.clear()
        return self.worker


VERBS: dict[str, tuple[Callable[[Broken], object], str]] = {
    "end_turn": (lambda it: it.touched().end_turn(), ""),
    "publish": (lambda it: it.without_route().publish(message(b"m", b"other")), "body of m"),
    "reply": (lambda it: it.without_request().reply(b"request", b"done"), "request b'request', body b'done'"),
    "forget_request": (lambda it: it.without_queue(b"asked").forget_request(it.request, True), "body of request"),
    "declare": (lambda it: it.without_rule().declare(b"new"), "queue b'new'"),
    "expire": (lambda it: it.without_expiry().expire(b"q", 5), "queue b'q', after 5"),
    "resume": (lambda it: it.broker.resume(it.suspended()), "consumer b'c1'"),
    "forget_writer": (lambda it: it.with_a_writer_of_no_time().forget_writer(b"w"), "writer b'w'"),
    "step_redrive": (lambda it: it.broker.step_redrive(it.redrive(), NOW), "queue b'q'"),
    "move_places": (lambda it: it.without_queue().move_places(b"q", [], b"p", NOW), "queue b'q', to b'p'"),
    "tick": (lambda it: it.with_a_timer_of_nothing().tick(NOW), f"at {NOW}"),
    "free_memory": (lambda it: it.without_warm_queue().free_memory(), ""),
    "put": (lambda it: it.without_queue().put(b"q", message(b"m")), "queue b'q'"),
    "broadcast": (lambda it: it.without_queue().broadcast(b"q", message(b"m")), "body of m"),
    "set_policies": (lambda it: it.without_queue().set_policies([]), ""),
    "bind": (lambda it: it.without_route().bind(b"q", (b"other",)), "other"),
    "pause": (lambda it: it.without_queue().pause(b"q", True), "queue b'q'"),
    "purge": (lambda it: it.broker.purge(b"q", 100, 7), "up to 7"),
    "delete": (lambda it: it.without_queue().delete(b"q"), "queue b'q'"),
    "subscribe": (lambda it: it.broker.subscribe(b"q", Inbox(b"c2"), None, NOW), "consumer b'c2'"),
    "cancel": (lambda it: it.broker.cancel(it.out_of_line(), NOW), "consumer b'c1'"),
    "suspend": (lambda it: it.broker.suspend(it.out_of_line()), "consumer b'c1'"),
    "allow": (lambda it: it.broker.allow(it.worker, 5), "consumer b'c1'"),
    "allow_bytes": (lambda it: it.broker.allow_bytes(it.out_of_line(), 0), "consumer b'c1'"),
    "get": (lambda it: it.broker.get(b"q"), "queue b'q'"),
    "accept": (lambda it: it.broker.accept(it.worker.deliveries[0]), "body of held"),
    "reject": (lambda it: it.broker.reject(it.worker.deliveries[0]), "body of held"),
    "bury": (lambda it: it.broker.bury(it.worker.deliveries[0]), "body of held"),
    "release": (lambda it: it.broker.release(it.worker.deliveries[0]), "body of held"),
    "commit": (lambda it: it.broker.commit(b"w", 3, [cast(Message, "none")]), "writer b'w', batch 3, 1 messages"),
    "redrive": (lambda it: it.without_queue().redrive(b"q", 1, b"p", NOW), "to b'p'"),
    "move": (lambda it: it.broker.move(b"q", {1}, b"p", NOW), "to b'p'"),
    "copy": (lambda it: it.broker.copy([cast(Message, "none")], b"p", NOW), "to b'p'"),
}  # fmt: skip


BREAKS = (TypeError, AttributeError, LookupError, ValueError, NotImplementedError, Inconsistent)


def test_every_verb_is_guarded() -> None:
    """What a guarded broker has of its own is what the tests here break."""
    assert {name for name, value in vars(GuardedBroker).items() if callable(value) and name[0] != "_"} - {"fail"} == {
        *VERBS
    }


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_breaks_says_its_name_and_what_it_was_about(verb: str) -> None:
    broken = Broken()
    act, about = VERBS[verb]
    with pytest.raises(BREAKS):
        act(broken)
    assert [fault.verb for fault in broken.faults] == [verb]
    assert about in broken.faults[0].about
    assert broken.broker.is_broken


REFUSALS: dict[str, Callable[[Broker], object]] = {
    "publish": lambda broker: broker.publish(Message(b"m", b"e", b"x" * 100, NOW, "test")),
    "put": lambda broker: broker.put(b"q", Message(b"m", b"q", b"x" * 100, NOW, "test")),
    "broadcast": lambda broker: broker.broadcast(b"q", Message(b"m", b"q", b"x" * 100, NOW, "test")),
    "declare": lambda broker: broker.declare(b"x" * 10_000),
    "bind": lambda broker: broker.bind(b"q", (), (b"no pattern",)),
    "pause": lambda broker: broker.pause(b"nothing", True),
    "purge": lambda broker: broker.purge(b"nothing", 1, 1),
    "subscribe": lambda broker: broker.subscribe(b"x" * 10_000, Inbox(), None, NOW),
    "get": lambda broker: broker.get(b"x" * 10_000),
    "commit": lambda broker: broker.commit(b"w", 1, [Message(b"m", b"e", b"x" * 100, NOW, "test")]),
    "redrive": lambda broker: broker.redrive(b"nothing", 1, b"", NOW),
    "move": lambda broker: broker.move(b"nothing", {1}, b"p", NOW),
    "copy": lambda broker: broker.copy([message(b"m")], b"x" * 10_000, NOW),
}


@pytest.mark.parametrize("verb", REFUSALS)
def test_a_refusal_of_a_verb_is_told_to_who_asked_and_to_nobody_else(verb: str) -> None:
    broker = GuardedBroker(MemoryLog(), Limits(body_size_max=50))
    with pytest.raises(Refused):
        REFUSALS[verb](broker)
    assert (broker.fault, broker.is_broken) == (None, False)
