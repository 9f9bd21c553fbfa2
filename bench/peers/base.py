"""The shape of a peer: how a server is started, and which bytes it speaks.

A peer is one row of the report. To add one, write a subclass and name it in `bench/peers/__init__.py`:

    start            launches the server in the directory it is given; sets `self.server` and its port
    version          what the report's header says about it
    consumer_hello   the consumer's conversation up to the point where deliveries may come
    publisher_hello  the publisher's, likewise
    publish          one message as the publisher sends it; must hold the message's number (the body does)
    delivery         the same message as the consumer gets it, for its size; empty when the size varies
    noise            what the server may send a consumer between deliveries, where `delivery` is not empty
    feedback         what the consumer sends for delivery `index`: an ack, a request for the next, or nothing
    feedback_tail    what it adds after each batch of those
    barrier          a request whose answer proves that all feedback before it was handled
    goodbye          what the consumer says after the clock has stopped, to take away what the round left
    answer_mark      a byte string that occurs once in each answer to a publish; empty when there are no answers

A peer is copied for each round (`for_round`), with a topic of the round's own, so what one round left behind cannot be
counted by the next.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from enum import Enum
from pathlib import Path
from typing import ClassVar, Self

from bench.servers import Server
from bench.wire import Exchange


class Mode(Enum):
    """Who settles a message: the server when it sends it, or the consumer when it has it."""

    AUTO = "auto-ack"
    MANUAL = "manual-ack"


class Missing(Exception):
    """The peer's program is not on this machine; the message says how to get it."""


class Peer(ABC):
    name: ClassVar[str]
    modes: ClassVar[frozenset[Mode]]
    latency: ClassVar[bool] = False
    """Whether the latency table has a row for it."""

    answer_mark: ClassVar[bytes] = b""
    noise: ClassVar[bytes] = b""

    def __init__(self) -> None:
        self.server: Server | None = None
        self.mode = Mode.AUTO
        self.topic = b""

    @abstractmethod
    def start(self, workdir: Path) -> None:
        """Launches the server and returns when it accepts.

        Raises:
            Missing: the program is not installed.
            StartFailed: it would not start.
        """

    @abstractmethod
    def version(self) -> str: ...

    @abstractmethod
    def consumer_hello(self) -> list[Exchange]: ...

    @abstractmethod
    def publisher_hello(self) -> list[Exchange]: ...

    @abstractmethod
    def publish(self, number: bytes, body: bytes) -> bytes: ...

    def delivery(self, number: bytes, body: bytes) -> bytes:
        return b""

    def feedback(self, index: int) -> bytes:
        return b""

    def feedback_tail(self) -> bytes:
        return b""

    def barrier(self, count: int) -> Exchange | None:
        return None

    def goodbye(self) -> list[Exchange]:
        return []

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

    def for_round(self, mode: Mode, topic: bytes) -> Self:
        """The same server, seen by one round."""
        twin = copy.copy(self)
        twin.mode = mode
        twin.topic = topic
        return twin

    def __repr__(self) -> str:
        return f"<{self.name} {self.mode.value} topic={self.topic.decode()}>"
