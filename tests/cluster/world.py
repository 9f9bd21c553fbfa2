"""Three nodes on one simulated stream, with clients that do anything, and everything that can go wrong.

Members, appenders, replicas, brokers and their logs are the real ones; disks, stream and time are simulated. What the
stream holds is also read by a `Judge`, which knows the one history there is. Checked all the time:

    what a node tells its clients is done is in that history, appended by that node's leadership
    a node's state at a position is that of the history there; so is what a new leader begins with
    nothing that was confirmed is lost, nothing that was settled and confirmed is owed again

and at the end, when all is well again: some node leads, and all have the same bytes.
"""

import random
from collections.abc import Callable
from functools import partial

from tests.sim.disk import SimDisk

from penstock.cluster.files import CopyFiles, discard
from penstock.cluster.history import History, Mark
from penstock.cluster.member import LEADING, Member
from penstock.cluster.replica import Replica
from penstock.cluster.stream import BLOCKS, StreamMessage
from penstock.core.capture import capture
from penstock.core.guarded import GuardedBroker
from penstock.core.limits import Limits
from penstock.core.replay import Replay, durable_state
from penstock.core.subscription import Inbox
from penstock.log.block import Block
from penstock.log.header import block_length
from penstock.log.memory import MemoryLog
from penstock.log.snapshot import encode
from penstock.log.tuning import Tuning
from penstock.message import Message
from penstock.storage.retention import Retention
from penstock.storage.segments import SEGMENT_SUFFIX, segments_of

from .double import FULL, Port, Servers
from .timeline import SECOND, Timeline

AGAIN = "python -m tests.cluster --seed "

QUEUES = (b"q0", b"q1")
NODES = ("a", "b", "c")
TICK = SECOND // 20

# What happens how often. The words are names of methods of a `World`.
WEIGHTS = {
    "work": 60,
    "wait": 10,
    "kill": 3,
    "power_off": 2,
    "start_again": 8,
    "stop_process": 3,
    "resume_process": 6,
    "cut_off": 3,
    "let_in": 6,
    "deafen": 3,
    "elect": 2,
    "lose": 4,
    "be_kind": 3,
    "leave": 2,
    "trim": 6,
    "wipe": 2,
}


class Judge:
    """Reads what the servers hold, at once, and knows the state at every position where a block ended."""

    def __init__(self, servers: Servers, limits: Limits) -> None:
        self.servers = servers
        self.history = History(Mark())
        self.replay = Replay(MemoryLog(), limits)
        self.leads: dict[int, str] = {0: ""}  # by position where a message ended: the leadership that appended it
        self.states: dict[int, object] = {0: {}}
        self.position = 0
        self.passed_over = 0  # messages of the stream that do not count
        self._read = 0
        self._names: list[bytes] = []
        self._segment = ""

    def read(self) -> None:
        while self._read < self.servers.last:
            self._read += 1
            message = self.servers.messages[self._read]
            whole = self.history.take(self._read, message)
            self.passed_over += self.history.number != message.number or self.history.lead != message.lead
            if whole is not None and whole.kind == BLOCKS:
                self._apply(whole)

    def _apply(self, message: StreamMessage) -> None:
        assert message.position == self.position, f"{message!r} does not follow {self.position}"
        if message.segment != self._segment:
            assert message.place == 0
            self._segment, self._names = message.segment, []
        start = 0
        while start < len(message.data):
            end = start + block_length(message.data[start:])
            block = Block(message.data[start:end], self._names)
            assert block.first_position == self.position
            self.replay.apply_block(block)
            self.position = block.end_position
            self.states[self.position] = self.replay.state()
            start = end
        self.leads[self.position] = message.lead


class Node:
    """One process and its disk."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.name = name
        self.disk = SimDisk(world.chance)
        self.failed = ""
        self.is_up = False
        self.start()

    def start(self) -> None:
        world = self.world
        self.is_up = True
        self.port = Port(world.servers)
        self.broker: GuardedBroker | None = None
        self.inbox: dict[bytes, Inbox] = {}
        self.confirmations: list[tuple[int, Callable[[], None]]] = []
        self.member = Member(self.name, self.port, self, self.report, world.chance)
        self.member.start(world.timeline.now)
        self.tick(self.member)

    def tick(self, member: Member) -> None:
        if self.member is member and self.is_up:
            self.port.hand_over(lambda: self.member.tick(self.world.timeline.now) if self.member is member else None)
            self.world.timeline.plan(TICK, lambda: self.tick(member))

    def end(self) -> None:
        self.is_up = False
        self.broker = None
        self.member.stop()
        self.port.close()

    def report(self, level: str, event: str, details: dict[str, object]) -> None:
        self.world.joined += event == "cluster.joined"
        self.world.note(f"{event} {details}")

    # -- what the member tells --------------------------------------------------------------------------------------

    def open_files(self) -> CopyFiles:
        return CopyFiles(self.disk, "stream")

    def open_replica(self, files: CopyFiles) -> Replica:
        return Replica(files, self.world.limits, self.world.segment_bytes_max, self.world.tuning)

    def discard_files(self) -> None:
        discard(self.disk)

    def lead(self, broker: GuardedBroker, replica: Replica) -> None:
        world = self.world
        world.leads += 1
        world.judge.read()
        position = broker.log.position
        if world.servers.fence == FULL:
            assert durable_state(broker) == world.judge.states[position], f"{self.name} begins with another state"
        self.broker, self.log = broker, replica.log
        self.inbox = {}
        self.confirmations = []
        self.lead_name = self.member.history.lead
        broker.set_time(world.timeline.now)
        broker.return_lost(world.timeline.now)
        self.end_turn()

    def durable(self, position: int, next_offset: int) -> None:
        judge = self.world.judge
        judge.read()
        assert judge.leads.get(position) == self.lead_name, f"{self.name} confirms {position}, which is not its own"
        self.log.written(position, next_offset)
        confirmations = self.confirmations
        while confirmations and confirmations[0][0] <= position:
            confirmations.pop(0)[1]()

    def deposed(self, reason: str) -> None:
        self.broker = None
        self.world.note(f"{self.name} deposed: {reason}")

    def fail(self, reason: str) -> None:
        self.failed = reason
        raise AssertionError(f"{self.name}: {reason}")

    # -- what clients do --------------------------------------------------------------------------------------------

    def work(self) -> None:
        broker, world = self.broker, self.world
        if broker is None or self.port.stopped:
            return
        chance = world.chance
        broker.set_time(world.timeline.now)
        broker.tick(world.timeline.now)
        for _ in range(chance.choice([1, 1, 3, 10])):
            what = chance.random()
            name = chance.choice(QUEUES)
            if what < 0.6:
                self.put(broker, name)
            elif what < 0.8:
                got = broker.get(name)
                if got is not None:
                    place = (name, got.offset)
                    self.when_durable(partial(world.confirm_settled, place))
            else:
                self.consume(broker, name)
        self.end_turn()

    def put(self, broker: GuardedBroker, name: bytes) -> None:
        world = self.world
        world.number += 1
        body = b"%d" % world.number + b"x" * world.chance.choice([0, 20, 600])
        message = Message(b"%d" % world.number, name, body, world.timeline.now, "sim")
        broker.put(name, message)
        self.when_durable(lambda: world.confirm_put(message.offset, body))

    def put_one(self) -> None:
        assert self.broker is not None
        self.broker.set_time(self.world.timeline.now)
        self.put(self.broker, QUEUES[0])
        self.end_turn()

    def consume(self, broker: GuardedBroker, name: bytes) -> None:
        chance, world = self.world.chance, self.world
        inbox = self.inbox.get(name)
        if inbox is None:
            inbox = self.inbox[name] = Inbox(name, manual=True, credit=4, priority=20)
            broker.subscribe(name, inbox, None, world.timeline.now)
        elif inbox.in_flight:
            delivery = chance.choice(inbox.held())
            if chance.random() < 0.7:
                settled = (name, delivery.offset)
                broker.accept(delivery)
                self.when_durable(lambda: world.confirm_settled(settled))
            else:
                broker.reject(delivery)
        inbox.received.clear()

    def when_durable(self, action: Callable[[], None]) -> None:
        """What was asked for and not written yet is promised for the end of this turn."""
        self.confirmations.append((-1, action))

    def end_turn(self) -> None:
        assert self.broker is not None
        self.broker.end_turn()
        log = self.log
        log.close_block(self.world.timeline.now)
        self.confirmations = [
            (log.position if position < 0 else position, action) for position, action in self.confirmations
        ]
        self.member.submit(log.take_closed())

    def trim(self) -> None:
        """Take a snapshot, and have all nodes delete what no queue needs."""
        broker, world = self.broker, self.world
        if broker is None or self.port.stopped or self.log.durable < self.log.position:
            return
        self.log.end_segment()
        snapshot = capture(broker, world.timeline.now)
        snapshot.segments = segments_of(self.disk)
        due = Retention(self.disk, 1e-6, 0).due(broker.owed_ranges(), world.timeline.now)
        world.trimmed += len(due)
        world.note(f"{self.name} trims {[one.segment for one in due]} with a snapshot at {snapshot.position}")
        self.member.trim(snapshot.position, encode(snapshot), [one.segment for one in due])

    def segments(self) -> dict[str, bytes]:
        return {name: bytes(self.disk.files[name].data) for name in self.disk.files if name.endswith(SEGMENT_SUFFIX)}


class World:
    def __init__(
        self,
        seed: int,
        steps: int = 120,
        fence: str = FULL,
        trace: Callable[[str], None] | None = None,
        weights: dict[str, int] | None = None,
    ) -> None:
        self.seed = seed
        self.steps = steps
        self.trace = trace
        self.weights = WEIGHTS if weights is None else weights
        self.chance = chance = random.Random(seed)
        self.timeline = Timeline(10**15)
        self.tuning = Tuning()
        self.tuning.block_bytes_max = chance.choice([200, 1000, 1 << 20])
        self.segment_bytes_max = chance.choice([1, 1000, 1 << 20])
        self.limits = Limits()
        self.servers = Servers(self.timeline, chance, chance.choice([150, 1000, 1 << 19]), fence)
        self.judge = Judge(self.servers, self.limits)
        self.number = 0
        self.leads = 0
        self.trimmed = self.joined = 0
        self.faults = 0
        self.puts: dict[int, bytes] = {}  # confirmed, by offset
        self.settled: set[tuple[bytes, int]] = set()  # confirmed: queue and offset
        self.nodes = [Node(self, name) for name in NODES]

    def note(self, text: str) -> None:
        if self.trace is not None:
            self.trace(f"{(self.timeline.now - 10**15) / SECOND:9.4f} {text}")

    def run(self) -> None:
        self.timeline.run(2)
        for word in self.chance.choices(list(self.weights), list(self.weights.values()), k=self.steps):
            getattr(self, word)()
            self.timeline.run(self.chance.choice([0.0, 0.001, 0.01, 0.1]))
        self.recover()
        self.check_end()

    def recover(self) -> None:
        """All is well again; then some time passes."""
        self.be_kind()
        self.servers.up_at = 0
        for node in self.nodes:
            node.port.is_cut_off = node.port.is_deaf = False
            node.port.resume_process()
            if not node.is_up:
                node.start()
        for _ in range(50):
            self.timeline.run(1)
            leaders = [node for node in self.nodes if node.member.role == LEADING]
            if len(leaders) == 1 and leaders[0].broker is not None:
                leaders[0].put_one()
                self.timeline.run(1)
                if self.is_quiet(leaders[0]):
                    return
        raise AssertionError(f"no quiet after 100 s: {[node.member for node in self.nodes]}")

    def is_quiet(self, leader: Node) -> bool:
        """Whether all that was asked for is done, and everybody knows."""
        log = None if leader.broker is None else leader.broker.log
        return (
            log is not None
            and log.durable == log.position
            and all(node.member.sequence == self.servers.last for node in self.nodes)
        )

    def check_end(self) -> None:
        self.judge.read()
        for node in self.nodes:
            assert node.segments() == self.nodes[0].segments(), f"{node.name} and {self.nodes[0].name} differ"
            replica = node.member.replica
            assert replica is not None
            assert (replica.position if node.broker is None else node.log.position) == self.judge.position
        leader = next(node for node in self.nodes if node.broker is not None)
        broker = leader.broker
        assert broker is not None
        state = durable_state(broker)
        assert state == self.judge.states[self.judge.position]
        owed = {(name, offset) for name, queue in state.items() for offset, _ in queue[3]}
        back = owed & self.settled
        assert not back, f"{back} came back"
        for name, queue in broker.queues.items():
            for message, _ in queue.contents():
                if message.offset in self.puts:
                    assert self.puts[message.offset] == message.body, f"{message.offset} of {name!r} is another message"

    def confirm_put(self, offset: int, body: bytes) -> None:
        assert offset not in self.puts, f"offset {offset} was confirmed twice"
        self.puts[offset] = body

    def confirm_settled(self, place: tuple[bytes, int]) -> None:
        self.settled.add(place)

    # -- what happens -----------------------------------------------------------------------------------------------

    def work(self) -> None:
        for node in self.nodes:
            node.work()

    def wait(self) -> None:
        self.timeline.run(self.chance.choice([0.3, 1, 3]))

    def any_node(self) -> Node:
        """A node; more often one that leads."""
        leaders = [node for node in self.nodes if node.broker is not None]
        return self.chance.choice(leaders if leaders and self.chance.random() < 0.6 else self.nodes)

    def kill(self) -> None:
        node = self.any_node()
        if node.is_up:
            self.faults += 1
            self.note(f"kill {node.name}")
            node.end()
            node.disk.kill()

    def power_off(self) -> None:
        node = self.any_node()
        if node.is_up:
            self.faults += 1
            self.note(f"power off {node.name}")
            node.end()
            node.disk.power_off()

    def start_again(self) -> None:
        for node in self.nodes:
            if not node.is_up and self.chance.random() < 0.7:
                self.note(f"start {node.name}")
                node.start()

    def trim(self) -> None:
        for node in self.nodes:
            node.trim()

    def wipe(self) -> None:
        """A node comes back with an empty disk, as a new one does."""
        node = self.chance.choice(self.nodes)
        self.faults += 1
        if node.is_up:
            node.end()
        self.note(f"wipe {node.name}")
        node.disk = SimDisk(self.chance)

    def stop_process(self) -> None:
        node = self.any_node()
        self.faults += 1
        self.note(f"stop {node.name}")
        node.port.stop_process()

    def resume_process(self) -> None:
        for node in self.nodes:
            if node.port.stopped:
                self.note(f"resume {node.name}")
                node.port.resume_process()

    def cut_off(self) -> None:
        node = self.any_node()
        self.faults += 1
        self.note(f"cut off {node.name}")
        node.port.is_cut_off = True

    def deafen(self) -> None:
        """Beats are lost, nothing else: a node bids although somebody leads."""
        node = self.chance.choice(self.nodes)
        self.faults += 1
        self.note(f"deafen {node.name}")
        node.port.is_deaf = True

    def let_in(self) -> None:
        for node in self.nodes:
            node.port.is_cut_off = node.port.is_deaf = False

    def elect(self) -> None:
        self.faults += 1
        self.note("the servers elect")
        self.servers.elect(self.chance.choice([0.1, 1, 5]))

    def lose(self) -> None:
        self.faults += 1
        self.servers.lost_share = self.chance.choice([0.1, 0.3])
        self.servers.late_share = self.chance.choice([0.0, 0.1, 0.3])
        self.note(f"{self.servers.lost_share} lost, {self.servers.late_share} late")

    def be_kind(self) -> None:
        self.servers.lost_share = self.servers.late_share = 0.0

    def leave(self) -> None:
        node = self.any_node()
        if node.broker is not None and not node.port.stopped:
            node.member.leave(self.chance.choice(["", *NODES]))


def live(seed: int, trace: Callable[[str], None] | None) -> int:
    """One run; how many faults it survived."""
    world = World(seed, trace=trace)
    world.run()
    return world.faults
