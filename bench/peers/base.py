"""The interface of a peer: how its server is started, and the bytes of its protocol.

A peer is one row of the report. To add one, write a subclass and name it in `bench/peers/__init__.py`. Its frames are
those of a `LoadProtocol`; a publish must contain the message's number (the body does), and a delivery whose size varies
is empty. Besides that:

    prepare          finds the program, chooses its port and writes its configuration into the directory it is given
    launch           starts the program, repeatedly where a test restarts it; sets `self.server` and its port
    version          what the report's header shows
    publisher_hello  the publisher's handshake
    noise            what the server may send a consumer between deliveries, where `delivery` is not empty
    feedback         what the consumer sends for delivery `index`: an ack, a request for the next, or nothing
    feedback_tail    what it adds after each batch of those
    barrier          a request whose answer proves that all feedback before it was handled
    receipt          a request of the publisher whose answer proves that all it published before is stored
    goodbye          what the consumer sends after the clock has stopped, to clean up after the round
    refusal          bytes that occur only in a negative answer, where a publisher waits for answers
    answers          how those answers are counted, where a mark is not enough
    stock            how many messages the round's queue holds, according to a server that may still be starting
    course           the kind of round, which defines its clock; `count_max` is the maximum number of messages
    crowd            what to send on a third connection to create other clients for the duration of the round
    crowd_leaves     and what removes them afterwards
    ca               the CA of the server's certificate, where it uses TLS; `prepare` sets it
    echo             for a round of requests and replies: how the other side answers

A peer is copied for each round (`for_round`), with a topic of its own, so that messages left over from one round
cannot be counted in the next.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from enum import Enum
from pathlib import Path
from typing import ClassVar, Self

from bench import frames
from bench.counting import AnswerCounter
from bench.servers import Server
from penstock.cli.load import Counter, Echo, Exchange, MarkCounter
from penstock.cli.load_protocols import LoadProtocol


class Mode(Enum):
    """Who settles a message: the server on delivery, or the consumer by acking it."""

    AUTO = "auto-ack"
    MANUAL = "manual-ack"


class Course(Enum):
    """The kind of round. The value says what the clock measures."""

    THROUGH = "from the first send to the last delivery, to a consumer that was there before"
    PUT = "a queue is filled with nobody there; it is emptied after the clock"
    GET = "a queue is emptied; it was filled before the clock"
    ECHO = "the consumer asks, and is answered by a process in the publisher's place"
    CONFIRMED = "a queue is filled by many publishers, each with a few publishes on their way to be confirmed"


class Missing(Exception):
    """The peer's program is not installed; the message says how to get it."""


class Peer(LoadProtocol):
    name: ClassVar[str]
    modes: ClassVar[frozenset[Mode]]
    latency: ClassVar[bool] = False
    """Whether the latency table has a row for it."""

    course: Course = Course.THROUGH
    count_max: ClassVar[int] = frames.COUNT_MAX
    refusal: ClassVar[bytes] = b""
    noise: ClassVar[bytes] = b""

    def __init__(self) -> None:
        super().__init__()
        self.server: Server | None = None
        self._command: list[str | Path] = []
        self._workdir = Path()
        self._port = 0
        self.ca: Path | None = None
        self.mode = Mode.AUTO
        self.client = 0

    def start(self, workdir: Path) -> None:
        """Starts the server and returns when it accepts connections.

        Raises:
            Missing: the program is not installed.
            StartFailed: it did not start.
        """
        self.prepare(workdir)
        self.launch()

    @abstractmethod
    def prepare(self, workdir: Path) -> None: ...

    @abstractmethod
    def launch(self) -> None: ...

    @abstractmethod
    def version(self) -> str: ...

    @abstractmethod
    def publisher_hello(self) -> list[Exchange]: ...

    def feedback(self, index: int) -> bytes:
        return self.settle(1)

    def feedback_tail(self) -> bytes:
        return b""

    def barrier(self, count: int) -> Exchange | None:
        return None

    def receipt(self, count: int) -> Exchange | None:
        return None

    def answers(self) -> Counter | None:
        if self.refusal:
            return AnswerCounter(self.answer_mark, self.refusal)
        return MarkCounter(self.answer_mark) if self.answer_mark else None

    def stock(self) -> int:
        raise NotImplementedError(f"{self.name} is not asked what it has")

    def goodbye(self) -> list[Exchange]:
        return []

    def body(self, index: int, size: int) -> bytes:
        return self.wrap(frames.body(index, size - len(self.wrap(b""))))

    def crowd(self) -> list[Exchange]:
        return []

    def crowd_leaves(self) -> list[Exchange]:
        return []

    def echo(self, size: int) -> Echo:
        raise NotImplementedError(f"{self.name} has no replies")

    @property
    def port(self) -> int:
        assert self.server is not None, f"{self.name} was not started"
        return self.server.port

    @property
    def pid(self) -> int:
        assert self.server is not None, f"{self.name} was not started"
        return self.server.pid

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop()

    def for_round(self, mode: Mode, topic: bytes, course: Course | None = None) -> Self:
        """A copy of the peer for one round."""
        twin = copy.copy(self)
        twin.mode = mode
        twin.topic = topic
        twin.course = course or self.course
        return twin

    def for_client(self, client: int) -> Self:
        """A copy for one of several publishers of the round; the first of them creates the queue."""
        twin = copy.copy(self)
        twin.client = client
        return twin

    def __repr__(self) -> str:
        return f"<{self.name} {self.mode.value} topic={self.topic.decode()}>"
