"""One node of a cluster: it follows the log, leads it, or tries to.

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
from collections import deque
from collections.abc import Callable
from typing import Protocol

from penstock.cluster.appender import UNDER_WAY_MAX, Appender
from penstock.cluster.history import History, Mark
from penstock.cluster.replica import NotACopy, Replica
from penstock.cluster.stream import BLOCKS, LEAD, LEAVE, Answer, Beat, Reading, Refused, Stored, Stream, StreamMessage
from penstock.core.guarded import GuardedBroker
from penstock.errors import LogError
from penstock.report import Report
from penstock.storage.durable import Pending

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

    def lead(self, broker: GuardedBroker, replica: Replica) -> None:
        """This node leads: its clients may be served with this broker."""

    def durable(self, position: int, next_offset: int) -> None:
        """The log is in the stream and in the copy up to here."""

    def deposed(self, reason: str) -> None:
        """This node does not lead any more: close every session and forget the broker. Nothing is confirmed."""

    def open_replica(self) -> Replica:
        """The copy, as the directory has it."""

    def discard_replica(self) -> None:
        """Empty the directory."""

    def fail(self, reason: str) -> None:
        """This node cannot go on."""


class Member:
    def __init__(
        self, node: str, stream: Stream, owner: Owner, report: Report, chance: random.Random, now: int = 0
    ) -> None:
        self.node = node
        self.role = STOPPED
        self.leader = ""  # the node that appended the newest LEAD
        self.addresses: dict[str, str] = {}  # told to the other nodes
        self.now = now
        self._stream = stream
        self._owner = owner
        self._report = report
        self._chance = chance
        self._replica: Replica
        self._history = History(Mark())
        self._reading: Reading | None = None
        self._bid: StreamMessage | None = None
        self._bid_is_open = False  # it was sent, and not answered
        self._patient_until = 0
        self._retry_at = 0
        self._is_fresh = False  # the copy was filled from the stream since it was found to be wrong
        # Of a leader:
        self._appender: Appender | None = None
        self._pending: deque[Pending] = deque()
        self._sent_number = 0
        self._sent_position = 0
        self._segment = ""
        self._place = 0
        self._beat_at = 0
        self._position = 0  # acknowledged by the stream
        self._leaves_to: str | None = None  # it is leaving, and this node should lead next; empty if any
        stream.hear(self._on_beat)

    def __repr__(self) -> str:
        return f"<Member {self.node}, {self.role}, {self._history!r}>"

    @property
    def term(self) -> int:
        return self._history.term

    @property
    def sequence(self) -> int:
        """The number of the last message of the stream that this node has read, or appended."""
        return self._history.sequence if self._appender is None else self._appender.after

    @property
    def behind(self) -> int:
        """Bytes that were submitted, and are not in the stream."""
        return sum([pending.size for pending in self._pending])

    def start(self, now: int) -> None:
        self.now = now
        self._follow()

    def stop(self) -> None:
        """End without a word, as if the process had died."""
        self._stop_reading()
        if self._appender is not None:
            self._appender.stop()
            self._appender = None
        self.role = STOPPED

    def tick(self, now: int) -> None:
        self.now = now
        if self.role == FOLLOWING:
            if not self._stream.is_connected:
                self._be_patient()
            elif now >= self._patient_until:
                self._make_bid()
        elif self.role == BIDDING:
            if not self._bid_is_open and now >= self._retry_at:
                self._send_bid()
        elif self.role == LEADING:
            self._tick_leading(now)

    # -- following --------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Open the copy, and read on from where it ends."""
        self.role = FOLLOWING
        self._be_patient()
        try:
            self._replica = self._owner.open_replica()
        except NotACopy as error:
            self._fill_again(error)
            return
        except LogError as error:
            self._fail(str(error))
            return
        self._history = History(self._replica.mark)
        self._reading = self._stream.read(self._history.sequence, self._on_message)

    def _on_message(self, sequence: int, message: StreamMessage) -> None:
        try:
            whole = self._history.take(sequence, message)
            if self._bid is not None:
                self._look_at_bid(message)
            if whole is not None and self.role in (FOLLOWING, BIDDING):
                self._obey(whole)
        except NotACopy as error:
            self._fill_again(error)
        except LogError as error:
            self._fail(str(error))

    def _obey(self, whole: StreamMessage) -> None:
        if whole.kind == LEAD:
            self.leader = _leader_of(whole)
            self._be_patient()
        elif whole.kind == LEAVE:
            self._on_leave(whole)
        elif whole.kind == BLOCKS:
            self._replica.take(whole, self._history.begun)

    def _on_leave(self, message: StreamMessage) -> None:
        """The leader has stopped leading: whom it names bids at once, the others a little later."""
        self._be_patient()
        if message.data.decode() in ("", self.node):
            self._patient_until = self.now

    def _fill_again(self, error: NotACopy) -> None:
        """The copy is wrong: fetch it from the stream again."""
        self._stop_reading()
        if self._is_fresh:
            self._fail(f"the stream does not make a log: {error}")
            return
        self._is_fresh = True
        self._report("warning", "cluster.copy_discarded", {"node": self.node, "reason": str(error)})
        self._owner.discard_replica()
        self._follow()

    def _on_beat(self, beat: Beat) -> None:
        if self.role == LEADING:
            if beat.term > self.term:
                self._step_down(f"node {beat.node} leads in term {beat.term}")
        elif beat.term >= self.term:
            self._be_patient()

    def _be_patient(self) -> None:
        wait = WAIT_SECONDS + JITTER_SECONDS * self._chance.random()
        self._patient_until = self.now + int(wait * SECOND)

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.stop()
            self._reading = None

    def _fail(self, reason: str) -> None:
        self.stop()
        self._owner.fail(reason)

    # -- bidding ----------------------------------------------------------------------------------------------------

    def _make_bid(self) -> None:
        self.role = BIDDING
        term = self._history.term + 1
        self._bid = StreamMessage(
            kind=LEAD,
            lead=f"{self.node}-{term}-{self._chance.getrandbits(48):012x}",
            term=term,
            number=0,
            position=self._replica.position,
            data=json.dumps({"node": self.node}).encode(),
        )
        self._send_bid()

    def _send_bid(self) -> None:
        bid, after = self._bid, self._history.sequence
        assert bid is not None
        self._bid_is_open = True
        self._retry_at = self.now + int(RETRY_SECONDS * SECOND)

        def answered(answer: Answer) -> None:
            if self._bid is not bid:
                return
            self._bid_is_open = False
            if answer == Stored(after + 1) and self._history.sequence == after:
                self._history.take(after + 1, bid)
                self._win(bid)
            elif isinstance(answer, Refused):
                self._lose_bid()

        self._stream.append(bid, after, answered)

    def _look_at_bid(self, message: StreamMessage) -> None:
        """A message came in while a bid is under way: it is the bid, or the bid comes too late."""
        bid = self._bid
        assert bid is not None
        if message.id == bid.id and self._history.lead == bid.lead:
            self._win(bid)
        else:
            self._lose_bid()

    def _lose_bid(self) -> None:
        self._bid = None
        self.role = FOLLOWING
        self._patient_until = self.now + int(JITTER_SECONDS * self._chance.random() * SECOND)

    # -- leading ----------------------------------------------------------------------------------------------------

    def _win(self, bid: StreamMessage) -> None:
        self._stop_reading()
        self._bid = None
        self._is_fresh = False
        self.role = LEADING
        self.leader = self.node
        self._appender = Appender(self._stream, self._history.sequence, self._step_down)
        self._pending.clear()
        self._leaves_to = None
        self._sent_number = 0
        self._sent_position = self._position = self._replica.position
        self._segment = ""
        self._retry_at = self.now
        self._report("info", "cluster.leading", {"node": self.node, "term": bid.term, "position": self._position})
        self._beat()
        self._owner.lead(self._replica.finish(self.now), self._replica)

    def submit(self, blocks: list[Pending]) -> None:
        """Blocks of this node's broker, in order. Those of a broker that does not lead any more are dropped."""
        if self._appender is not None and self._leaves_to is None:
            self._pending += blocks
            self._send_pending()

    def _tick_leading(self, now: int) -> None:
        if self._stream.is_connected:
            self._be_patient()
        elif now >= self._patient_until:
            # The others hear no beats either, and one of them leads by now, or will.
            self._step_down("the stream's servers cannot be reached")
            return
        if now >= self._beat_at:
            self._beat()
        if self._appender is not None and now >= self._retry_at:
            self._retry_at = now + int(RETRY_SECONDS * SECOND)
            self._appender.retry()

    def leave(self, to: str = "") -> None:
        """Stop leading once all that was submitted is in the stream; `to` is the node that should lead next.

        Submit the last blocks before: what is submitted from now on is dropped.
        """
        if self._appender is not None and self._leaves_to is None:
            self._leaves_to = to
            self._send_leave()

    def _send_leave(self) -> None:
        appender, to = self._appender, self._leaves_to
        if appender is not None and to is not None and not self._pending:
            self._sent_number += 1
            message = StreamMessage(
                kind=LEAVE,
                lead=self._history.lead,
                term=self._history.term,
                number=self._sent_number,
                position=self._sent_position,
                data=to.encode(),
            )
            appender.send(message, lambda sequence: self._step_down("it was asked to leave"))

    def _send_pending(self) -> None:
        """Send what waits, as much at once as a message holds: what waits longer comes in larger messages."""
        appender = self._appender
        while appender is not None and self._pending and appender.count < UNDER_WAY_MAX:
            self._send_batch(appender)
            if self._leaves_to is not None:
                self._send_leave()

    def _send_batch(self, appender: Appender) -> None:
        first = self._pending.popleft()
        batch = [first]
        size = first.size
        while self._pending and self._pending[0].segment == first.segment:
            if size + self._pending[0].size > self._stream.data_max:
                break
            size += self._pending[0].size
            batch.append(self._pending.popleft())
        if first.segment != self._segment:
            self._segment = first.segment
            self._place = 0
        data = b"".join([pending.data() for pending in batch])
        parts = [data[at : at + self._stream.data_max] for at in range(0, len(data), self._stream.data_max)]
        sent = _Sent(batch[-1])
        for part, piece in enumerate(parts):
            self._sent_number += 1
            message = StreamMessage(
                kind=BLOCKS,
                lead=self._history.lead,
                term=self._history.term,
                number=self._sent_number,
                position=self._sent_position,
                segment=first.segment,
                place=self._place,
                part=part,
                parts=len(parts),
                data=piece,
            )
            appender.send(message, self._when_stored(message, sent))
        self._sent_position = batch[-1].position
        self._place += len(data)

    def _when_stored(self, message: StreamMessage, sent: _Sent) -> Callable[[int], None]:
        def stored(sequence: int) -> None:
            whole = self._history.take(sequence, message)
            assert self._history.number == message.number, f"{message!r} does not follow {self._history!r}"
            if whole is not None:
                self._replica.append(whole, self._history.begun)
                self._position = sent.position
                self._owner.durable(sent.position, sent.next_offset)
                self._send_pending()

        return stored

    def _beat(self) -> None:
        self._beat_at = self.now + int(BEAT_SECONDS * SECOND)
        self._stream.beat(Beat(self._history.lead, self.term, self.node, self._position, self.addresses))

    def _step_down(self, reason: str) -> None:
        if self._appender is not None:
            self._appender.stop()
            self._appender = None
        self._replica.close()
        self._pending.clear()
        self._report("warning", "cluster.deposed", {"node": self.node, "term": self.term, "reason": reason})
        self._owner.deposed(reason)
        self._follow()


class _Sent:
    """The end of a batch."""

    def __init__(self, last: Pending) -> None:
        self.position = last.position
        self.next_offset = last.next_offset


def _leader_of(message: StreamMessage) -> str:
    return str(json.loads(message.data)["node"])
