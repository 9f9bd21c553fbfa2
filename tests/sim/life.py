"""Life and death of a broker on a simulated disk: recovered, written, paged out and in, snapshotted, crashed.

The broker, its log, the flusher's steps and the recovery are the real ones. Three accounts of the state are kept:

    broker      the living one
    replay      what a replay of the entries says that were written so far; another one reads the closed blocks
    book        the model (`book.py`)

and compared after every step. After each crash the recovered broker must be

    exactly the book at ONE position where a block ended, which is not before the last one that was reported durable.

From that follows all that is promised: what was confirmed is there, what was settled and confirmed does not come back,
order and retry counters are kept, and nothing is half done. Then the run goes on from there.
"""

import errno
import random
from collections.abc import Callable

from penstock.core.capture import capture, capture_replay
from penstock.core.invariants import violations, wrong_memory
from penstock.core.limits import Limits
from penstock.core.policy import Policies, Policy, Rule
from penstock.core.queue import Queue
from penstock.core.replay import Replay, durable_state
from penstock.core.subscription import Inbox, Waiter
from penstock.core.unused_queues import RETURN_TIME
from penstock.errors import LogError
from penstock.log.block import Block
from penstock.log.interface import Change
from penstock.log.memory import MemoryLog
from penstock.log.snapshot import Snapshot, decode, encode
from penstock.log.tuning import Tuning
from penstock.message import Message
from penstock.storage import snapshots as snapshots_module
from penstock.storage.durable import Pending, WatchedLog
from penstock.storage.flusher import Flusher
from penstock.storage.retention import Retention
from penstock.storage.snapshots import Snapshots
from penstock.storage.storage import Recovery, recover

from ..storage.histories import known_by
from .book import Book, fields_of
from .disk import ALL_READS, Crash, SimDisk

SECOND = 1_000_000
snapshots_module._let_go = lambda: None  # there is no loop that waits for the interpreter
HUGE = 1 << 40


class Life:
    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        self.chance = chance = random.Random(seed)
        self.trace = trace
        self.now = 10**15
        self.disk = SimDisk(chance)
        self.disk.short_writes = chance.choice([0.0, 0.0, 0.3])
        self.segment_bytes_max = chance.choice([1, 1, 600, 3000, 1 << 20])
        self.tuning = small_tuning(chance)
        self.limits = Limits(
            queue_length_max=chance.choice([4, 1 << 20, 1 << 20]),
            queue_full=chance.choice(["refuse", "drop-oldest"]),
            memory_bytes_max=chance.choice([1, 2000, 1 << 30]),
            dedup_ids_max=chance.choice([2, 1000]),
            writers_max=chance.choice([2, 1000]),
            writer_seconds=chance.choice([60, 86_400]),
        )
        self.rules: list[Rule] = []
        self.book = Book()
        self.base = Book()  # as it was at the last start ...
        self.history: list[Message | Change] = []  # ... and all that was written since
        self.ends: set[int] = {0}  # positions where blocks ended
        self.wholes: list[tuple[int, int]] = []  # positions between which no block may end
        self.durable = 0  # the last position reported
        self.crashes = 0
        self.trimmed = 0
        # What consumers held, by position of a snapshot of the broker. The broker knows more of that than the log says:
        # where something ready stood before it, and went without a delivery.
        self.held_at: dict[int, dict[bytes, set[int]]] = {}
        self.inboxes: list[Inbox] = []
        self.leaving: list[Inbox] = []  # that have ended, and hold something still
        self.start()

    # -- the start --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Recover, perhaps crash on the way and recover again; then check what came back."""
        chance = self.chance
        disk = self.disk
        recovery: Recovery | None = None
        disk.forgive_reads()
        while recovery is None:
            disk.operations_to_crash = chance.choice([-1, chance.randint(1, 30), chance.randint(1, 12)])
            if chance.random() < 0.1:
                disk.fail_reads(ALL_READS, chance.choice([errno.EIO, errno.EMFILE]), chance.randint(0, 9), 1)
            disk.reads_failed = 0
            self.log = WatchedLog(self.segment_bytes_max, self.tuning)
            try:
                self.broker, recovery = recover(disk, self.log, self.limits, self.now)
            except (Crash, OSError, LogError) as error:
                # With an error it does not start, and is started again.
                self.note(f"crash in recovery: {error!r}")
                if isinstance(error, LogError) and not disk.reads_failed:
                    raise
                if isinstance(error, Crash):
                    self.lose()
            disk.forgive_reads()
        disk.reads_failed = 0
        self.inboxes = []
        self.leaving = []
        self.begin_anew()
        self.waiters: dict[int, Waiter] = {}  # by offset of the request
        self.requests: list[Message] = []
        self.expiries: dict[bytes, int] = {}
        self.flusher = Flusher(disk, "always", self.on_durable, self.on_full, self.on_failure)
        retention = Retention(disk, chance.choice([0, 1, 3600]), chance.choice([0, 2000, HUGE]))
        self.snapshots = Snapshots(disk, self.log, retention, self.on_report)
        self.snapshots.taken_at_position = recovery.snapshot_position
        self.waiting: tuple[Snapshot, list[tuple[int, int]]] | None = None
        self.check_recovered(self.held_at.get(recovery.snapshot_position, {}))
        self.durable = self.log.position
        image = decode(encode(capture(self.broker, self.now)))
        self.replay = Replay(MemoryLog(tuning=self.tuning), self.limits, image)
        self.blockwise = Replay(MemoryLog(tuning=self.tuning), self.limits, decode(encode(capture(self.broker, 0))))
        self.checked: dict[Queue, tuple[object, ...]] = {}  # what their numbers were when they were looked at
        self.compared_at = -1
        self.names: list[bytes] = []
        self.names_of = ""
        self.broker.set_time(self.now)
        self.set_rules(self.rules)
        self.return_lost()

    def begin_anew(self) -> None:
        """Those who were in the middle of something are gone."""

    def return_lost(self) -> None:
        raise NotImplementedError

    def set_rules(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.policies = Policies(rules, self.limits)
        self.policy_by_name: dict[bytes, Policy] = {}
        self.broker.set_policies(rules)

    def policy_of(self, name: bytes) -> Policy:
        policy = self.policy_by_name.get(name)
        if policy is None:
            policy = self.policy_by_name[name] = self.policies.of(name)
        return policy

    def check_recovered(self, held: dict[bytes, set[int]]) -> None:
        position = self.log.position
        self.note(f"recovered position {position}, reported {self.durable}, end {self.book.position}")
        assert position >= self.durable, f"recovered {position}, but {self.durable} was reported durable"
        assert position in self.ends, f"recovered {position}, where no block ended"
        assert not [whole for whole in self.wholes if whole[0] < position < whole[1]], "half of a commit came back"
        book = self.base
        for entry in self.history[: position - book.position]:
            book.apply(entry)
        assert (book.position, book.next_offset) == (position, self.log.next_offset)
        self.book, self.base, self.history = book, book.copy(), []
        self.ends, self.wholes = {position}, []
        for message in book.messages.values():
            message.revoked = False  # whoever gave a request up is not remembered
        assert durable_state(self.broker) == book.state()
        assert self.broker.writers.batches == book.committed
        assert self.broker.writers.times == book.committed_at
        for queue in self.broker.queues.values():
            count = 0
            for message, _ in queue.contents():
                count += 1
                assert fields_of(message) == fields_of(book.messages[message.offset])
            assert count == len(book.queues[queue.name].owed), f"{queue!r}: what it owes cannot all be read"
        for name, page in book.queues.items():
            lost = {offset for found in self.broker.lost if found.queue.name == name for offset in found.offsets}
            out = page.out | held.get(name, set())
            assert page.surely_out() <= lost <= out, f"{name!r} lost {lost}, and {out} were out"
            page.stale = page.out - lost
            self.base.queues[name].stale = set(page.stale)
            if page.expires_after > 0 or page.used:
                self.expiries[name] = self.now + max(page.expires_after, RETURN_TIME)

    # -- the end ----------------------------------------------------------------------------------------------------

    def crash(self) -> None:
        self.crashes += 1
        self.lose()
        # The clock of a machine may be set back while it is down.
        self.now += self.chance.choice([0, SECOND, -3600 * SECOND, 3600 * SECOND])
        self.take_entries()
        self.start()

    def take_entries(self) -> None:
        """What was written in the middle of a step that did not come to its end."""
        self.history += self.log.entries
        self.note_ends(self.log.take_closed())

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
        self.make_room()
        self.disk.operations_to_crash = -1
        self.end_turn()
        while self.flusher.behind:
            assert self.flusher.step()
        assert self.durable == self.log.position
        end = self.book.position
        self.disk.power_off()
        self.start()
        assert self.base.position == end

    # -- comparing --------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """The three accounts are one, and the numbers of the living broker add up."""
        broker = self.broker
        live, expected = durable_state(broker), self.book.state()
        if live != expected:
            raise AssertionError(f"the broker has {live}, and should have {expected}")
        assert self.log.position == self.book.position
        if self.compared_at != self.book.position:  # else nothing was written since
            self.compared_at = self.book.position
            replayed = self.replay.state()
            if replayed != expected:
                raise AssertionError(f"a replay has {replayed}, and should have {expected}")
            assert broker.writers.batches == self.replay.broker.writers.batches == self.book.committed
            assert broker.writers.times == self.replay.broker.writers.times == self.book.committed_at
            assert broker.dedup.contents() == self.replay.broker.dedup.contents()
            # What came back since it was said to be out is rare, and soon said anew.
            if self.chance.random() < 0.1 or any(owed.returned for owed in self.replay.owed.values()):
                self.replay = self.captured(self.replay)
        for queue in broker.queues.values():
            numbers = numbers_of(queue)
            if self.checked.get(queue) != numbers:
                self.check_queue(queue)
                self.checked[queue] = numbers
        wrong = wrong_memory(broker.context)
        assert not wrong, wrong

    def check_queue(self, queue: Queue) -> None:
        backlog, delayed, page = queue.backlog, queue.delayed, self.book.queues[queue.name]
        active = queue.consumers.active
        out = [delivery for subscription in active for delivery in subscription.held()]
        assert queue.ready == len(backlog)
        assert queue.unacked == len(out) == sum([subscription.in_flight for subscription in active])
        assert len(page.owed) == queue.ready + queue.unacked + len(queue.unreadable)
        assert len(page.delayed) == len(delayed)
        assert not queue.unreadable or self.disk.reads_failed, f"{queue!r} gave up {queue.unreadable} without a reason"
        out_bytes = sum([delivery.size for delivery in out])
        assert queue.unacked_bytes == out_bytes == sum([subscription.bytes for subscription in active])
        assert queue.unkept == sum([delivery.size - 256 for delivery in out if delivery.message is None])
        ready_bytes = sum([cost(message) for message in backlog.in_memory()])
        assert queue.bytes - backlog.cold == out_bytes + ready_bytes
        assert delayed.bytes - delayed.cold == sum([cost(message) for message in delayed.in_memory()])
        policy = queue.policy
        is_full = queue.length() >= policy.length_max or queue.size() >= policy.bytes_max
        assert queue.full == is_full, f"{queue!r} says full={queue.full}"
        is_held_up = not queue.ready or not queue.consumers.waiting or queue.stalled or queue.gives_later()
        assert is_held_up, f"{queue!r}: somebody waits for nothing"
        assert not queue.stalled or self.disk.reads_failed, f"{queue!r} waits for a log that can be read"
        for subscription in active:
            able = not subscription.suspended and not queue.consumers.paused and not queue.consumers.leaving
            if able and subscription.manual:
                able = subscription.in_flight < subscription.credit and subscription.bytes < subscription.bytes_credit
            assert subscription.waiting == (subscription in queue.consumers.waiting)
            is_held_up = queue.held_up and able and subscription.in_flight > 0
            assert subscription.waiting == able or is_held_up, f"{queue!r}: who can take more is not in the line"
            assert not subscription.exclusive or len(active) == 1
        for subscription in queue.consumers.parked:
            assert not subscription.in_flight
            assert not subscription.active
        assert active or not queue.consumers.parked
        assert queue.held_up == (queue in self.broker.context.held_up)
        wrong = violations(queue)
        assert not wrong, f"{queue!r}: {wrong}"
        assert (queue.used, self.replay.broker.queues[queue.name].used) == (page.used, page.used)

    # -- the disk ---------------------------------------------------------------------------------------------------

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

    def on_report(self, level: str, event: str, details: dict[str, object]) -> None:
        self.note(f"{event} {details}")
        if event == "log.trimmed":
            self.trimmed += 1

    def note_ends(self, closed: list[Pending]) -> None:
        for pending in closed:
            self.ends.add(pending.position)

    def tell_out(self) -> None:
        raise NotImplementedError

    def end_turn(self) -> None:
        self.tell_out()
        self.log.close_block(self.now)
        closed = self.log.take_closed()
        self.note_ends(closed)
        for pending in closed:
            if pending.segment != self.names_of:
                self.names, self.names_of = [], pending.segment
            self.blockwise.apply_block(Block(pending.data(), self.names))
        if closed:
            assert self.blockwise.state() == self.book.state()
            assert self.blockwise.broker.writers.times == self.book.committed_at
            assert self.blockwise.broker.dedup.contents() == self.broker.dedup.contents()
        self.flusher.submit(closed)

    def flush(self) -> None:
        room = self.disk.room
        done = self.flusher.step()
        assert done or room >= 0 or self.flusher.full
        if self.waiting is not None and self.waiting[0].position <= self.durable:
            waiting, self.waiting = self.waiting, None
            self.snapshots.write(*waiting)

    def snapshot(self) -> None:
        """Note the state where a segment begins; it is written once the log is safe up to there.

        What the replay knows that reads the blocks does as well as what the broker knows.
        """
        self.end_turn()
        self.blockwise = self.captured(self.blockwise)
        assert lost_of(self.replay) == lost_of(self.blockwise)
        if self.log.position > self.snapshots.taken_at_position:
            self.log.end_segment()
            self.held_at.pop(self.log.position, None)
            if self.chance.random() < 0.5:
                self.waiting = (capture(self.broker, self.now), self.broker.owed_ranges())
                self.held_at[self.log.position] = {
                    name: {delivery.offset for inbox in queue.consumers.active for delivery in inbox.held()}
                    for name, queue in self.broker.queues.items()
                }
            else:
                self.waiting = (capture_replay(self.blockwise, self.now), self.blockwise.owed_ranges())
            self.snapshots.taken_at_position = self.log.position

    def captured(self, replay: Replay) -> Replay:
        """A replay that was captured, or one from its snapshot instead: they know the same, now and from now on."""
        before = known_by(replay)
        data = encode(capture_replay(replay, self.now))
        assert encode(capture_replay(replay, self.now)) == data
        assert known_by(replay) == before
        again = Replay(MemoryLog(tuning=self.tuning), self.limits, decode(data))
        assert known_by(again) == before, f"a snapshot of {before} knows {known_by(again)}"
        finished = Replay(MemoryLog(tuning=self.tuning), self.limits, decode(data)).finish()
        assert durable_state(finished) == self.book.state()
        assert finished.log.position == self.book.position
        assert {lost.queue.name: lost.offsets for lost in finished.lost} == lost_of(replay)
        assert all(lost <= self.book.queues[name].out for name, lost in lost_of(replay).items())
        for ranges in (replay.owed_ranges(), finished.owed_ranges(), self.broker.owed_ranges()):
            for page in self.book.queues.values():
                for offset in [*page.owed, *page.delayed]:
                    assert any(low <= offset <= high for low, high in ranges), f"{offset} is owed, and not in {ranges}"
        return self.chance.choice([replay, again])

    def make_trouble(self) -> None:
        chance, disk = self.chance, self.disk
        kind = chance.choice(["full", "full", "fault", "crash", "crash", "crash", "read", "read", "read"])
        if kind == "full":
            disk.room = chance.choice([0, chance.randint(0, 500)])
        elif kind == "fault":
            disk.fault = chance.choice(
                [("write", errno.EIO), ("sync", errno.EIO), ("sync", errno.ENOSPC), ("sync_directory", errno.EIO),
                 ("open", errno.EROFS), ("truncate", errno.EIO)]
            )  # fmt: skip
        elif kind == "read":
            where = chance.choice([*[{place} for place in sorted(ALL_READS)], ALL_READS])
            code = chance.choice([errno.EIO, errno.EMFILE, errno.ENOENT])
            times = chance.choice([1, 1, 2, 5, HUGE])
            disk.fail_reads(where, code, chance.choice([0, 0, chance.randint(0, 9)]), times)
            self.note(f"reads fail: {sorted(where)} with {errno.errorcode[code]}, {times} times")
        else:
            raise Crash

    def make_room(self) -> None:
        """All is well again with the disk."""
        self.disk.room = -1
        self.disk.fault = ("", 0)
        self.disk.forgive_reads()

    def note(self, text: str) -> None:
        if self.trace is not None:
            self.trace(f"{text} [position {self.log.position}]" if hasattr(self, "log") else text)


def lost_of(replay: Replay) -> dict[bytes, set[int]]:
    """What would come back as unacked if the broker died now, by queue."""
    found = {name: owed.lost(owed.spans())[0] for name, owed in replay.owed.items()}
    return {name: lost for name, lost in found.items() if lost}


def numbers_of(queue: Queue) -> tuple[object, ...]:
    """While these stay, there is nothing new to look at."""
    backlog, delayed = queue.backlog, queue.delayed
    return (
        (queue.ready, queue.unacked, queue.bytes, queue.unacked_bytes, queue.unkept, queue.queued, queue.delivered),
        (backlog.cold, len(backlog.head), len(backlog.tail), len(backlog.spans), len(backlog.pinned)),
        (delayed.bytes, delayed.cold, len(queue.unreadable), queue.ack_run.ended, queue.used, queue.policy),
        (
            queue.full,
            queue.consumers.paused,
            queue.stalled,
            queue.held_up,
            len(queue.consumers.waiting),
            len(queue.consumers.parked),
        ),
        [(sub.suspended, sub.credit, sub.in_flight, sub.bytes, sub.waiting) for sub in queue.consumers.active],
    )


def cost(message: Message) -> int:
    headers = message.headers or {}
    return len(message.body) + 256 + sum(len(name) + len(value) + 128 for name, value in headers.items())


def small_tuning(chance: random.Random) -> Tuning:
    """Sizes at which everything happens in a queue of three messages; sometimes one or the other is as usual."""
    tuning = Tuning()
    for name, small in SMALL.items():
        if chance.random() < 0.8:
            setattr(tuning, name, chance.choice(small))
    return tuning


SMALL = {
    "congested_bytes": [0, 1, 600],
    "head_bytes_max": [0, 1, 600],
    "tail_bytes_max": [0, 1, 600],
    "page_length": [1, 1, 2],
    "page_bytes": [1, 300],
    "look_length": [1, 2],
    "look_bytes": [1, 300],
    "stretch_near": [0, 1, 2],
    "at_once": [1, 2],
    "given_at_once": [1, 2, 3],
    "tick_work": [1, 2, 5],
    "stale_timers_max": [0, 1],
    "span_length": [1, 2, 3],
    "run_worth": [1, 2, 3],
    "wide_piece": [0, 1, 2],
    "spans_crowded": [1, 2],
    "spans_used_up": [0, 1],
    "block_bytes_max": [1, 200],
    "block_joined_max": [1, 300],
    "index_stride": [1, 100],
    "readers_max": [1, 2],
    "blocks_max": [1, 2],
    "blocks_bytes_max": [1, 300],
    "skip_max": [1, 2, 5],
    "skip_bytes": [1, 300],
    "read_at_once": [1, 300],
    "freed_at_once": [1, 2],
}
