"""The load generator of `penstock bench` and of `bench/`: raw sockets, and as little work per message as possible.

Frames are encoded ahead and written by the hundred. What comes back is counted, mostly by its size, and not parsed. A
connection is used in full duplex: a publisher that did not read its answers, or a consumer that did not send acks while
deliveries arrive, could deadlock with a server that waits for it.
"""

import select
import socket
import ssl
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

READ_BUFFER = 1 << 20
TIMEOUT = struct.Struct("ll")
UNLIMITED = 1 << 60
"""A number of messages that is never reached."""


@dataclass(frozen=True)
class Exchange:
    """One step of a handshake: send these bytes, then read until the answer contains `until` (empty: do not wait)."""

    send: bytes
    until: bytes = b""


class Stalled(Exception):
    """The other side went silent, closed the connection or sent something unexpected."""


class Closed(Stalled):
    """The other side closed the connection."""


def talk(sock: socket.socket, exchanges: Iterable[Exchange]) -> None:
    """Runs a scripted conversation.

    Raises:
        Stalled: an expected answer did not arrive; the message quotes what arrived instead.
    """
    view = memoryview(bytearray(1 << 16))
    for exchange in exchanges:
        sock.sendall(exchange.send)
        heard = b""
        while exchange.until not in heard:
            try:
                size = receive(sock, view)
            except Stalled as stalled:
                asked = f"sent {exchange.send[:80]!r}, waited for {exchange.until!r}, heard {heard[-300:]!r}"
                raise type(stalled)(f"{stalled}: {asked}") from None
            heard += view[:size]


def receive(sock: socket.socket, view: memoryview) -> int:
    """Reads once, blocking if necessary.

    Raises:
        Stalled: nothing arrived in time; as Closed, the server closed the connection.
    """
    try:
        size = sock.recv_into(view)
    except (BlockingIOError, ssl.SSLWantReadError):
        seconds, _ = TIMEOUT.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, TIMEOUT.size))
        raise Stalled(f"nothing came for {seconds} s") from None
    except (ConnectionResetError, ssl.SSLEOFError):
        size = 0
    if not size:
        raise Closed("the server closed the connection")
    return size


# -- counting ---------------------------------------------------------------------------------------------------------


class Counter(Protocol):
    """Reads a socket and returns how many messages that completed."""

    def read(self, sock: socket.socket) -> int: ...


class MarkCounter:
    """Counts a mark that occurs once per message."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._buffer = bytearray(READ_BUFFER)

    def read(self, sock: socket.socket) -> int:
        size = receive(sock, memoryview(self._buffer))
        return self._buffer.count(self._mark, 0, size)


class SizeCounter:
    """Counts bytes up to the last delivery, then waits for the last message's own body.

    `noise` is what the server may send between deliveries (a keep-alive); it makes the stream longer, never shorter.
    """

    def __init__(self, delivery_size: int, last_body: bytes = b"", count: int = UNLIMITED, noise: bytes = b"") -> None:
        self._view = memoryview(bytearray(READ_BUFFER))
        self._delivery_size = delivery_size
        self._before_last_size = delivery_size * (count - 1)
        self._last_body = last_body
        self._last = b""
        self._noise = noise
        self._received = 0
        self._complete = False

    def read(self, sock: socket.socket) -> int:
        left = self._before_last_size - self._received
        if left <= 0:
            return self._read_last(sock)
        whole_before = self._received // self._delivery_size
        self._received += receive(sock, self._view[:left] if left < READ_BUFFER else self._view)
        return self._received // self._delivery_size - whole_before

    def _read_last(self, sock: socket.socket) -> int:
        size = receive(sock, self._view)
        self._last += self._view[:size]
        if self._complete or self._last_body not in self._last:
            return 0
        surplus = len(self._last) - self._delivery_size
        if surplus > 0 and not (self._noise and surplus % len(self._noise) == 0):
            raise Stalled(f"{surplus} bytes more than the deliveries have")
        self._complete = True
        return 1


@dataclass(frozen=True)
class Echo:
    """Answers frames of one size without parsing them one by one: a template frame, its answer, and the fields to copy.

    One read holds many frames. Their answers are that many copies of the template answer, in which each byte of a field
    (from, to, byte count) is set in all of them at once, by one strided slice from its column in the frames. That is a
    dozen operations per read, however many frames it holds, so the answering side does not limit the rate.
    """

    question: bytes
    answer: bytes
    fields: Sequence[tuple[int, int, int]]

    def answers(self, data: memoryview) -> bytearray:
        """The answers to the whole frames in `data`.

        Raises:
            Stalled: a frame does not begin and end like the template.
        """
        size = len(self.question)
        count = len(data) // size
        for column in (0, size - 1):
            if data[column::size] != self.question[column : column + 1] * count:
                raise Stalled(f"not {size} bytes that look like {self.question[:80]!r}")
        answers = bytearray(self.answer * count)
        for source, target, width in self.fields:
            for column in range(width):
                answers[target + column :: len(self.answer)] = data[source + column :: size]
        return answers


class EchoCounter:
    """Counts frames that each need an answer with their own id. `take_answers` has the answers to those counted."""

    def __init__(self, echo: Echo) -> None:
        self._echo = echo
        self._size = len(echo.question)
        self._view = memoryview(bytearray(max(READ_BUFFER, 2 * self._size)))
        self._filled = 0
        self._answers = bytearray()

    def read(self, sock: socket.socket) -> int:
        self._filled += receive(sock, self._view[self._filled :])
        whole = self._filled - self._filled % self._size
        self._answers += self._echo.answers(self._view[:whole])
        self._view[: self._filled - whole] = self._view[whole : self._filled]
        self._filled -= whole
        return whole // self._size

    def take_answers(self, _first: int = 0, _last: int = 0) -> bytearray:
        answers, self._answers = self._answers, bytearray()
        return answers


# -- the two connections ----------------------------------------------------------------------------------------------


class Publisher:
    """A publisher's connection: sends what is in `unsent`, and counts the answers meanwhile."""

    def __init__(self, sock: socket.socket, counter: Counter) -> None:
        self._sock = sock
        self._counter = counter
        self.unsent = memoryview(b"")
        self.answered = 0

    def step(self, ready: int) -> None:
        """Does what `poll` says is possible."""
        if ready & select.POLLIN:
            self.answered += self._counter.read(self._sock)
        if ready & select.POLLOUT:
            self.unsent = self.unsent[self._sock.send(self.unsent, socket.MSG_DONTWAIT) :]


class Consumer:
    """A consumer's connection: `seen` deliveries have arrived, feedback for `settled` of them is sent or in `unsent`.

    `feedback(first, last)` encodes an ack, or a request for the next message, for each of these deliveries. With a
    window, feedback is sent that many messages ahead: it requests them.
    """

    def __init__(
        self,
        sock: socket.socket,
        counter: Counter,
        feedback: Callable[[int, int], bytes | bytearray | memoryview] | None,
        count: int = UNLIMITED,
        window: int = 0,
    ) -> None:
        self._sock = sock
        self._counter = counter
        self._feedback = feedback
        self._count = count
        self._window = window
        self._settled = 0
        self.seen = 0
        self.unsent = memoryview(b"")

    @property
    def is_settled(self) -> bool:
        return self._feedback is None or not (self.unsent or self._settled < self._due)

    @property
    def _due(self) -> int:
        return min(self.seen + self._window, self._count)

    def read(self) -> None:
        self.seen += self._counter.read(self._sock)

    def settle(self) -> None:
        """Sends feedback for the deliveries seen, as much as the socket accepts without blocking."""
        if self._feedback is None:
            return
        due = self._due
        if not self.unsent and self._settled < due:
            self.unsent = memoryview(self._feedback(self._settled, due))
            self._settled = due
        if self.unsent:
            try:
                self.unsent = self.unsent[self._sock.send(self.unsent, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                pass
