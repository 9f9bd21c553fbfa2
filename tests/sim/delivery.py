"""The same run with delays, times to live, tries, dead letters, redrives and deduplication.

What the broker decides by itself is not predicted here: `tests/core/test_delivery_model.py` does that. Here the state
of the living broker is noted at every position where a block can end, and what comes back after a crash must be exactly
one of these, not before the last one that was reported durable. So what was confirmed is there, due or not, a dead
letter is where it was, and nothing is half moved.
"""

from collections.abc import Callable

from penstock.core.limits import DEAD_LETTER, DROP_OLDEST, REFUSE
from penstock.core.policy import Rule
from penstock.core.replay import QueueState, durable_state
from penstock.core.subscription import Delivery, Inbox
from penstock.errors import DISK_FULL, OVER_LIMIT, Refused
from penstock.message import Message, Terms

from .world import EVENTS, QUEUES, SECOND, World

DEAD = b"dead"
State = tuple[dict[bytes, QueueState], dict[bytes, int], int]  # queues, remembered ids, next offset
Fields = tuple[bytes, bytes, bytes, int, dict[bytes, bytes] | None, int, str]


# As in `world`: names of methods, and how often they are called.
WEIGHTS = {
    "publish": 20,
    "put": 30,
    "get": 4,
    "subscribe": 10,
    "cancel": 4,
    "accept": 10,
    "reject": 14,
    "put_off": 6,
    "bury": 6,
    "release": 2,
    "redrive": 8,
    "bind": 3,
    "tick": 20,
    "end_turn": 40,
    "flush": 40,
    "make_trouble": 3,
    "make_room": 3,
    "snapshot": 12,
    "page_out": 6,
}


class DeliveryWorld(World):
    weights = WEIGHTS

    def prepare(self) -> None:
        chance = self.chance
        self.rules = [
            Rule(
                [b"*"],
                dead_letter=chance.choice([b"", DEAD, DEAD]),
                deliveries_max=chance.choice([0, 2, 3]),
                retry_delay=chance.choice([0, 0, 5 * SECOND]),
                retry_backoff=2.0,
            ),
            Rule([QUEUES[0]], ttl=20 * SECOND),
            Rule([QUEUES[1]], length_max=4, full=chance.choice([REFUSE, DROP_OLDEST, DEAD_LETTER])),
            Rule([QUEUES[2]], dedup_seconds=30),
            Rule([DEAD], length_max=chance.choice([3, 1000])),
        ]
        self.known: dict[int, State] = {0: ({}, {}, 0)}  # by position
        self.fields: dict[int, Fields] = {}  # of messages, by offset

    def prepare_broker(self) -> None:
        """Queues are there from the start: one that comes to be in the middle of something ends a block there."""
        self.broker.set_time(self.now)
        self.broker.set_policies(self.rules)
        for name in (*QUEUES, DEAD):
            self.broker.declare(name)
            self.remember()

    def check_recovered(self) -> None:
        position = self.log.position
        self.note(f"recovered position {position}, reported {self.durable}, end {max(self.known)}")
        assert position >= self.durable, f"recovered {position}, but {self.durable} was reported durable"
        assert position in self.known, f"recovered {position}, where no block ended"
        for part, expected in zip(self.state(), self.known[position], strict=True):
            assert part == expected, f"recovered {part}, and it was {expected}"
        self.known = {place: known for place, known in self.known.items() if place <= position}
        self.states = {place: ({}, 0) for place in self.known}  # of the model, which has no part in this
        next_offset = self.log.next_offset
        self.fields = {offset: fields for offset, fields in self.fields.items() if offset < next_offset}
        for queue in self.broker.queues.values():
            for message, _ in queue.contents():
                assert fields_of(message) == self.fields[message.offset]

    def state(self) -> State:
        return durable_state(self.broker), self.broker.dedup.contents(), self.log.next_offset

    def check(self) -> None:
        queues = self.broker.queues.values()
        in_memory = sum(queue.bytes_in_memory() for queue in queues)
        assert self.broker.usage.bytes == in_memory
        assert all(queue.ready == len(queue.backlog) for queue in queues)

    def remember(self) -> None:
        for inbox in self.inboxes:
            inbox.received.clear()
        for queue in self.broker.queues.values():
            for message in [*queue.backlog.in_memory(), *queue.delayed.in_memory()]:
                self.fields.setdefault(message.offset, fields_of(message))
            for subscription in queue.subscriptions:
                for delivery in subscription.held():
                    if delivery.message is not None:
                        self.fields.setdefault(delivery.offset, fields_of(delivery.message))
        self.known[self.log.position] = self.state()
        self.states[self.log.position] = ({}, 0)

    # -- what clients do --------------------------------------------------------------------------------------------

    def publish(self) -> None:
        message = self.message(self.chance.choice(EVENTS))
        self.give(message, lambda: self.broker.publish(message))

    def put(self) -> None:
        name = self.chance.choice(QUEUES)
        message = self.message(name)
        self.give(message, lambda: self.broker.put(name, message))

    def message(self, event: bytes) -> Message:
        chance = self.chance
        self.number += 1
        id = b"d%d" % chance.randint(0, 5) if chance.random() < 0.3 else b"%d" % self.number
        message = Message(
            id, event, b"%d" % self.number, self.now, "sim", {b"h": id} if chance.random() < 0.2 else None
        )
        if chance.random() < 0.5:
            due_at = chance.choice([0, 0, self.now + SECOND, self.now + 15 * SECOND])
            expires_at = chance.choice([0, 0, max(self.now, due_at) + 5 * SECOND])
            message.terms = Terms(due_at, expires_at, chance.choice([0, 0, 1, 2]), chance.choice([0, 0, 10]))
        return message

    def give(self, message: Message, verb: Callable[[], object]) -> None:
        refused_with = ""
        try:
            verb()
        except Refused as refusal:
            refused_with = refusal.code
        assert refused_with in ("", DISK_FULL if self.broker.shut_because else OVER_LIMIT)
        self.note(f"message {message.id!r} for {message.event!r}, {message.terms!r}")
        self.remember()

    def get(self) -> None:
        self.broker.get(self.chance.choice([*QUEUES, DEAD]))
        self.remember()

    def subscribe(self) -> None:
        if len(self.inboxes) < 5:
            name = self.chance.choice([*QUEUES, QUEUES[0], DEAD])
            inbox = Inbox(name, manual=self.chance.random() < 0.8, credit=self.chance.randint(1, 4))
            self.inboxes.append(inbox)
            self.broker.subscribe(name, inbox, None, self.now)
            self.remember()

    def cancel(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            self.inboxes.remove(inbox)
            self.broker.cancel(inbox, self.now)
            self.remember()

    def accept(self) -> None:
        self.end(self.broker.accept)

    def reject(self) -> None:
        self.end(self.broker.reject)

    def put_off(self) -> None:
        self.end(lambda delivery: self.broker.reject(delivery, self.now + 8 * SECOND))

    def bury(self) -> None:
        self.end(self.broker.bury)

    def release(self) -> None:
        self.end(self.broker.release)

    def end(self, verb: Callable[[Delivery], None]) -> None:
        holders = [inbox for inbox in self.inboxes if inbox.in_flight]
        if holders:
            verb(self.chance.choice(self.chance.choice(holders).held()))
            self.remember()

    def redrive(self) -> None:
        if not self.broker.shut_because:
            to = self.chance.choice([b"", b"", QUEUES[3]])
            moved = self.broker.redrive(DEAD, self.chance.randint(1, 3), to, self.now)
            self.note(f"redriven {moved}")
            self.remember()

    def bind(self) -> None:
        events = tuple(event for event in EVENTS if self.chance.random() < 0.5)
        self.broker.bind(self.chance.choice(QUEUES), events)
        self.remember()

    def tick(self) -> None:
        self.now += self.chance.choice([0, SECOND, 5 * SECOND, 20 * SECOND])
        self.broker.tick(self.now)
        self.remember()


def fields_of(message: Message) -> Fields:
    terms = repr(message.terms or Terms())
    return (message.id, message.event, message.body, message.published_at, message.headers, message.route, terms)
