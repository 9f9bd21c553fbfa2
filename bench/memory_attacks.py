"""Attacks by one client on a broker's memory. Each attack is given a broker, and returns in time.

An attack returns a short summary, so that one which did nothing is noticed. A client here has a handful of
connections here: `HANDFUL`.
"""

import http.client
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

from bench.attacking import READ, Target, mib, request_of, shove, shove_all, shove_on, stay, swallow
from bench.memory_backlog import DEAD, HEADED, HUGE, LARGE, LATER, MEDIUM, OTHERS, SMALL, body_of
from penstock.cli.load_protocols import frame, rq_payload

HANDFUL = 4
FULL = [HUGE, LARGE, MEDIUM, HEADED, SMALL, *OTHERS]  # queues that are not empty
LARGEST = 16 << 20  # body_size_max at 128 MiB: an eighth
EVERYTHING = 100_000


Attack = Callable[[Target], str]
ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    def register(function: Attack) -> Attack:
        ATTACKS[name] = function
        return function

    return register


# -- consumers --------------------------------------------------------------------------------------------------------


def consume_mqks(queues: list[str], manual: bool, prefix: bytes = b"c") -> bytes:
    flag = b"--manual-ack " if manual else b""
    return b"".join(
        b"%s%d consume %s%s event.%s\n" % (prefix, n, flag, q.encode(), q.encode()) for n, q in enumerate(queues)
    )


def consume_sevx(queues: list[str], manual: bool, prefix: bytes = b"c") -> bytes:
    lines = []
    for number, queue in enumerate(queues):
        wish = {"pattern": {"never": queue}, "queue": queue, "manual_ack": manual, "delete_queue_when_unused": False}
        lines.append(b"%s%d recv %s\n" % (prefix, number, json.dumps(wish).encode()))
    return b"".join(lines)


def consume_smqs(queues: list[str], manual: bool, prefix: bytes = b"c") -> bytes:
    return b"".join(b"C:%s:\n" % queue.encode() for queue in queues)


def consume_rq(queues: list[str], manual: bool, prefix: bytes = b"c") -> bytes:
    return b"".join(b"\x01\xa0%c%s\x62\xff\xff\x14" % (len(queue), queue.encode()) for queue in queues)


CONSUME: dict[str, Callable[[list[str], bool, bytes], bytes]] = {
    "mqks": consume_mqks,
    "sevx": consume_sevx,
    "smqs": consume_smqs,
    "rq": consume_rq,
}


def never_acks(protocol: str, queues: list[str], connections: int) -> Attack:
    def run(target: Target) -> str:
        socks = []
        for number in range(connections):
            sock = target.connect(protocol)
            sock.sendall(CONSUME[protocol](queues, True, b"c%d." % number))
            socks.append(sock)
        return f"{mib(swallow(target, *socks))} delivered"

    return run


def never_reads(protocol: str, queues: list[str], connections: int, manual: bool) -> Attack:
    def run(target: Target) -> str:
        socks = []
        for number in range(connections):
            sock = target.connect(protocol)
            sock.sendall(CONSUME[protocol](queues, manual, b"c%d." % number))
            socks.append(sock)
        stay(target)
        return f"{connections} connections"

    return run


for _protocol in CONSUME:
    ATTACKS[f"{_protocol}: reads all, acks nothing, small"] = never_acks(_protocol, [SMALL], 1)
    ATTACKS[f"{_protocol}: reads all, acks nothing, every queue"] = never_acks(_protocol, FULL, 1)
    ATTACKS[f"{_protocol}: reads nothing, every queue"] = never_reads(_protocol, FULL, HANDFUL, True)
    ATTACKS[f"{_protocol}: reads nothing, largest bodies"] = never_reads(_protocol, [HUGE], HANDFUL, False)
ATTACKS["rq: reads all, acks nothing, more connections"] = never_acks("rq", [SMALL, MEDIUM], 20)


@attack("mqks: a hundred consumers on one connection")
def many_consumers(target: Target) -> str:
    sock = target.connect("mqks")
    sock.sendall(b"".join(b"h%d consume --manual-ack huge event.huge\n" % number for number in range(100)))
    stay(target)
    return "reads nothing"


@attack("mqmq: gets without reading the answers")
def gets_unread(target: Target) -> str:
    sent = 0
    socks = []
    for queue in (HUGE, LARGE, MEDIUM, SMALL):
        sock = target.connect("mqmq")
        socks.append(sock)
        sock.setblocking(False)
        try:
            sent += sock.send(frame(b"Get", queue.encode(), b"5000") * 100_000)
        except OSError:
            continue
    stay(target)
    return f"{mib(sent)} of requests"


@attack("mqks: takes all and leaves, again and again")
def takes_and_leaves(target: Target) -> str:
    rounds = 0
    size = 0
    while target.goes_on():
        sock = target.connect("mqks")
        sock.sendall(consume_mqks([SMALL, MEDIUM, LARGE], True))
        end = time.time() + 1.5
        size += swallow(Target(target.ports, min(end, target.until), target.opened), sock)
        sock.close()
        rounds += 1
    return f"{rounds} rounds, {mib(size)}"


@attack("mqks: rejects everything, again and again")
def rejects(target: Target) -> str:
    return _settles_badly(target, [SMALL, MEDIUM, LARGE], b"")


@attack("mqks: rejects everything with a delay")
def rejects_with_delay(target: Target) -> str:
    return _settles_badly(target, [SMALL, MEDIUM], b" --delay=2")


@attack("mqks: gives everything up, dead letters")
def buries(target: Target) -> str:
    return _settles_badly(target, ["work.dead", "rejected"], b" --dead")


def _settles_badly(target: Target, queues: list[str], how: bytes) -> str:
    sock = target.connect("mqks")
    sock.sendall(consume_mqks(queues, True))
    buffer = b""
    count = 0
    answers = _Sender(target, sock)
    while target.goes_on():
        if not select.select([sock], [], [], 0.2)[0]:
            continue
        data = sock.recv(READ)
        if not data:
            return "closed by the broker"
        lines = (buffer + data).split(b"\n")
        buffer = lines.pop()
        parts = [line.split(b" ", 3) for line in lines if b" ok " in line[:12]]
        rejected = [b"r reject %s %s%s\n" % (part[0], part[2], how) for part in parts if len(part) > 3]
        count += len(rejected)
        answers.send(b"".join(rejected))
    return f"{count:,} rejected"


class _Sender:
    """Sends in a thread of its own, so that sending and reading do not block each other."""

    def __init__(self, target: Target, sock: socket.socket) -> None:
        self._target = target
        self._sock = sock
        self._waiting = bytearray()
        self._more = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def send(self, data: bytes) -> None:
        with self._more:
            self._waiting += data
            self._more.notify()

    def _run(self) -> None:
        while self._target.goes_on():
            with self._more:
                self._more.wait(0.1)
                data, self._waiting = bytes(self._waiting), bytearray()
            try:
                self._sock.sendall(data)
            except OSError:
                return


# -- publishers -------------------------------------------------------------------------------------------------------


def publish_mqks(queue: str, body: bytes, confirmed: bool) -> bytes:
    return b"m publish %sevent.%s %s\n" % (b"--confirm " if confirmed else b"", queue.encode(), body)


def publish_smqs(queue: str, body: bytes, confirmed: bool) -> bytes:
    return b"M:%s:%s\n" % (queue.encode(), body) + (b"S\n" if confirmed else b"")


def publish_sevx(queue: str, body: bytes, confirmed: bool) -> bytes:
    return b"m send %s\n" % body


def publish_mqmq(queue: str, body: bytes, confirmed: bool) -> bytes:
    return frame(b"Put", queue.encode(), body)


def publish_rq(queue: str, body: bytes, confirmed: bool) -> bytes:
    head = b"\x01\x80%s\xa0%c%s" % (struct.pack(">I", 1), len(queue), queue.encode())
    return head + rq_payload(body) + (b"\x21" if confirmed else b"") + b"\x0a"


PUBLISH: dict[str, Callable[[str, bytes, bool], bytes]] = {
    "mqks": publish_mqks,
    "smqs": publish_smqs,
    "sevx": publish_sevx,
    "mqmq": publish_mqmq,
    "rq": publish_rq,
}


def floods(protocol: str, size: int, connections: int, confirmed: bool, bound: bool = True) -> Attack:
    """Publishes the same body as often as the broker accepts it, and reads the responses."""

    def run(target: Target) -> str:
        if bound:
            binder = target.connect("mqks")
            binder.sendall(b"b consume --confirm flood event.flood\n")
            binder.recv(100)
            binder.close()
        data = PUBLISH[protocol]("flood", body_of(size), confirmed)
        data *= max(1, (1 << 18) // len(data))
        socks = [target.connect(protocol) for _ in range(connections)]
        threads = [threading.Thread(target=swallow, args=(target, sock)) for sock in socks]
        sent = [0] * connections

        def send(number: int) -> None:
            sock = socks[number]
            while target.goes_on():
                try:
                    sock.sendall(data)
                except OSError:
                    break
                sent[number] += len(data)

        threads += [threading.Thread(target=send, args=(number,), daemon=True) for number in range(connections)]
        for thread in threads:
            thread.daemon = True
            thread.start()
        for thread in threads:
            thread.join(target.left() + 0.5)
        return f"{mib(sum(sent))} sent"

    return run


LARGEST_OF = {"mqks": LARGEST - 100, "smqs": LARGEST - 100, "sevx": LARGEST - 100, "mqmq": LARGEST, "rq": LARGEST}
for _protocol in PUBLISH:
    _size = LARGEST_OF[_protocol] - 100
    ATTACKS[f"{_protocol}: publishes the largest bodies"] = floods(_protocol, _size, HANDFUL, False)
    ATTACKS[f"{_protocol}: publishes the largest bodies, confirmed"] = floods(_protocol, _size, HANDFUL, True)
    ATTACKS[f"{_protocol}: floods with 4 KiB bodies"] = floods(_protocol, 4096, HANDFUL, False)
ATTACKS["mqks: floods with 16-byte bodies"] = floods("mqks", 16, HANDFUL, False)
ATTACKS["smqs: floods with 1 MB bodies"] = floods("smqs", 1_000_000, HANDFUL, False)

UNFINISHED: dict[str, bytes] = {
    "mqks": b"m publish event.flood ",
    "smqs": b"M:flood:",
    "sevx": b"m send ",
    "mqmq": struct.pack(">II", LARGEST, 3) + b"Put" + struct.pack(">I", 5) + b"flood" + struct.pack(">I", LARGEST - 32),
    "rq": b"\x01\xa0\x05flood" + struct.pack(">BI", 0xE0, LARGEST),
    "any": b"m publish event.flood ",
}


def leaves_unfinished(protocol: str) -> Attack:
    def run(target: Target) -> str:
        size = LARGEST if protocol in ("mqmq", "rq") else LARGEST * 3 // 2 - (1 << 20)
        data = UNFINISHED[protocol] + b"x" * (size - 200)
        sent = shove_all(target, [target.connect(protocol) for _ in range(HANDFUL)], data)
        stay(target)
        return f"{mib(sent)} sent"

    return run


for _protocol in UNFINISHED:
    ATTACKS[f"{_protocol}: largest requests, unfinished"] = leaves_unfinished(_protocol)


@attack("smqs: many queues, one small message each")
def many_queues(target: Target) -> str:
    sock = target.connect("smqs")
    number = 0
    while target.goes_on() and number < 95_000:
        chunk = b"".join(b"M:many.%d:%s\n" % (n, b"x" * 100) for n in range(number, number + 1000))
        if shove(target, sock, chunk) < len(chunk):
            break
        number += 1000
    stay(target)
    return f"{number:,} queues"


@attack("smqs: two hundred queues, some megabytes each")
def many_long_queues(target: Target) -> str:
    sock = target.connect("smqs")
    body = body_of(10_000)
    sent = 0
    number = 0
    while target.goes_on():
        chunk = b"M:wide.%d:%s\n" % (number % 200, body) * 20
        sent += shove(target, sock, chunk)
        number += 1
    return f"{mib(sent)} sent"


@attack("smqs: takes a little of two hundred long queues")
def many_long_queues_read(target: Target) -> str:
    sock = target.connect("smqs")
    body = body_of(10_000)
    half = Target(target.ports, target.until - target.left() / 2, target.opened)
    number = 0
    while half.goes_on():
        shove(half, sock, b"M:wide.%d:%s\n" % (number % 200, body) * 20)
        number += 1
    gets = target.connect("mqmq")
    count = 0
    reader = threading.Thread(target=swallow, args=(target, gets), daemon=True)
    reader.start()
    while target.goes_on():
        gets.sendall(b"".join(frame(b"Get", b"wide.%d" % n, b"1") for n in range(200)))
        count += 200
        time.sleep(0.02)
    return f"{number * 20:,} put, {count:,} asked for"


@attack("mqks: delayed messages in masses")
def delays(target: Target) -> str:
    sock = target.connect("mqks")
    sock.sendall(b"b consume --confirm later event.later\nd delete_consumer b\n")
    sock.recv(100)
    body = body_of(2000)
    count = 0
    while target.goes_on():
        data = b"".join(b"m%d publish --delay=%d event.later %s\n" % (count + n, 2 + n % 8, body) for n in range(200))
        if shove(target, sock, data) < len(data):
            break
        count += 200
    return f"{count:,} sent"


@attack("rq: requests that nobody serves")
def unserved_requests(target: Target) -> str:
    socks = [target.connect("rq") for _ in range(HANDFUL)]
    count = 0
    readers = [threading.Thread(target=swallow, args=(target, sock), daemon=True) for sock in socks]
    for reader in readers:
        reader.start()
    payload = rq_payload(b"x" * 2000)
    while target.goes_on():
        groups = [
            b"\x01\x80%s\xa0\x08unserved%s\x0a" % (struct.pack(">I", (count + n) % (1 << 31)), payload)
            for n in range(200)
        ]
        data = b"".join(groups)
        if shove(target, socks[count // 200 % HANDFUL], data) < len(data):
            break
        count += 200
    return f"{count:,} requests"


@attack("rq: broadcasts to consumers that read nothing")
def broadcasts(target: Target) -> str:
    consumers = [target.connect("rq") for _ in range(8)]
    for sock in consumers:
        sock.sendall(consume_rq(["cast"], True))
    sender = target.connect("rq")
    data = b"\x01\xa0\x04cast" + rq_payload(b"x" * (8 << 20)) + b"\x0e"
    count = shove_on(target, sender, data) // len(data)
    return f"{count} of 8 MiB"


@attack("mqks: one event to a thousand queues")
def fans_out(target: Target) -> str:
    sock = target.connect("mqks")
    sock.sendall(b"".join(b"f%d consume fan.%d event.fan\nd delete_consumer f%d\n" % (n, n, n) for n in range(1000)))
    data = b"m publish event.fan %s\n" % body_of(4096) * 20
    return f"{shove_on(target, sock, data) // len(data) * 20:,} published"


@attack("mqks: one event to consumers that read nothing, largest body")
def fans_out_largest(target: Target) -> str:
    consumers = [target.connect("mqks") for _ in range(HANDFUL)]
    for number, sock in enumerate(consumers):
        sock.sendall(b"w%d consume --confirm wide.%d event.wide\n" % (number, number))
        sock.recv(100)
    sender = target.connect("mqks")
    data = b"m publish event.wide %s\n" % body_of(LARGEST - 200)
    count = shove_on(target, sender, data) // len(data)
    return f"{count} published"


# -- walks ------------------------------------------------------------------------------------------------------------


def redrives(protocol: str, queue: str, wish: str) -> Attack:
    def run(target: Target) -> str:
        sock = target.connect(protocol)
        count = 0
        data = b""
        while target.goes_on():
            if protocol == "mqks":
                sock.sendall(b"r redrive %s %s\n" % (queue.encode(), wish.encode()))
            else:
                sock.sendall(b'r redrive {"queue":"%s",%s}\n' % (queue.encode(), wish.encode()))
            sock.settimeout(target.left())
            try:
                data = sock.recv(READ)
            except TimeoutError:
                break
            count += 1
        return f"{count} times, {data[:60]!r}"

    return run


ATTACKS["mqks: redrive --limit=1 of what is not dead"] = redrives("mqks", SMALL, "--limit=1")
ATTACKS["mqks: redrive --dry-run of everything"] = redrives("mqks", MEDIUM, "--limit=100000 --dry-run")
ATTACKS["mqks: redrive of the largest bodies"] = redrives("mqks", HUGE, "--limit=100000")
ATTACKS["mqks: redrive of dead letters"] = redrives("mqks", DEAD, "--limit=100000")
ATTACKS["mqks: redrive --to another queue"] = redrives("mqks", MEDIUM, "--limit=100000 --to=elsewhere")
ATTACKS["sevx: redrive of what is not dead"] = redrives("sevx", SMALL, '"limit":1')


# -- HTTP -------------------------------------------------------------------------------------------------------------


def asks(*requests: tuple[str, str, object], repeat: bool = True) -> Attack:
    """Sends requests one after the other, repeatedly; responses are read and discarded."""

    def run(target: Target) -> str:
        statuses: dict[int, int] = {}
        size = 0
        for method, path, body in _again(requests, repeat):
            if not target.goes_on():
                break
            connection = http.client.HTTPConnection("127.0.0.1", target.ports["http"], timeout=target.left())
            data = None if body is None else json.dumps(body).encode()
            try:
                connection.request(method, path, data, {"content-type": "application/json"})
                response = connection.getresponse()
                while more := response.read(READ):
                    size += len(more)
                statuses[response.status] = statuses.get(response.status, 0) + 1
            except TimeoutError:
                break
            finally:
                connection.close()
        return f"{statuses}, {mib(size)} of answers"

    return run


def _again(requests: tuple[tuple[str, str, object], ...], repeat: bool) -> Iterator[tuple[str, str, object]]:
    while True:
        yield from requests
        if not repeat:
            return


def asks_unread(connections: int, *requests: tuple[str, str, object]) -> Attack:
    """Sends all requests at once and does not read the responses."""

    def run(target: Target) -> str:
        socks = []
        for number in range(connections):
            method, path, body = requests[number % len(requests)]
            sock = target.connect("http", buffer=4096)
            sock.sendall(request_of(method, path, b"" if body is None else json.dumps(body).encode()))
            socks.append(sock)
        stay(target)
        return f"{connections} unread"

    return run


def _lease(queue: str, limit: int = EVERYTHING) -> tuple[str, str, object]:
    return ("POST", f"/v1/queues/{queue}/leases", {"limit": limit, "seconds": 600})


def _browse(queue: str, more: str = "") -> tuple[str, str, object]:
    return ("GET", f"/v1/queues/{queue}/messages?limit=1000&body_max=16777216{more}", None)


ATTACKS["http: one lease of 100,000 small"] = asks(_lease(SMALL), repeat=False)
ATTACKS["http: one lease of 100,000 medium"] = asks(_lease(MEDIUM), repeat=False)
ATTACKS["http: one lease of 100,000 large"] = asks(_lease(LARGE), repeat=False)
ATTACKS["http: one lease of the largest bodies"] = asks(_lease(HUGE), repeat=False)
ATTACKS["http: one lease of large headers"] = asks(_lease(HEADED), repeat=False)
ATTACKS["http: leases until none is left"] = asks(_lease(MEDIUM), _lease(LARGE), _lease(SMALL), _lease(HUGE))
ATTACKS["http: leases, unread"] = asks_unread(8, _lease(MEDIUM), _lease(LARGE), _lease(SMALL), _lease(HUGE))
ATTACKS["http: browses, bodies whole"] = asks(_browse(HUGE), _browse(LARGE), _browse(MEDIUM), _browse(HEADED))
ATTACKS["http: browses, bodies whole, unread"] = asks_unread(8, _browse(LARGE), _browse(HUGE), _browse(HEADED))
ATTACKS["http: searches for what is not there"] = asks(
    *[_browse(queue, "&search=zzz") for queue in (SMALL, MEDIUM, LARGE)]
)
ATTACKS["http: searches the delayed"] = asks(_browse(LATER, "&search=zzz"))
ATTACKS["http: moves everything"] = asks(
    *[("POST", f"/v1/queues/{q}/move", {"to": "elsewhere", "limit": EVERYTHING}) for q in (SMALL, MEDIUM, LARGE, HUGE)]
)
ATTACKS["http: moves by a search"] = asks(
    ("POST", f"/v1/queues/{SMALL}/move", {"to": "elsewhere", "limit": EVERYTHING, "search": "0123"})
)
ATTACKS["http: moves nothing by a search"] = asks(
    ("POST", f"/v1/queues/{MEDIUM}/move", {"to": "elsewhere", "limit": EVERYTHING, "search": "zzz"})
)
ATTACKS["http: copies everything"] = asks(
    *[("POST", f"/v1/queues/{q}/copy", {"to": "elsewhere", "limit": EVERYTHING}) for q in (MEDIUM, LARGE, HUGE, SMALL)]
)
ATTACKS["http: redrives, really and as a dry run"] = asks(
    ("POST", f"/v1/queues/{SMALL}/redrive", {"limit": 1}),
    ("POST", f"/v1/queues/{MEDIUM}/redrive", {"limit": EVERYTHING, "dry_run": True}),
    ("POST", f"/v1/queues/{MEDIUM}/redrive", {"limit": EVERYTHING, "to": "elsewhere"}),
    ("POST", f"/v1/queues/{DEAD}/redrive", {"limit": EVERYTHING}),
)
ATTACKS["http: purges everything"] = asks(
    *[("POST", f"/v1/queues/{queue}/purge", {}) for queue in (SMALL, MEDIUM, LARGE, HUGE, DEAD)], repeat=False
)
ATTACKS["http: deletes every queue"] = asks(*[("DELETE", f"/v1/queues/{queue}", None) for queue in FULL], repeat=False)
ATTACKS["http: reads the log"] = asks(("GET", "/v1/log", None))
ATTACKS["http: the log, unread"] = asks_unread(8, ("GET", "/v1/log", None))
ATTACKS["http: live samples, unread"] = asks_unread(20, ("GET", "/v1/live?queues=100", None), ("GET", "/v1/live", None))
ATTACKS["http: lists and metrics, unread"] = asks_unread(
    20, ("GET", "/metrics", None), ("GET", "/metrics/detail", None), ("GET", "/v1/queues?limit=1000", None)
)


def posts(path: str, size: int, connections: int, finished: bool, last: str = "") -> Attack:
    """The largest bodies that HTTP accepts, over several connections at once."""

    def run(target: Target) -> str:
        body = b'{"queue":"posted","body":"%s%s"}' % (b"x" * size, last.encode())
        request = request_of("POST", path, body)
        sent = 0
        rounds = 0
        while target.goes_on():
            socks = [target.connect("http") for _ in range(connections)]
            sent += shove_all(target, socks, request if finished else request[:-100])
            if not finished:
                stay(target)
            for sock in socks:
                sock.setblocking(True)
                sock.settimeout(target.left())
                try:
                    sock.recv(READ)
                except OSError:
                    pass
                sock.close()
            rounds += 1
        return f"{rounds} rounds, {mib(sent)} sent"

    return run


ATTACKS["http: posts the largest bodies"] = posts("/v1/publish", LARGEST - 200, HANDFUL, True)
ATTACKS["http: posts the largest bodies, unfinished"] = posts("/v1/publish", 23 << 20, 8, False)
ATTACKS["http: posts the largest bodies, wide characters"] = posts("/v1/publish", LARGEST - 200, 1, True, "\U0001f600")
ATTACKS["http: stages the largest bodies"] = posts("/v1/stages", LARGEST - 200, 1, True)


@attack("http: stages until it is refused, and commits")
def stages(target: Target) -> str:
    body = json.dumps({"queue": "staged", "body": "x" * 2_000_000}).encode()
    committed = 0
    batch = int(time.time())
    statuses: dict[int, int] = {}
    while target.goes_on():
        ids: list[str] = []
        while target.goes_on() and len(ids) < 30:
            status, answer = _ask(target, "POST", "/v1/stages", body)
            statuses[status] = statuses.get(status, 0) + 1
            if status != 201:
                break
            ids.append(json.loads(answer)["stage"])
        while ids:
            batch += 1
            wanted = {"writer": "w", "batch": batch, "stages": ids}
            status, _ = _ask(target, "POST", "/v1/commits", json.dumps(wanted).encode())
            statuses[status] = statuses.get(status, 0) + 1
            if status < 300:
                committed += len(ids)
                break
            if not target.goes_on():
                break
            ids = ids[: len(ids) // 2]
    return f"{committed} of 2 MB committed, {statuses}"


def _ask(target: Target, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", target.ports["http"], timeout=target.left() + 5)
    try:
        connection.request(method, path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@attack("a large un-acked set, while segments end")
def unacked_and_snapshots(target: Target) -> str:
    """Snapshots are taken when a segment ends; they include the unacked messages."""
    sock = target.connect("mqks")
    sock.sendall(consume_mqks([SMALL, MEDIUM], True))
    threading.Thread(target=swallow, args=(target, sock), daemon=True).start()
    return floods("mqks", 4096, 2, False)(target)
