"""The fuzzer's knowledge of each protocol: whole requests, pieces of requests, and how to frame bytes.

Requests share a handful of names across all protocols (queues q0..q2, events e0..e2, ...), so that clients affect each
other. Message ids that the broker assigns are `i.1`, `i.2`, ...: requests may use those as well.
"""

from collections.abc import Callable
from typing import Final

PROTOCOLS: Final = ("mqks", "smqs", "sevx", "mqmq", "rq")

NUMBERS: Final = (0, 1, 2)
BODIES: Final = (b"x", b"two words", b'{"a": 1}', b"\xff\x00", b"B" * 70, b"C" * 1100)
TIMEOUTS: Final = (b"1", b"50", b"-5", b"3600000")

# -- frames -----------------------------------------------------------------------------------------------------------


def mqmq_frame(*values: bytes) -> bytes:
    body = b"".join(len(value).to_bytes(4, "big") + value for value in values)
    return len(body).to_bytes(4, "big") + body


def rq_command(code: int, argument: bytes = b"") -> bytes:
    """One command with the argument its code requires: cut or padded for a number, length-prefixed for a string."""
    kind = code >> 5
    if kind < 2:
        return bytes([code])
    size = (1, 2, 4)[(kind - 2) % 3]
    if kind < 5:
        return bytes([code]) + argument[-size:].rjust(size, b"\0")
    argument = argument[: 256**size - 1]
    return bytes([code]) + len(argument).to_bytes(size, "big") + argument


def rq_group(*commands: bytes | int) -> bytes:
    """CLEAR, then the commands; a plain number is a command without an argument."""
    return b"\x01" + b"".join(bytes([c]) if isinstance(c, int) else c for c in commands)


def frame(protocol: str, text: bytes) -> bytes:
    """One request around arbitrary bytes. `|` separates the values of a frame, or the commands of a group."""
    if protocol == "mqmq":
        return mqmq_frame(*text.split(b"|"))
    if protocol == "rq":
        return b"".join(rq_command(part[0], part[1:]) for part in text.split(b"|") if part)
    return text + b"\n"


# -- whole requests ---------------------------------------------------------------------------------------------------


def mqks_requests() -> list[bytes]:
    lines = [b"m%d publish e%d x%d" % (i, j, i) for i in NUMBERS for j in NUMBERS]
    lines += [b"m%d publish --confirm e%d x" % (i, j) for i in NUMBERS for j in NUMBERS]
    lines += [b"m0 publish e0 %s" % body for body in BODIES]
    lines += [b"m publish reply/i.%d back" % i for i in (1, 2, 3, 5, 8)]
    lines += [b"%s publish e0 x" % (b"i" * 300), b"m0 publish %s x" % (b"e" * 300)]
    for flags in (
        b"",
        b" --manual-ack",
        b" --delete-queue-when-unused",
        b" --manual-ack --delete-queue-when-unused=0.05",
    ):
        lines += [b"c%d consume%s q%d e%d" % (i, flags, j, j) for i in NUMBERS for j in NUMBERS]
    lines += [b"c%d consume --confirm q%d e0 e1 e2 --manual-ack" % (i, i) for i in NUMBERS]
    lines += [
        b"c0 consume q0",
        b"c0 consume q0 e0 --no",
        b"c0 consume q0 e0 e1 e2 e3 e4",
        b"%s consume q0 e0" % (b"c" * 300),
    ]
    lines += [b"m%d publish %s e%d x" % (i, flag, i) for flag in FLAGS for i in NUMBERS[:2]]
    lines += [b"r reject c%d m%d%s" % (i, i, flag) for i in NUMBERS for flag in (b" --delay=0.05", b" --dead")]
    lines += [
        b"r redrive q0.dead",
        b"r redrive q0.dead --limit=1 --to=q1",
        b"r redrive q0.dead --dry-run",
        b"r redrive no",
    ]
    lines += [b"r %s c%d m%d" % (verb, i, j) for verb in (b"ack", b"reject") for i in NUMBERS for j in NUMBERS]
    lines += [b"r %s --confirm c%d --all" % (verb, i) for verb in (b"ack", b"reject") for i in NUMBERS]
    lines += [b"r %s c%d i.%d" % (verb, i, i + 1) for verb in (b"ack", b"reject") for i in NUMBERS]
    lines += [b"r delete_consumer --confirm c%d" % i for i in NUMBERS]
    lines += [b"r delete_queue --confirm q%d" % i for i in NUMBERS]
    lines += [
        b"r ping x",
        b"",
        b" ",
        b"r",
        b"r nothing x",
        b"r publish",
        b"GET / HTTP/1.1",
        b"r ack c0",
        b"r publish e0 x ",
    ]
    lines += [b"r _eval %s" % code for code in EXPRESSIONS]
    return [line + b"\n" for line in lines]


FLAGS: Final = (b"--delay=0.05", b"--ttl=0.05", b"--max-deliveries=2", b"--dedup", b"--delay=1 --ttl=1", b"--ttl=x")


EXPRESSIONS: Final = (
    b"len(state.queues)",
    b"state.messages_by_consumer_ids",
    b"state.queues_used",
    b"state.responses_by_clients",
    b"sum(q.qsize() for q in state.queues.values())",
    b"state.queues_to_delete_when_unused",
    b"state.queues_by_events",
    b"''.join(['abcdefgh' for x in 'abcdefgh'])",
    b"1/0",
    b"sorted([n for n in state.queues if n in state.queues_used and not n < 'q1'], reverse=True)[0:9]",
    b"{k: max(1, v.qsize(), 2) for k, v in state.queues.items() if state.published or state.queued}",
    b"[str(x) + 'z' for x in (state.consumed, 'ab'[0], 1 if True else 2, min([], default=-1), round(1.5))]",
    b"state.consumer_ids_by_clients == {1: set([2, 3])} or any(list(state.socks_by_clients.values()))",
    b"[0 for a in 'abcdefgh' for b in 'abcdefgh' for c in 'abcdefgh']",
    b"range(9)",
    b"state.__class__",
    b"lambda: 1",
)


def smqs_requests() -> list[bytes]:
    lines = [b"M:q%d:%s" % (i, body) for i in NUMBERS for body in BODIES]
    lines += [b"M:q%d:%d" % (i, i) for i in NUMBERS] * 4
    lines += [b"M:reply/i.%d:back" % i for i in (1, 2, 3, 5, 8)]
    lines += [b"C:q%d%s" % (i, end) for i in NUMBERS for end in (b"", b":", b":\r")]
    lines += [b"D:q%d:%s" % (i, count) for i in NUMBERS for count in (b"0", b"1", b"2", b"99", b"-1", b"")]
    lines += [b"S", b"S:", b"S::", b"X:y", b"", b"M", b"M:q0", b"C", b"D", b"no", b"M::", b"C:", b"D::1", b"m:q0:x"]
    lines += [b"M:%s:x" % (b"q" * 40), b"C:%s" % (b"q" * 40), b"GET / HTTP/1.1"]
    whole = [line + b"\n" for line in lines]
    return [*whole, b"C:q0", b"C:q1:", b"D:q0:1", b"S", b"S::", b"M:q0:x", b'M:q0:{"a": 1}']


def sevx_requests() -> list[bytes]:
    lines = [b'm%d send {"event": "e%d", "n": %d}' % (i, j, i) for i in NUMBERS for j in NUMBERS]
    lines += [b'm%d send {"n": %d}' % (i, i) for i in NUMBERS]
    lines += [b'20161231235959123456uN1%d send {"event": "e%d"}' % (i, i) for i in NUMBERS]
    lines += [
        b'm0 send {"event": "reply/i.1", "n": 1}',
        b'm0 send {"event": null}',
        b'm0 send {"event": "two words", "id": "z", "retry": [1]}',
        b'm0 send {"id": {"x": "]"}, "retry": 7, "n": 1}',
        b"m0 send []",
        b"m0 send {",
        b"m0 send",
        b'm0 send {"big": "%s"}' % (b"B" * 70),
        b'm0 send {"n": 1e400}',
        b'm0 send {"n": 123456789012345678901234567890}',
        b'm0 send {"a": [1, 2, {"b": []}], "c": {"d": true}}',
        b"\xff send {}",
        b" send {}",
        b"m0 send {}\r",
    ]
    patterns = (b"{}", b'{"event": "e0"}', b'{"n": 1}', b'{"n": {}}', b'{"a": [1, 2, {"b": []}], "c": {"d": true}}')
    flags = (
        b"",
        b', "manual_ack": true',
        b', "delete_queue_when_unused": false',
        b', "delete_queue_when_unused": 0.05',
    )
    for i in NUMBERS:
        for pattern in patterns:
            for flag in (flags[i], flags[i] + b', "manual_ack": true' if i > 1 else flags[3 - i]):
                lines.append(b'c%d recv {"queue": "q%d", "pattern": %s%s}' % (i, i, pattern, flag))
    lines += [
        b'c%d recv {"queue": "q%d", "pattern": {}, "manual_ack": true}' % (i, j) for i in NUMBERS for j in NUMBERS
    ]
    # Enough patterns to make the pattern index split.
    many = [b'"n": %d' % i for i in NUMBERS] + [b'"n": %d, "a": {"b": %d}' % (i, i) for i in range(5)]
    many += [b'"a": {"b": [%d, {}]}, "event": "e%d"' % (i, i) for i in NUMBERS] + [
        b'"n": null',
        b'"n": 1.0, "n2": true',
    ]
    lines += [b'p%d recv {"queue": "p%d", "pattern": {%s}}' % (i, i, members) for i, members in enumerate(many)]
    lines += [b"m%d send {%s}" % (i % 3, members) for i, members in enumerate(many)]
    lines += [b'r delete_queue {"queue": "p%d"}' % i for i in NUMBERS]
    lines += [b'c0 recv {"queue": "q0", "pattern": %s}' % (b'{"a": ' * 40 + b"1" + b"}" * 40)]
    lines += [
        b'c0 recv {"queue": "q0"}',
        b'c0 recv {"queue": "", "pattern": {}}',
        b'c0 recv {"queue": "q0", "pattern": []}',
        b'c0 recv {"queue": "q0", "pattern": {}, "delete_queue_when_unused": 1e999}',
        b'c0 recv {"queue": "q0", "pattern": {}, "delete_queue_when_unused": "x"}',
        b'c0 recv {"queue": "%s", "pattern": {}}' % (b"q" * 40),
        b'%s recv {"queue": "q0", "pattern": {}}' % (b"c" * 300),
        b"%s send {}" % (b"m" * 300),
        b'm0 send {"event": "%s"}' % (b"e" * 300),
    ]
    for verb in (b"ack", b"reject"):
        lines += [b'r %s {"receiver_id": "c%d", "event_id": "m%d"}' % (verb, i, j) for i in NUMBERS for j in NUMBERS]
        lines += [b'r %s {"receiver_id": "c%d", "all": true}' % (verb, i) for i in NUMBERS]
        lines += [b'r %s {"receiver_id": "c0", "event_id": "i.1"}' % verb]
    lines += [b'm%d send %s {"event": "e0"}' % (i, flag) for i, flag in enumerate(FLAGS)]
    lines += [b'r reject {"receiver_id": "c0", "event_id": "m0", "delay": 0.05}', b'r redrive {"queue": "q0.dead"}']
    lines += [b'r reject {"receiver_id": "c0", "all": true, "dead": true}']
    lines += [b'r redrive {"queue": "q0.dead", "dry_run": true}', b'r redrive {"queue": "q0.dead", "to": "q1"}']
    lines += [b'r delete_receiver {"receiver_id": "c%d"}' % i for i in NUMBERS]
    lines += [b'r delete_queue {"queue": "q%d"}' % i for i in NUMBERS]
    lines += [b'r _ping {"data": "x"}', b"r _ping {}", b"", b" ", b"r", b"r nothing {}", b"GET / HTTP/1.1"]
    lines += [b'r _eval {"code": "%s"}' % code for code in EXPRESSIONS]
    return [line + b"\n" for line in lines]


def mqmq_requests() -> list[bytes]:
    frames = [mqmq_frame(b"Put", b"q%d" % i, body) for i in NUMBERS for body in BODIES]
    frames += [mqmq_frame(b"Put", b"q%d" % i, b"%d" % i) for i in NUMBERS] * 3
    frames += [mqmq_frame(b"Put", b"reply/i.%d" % i, b"back") for i in (1, 2, 3, 5, 8)]
    options = (
        b'{"delay": 0.05}',
        b'{"ttl": 0.05, "max_deliveries": 1}',
        b'{"dedup": "k"}',
        b"{}",
        b"{",
        b'{"x": 1}',
        b"x",
    )
    frames += [mqmq_frame(b"Put", b"q0", b"x", option) for option in options]
    frames += [mqmq_frame(b"Get", b"q%d" % i) for i in NUMBERS] * 3
    frames += [mqmq_frame(b"Get", b"q%d" % i, timeout) for i in NUMBERS for timeout in TIMEOUTS]
    frames += [mqmq_frame(b"Get", b"q0", timeout) for timeout in (b"", b"+", b"1.5", b"9" * 19, b"9" * 30, b"3600001")]
    frames += [mqmq_frame(word) for word in (b"Info", b"Quit", b"Put", b"Get", b"info", b"")]
    frames += [
        mqmq_frame(),
        mqmq_frame(b"Put", b"q0"),
        mqmq_frame(b"Put", b"", b""),
        mqmq_frame(b"Get", b"q0", b"1", b"x"),
    ]
    frames += [mqmq_frame(b"Put", b"q" * 40, b"x"), mqmq_frame(b"Get", b"q" * 40)]
    frames += [b"\0\0\0\7\0\0\0\xffPut", b"\0\0\0\2\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x0b\0\0\0\3"]
    return frames


def rq_requests() -> list[bytes]:
    groups: list[bytes] = []
    ids = [rq_command(0x80, bytes([i])) for i in (0, 1, 2, 3)]
    queues = [rq_command(0xA0, b"q%d" % i) for i in NUMBERS]
    for queue in queues:
        for max_, priority, flags in ((5, 20, b""), (1, 0, b""), (0, 30, b""), (0, 20, b"\x20"), (2, 10, b"")):
            limits = rq_command(0x62, bytes([max_])) + rq_command(0x40, bytes([priority]))
            groups.append(rq_group(flags, queue, limits, 0x14))
        groups.append(rq_group(queue, 0x14))
        groups.append(rq_group(queue, 0x15))
        for id in ids:
            groups.append(rq_group(id, queue, rq_command(0xE0, b"ask"), 0x0A))
        groups.append(rq_group(ids[0], queue, rq_command(0xE0, b"tell"), 0x21, 0x0A))
        groups.append(rq_group(ids[1], queue, rq_command(0xE0, b"tell"), 0x21, rq_command(0x61, b"\1"), 0x0A))
        groups.append(rq_group(ids[2], queue, rq_command(0xE0, b"ask"), rq_command(0x61, b"\1"), 0x0A))
        groups.append(rq_group(ids[3], queue, rq_command(0xE0, b"ask"), rq_command(0x41, b"\1"), 0x0A))
        for term in (rq_command(0x90, b"\x32"), rq_command(0x91, b"\x32")):
            groups.append(rq_group(ids[3], queue, rq_command(0xE0, b"ask"), term, 0x0A))
        groups.append(rq_group(queue, rq_command(0xE0, b"news"), 0x0E))
        groups.append(rq_group(ids[0], queue, rq_command(0xE0), 0x0A))
    groups += [rq_group(ids[0], queues[0], rq_command(0xE0, body), 0x0A) for body in BODIES]
    for id in (*ids, rq_command(0x80, b"\xff\xff\0\0"), rq_command(0x80, b"\xff\xff\xff\xff")):
        groups += [
            rq_group(id, 0x0D),
            rq_group(id, rq_command(0xE0, b"done"), 0x0B),
            rq_group(id, 0x0B),
            rq_group(id, 0x10),
        ]
    groups += [
        rq_group(ids[0], rq_command(0xE0, b"D" * 60), 0x0B),
        rq_group(ids[1], rq_command(0xE0, b"D" * 900), 0x0B),
    ]
    for i in (1, 2, 3, 5, 8):
        groups.append(rq_group(ids[0], rq_command(0xA0, b"reply/i.%d" % i), rq_command(0xE0, b"back"), 0x0A))
        groups.append(rq_group(rq_command(0x60, bytes([i])), rq_command(0xE0, b"x"), ids[1], 0x0A))
    groups += [bytes([code]) for code in range(0x19)]
    groups += [rq_command(code, b"abc") for code in (0x3F, 0x5F, 0x7F, 0x9F, 0xBF, 0xC0, 0xDF, 0xFF)]
    groups += [rq_command(0x80, bytes([i])) + b"\x0b" for i in range(6)]  # with the previous PAYLOAD
    groups += [rq_command(0xE0, b"E" * 1000), b"\xe0\xff\xff\xff\xff", b"\xff\0\1\0\0ab"]
    groups += [
        b"GET / HTTP/1.1\r\n",
        b"POST /",
        b"\x0a" * 8,
        rq_group(queues[1], 0x20, 0x14),
        rq_command(0xA0, b"Q" * 40),
    ]
    return groups


def _requests_of(makers: dict[str, Callable[[], list[bytes]]]) -> dict[str, list[bytes]]:
    found = {protocol: make() for protocol, make in makers.items()}
    for protocol, requests in found.items():
        assert len(requests) <= 256, f"{protocol}: a byte picks one of at most 256, not of {len(requests)}"
    return found


# A byte selects one: its value modulo their count.
REQUESTS: Final = _requests_of(
    {
        "mqks": mqks_requests,
        "smqs": smqs_requests,
        "sevx": sevx_requests,
        "mqmq": mqmq_requests,
        "rq": rq_requests,
    }
)

# -- pieces of requests -----------------------------------------------------------------------------------------------

NAMES: Final = (
    b"q0",
    b"q1",
    b"e0",
    b"e1",
    b"c0",
    b"c1",
    b"m0",
    b"m1",
    b"reply/i.1",
    b"\n",
    b"\r\n",
    b" ",
    b"\0",
    b"\xff",
)
NUMERALS: Final = (b"0", b"-1", b"1e9", b"nan", b"inf", b"65536", b"4294967295", b"9223372036854775808")

TOKENS: Final[dict[str, tuple[bytes, ...]]] = {
    "mqks": (
        *(
            b" publish ",
            b" consume ",
            b" ack ",
            b" reject ",
            b" delete_consumer ",
            b" delete_queue ",
            b" ping ",
            b" _eval ",
            b" auth ",
        ),
        *(b"--delay=", b"--ttl=", b"--max-deliveries=", b"--dedup ", b"--dead", b" redrive ", b"--limit=", b"--to="),
        *(b"--confirm ", b"--all", b"--manual-ack", b"--delete-queue-when-unused", b"--delete-queue-when-unused=0.05"),
        *(b"GET / HTTP/1.1\r\n", b"state.", b"len(", b"for q in state.queues"),
    ),
    "smqs": (b"A:", b"M:", b"C:", b"D:", b"S:", b"S", b":", b"::", b'{"', b'"}', b"M:q0:", b"C:q0", b"D:q0:1"),
    "sevx": (
        *(
            b" auth ",
            b'"token": ',
            b" send ",
            b" recv ",
            b" ack ",
            b" reject ",
            b" delete_receiver ",
            b" delete_queue ",
            b" _ping ",
            b" _eval ",
        ),
        *(b'"queue": ', b'"pattern": ', b'"receiver_id": ', b'"event_id": ', b'"manual_ack": true', b'"all": true'),
        *(b'"delete_queue_when_unused": ', b'"event": ', b'"id": ', b'"retry": ', b'"code": ', b'"data": ', b"\\u0000"),
        *(b"{", b"}", b"[", b"]", b'"', b",", b"\\", b"null", b"true", b"20161231235959123456uN1q", b"\\ud800"),
    ),
    "mqmq": (
        *(
            b"Put",
            b"Get",
            b"Info",
            b"Quit",
            b"\0\0\0\4Auth",
            b"\0\0\0\3Put",
            b"\0\0\0\3Get",
            b"\0\0\0\4Info",
            b"\0\0\0\4Quit",
        ),
        *(b"\0\0\0\0", b"\0\0\0\1", b"\xff\xff\xff\xff", b"\2\0\4\x0f", b"\0\0\0\x0a"),
    ),
    "rq": (
        *(b"\x01", b"\x05", b"\x06", b"\x0a", b"\x0b", b"\x0d", b"\x0e", b"\x10", b"\x14", b"\x15", b"\x16", b"\x18"),
        *(b"\x20", b"\x21", b"\x40\x00", b"\x41\x00", b"\x60\x00\x01", b"\x61\x00\x01", b"\x62\x00\x01"),
        *(b"\x80\x00\x00\x00\x00", b"\x80\xff\xff\x80\x00", b"\xa0\x02q0", b"\xa0\x00", b"\xe0\x00\x00\x00\x01x"),
        *(b"\xe0\x00\x00\x00\x00", b"\xe0\xff\xff\xff\xff", b"\xc0\x00\x02ab", b"\xff\x00\x00\x00\x02ab"),
    ),
}


def tokens_of(protocol: str) -> list[bytes]:
    """Tokens worth inserting into an input of that protocol; `any` gets those of all protocols."""
    protocol = protocol.removeprefix("locked-")
    languages = (protocol,) if protocol in TOKENS else PROTOCOLS
    return [*NAMES, *NUMERALS, *(token for language in languages for token in TOKENS[language])]
