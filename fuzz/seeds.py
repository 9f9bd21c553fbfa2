"""The fuzzer's seeds: valid conversations of each protocol, as inputs."""

import json
from pathlib import Path

from fuzz.gates import RIGHT, WRONG, base_of, shown
from fuzz.program import DISK, END, FEED, LATER, PAUSE, RESUME, SAY, SPEAK, TICK, program, step
from fuzz.words import PROTOCOLS, REQUESTS, mqmq_frame, rq_command, rq_group

VECTORS = Path(__file__).parent.parent / "tests" / "vectors" / "rq.json"

# By protocol: lists of (client, bytes).
CONVERSATIONS: dict[str, list[list[tuple[int, bytes]]]] = {
    "mqks": [
        [
            (0, b"c0 consume --confirm q0 e0 --manual-ack\n"),
            (1, b"m0 publish e0 hello\nm1 publish --confirm e0 world\n"),
            (0, b"r1 ack c0 m0\nr2 reject --confirm c0 m1\n"),
            (0, b"r3 ack c0 --all\nr4 delete_consumer c0\n"),
            (1, b"r5 delete_queue --confirm q0\nr6 ping x\nr7 _eval len(state.queues)\n"),
        ],
        [
            (0, b"c0 consume q0 e0 --delete-queue-when-unused=0.05\n"),
            (1, b"c0 consume q0 e0 e1 --delete-queue-when-unused=0.05\n"),
            (2, b"m0 publish e1 one\n"),
            (1, b"r delete_consumer c0\n"),
        ],
    ],
    "smqs": [
        [(0, b"M:q0:one\nM:q0:two\n"), (1, b"C:q0:\n"), (1, b"D:q0:1\n"), (0, b"S::\n"), (1, b"D:q0:1\nC:q1\n")],
        [(0, b"C:q0"), (1, b'M:q0:{"a": "b:c"}\n'), (0, b"D:q0:1"), (1, b"S")],
    ],
    "sevx": [
        [
            (0, b'20161231235959123456uN22 recv {"pattern": {"obj": "user"}, "queue": "q0", "manual_ack": true}\n'),
            (1, b'20161231235959123456uN1q send {"obj": "user", "act": "updated", "data": {"id": 42}}\n'),
            (0, b'r reject {"receiver_id": "20161231235959123456uN22", "event_id": "20161231235959123456uN1q"}\n'),
            (0, b'r ack {"receiver_id": "20161231235959123456uN22", "all": true}\n'),
            (1, b'r delete_queue {"queue": "q0"}\nr _ping {"data": 1}\nr _eval {"code": "len(state.queues)"}\n'),
        ],
        [
            (0, b'c0 recv {"pattern": {}, "queue": "q0", "delete_queue_when_unused": 0.05}\n'),
            (1, b'm0 send {"event": "e0", "n": [1, 2.5, null]}\n'),
            (0, b'r delete_receiver {"receiver_id": "c0"}\n'),
        ],
    ],
    "mqmq": [
        [
            (0, mqmq_frame(b"Get", b"q0", b"50")),
            (1, mqmq_frame(b"Put", b"q0", b"one") + mqmq_frame(b"Put", b"q0", b"\0\xff")),
            (0, mqmq_frame(b"Get", b"q0") + mqmq_frame(b"Get", b"q0") + mqmq_frame(b"Info")),
            (1, mqmq_frame(b"Quit")),
        ],
        [
            (0, mqmq_frame(b"Put", b"q0", b"P" * 1000) * 3),
            (0, mqmq_frame(b"Put", b"q0", b"P" * 1000) * 3),
            (0, mqmq_frame(b"Put", b"q1", b"x") + mqmq_frame(b"Get", b"q0") * 6 + mqmq_frame(b"Quit")),
        ],
    ],
    "rq": [],
}


def rq_replies() -> list[tuple[int, bytes]]:
    """Six requests, and a long reply that is sent once and delivered to each."""
    queue = rq_command(0xA0, b"q0")
    asks = [rq_group(rq_command(0x80, bytes([i])), queue, rq_command(0xE0, b"x"), 0x0A) for i in range(6)]
    replies = [rq_command(0x80, bytes([i])) + b"\x0b" for i in range(6)]
    return [(0, rq_group(queue, 0x14)), (1, b"".join(asks)), (0, rq_command(0xE0, b"E" * 1000)), (0, b"".join(replies))]


def rq_conversations() -> list[list[tuple[int, bytes]]]:
    """Recorded conversations of the original programs; an empty read is the end of a connection."""
    found = []
    for steps in json.loads(VECTORS.read_text()).values():
        nodes: dict[str, int] = {}
        conversation = []
        for said in steps:
            client = nodes.setdefault(said["node"], len(nodes) % 3)
            if said["dir"] == "C>S":
                conversation.append((client, bytes.fromhex(said.get("hex", ""))))
        found.append(conversation)
    return found


def seeds(protocol: str) -> list[bytes]:
    """The seeds of a protocol or of `any`, with access control (`locked-`) or without."""
    if base_of(protocol) != protocol:
        return [*seeds(base_of(protocol)), *locked_seeds(base_of(protocol))]
    if protocol not in PROTOCOLS:
        return [seed[:1] + bytes([n]) + seed[2:] for n, language in enumerate(PROTOCOLS) for seed in seeds(language)]
    conversations = CONVERSATIONS[protocol] + ([*rq_conversations(), rq_replies()] if protocol == "rq" else [])
    found: list[bytes] = []
    for conversation in conversations:
        steps = [step(FEED, client, data) if data else step(END, client) for client, data in conversation]
        found.append(program(*steps))
        found.append(program(*steps, limits=0, language=1))
        found.append(program(step(PAUSE), *steps, step(TICK, 0, b"\6"), step(RESUME), limits=1, language=2))
        found.append(program(*steps, step(DISK), *steps, step(DISK), *steps, limits=5, late=True))
        found.append(program(*[step(LATER, 0, data) for _, data in conversation], alone=True))
    count = len(REQUESTS[protocol])
    for first in range(0, count, 24):
        picks = bytes(range(first, min(first + 24, count)))
        found.append(program(step(SAY, 0, picks), step(SPEAK, 1, picks), limits=first % 8, language=first % 5))
        found.append(program(step(SPEAK, 0, picks), limits=first % 8, alone=True))
    return found


def locked_seeds(protocol: str) -> list[bytes]:
    """The same conversations by clients that send a token first, and clients that send a wrong one, or none in time."""
    if protocol not in PROTOCOLS:
        both = [(n, seed) for n, language in enumerate(PROTOCOLS) for seed in locked_seeds(language)]
        return [seed[:1] + bytes([n]) + seed[2:] for n, seed in both]
    found: list[bytes] = []
    for conversation in CONVERSATIONS[protocol] or rq_conversations()[:2]:
        doors = [step(FEED, client, shown(protocol, RIGHT)) for client in range(3)]
        steps = [step(FEED, client, data) if data else step(END, client) for client, data in conversation]
        said = b"".join(data for _, data in conversation)
        found.append(program(*doors, *steps))
        found.append(program(*doors, *steps, *doors, step(TICK, 0, b"\x07"), limits=1, late=True))
        found.append(program(step(LATER, 0, shown(protocol, RIGHT) + said), alone=True))
        for token in WRONG:
            found.append(program(step(FEED, 0, shown(protocol, token) + said), step(TICK, 0, b"\6")))
            again = step(FEED, 0, shown(protocol, RIGHT) + said + shown(protocol, token) + said)
            found.append(program(again, step(TICK, 0, b"\6"), alone=True))
    found.append(program(step(FEED, 0, shown(protocol, RIGHT)[:9]), step(TICK, 0, b"\7"), step(TICK, 0, b"\x09")))
    return found
