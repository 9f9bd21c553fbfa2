"""One port for all protocols: detects the protocol from a connection's first bytes.

In all protocols the client speaks first. After each read, every dialect is asked about all bytes so far, until one says
YES or all say NO. If several still match, more bytes are needed. A client may wait for an answer at that point (after a
command that needs no line end); then a short pause in its input decides.
"""

from typing import Final

from penstock.core.deadlines import Timer
from penstock.wire.lines import looks_like_http
from penstock.wire.session import MAYBE, YES, Dialect, Hub, Session

PROTOCOL: Final = "any"
HEAD_SIZE_MAX: Final = 4096  # far more than it takes to recognise any protocol
QUIET_TIME: Final = 100_000  # microseconds


class ProtocolDetector(Dialect):
    name = PROTOCOL

    def __init__(self, hub: Hub, dialects: list[Dialect]) -> None:
        super().__init__(hub)
        self.dialects = dialects

    def open(self, peer: str, now: int) -> Session:
        return UndetectedSession(self, peer)


class UndetectedSession(Session):
    """A client whose protocol is not known yet. `successor` is the session that replaces this one."""

    protocol = PROTOCOL

    def __init__(self, detector: ProtocolDetector, peer: str) -> None:
        super().__init__(detector.hub, peer)
        self.detector = detector
        self.head = b""
        self.reads: list[bytes] = []  # the reads that make up `head`: their boundaries may matter
        self.quiet_timer = Timer(self.on_quiet, self.broke)

    def feed(self, data: bytes, now: int) -> None:
        if self.closing:
            return
        if self.successor is not None:
            self._feed_successor(self.successor, data, now)  # the owner of the socket has not switched yet
            return
        self.head += data
        self.reads.append(data)
        undecided = False
        for dialect in self.detector.dialects:
            verdict = dialect.recognise(self.head)
            if verdict == YES:
                self._hand_over(dialect, now)
                return
            undecided = undecided or verdict == MAYBE
        if looks_like_http(self.head.partition(b"\n")[0]):
            self._refuse("an HTTP request on the port for message protocols")
        elif not undecided or len(self.head) > HEAD_SIZE_MAX:
            self._refuse("unknown protocol: no known protocol starts with these bytes")
        else:
            self.broker.deadlines.set(self.quiet_timer, now + QUIET_TIME)

    def on_quiet(self, now: int) -> None:
        if self.closing or self.over or self.successor is not None:
            return
        for dialect in self.detector.dialects:
            if dialect.recognise_at_rest(self.head):
                self._hand_over(dialect, now)
                return

    def suspend(self) -> None:
        self.broker.deadlines.cancel(self.quiet_timer)  # a refused client gets no successor
        super().suspend()

    def may_stay(self, now: int) -> bool:
        return super().may_stay(now) if self.successor is None else self.successor.may_stay(now)

    def revoke(self, now: int) -> None:
        """Close the successor if there is one, even if the owner of the socket has not switched yet."""
        if self.successor is None:
            self.broker.deadlines.cancel(self.quiet_timer)
            super().revoke(now)
        else:
            self.successor.revoke(now)

    def end(self, now: int) -> None:
        self.broker.deadlines.cancel(self.quiet_timer)
        super().end(now)
        if self.successor is not None:
            self.successor.end(now)

    def _hand_over(self, dialect: Dialect, now: int) -> None:
        self.broker.deadlines.cancel(self.quiet_timer)
        self.successor = dialect.open(self.peer, now)
        self.successor.inherit(self)
        self.hub.sessions.pop(self, None)
        for read in self.reads:
            self._feed_successor(self.successor, read, now)
        self.successor.unfed += self.unfed
        self.head = b""
        self.reads = []
        # The owner of the socket switches to the successor when it writes this session's outbox.
        self.hub.dirty.append(self)

    def _feed_successor(self, successor: Session, read: bytes, now: int) -> None:
        if successor.busy:
            successor.unfed.append(read)
        else:
            successor.feed(read, now)

    def _refuse(self, reason: str) -> None:
        self.broker.deadlines.cancel(self.quiet_timer)
        self.complain(reason, self.head)
        self.head = b""
        self.reads = []
        self.hang_up()
