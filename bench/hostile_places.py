"""Attacks on shared resources: connections, slots, streams, names and ids that others need as well."""

from __future__ import annotations

import contextlib
import socket
import time

from bench.attacking import Target, hello, request_of, shove, stay, swallow
from bench.hostile_attacks import MALLORY, Run, attack, declare, heard
from bench.hostile_time import put
from bench.memory_backlog import body_of
from penstock.config import PROTOCOLS

DOORS = (*PROTOCOLS, "any")
WRONG = "pst_" + "a" * 8 + "_" + "b" * 43


def _opened(target: Target, protocol: str, count: int, addresses: int = 1) -> list[socket.socket]:
    socks = []
    for number in range(count):
        source = f"127.1.0.{number % addresses + 1}" if addresses > 1 else ""
        with contextlib.suppress(OSError):
            socks.append(target.connect(protocol, source=source))
    return socks


@attack("strangers: 150 silent connections, renewed")
def silent(target: Target) -> Run:
    yield
    socks: list[socket.socket] = []
    count = 0
    while target.goes_on():
        for sock in socks:
            sock.close()
        socks = _opened(target, "mqks", 150)
        count += len(socks)
        time.sleep(1)
    return f"{count} connections"


@attack("strangers: 150 silent connections at each door")
def silent_everywhere(target: Target) -> Run:
    yield
    socks = [sock for door in (*DOORS, "http") for sock in _opened(target, door, 150)]
    stay(target)
    return f"{len(socks)} connections"


def send_wrong_tokens(target: Target, protocol: str, data: bytes) -> str:
    count = 0
    while target.goes_on():
        socks = _opened(target, protocol, 110)
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.sendall(data)
                count += 1
        time.sleep(min(1.0, target.left()))
        for sock in socks:
            sock.close()
    return f"{count} tokens"


@attack("strangers: 110 wrong tokens at a time")
def wrong_tokens(target: Target) -> Run:
    yield
    return send_wrong_tokens(target, "mqks", hello("mqks", WRONG))


@attack("strangers: wrong tokens over HTTP")
def wrong_tokens_by_http(target: Target) -> Run:
    yield
    return send_wrong_tokens(target, "http", request_of("GET", "/v1/me", token=WRONG))


def slow_bodies(
    name: str, user: str, count: int, addresses: int = 1, settings: dict[str, object] | None = None
) -> None:
    @attack(name, settings=settings)
    def run(target: Target) -> Run:
        token = target.tokens[user] if user else ""
        request = request_of("POST", "/v1/publish", b"x" * 1000, token=token)[:-1000]
        yield
        socks = _opened(target, "http", count, addresses)
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.sendall(request)
        gone = 0
        while target.goes_on():
            time.sleep(min(1.0, target.left()))
            for sock in socks:
                try:
                    sock.sendall(b"x")
                except OSError:
                    gone += 1
        return f"{len(socks)} connections, {gone} writes refused"


slow_bodies("http: 1,010 slow bodies of a user", MALLORY, 1010)
slow_bodies("http: 1,010 slow bodies of strangers", "", 1010)
slow_bodies("http: 1,010 slow bodies of a user from twenty addresses", MALLORY, 1010, 20)
slow_bodies("http: 1,010 slow bodies where nobody is asked who they are", "", 1010, settings={"auth": "off"})


@attack("http: 1,010 slow heads")
def slow_heads(target: Target) -> Run:
    yield
    socks = _opened(target, "http", 1010)
    gone = 0
    while target.goes_on():
        for sock in socks:
            try:
                sock.sendall(b"G" if not gone else b"E")
            except OSError:
                gone += 1
        time.sleep(min(1.0, target.left()))
    return f"{len(socks)} connections, {gone} writes refused"


@attack("http: 16 unread streams of the log", visits=("log",))
def log_streams(target: Target) -> Run:
    put(target, "m.logged", body_of(100_000), 500)
    request = request_of("GET", "/v1/log?from=0", token=target.tokens[MALLORY])
    yield
    socks = [target.connect("http", buffer=4096) for _ in range(20)]
    for sock in socks:
        sock.sendall(request)
    stay(target)
    return f"{len(socks)} asked for"


@attack("http: 100 streams of samples", visits=("live",))
def live_streams(target: Target) -> Run:
    request = request_of("GET", "/v1/live", token=target.tokens[MALLORY])
    yield
    socks = _opened(target, "http", 120)
    for sock in socks:
        with contextlib.suppress(OSError):
            sock.sendall(request)
    stay(target)
    return f"{len(socks)} asked for"


@attack("mqks: 20,000 consumer ids")
def consumer_ids(target: Target) -> Run:
    declare(target, {"m.ids": ["m.ids"]})
    sock = target.connect("mqks", user=MALLORY)
    data = b"".join(b"c%d consume m.ids m.ids\n" % number for number in range(20_000))
    yield
    sent = shove(target, sock, data)
    return f"{sent:,} bytes sent, {swallow(target, sock):,} answered"


@attack("mqks: burns the deduplication ids of others", visits=("dedup",))
def burns_ids(target: Target) -> Run:
    declare(target, {"m.order": ["m.order"]})
    sock = target.connect("mqks", user=MALLORY)
    data = b"".join(b"pay-%d publish --confirm --dedup m.order x\n" % number for number in range(1000, 1200))
    yield
    sock.sendall(data + b"done ping x\n")
    heard(sock, b"done ok x\n", target.left())
    stay(target)
    return "200 ids"


@attack("mqks: a million deduplication ids", visits=("dedup",))
def many_ids(target: Target) -> Run:
    declare(target, {"m.order": ["m.order"]})
    sock = target.connect("mqks", user=MALLORY)
    chunks = [
        b"".join(b"id-%d publish --dedup m.none x\n" % number for number in range(first, first + 20_000))
        for first in range(0, 1_000_000, 20_000)
    ]
    yield
    count = 0
    for chunk in chunks:
        if not target.goes_on() or shove(target, sock, chunk) < len(chunk):
            break
        count += 20_000
    return f"{count:,} ids"
