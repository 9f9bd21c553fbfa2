"""A well-behaved, timed client: attacks on the broker show in its messages.

Three processes of one user. The publisher is an open loop: message i is due at start + i / rate and carries that time,
so a broker that stalls is charged for every message it delayed. The consumer acks each message and records its arrival.
The visitor reconnects twice a second, over MQKS with a valid token and over HTTP, and records how long that took. All
records use the same clock, so they can be cut into windows afterwards.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import re
import socket
import ssl
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from bench.attacking import hello
from bench.frames import STAMP_SPAN, stamped_body
from bench.latency import percentile
from bench.wire import HOST, SOCKET_BUFFER
from bench.workers import Worker
from penstock.cli.load import TIMEOUT, Stalled, receive

USER = "victim"
EVENT, QUEUE = b"victim.event", b"victim.queue"
GRANTS = ("publish victim.*", "consume victim.*", "declare victim.*", "browse victim.*", "read-log")
BODY_SIZE = 100
CONFIRMED = 50  # one message in this many is confirmed
TICK_NS = 1_000_000
CHUNK = 500  # messages per send, when the publisher is behind
LOOK_NS = 50_000_000  # how often it checks whether to stop
STALL_SECONDS = 20.0  # a broker that does not answer for this long has failed
LATE_SECONDS = 15.0  # how long the consumer waits for messages in flight after the publisher has stopped
VISIT_SECONDS = 0.5
VISIT_PATIENCE = 10.0
DELIVERY = re.compile(rb"c ok (\d+) event=victim\.event(?:,retry=\d+)? (\d{14})x*~\n")


@dataclass(frozen=True)
class Door:
    """The broker's address for the victim, and its token."""

    ports: dict[str, int]
    token: str
    ca: Path | None = None  # set where HTTP uses TLS, and `any` accepts both

    @property
    def port(self) -> int:
        return self.ports["mqks"] if self.ca is None else self.ports["any"]


@dataclass
class Notes:
    """What the three processes recorded. Times are nanoseconds of the monotonic clock."""

    start_ns: int = 0
    left_ns: int = 0  # when the publisher stopped
    rate: int = 1
    stamps: array[int] = field(default_factory=lambda: array("q"))  # when each message that arrived was due
    arrivals: array[int] = field(default_factory=lambda: array("q"))  # and when it arrived
    confirms: list[tuple[int, int]] = field(default_factory=list)  # send time, duration
    visits: list[tuple[str, int, int, str]] = field(default_factory=list)  # kind, start, duration, error
    errors: list[tuple[int, str]] = field(default_factory=list)
    end_ns: int = 0

    def view(self, from_ns: int, to_ns: int) -> View:
        """The records between these two times, summarised."""
        ages = sorted(
            arrival - stamp
            for stamp, arrival in zip(self.stamps, self.arrivals, strict=True)
            if from_ns <= stamp < to_ns
        )
        span_ns = min(to_ns, self.left_ns) - max(from_ns, self.start_ns)
        missing = max(0, span_ns * self.rate // 10**9 - len(ages) - 1)  # including those that could not even be sent
        ages += [self.end_ns - from_ns] * missing
        came = sum(1 for arrival in self.arrivals if from_ns <= arrival < to_ns)
        wanted = (to_ns - from_ns) * self.rate / 10**9
        confirms = sorted(took for at, took in self.confirms if from_ns <= at < to_ns)
        visits: dict[str, float] = {}
        errors = [told for at, told in self.errors if from_ns <= at < to_ns]
        for what, at, took, wrong in self.visits:
            if from_ns <= at < to_ns:
                visits[what] = max(visits.get(what, 0.0), took / 1e6)
                if wrong:
                    errors.append(f"{what}: {wrong}")
        return View(
            p50_ms=_ms(ages, 0.5),
            p99_ms=_ms(ages, 0.99),
            max_ms=_ms(ages, 1.0),
            confirm_p99_ms=_ms(confirms, 0.99),
            throughput=came / wanted if wanted else 0.0,
            missing=missing,
            visits_ms=visits,
            errors=errors,
        )


@dataclass(frozen=True)
class View:
    """What the victim experienced in one window of time."""

    p50_ms: float
    p99_ms: float
    max_ms: float
    confirm_p99_ms: float
    throughput: float  # the share of due messages that arrived within the window
    missing: int  # messages that never arrived
    visits_ms: dict[str, float]  # the longest of each kind
    errors: list[str]


def _ms(ordered: Sequence[int], share: float) -> float:
    return percentile(ordered, share) / 1e6 if ordered else 0.0


class Victim:
    """Runs all three from the start of the block; `leave` stops them and collects their records."""

    def __init__(self, door: Door, rate: int, visits: Sequence[str]) -> None:
        self._consumer = Worker(_consume, door)
        self._consumer.report(STALL_SECONDS)
        self._publisher = Worker(_publish, door, rate)
        self._visitor = Worker(_visit, door, tuple(visits))
        self._rate = rate

    def leave(self) -> Notes:
        self._publisher.tell("stop")
        start_ns, left_ns, count, confirms, errors = self._publisher.report(2 * STALL_SECONDS)
        self._consumer.tell(count)
        stamps, arrivals, more, end_ns = self._consumer.report(LATE_SECONDS + STALL_SECONDS)
        self._visitor.tell("stop")
        visits = self._visitor.report(10 * VISIT_PATIENCE)
        errors = errors + more
        return Notes(start_ns, left_ns, self._rate, stamps, arrivals, confirms, visits, errors, end_ns)

    def __enter__(self) -> Victim:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in (self._publisher, self._consumer, self._visitor):
            worker.__exit__()


def _connect(door: Door, greeting: bytes, until: bytes, seconds: float = STALL_SECONDS) -> socket.socket:
    sock = socket.create_connection((HOST, door.port), timeout=seconds)
    try:
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, TIMEOUT.pack(int(seconds), 0))
        sock.sendall(hello("mqks", door.token) + greeting)
        view = memoryview(bytearray(4096))
        heard = b""
        while until not in heard:
            heard += bytes(view[: receive(sock, view)])
    except (OSError, Stalled):
        sock.close()
        raise
    return sock


def _publish(parent: Connection, door: Door, rate: int) -> None:
    confirms: list[tuple[int, int]] = []
    errors: list[tuple[int, str]] = []
    waiting: dict[bytes, int] = {}
    sock = _connect(door, b"p ping x\n", b"p ok x\n")
    start_ns = time.monotonic_ns() + TICK_NS
    sent = 0
    looked_ns = start_ns
    rest = b""
    unsent = b""
    while True:
        now_ns = time.monotonic_ns()
        if now_ns - looked_ns > LOOK_NS:
            looked_ns = now_ns
            if parent.poll():
                break
        due = min((now_ns - start_ns) * rate // 10**9 + 1, sent + CHUNK)
        try:
            if due > sent and not unsent:
                unsent = b"".join(_line(number, start_ns, rate, waiting) for number in range(sent, due))
                sent = due
            if unsent:
                with contextlib.suppress(BlockingIOError):
                    unsent = unsent[sock.send(unsent, socket.MSG_DONTWAIT) :]
            with contextlib.suppress(BlockingIOError):
                data = sock.recv(65536, socket.MSG_DONTWAIT)
                if not data:
                    raise ConnectionError("closed by the broker")
                heard_ns = time.monotonic_ns()
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    id, _, told = line.partition(b" ")
                    sent_ns = waiting.pop(id, 0)
                    if told != b"ok ":
                        errors.append((heard_ns, f"publish: {line.decode(errors='replace')}"))
                    elif sent_ns:
                        confirms.append((sent_ns, heard_ns - sent_ns))
        except (OSError, Stalled) as error:
            errors.append((now_ns, f"publisher: {error!r}"))
            sock.close()
            sock, rest, unsent = _again(door, b"p ping x\n", b"p ok x\n"), b"", b""
        wait_ns = start_ns + sent * 10**9 // rate - time.monotonic_ns()
        if wait_ns > 0 or unsent:
            time.sleep(max(wait_ns, TICK_NS) / 1e9)
    end_ns = time.monotonic_ns()
    confirms += [(sent_ns, end_ns - sent_ns) for sent_ns in waiting.values() if end_ns - sent_ns > 10**9]
    parent.send((start_ns, end_ns, sent, confirms, errors))
    parent.poll(STALL_SECONDS)


def _line(number: int, start_ns: int, rate: int, waiting: dict[bytes, int]) -> bytes:
    due_ns = start_ns + number * 10**9 // rate
    body = stamped_body(due_ns, BODY_SIZE)
    if number % CONFIRMED:
        return b"%d publish %s %s\n" % (number, EVENT, body)
    waiting[b"%d" % number] = due_ns
    return b"%d publish --confirm %s %s\n" % (number, EVENT, body)


def _again(door: Door, greeting: bytes, until: bytes) -> socket.socket:
    """Reconnects, like a client would, until the broker accepts."""
    deadline = time.monotonic() + STALL_SECONDS
    while True:
        try:
            return _connect(door, greeting, until, VISIT_PATIENCE)
        except (OSError, Stalled):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _consume(parent: Connection, door: Door) -> None:
    greeting, until = b"c consume --confirm --manual-ack %s %s\n" % (QUEUE, EVENT), b"c ok \n"
    stamps, arrivals = array("q"), array("q")
    errors: list[tuple[int, str]] = []
    sock = _connect(door, greeting, until)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, TIMEOUT.pack(0, 200_000))
    parent.send("ready")
    wanted = -1
    end_ns = 0
    rest = b""
    while wanted < 0 or (len(stamps) < wanted and time.monotonic_ns() < end_ns):
        if wanted < 0 and parent.poll():
            wanted = parent.recv()
            end_ns = time.monotonic_ns() + int(LATE_SECONDS * 1e9)
        try:
            data = sock.recv(1 << 18)
        except BlockingIOError:
            continue
        except OSError:
            data = b""
        now_ns = time.monotonic_ns()
        if not data:
            errors.append((now_ns, "consumer: closed by the broker"))
            sock.close()
            sock, rest = _again(door, greeting, until), b""
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, TIMEOUT.pack(0, 200_000))
            continue
        data = rest + data
        end = 0
        acks: list[bytes] = []
        for found in DELIVERY.finditer(data):
            stamps.append(now_ns - (now_ns - int(found[2])) % STAMP_SPAN)
            arrivals.append(now_ns)
            acks.append(b"k ack c %s\n" % found[1])
            end = found.end()
        rest = data[end:]
        with contextlib.suppress(OSError):  # the next read reports it
            sock.sendall(b"".join(acks))
    parent.send((stamps, arrivals, errors, time.monotonic_ns()))
    parent.poll(STALL_SECONDS)


# -- visits -----------------------------------------------------------------------------------------------------------


def _visit(parent: Connection, door: Door, kinds: tuple[str, ...]) -> None:
    visits: list[tuple[str, int, int, str]] = []
    while not parent.poll(VISIT_SECONDS):
        for kind in kinds:
            begun_ns = time.monotonic_ns()
            try:
                wrong = VISITS[kind](door)
            except (OSError, Stalled, http.client.HTTPException) as error:
                wrong = repr(error)
            visits.append((kind, begun_ns, time.monotonic_ns() - begun_ns, wrong))
    parent.send(visits)
    parent.poll(STALL_SECONDS)


def _come_in(door: Door) -> str:
    """A client with a valid token connects, sends a request and disconnects."""
    _connect(door, b"p ping x\n", b"p ok x\n", VISIT_PATIENCE).close()
    return ""


@contextlib.contextmanager
def _asked(door: Door, path: str, headers: dict[str, str]) -> Iterator[http.client.HTTPResponse]:
    connection: http.client.HTTPConnection
    if door.ca is None:
        connection = http.client.HTTPConnection(HOST, door.ports["http"], timeout=VISIT_PATIENCE)
    else:
        context = ssl.create_default_context(cafile=door.ca)
        connection = http.client.HTTPSConnection(HOST, door.ports["http"], timeout=VISIT_PATIENCE, context=context)
    try:
        connection.request("GET", path, headers=headers)
        yield connection.getresponse()
    finally:
        connection.close()


def _ask(path: str, known: bool = True, first: bool = False) -> Callable[[Door], str]:
    """A GET; for a stream, the first chunk is enough."""

    def visit(door: Door) -> str:
        with _asked(door, path, {"authorization": f"Bearer {door.token}"} if known else {}) as response:
            told = response.read1(65536) if first else response.read()
            return "" if response.status == 200 and told else f"{response.status} {told[:200]!r}"

    return visit


_numbers = itertools.count(1000)


def _use_an_id(door: Door) -> str:
    """A confirmed publish reaches its queue, even if another client may have used its id before."""
    id = b"pay-%d" % next(_numbers)
    sock = _connect(door, b"d consume --confirm victim.dedup victim.dedup\n", b"d ok \n", VISIT_PATIENCE)
    try:
        sock.sendall(b"%s publish --confirm --dedup victim.dedup x\np ping x\n" % id)
        said = b""
        view = memoryview(bytearray(4096))
        while b"p ok x\n" not in said or b"%s ok \n" % id not in said:
            said += bytes(view[: receive(sock, view)])
    finally:
        sock.close()
    return "" if b"d ok %s " % id in said else "confirmed, and never queued"


VISITS: dict[str, Callable[[Door], str]] = {
    "in": _come_in,
    "health": _ask("/healthz", known=False),
    "api": _ask("/v1/queues/victim.queue"),
    "live": _ask("/v1/live", first=True),
    "log": _ask("/v1/log?from=0&to=10"),
    "dedup": _use_an_id,
}
USUAL = ("in", "health", "api")
