"""The core against a model so small that it is obviously right, and against a replay of its own log.

The model of a queue is a list of [message, retry] in order plus, per consumer, the list of what it holds. Random
verbs are run on both; after each step the two must agree, and so must a broker rebuilt from the log.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.core.broker import Broker
from penstock.core.limits import Limits
from penstock.core.replay import durable_state, replay
from penstock.core.subscription import Inbox
from penstock.log.memory import MemoryLog
from penstock.message import Message

QUEUES = (b"q0", b"q1")
EVENTS = (b"e0", b"e1", b"e2")


class ModelConsumer:
    def __init__(self, queue: bytes, manual: bool, credit: int) -> None:
        self.queue = queue
        self.manual = manual
        self.credit = credit
        self.suspended = False
        self.held: list[list[int]] = []
        self.got: list[tuple[int, int]] = []

    def ready(self) -> bool:
        return not self.suspended and (not self.manual or len(self.held) < self.credit)


class Model:
    """Queues as lists; every rule spelled out the slow way."""

    def __init__(self) -> None:
        self.queues: dict[bytes, list[list[int]]] = {}  # [place, message, retry] of what is ready, in order of place
        self.bindings: dict[bytes, tuple[bytes, ...]] = {}
        self.line: dict[bytes, list[ModelConsumer]] = {}  # who is ready, longest waiting first
        self.clock = 0

    def place(self) -> int:
        self.clock += 1
        return self.clock

    def bind(self, queue: bytes, events: tuple[bytes, ...]) -> None:
        self.queues.setdefault(queue, [])
        self.line.setdefault(queue, [])
        self.bindings[queue] = events

    def publish(self, event: bytes, number: int) -> None:
        for queue, events in self.bindings.items():
            if event in events:
                self.queues[queue].append([self.place(), number, 0])
                self.settle_line(queue)

    def settle_line(self, queue: bytes) -> None:
        items, line = self.queues[queue], self.line[queue]
        items.sort()
        while items and line:
            place, number, retry = items.pop(0)
            consumer = line.pop(0)
            consumer.got.append((number, retry))
            if consumer.manual:
                consumer.held.append([place, number, retry])
            if consumer.ready():
                line.append(consumer)

    def rejoin(self, consumer: ModelConsumer) -> None:
        line = self.line[consumer.queue]
        if consumer.ready() and consumer not in line:
            line.append(consumer)
        if not consumer.ready() and consumer in line:
            line.remove(consumer)
        self.settle_line(consumer.queue)

    def leave(self, consumer: ModelConsumer) -> None:
        if consumer in self.line[consumer.queue]:
            self.line[consumer.queue].remove(consumer)
        for place, number, retry in consumer.held:
            self.queues[consumer.queue].append([place, number, retry + 1])
        self.settle_line(consumer.queue)

    def owed(self, queue: bytes, consumers: list[ModelConsumer]) -> list[tuple[int, int]]:
        items = list(self.queues[queue])
        for consumer in consumers:
            if consumer.queue == queue:
                items += consumer.held
        return [(number, retry) for _, number, retry in sorted(items)]


class BrokerAgainstModel(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.log = MemoryLog(keep=True)
        self.broker = Broker(self.log, Limits())
        self.model = Model()
        self.pairs: list[tuple[Inbox, ModelConsumer]] = []
        self.count = 0
        for queue in QUEUES:
            self.bind(queue, [EVENTS[0]])

    @rule(queue=st.sampled_from(QUEUES), events=st.lists(st.sampled_from(EVENTS), unique=True))
    def bind(self, queue: bytes, events: list[bytes]) -> None:
        self.broker.bind(queue, tuple(events))
        self.model.bind(queue, tuple(events))

    @rule(event=st.sampled_from(EVENTS))
    def publish(self, event: bytes) -> None:
        self.broker.publish(Message(b"%d" % self.count, event, b"body", 0, "test"))
        self.model.publish(event, self.count)
        self.count += 1

    @rule(queue=st.sampled_from(QUEUES), manual=st.booleans(), credit=st.integers(1, 3))
    def subscribe(self, queue: bytes, manual: bool, credit: int) -> None:
        inbox = Inbox(b"c", manual=manual, credit=credit)
        twin = ModelConsumer(queue, manual, credit)
        self.pairs.append((inbox, twin))
        self.broker.subscribe(queue, inbox, None, 0)
        self.model.rejoin(twin)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        inbox, twin = self.pairs.pop(data.draw(st.integers(0, len(self.pairs) - 1)))
        self.broker.cancel(inbox, 0)
        self.model.leave(twin)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), suspended=st.booleans())
    def suspend_or_resume(self, data: st.DataObject, suspended: bool) -> None:
        inbox, twin = data.draw(st.sampled_from(self.pairs))
        if suspended:
            self.broker.suspend(inbox)
        else:
            self.broker.resume(inbox)
        if twin.suspended != suspended:
            twin.suspended = suspended
            self.model.rejoin(twin)

    @precondition(lambda self: any(twin.held for _, twin in self.pairs))
    @rule(data=st.data(), how=st.sampled_from(["accept", "reject", "release"]))
    def settle(self, data: st.DataObject, how: str) -> None:
        inbox, twin = data.draw(st.sampled_from([pair for pair in self.pairs if pair[1].held]))
        place = data.draw(st.integers(0, len(twin.held) - 1))
        getattr(self.broker, how)(inbox.held()[place])
        spot, number, retry = twin.held.pop(place)
        if how == "reject":
            self.model.queues[twin.queue].append([self.model.place(), number, retry + 1])
        elif how == "release":
            self.model.queues[twin.queue].append([spot, number, retry])
        if twin not in self.model.line[twin.queue]:
            self.model.rejoin(twin)
        self.model.settle_line(twin.queue)

    @precondition(lambda self: len(self.pairs) < 4)
    @rule(queue=st.sampled_from(QUEUES))
    def take_one(self, queue: bytes) -> None:
        taken = self.broker.get(queue)
        items = self.model.queues[queue]
        expected = None if self.model.line[queue] or not items else items.pop(0)[1]
        assert (None if taken is None else int(taken.id)) == expected

    @invariant()
    def agrees_with_the_model(self) -> None:
        twins = [twin for _, twin in self.pairs]
        for inbox, twin in self.pairs:
            assert [(int(message.id), retry) for message, retry in inbox.received] == twin.got
        for queue in QUEUES:
            contents = self.broker.queues[queue].contents()
            assert [(int(message.id), retry) for message, retry in contents] == self.model.owed(queue, twins)

    @invariant()
    def agrees_with_a_replay_of_its_log(self) -> None:
        rebuilt = replay(self.log.entries, MemoryLog(), Limits())
        assert durable_state(rebuilt) == durable_state(self.broker)
        assert (rebuilt.log.next_offset, rebuilt.log.position) == (self.log.next_offset, self.log.position)


TestBrokerAgainstModel = BrokerAgainstModel.TestCase
TestBrokerAgainstModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
