"""More attacks: storms and churn, expiry and purging, patterns and broadcasts."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import ssl
import struct
import time
from collections.abc import Callable

from bench.attacking import HOST, Target, hello, mib, request_of, shove, shove_and_swallow, stay, swallow
from bench.hostile_attacks import ADMIN, MALLORY, NOBODY, Run, ask, attack, declare, heard
from bench.hostile_places import DOORS
from bench.hostile_time import put
from bench.memory_backlog import body_of
from penstock.cli.load_protocols import frame

PAUSE = 0.002  # between two requests of a storm: on a small machine, the attacker's own cost is the victim's loss
LEAVE_SECONDS = 0.2  # until a crowd has disconnected and the next one connects
RESET = struct.pack("ii", 1, 0)


@attack("strangers: connect and reset, again and again")
def connects(target: Target) -> Run:
    yield
    count = 0
    while target.goes_on():
        with (
            contextlib.suppress(OSError),
            socket.create_connection((HOST, target.ports[DOORS[count % len(DOORS)]]), timeout=5) as sock,
        ):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        count += 1
        time.sleep(PAUSE)
    return f"{count:,} times"


@attack("mqks: comes in with a right token and leaves, again and again")
def comes_and_goes(target: Target) -> Run:
    greeting = hello("mqks", target.tokens[MALLORY]) + b"c consume --delete-queue-when-unused m.come m.come\n"
    yield
    count = 0
    while target.goes_on():
        with contextlib.suppress(OSError), socket.create_connection((HOST, target.ports["mqks"]), timeout=5) as sock:
            sock.sendall(greeting)
            sock.recv(100)
        count += 1
        time.sleep(PAUSE)
    return f"{count:,} times"


@attack("tls: handshakes, again and again", settings={"tls": True})
def handshakes(target: Target) -> Run:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    yield
    count = 0
    while target.goes_on():
        with contextlib.suppress(OSError), socket.create_connection((HOST, target.ports["mqks"]), timeout=5) as sock:
            context.wrap_socket(sock).close()
        count += 1
    return f"{count:,} handshakes"


@attack("tls: hellos without an end", settings={"tls": True})
def hellos(target: Target) -> Run:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    hello_bytes = outgoing.read()
    yield
    count = 0
    socks: list[socket.socket] = []
    while target.goes_on():
        with contextlib.suppress(OSError):
            sock = socket.create_connection((HOST, target.ports["mqks"]), timeout=5)
            sock.sendall(hello_bytes)
            socks.append(sock)
            count += 1
        if len(socks) > 300:
            socks.pop(0).close()
        time.sleep(PAUSE)
    return f"{count:,} hellos"


def repeats(name: str, data: Callable[[], bytes], protocol: str = "mqks", user: str = MALLORY, queues: int = 0) -> None:
    """Repeats the same requests as fast as they are accepted; responses are read."""

    @attack(name)
    def run(target: Target) -> Run:
        if queues:
            declare(target, {f"m.rep.{number}": ["m.rep"] for number in range(queues)})
        sock = target.connect(protocol, user=user)
        requests = data()
        yield
        rounds = 0
        answered = 0
        sock.setblocking(False)
        view = memoryview(requests)
        sent = 0
        while target.goes_on():
            readable, writable, _ = select.select([sock], [sock], [], 0.2)
            try:
                if readable:
                    more = len(sock.recv(1 << 18))
                    if not more:
                        return f"closed by the broker after {rounds} rounds"
                    answered += more
                if writable:
                    sent += sock.send(view[sent : sent + (1 << 18)])
                    if sent == len(requests):
                        sent = 0
                        rounds += 1
            except BlockingIOError:
                continue
            time.sleep(PAUSE / 4)
        return f"{rounds} rounds of {len(requests):,} bytes, {mib(answered)} answered"


repeats(
    "mqks: consume and delete_consumer, again and again",
    lambda: b"".join(b"c%d consume m.churn m.churn\nx delete_consumer c%d\n" % (n, n) for n in range(2000)),
)
repeats(
    "mqks: bindings of a thousand events, replaced again and again",
    lambda: b"".join(
        b"c consume m.bind %s\n" % b" ".join(b"m.%d.%d" % (turn, n) for n in range(1000)) for turn in range(20)
    ),
)
repeats(
    "mqks: one event to a thousand queues, flood",
    lambda: b"f publish m.rep 0123456789abcdef\n" * 200,
    queues=1000,
)
repeats(
    "smqs: a new queue with each message",
    lambda: b"".join(b"M:m.new.%d:x\n" % number for number in range(60_000)),
    protocol="smqs",
)
repeats(
    "mqks: queues made and deleted, again and again",
    lambda: b"".join(b"c%d consume m.md.%d m.md\nx delete_queue m.md.%d\n" % (n, n, n) for n in range(2000)),
)
repeats(
    "rq: requests with a timeout, nobody serves them",
    lambda: b"".join(
        b"\x01\x80%s\xa0\x06m.none\x61\x00\x01\xe0\x00\x00\x00\x01x\x0a" % struct.pack(">I", n) for n in range(5000)
    ),
    protocol="rq",
)
repeats(
    "rq: priorities changed, again and again",
    lambda: b"".join(b"\x01\xa0\x06m.prio\x40%c\x62\x00\x01\x14" % (n % 40) for n in range(5000)),
    protocol="rq",
)
repeats(
    "sevx: broken JSON",
    lambda: b'b send {"event": "m.x", "a": [1, 2, 3}\n' * 3000,
    protocol="sevx",
)


@attack("mqks: 100,000 un-acked, and delete_consumer")
def leaves_much(target: Target) -> Run:
    put(target, "m.much", b"x" * 16, 100_000)
    sock = target.connect("mqks", user=MALLORY)
    sock.sendall(b"c consume --manual-ack m.much m.much\n")
    got = 0
    while got < 100_000:
        got += sock.recv(1 << 20).count(b"\n")
    yield
    rounds = 0
    while target.goes_on():
        sock.sendall(b"x delete_consumer c\nc consume --manual-ack m.much m.much\n")
        got = 0
        while got < 100_000 and target.goes_on():
            sock.settimeout(target.left())
            try:
                got += sock.recv(1 << 20).count(b"\n")
            except OSError:
                break
        rounds += 1
    return f"{rounds} times"


@attack("mqks: 100,000 un-acked, reject --all and ack --all")
def rejects_much(target: Target) -> Run:
    put(target, "m.much", b"x" * 16, 100_000)
    sock = target.connect("mqks", user=MALLORY)
    sock.sendall(b"c consume --manual-ack m.much m.much\n")
    got = 0
    while got < 100_000:
        got += sock.recv(1 << 20).count(b"\n")
    yield
    sock.sendall(b"x reject c --all\n")
    half = Target(target.ports, time.time() + target.left() / 2)
    swallow(half, sock)
    sock.setblocking(True)
    sock.sendall(b"x ack c --all\n")
    return f"{swallow(target, sock):,} bytes given"


def at_once(name: str, flag: bytes) -> None:
    @attack(name)
    def run(target: Target) -> Run:
        declare(target, {"m.once": ["m.once"]})
        sock = target.connect("mqks", user=MALLORY)
        data = b"m publish %s m.once 0123456789abcdef\n" % flag * 60_000
        yield
        sent = shove(target, sock, data)
        stay(target)
        return f"{60_000 * sent // len(data):,} sent"


at_once("mqks: 60,000 messages expire at one moment", b"--ttl=2.5")
at_once("mqks: 60,000 delayed messages are due at one moment", b"--delay=2.5")


@attack("http: purges a queue of 300,000")
def purges(target: Target) -> Run:
    put(target, "m.purge", b"x" * 16, 300_000)
    yield
    told = ask(target, "POST", "/v1/queues/m.purge/purge", {})
    stay(target)
    return f"{told[0]} {told[1][:60]!r}"


@attack("mqks: deletes a queue of 300,000")
def deletes(target: Target) -> Run:
    put(target, "m.delete", b"x" * 16, 300_000)
    sock = target.connect("mqks", user=MALLORY)
    yield
    sock.sendall(b"d delete_queue --confirm m.delete\n")
    heard(sock, b"\n", target.left())
    stay(target)
    return "deleted"


def bind_patterns(target: Target, pattern: Callable[[int], object]) -> socket.socket:
    """The connection of a consumer with 2,000 queues, each with a pattern."""
    sock = target.connect("sevx", user=ADMIN)
    lines = []
    for number in range(2000):
        wish = {"pattern": pattern(number), "queue": f"m.p.{number}", "delete_queue_when_unused": False}
        lines.append(b"r%d recv %s\n" % (number, json.dumps(wish).encode()))
    sock.sendall(b"".join(lines) + b'done _ping {"data": 1}\n')
    heard(sock, b"done ok")
    return sock


@attack("sevx: 2,000 patterns that one event matches")
def patterns(target: Target) -> Run:
    sock = bind_patterns(target, lambda _: {"event": "m.p", "a": {"b": 1}})
    sender = target.connect("sevx", user=MALLORY)
    data = b's send {"event": "m.p", "a": {"b": 1}}\n' * 20
    yield
    rounds = shove_and_swallow(target, sender, data, 0.05, sock, sender)
    return f"{rounds * 20} sent"


@attack("sevx: 2,000 patterns that one event nearly matches")
def near_patterns(target: Target) -> Run:
    members = {f"k{n}": n for n in range(40)}
    sock = bind_patterns(target, lambda number: {"event": "m.p", "a": members | {"last": number % 7 + 1}})
    event = {"event": "m.p", "a": members | {"last": 0}}
    data = b"s send %s\n" % json.dumps(event).encode() * 200
    sender = target.connect("sevx", user=MALLORY)
    yield
    rounds = shove_and_swallow(target, sender, data, 0.02, sock, sender)
    return f"{rounds * 200} sent"


@attack("rq: broadcasts to 100 consumers")
def broadcasts(target: Target) -> Run:
    consumers = [target.connect("rq", user=MALLORY) for _ in range(100)]
    for sock in consumers:
        sock.sendall(b"\x01\xa0\x06m.cast\x14")
        heard(sock, b"\x18")
    sender = target.connect("rq", user=MALLORY)
    data = b"\x01\xa0\x06m.cast\xe0\x00\x00\x00\x10" + b"x" * 16 + b"\x0e"
    yield
    rounds = shove_and_swallow(target, sender, data * 500, 0.05, *consumers)
    return f"{rounds * 500:,} broadcasts"


def storms(name: str, method: str, path: str, user: str, body: object = None, queues: int = 0) -> None:
    """Repeats the same HTTP request over ten connections in turn."""

    @attack(name)
    def run(target: Target) -> Run:
        if queues:
            declare(target, {f"m.many.{number}": ["m.never"] for number in range(queues)})
        token = target.tokens[user] if user else ""
        request = request_of(method, path, b"" if body is None else json.dumps(body).encode(), token=token)
        yield
        count = 0
        answered = 0
        socks: list[socket.socket] = []
        while target.goes_on():
            socks = [sock for sock in socks if sock.fileno() >= 0]
            while len(socks) < 10:
                sock = socket.create_connection((HOST, target.ports["http"]), timeout=5)
                sock.sendall(request)
                socks.append(sock)
            for sock in select.select(socks, [], [], 0.2)[0]:
                try:
                    data = sock.recv(1 << 20)
                    if data:
                        answered += len(data)
                        if data.endswith((b"}", b"\n", b"\r\n0\r\n\r\n")):
                            count += 1
                            sock.sendall(request)
                        continue
                except OSError:
                    pass
                count += 1
                sock.close()
            time.sleep(PAUSE)
        for sock in socks:
            sock.close()
        return f"{count:,} answers, {mib(answered)}"


storms("http: /metrics, again and again", "GET", "/metrics", ADMIN, queues=2000)
storms("http: /healthz, again and again", "GET", "/healthz", "")
storms("http: /openapi.json of strangers, again and again", "GET", "/openapi.json", "")
storms("http: streams of samples, opened again and again", "GET", "/v1/live", MALLORY)
storms("http: lists of queues, 5,000 of them", "GET", "/v1/queues?limit=1000&sort=-ready", ADMIN, queues=5000)
storms("http: log offsets by time", "GET", "/v1/log/offsets?at=2026-01-01T00:00:00Z", MALLORY)
storms(
    "http: rosetta of a megabyte", "POST", "/v1/rosetta", NOBODY, {"queue": "q", "event": "e", "body": "\n" * 900_000}
)
storms("http: logins with a wrong password", "POST", "/v1/session", "", {"user": "victim", "password": "no"})
storms(
    "http: queues declared with 1,000 patterns",
    "PUT",
    "/v1/queues/m.put",
    ADMIN,
    {"patterns": [{"event": "m.put", "a": number} for number in range(1000)]},
)


@attack("http: searches a queue of 100,000")
def searches(target: Target) -> Run:
    put(target, "m.search", body_of(200), 100_000)
    request = request_of("GET", "/v1/queues/m.search/messages?limit=1000&search=zzz", token=target.tokens[MALLORY])
    yield
    count = 0
    with socket.create_connection((HOST, target.ports["http"]), timeout=5) as sock:
        while target.goes_on():
            sock.sendall(request)
            sock.settimeout(target.left())
            try:
                if not sock.recv(1 << 20):
                    break
            except OSError:
                break
            count += 1
    return f"{count} searches"


@attack("mqks: 500 connections, byte by byte")
def byte_by_byte(target: Target) -> Run:
    socks = [target.connect("mqks", user=MALLORY) for _ in range(500)]
    line = b"m publish m.slow x\n"
    yield
    sent = 0
    while target.goes_on():
        byte = line[sent % len(line) : sent % len(line) + 1]
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.sendall(byte)
        sent += 1
        time.sleep(PAUSE)
    return f"{sent * len(socks):,} bytes"


@attack("mqks: 500 half-closed connections, again and again")
def half_closed(target: Target) -> Run:
    yield
    count = 0
    socks: list[socket.socket] = []
    while target.goes_on():
        with contextlib.suppress(OSError):
            sock = target.connect("mqks")
            sock.sendall(hello("mqks", target.tokens[MALLORY]) + b"c consume m.half m.half\n")
            sock.shutdown(socket.SHUT_WR)
            socks.append(sock)
            count += 1
        if len(socks) > 500:
            socks.pop(0).close()
        time.sleep(PAUSE)
    return f"{count:,} connections"


@attack("mqmq: 5,000 gets that wait, timeouts of a millisecond")
def short_gets(target: Target) -> Run:
    socks = [target.connect("mqmq", user=MALLORY) for _ in range(50)]
    data = frame(b"Get", b"m.gets", b"1") * 2000
    yield
    for sock in socks:
        shove(target, sock, data)
    return f"{swallow(target, *socks):,} bytes answered"


@attack("http: 3,000 requests in one go, of a stranger")
def pipelines(target: Target) -> Run:
    ask_health = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"
    data = (ask_health + b"\r\n") * 2999 + ask_health + b"connection: close\r\n\r\n"
    yield
    rounds = answered = 0
    while target.goes_on():
        sock = target.connect("http")
        shove(target, sock, data)
        answered += swallow(target, sock)
        sock.close()
        rounds += 1
        time.sleep(PAUSE)
    return f"{rounds} times, {mib(answered)} answered"


@attack("http: a body in chunks of one byte")
def chunks(target: Target) -> Run:
    body = json.dumps({"queue": "m.chunks", "body": "x" * 50_000}).encode()
    head = request_of("POST", "/v1/publish", token=target.tokens[MALLORY])
    head = head.replace(b"content-length: 0", b"transfer-encoding: chunked")
    data = head + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    yield
    rounds = 0
    while target.goes_on():
        sock = target.connect("http")
        shove(target, sock, data)
        heard(sock, b"\r\n\r\n")
        sock.close()
        rounds += 1
    return f"{rounds} requests"


@attack("mqks: 20,000 consumers of a connection that goes")
def crowd_leaves(target: Target) -> Run:
    lines = b"".join(b"c%d consume m.crowd.%d m.never\n" % (number, number % 2000) for number in range(20_000))
    yield
    rounds = 0
    while target.goes_on():
        sock = target.connect("mqks", user=MALLORY)
        shove(target, sock, lines + b"end ping x\n")
        heard(sock, b"end ok x\n")
        sock.close()
        rounds += 1
        time.sleep(LEAVE_SECONDS)
    return f"{rounds} times"
