"""`penstock bench`: latency and throughput of a running broker, measured with raw sockets.

One connection publishes and another consumes, both in one thread (`load.py`). Generating the load is cheap, so the
figures are those of the broker and the machine, not of a client library. Two phases: messages one at a time, each sent
when the previous one was delivered (round trip); then as many as possible for some seconds, with a limited number in
flight (throughput).
"""

import secrets
import select
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

import typer

from penstock.cli.connect import (
    START_HINT,
    Addr,
    Api,
    Json,
    Server,
    Via,
    client_options,
    default_address,
    with_credentials,
)
from penstock.cli.exits import EXIT_DENIED, EXIT_FAILED, EXIT_UNREACHABLE, Failed, UsageError
from penstock.cli.load import Closed, Consumer, EchoCounter, MarkCounter, Publisher, SizeCounter, Stalled, talk
from penstock.cli.load_protocols import LOAD_PROTOCOLS, LoadProtocol
from penstock.cli.main import command_app
from penstock.cli.output import print_json, print_line
from penstock.client import mqks, mqmq, rq, sevx, smqs
from penstock.client._auth import Auth
from penstock.client._credentials import Token, tls_of, token_of, warn_in_clear
from penstock.client._options import Address, address_of
from penstock.client.errors import ClientError

IN_FLIGHT_MAX = 10_000
IN_FLIGHT_BYTES_MAX = 16 << 20
BATCH = 200
ROUND_TRIPS = 300
ROUND_TRIPS_SECONDS = 2.0
SILENCE_SECONDS = 10.0
BUSY_SHARE = 0.8


def app() -> typer.Typer:
    return command_app((with_credentials(bench), EPILOG))


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
        address = address_of(addr or default_address(via), 0)
    except ValueError as error:
        raise UsageError(str(error)) from error
    name = f"penstock.bench.{secrets.token_hex(4)}"
    protocol = LOAD_PROTOCOLS[via](name.encode())
    load = Load(address, protocol, size)
    try:
        with load.connected(AUTHS[via], _token(address)):
            trips = load.round_trips()
            found = load.flood(seconds, count)
    except ConnectionRefusedError as error:
        raise Failed(f"cannot connect to {address}: {error.strerror}; {START_HINT}", EXIT_UNREACHABLE) from error
    except OSError as error:
        raise Failed(f"{address}: {error.strerror or error}", EXIT_UNREACHABLE) from error
    left = name if not protocol.deletes_queue and not _delete(name, server) else None
    _show(via, size, trips, found, json)
    if left is not None:
        sys.stderr.write(f"could not delete the empty queue {left} over HTTP\n")


def _token(address: Address) -> Token | None:
    """The token to authenticate with, if any."""
    options = client_options()
    try:
        if tls_of(options, address) is not None:
            raise UsageError("bench supports plain TCP only, so that it measures the broker and not the client's TLS")
        return token_of(options)
    except ClientError as error:
        raise UsageError(str(error)) from error


class Flood(NamedTuple):
    """The result of the throughput phase."""

    messages: int
    seconds: float
    cpu: float  # CPU seconds of this process

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
    print_line(f"{via}, {size}-byte bodies, one publisher to one consumer, raw sockets")
    print_line(f"round trip    p50 {p50:,.0f} us, p99 {p99:,.0f} us ({len(trips)} messages, one at a time)")
    rate = f"{found.rate:,.0f} msg/s, {found.rate * size / 1e6:,.1f} MB/s"
    print_line(f"throughput    {rate} ({found.messages:,} messages in {found.seconds:.2f} s)")
    limit = "; the client was near its limit, the broker may be faster" if found.share > BUSY_SHARE else ""
    print_line(f"client CPU    {found.share:.0%} of a core{limit}")


def _delete(queue: str, server: str) -> bool:
    try:
        with Api(server) as api:
            api.delete(f"/v1/queues/{queue}")
    except Failed:
        return False
    return True


class Load:
    """A publisher and a consumer in one thread."""

    def __init__(self, address: Address, protocol: LoadProtocol, size: int) -> None:
        self._address = address
        self._protocol = protocol
        self._body = protocol.wrap(b"x" * max(1, size - len(protocol.wrap(b""))))
        self._frame = protocol.publish(b"1", self._body)
        self._sent = 0
        self._poll = select.poll()

    @contextmanager
    def connected(self, auth: Auth, token: Token | None) -> Iterator[None]:
        with self._connect(auth, token) as self._publisher_sock, self._connect(auth, token) as self._consumer_sock:
            try:
                talk(self._consumer_sock, self._protocol.consumer_hello())
            except Closed as closed:
                raise self._closed_early() from closed
            for sock in (self._publisher_sock, self._consumer_sock):
                sock.settimeout(None)  # from here on `poll` says when to read and write
                self._poll.register(sock, select.POLLIN)
            self._publisher = Publisher(self._publisher_sock, MarkCounter(self._protocol.answer_mark or b"\n"))
            self._consumer = self._make_consumer()
            self._consumer.settle()
            try:
                yield
            except Closed as closed:
                raise Failed(f"{self._address}: the broker closed the connection", EXIT_UNREACHABLE) from closed
            except Stalled as stalled:
                raise Failed(f"{self._address}: {stalled}") from stalled

    def _connect(self, auth: Auth, token: Token | None) -> socket.socket:
        sock = socket.create_connection(self._address[:2], SILENCE_SECONDS)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if token is not None:
                self._authenticate(sock, auth, token)
        except BaseException:
            sock.close()
            raise
        return sock

    def _authenticate(self, sock: socket.socket, auth: Auth, token: Token) -> None:
        warn_in_clear(token, self._address, sock)
        sock.sendall(auth.encode_token(token.reveal()))
        heard = b""
        answer = None
        while answer is None:
            if not (data := sock.recv(1 << 16)):
                raise self._closed_early()
            heard += data
            try:
                answer = auth.parse_answer(heard)
            except ClientError as error:
                raise Failed(f"{self._address}: {error}", EXIT_FAILED) from error
        if not answer.is_accepted:
            reason = "authentication failed: the token is wrong, expired or revoked"
            raise Failed(f"{self._address}: {reason}", EXIT_DENIED)

    def _closed_early(self) -> Failed:
        hint = "is this the port of another protocol, or does the broker require a token (--token-file)?"
        return Failed(f"{self._address}: the broker closed the connection; {hint}", EXIT_FAILED)

    def _make_consumer(self) -> Consumer:
        protocol = self._protocol
        if acks := protocol.acks(self._body):
            echo = EchoCounter(acks)
            return Consumer(self._consumer_sock, echo, echo.take_answers)
        counter = SizeCounter(len(protocol.delivery(b"1", self._body)))
        feedback = (lambda first, last: protocol.settle(last - first)) if protocol.settle(1) else None
        return Consumer(self._consumer_sock, counter, feedback, window=protocol.window)

    def round_trips(self) -> list[float]:
        """Seconds from send to delivery, one message at a time."""
        trips: list[float] = []
        end = time.perf_counter() + ROUND_TRIPS_SECONDS
        while len(trips) < ROUND_TRIPS and (not trips or time.perf_counter() < end):
            began = time.perf_counter()
            self._send(memoryview(self._frame), 1)
            while self._consumer.seen < self._sent:
                self._turn()
            trips.append(time.perf_counter() - began)
        return trips

    def flood(self, seconds: float, count: int) -> Flood:
        """As many messages as get through in that time, up to the last delivery and the last answer."""
        size = len(self._frame)
        batch = min(BATCH, max(1, IN_FLIGHT_BYTES_MAX // 4 // size))
        window = min(IN_FLIGHT_MAX, max(batch, IN_FLIGHT_BYTES_MAX // size))
        block = memoryview(self._frame * batch)
        first, last = self._sent, self._sent + count
        began, cpu = time.perf_counter(), time.process_time()
        while time.perf_counter() - began < seconds and self._sent < last:
            if not self._publisher.unsent and self._sent - self._consumer.seen + batch <= window:
                some = min(batch, last - self._sent)
                self._send(block[: some * size], some)
            self._turn()
        while self._consumer.seen < self._sent or self._unanswered:
            self._turn()
        return Flood(self._sent - first, time.perf_counter() - began, time.process_time() - cpu)

    def _send(self, frames: memoryview, count: int) -> None:
        self._publisher.unsent = frames
        self._sent += count

    @property
    def _unanswered(self) -> bool:
        return bool(self._protocol.answer_mark) and self._publisher.answered < self._sent

    def _turn(self) -> None:
        """Waits until something can be read or written, and does it."""
        for sock, is_writing in (
            (self._publisher_sock, self._publisher.unsent),
            (self._consumer_sock, not self._consumer.is_settled),
        ):
            self._poll.modify(sock, select.POLLIN | select.POLLOUT if is_writing else select.POLLIN)
        ready = dict(self._poll.poll(SILENCE_SECONDS * 1000))
        if not ready:
            missing = self._sent - self._consumer.seen
            raise Failed(f"{self._address}: no progress for {SILENCE_SECONDS:g} s, {missing} messages not delivered")
        if events := ready.get(self._consumer_sock.fileno()):
            if events & select.POLLIN:
                self._consumer.read()
            self._consumer.settle()
        if events := ready.get(self._publisher_sock.fileno()):
            self._publisher.step(events)


AUTHS: dict[str, Auth] = {
    "mqks": mqks.AUTH,
    "smqs": smqs.AUTH,
    "sevx": sevx.AUTH,
    "mqmq": mqmq.AUTH,
    "rq": rq.AUTH,
}
