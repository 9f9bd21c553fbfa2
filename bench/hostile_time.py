"""Attacks on the event loop: requests that cost much more than their size, and floods of cheap ones."""

from __future__ import annotations

import json
import socket
import threading
import time

from bench.attacking import HOST, READ, Target, mib, request_of, shove, shove_and_swallow, shove_on, swallow
from bench.hostile_attacks import ADMIN, MALLORY, NOBODY, Run, ask, attack, declare, heard
from bench.memory_backlog import read_exactly
from penstock.cli.load_protocols import frame


@attack("control: computes, and never talks to the broker", control=True)
def computes(target: Target) -> Run:
    yield
    rounds = 0
    while target.goes_on():
        sum(range(10_000))
        rounds += 1
    return f"{rounds:,} rounds"


@attack("control: moves bytes past the broker", control=True, bulky=True)
def moves_bytes(target: Target) -> Run:
    with socket.create_server((HOST, 0)) as server:
        sender = socket.create_connection(server.getsockname())
        receiver, _ = server.accept()
    moved = 0

    def receive() -> None:
        nonlocal moved
        while more := len(receiver.recv(READ)):
            moved += more

    taker = threading.Thread(target=receive)
    taker.start()
    data = b"x" * (16 << 20)
    yield
    while target.goes_on():
        sender.sendall(data)
    sender.close()
    taker.join()
    receiver.close()
    return f"{mib(moved)} moved"


@attack("smqs: S pipelined, 5,000 queues, no right to see them")
def statistics_of_many(target: Target) -> Run:
    declare(target, {f"m.many.{number}": ["m.never"] for number in range(5000)})
    sock = target.connect("smqs", user=NOBODY)
    data = b"S\n" * 20_000
    yield
    sent = shove(target, sock, data)
    return f"{sent // 2:,} asked, {mib(swallow(target, sock))} answered"


def put(target: Target, queue: str, body: bytes, count: int) -> None:
    """Puts messages into a queue, confirmed, before the attack."""
    sock = target.connect("mqmq", user=ADMIN)
    sock.settimeout(60)
    data = frame(b"Put", queue.encode(), body)
    many = max(1, (1 << 20) // len(data))
    left = count
    while left:
        now = min(left, many)
        sock.sendall(data * now)
        read_exactly(sock, now * len(frame(b"OK")))
        left -= now
    sock.close()


@attack("mqks: redrive --dry-run pipelined, 30,000 messages")
def redrives_dry(target: Target) -> Run:
    put(target, "m.dead", b"x" * 100, 30_000)
    sock = target.connect("mqks", user=MALLORY)
    data = b"r redrive m.dead --limit=100000 --to=m.dead.else --dry-run\n" * 200
    yield
    sent = shove(target, sock, data)
    return f"{sent:,} bytes sent, {swallow(target, sock):,} answered"


@attack("mqks: 6 MiB of x")
def lines_of_nothing(target: Target) -> Run:
    sock = target.connect("mqks", user=MALLORY)
    data = b"x\n" * (3 << 20)
    yield
    return f"{mib(shove(target, sock, data))} sent"


@attack("mqks: 6 MiB of x, of a user without rights, answers read")
def lines_of_nothing_read(target: Target) -> Run:
    sock = target.connect("mqks", user=NOBODY)
    data = b"x\n" * (1 << 19)
    yield
    sent = 0
    while target.goes_on():
        more = shove(target, sock, data[: 1 << 18])
        sent += more
        if not more:
            break
        short = Target(target.ports, min(target.until, time.time() + 0.05))
        swallow(short, sock)
    return f"{mib(sent)} sent"


def floods(name: str, line: bytes, user: str = MALLORY, protocol: str = "mqks", bound: str = "") -> None:
    @attack(name)
    def run(target: Target) -> Run:
        if bound:
            declare(target, {bound: [bound]})
        sock = target.connect(protocol, user=user)
        data = line * ((1 << 18) // len(line))
        yield
        return f"{mib(shove_on(target, sock, data))} sent"


floods("mqks: plain publish flood, nobody listens", b"m publish m.event 0123456789abcdef\n")
floods("mqks: plain publish flood into a queue", b"m publish m.flood 0123456789abcdef\n", bound="m.flood")
floods("mqks: publish flood that is denied", b"m publish other.event 0123456789abcdef\n")
floods("smqs: puts in masses", b"M:m.smqs:0123456789abcdef\n", protocol="smqs", bound="m.smqs")


def evaluates(name: str, *expressions: bytes) -> None:
    @attack(f"mqks: _eval, {name}")
    def run(target: Target) -> Run:
        declare(target, {f"m.eval.{number}": ["m.never"] for number in range(200)})
        sock = target.connect("mqks", user=ADMIN)
        data = b"".join(b"e _eval %s\n" % expression for expression in expressions)
        yield
        count = 0
        while target.goes_on():
            if shove(target, sock, data) < len(data):
                break
            sock.setblocking(True)
            sock.settimeout(target.left())
            try:
                heard_lines = sock.recv(1 << 20).count(b"\n")
            except OSError:
                break
            count += heard_lines
        return f"{count} answered"


LONG_TEXT = b"''.join(['%b' for q in state.queues])" % (b"a" * 300)  # 60,000 characters
LONG_LIST = b"[1 for q in state.queues for r in 'abcdefghij']"
evaluates(
    "texts that are searched",
    b"[0 for t in [%b] for u in ['%bb'] for q in state.queues if u in t]" % (LONG_TEXT, b"a" * 98),
    b"[0 for t in ['%b'] for u in ['%bb%b'] for q in state.queues if u in t]" % (b"a" * 1999, b"a" * 500, b"a" * 499),
)
evaluates(
    "others that may cost more than they say",
    b"[0 for t in [%b] for u in [%b] for q in state.queues if t == u]" % (LONG_TEXT, LONG_TEXT),
    b"[0 for t in [%b] for u in [t + 'b'] for q in state.queues if u in t]" % LONG_TEXT,
    b"[t.join(state.queues) for t in [%b] for q in state.queues]" % LONG_TEXT,
    b"sorted([q for q in state.queues for r in state.queues])",
    b"[[[q for q in state.queues] for r in state.queues] for s in state.queues]",
    b"[0 for t in [%b] for u in [t + [2]] for q in state.queues if t + [3] == u]" % LONG_LIST,
    b"[0 for t in [%b] for q in state.queues if 2 in t]" % LONG_LIST,
    b"sum([sum([sum([1 for q in state.queues]) for q in state.queues]) for q in state.queues])",
    b"[str(t) for t in [[1.1e-300 for q in state.queues for r in 'abcdefghij']] for q in state.queues]",
    b"[0 for q in state.queues for r in state.queues if max([q, r]) == min([r, q])]",
)


def _large_json(kind: str) -> bytes:
    if kind == "numbers":
        return b'{"event":"m.json","a":[' + b"0," * (14 << 20) + b"0]}"
    if kind == "members":
        return b'{"event":"m.json","a":{' + b",".join(b'"%d":{}' % number for number in range(1_500_000)) + b"}}"
    if kind == "empty lists":
        return b'{"event":"m.json","a":[' + b"[]," * (9 << 20) + b"[]]}"
    return b'{"event":"m.json","a":' + b"[" * 900 + b"]" * 900 + b"}"


for _kind in ("numbers", "members", "empty lists"):

    @attack(f"sevx: one large JSON after the other, {_kind}", bulky=True)
    def large_json(target: Target, kind: str = _kind) -> Run:
        sock = target.connect("sevx", user=MALLORY)
        data = b"j send " + _large_json(kind) + b"\n"
        yield
        rounds = 0
        while target.goes_on():
            if shove(target, sock, data) < len(data):
                break
            rounds += 1
            sock.setblocking(True)
            sock.settimeout(target.left())
            try:
                if not sock.recv(1000):
                    return f"closed after {rounds} of {mib(len(data))}"
            except OSError:
                break
        return f"{rounds} of {mib(len(data))}"

    @attack(f"http: one large JSON after the other, {_kind}", bulky=True)
    def large_json_by_http(target: Target, kind: str = _kind) -> Run:
        data = _large_json(kind)
        yield
        told: list[int] = []
        while target.goes_on():
            try:
                told.append(ask(target, "POST", "/v1/publish", data)[0])
            except OSError:
                break
        return f"{told[:5]} for {mib(len(data))}"


@attack("http: 1.5 million headers in one publish", bulky=True)
def many_headers(target: Target) -> Run:
    headers = {f"h{number}": "" for number in range(1_500_000)}
    data = json.dumps({"event": "m.headers", "body": "x", "headers": headers}).encode()
    del headers
    yield
    told: list[int] = []
    while target.goes_on():
        try:
            told.append(ask(target, "POST", "/v1/publish", data)[0])
        except OSError:
            break
    return f"{told[:5]} for {mib(len(data))}"


@attack("mqmq: Info pipelined, 5,000 queues")
def infos(target: Target) -> Run:
    declare(target, {f"m.many.{number}": ["m.never"] for number in range(5000)})
    sock = target.connect("mqmq", user=NOBODY)
    data = frame(b"Info") * 2000
    yield
    sent = shove(target, sock, data)
    return f"{sent:,} bytes sent, {mib(swallow(target, sock))} answered"


@attack("mqks: pings pipelined")
def pings(target: Target) -> Run:
    sock = target.connect("mqks", user=NOBODY)
    data = b"p ping x\n" * 20_000
    yield
    return f"{shove_and_swallow(target, sock, data, 0.02, sock) * 20_000:,} sent"


@attack("http: requests pipelined on one connection")
def pipelined_http(target: Target) -> Run:
    sock = target.connect("http")
    data = request_of("GET", "/v1/me", token=target.tokens[NOBODY]) * 500
    yield
    return f"{shove_and_swallow(target, sock, data, 0.05, sock) * 500:,} sent"


__all__ = ["heard", "put"]
