"""One node of a cluster: it follows the log, leads it, or tries to.

    joining     its directory is empty, or of no use: it is filled from what the stream has
    following   reads the stream into its copy. The leader's beats tell that somebody leads.
    bidding     no beat came for a while: a LEAD of the next term is on its way into the stream
    leading     the newest LEAD is ours: our broker's blocks go into the stream, then into the copy
    stopped

Whether a bid is right is not decided by time: a LEAD follows the last message that the bidder has read. If there is
another one, it is refused. So who leads has applied everything before its LEAD, and whoever led before learns it from
the first append that is refused.

A leader that loses the lead forgets its broker, and opens its copy again as if it had just started.

All of this runs on one thread. `tick` is called every now and then, and drives all that waits for time.
"""

from __future__ import annotations

import json
import random
from typing import Protocol

from penstock.cluster.files import CopyFiles, NotACopy, Outpaced
from penstock.cluster.history import History, Mark
from penstock.cluster.joining import Joining
from penstock.cluster.leadership import Leadership
from penstock.cluster.replica import Replica
from penstock.cluster.stream import (
    BLOCKS,
    LEAD,
    LEAVE,
    SNAPSHOT,
    TRIM,
    Answer,
    Beat,
    Extent,
    Reading,
    Refused,
    Stored,
    Stream,
    StreamMessage,
    Unknown,
    names_in,
)
from penstock.core.guarded import GuardedBroker
from penstock.errors import LogError
from penstock.report import Report
from penstock.storage.durable import Pending

JOINING = "joining"
FOLLOWING = "following"
BIDDING = "bidding"
LEADING = "leading"
STOPPED = "stopped"

BEAT_SECONDS = 0.2
WAIT_SECONDS = 1.0  # without a beat, until a node bids ...
JITTER_SECONDS = 0.3  # ... and up to so much more, so that not all bid at once
RETRY_SECONDS = 0.1

SECOND = 1_000_000


class Owner(Protocol):
    """What a member tells the node it belongs to. None of these calls the member back at once."""

    def open_files(self) -> CopyFiles:
        """The files of the copy."""

    def open_replica(self, files: CopyFiles) -> Replica:
        """The copy, as the directory has it."""

    def discard_files(self) -> None:
        """Empty the directory."""

    def lead(self, broker: GuardedBroker, replica: Replica) -> None:
        """This node leads: its clients may be served with this broker."""

    def durable(self, position: int, next_offset: int) -> None:
        """The log is in the stream and in the copy up to here."""

    def deposed(self, reason: str) -> None:
        """This node does not lead any more: close every session and forget the broker. Nothing is confirmed."""

    def fail(self, reason: str) -> None:
        """This node cannot go on."""


class Member:
    def __init__(self, node: str, stream: Stream, owner: Owner, report: Report, chance: random.Random) -> None:
        self.node = node
        self.role = STOPPED
        self.leader = ""  # the node that appended the newest LEAD
        self.addresses: dict[str, str] = {}  # told to the other nodes
        self.history = History(Mark())
        self.replica: Replica | None = None
        self._now = 0
        self._stream = stream
        self._owner = owner
        self._report = report
        self._chance = chance
        self._files: CopyFiles | None = None
        self._joining: Joining | None = None
        self._reading: Reading | None = None
        self._bid: StreamMessage | None = None
        self._is_asking = False  # where the stream begins, or for the lead
        self._leadership: Leadership | None = None
        self._patient_until = 0
        self._retry_at = 0
        self._beat_at = 0
        self._discarded = 0  # how often the copy was found to be wrong since this node led
        stream.hear(self._on_beat)

    def __repr__(self) -> str:
        return f"<Member {self.node}, {self.role}, {self.history!r}>"

    @property
    def term(self) -> int:
        return self.history.term

    @property
    def sequence(self) -> int:
        """The number of the last message of the stream that this node has read, or appended."""
        return self.history.sequence if self._leadership is None else self._leadership.sequence

    @property
    def behind(self) -> int:
        """Bytes that were submitted, and are not in the stream."""
        return 0 if self._leadership is None else self._leadership.behind

    def start(self, now: int) -> None:
        self._now = now
        self._follow()

    def stop(self) -> None:
        """End without a word, as if the process had died. A bid may still get in: nobody leads by it."""
        self._stop_reading()
        self._bid = None
        self._end_leadership()
        self.role = STOPPED

    def tick(self, now: int) -> None:
        self._now = now
        if self.role == LEADING:
            self._tick_leading(now)
        elif not self._stream.is_connected:
            self._be_patient()
        elif self.role == FOLLOWING and now >= self._patient_until:
            self._make_bid()
        elif now >= self._retry_at and not self._is_asking:
            if self.role == BIDDING:
                self._send_bid()
            elif self.role == JOINING and self._reading is None:
                self._find_beginning()

    # -- following --------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Open the copy, and read on from where it ends."""
        self.role = JOINING
        self.replica = None
        self._joining = None
        self._bid = None
        self._be_patient()
        try:
            self._files = self._owner.open_files()
        except NotACopy as error:
            self._fill_again(error)
        except LogError as error:
            self._fail(str(error))
        else:
            self._find_beginning()

    def _find_beginning(self) -> None:
        """Ask where the stream begins: only if nothing is missing, it can be read into the copy."""
        files = self._files
        assert files is not None
        self._is_asking = True
        self._retry_at = self._now + int(RETRY_SECONDS * SECOND)

        def found(extent: Extent | Unknown) -> None:
            if self._files is files and self.role == JOINING and self._reading is None:
                self._is_asking = False
                if isinstance(extent, Extent):
                    self._begin_reading(files, extent)

        self._stream.extent(found)

    def _begin_reading(self, files: CopyFiles, extent: Extent) -> None:
        try:
            if not files.is_empty or extent.first <= 1:
                self.replica = self._owner.open_replica(files)
                self.history = History(files.mark)
                self.role = FOLLOWING
                self._be_patient()
            else:
                self._joining = Joining(files, extent.last)
                self.history = History(Mark(extent.first - 1), is_joining=True)
        except NotACopy as error:
            self._fill_again(error)
        except LogError as error:
            self._fail(str(error))
        else:
            self._reading = self._stream.read(self.history.sequence, self._on_message)

    def _on_message(self, sequence: int, message: StreamMessage) -> None:
        try:
            if sequence != self.history.sequence + 1 and not self.history.is_joining:
                raise Outpaced(f"messages {self.history.sequence + 1} to {sequence - 1} of the stream were deleted")
            whole = self.history.take(sequence, message)
            if self._bid is not None:
                self._look_at_bid(message)
            if whole is not None:
                self._obey(whole)
            if self._joining is not None and self._joining.is_over(sequence):
                self._end_joining(self._joining)
        except NotACopy as error:
            self._fill_again(error)
        except LogError as error:
            self._fail(str(error))

    def _obey(self, message: StreamMessage) -> None:
        if message.kind == LEAD:
            self.leader = str(json.loads(message.data)["node"])
            self._be_patient()
        if self._joining is not None:
            self._joining.take(message, self.history.begun)
        elif self.role in (FOLLOWING, BIDDING):
            self._obey_following(message)

    def _end_joining(self, joining: Joining) -> None:
        self._report("info", "cluster.joined", {"node": self.node, "snapshot": joining.finish()})
        self._stop_reading()
        self._follow()

    def _obey_following(self, message: StreamMessage) -> None:
        files, replica = self._files, self.replica
        assert files is not None
        assert replica is not None
        if message.kind == BLOCKS:
            replica.take(message, self.history.begun)
        elif message.kind == SNAPSHOT:
            files.write_snapshot(message.position, message.data)
        elif message.kind == TRIM:
            files.trim(names_in(message))
        elif message.kind == LEAVE:
            self._be_patient()
            if message.data.decode() in ("", self.node):
                self._patient_until = self._now

    def _fill_again(self, error: NotACopy) -> None:
        """The copy is of no use: fetch it from the stream again."""
        self._stop_reading()
        if not isinstance(error, Outpaced):
            self._discarded += 1
        if self._discarded > 2:
            self._fail(f"the stream does not make a log: {error}")
            return
        self._report("warning", "cluster.copy_discarded", {"node": self.node, "reason": str(error)})
        self._owner.discard_files()
        self._follow()

    def _on_beat(self, beat: Beat) -> None:
        if self.role == LEADING:
            if beat.term > self.term:
                self._step_down(f"node {beat.node} leads in term {beat.term}")
        elif beat.term >= self.term:
            self._be_patient()

    def _be_patient(self) -> None:
        wait = WAIT_SECONDS + JITTER_SECONDS * self._chance.random()
        self._patient_until = self._now + int(wait * SECOND)

    def _stop_reading(self) -> None:
        self._is_asking = False
        if self._reading is not None:
            self._reading.stop()
            self._reading = None

    def _fail(self, reason: str) -> None:
        self.stop()
        self._owner.fail(reason)

    # -- bidding ----------------------------------------------------------------------------------------------------

    def _make_bid(self) -> None:
        assert self.replica is not None
        self.role = BIDDING
        term = self.history.term + 1
        self._bid = StreamMessage(
            kind=LEAD,
            lead=f"{self.node}-{term}-{self._chance.getrandbits(48):012x}",
            term=term,
            number=0,
            position=self.replica.position,
            data=json.dumps({"node": self.node}).encode(),
        )
        self._send_bid()

    def _send_bid(self) -> None:
        bid, after = self._bid, self.history.sequence
        assert bid is not None
        self._is_asking = True
        self._retry_at = self._now + int(RETRY_SECONDS * SECOND)

        def answered(answer: Answer) -> None:
            if self._bid is not bid:
                return
            self._is_asking = False
            if answer == Stored(after + 1) and self.history.sequence == after:
                self.history.take(after + 1, bid)
                self._win()
            elif isinstance(answer, Refused):
                self._lose_bid()

        self._stream.append(bid, after, answered)

    def _look_at_bid(self, message: StreamMessage) -> None:
        """A message came in while a bid is under way: it is the bid, or the bid comes too late."""
        bid = self._bid
        assert bid is not None
        if message.id == bid.id and self.history.lead == bid.lead:
            self._win()
        else:
            self._lose_bid()

    def _lose_bid(self) -> None:
        self._bid = None
        self._is_asking = False
        self.role = FOLLOWING
        self._patient_until = self._now + int(JITTER_SECONDS * self._chance.random() * SECOND)

    # -- leading ----------------------------------------------------------------------------------------------------

    def _win(self) -> None:
        replica = self.replica
        assert replica is not None
        self._stop_reading()
        self._bid = None
        self._discarded = 0
        self.role = LEADING
        self.leader = self.node
        self._retry_at = self._now
        self._be_patient()
        self._leadership = Leadership(
            self._stream, self.history, replica, self._owner.durable, self._step_down, self._when_left
        )
        details: dict[str, object] = {"node": self.node, "term": self.term, "position": replica.position}
        self._report("info", "cluster.leading", details)
        self._beat()
        self._owner.lead(replica.finish(self._now), replica)

    def submit(self, blocks: list[Pending]) -> None:
        """Blocks of this node's broker, in order. Those of a broker that does not lead any more are dropped."""
        if self._leadership is not None:
            self._leadership.submit(blocks)

    def trim(self, position: int, snapshot: bytes, names: list[str]) -> None:
        """Have all nodes delete these segments; first they get the snapshot at this position, where one begins."""
        if self._leadership is not None:
            self._leadership.trim(position, snapshot, names)

    def leave(self, to: str = "") -> None:
        """Stop leading once all that was submitted is in the stream; `to` is the node that should lead next.

        What is submitted from now on is dropped.
        """
        if self._leadership is not None:
            self._leadership.leave(to)

    def _tick_leading(self, now: int) -> None:
        if self._stream.is_connected:
            self._be_patient()
        elif now >= self._patient_until:
            # The others hear no beats either, and one of them leads by now, or will.
            self._step_down("the stream's servers cannot be reached")
            return
        if now >= self._beat_at:
            self._beat()
        if self._leadership is not None and now >= self._retry_at:
            self._retry_at = now + int(RETRY_SECONDS * SECOND)
            self._leadership.retry()

    def _beat(self) -> None:
        assert self._leadership is not None
        self._beat_at = self._now + int(BEAT_SECONDS * SECOND)
        position = self._leadership.position
        self._stream.beat(Beat(self.history.lead, self.term, self.node, position, self.addresses))

    def _when_left(self) -> None:
        self._step_down("it was asked to leave")

    def _step_down(self, reason: str) -> None:
        self._end_leadership()
        self._report("warning", "cluster.deposed", {"node": self.node, "term": self.term, "reason": reason})
        self._owner.deposed(reason)
        self._follow()

    def _end_leadership(self) -> None:
        if self._leadership is not None:
            self._leadership.stop()
            self._leadership = None
