"""`penstock bench`: what a broker that is running passes on, measured from here with raw sockets.

One connection publishes, another consumes, both in this one process and thread: frames are encoded ahead and written by
the hundred, what comes back is counted and not looked at. So the load costs little, and the figure is the broker's and
the machine's, not a client library's. Two phases: messages one at a time, each sent when the one before was delivered
(the round trip); then as many as the broker takes for some seconds, with a bounded number under way.
"""

import secrets
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Annotated, NamedTuple

import typer

from penstock.cli.connect import START, Addr, Api, Json, Server, options_for, place_of, reaching
from penstock.cli.exits import EXIT_DENIED, EXIT_FAILED, EXIT_UNREACHABLE, Failed, Misused
from penstock.cli.main import COMMANDS
from penstock.cli.output import print_json, say
from penstock.cli.send import Via
from penstock.client import mqks, mqmq, rq, sevx, smqs
from penstock.client._auth import Auth
from penstock.client._credentials import Token, tls_of, token_of, warn_in_clear
from penstock.client._options import Address, address_of
from penstock.client.errors import ClientError

UNDER_WAY_MAX = 10_000
UNDER_WAY_BYTES_MAX = 16 << 20
BATCH = 200
GETS = 500  # MQMQ: how many messages are asked for ahead
ONE_BY_ONE = 300
ONE_BY_ONE_SECONDS = 2.0
SILENCE_SECONDS = 10.0
READ_SIZE = 1 << 20
BUSY_SHARE = 0.8


class Speech(NamedTuple):
    """What one protocol says. Deliveries and answers are of one size each, so that bytes are a count."""

    hello: bytes
    welcome: bytes
    frame: bytes
    answer: bytes  # to a publish; empty where there is none
    delivery_size: int
    feedback: Callable[[bytes, int], bytes]  # what a consumer owes for these bytes, which hold so many deliveries
    leaves_queue: bool = True


def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command(help=COMMANDS["bench"], epilog=EPILOG)(reaching(bench))
    return made


EPILOG = (
    "One connection publishes and one consumes, over raw sockets in one process, through a queue that is deleted "
    "afterwards. Round trip: time from send to delivery, one message at a time. Throughput: as many messages as the "
    "broker can pass on. A broker with a log writes all of them to disk. The figures describe this machine at this "
    "moment; if the load generator uses most of a core, the broker could do more. Plain TCP only."
)


def bench(
    via: Annotated[Via, typer.Option("--via", help="Protocol to use.")] = "mqks",
    size: Annotated[int, typer.Option("--size", min=1, max=1 << 20, metavar="BYTES", help="Body size.")] = 100,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, max=60.0, help="Publish for this many seconds.")
    ] = 3.0,
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="Maximum number of messages.")] = 1_000_000,
    addr: Addr = "",
    server: Server = "",
    json: Json = False,
) -> None:
    try:
        address = address_of(addr or place_of(via), 0)
    except ValueError as error:
        raise Misused(str(error)) from error
    name = f"penstock.bench.{secrets.token_hex(4)}"
    speech = SPEECHES[via](name.encode(), size)
    try:
        with Load(address, speech, AUTHS[via], _token(address)) as load:
            trips = load.one_by_one()
            found = load.flood(seconds, count)
    except ConnectionRefusedError as error:
        raise Failed(f"cannot connect to {address}: {error.strerror}; {START}", EXIT_UNREACHABLE) from error
    except OSError as error:
        raise Failed(f"{address}: {error.strerror or error}", EXIT_UNREACHABLE) from error
    left = name if speech.leaves_queue and not _delete(name, server) else None
    _show(via, size, trips, found, json)
    if left is not None:
        sys.stderr.write(f"could not delete the empty queue {left} over HTTP\n")


def _token(address: Address) -> Token | None:
    """What to show the broker, if anything."""
    options = options_for()
    try:
        if tls_of(options, address) is not None:
            raise Misused("bench supports plain TCP only, so that it measures the broker and not the client's TLS")
        return token_of(options)
    except ClientError as error:
        raise Misused(str(error)) from error


class Flood(NamedTuple):
    """What a broker passed on."""

    messages: int
    seconds: float
    cpu: float  # seconds of this process

    @property
    def rate(self) -> float:
        return self.messages / self.seconds

    @property
    def share(self) -> float:
        return min(1.0, self.cpu / self.seconds)


def _show(via: str, size: int, trips: list[float], found: Flood, json: bool) -> None:
    trips = sorted(trips)
    p50, p99 = (trips[min(len(trips) - 1, int(len(trips) * part))] * 1e6 for part in (0.5, 0.99))
    if json:
        print_json(
            {
                "via": via,
                "size": size,
                "round_trip_us": {"count": len(trips), "p50": round(p50, 1), "p99": round(p99, 1)},
                "messages": found.messages,
                "seconds": round(found.seconds, 4),
                "msg_per_s": round(found.rate),
                "mb_per_s": round(found.rate * size / 1e6, 2),
                "load_cpu_share": round(found.share, 3),
            }
        )
        return
    say(f"{via}, {size}-byte bodies, one publisher to one consumer, raw sockets")
    say(f"round trip    p50 {p50:,.0f} us, p99 {p99:,.0f} us ({len(trips)} messages, one at a time)")
    rate = f"{found.rate:,.0f} msg/s, {found.rate * size / 1e6:,.1f} MB/s"
    say(f"throughput    {rate} ({found.messages:,} messages in {found.seconds:.2f} s)")
    limit = "; the client was near its limit, the broker may be faster" if found.share > BUSY_SHARE else ""
    say(f"client CPU    {found.share:.0%} of a core{limit}")


def _delete(queue: str, server: str) -> bool:
    try:
        with Api(server) as api:
            api.delete(f"/v1/queues/{queue}")
    except Failed:
        return False
    return True


class Load:
    """Two connections of one thread: what is sent, and what comes of it."""

    def __init__(self, address: Address, speech: Speech, auth: Auth, token: Token | None) -> None:
        self._address = address
        self._speech = speech
        self._auth = auth
        self._token = token
        self._outbox = memoryview(b"")  # of the publisher
        self._owed = b""  # by the consumer
        self._rest = b""  # of a delivery that has not come whole
        self._answers = 0  # bytes
        self.sent = 0
        self.delivered = 0

    def __enter__(self) -> "Load":
        self._selector = selectors.DefaultSelector()
        self._publisher = socket.create_connection(self._address[:2], SILENCE_SECONDS)
        try:
            self._consumer = socket.create_connection(self._address[:2], SILENCE_SECONDS)
        except OSError:
            self._publisher.close()
            raise
        for sock in (self._publisher, self._consumer):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self._token is not None:
                self._enter(self._publisher, self._token)
                self._enter(self._consumer, self._token)
            self._subscribe()
        except BaseException:
            self.__exit__()
            raise
        for sock in (self._publisher, self._consumer):
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._publisher.close()
        self._consumer.close()

    def _enter(self, sock: socket.socket, token: Token) -> None:
        warn_in_clear(token, self._address, sock)
        sock.sendall(self._auth.encode_token(token.reveal()))
        heard = b""
        answer = None
        while answer is None:
            heard += self._hear(sock)
            try:
                answer = self._auth.parse_answer(heard)
            except ClientError as error:
                raise Failed(f"{self._address}: {error}", EXIT_FAILED) from error
        if not answer.is_accepted:
            reason = "authentication failed: the token is wrong, expired or revoked"
            raise Failed(f"{self._address}: {reason}", EXIT_DENIED)

    def _subscribe(self) -> None:
        self._consumer.sendall(self._speech.hello)
        heard = b""
        while self._speech.welcome not in heard:
            heard += self._hear(self._consumer)

    def _hear(self, sock: socket.socket) -> bytes:
        if not (data := sock.recv(READ_SIZE)):
            hint = "is this the port of another protocol, or does the broker require a token (--token-file)?"
            raise Failed(f"{self._address}: the broker closed the connection; {hint}", EXIT_FAILED)
        return data

    def one_by_one(self) -> list[float]:
        """Seconds from sent to delivered, message by message."""
        trips: list[float] = []
        end = time.perf_counter() + ONE_BY_ONE_SECONDS
        while len(trips) < ONE_BY_ONE and (not trips or time.perf_counter() < end):
            began = time.perf_counter()
            self._outbox, self.sent = memoryview(self._speech.frame), self.sent + 1
            while self.delivered < self.sent:
                self._turn(writing=True)
            trips.append(time.perf_counter() - began)
        return trips

    def flood(self, seconds: float, count: int) -> Flood:
        """As many as go through in that time, to the last delivery and the last answer."""
        frame = self._speech.frame
        batch = min(BATCH, max(1, UNDER_WAY_BYTES_MAX // 4 // len(frame)))
        window = min(UNDER_WAY_MAX, max(batch, UNDER_WAY_BYTES_MAX // len(frame)))
        block = memoryview(frame * batch)
        first = self.sent
        began, cpu = time.perf_counter(), time.process_time()
        while True:
            over = time.perf_counter() - began >= seconds or self.sent - first >= count
            if not over and not self._outbox and self.sent - self.delivered + batch <= window:
                some = min(batch, count - (self.sent - first))
                self._outbox = block[: some * len(frame)]
                self.sent += some
            elif over and self.delivered == self.sent and not self._unanswered:
                break
            self._turn(writing=bool(self._outbox))
        return Flood(self.sent - first, time.perf_counter() - began, time.process_time() - cpu)

    @property
    def _unanswered(self) -> bool:
        return self._answers < self.sent * len(self._speech.answer)

    def _turn(self, writing: bool) -> None:
        """Wait until something can be done, and do it."""
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        self._selector.modify(self._publisher, both if writing and self._outbox else selectors.EVENT_READ)
        self._selector.modify(self._consumer, both if self._owed else selectors.EVENT_READ)
        ready = self._selector.select(SILENCE_SECONDS)
        if not ready:
            missing = self.sent - self.delivered
            raise Failed(f"{self._address}: no progress for {SILENCE_SECONDS:g} s, {missing} messages not delivered")
        for key, events in ready:
            if events & selectors.EVENT_READ:
                self._read(key.fileobj is self._consumer)
            if events & selectors.EVENT_WRITE:
                if key.fileobj is self._publisher:
                    self._outbox = self._outbox[self._publisher.send(self._outbox) :]
                else:
                    self._owed = self._owed[self._consumer.send(self._owed) :]

    def _read(self, consumer: bool) -> None:
        data = (self._consumer if consumer else self._publisher).recv(READ_SIZE)
        if not data:
            raise Failed(f"{self._address}: the broker closed the connection", EXIT_UNREACHABLE)
        if not consumer:
            self._answers += len(data)
            return
        data = self._rest + data
        whole = len(data) // self._speech.delivery_size
        cut = whole * self._speech.delivery_size
        self._rest = data[cut:]
        self.delivered += whole
        if whole:
            self._owed += self._speech.feedback(data[:cut], whole)


# -- the five ---------------------------------------------------------------------------------------------------------


def _nothing(_deliveries: bytes, _count: int) -> bytes:
    return b""


def _mqks(queue: bytes, size: int) -> Speech:
    body = b"x" * size
    return Speech(
        hello=b"c consume --confirm %s %s --delete-queue-when-unused\n" % (queue, queue),
        welcome=b"c ok \n",
        frame=b"m publish %s %s\n" % (queue, body),
        answer=b"",
        delivery_size=len(b"c ok m event=%s %s\n" % (queue, body)),
        feedback=_nothing,
        leaves_queue=False,
    )


def _sevx(queue: bytes, size: int) -> Speech:
    body = b'{"bench":"%s","data":"%s"}' % (queue, b"x" * size)
    told = b'"pattern":{"bench":"%s"},"queue":"%s","delete_queue_when_unused":true' % (queue, queue)
    return Speech(
        hello=b"c recv {%s}\n" % told,
        welcome=b"c ok \n",
        frame=b"m send %s\n" % body,
        answer=b"m ok \n",
        delivery_size=len(b"c ok m %s\n" % body),
        feedback=_nothing,
        leaves_queue=False,
    )


def _smqs(queue: bytes, size: int) -> Speech:
    body = b'"%s"' % (b"x" * max(1, size - 2))
    return Speech(
        hello=b"C:%s:\nS\n" % queue,
        welcome=b"}\n",
        frame=b"M:%s:%s\n" % (queue, body),
        answer=b"",
        delivery_size=len(body) + 1,
        feedback=lambda _, count: b"D:%s:%d\n" % (queue, count),
    )


def _mqmq(queue: bytes, size: int) -> Speech:
    body = b"x" * size
    get = _values(b"Get", queue, b"60000")
    return Speech(
        hello=_values(b"Get", queue, b"1") + get * GETS,  # the first comes back at once: it is MQMQ that is spoken
        welcome=b"Timeout",
        frame=_values(b"Put", queue, body),
        answer=_values(b"OK"),
        delivery_size=len(_values(b"OK", body)),
        feedback=lambda _, count: get * count,
    )


def _rq(queue: bytes, size: int) -> Speech:
    named = b"\xa0%c%s" % (len(queue), queue)
    payload = struct.pack(">BI", 0xE0, size) + b"x" * size
    return Speech(
        hello=b"\x01%s\x14" % named,
        welcome=named + b"\x18",
        frame=b"\x01\x80\0\0\0\1%s%s\x21\x0a" % (named, payload),
        answer=b"\x01\x80\0\0\0\1\x0d",
        delivery_size=len(b"\x01\x60\0\0%b\x21\x80\0\0\0\0\x0a" % payload),
        feedback=_delivered,
    )


def _delivered(requests: bytes, count: int) -> bytes:
    """One DELIVERED for each request, under the id that the broker gave it: `... 80 iiiiiiii 0a`."""
    size = len(requests) // count
    return b"".join([b"\x01%b\x0d" % requests[end - 6 : end - 1] for end in range(size, len(requests) + 1, size)])


def _values(*values: bytes) -> bytes:
    """What MQMQ sends: a length, then values with theirs."""
    data = b"".join(struct.pack(">I", len(value)) + value for value in values)
    return struct.pack(">I", len(data)) + data


SPEECHES: dict[str, Callable[[bytes, int], Speech]] = {
    "mqks": _mqks,
    "smqs": _smqs,
    "sevx": _sevx,
    "mqmq": _mqmq,
    "rq": _rq,
}
AUTHS: dict[str, Auth] = {
    "mqks": mqks.AUTH,
    "smqs": smqs.AUTH,
    "sevx": sevx.AUTH,
    "mqmq": mqmq.AUTH,
    "rq": rq.AUTH,
}
