"""One simulated run: clients that do anything, and a broker on a disk that can fail, crashed again and again.

The broker, its log, the flusher's steps and the recovery are the real ones. The run keeps a model (`model.py`) and what
the model was at every position of the log. After each crash the recovered broker must be

    exactly the model at ONE position, which is not before the last one that was reported durable.

From that follows all that is promised: what was confirmed is there, what was settled and confirmed does not come back,
order and retry counters are kept, and nothing is half done. Then the run goes on from there.
"""

import errno
import random
from collections.abc import Callable

from penstock.core.broker import RETURN_TIME
from penstock.core.capture import capture
from penstock.core.limits import DROP_OLDEST, REFUSE, Limits
from penstock.core.queue import NEVER
from penstock.core.replay import QueueState as DurableState
from penstock.core.replay import durable_state
from penstock.core.subscription import Inbox
from penstock.errors import DISK_FULL, OVER_LIMIT, Refused
from penstock.log.durable import DurableLog
from penstock.log.retention import Retention
from penstock.log.snapshot import Snapshot
from penstock.message import TO_CONSUMERS, Message, Terms
from penstock.server.flusher import Flusher
from penstock.server.snapshots import Snapshots
from penstock.server.storage import Recovery, recover

from .disk import Crash, SimDisk
from .model import Model, QueueState, Sent

QUEUES = (b"q0", b"q1", b"q2", b"q3")
EVENTS = (b"e0", b"e1", b"e2")
PATTERN = b'{"k":1}'
SECOND = 1_000_000

# What is done how often. The words are names of methods.
WEIGHTS = {
    "publish": 30,
    "put": 14,
    "broadcast": 1,
    "get": 4,
    "subscribe": 10,
    "cancel": 4,
    "accept": 18,
    "reject": 8,
    "release": 2,
    "suspend": 2,
    "resume": 4,
    "bind": 4,
    "expire": 3,
    "delete": 1,
    "tick": 4,
    "end_turn": 40,
    "flush": 40,
    "make_trouble": 3,
    "make_room": 3,
    "snapshot": 12,
    "page_out": 6,
}


class World:
    weights = WEIGHTS

    def __init__(self, seed: int, steps: int = 250, trace: Callable[[str], None] | None = None) -> None:
        self.chance = chance = random.Random(seed)
        self.steps = steps
        self.trace = trace
        self.now = 10**15
        self.disk = SimDisk(chance)
        self.disk.short_writes = chance.choice([0.0, 0.0, 0.3])
        self.segment_bytes_max = chance.choice([1, 600, 3000, 1 << 20])
        # A limit is never over while this many may be in a queue at once.
        self.length_max = chance.choice([4, 1 << 20])
        self.policy = chance.choice([REFUSE, DROP_OLDEST])
        self.limits = Limits(queue_length_max=self.length_max, queue_full=self.policy)
        self.model = Model()
        self.states: dict[int, tuple[dict[bytes, QueueState], int]] = {0: ({}, 0)}  # by position
        self.durable = 0  # the last position reported
        self.crashes = 0
        self.trimmed = 0
        self.number = 0
        self.prepare()
        self.start()

    def prepare(self) -> None:
        """Choose what differs from run to run."""

    def prepare_broker(self) -> None:
        """A broker has been recovered and checked."""

    def run(self) -> None:
        words, weights = list(self.weights), list(self.weights.values())
        for word in self.chance.choices(words, weights, k=self.steps):
            try:
                getattr(self, word)()
            except (Crash, OSError) as error:
                # An error of the disk ends the process, and sometimes it is the machine that is to blame.
                self.note(f"crash in {word}: {error!r}")
                self.crash()
        self.stop()

    # -- life and death ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Recover, perhaps crash on the way and recover again; then check what came back."""
        chance = self.chance
        recovery: Recovery | None = None
        while recovery is None:
            self.disk.operations_to_crash = chance.choice([-1, chance.randint(1, 30), chance.randint(1, 30)])
            self.log = DurableLog(self.segment_bytes_max)
            try:
                self.broker, recovery = recover(self.disk, self.log, self.limits, self.now)
            except (Crash, OSError) as error:
                # With an error it does not start, and is started again.
                self.note(f"crash in recovery: {error!r}")
                self.lose()
        self.inboxes: list[Inbox] = []
        self.expiries: dict[bytes, int] = {}
        self.flusher = Flusher(self.disk, "always", self.on_durable, self.on_full, self.on_failure)
        retention = Retention(self.disk, chance.choice([0, 1, 3600]), chance.choice([0, 2000, 1 << 40]))
        self.snapshots = Snapshots(self.disk, self.log, retention, self.on_report)
        self.snapshots.taken_at_position = recovery.snapshot_position
        self.waiting: tuple[Snapshot, list[tuple[int, int]]] | None = None
        self.check_recovered()
        self.durable = self.log.position
        self.prepare_broker()

    def crash(self) -> None:
        self.crashes += 1
        self.lose()
        # The clock of a machine may be set back while it is down.
        self.now += self.chance.choice([0, SECOND, -3600 * SECOND, 3600 * SECOND])
        self.start()

    def lose(self) -> None:
        """What a crash does to the disk."""
        if self.chance.random() < 0.4:
            self.note("kill")
            self.disk.kill()
        else:
            self.note("power off")
            self.disk.power_off()

    def stop(self) -> None:
        """An orderly end loses nothing."""
        self.disk.room = -1
        self.disk.fault = ("", 0)
        self.disk.operations_to_crash = -1
        self.end_turn()
        while self.flusher.behind:
            assert self.flusher.step()
        assert self.durable == self.log.position
        end = max(self.states)
        self.disk.power_off()
        self.start()
        assert self.log.position == end

    def check_recovered(self) -> None:
        position = self.log.position
        self.note(f"recovered position {position}, reported {self.durable}, end {max(self.states)}")
        assert position >= self.durable, f"recovered {position}, but {self.durable} was reported durable"
        assert position in self.states, f"recovered {position}, where no block ended"
        state, message_count = self.states[position]
        assert self.log.next_offset == message_count
        self.model.thaw(state, message_count)
        self.states = {place: known for place, known in self.states.items() if place <= position}
        self.check()
        for queue in self.broker.queues.values():
            for message, _ in queue.contents():
                self.check_message(message)
        for name, known in self.model.queues.items():
            assert self.broker.queues[name].used == known.used
            if known.expires_after > 0 or known.used:
                self.expiries[name] = self.now + max(known.expires_after, RETURN_TIME)

    def check(self) -> None:
        """The broker owes what the model owes."""
        expected: dict[bytes, DurableState] = {
            name: (
                events,
                (PATTERN,) if pattern else (),
                expires,
                [(offset, retry) for _, offset, retry in owed],
                [],
                False,
            )
            for name, (events, pattern, expires, _, owed) in sorted(self.model.freeze().items())
        }
        assert durable_state(self.broker) == expected
        queues = self.broker.queues.values()
        assert self.broker.usage.bytes == sum(queue.bytes_in_memory() for queue in queues)
        assert all(queue.ready == len(queue.backlog) for queue in queues)

    def check_message(self, message: Message) -> None:
        sent = self.model.sent[message.offset]
        got = (message.id, message.event, message.body, message.published_at, message.headers, message.protocol)
        assert got == (sent.id, sent.event, sent.body, sent.at, sent.headers, "sim")

    # -- the flusher ------------------------------------------------------------------------------------------------

    def on_durable(self, position: int, next_offset: int) -> None:
        assert position > self.durable
        self.durable = position
        self.log.written(position, next_offset)

    def on_full(self, reason: str) -> None:
        if reason:
            self.broker.shut(reason)
        else:
            self.broker.reopen()

    def on_failure(self, reason: str) -> None:
        raise AssertionError(reason)  # is the thread's, and there is none

    def end_turn(self) -> None:
        self.log.close_block(self.now)
        self.flusher.submit(self.log.take_closed())

    def flush(self) -> None:
        room = self.disk.room
        done = self.flusher.step()
        assert done or room >= 0 or self.flusher.full
        if self.waiting is not None and self.waiting[0].position <= self.durable:
            self.snapshots.write(*self.waiting)
            self.waiting = None

    def snapshot(self) -> None:
        """Note the state where a segment begins; it is written once the log is safe up to there."""
        self.end_turn()
        if self.log.position > self.snapshots.taken_at_position:
            self.log.end_segment()
            self.waiting = (capture(self.broker, self.now), self.broker.owed_ranges())
            self.snapshots.taken_at_position = self.log.position

    def page_out(self) -> None:
        """Memory is short."""
        for queue in self.broker.queues.values():
            queue.free_memory()
        self.check()

    def on_report(self, level: str, event: str, details: dict[str, object]) -> None:
        self.note(f"{event} {details}")
        if event == "log.trimmed":
            self.trimmed += 1

    def make_trouble(self) -> None:
        kind = self.chance.choice(["full", "full", "fault", "crash"])
        if kind == "full":
            self.disk.room = self.chance.choice([0, self.chance.randint(0, 500)])
        elif kind == "fault":
            self.disk.fault = self.chance.choice(
                [("write", errno.EIO), ("sync", errno.EIO), ("sync", errno.ENOSPC), ("sync_directory", errno.EIO),
                 ("open", errno.EROFS), ("truncate", errno.EIO)]
            )  # fmt: skip
        else:
            raise Crash

    def make_room(self) -> None:
        self.disk.room = -1

    # -- what clients do --------------------------------------------------------------------------------------------

    def publish(self) -> None:
        event = self.chance.choice(EVENTS)
        is_object = self.chance.random() < 0.3
        sent, message = self.new_message(event, is_object)
        queues = self.model.wanting(event, is_object)
        self.admit(sent, queues, lambda: self.broker.publish(message))

    def put(self) -> None:
        name = self.chance.choice(QUEUES)
        sent, message = self.new_message(name, False)
        if self.chance.random() < 0.2:
            sent.tries_max = 2
            message.terms = Terms(deliveries_max=2)
        if not self.broker.shut_because:
            self.model.declare(name)
        self.admit(sent, [name], lambda: self.broker.put(name, message))

    def broadcast(self) -> None:
        name = self.chance.choice(QUEUES)
        sent, message = self.new_message(name, False)
        self.admit(sent, [], lambda: self.broker.broadcast(name, message))

    def new_message(self, event: bytes, is_object: bool) -> tuple[Sent, Message]:
        self.number += 1
        id = b"%d" % self.number
        body = b'{"k":1,"n":%d}' % self.number if is_object else b"x" * self.chance.choice([0, 3, 100])
        headers = {b"h": id} if self.chance.random() < 0.2 else None
        sent = Sent(id, event, body, self.now, headers)
        return sent, Message(id, event, body, self.now, "sim", headers)

    def admit(self, sent: Sent, queues: list[bytes], give: Callable[[], object]) -> None:
        """Hand a message in, and know beforehand what will be refused."""
        if self.broker.shut_because:
            self.expect_refusal(DISK_FULL, give)
            return
        closed = [name for name in queues if not self.make_place(name)]
        takers = [name for name in queues if name not in closed]
        if closed and not takers:
            self.expect_refusal(OVER_LIMIT, give)
        else:
            self.model.send(sent, takers)
            if closed:
                self.expect_refusal(OVER_LIMIT, give)
            else:
                give()
        self.note(f"message {sent.id!r} for {takers}, refused by {closed}")
        self.remember()

    def expect_refusal(self, code: str, give: Callable[[], object]) -> None:
        refused_with = ""
        try:
            give()
        except Refused as refusal:
            refused_with = refusal.code
        assert refused_with == code

    def make_place(self, name: bytes) -> bool:
        """Whether a queue may take one more, by giving up its first ready one where that is the rule."""
        queue = self.model.queues[name]
        if len(queue.owed) < self.length_max:
            return True
        held = {d.offset for inbox in self.inboxes_of(name) for d in inbox.held()}
        ready = sorted((place, offset) for offset, (place, _) in queue.owed.items() if offset not in held)
        if self.policy == REFUSE or not ready:
            return False
        self.model.end(name, ready[0][1])
        return True

    def get(self) -> None:
        name = self.chance.choice(QUEUES)
        self.model.declare(name)
        message = self.broker.get(name)
        if message is not None:
            self.check_message(message)
            self.model.end(name, message.offset)
        self.remember()

    def subscribe(self) -> None:
        if len(self.inboxes) >= 5:
            return
        name = self.chance.choice(QUEUES)
        inbox = Inbox(name, manual=self.chance.random() < 0.7, credit=self.chance.randint(1, 4))
        self.inboxes.append(inbox)
        known = self.model.declare(name)
        known.used = known.used or known.expires_after == 0
        self.expiries.pop(name, None)
        self.broker.subscribe(name, inbox, None, self.now)
        self.remember()

    def cancel(self) -> None:
        inbox = self.any_inbox()
        if inbox is None:
            return
        name, before = inbox.name, self.log.position
        held = [delivery.offset for delivery in inbox.held()]
        self.inboxes.remove(inbox)
        for offset in held:
            self.model.give_back(name, offset)
        self.broker.cancel(inbox, self.now)
        expires_after = self.model.queues[name].expires_after
        if expires_after != NEVER and not self.inboxes_of(name):
            if expires_after == 0:
                # What went back may be on the disk, and the queue's end not yet.
                self.remember_at(before + len(held))
                del self.model.queues[name]
            else:
                self.expiries[name] = self.now + expires_after
        self.remember()

    def accept(self) -> None:
        self.settle(self.broker.accept, self.model.end)

    def reject(self) -> None:
        self.settle(self.broker.reject, self.model.reject)

    def release(self) -> None:
        self.settle(self.broker.release, lambda name, offset: None)

    def settle(self, verb: Callable, effect: Callable[[bytes, int], None]) -> None:
        holders = [inbox for inbox in self.inboxes if inbox.in_flight]
        if holders:
            inbox = self.chance.choice(holders)
            delivery = self.chance.choice(inbox.held())
            effect(inbox.name, delivery.offset)
            verb(delivery)
            self.remember()

    def suspend(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            self.broker.suspend(inbox)

    def resume(self) -> None:
        inbox = self.any_inbox()
        if inbox is not None:
            self.broker.resume(inbox)
            self.remember()

    def bind(self) -> None:
        name = self.chance.choice(QUEUES)
        queue = self.model.declare(name)
        queue.events = tuple(event for event in EVENTS if self.chance.random() < 0.5)
        queue.by_pattern = self.chance.random() < 0.2
        self.broker.bind(name, queue.events, (PATTERN,) if queue.by_pattern else ())
        self.remember()

    def expire(self) -> None:
        name = self.chance.choice(QUEUES)
        after = self.chance.choice([NEVER, 0, 5 * SECOND])
        known = self.model.declare(name)
        if known.expires_after != after:
            known.expires_after = after
            known.used = after == 0 and bool(self.inboxes_of(name))
            self.expiries.pop(name, None)
            if after > 0 and not self.inboxes_of(name):
                self.expiries[name] = self.now + after
        self.broker.set_time(self.now)
        self.broker.expire(name, after)
        self.remember()

    def delete(self) -> None:
        name = self.chance.choice(QUEUES)
        assert self.broker.delete(name) == (name in self.model.queues)
        self.forget(name)
        self.remember()

    def tick(self) -> None:
        self.now += self.chance.choice([0, SECOND, 10 * SECOND, 100 * SECOND])
        for name in [name for name, when in self.expiries.items() if when <= self.now]:
            self.forget(name)
        self.broker.tick(self.now)
        self.remember()

    def forget(self, name: bytes) -> None:
        self.model.queues.pop(name, None)
        self.expiries.pop(name, None)
        self.inboxes = [inbox for inbox in self.inboxes if inbox.name != name]

    # -- looking on -------------------------------------------------------------------------------------------------

    def any_inbox(self) -> Inbox | None:
        return self.chance.choice(self.inboxes) if self.inboxes else None

    def inboxes_of(self, name: bytes) -> list[Inbox]:
        return [inbox for inbox in self.inboxes if inbox.name == name]

    def remember(self) -> None:
        """What was given to those who need not answer is done; then this is the state at this position."""
        for inbox in self.inboxes:
            if inbox.received:
                for message, _ in inbox.received:
                    self.check_message(message)
                    if not inbox.manual and message.route != TO_CONSUMERS:
                        self.model.end(inbox.name, message.offset)
                inbox.received.clear()
        self.remember_at(self.log.position)
        if self.chance.random() < 0.05:
            self.check()

    def remember_at(self, position: int) -> None:
        self.states[position] = (self.model.freeze(), len(self.model.sent))

    def note(self, text: str) -> None:
        if self.trace is not None:
            self.trace(f"{text} [position {self.log.position}]" if hasattr(self, "log") else text)
