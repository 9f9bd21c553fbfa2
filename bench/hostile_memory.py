"""Attacks on memory: holding messages, sending partial requests, not reading responses, binding."""

from __future__ import annotations

import json
import struct
import threading

from bench.attacking import Target, mib, request_of, shove, shove_all, shove_on, stay, swallow
from bench.hostile_attacks import MALLORY, Run, ask, attack, declare, heard
from bench.hostile_time import put
from bench.memory_backlog import body_of

MEGABYTE = 1_000_000


@attack("mqks: 1,100 queues bound to one event, read, never acked")
def holds_what_is_shared(target: Target) -> Run:
    sock = target.connect("mqks", user=MALLORY)
    lines = [b"f%d consume --manual-ack m.fan.%d m.fan\n" % (number, number) for number in range(1100)]
    sock.sendall(b"".join(lines) + b"done ping x\n")
    heard(sock, b"done ok x\n")
    sender = target.connect("mqks", user=MALLORY)
    data = b"m publish m.fan %s\n" % body_of(MEGABYTE)
    yield
    sent = shove(target, sender, data * 2)
    return f"{mib(sent)} sent, {mib(swallow(target, sock))} given"


def leases(name: str, size: int, count: int) -> None:
    @attack(f"http: leases of a large queue, {name}")
    def run(target: Target) -> Run:
        put(target, "m.lease", body_of(size), count)
        yield
        told: list[int] = []
        got = 0
        while target.goes_on():
            try:
                status, data = ask(target, "POST", "/v1/queues/m.lease/leases", {"limit": 100_000, "seconds": 60})
            except OSError:
                break
            told.append(status)
            got += len(data)
        return f"{len(told)} leases {sorted(set(told))}, {mib(got)}"


leases("300 MB in bodies of 100 kB", 100_000, 3000)
leases("200,000 bodies of 100 bytes", 100, 200_000)


def heads(name: str, body: dict[str, object], headers: dict[str, str]) -> None:
    @attack(f"http: empty messages with {name}", bulky=True)
    def run(target: Target) -> Run:
        data = json.dumps({**body, "headers": headers}).encode()
        yield
        told: dict[int, int] = {}
        for _ in range(25):
            if not target.goes_on():
                break
            try:
                status = ask(target, "POST", "/v1/publish", data)[0]
            except OSError:
                break
            told[status] = told.get(status, 0) + 1
        stay(target)
        return f"{told} for {mib(len(data))} each"


heads("40 MiB of headers", {"queue": "m.heads", "body": ""}, {"a": "x" * (40 << 20)})
heads("15 MiB of headers", {"queue": "m.heads", "body": ""}, {"a": "x" * (15 << 20)})
heads("900 KiB in 3,000 headers", {"queue": "m.heads", "body": ""}, {f"h{n}": "x" * 300 for n in range(3000)})


@attack("rq: large replies to a requester that does not read")
def replies_unread(target: Target) -> Run:
    consumer = target.connect("rq", user=MALLORY)
    consumer.sendall(b"\x01\xa0\x04m.rq\x14")
    heard(consumer, b"\x18")
    requester = target.connect("rq", buffer=4096, user=MALLORY)
    requests = b"".join(
        b"\x01\x80%s\xa0\x04m.rq\xe0\x00\x00\x00\x01x\x0a" % struct.pack(">I", number) for number in range(1000)
    )
    payload = b"\xe0" + struct.pack(">I", MEGABYTE) + b"x" * MEGABYTE
    yield
    shove(target, requester, requests)
    threading.Thread(target=swallow, args=(target, consumer), daemon=True).start()
    sent = 0
    for number in range(1000):
        reply = b"\x01\x80" + struct.pack(">I", number) + payload + b"\x0b"
        more = shove(target, consumer, reply)
        sent += more
        if more < len(reply):
            break
    stay(target)
    return f"{mib(sent)} of replies sent"


@attack("http: 20 browses of everything, unread")
def browses_unread(target: Target) -> Run:
    put(target, "m.browse", body_of(MEGABYTE), 60)
    path = "/v1/queues/m.browse/messages?limit=1000&body_max=16777216"
    request = request_of("GET", path, token=target.tokens[MALLORY])
    yield
    socks = [target.connect("http", buffer=4096) for _ in range(20)]
    for sock in socks:
        sock.sendall(request)
    stay(target)
    return f"{len(socks)} unread"


def unfinished(name: str, protocol: str, data: bytes, connections: int) -> None:
    @attack(name, bulky=True)
    def run(target: Target) -> Run:
        socks = [target.connect(protocol, user=MALLORY) for _ in range(connections)]
        yield
        sent = shove_all(target, socks, data)
        stay(target)
        return f"{mib(sent)} sent"


unfinished("mqks: 20 unfinished lines of 47 MiB", "mqks", b"m publish m.event " + b"x" * (47 << 20), 20)
unfinished(
    "rq: 20 unfinished payloads of 30 MiB", "rq", b"\x01\xa0\x04m.rq\xe0\x01\xe0\x00\x00" + b"x" * (29 << 20), 20
)


def binds(name: str, queues: int, events: int) -> None:
    @attack(name)
    def attacks(target: Target) -> Run:
        sock = target.connect("mqks", user=MALLORY)
        lines = []
        for queue in range(queues):
            names = b" ".join(b"m.ev.%d.%d" % (queue, number) for number in range(events))
            lines.append(b"b%d consume --confirm m.bound.%d %s\n" % (queue, queue, names))
        data = b"".join(lines)
        yield
        sent = shove(target, sock, data)
        return f"{mib(sent)} sent, {swallow(target, sock)} bytes answered"


binds("mqks: 40 queues with 9,999 events each, which is refused", 40, 9999)
binds("mqks: 200 queues with 2,000 events each", 200, 2000)


@attack("mqks: publisher beside an idle consumer, --memory", settings={"memory": True})
def idle_consumer(target: Target) -> Run:
    consumer = target.connect("mqks", buffer=4096, user=MALLORY)
    consumer.sendall(b"i consume --confirm --manual-ack m.idle m.idle\n")
    heard(consumer, b"i ok \n")
    sender = target.connect("mqks", user=MALLORY)
    data = b"m publish m.idle %s\n" % body_of(4096) * 64
    yield
    return f"{mib(shove_on(target, sender, data))} sent"


@attack("mqks: twenty connections read nothing of large queues")
def reads_nothing(target: Target) -> Run:
    put(target, "m.large", body_of(MEGABYTE), 100)
    socks = [target.connect("mqks", buffer=4096, user=MALLORY) for _ in range(20)]
    yield
    for number, sock in enumerate(socks):
        sock.sendall(b"u%d consume --manual-ack m.large m.large\n" % number)
    stay(target)
    return "20 connections"


@attack("mqks: 30,000 un-acked of 4 KiB, held")
def holds(target: Target) -> Run:
    put(target, "m.hold", body_of(4096), 30_000)
    sock = target.connect("mqks", user=MALLORY)
    yield
    sock.sendall(b"h consume --manual-ack m.hold m.hold\n")
    return f"{mib(swallow(target, sock))} given"


@attack("http: stages of 2 MB until it is refused")
def stages(target: Target) -> Run:
    data = json.dumps({"queue": "m.staged", "body": "x" * 2_000_000}).encode()
    yield
    told: dict[int, int] = {}
    while target.goes_on() and sum(told.values()) < 200:
        try:
            status = ask(target, "POST", "/v1/stages", data)[0]
        except OSError:
            break
        told[status] = told.get(status, 0) + 1
    stay(target)
    return f"{told}"


@attack("mqks: largest bodies to a thousand queues", bulky=True)
def fans_out(target: Target) -> Run:
    declare(target, {f"m.wide.{number}": ["m.wide"] for number in range(1000)})
    sock = target.connect("mqks", user=MALLORY)
    data = b"m publish m.wide %s\n" % body_of(20 << 20)
    yield
    return f"{mib(shove_on(target, sock, data))} sent"
